package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/agentls/agentls/lspserver/internal/rpc"
)

const kilobyte = 1 << 10

// event is a notification of n bytes.
func event(n int) map[string]string { return map[string]string{"delta": strings.Repeat("x", n)} }

// C147: the client does not read. The queue fills and the sender waits; what
// the client sends is still read, answers are queued, a cancel is taken. When
// the client reads again everything is there, in order.
func TestSlowClient(t *testing.T) {
	const events = 2000
	started := make(chan struct{}, 1)
	var texts int
	c := connect(t, rpc.Options{
		QueueLimit: 256 * kilobyte,
		Call:       blocking(started),
		Notify:     func(context.Context, string, json.RawMessage) error { texts++; return nil },
	})
	c.send(ask("1", "block"))
	<-started
	sent := make(chan error, 1)
	go func() {
		for i := range events {
			if err := c.conn.Notify(context.Background(), "event", map[string]any{"seq": i, "delta": strings.Repeat("x", kilobyte)}); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for !c.conn.Congested() || c.conn.Queued() < 200*kilobyte {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"text":%q}}`, strings.Repeat("x", 100*kilobyte)))
	}
	c.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`, ask("2", "echo"))
	select {
	case err := <-sent:
		t.Fatalf("all was queued: %v", err)
	default:
	}
	if q := c.conn.Queued(); q > 257*kilobyte {
		t.Errorf("%d bytes are queued", q)
	}

	c.read()
	next, answers := 0, 0
	for next < events || answers < 2 {
		var m struct {
			ID     int
			Params struct{ Seq int }
		}
		if err := json.Unmarshal([]byte(c.next()), &m); err != nil {
			t.Fatal(err)
		}
		switch {
		case m.ID != 0:
			answers++
		case m.Params.Seq != next:
			t.Fatalf("event %d after %d", m.Params.Seq, next-1)
		default:
			next++
		}
	}
	if err := <-sent; err != nil {
		t.Errorf("Notify: %v", err)
	}
	if c.alive(); c.conn.Congested() {
		t.Errorf("%d bytes are still queued", c.conn.Queued())
	}
}

// A sender that waits for room stops when its context ends, and when the
// connection does.
func TestFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, rpc.Options{QueueLimit: 10 * kilobyte})
		ctx, cancel := context.WithCancel(t.Context())
		outcomes := make(chan error, 3)
		fill := func(ctx context.Context) {
			for {
				if err := c.conn.Notify(ctx, "event", event(kilobyte)); err != nil {
					outcomes <- err
					return
				}
			}
		}
		go fill(ctx)
		synctest.Wait()
		go func() { outcomes <- c.conn.Call(ctx, "call", event(kilobyte), nil) }()
		synctest.Wait()
		if len(outcomes) > 0 {
			t.Fatalf("the queue took it all: %v", <-outcomes)
		}
		cancel()
		for range 2 {
			if err := <-outcomes; !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
		go fill(context.Background())
		synctest.Wait()
		c.in.Close()
		if err := <-outcomes; !errors.Is(err, rpc.ErrClosed) {
			t.Errorf("error %v", err)
		}
		<-c.done // although nobody ever read
	})
}

// A message larger than the queue goes out, alone.
func TestMessageLargerThanQueue(t *testing.T) {
	c := start(t, rpc.Options{QueueLimit: kilobyte})
	for range 3 {
		if err := c.conn.Notify(t.Context(), "event", event(100*kilobyte)); err != nil {
			t.Fatal(err)
		}
		if n := len(c.next()); n < 100*kilobyte {
			t.Errorf("%d bytes came", n)
		}
	}
}

func TestOnDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, rpc.Options{})
		var mu sync.Mutex
		drains, removed := 0, 0
		count := func(n *int) func() {
			return func() { mu.Lock(); *n++; mu.Unlock() }
		}
		defer c.conn.OnDrain(count(&drains))()
		c.conn.OnDrain(count(&removed))()
		defer c.conn.OnDrain(func() { panic("contained") })()
		// One that sends, and more than there is room for, must not stop the writer.
		var once sync.Once
		defer c.conn.OnDrain(func() {
			once.Do(func() {
				for range 2 {
					if err := c.conn.Notify(context.Background(), "event", event(9<<20)); err != nil {
						t.Errorf("Notify: %v", err)
					}
				}
			})
		})()
		for range 50 {
			c.conn.Notify(t.Context(), "event", event(kilobyte))
		}
		if c.conn.Congested() {
			t.Fatalf("congested with %d bytes", c.conn.Queued())
		}
		for !c.conn.Congested() {
			c.conn.Notify(t.Context(), "event", event(kilobyte))
		}
		if c.conn.Queued() < 64*kilobyte || c.conn.Queued() > 67*kilobyte {
			t.Errorf("congested with %d bytes", c.conn.Queued())
		}
		c.read()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		// Once for what was queued before, and again for the large ones.
		if drains < 2 || removed > 0 {
			t.Errorf("%d drains, %d of the removed one", drains, removed)
		}
		c.in.Close()
		<-c.done
	})
}

// A client that asks and never reads is given up before memory is gone.
func TestUnreadAnswers(t *testing.T) {
	c := connect(t, rpc.Options{QueueLimit: 4 * kilobyte, Inline: map[string]bool{"echo": true}})
	big := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"echo","params":[%q]}`, strings.Repeat("x", kilobyte))
	for i := 0; ; i++ {
		if _, err := c.in.Write([]byte(frame(big))); err != nil {
			break // the connection is closed
		}
		if i > 1000 {
			t.Fatalf("%d answers of a kilobyte were queued", i)
		}
	}
	if err := c.ended(); err == nil {
		t.Error("Run does not tell")
	}
}
