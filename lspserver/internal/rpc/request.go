package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"

	"go.lsp.dev/jsonrpc2"
)

// request is one that is being handled. after and answered are guarded by the
// connection's mutex.
type request struct {
	conn     *Conn
	method   string
	params   json.RawMessage
	ctx      context.Context
	cancel   context.CancelCauseFunc
	after    []func()
	answered bool
}

type requestKey struct{}

// AfterReply has f called once the answer to the request that ctx belongs to is
// queued, so ahead of everything that f sends. It runs whatever the answer is;
// outside of a request, or after the answer, it runs at once.
func AfterReply(ctx context.Context, f func()) {
	r, _ := ctx.Value(requestKey{}).(*request)
	if r != nil && r.later(f) {
		return
	}
	f()
}

// later keeps f for after the answer, if that is still to come.
func (r *request) later(f func()) bool {
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	if !r.answered {
		r.after = append(r.after, f)
	}
	return !r.answered
}

// begin registers a request from the client, or says why it is refused. It
// runs on the reader, so a cancel that is read later finds it.
func (c *Conn) begin(m *jsonrpc2.Call) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.requests[m.ID()]; taken {
		return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "this id belongs to a request that is still being handled")
	}
	if c.o.Lifecycle {
		next, refused := c.phase.request(m.Method())
		if refused != nil {
			return refused
		}
		c.phase = next
	}
	r := &request{conn: c, method: m.Method(), params: json.RawMessage(m.Params())}
	ctx, cancel := context.WithCancelCause(c.base)
	r.ctx, r.cancel = context.WithValue(ctx, requestKey{}, r), cancel
	c.requests[m.ID()] = r
	c.open++
	return nil
}

// handle is the jsonrpc2 handler. It never fails for a notification and never
// panics, since either would end the connection.
func (c *Conn) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	if !req.IsCall() {
		c.notified(strings.Clone(req.Method()), json.RawMessage(req.Params()))
		return nil, nil
	}
	c.mu.Lock()
	r := c.requests[req.ID()]
	c.mu.Unlock()
	if !c.inline(r.method) {
		jsonrpc2.Async(ctx)
	}
	return c.serve(r)
}

func (c *Conn) inline(method string) bool {
	return c.o.Inline[method] || c.o.Lifecycle && method == methodInitialize
}

// notified handles a notification.
func (c *Conn) notified(method string, params json.RawMessage) {
	c.guard(method, func() {
		switch err := c.o.Notify(c.base, method, params); {
		case errors.Is(err, ErrMethodNotFound) && strings.HasPrefix(method, "$/"):
			c.o.Log.Debug("optional notification ignored", "method", method)
		case err != nil:
			c.o.Log.Warn("notification failed", "method", method, "err", err)
		}
	})
}

// guard runs f and logs its panic.
func (c *Conn) guard(what string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			c.o.Log.Error("panic", "in", what, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	f()
}

// serve runs the handler of r. What the library gets from it can be written.
func (c *Conn) serve(r *request) (any, error) {
	var raw []byte
	err := errors.New("the handler did not return") // unless it does
	c.guard(r.method, func() { raw, err = c.run(r) })
	if err != nil {
		return nil, c.wireError(r.method, err)
	}
	return jsonrpc2.RawMessage(raw), nil
}

// run returns the result of r's handler as JSON.
func (c *Conn) run(r *request) ([]byte, error) {
	result, err := c.o.Call(r.ctx, r.method, r.params)
	if err != nil {
		return nil, err
	}
	raw, err := codec{}.Marshal(result)
	if err == nil && !json.Valid(raw) {
		err = errors.New("the result is not valid JSON")
	}
	return raw, err
}

// reply queues the answer to a request and then does what was to come after it.
func (c *Conn) reply(id jsonrpc2.ID, body []byte, failed bool) {
	c.mu.Lock()
	r := c.requests[id]
	delete(c.requests, id) // the client may use the id again as soon as it has the answer
	open := false
	if c.o.Lifecycle && r.method == methodInitialize {
		c.phase = c.phase.initialized(failed)
		open = !failed
	}
	c.mu.Unlock()

	c.answer(message{body: body}, open)

	c.mu.Lock()
	r.answered = true
	after := r.after
	c.mu.Unlock()
	for _, f := range after {
		c.guard("after the answer to "+r.method, f)
	}
	r.cancel(nil)

	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open--; c.open == 0 && c.base.Err() != nil {
		c.quietLocked()
	}
}

// quietLocked tells Run that no request is being handled any more.
func (c *Conn) quietLocked() {
	select {
	case <-c.quiet:
	default:
		close(c.quiet)
	}
}

// answer queues an answer. A client that lets too many lie unread is given up.
func (c *Conn) answer(m message, open bool) {
	if err := c.out.answer(m, open); errors.Is(err, errUnread) {
		c.out.fail(err)
		c.end(err)
	}
}

// cancelled handles $/cancelRequest.
func (c *Conn) cancelled(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	err := json.Unmarshal(params, &p)
	id, idErr := decodeID(p.ID)
	if err != nil || idErr != nil || !id.IsValid() {
		c.o.Log.Debug("malformed " + methodCancel + " ignored")
		return
	}
	c.mu.Lock()
	r := c.requests[id]
	c.mu.Unlock()
	if r != nil {
		r.cancel(ErrCancelled)
	}
}
