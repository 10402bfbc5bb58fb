package main

import (
	"context"

	"github.com/agentls/agentls/editors/terminal"
	sample "github.com/agentls/agentls/editors/terminal/demo"
)

func demo(c *call) int {
	if status, exit := c.parseOnly(); exit {
		return status
	}
	return sample.Run(context.Background(), terminal.Standard(), versionString())
}
