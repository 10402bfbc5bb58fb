package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lspserver/internal/rpc"
)

// Notifications are handled one after the other in the order in which they
// came, and before any request that came after them.
func TestNotificationsInOrder(t *testing.T) {
	version := 0 // touched by the reader alone; -race tells if not
	o := rpc.Options{Notify: func(_ context.Context, _ string, params json.RawMessage) error {
		var p struct{ Version int }
		if err := json.Unmarshal(params, &p); err != nil {
			return err
		}
		if p.Version != version+1 {
			t.Errorf("version %d after %d", p.Version, version)
		}
		version = p.Version
		return nil
	}}
	o.Call = func(context.Context, string, json.RawMessage) (any, error) { return version, nil }
	c := start(t, o)
	for i := range 2000 {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"version":%d}}`, i+1))
	}
	c.send(ask("1", "version"))
	c.want(`{"jsonrpc":"2.0","id":1,"result":2000}`)
}

// A request that takes its time stops neither the reader nor other requests
// (C146, C148).
func TestRequestsSideBySide(t *testing.T) {
	release := make(chan struct{})
	c := start(t, rpc.Options{Call: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
		if method == "slow" {
			<-release
		}
		return params, nil
	}})
	for i := range 200 {
		c.send(ask(fmt.Sprint(i), "slow"))
	}
	c.alive()
	close(release)
	seen := map[string]bool{}
	for range 200 {
		seen[c.next()] = true
	}
	if len(seen) != 200 {
		t.Errorf("%d different answers of 200", len(seen))
	}
}

// An inline request is done before the next message is read.
func TestInline(t *testing.T) {
	count := 0
	c := start(t, rpc.Options{
		Inline: map[string]bool{"inline": true},
		Notify: func(context.Context, string, json.RawMessage) error { count++; return nil },
		Call:   func(context.Context, string, json.RawMessage) (any, error) { count++; return count, nil },
	})
	for i := range 100 {
		c.send(ask("1", "inline"), `{"jsonrpc":"2.0","method":"x"}`)
		c.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":%d}`, 2*i+1))
	}
}

// C166: the answer that names an id goes ahead of all events that have it.
func TestAfterReply(t *testing.T) {
	var c *client
	o := rpc.Options{Call: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
		for i := range 3 {
			rpc.AfterReply(ctx, func() { c.conn.Notify(context.Background(), "event", i) })
		}
		rpc.AfterReply(ctx, func() { panic("contained") })
		rpc.AfterReply(ctx, func() {
			rpc.AfterReply(ctx, func() { c.conn.Notify(context.Background(), "event", "at once") })
		})
		if method == "fails" {
			return nil, errors.New("no")
		}
		return params, nil
	}}
	events := []string{
		`{"jsonrpc":"2.0","method":"event","params":0}`,
		`{"jsonrpc":"2.0","method":"event","params":1}`,
		`{"jsonrpc":"2.0","method":"event","params":2}`,
		`{"jsonrpc":"2.0","method":"event","params":"at once"}`,
	}
	for _, inline := range []bool{false, true} {
		o.Inline = map[string]bool{"start": inline}
		c = start(t, o)
		c.send(ask("1", "start"))
		c.want(answer("1"))
		c.want(events...)
		c.send(ask("2", "fails"))
		c.wantError("2", -32603)
		c.want(events...)
	}
	ran := false
	rpc.AfterReply(t.Context(), func() { ran = true })
	if !ran {
		t.Error("outside of a request AfterReply did nothing")
	}
}

// blocking handles "block" until its context ends; the cause is the result.
func blocking(started chan<- struct{}) rpc.Handler {
	return func(ctx context.Context, method string, params json.RawMessage) (any, error) {
		switch method {
		case "block":
			started <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx).Error(), nil
		case "block and fail":
			started <- struct{}{}
			<-ctx.Done()
			return nil, fmt.Errorf("waiting: %w", ctx.Err())
		}
		return params, nil
	}
}

func TestCancel(t *testing.T) {
	for _, id := range []string{"7", `"7"`, `"a b"`} {
		started := make(chan struct{}, 1)
		c := start(t, rpc.Options{Call: blocking(started)})
		cancel := `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}`
		c.send(cancel, ask(id, "block")) // one for an id that comes later does nothing
		<-started
		for _, other := range []string{
			`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":70}}`,
			`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}`,
			`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{"x":7}}}`,
			`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7.5}}`,
			`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{}}`,
			`{"jsonrpc":"2.0","method":"$/cancelRequest","params":[]}`,
			`{"jsonrpc":"2.0","method":"$/cancelRequest"}`,
		} {
			c.send(other)
		}
		c.alive()
		c.send(cancel, cancel)
		c.want(`{"jsonrpc":"2.0","id":` + id + `,"result":"cancelled by the client"}`)
		c.send(cancel) // after the end
		c.alive()

		c.send(ask(id, "block and fail"))
		<-started
		c.send(cancel)
		c.wantError(id, -32800)
	}
}

// A cancel that is read right behind its request finds it, whatever the
// handler's goroutine has come to.
func TestCancelAtOnce(t *testing.T) {
	started := make(chan struct{}, 1)
	c := start(t, rpc.Options{Call: blocking(started)})
	for range 500 {
		c.write(frame(ask("1", "block")) + frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`))
		c.want(`{"jsonrpc":"2.0","id":1,"result":"cancelled by the client"}`)
		<-started
	}
}

func TestDuplicateID(t *testing.T) {
	started := make(chan struct{}, 1)
	c := start(t, rpc.Options{Call: blocking(started)})
	c.send(ask("1", "block"))
	<-started
	c.send(ask("1", "echo"))
	c.wantError("1", invalidRequest)
	c.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"result":"cancelled by the client"}`)
	c.send(ask("1", "echo"))
	c.want(answer("1"))
}

// What a handler returns, and what the client gets.
func TestAnswers(t *testing.T) {
	secret := errors.New("open /home/me/.netrc: key=sk-123")
	wire := &rpc.Error{Code: -32803, Message: "no such run", Data: []byte(`{"code":"unknownRun"}`)}
	failing := func(code int, rest string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":%s}}`, code, rest)
	}
	internal := failing(-32603, `"m: internal error, see the log of the server"`)
	for _, tc := range []struct {
		name   string
		result any
		err    error
		want   string
	}{
		{"nothing", nil, nil, `{"jsonrpc":"2.0","id":1,"result":null}`},
		{"object", struct{}{}, nil, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"no HTML escapes", "<&>", nil, `{"jsonrpc":"2.0","id":1,"result":"<&>"}`},
		{"raw", json.RawMessage(`[1]`), nil, `{"jsonrpc":"2.0","id":1,"result":[1]}`},
		{"raw nothing", json.RawMessage(nil), nil, `{"jsonrpc":"2.0","id":1,"result":null}`},
		{"types of LSP", []protocol.TextEdit{{NewText: "x"}}, nil,
			`{"jsonrpc":"2.0","id":1,"result":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"x"}]}`},
		{"a presence object of ours", struct {
			Review *struct{} `json:"review,omitempty"`
		}{&struct{}{}}, nil, `{"jsonrpc":"2.0","id":1,"result":{"review":{}}}`},
		{"raw and broken", json.RawMessage(`{"a":`), nil, internal},
		{"not to be encoded", make(chan int), nil, internal},
		{"encoder panics", panics{}, nil, internal},
		{"error with data", nil, wire, failing(-32803, `"no such run","data":{"code":"unknownRun"}`)},
		{"wrapped", nil, fmt.Errorf("%w: %w", secret, wire), failing(-32803, `"no such run","data":{"code":"unknownRun"}`)},
		{"broken data", nil, &rpc.Error{Code: 1, Message: "m", Data: []byte(`{`)}, failing(1, `"m"`)},
		{"message with broken text", nil, &rpc.Error{Code: 1, Message: "\xff\"\n"}, failing(1, `"`+"\uFFFD"+`\"\n"`)},
		{"any error", "lost", secret, internal},
		{"cancelled", nil, fmt.Errorf("x: %w", context.Canceled), failing(-32800, `"m: cancelled"`)},
		{"too late", nil, context.DeadlineExceeded, internal},
		{"unknown", nil, fmt.Errorf("m: %w", rpc.ErrMethodNotFound), failing(-32601, `"JSON-RPC method not found"`)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := start(t, rpc.Options{Call: func(context.Context, string, json.RawMessage) (any, error) { return tc.result, tc.err }})
			c.send(ask("1", "m"))
			c.want(tc.want)
		})
	}
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("no") }

// C145: a panic is an error of its request and a stack in the log.
func TestPanics(t *testing.T) {
	o := rpc.Options{
		Call: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			if method == "echo" {
				return params, nil
			}
			panic("the handler " + method)
		},
		Notify: func(context.Context, string, json.RawMessage) error { panic("the notification") },
		Inline: map[string]bool{"inline": true},
	}
	c := start(t, o)
	c.send(ask("1", "async"))
	c.wantError("1", -32603)
	c.send(ask("2", "inline"))
	c.wantError("2", -32603)
	c.send(`{"jsonrpc":"2.0","method":"n"}`)
	c.alive()
	for _, want := range []string{"the handler async", "the handler inline", "the notification", "request_test.go"} {
		if !strings.Contains(c.log.String(), want) {
			t.Errorf("the log does not tell of %q", want)
		}
	}
}

func TestNotificationErrors(t *testing.T) {
	c := start(t, rpc.Options{Notify: func(_ context.Context, method string, _ json.RawMessage) error {
		if strings.HasPrefix(method, "$/") {
			return rpc.ErrMethodNotFound
		}
		return errors.New("did not like " + method)
	}})
	c.send(`{"jsonrpc":"2.0","method":"a"}`, `{"jsonrpc":"2.0","method":"$/b"}`)
	c.alive()
	if log := c.log.String(); !strings.Contains(log, "did not like a") {
		t.Errorf("the error is not in the log:\n%s", log)
	}
}

// Params stay what they were after the handler has returned.
func TestParamsAreOwned(t *testing.T) {
	kept := make(chan json.RawMessage, 100)
	keep := func(_ context.Context, _ string, params json.RawMessage) (any, error) {
		kept <- params
		return nil, nil
	}
	c := start(t, rpc.Options{Call: keep, Notify: func(ctx context.Context, m string, p json.RawMessage) error {
		_, err := keep(ctx, m, p)
		return err
	}})
	params := func(i int) string { return fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat("x", i)) }
	for i := range 50 {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":%s}`, params(i)))
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"c","params":%s}`, params(i)))
		c.next()
	}
	for i := range 50 {
		for range 2 {
			if got := <-kept; !bytes.Equal(got, []byte(params(i))) {
				t.Fatalf("params %d became %s", i, got)
			}
		}
	}
}
