// Command agentls is a language server for coding agents, and the terminal as
// a client of it. This package is flags and wiring: each command parses its
// own and calls the package that does the work.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/agentls/agentls/editors/terminal"
)

// command is what `agentls name` does. run returns the exit status.
type command struct {
	name  string
	args  string // after the name in the usage line
	short string
	run   func(c *call) int
}

// commands in the order in which help lists them.
func commands() []command {
	return []command{
		{"serve", "--stdio", "speak LSP to an editor over standard input and output", serve},
		{"run", "[flags] PROMPT", "do a run in this terminal: show it, ask, apply", run},
		{"demo", "", "see a whole run on a sample project, without a key or a network", demo},
		{"config", "[flags]", "print the configuration, and where it comes from", showConfig},
		{"version", "", "print the version", version},
	}
}

func main() { os.Exit(dispatch(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// dispatch finds the command and runs it.
func dispatch(args []string, stdin *os.File, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return terminal.ExitUsage
	}
	name := args[0]
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, name) {
		usage(stdout)
		return terminal.ExitDone
	}
	for _, cmd := range commands() {
		if cmd.name == name {
			return cmd.run(newCall(cmd, args[1:], stdin, stdout, stderr))
		}
	}
	fmt.Fprintf(stderr, "agentls: there is no command %q\n\n", name)
	usage(stderr)
	return terminal.ExitUsage
}

func usage(w io.Writer) {
	fmt.Fprint(w, "agentls is a language server for coding agents.\n\nusage:\n")
	for _, cmd := range commands() {
		fmt.Fprintf(w, "  agentls %-22s %s\n", strings.TrimSpace(cmd.name+" "+cmd.args), cmd.short)
	}
	fmt.Fprint(w, "\n`agentls COMMAND -h` tells a command's flags. Exit status: 0 done, 1 failed,\n2 wrong usage, 3 stopped by a limit, 130 interrupted.\n")
}

// call is one invocation of a command.
type call struct {
	flags          *flag.FlagSet
	args           []string
	stdin          *os.File
	stdout, stderr io.Writer
}

func newCall(cmd command, args []string, stdin *os.File, stdout, stderr io.Writer) *call {
	f := flag.NewFlagSet("agentls "+cmd.name, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stderr, "usage: %s\n  %s\n", strings.TrimSpace("agentls "+cmd.name+" "+cmd.args), cmd.short)
		f.PrintDefaults()
	}
	return &call{flags: f, args: args, stdin: stdin, stdout: stdout, stderr: stderr}
}

// parse reads the flags, which may stand between the other arguments too; what
// follows -- is no flag. exit is true where the command has nothing to do
// then, with its status.
func (c *call) parse() (rest []string, status int, exit bool) {
	args := c.args
	var literal []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, literal = args[:i], args[i+1:]
	}
	for {
		switch err := c.flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			return nil, terminal.ExitDone, true
		case err != nil:
			return nil, terminal.ExitUsage, true
		case c.flags.NArg() == 0:
			return append(rest, literal...), 0, false
		}
		rest = append(rest, c.flags.Arg(0))
		args = c.flags.Args()[1:]
	}
}

// parseOnly is parse for a command that takes nothing but flags.
func (c *call) parseOnly() (status int, exit bool) {
	rest, status, exit := c.parse()
	if !exit && len(rest) > 0 {
		return c.wrong("%q is one argument too many", rest[0]), true
	}
	return status, exit
}

// wrong tells of a wrong usage.
func (c *call) wrong(format string, args ...any) int {
	fmt.Fprintf(c.stderr, c.flags.Name()+": "+format+"\n", args...)
	c.flags.Usage()
	return terminal.ExitUsage
}

// fail tells of an error.
func (c *call) fail(err error) int {
	fmt.Fprintf(c.stderr, "%s: %v\n", c.flags.Name(), err)
	return terminal.ExitFailed
}
