package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// Handler handles a message. A notification has no result. The params are the
// handler's to keep; nil when there were none.
type Handler func(ctx context.Context, method string, params json.RawMessage) (any, error)

// Options of a Conn.
type Options struct {
	// Notify handles a notification. It runs on the reader, in order: it must
	// not block. Its error is logged.
	Notify func(ctx context.Context, method string, params json.RawMessage) error
	// Call handles a request and returns its result. Each request has a
	// goroutine of its own; ctx ends when the client cancels the request
	// (its cause is then ErrCancelled), when the connection ends, and when the
	// answer has been given.
	Call Handler
	// Inline are the methods whose Call runs on the reader: nothing is read
	// until it returns. With Lifecycle initialize is always one of them.
	Inline map[string]bool
	// Lifecycle holds the peer to the phases of LSP: see Run.
	Lifecycle bool
	// Ending is called once the connection has ended for whatever reason, and
	// before its output closes: what it pushes (Push) still goes to a client that
	// reads. It returns soon.
	Ending func()

	Log        *slog.Logger  // default: nothing is logged
	QueueLimit int           // bytes of messages of our own that wait to be written; default 8 MiB
	FrameLimit int           // bytes of a message that is read; default 64 MiB
	Grace      time.Duration // how long handlers may go on after the end; Run takes at most twice that; default 0.7 s
}

// Conn is one connection to a client.
type Conn struct {
	o      Options
	closer io.Closer
	peer   jsonrpc2.Conn
	out    *outbox

	// base is the context of everything: it ends with the connection, its cause
	// says why.
	base    context.Context
	end     context.CancelCauseFunc
	settled chan struct{} // closed by Run when it waits for no handler any more

	mu       sync.Mutex
	phase    phase
	requests map[jsonrpc2.ID]*request // being handled
	open     int                      // requests whose answer or after-work is not done
	quiet    chan struct{}            // closed when the connection has ended and open is 0
	calls    map[int64]callState      // sent by us and not answered
	onDrain  []*func()
}

// callState is what happened to a call of ours that has no answer yet.
type callState int

const (
	callOpen callState = iota
	callGivenUp
)

// NewConn makes a connection that reads from r and writes to w; closer closes
// both, which must end a read and a write that block. Nothing is read before
// Run.
func NewConn(r io.Reader, w io.Writer, closer io.Closer, o Options) *Conn {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.QueueLimit == 0 {
		o.QueueLimit = 8 << 20
	}
	if o.FrameLimit == 0 {
		o.FrameLimit = 64 << 20
	}
	if o.Grace == 0 {
		o.Grace = 700 * time.Millisecond
	}
	c := &Conn{
		o:        o,
		closer:   closer,
		out:      newOutbox(w, int64(o.QueueLimit), o.Lifecycle),
		settled:  make(chan struct{}),
		quiet:    make(chan struct{}),
		requests: map[jsonrpc2.ID]*request{},
		calls:    map[int64]callState{},
	}
	if !o.Lifecycle {
		c.phase = running
	}
	c.base, c.end = context.WithCancelCause(context.Background())
	c.peer = jsonrpc2.NewConn(&stream{Conn: c, frames: newFrames(r, o.FrameLimit)}, jsonrpc2.WithCodec(codec{}))
	return c
}

// Run serves the connection until the client ends it (exit or end of input), a
// write fails, or ctx ends. Then the contexts of all handlers end, Call and
// Notify fail, handlers have the grace time to return and to have their answers
// written, and both sides are closed. A handler that does not return in time is
// logged and left behind.
//
// The result is nil when the client went the way LSP asks for, shutdown and
// then exit or end of input: the exit status is then 0, else 1. Without
// Lifecycle an end of input is enough.
func (c *Conn) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { c.end(context.Cause(ctx)) })()
	wrote, drained := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(wrote)
		if err := c.out.run(); err != nil {
			c.end(fmt.Errorf("writing to the client: %w", err))
		}
	}()
	go func() {
		defer close(drained)
		c.watchDrain(wrote)
	}()
	c.peer.Go(c.base, c.handle)

	<-c.base.Done()
	c.o.Log.Debug("connection ended", "cause", context.Cause(c.base))
	if c.o.Ending != nil {
		c.guard("ending", c.o.Ending)
	}
	stuck := c.settle()
	c.out.close()
	within(c.o.Grace/2, wrote) // else the client does not read: closing ends the write
	if err := c.closer.Close(); err != nil {
		c.o.Log.Debug("closing the connection", "err", err)
	}
	close(c.settled)
	if !within(c.o.Grace/4, wrote) {
		c.out.fail(ErrClosed)
		c.o.Log.Warn("a write to the client does not end")
	} else if !within(c.o.Grace/4, drained) {
		c.o.Log.Error("a drain function does not return")
	}
	if !stuck && !within(c.o.Grace/4, c.peer.Done()) {
		c.o.Log.Warn("a read from the client does not end")
	}
	return c.result(context.Cause(c.base))
}

// settle waits for the handlers and reports whether some are stuck.
func (c *Conn) settle() (stuck bool) {
	c.mu.Lock()
	if c.open == 0 {
		c.quietLocked()
	}
	c.mu.Unlock()
	if within(c.o.Grace, c.quiet) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, r := range c.requests {
		c.o.Log.Error("a handler ignores the end of its context", "method", r.method, "id", id)
	}
	return true
}

// within waits for done, at most d, and reports whether it came.
func within(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// result turns what ended the connection into the result of Run.
func (c *Conn) result(cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	over := cause == errExit || errors.Is(cause, io.EOF)
	switch {
	case over && (c.phase == shutDown || !c.o.Lifecycle):
		return nil
	case cause == errExit:
		return ErrEarlyExit
	case over:
		return fmt.Errorf("the client closed the connection without shutdown: %w", cause)
	}
	return cause
}

// Call sends a request and waits for its answer, which it stores in result; nil
// drops it. To tell null from an object pass a *json.RawMessage. An error
// answer is an *Error. When ctx ends first the client is told so by
// $/cancelRequest, and a late answer is dropped.
//
// It must not be used on the reader: not in Notify, nor in an inline Call.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if err := cmp.Or(ctx.Err(), c.mayCall()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.base, func() { cancel(ErrClosed) })()
	id, err := c.peer.Call(ctx, method, params, result)
	if err != nil && c.base.Err() != nil && !errors.As(err, new(*Error)) {
		return ErrClosed
	}
	if ctx.Err() != nil {
		c.giveUp(id)
	}
	return err
}

func (c *Conn) mayCall() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase < running {
		return ErrNotInitialized
	}
	return nil
}

// giveUp tells the client that nobody waits for an answer any more.
func (c *Conn) giveUp(id jsonrpc2.ID) {
	n, _ := id.Number()
	c.mu.Lock()
	_, open := c.calls[n]
	if open {
		c.calls[n] = callGivenUp
	}
	c.mu.Unlock()
	if open {
		params := fmt.Appendf(nil, `{"id":%d}`, n)
		_ = c.out.answer(message{method: methodCancel, params: params}, false) // fails when the connection ended
	}
}

// Notify sends a notification. It waits while the queue is full, until ctx or
// the connection ends. Before initialize is answered it is kept back.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	if params == nil {
		return c.NotifyRaw(ctx, method, nil)
	}
	raw, err := codec{}.Marshal(params)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", method, err)
	}
	return c.NotifyRaw(ctx, method, raw)
}

// NotifyRaw is Notify for params that are JSON already. They are copied.
func (c *Conn) NotifyRaw(ctx context.Context, method string, params json.RawMessage) error {
	return c.out.send(ctx, c.base.Done(), message{method: method, params: params})
}

// Queued returns how many bytes wait for the client to read them.
func (c *Conn) Queued() int64 { return c.out.total.Load() }

// Congested reports whether the client reads more slowly than we write: more
// than 64 KiB wait.
func (c *Conn) Congested() bool { return c.Queued() > congestion }

// OnDrain has f called each time the connection stops being congested, until
// remove is called. f runs on a goroutine that only does this: it may wait and
// send, but the next one waits for it.
func (c *Conn) OnDrain(f func()) (remove func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := &f
	c.onDrain = append(c.onDrain, entry)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.onDrain = slices.DeleteFunc(c.onDrain, func(e *func()) bool { return e == entry })
	}
}

// watchDrain calls the drain functions until done.
func (c *Conn) watchDrain(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-c.out.drained:
		}
		c.mu.Lock()
		fs := slices.Clone(c.onDrain)
		c.mu.Unlock()
		for _, f := range fs {
			c.guard("drain", *f)
		}
	}
}
