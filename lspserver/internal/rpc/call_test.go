package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lspserver/internal/rpc"
)

// asked is a request that the server sent.
type asked struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// asks returns the request that the server sends next.
func (c *client) asks(method string) asked {
	c.t.Helper()
	var a asked
	if err := json.Unmarshal([]byte(c.next()), &a); err != nil || a.Method != method || a.ID == nil {
		c.t.Fatalf("the server sent %+v, want the request %s", a, method)
	}
	return a
}

// outcome is what a call came to.
type outcome struct {
	result json.RawMessage
	err    error
}

// calls has the server call method and returns where the outcome comes.
func (c *client) calls(ctx context.Context, method string) <-chan outcome {
	got := make(chan outcome, 1)
	go func() {
		var o outcome
		o.err = c.conn.Call(ctx, method, map[string]int{"x": 1}, &o.result)
		got <- o
	}()
	return got
}

func TestCall(t *testing.T) {
	c := start(t, rpc.Options{})
	for _, tc := range []struct{ answer, result, failure string }{
		{`"result":{}`, `{}`, ""},
		{`"result":null`, `null`, ""},
		{`"result":[1,2]`, `[1,2]`, ""},
		{`"error":{"code":-32601,"message":"no such method","data":{"a":1}}`, "", "no such method"},
		{`"error":{"code":0,"message":""}`, "", ""},
		{`"error":{}`, "", ""},
		// Answers that make no sense fail the call instead of letting it wait.
		{`"nothing":1`, "", "an answer without result and error from the client"},
		{`"error":"text"`, "", "malformed answer from the client"},
		{`"error":null`, "", "malformed answer from the client"},
		{`"result":1,"error":{"code":1,"message":"m"}`, "", "malformed answer from the client"},
	} {
		got := c.calls(t.Context(), "workspace/applyEdit")
		a := c.asks("workspace/applyEdit")
		if string(a.Params) != `{"x":1}` {
			t.Errorf("params %s", a.Params)
		}
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, a.ID, tc.answer))
		o := <-got
		var wire *rpc.Error
		if isError := errors.As(o.err, &wire); string(o.result) != tc.result || isError == (tc.result != "") {
			t.Errorf("%s: result %s, error %v", tc.answer, o.result, o.err)
		} else if isError && wire.Message != tc.failure {
			t.Errorf("%s: message %q", tc.answer, wire.Message)
		}
	}
}

func TestCallTypes(t *testing.T) {
	c := start(t, rpc.Options{})
	done := make(chan error, 1)
	var result protocol.ApplyWorkspaceEditResult
	call := func(params any) {
		done <- c.conn.Call(t.Context(), "workspace/applyEdit", params, &result)
	}
	go call(nil)
	a := c.asks("workspace/applyEdit")
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"applied":true}}`, a.ID))
	if err := <-done; err != nil || !result.Applied || a.Params != nil {
		t.Errorf("result %+v, error %v, params %s", result, err, a.Params)
	}
	go call(make(chan int))
	if err := <-done; err == nil {
		t.Error("params that cannot be encoded were sent")
	}
	go call(nil)
	a = c.asks("workspace/applyEdit")
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"applied":"yes"}}`, a.ID))
	if err := <-done; err == nil {
		t.Error("a result of the wrong type was taken")
	}
}

// C146: a handler calls the client, which calls back, while notifications and
// cancels go on.
func TestCallFromHandler(t *testing.T) {
	var c *client
	c = start(t, rpc.Options{Call: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
		if method != "outer" {
			return params, nil
		}
		var result json.RawMessage
		err := c.conn.Call(ctx, "inner", nil, &result)
		return result, err
	}})
	c.send(ask("1", "outer"))
	a := c.asks("inner")
	c.alive()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, a.ID))
	c.want(answer("1"))
}

// C164: answers to nothing, and second ones.
func TestStrayAnswers(t *testing.T) {
	c := start(t, rpc.Options{})
	got := c.calls(t.Context(), "m")
	a := c.asks("m")
	c.send(
		`{"jsonrpc":"2.0","id":4711,"result":{}}`,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","result":{}}`, a.ID), // ours are numbers
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
		`{"jsonrpc":"2.0","result":{}}`,
		`{"jsonrpc":"2.0","id":4711}`,
		`{"jsonrpc":"2.0","id":[],"result":{}}`,
		`{"id":4711,"error":{}}`)
	c.wantError("null", invalidRequest) // the fifth may have been a request without method
	c.alive()
	yes := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, a.ID)
	c.send(yes, yes, yes)
	if o := <-got; o.err != nil || string(o.result) != "{}" {
		t.Errorf("outcome %+v", o)
	}
	c.alive()
	if n := strings.Count(c.log.String(), "level=WARN"); n != 9 {
		t.Errorf("%d warnings for 9 stray answers:\n%s", n, c.log)
	}
}

// A call that is given up is cancelled at the client; its late answer and that
// to a call that is still waiting are told apart.
func TestCallGivenUp(t *testing.T) {
	c := start(t, rpc.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	first := c.calls(ctx, "a")
	a := c.asks("a")
	second := c.calls(t.Context(), "b")
	b := c.asks("b")
	cancel()
	if o := <-first; !errors.Is(o.err, context.Canceled) {
		t.Errorf("error %v", o.err)
	}
	c.want(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%s}}`, a.ID))
	c.send(
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"late":true}}`, a.ID),
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, b.ID))
	if o := <-second; string(o.result) != "{}" {
		t.Errorf("outcome %+v", o)
	}
	c.alive()
	if log := c.log.String(); strings.Contains(log, "level=WARN") || !strings.Contains(log, "late answer dropped") {
		t.Errorf("log:\n%s", log)
	}

	// One that was never sent is not cancelled either.
	if o := <-c.calls(ctx, "c"); !errors.Is(o.err, context.Canceled) {
		t.Errorf("error %v", o.err)
	}
	c.alive()
}

// C148: calls that nobody answers cost nothing else.
func TestCallsWithoutAnswer(t *testing.T) {
	c := start(t, rpc.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	var all []<-chan outcome
	for range 150 {
		all = append(all, c.calls(ctx, "m"))
	}
	for range 150 {
		c.asks("m")
	}
	c.alive()
	cancel()
	for _, got := range all {
		if o := <-got; !errors.Is(o.err, context.Canceled) {
			t.Errorf("error %v", o.err)
		}
	}
	for range 150 {
		c.next()
	}
	c.alive()
}

func TestCallsFailAtTheEnd(t *testing.T) {
	c := start(t, rpc.Options{})
	got := c.calls(context.Background(), "m")
	c.asks("m")
	c.in.Close()
	if err := c.ended(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if o := <-got; !errors.Is(o.err, rpc.ErrClosed) {
		t.Errorf("error %v", o.err)
	}
	if err := c.conn.Call(t.Context(), "m", nil, nil); !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("Call after the end: %v", err)
	}
	if err := c.conn.Notify(t.Context(), "m", nil); !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("Notify after the end: %v", err)
	}
}
