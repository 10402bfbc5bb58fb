package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentls/agentls/lspserver/internal/rpc"
)

// C144: however the connection ends, handlers are told, answers that can still
// be given are, and Run returns.
func TestEnd(t *testing.T) {
	for name, end := range map[string]func(*client){
		"end of input":   func(c *client) { c.in.Close() },
		"within a frame": func(c *client) { c.write("Content-Length: 100\r\n\r\n{"); c.in.Close() },
		"within a line":  func(c *client) { c.write("Content-Le"); c.in.Close() },
		"read error":     func(c *client) { c.in.CloseWithError(errors.New("broken")) },
		"context":        func(c *client) { c.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			started := make(chan struct{}, 2)
			c := start(t, rpc.Options{Call: blocking(started)})
			c.send(ask("1", "block"), ask("2", "block and fail"))
			<-started
			<-started
			begin := time.Now()
			end(c)
			err := c.ended()
			if time.Since(begin) > 2*time.Second {
				t.Errorf("it took %v", time.Since(begin))
			}
			if clean := name == "end of input"; clean != (err == nil) {
				t.Errorf("Run: %v", err)
			}
			got := c.next() + c.next()
			if !strings.Contains(got, `"id":1,"result"`) || !strings.Contains(got, `"id":2,"error":{"code":-32800`) {
				t.Errorf("answers %s", got)
			}
		})
	}
}

// C144 (c): the client closed its end of our output.
func TestWriteFails(t *testing.T) {
	started := make(chan struct{}, 1)
	c := start(t, rpc.Options{Call: blocking(started)})
	c.send(ask("1", "block"))
	<-started
	c.out.Close()
	if err := c.conn.Notify(context.Background(), "event", nil); err != nil {
		t.Errorf("Notify: %v", err)
	}
	if err := c.ended(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Run: %v", err)
	}
	if err := c.conn.Notify(context.Background(), "event", nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Notify afterwards: %v", err)
	}
}

// The same with the pipes of the system.
func TestBrokenPipe(t *testing.T) {
	in, toServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer toServer.Close()
	fromServer, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	conn := rpc.NewConn(in, out, closers{in, out}, rpc.Options{Call: echo})
	done := make(chan error, 1)
	go func() { done <- conn.Run(t.Context()) }()
	fromServer.Close()
	conn.Notify(t.Context(), "event", nil)
	if err := <-done; !errors.Is(err, syscall.EPIPE) {
		t.Errorf("Run: %v", err)
	}
}

// A handler that does not listen is left behind after the grace time, and the
// log names it.
func TestStuckHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c := start(t, rpc.Options{Grace: 3 * time.Second, Call: func(context.Context, string, json.RawMessage) (any, error) {
			<-release
			return nil, nil
		}})
		c.send(ask("1", "deaf"))
		synctest.Wait()
		begin := time.Now()
		c.in.Close()
		<-c.done
		if d := time.Since(begin); d != 3*time.Second {
			t.Errorf("Run returned after %v", d)
		}
		if !strings.Contains(c.log.String(), "method=deaf") {
			t.Errorf("log:\n%s", c.log)
		}
		close(release) // its answer goes nowhere, and nothing is left of it
	})
}

// A client that reads nothing any more does not hold up the end.
func TestEndWithFullPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, rpc.Options{Grace: time.Second})
		c.conn.Notify(t.Context(), "event", event(kilobyte))
		synctest.Wait()
		begin := time.Now()
		c.in.Close()
		<-c.done
		if d := time.Since(begin); d > 2*time.Second {
			t.Errorf("Run returned after %v", d)
		}
	})
}

// What is queued when the connection ends still goes out to a client that reads.
func TestEndWritesWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, rpc.Options{})
		const events = 500
		for range events {
			c.conn.Notify(t.Context(), "event", event(kilobyte))
		}
		c.in.Close()
		synctest.Wait()
		c.read()
		<-c.done
		synctest.Wait()
		if n := len(c.got); n != events {
			t.Errorf("%d of %d events came", n, events)
		}
	})
}

// deaf is an input or output that does not notice when it is closed, like a
// terminal.
type deaf struct{ forever chan struct{} }

func (d deaf) Read([]byte) (int, error)  { <-d.forever; return 0, io.EOF }
func (d deaf) Write([]byte) (int, error) { <-d.forever; return 0, io.EOF }
func (d deaf) Close() error              { return errors.New("no") }

func TestStreamsThatDoNotClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deaf{make(chan struct{})}
		conn := rpc.NewConn(d, d, d, rpc.Options{Call: echo})
		ctx, stop := context.WithCancelCause(t.Context())
		conn.Notify(ctx, "event", nil)
		cause := errors.New("SIGTERM")
		stop(cause)
		begin := time.Now()
		if err := conn.Run(ctx); err != cause {
			t.Errorf("Run: %v", err)
		}
		if d := time.Since(begin); d > 2*time.Second {
			t.Errorf("Run returned after %v", d)
		}
		close(d.forever)
	})
}
