package rpc

import (
	"context"
	"encoding/json"
)

// WaitRoom returns when the queue has room, or with the error of ctx or of the
// connection's end. With Push it is Notify in two steps, for a caller that
// must not wait while it holds a lock.
func (c *Conn) WaitRoom(ctx context.Context) error {
	for {
		room := c.out.full()
		if room == nil {
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.base.Done():
			return ErrClosed
		}
	}
}

// Push queues a notification whose params are JSON without waiting: the queue
// may grow beyond its limit by what callers of WaitRoom push at once.
func (c *Conn) Push(method string, params json.RawMessage) error {
	return c.out.push(message{method: method, params: params})
}

// full is nil when there is room, else what closes when bytes have left.
func (o *outbox) full() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed != nil || o.total.Load() < o.limit {
		return nil
	}
	if o.room == nil {
		o.room = make(chan struct{})
	}
	return o.room
}

func (o *outbox) push(m message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.put(m, int64(m.size()), o.gated)
}
