package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Sink takes a session's events to who watches it.
type Sink interface {
	// Send queues an event. Calls come one at a time, in the order of Seq, and
	// line, its JSON, may be kept but not changed. It must not call the session.
	Send(e Envelope, line []byte)
	// Congested reports that events wait to be read: text is joined meanwhile.
	// When that is over, the sink calls Session.Drained.
	Congested() bool
	// Wait returns when the queue has room for an event, or with ctx's error.
	Wait(ctx context.Context) error
}

// Recorder keeps the lines of a session. Record is called by one goroutine at a
// time, Events at any time.
type Recorder interface {
	// Record appends a line, a JSON object without its newline. An error means
	// that nothing of it was kept. line may be used again after the call.
	Record(line []byte) error
	// Events returns the stored events with from <= seq < before.
	Events(from, before int64) ([]json.RawMessage, error)
	Close() error
}

// The bounds of what is held in memory while it cannot go out.
const (
	heldLimit    = 64 << 10 // bytes of joined text
	backlogLimit = 16 << 20 // bytes that the recorder did not take
)

// scope is who an event comes from: a run, or a call within one. Nothing comes
// from a scope that is closed, or that lies in a closed one. eventLog.mu guards it.
type scope struct {
	runID  string
	parent *scope
	closed bool
}

func (s *scope) over() bool {
	for ; s != nil; s = s.parent {
		if s.closed {
			return true
		}
	}
	return false
}

// run is the id of the run that s belongs to; the session's own scope is nil.
func (s *scope) run() string {
	if s == nil {
		return ""
	}
	return s.runID
}

// line is what one event or record is stored as; seq is 0 for a record.
type line struct {
	seq  int64
	json []byte
}

// held is text that has not become an event yet.
type held struct {
	scope     *scope
	thought   bool
	messageID string
	text      strings.Builder
}

// eventLog numbers the events of one session, stores them and hands them on,
// in this order, one at a time.
type eventLog struct {
	sessionID string
	recorder  Recorder // nil: lines stay in memory
	sink      Sink     // nil: nobody watches
	// header is the first line of a session that has none yet. It is made when
	// the first event is stored, so that a session without any leaves no file.
	header func() []byte

	mu      sync.Mutex
	next    int64 // seq of the next event
	held    held
	memory  []line // all events, where there is no recorder
	backlog []line // what the recorder did not take yet
	waiting int    // bytes of the backlog
	failing bool   // the recorder did not take the last line
	lost    bool   // the backlog was given up
	closed  bool   // nothing comes any more
	notice  *Notice
}

var errOver = errors.New("the run, call or session that sends this event is over")

// emit logs an event that may be missing when ctx ends before there is room for
// it.
func (l *eventLog) emit(ctx context.Context, s *scope, ev Event) error {
	if l.sink != nil {
		// A sink that is gone for another reason than ctx is no reason not to store.
		if err := l.sink.Wait(ctx); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return l.add(s, ev)
}

// tell logs an event that must not be missing: it waits for room as long as the
// session lives, and then goes without.
func (l *eventLog) tell(life context.Context, s *scope, ev Event) error {
	if l.sink != nil {
		_ = l.sink.Wait(life) // there is nothing to wait for any more
	}
	return l.add(s, ev)
}

// add logs an event without waiting for room.
func (l *eventLog) add(s *scope, ev Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.over() || l.closed {
		return errOver
	}
	if l.join(s, ev) {
		return nil
	}
	l.flush()
	l.append(s, ev, true)
	return nil
}

// end logs the last event of a run. before is called when the event is stored
// and not yet sent: who reads it may go on from there.
func (l *eventLog) end(life context.Context, s *scope, ev RunEnded, before func()) {
	if l.sink != nil {
		_ = l.sink.Wait(life) // as tell
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.over() || l.closed {
		before()
		return
	}
	l.flush()
	s.closed = true
	e, raw := l.number(s, ev)
	l.store(line{e.Seq, raw})
	before()
	l.send(e, raw)
	l.tellStorage()
}

// close lets nothing more come from a scope.
func (l *eventLog) close(s *scope) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.closed = true
}

// join holds a delta back while the sink is congested and reports whether it
// did: what comes next of the same message becomes one event with it.
func (l *eventLog) join(s *scope, ev Event) bool {
	var id, delta string
	var thought bool
	switch ev := ev.(type) {
	case TextDelta:
		id, delta = ev.MessageID, ev.Delta
	case ThoughtDelta:
		id, delta, thought = ev.MessageID, ev.Delta, true
	default:
		return false
	}
	h := &l.held
	if h.text.Len() > 0 && (h.scope != s || h.thought != thought || h.messageID != id) {
		l.flush()
	}
	if l.sink == nil || !l.sink.Congested() {
		if h.text.Len() == 0 {
			return false
		}
		h.text.WriteString(delta)
		l.flush()
		return true
	}
	h.scope, h.thought, h.messageID = s, thought, id
	h.text.WriteString(delta)
	if h.text.Len() >= heldLimit {
		l.flush()
	}
	return true
}

// drained sends what was held back for a sink that is no longer congested.
func (l *eventLog) drained() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.flush()
	}
}

// restore logs an event that is stored and not sent.
func (l *eventLog) restore(s *scope, ev Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.append(s, ev, false)
}

// flush makes an event of the text that is held back.
func (l *eventLog) flush() {
	h := &l.held
	if h.text.Len() == 0 {
		return
	}
	s, text := h.scope, h.text.String()
	var ev Event = TextDelta{MessageID: h.messageID, Delta: text}
	if h.thought {
		ev = ThoughtDelta{MessageID: h.messageID, Delta: text}
	}
	l.held = held{}
	l.append(s, ev, true)
}

// append numbers, stores and, where it is live, sends an event.
func (l *eventLog) append(s *scope, ev Event, live bool) {
	e, raw := l.number(s, ev)
	l.store(line{e.Seq, raw})
	if live {
		l.send(e, raw)
	}
	l.tellStorage()
}

func (l *eventLog) number(s *scope, ev Event) (Envelope, []byte) {
	e := Envelope{SessionID: l.sessionID, RunID: s.run(), Seq: l.next, Time: time.Now().UTC(), Event: ev}
	raw, err := e.AppendJSON(make([]byte, 0, 256))
	if err != nil {
		// Only input that is not JSON can do this, and calls are checked before.
		e.Event = Notice{Severity: "error", Code: "internal", Message: fmt.Sprintf("an event could not be written: %v", err)}
		raw, _ = e.AppendJSON(nil) // strings always encode
	}
	l.next++
	return e, raw
}

func (l *eventLog) send(e Envelope, raw []byte) {
	if l.sink != nil {
		l.sink.Send(e, raw)
	}
}

// record stores a line that is no event: {"type":typ, and the fields of v}.
func (l *eventLog) record(typ string, v any) error {
	raw, err := encodeRecord(typ, v)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errOver
	}
	l.store(line{json: raw})
	l.tellStorage()
	return nil
}

// describe stores a description of the session, if there is anything stored.
func (l *eventLog) describe(raw []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.header != nil || l.closed {
		return // the first line will say it
	}
	l.store(line{json: raw})
	l.tellStorage()
}

// store gives a line to the recorder, after those that it did not take before.
func (l *eventLog) store(one line) {
	if l.recorder == nil {
		if one.seq > 0 {
			l.memory = append(l.memory, one)
		}
		return
	}
	if l.lost {
		return
	}
	if l.header != nil {
		l.keep(line{json: l.header()})
		l.header = nil
	}
	if len(l.backlog) == 0 && l.recorder.Record(one.json) == nil {
		return
	}
	l.keep(one)
	err := l.drainBacklog()
	switch {
	case err != nil && l.waiting > backlogLimit:
		l.lost, l.backlog, l.waiting = true, nil, 0
		l.notice = &Notice{Severity: "error", Code: "storage", Message: fmt.Sprintf("the session is not stored from here on: %v", err)}
	case err != nil && !l.failing:
		l.failing = true
		l.notice = &Notice{Severity: "warning", Code: "storage", Message: fmt.Sprintf("the session cannot be stored, which is tried again with each event: %v", err)}
	case err == nil && l.failing:
		l.failing = false
		l.notice = &Notice{Severity: "info", Code: "storage", Message: "the session is stored again, with what was held back"}
	}
}

func (l *eventLog) keep(one line) {
	l.backlog = append(l.backlog, one)
	l.waiting += len(one.json)
}

func (l *eventLog) drainBacklog() error {
	for len(l.backlog) > 0 {
		one := l.backlog[0]
		if err := l.recorder.Record(one.json); err != nil {
			return err
		}
		l.waiting -= len(one.json)
		l.backlog = l.backlog[1:]
	}
	l.backlog = nil
	return nil
}

// tellStorage tells the user what store found out.
func (l *eventLog) tellStorage() {
	if n := l.notice; n != nil {
		l.notice = nil
		l.append(nil, *n, true)
	}
}

// events returns the events with seq >= from in the form they were sent in,
// and the seq of the next one to come.
func (l *eventLog) events(from int64) ([]json.RawMessage, int64, error) {
	l.mu.Lock()
	l.flush()
	next, lines := l.next, l.memory
	if l.recorder != nil {
		lines = l.backlog
	}
	var tail []json.RawMessage
	for _, one := range lines {
		if one.seq >= max(from, 1) {
			tail = append(tail, one.json)
		}
	}
	l.mu.Unlock()
	if l.recorder == nil {
		return tail, next, nil
	}
	// A file is read without the lock: what is appended meanwhile is past next.
	before := next
	if len(tail) > 0 {
		before = next - int64(len(tail))
	}
	stored, err := l.recorder.Events(from, before)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the session's events: %w", err)
	}
	return append(stored, tail...), next, nil
}

// shut ends the log: what is not stored is not sent either.
func (l *eventLog) shut() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.flush()
	l.closed = true
	if l.recorder == nil {
		return nil
	}
	return errors.Join(l.drainBacklog(), l.recorder.Close())
}
