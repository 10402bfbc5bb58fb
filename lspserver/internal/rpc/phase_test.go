package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/agentls/agentls/lspserver/internal/rpc"
)

const (
	initialize  = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{}}`
	initialized = `{"jsonrpc":"2.0","id":"init","result":{}}`
	shutdown    = `{"jsonrpc":"2.0","id":"shut","method":"shutdown"}`
	wasShutDown = `{"jsonrpc":"2.0","id":"shut","result":null}`
	exit        = `{"jsonrpc":"2.0","method":"exit"}`

	notInitialized = -32002
)

// lifecycle answers what a server does, and tells what it was notified of.
func lifecycle(seen chan<- string) rpc.Options {
	return rpc.Options{
		Lifecycle: true,
		Notify: func(_ context.Context, method string, _ json.RawMessage) error {
			seen <- method
			return nil
		},
		Call: func(_ context.Context, method string, params json.RawMessage) (any, error) {
			switch method {
			case "initialize", "echo":
				return params, nil
			case "shutdown":
				return nil, nil
			}
			return nil, rpc.ErrMethodNotFound
		},
	}
}

// C151, from the first byte to the last.
func TestPhases(t *testing.T) {
	seen := make(chan string, 10)
	c := start(t, lifecycle(seen))

	c.send(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}`, ask("1", "echo"), ask("2", "shutdown"))
	c.wantError("1", notInitialized)
	c.wantError("2", notInitialized)

	c.send(initialize)
	c.want(initialized)
	c.send(initialize)
	c.wantError(`"init"`, invalidRequest)
	c.alive() // requests may come before initialized
	c.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	c.alive()

	c.send(shutdown)
	c.want(wasShutDown)
	c.send(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{}}`, shutdown, initialize, ask("3", "echo"))
	c.wantError(`"shut"`, invalidRequest)
	c.wantError(`"init"`, invalidRequest)
	c.wantError("3", invalidRequest)

	c.send(exit)
	if err := c.ended(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if got := <-seen; got != "initialized" || len(seen) > 0 {
		t.Errorf("the server was notified of %q and %d more, want initialized alone", got, len(seen))
	}
}

func TestExitStatus(t *testing.T) {
	for _, tc := range []struct {
		name     string
		messages []string
		exit     bool
		want     error
	}{
		{"exit first", nil, true, rpc.ErrEarlyExit},
		{"exit after initialize", []string{initialize}, true, rpc.ErrEarlyExit},
		{"exit after a refused shutdown", []string{shutdown}, true, rpc.ErrEarlyExit},
		{"exit after shutdown", []string{initialize, shutdown}, true, nil},
		{"end of input first", nil, false, io.EOF},
		{"end of input after initialize", []string{initialize}, false, io.EOF},
		{"end of input after shutdown", []string{initialize, shutdown}, false, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := start(t, lifecycle(make(chan string, 10)))
			c.send(tc.messages...)
			if tc.exit {
				c.send(exit)
			} else {
				c.in.Close()
			}
			if err := c.ended(); !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
				t.Errorf("Run: %v, want %v", err, tc.want)
			}
			for range tc.messages {
				c.next() // all were answered, though nobody waited for it
			}
		})
	}
}

// The answer to initialize goes ahead of everything else that is sent.
func TestNothingBeforeInitialize(t *testing.T) {
	var c *client
	o := lifecycle(nil)
	handler := o.Call
	o.Call = func(ctx context.Context, method string, params json.RawMessage) (any, error) {
		rpc.AfterReply(ctx, func() { c.conn.Notify(ctx, "after", nil) })
		if err := c.conn.Notify(ctx, "window/logMessage", map[string]any{"message": "<early>"}); err != nil {
			t.Errorf("Notify: %v", err)
		}
		if err := c.conn.Call(ctx, "workspace/configuration", nil, nil); !errors.Is(err, rpc.ErrNotInitialized) {
			t.Errorf("Call: %v", err)
		}
		return handler(ctx, method, params)
	}
	c = connect(t, o)
	if err := c.conn.Notify(t.Context(), "earliest", nil); err != nil {
		t.Errorf("Notify: %v", err)
	}
	c.read()
	c.send(ask("1", "echo"), initialize)
	c.wantError("1", notInitialized)
	c.want(initialized,
		`{"jsonrpc":"2.0","method":"earliest"}`,
		`{"jsonrpc":"2.0","method":"window/logMessage","params":{"message":"<early>"}}`,
		`{"jsonrpc":"2.0","method":"after"}`)
}

// An initialize that fails may be sent again, and lets nothing out before.
func TestInitializeFails(t *testing.T) {
	var c *client
	o := lifecycle(nil)
	handler, tries := o.Call, 0
	o.Call = func(ctx context.Context, method string, params json.RawMessage) (any, error) {
		if tries++; tries == 1 {
			panic("no")
		}
		return handler(ctx, method, params)
	}
	c = start(t, o)
	c.conn.Notify(t.Context(), "early", nil)
	c.send(initialize)
	c.wantError(`"init"`, -32603)
	c.send(ask("1", "echo"))
	c.wantError("1", notInitialized)
	c.send(initialize)
	c.want(initialized, `{"jsonrpc":"2.0","method":"early"}`)
}
