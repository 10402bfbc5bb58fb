package lsptest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// record is all that went over the wire and what it told, under one lock that
// nobody holds while waiting.
type record struct {
	mu sync.Mutex
	// changed is closed and replaced whenever something below, or a document,
	// changes.
	changed chan struct{}
	// news counts what the server did by itself, and changes of documents:
	// what a test does to find out whether something holds is none.
	news     int
	frames   []Frame
	breaches []string
	lastID   int
	waiting  map[string]*Pending
	// questions wait for a person's answer, in their order.
	questions []*question
	follow    follower
	// behaviours are those of the next edits, gates hold back some of them.
	behaviours []Behaviour
	gates      []chan struct{}
	// paused stops the reading of frames until it is closed.
	paused chan struct{}
	ended  bool
}

func (r *record) init() {
	r.changed = make(chan struct{})
	r.waiting = map[string]*Pending{}
	r.follow.init()
}

// touch wakes everyone who awaits something; r.mu is held.
func (r *record) touch() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// poke is touch for what lies outside of the record.
func (r *record) poke() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news++
	r.touch()
}

func (r *record) add(f Frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frames = append(r.frames, f)
	if f.FromServer && (f.Method != "" || string(f.ID) == "null") {
		r.news++
	}
	if f.FromServer && f.Method == "agent/event" {
		r.follow.event(f, r.breachLocked)
	}
	r.touch()
}

func (r *record) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.touch()
}

// breach takes down that the server broke a rule.
func (r *record) breach(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.breachLocked(format, args...)
}

func (r *record) breachLocked(format string, args ...any) {
	r.breaches = append(r.breaches, fmt.Sprintf(format, args...))
	r.touch()
}

func (r *record) expect(method string) *Pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastID++
	p := &Pending{id: r.lastID, method: method, done: make(chan Frame, 1)}
	r.waiting[strconv.Itoa(p.id)] = p
	return p
}

// answer hands a response to whoever asked.
func (r *record) answer(f Frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.waiting[string(f.ID)]
	if p == nil {
		// A fault in what was sent is answered with the id null; ids that are
		// strings are those of bodies that a test wrote itself.
		if f.ID[0] != '"' && (string(f.ID) != "null" || f.Error == nil) {
			r.breachLocked("a response to nothing, or a second one: %s", f.Body)
		}
		return
	}
	delete(r.waiting, string(f.ID))
	r.follow.answered(p.method, f)
	p.done <- f
	r.touch()
}

// throttle waits while the client is slow.
func (r *record) throttle(ctx context.Context) {
	r.mu.Lock()
	paused := r.paused
	r.mu.Unlock()
	if paused == nil {
		return
	}
	select {
	case <-paused:
	case <-ctx.Done():
	}
}

// Pause stops reading what the server sends, as an editor that hangs.
func (e *Editor) Pause() {
	e.record.mu.Lock()
	defer e.record.mu.Unlock()
	if e.record.paused == nil {
		e.record.paused = make(chan struct{})
	}
}

// Resume goes on reading.
func (e *Editor) Resume() {
	e.record.mu.Lock()
	defer e.record.mu.Unlock()
	if e.record.paused != nil {
		close(e.record.paused)
		e.record.paused = nil
	}
}

// Frames are all messages so far.
func (e *Editor) Frames() []Frame {
	e.record.mu.Lock()
	defer e.record.mu.Unlock()
	return slices.Clone(e.record.frames)
}

// Sent are the messages of a method that the server sent.
func (e *Editor) Sent(method string) []Frame {
	var sent []Frame
	for _, f := range e.Frames() {
		if f.FromServer && f.Method == method {
			sent = append(sent, f)
		}
	}
	return sent
}

// Await waits until ok says so. It is called again whenever something changed:
// a message came, or a document did. what names it for a failure.
func (e *Editor) Await(what string, ok func() bool) {
	e.t.Helper()
	deadline := time.After(e.opts.Deadline)
	for {
		e.record.mu.Lock()
		changed, ended := e.record.changed, e.record.ended
		e.record.mu.Unlock()
		if ok() {
			return
		}
		if ended {
			e.Fatalf("awaiting %s: the server has left (%v)", what, e.exit)
		}
		select {
		case <-changed:
		case <-deadline:
			e.Fatalf("awaiting %s: it did not come", what)
		}
	}
}

// awaitOr is Await for a condition that asks the server, and leaves it to the
// caller to fail.
func (e *Editor) awaitOr(ok func() bool) {
	deadline := e.expired()
	for {
		before, _, ended := e.record.state()
		if ok() || ended {
			return
		}
		for {
			now, changed, ended := e.record.state()
			if now != before || ended {
				break
			}
			select {
			case <-changed:
			case <-deadline:
				return
			}
		}
	}
}

func (r *record) state() (news int, changed <-chan struct{}, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.news, r.changed, r.ended
}

// expired is closed, or gets a value, when a wait has been too long.
func (e *Editor) expired() <-chan time.Time { return time.After(e.opts.Deadline) }

// Event is an agent/event as it was sent.
type Event struct {
	SessionID string `json:"sessionId"`
	RunID     string `json:"runId"`
	Seq       int64  `json:"seq"`
	Type      string `json:"type"`
	Fields    map[string]any
	Raw       json.RawMessage
}

// Field is a field of the event, found by a dotted path, as text: a string as
// it is, anything else as JSON. Absent is "".
func (v Event) Field(path string) string { return dig(v.Fields, path) }

// dig finds a value in decoded JSON; numbers in the path are indices.
func dig(v any, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			if key == "length" {
				return strconv.Itoa(len(at))
			}
			if err != nil || i < 0 || i >= len(at) {
				return ""
			}
			v = at[i]
		default:
			return ""
		}
	}
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return string(mustJSON(v))
}

// Events are the events so far, in their order.
func (e *Editor) Events() []Event {
	e.record.mu.Lock()
	defer e.record.mu.Unlock()
	return slices.Clone(e.record.follow.events)
}

// AwaitEvent waits for an event of a type that ok accepts, nil any. It looks
// at all events, those that came before included.
func (e *Editor) AwaitEvent(kind string, ok func(Event) bool) Event {
	e.t.Helper()
	var got Event
	e.Await("the event "+kind, func() bool {
		for _, v := range e.Events() {
			if v.Type == kind && (ok == nil || ok(v)) {
				got = v
				return true
			}
		}
		return false
	})
	return got
}

// question is a request that a person answers.
type question struct {
	frame  Frame
	answer chan any
	taken  bool
}

// ask puts a request before the person and waits for what they say.
func (e *Editor) ask(f Frame) (any, bool) {
	q := &question{frame: f, answer: make(chan any, 1)}
	e.record.mu.Lock()
	e.record.questions = append(e.record.questions, q)
	e.record.news++
	e.record.touch()
	e.record.mu.Unlock()
	select {
	case v := <-q.answer:
		return v, true
	case <-e.ctx.Done():
		return nil, false
	}
}

// AwaitQuestion waits for the next request that a person is to answer and
// gives it back with a function that answers it.
func (e *Editor) AwaitQuestion() (Frame, func(result any)) {
	e.t.Helper()
	var q *question
	e.Await("a question to the user", func() bool {
		e.record.mu.Lock()
		defer e.record.mu.Unlock()
		for _, candidate := range e.record.questions {
			if !candidate.taken {
				candidate.taken = true
				q = candidate
				return true
			}
		}
		return false
	})
	return q.frame, func(result any) { q.answer <- result }
}
