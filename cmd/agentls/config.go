package main

import (
	"fmt"
	"path/filepath"

	"github.com/agentls/agentls/agent/config"
	"github.com/agentls/agentls/editors/terminal"
)

// showConfig prints what the sources of configuration come to, each value with
// where it came from; no other form would keep keys out of sight. It fails
// where a source holds something that cannot be used.
func showConfig(c *call) int {
	c.flags.Bool("explain", true, "tell each value with where it came from")
	dir := c.flags.String("dir", ".", "the workspace `folder`")
	trusted := c.flags.Bool("trusted", false, "count the workspace's own file, as in a trusted workspace")
	if status, exit := c.parseOnly(); exit {
		return status
	}
	folder, err := filepath.Abs(*dir)
	if err != nil {
		return c.fail(err)
	}
	resolved, problems := config.Load(config.Inputs{Workspace: []string{folder}, Trusted: *trusted})
	if err := resolved.Explain(c.stdout); err != nil {
		return c.fail(err)
	}
	for _, p := range problems {
		fmt.Fprintln(c.stderr, p)
	}
	if len(problems) > 0 {
		return terminal.ExitFailed
	}
	return terminal.ExitDone
}
