package rpc

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// TestRoom fills the queue by Push and sees WaitRoom wait until bytes leave.
func TestRoom(t *testing.T) {
	var out bytes.Buffer
	o := newOutbox(&out, 100, false)
	if o.full() != nil {
		t.Fatal("an empty queue has no room")
	}
	if err := o.push(message{method: "m", params: bytes.Repeat([]byte("1"), 200)}); err != nil {
		t.Fatal(err)
	}
	room := o.full()
	if room == nil {
		t.Fatal("a full queue has room")
	}
	c := &Conn{out: o, base: t.Context()}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.WaitRoom(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("WaitRoom: %v, want the context's error", err)
	}
	o.close()
	if err := o.run(); err != nil {
		t.Fatal(err)
	}
	<-room
	if err := c.WaitRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
}
