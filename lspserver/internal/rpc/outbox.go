package rpc

import (
	"context"
	"io"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"go.lsp.dev/jsonrpc2"
)

const (
	// chunkSize is how much goes out in one write at most, but for a frame that
	// is larger. A pipe holds 64 KiB.
	chunkSize = 32 << 10
	// chunksKept bounds the buffers that wait to be used again.
	chunksKept = 8
	// congestion is how many queued bytes mean that the client is slow.
	congestion = 64 << 10
	// answersLimit times the limit of the queue is where a client that asks and
	// never reads the answers is given up.
	answersLimit = 32
)

// outbox is the queue of frames in front of the one goroutine that writes.
//
// Messages that the server sends of its own will wait for room. Answers do
// not: whoever asked is owed one, and the reader may be the one to give it.
type outbox struct {
	w     io.Writer
	limit int64
	total atomic.Int64 // bytes queued, held or being written

	mu     sync.Mutex
	more   sync.Cond     // something to write, or closed
	room   chan struct{} // made by who waits for room, closed when bytes have left
	chunks [][]byte      // whole frames, first to go out first
	spare  [][]byte
	held   [][]byte // behind the gate
	gated  bool     // only answers pass
	closed error    // why nothing is taken any more

	drained chan struct{} // a value when total fell below congestion
}

func newOutbox(w io.Writer, limit int64, gated bool) *outbox {
	o := &outbox{w: w, limit: limit, gated: gated, drained: make(chan struct{}, 1)}
	o.more.L = &o.mu
	return o
}

// message is what goes into a frame: a finished body, or a notification.
type message struct {
	body   []byte
	method string
	params []byte
}

// send queues m, waiting for room until ctx or stop ends.
func (o *outbox) send(ctx context.Context, stop <-chan struct{}, m message) error {
	need := int64(m.size())
	for {
		room, err := o.offer(m, need)
		if room == nil {
			return err
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		case <-stop:
			return ErrClosed
		}
	}
}

// offer queues m if there is room, else returns what to wait for. A message
// larger than the queue has room when the queue is empty.
func (o *outbox) offer(m message, need int64) (room <-chan struct{}, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if total := o.total.Load(); o.closed == nil && total > 0 && total+need > o.limit {
		if o.room == nil {
			o.room = make(chan struct{})
		}
		return o.room, nil
	}
	return nil, o.put(m, need, o.gated)
}

// answer queues m without waiting. With open it lets everything else through
// after it.
func (o *outbox) answer(m message, open bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed == nil && o.total.Load() > answersLimit*o.limit {
		return errUnread
	}
	err := o.put(m, int64(m.size()), false)
	if open && o.gated {
		o.gated = false
		o.chunks = append(o.chunks, o.held...)
		o.held = nil
	}
	return err
}

// put appends m to what waits for the writer or for the gate.
func (o *outbox) put(m message, need int64, hold bool) error {
	if o.closed != nil {
		return o.closed
	}
	queue := &o.chunks
	if hold {
		queue = &o.held
	}
	last := len(*queue) - 1
	if last < 0 || int64(cap((*queue)[last])-len((*queue)[last])) < need {
		*queue = append(*queue, o.buffer(int(need)))
		last++
	}
	chunk := (*queue)[last]
	before := len(chunk)
	chunk = m.appendFrame(chunk)
	(*queue)[last] = chunk
	o.total.Add(int64(len(chunk) - before))
	o.more.Signal()
	return nil
}

// buffer returns an empty buffer for at least need bytes.
func (o *outbox) buffer(need int) []byte {
	if n := len(o.spare) - 1; n >= 0 && need <= chunkSize {
		b := o.spare[n]
		o.spare = o.spare[:n]
		return b
	}
	return make([]byte, 0, max(need, chunkSize))
}

// run writes what is queued until close or fail, and returns the write error.
func (o *outbox) run() error {
	for {
		chunk := o.take()
		if chunk == nil {
			return nil
		}
		if _, err := o.w.Write(chunk); err != nil {
			o.fail(err)
			return err
		}
		o.written(chunk)
	}
}

// take waits for the next chunk; nil is the end.
func (o *outbox) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.chunks) == 0 {
		if o.closed != nil {
			return nil
		}
		o.more.Wait()
	}
	chunk := o.chunks[0]
	o.chunks = slices.Delete(o.chunks, 0, 1)
	return chunk
}

// written gives the room of chunk back.
func (o *outbox) written(chunk []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := int64(len(chunk))
	after := o.total.Add(-n)
	if cap(chunk) == chunkSize && len(o.spare) < chunksKept {
		o.spare = append(o.spare, chunk[:0])
	}
	o.wake()
	if after <= congestion && after+n > congestion {
		select {
		case o.drained <- struct{}{}:
		default:
		}
	}
}

// close takes no more; what is queued still goes out.
func (o *outbox) close() { o.end(ErrClosed, false) }

// fail takes no more and drops what is queued.
func (o *outbox) fail(err error) { o.end(err, true) }

func (o *outbox) end(err error, drop bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed == nil {
		o.closed = err
	}
	o.held = nil
	if drop {
		o.chunks = nil
	}
	o.wake()
	o.more.Signal()
}

// wake lets those who wait for room look again.
func (o *outbox) wake() {
	if o.room != nil {
		close(o.room)
		o.room = nil
	}
}

// headerRoom is the space for "Content-Length: <n>\r\n\r\n".
const headerRoom = 16 + 20 + 4

// size is what m needs at most in a chunk.
func (m message) size() int {
	return headerRoom + len(m.body) + 64 + 6*len(m.method) + len(m.params)
}

// appendFrame appends m with its header to dst.
func (m message) appendFrame(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, headerRoom)...)
	if m.body != nil {
		dst = append(dst, m.body...)
	} else {
		dst = jsonrpc2.AppendNotification(dst, m.method, m.params)
	}
	body := dst[start+headerRoom:]
	header := append(dst[:start], "Content-Length: "...)
	header = strconv.AppendInt(header, int64(len(body)), 10)
	header = append(header, "\r\n\r\n"...)
	return dst[:len(header)+copy(dst[len(header):], body)]
}
