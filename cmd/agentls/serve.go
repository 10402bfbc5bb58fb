package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/agentls/agentls/lspserver"
)

// serve speaks to an editor. Standard output carries its frames and nothing
// else; everything there is to say goes to standard error.
func serve(c *call) int {
	stdio := c.flags.Bool("stdio", false, "use standard input and output (the only transport)")
	file := c.flags.String("log", "", "append the log to this `file` too")
	level := c.flags.String("log-level", "warn", "log from this `level` on: debug, info, warn, error")
	if status, exit := c.parseOnly(); exit {
		return status
	}
	if !*stdio {
		return c.wrong("say --stdio: it is the only transport")
	}
	log, closeLog, err := openLog(*file, *level, c.stderr)
	if err != nil {
		return c.wrong("%v", err)
	}
	defer closeLog()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A line of the log that nobody reads must not end the server.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	in, out, err := lspserver.Stdio()
	if err != nil {
		return c.fail(err)
	}
	return lspserver.Serve(ctx, in, out, lspserver.Options{Version: versionString(), Log: log})
}

// openLog makes the log. Nobody may read stderr: that must not cost the file
// its lines, so the file comes first.
func openLog(file, level string, stderr io.Writer) (*slog.Logger, func(), error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, nil, fmt.Errorf("there is no log level %q", level)
	}
	out, done := stderr, func() {}
	if file != "" {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("log: %w", err)
		}
		out, done = io.MultiWriter(f, stderr), func() { _ = f.Close() }
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: l})), done, nil
}
