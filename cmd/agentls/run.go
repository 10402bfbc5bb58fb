package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agentls/agentls/editors/terminal"
)

// run does one run with the terminal as the client.
func run(c *call) int {
	o := terminal.Options{Version: versionString()}
	accept := c.flags.String("accept", string(terminal.Ask), "what becomes of the changes: `ask`, all or none")
	c.flags.BoolVar(&o.JSON, "json", false, "write each event, and a last result, as a line of JSON; asks nothing")
	c.flags.StringVar(&o.Dir, "dir", ".", "the workspace `folder`")
	c.flags.StringVar(&o.Model, "model", "", "the `model` to use instead of the configured one")
	c.flags.StringVar(&o.Session, "session", "", "go on in the session with this `id`; without a prompt, review what it left pending")
	args, status, exit := c.parse()
	if exit {
		return status
	}
	o.Accept = terminal.Accept(*accept)
	switch o.Accept {
	case terminal.Ask, terminal.All, terminal.None:
	default:
		return c.wrong("--accept %q is none of ask, all and none", *accept)
	}
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return c.wrong("--dir %s is no folder", o.Dir)
	}
	prompt, err := promptOf(args, c.stdin)
	if err != nil {
		return c.fail(err)
	}
	if prompt == "" && o.Session == "" {
		return c.wrong("say what to do, or - to read it from standard input")
	}
	o.Prompt = prompt
	o.Console = terminal.Standard()
	return terminal.Run(context.Background(), o)
}

// promptOf is the prompt of the arguments: their words, or with a lone - what
// standard input holds.
func promptOf(args []string, stdin io.Reader) (string, error) {
	if len(args) == 1 && args[0] == "-" {
		b, err := io.ReadAll(stdin)
		if err != nil {
			return "", fmt.Errorf("reading the prompt: %w", err)
		}
		return strings.TrimSpace(string(b)), nil
	}
	return strings.TrimSpace(strings.Join(args, " ")), nil
}
