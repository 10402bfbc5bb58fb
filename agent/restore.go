package agent

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/agentls/agentls/agent/llm"
)

// Restore makes a session out of what was stored of it. o's Recorder goes on
// where the records end; o's Title, Mode, Model, Review and Created are what
// the records do not say otherwise.
//
// A run that the server's death cut off gets its end, in StopError, and what it
// left open is closed: those events are stored, and not sent, since the client
// gets them with the others. Calls without a result get one that says so.
// Records that do not decode are passed over.
func Restore(o Options, records []Record) (*Session, error) {
	if o.Ephemeral {
		return nil, fmt.Errorf("session %s: an ephemeral session is not restored", o.ID)
	}
	s := New(o)
	b := rebuild{s: s}
	last := 0 // where the last run begins
	for i, r := range records {
		if r.Type == (RunStarted{}).eventType() {
			last = i
		}
	}
	for i, r := range records {
		if i < last && !keptOfOldRuns[r.Type] && r.Seq > 0 {
			b.seq = max(b.seq, r.Seq)
			continue
		}
		if err := b.take(r); err != nil {
			s.logger.Warn("record not understood", "session", o.ID, "type", r.Type, "seq", r.Seq, "err", err)
		}
	}
	s.log.next = b.seq + 1
	if len(records) > 0 {
		s.log.header = nil
	}
	b.setHistory()
	for _, m := range s.history.messages {
		for _, id := range callsOf(m) {
			s.ids.mark(id)
		}
	}
	b.closeRun()
	return s, nil
}

// keptOfOldRuns are the events that matter of a run that is over: most are
// deltas, and need not be decoded.
var keptOfOldRuns = map[string]bool{
	RunStarted{}.eventType(): true,
	RunEnded{}.eventType():   true,
	ToolCall{}.eventType():   true,
}

// setHistory takes the messages that were read, made valid. What that added is
// stored, so that it is the same at every later start.
func (b *rebuild) setHistory() {
	h, valid := &b.s.history, repair(b.messages)
	whole := min(len(b.messages), len(valid))
	if !reflect.DeepEqual(valid[:whole], b.messages) {
		h.replace(valid)
		return
	}
	h.set(valid[:whole:whole])
	for _, m := range valid[whole:] {
		h.add(m)
	}
}

// rebuild is a session while its records are read.
type rebuild struct {
	s        *Session
	seq      int64
	messages []llm.Message

	// Of the run that has no end yet.
	run   string
	calls []ToolCall    // those that are not over
	texts []openMessage // those whose deltas are not closed
	usage Usage
}

// openMessage is what came of a message. after is how many messages the
// history had by then.
type openMessage struct {
	id    string
	text  []string
	after int
}

func (b *rebuild) take(r Record) error {
	if r.Seq > 0 {
		b.seq = max(b.seq, r.Seq)
		return b.event(r)
	}
	s := b.s
	switch r.Type {
	case RecordSession, RecordInfo:
		var info Info
		if err := json.Unmarshal(r.Line, &info); err != nil {
			return err
		}
		b.describe(info)
	case recordMessage:
		var rec messageRecord
		if err := json.Unmarshal(r.Line, &rec); err != nil {
			return err
		}
		m, err := rec.message()
		if err != nil {
			return err
		}
		b.messages = append(b.messages, m)
	case recordHistory:
		var rec historyRecord
		if err := json.Unmarshal(r.Line, &rec); err != nil {
			return err
		}
		messages := make([]llm.Message, 0, len(rec.Messages))
		for _, one := range rec.Messages {
			m, err := one.message()
			if err != nil {
				return err
			}
			messages = append(messages, m)
		}
		b.messages = messages
		s.o.Instructions.Forget()
	case recordSystem:
		var rec textRecord
		if err := json.Unmarshal(r.Line, &rec); err != nil {
			return err
		}
		s.system = &rec.Text
	case recordInstructions:
		var rec pathsRecord
		if err := json.Unmarshal(r.Line, &rec); err != nil {
			return err
		}
		s.o.Instructions.MarkTold(rec.Paths)
	}
	return nil
}

// describe takes what a record says of the session. Runs and usage are counted
// from the events.
func (b *rebuild) describe(info Info) {
	to := &b.s.info
	to.Title, to.Mode, to.Model, to.Review = info.Title, info.Mode, info.Model, info.Review
	if !info.Created.IsZero() {
		to.Created = info.Created
	}
	if info.Updated.After(to.Updated) {
		to.Updated = info.Updated
	}
	if info.Workspace != nil {
		to.Workspace = info.Workspace
	}
}

func (b *rebuild) event(r Record) error {
	var e Envelope
	if err := json.Unmarshal(r.Line, &e); err != nil {
		return err
	}
	s := b.s
	if e.Time.After(s.info.Updated) {
		s.info.Updated = e.Time
	}
	switch ev := e.Event.(type) {
	case RunStarted:
		s.info.Runs++
		if s.info.Title == "" {
			s.info.Title = title(ev.Prompt)
		}
		b.beginRun(e.RunID)
	case TextDelta:
		b.delta(ev.MessageID, ev.Delta)
	case ThoughtDelta:
		b.delta(ev.MessageID, "")
	case MessageDone:
		b.texts = slices.DeleteFunc(b.texts, func(m openMessage) bool { return m.id == ev.MessageID })
	case ToolCall:
		s.ids.mark(ev.ToolCallID)
		b.calls = slices.DeleteFunc(b.calls, func(c ToolCall) bool { return c.ToolCallID == ev.ToolCallID })
		if ev.Status == StatusPending || ev.Status == StatusRunning {
			b.calls = append(b.calls, ev)
		}
	case UsageUpdated:
		b.usage = ev.Usage
	case RunEnded:
		s.info.Usage = addUsage(s.info.Usage, ev.Usage)
		b.beginRun("")
	}
	return nil
}

func (b *rebuild) beginRun(id string) {
	b.run, b.usage, b.calls, b.texts = id, Usage{}, nil, nil
}

func (b *rebuild) delta(id, text string) {
	if n := len(b.texts); n == 0 || b.texts[n-1].id != id {
		b.texts = append(b.texts, openMessage{id: id})
	}
	m := &b.texts[len(b.texts)-1]
	m.text, m.after = append(m.text, text), len(b.messages)
}

// closeRun ends a run that the death of the server left open.
func (b *rebuild) closeRun() {
	if b.run == "" {
		return
	}
	s := b.s
	sc := &scope{runID: b.run}
	for _, m := range b.texts {
		text := strings.Join(m.text, "")
		s.log.restore(sc, MessageDone{MessageID: m.id, Role: string(llm.Assistant), Text: text})
		// What the user read of it the model is to know too.
		if h := &s.history; text != "" && m.after == len(b.messages) && h.endsWith(llm.User) {
			h.add(llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{Text: text}}})
		}
	}
	for _, c := range b.calls {
		c.Status, c.Reason = StatusCancelled, "the server was stopped while this ran"
		s.log.restore(sc, c)
	}
	s.log.restore(sc, RunEnded{StopReason: StopError, Usage: b.usage, Error: &RunError{
		Class:     string(llm.Internal),
		Message:   "the server was stopped during this run; what came of it until then is kept, ask again to go on",
		Retryable: true,
	}})
	s.info.Usage = addUsage(s.info.Usage, b.usage)
	s.describe()
}
