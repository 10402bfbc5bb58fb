package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/agentls/agentls/lspserver/internal/rpc"
)

func TestMain(m *testing.M) {
	standIn()
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what must come.
const patience = 10 * time.Second

// client is the other side of a connection: it writes bytes and reads strictly
// well-formed frames.
type client struct {
	t    testing.TB
	conn *rpc.Conn
	log  *logBuffer
	stop context.CancelFunc // ends the context of Run

	in  *io.PipeWriter // to the server
	out *io.PipeReader // from the server

	got  chan string // bodies that the server sent; closed at the end
	done chan struct{}
	err  error // of Run, once done
}

// start serves o over pipes. The reading of what it sends waits for read when
// o is given lazily.
func start(t testing.TB, o rpc.Options) *client {
	c := connect(t, o)
	c.read()
	return c
}

// connect is start for a client that does not read until read is called.
func connect(t testing.TB, o rpc.Options) *client {
	t.Helper()
	serverIn, in := io.Pipe()
	out, serverOut := io.Pipe()
	c := &client{t: t, log: &logBuffer{}, in: in, out: out, got: make(chan string, 1<<16), done: make(chan struct{})}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if o.Notify == nil {
		o.Notify = func(context.Context, string, json.RawMessage) error { return nil }
	}
	if o.Call == nil {
		o.Call = echo
	}
	c.conn = rpc.NewConn(serverIn, serverOut, closers{serverIn, serverOut}, o)
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	go func() {
		defer close(c.done)
		c.err = c.conn.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		out.Close()
		<-c.done
		if t.Failed() {
			t.Log(c.log)
		}
	})
	return c
}

// echo answers "echo" with its params and knows nothing else.
func echo(_ context.Context, method string, params json.RawMessage) (any, error) {
	if method == "echo" {
		return params, nil
	}
	return nil, rpc.ErrMethodNotFound
}

type closers []io.Closer

func (cs closers) Close() error {
	for _, c := range cs {
		c.Close()
	}
	return nil
}

// read begins to read what the server sends.
func (c *client) read() {
	go func() {
		defer close(c.got)
		in := bufio.NewReader(c.out)
		for {
			body, err := readFrame(in)
			if err != nil {
				if err != io.EOF && err != io.ErrClosedPipe {
					c.t.Errorf("the server sent no frame: %v", err)
				}
				return
			}
			c.got <- body
		}
	}()
}

// readFrame reads a frame that must be in the one form that we write.
func readFrame(in *bufio.Reader) (string, error) {
	header, err := textproto.NewReader(in).ReadLine()
	if err != nil {
		return "", err
	}
	length, ok := strings.CutPrefix(header, "Content-Length: ")
	n, err := strconv.Atoi(length)
	if !ok || err != nil {
		return "", fmt.Errorf("header %q", header)
	}
	body := make([]byte, n+2)
	if _, err := io.ReadFull(in, body); err != nil {
		return "", fmt.Errorf("body: %w", err)
	}
	if !bytes.HasPrefix(body, []byte("\r\n")) || !json.Valid(body) {
		return "", fmt.Errorf("body %q", body)
	}
	return string(body[2:]), nil
}

// frame puts a header before body.
func frame(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// send writes frames with these bodies.
func (c *client) send(bodies ...string) {
	c.t.Helper()
	for _, body := range bodies {
		c.write(frame(body))
	}
}

func (c *client) write(raw string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, raw); err != nil {
		c.t.Errorf("writing to the server: %v", err)
	}
}

// next returns what the server sends next.
func (c *client) next() string {
	c.t.Helper()
	select {
	case body, ok := <-c.got:
		if !ok {
			c.t.Fatal("the server closed the connection")
		}
		return body
	case <-time.After(patience):
		c.t.Fatalf("nothing came from the server\n%s", c.log)
	}
	return ""
}

// want compares what the server sends next with bodies.
func (c *client) want(bodies ...string) {
	c.t.Helper()
	for _, want := range bodies {
		if diff := cmp.Diff(want, c.next()); diff != "" {
			c.t.Fatalf("the server sent (-want +got):\n%s", diff)
		}
	}
}

// wantError checks that the next is an error with this id and code, and
// returns its message.
func (c *client) wantError(id string, code int) string {
	c.t.Helper()
	body := c.next()
	var m struct {
		ID    json.RawMessage
		Error *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil || m.Error == nil || string(m.ID) != id || m.Error.Code != code {
		c.t.Fatalf("got %s, want an error %d with id %s", body, code, id)
	}
	return m.Error.Message
}

// alive checks that a request is answered next.
func (c *client) alive() {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"alive?","method":"echo","params":{}}`)
	c.want(`{"jsonrpc":"2.0","id":"alive?","result":{}}`)
}

// ended waits for Run and returns its result.
func (c *client) ended() error {
	c.t.Helper()
	c.await("Run", c.done)
	return c.err
}

// await waits for ch.
func (c *client) await(what string, ch <-chan struct{}) {
	c.t.Helper()
	select {
	case <-ch:
	case <-time.After(patience):
		c.t.Fatalf("%s: not in time\n%s", what, c.log)
	}
}

// logBuffer is a log that may be read while it is written.
type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
