package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/agentls/agentls/editors/terminal"
)

func version(c *call) int {
	if status, exit := c.parseOnly(); exit {
		return status
	}
	fmt.Fprintf(c.stdout, "agentls %s %s %s/%s\n", versionString(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return terminal.ExitDone
}

// versionString is the version that the module system or the repository gave
// this build.
func versionString() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
