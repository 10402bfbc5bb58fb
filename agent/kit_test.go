package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agent/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tape is a Sink and a Recorder that keeps what comes, and what came first.
type tape struct {
	mu      sync.Mutex
	lines   []Record
	sent    []Envelope
	onSend  func(Envelope) // called by Send
	slow    bool           // congested
	full    chan struct{}  // closed when there is room; nil is room
	refuses error          // of Record
	closed  bool
	news    chan struct{} // closed at the next event
}

// await waits for an event.
func (p *tape) await(t testing.TB, is func(Envelope) bool) Envelope {
	t.Helper()
	for seen := 0; ; {
		p.mu.Lock()
		for ; seen < len(p.sent); seen++ {
			if e := p.sent[seen]; is(e) {
				p.mu.Unlock()
				return e
			}
		}
		if p.news == nil {
			p.news = make(chan struct{})
		}
		news := p.news
		p.mu.Unlock()
		select {
		case <-news:
		case <-time.After(20 * time.Second):
			t.Fatalf("the event does not come; so far:\n%s", tell(p.events()))
		}
	}
}

func isText(e Envelope) bool { _, ok := e.Event.(TextDelta); return ok }

func isRunning(e Envelope) bool { c, ok := e.Event.(ToolCall); return ok && c.Status == StatusRunning }

func isRetry(e Envelope) bool { n, ok := e.Event.(Notice); return ok && n.Code == "retry" }

func (p *tape) Record(line []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuses != nil {
		return p.refuses
	}
	r, err := ParseRecord(bytes.Clone(line))
	if err != nil {
		return err
	}
	p.lines = append(p.lines, r)
	return nil
}

func (p *tape) Events(from, before int64) (events []json.RawMessage, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.lines {
		if r.Seq >= from && r.Seq > 0 && r.Seq < before {
			events = append(events, r.Line)
		}
	}
	return events, nil
}

func (p *tape) Close() error {
	p.closed = true
	return nil
}

func (p *tape) Send(e Envelope, line []byte) {
	p.mu.Lock()
	stored := p.refuses != nil
	for _, r := range p.lines {
		stored = stored || r.Seq == e.Seq && string(r.Line) == string(line)
	}
	if !stored {
		panic(fmt.Sprintf("event %d was sent and not stored", e.Seq))
	}
	if n := len(p.sent); n > 0 && e.Seq != p.sent[n-1].Seq+1 {
		panic(fmt.Sprintf("event %d after %d", e.Seq, p.sent[n-1].Seq))
	}
	p.sent = append(p.sent, e)
	if p.news != nil {
		close(p.news)
		p.news = nil
	}
	hook := p.onSend
	p.mu.Unlock()
	if hook != nil {
		hook(e)
	}
}

func (p *tape) Congested() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slow
}

func (p *tape) Wait(ctx context.Context) error {
	p.mu.Lock()
	full := p.full
	p.mu.Unlock()
	if full == nil {
		return nil
	}
	select {
	case <-full:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *tape) events() []Envelope {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

func (p *tape) records() []Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lines)
}

// bench is a session with a scripted model on a tape.
type bench struct {
	*Session
	t     testing.TB
	model *script
	tape  *tape
	o     Options
}

type change func(*Options)

func withTools(tools ...Tool) change { return func(o *Options) { o.Tools = tools } }

func withWindow(n int64) change {
	return func(o *Options) {
		resolve := o.Resolve
		o.Resolve = func(ctx context.Context, m string) (ResolvedModel, error) {
			r, err := resolve(ctx, m)
			r.ContextWindow = n
			return r, err
		}
	}
}

func newBench(t testing.TB, model *script, changes ...change) *bench {
	b := &bench{t: t, model: model, tape: &tape{}}
	b.o = Options{
		ID:       "s1",
		Recorder: b.tape,
		Sink:     b.tape,
		System:   func() string { return "be good" },
		Resolve: func(context.Context, string) (ResolvedModel, error) {
			return ResolvedModel{Model: model, ID: "m"}, nil
		},
	}
	for _, c := range changes {
		c(&b.o)
	}
	b.Session = New(b.o)
	t.Cleanup(b.close)
	return b
}

func (b *bench) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := b.Session.Close(ctx); err != nil {
		b.t.Error(err)
	}
}

// again is the session after a restart.
func (b *bench) again() *bench {
	b.t.Helper()
	b.close()
	return b.restored(b.tape.records())
}

// restored is a session made of records, on a tape that goes on from them.
func (b *bench) restored(records []Record) *bench {
	b.t.Helper()
	next := &bench{t: b.t, model: b.model, tape: &tape{lines: slices.Clone(records)}, o: b.o}
	next.o.Recorder, next.o.Sink = next.tape, next.tape
	s, err := Restore(next.o, records)
	if err != nil {
		b.t.Fatal(err)
	}
	next.Session = s
	b.t.Cleanup(next.close)
	return next
}

func ask(text string) Request { return Request{Prompt: []llm.Part{llm.Text{Text: text}}} }

func (b *bench) start(req Request) *Run {
	b.t.Helper()
	r, err := b.Start(req)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Go()
	return r
}

// run runs a prompt to its end and checks what holds for every run.
func (b *bench) run(req Request) RunResult {
	b.t.Helper()
	return b.end(b.start(req))
}

func (b *bench) end(r *Run) RunResult {
	b.t.Helper()
	select {
	case <-r.Done():
	case <-time.After(2 * time.Minute):
		b.t.Fatal("the run does not end")
	}
	checkEvents(b.t, b.tape.events())
	return r.Result()
}

// checkEvents makes sure of what holds for the events of every session.
func checkEvents(t testing.TB, events []Envelope) {
	t.Helper()
	begun, ended := map[string]bool{}, map[string]bool{}
	open, openRun := map[string]string{}, map[string]string{}
	for i, e := range events {
		if i > 0 && e.Seq != events[i-1].Seq+1 {
			t.Errorf("event %d follows %d", e.Seq, events[i-1].Seq)
		}
		if e.RunID == "" {
			continue
		}
		if ended[e.RunID] {
			t.Errorf("%T of run %s after its end", e.Event, e.RunID)
		}
		switch ev := e.Event.(type) {
		case RunStarted:
			begun[e.RunID] = true
		case RunEnded:
			ended[e.RunID] = true
			for id, run := range openRun {
				if run == e.RunID && open[id] != "" {
					t.Errorf("%s is still %s at the end of the run", id, open[id])
				}
			}
		case TextDelta:
			open[ev.MessageID], openRun[ev.MessageID] = "open", e.RunID
		case ThoughtDelta:
			open[ev.MessageID], openRun[ev.MessageID] = "open", e.RunID
		case MessageDone:
			open[ev.MessageID] = ""
		case ToolCall:
			if ev.Status == StatusPending || ev.Status == StatusRunning {
				open[ev.ToolCallID], openRun[ev.ToolCallID] = string(ev.Status), e.RunID
			} else {
				open[ev.ToolCallID] = ""
			}
		}
		if !begun[e.RunID] {
			t.Errorf("%T before the start of run %s", e.Event, e.RunID)
		}
	}
	for id := range begun {
		if !ended[id] {
			t.Errorf("run %s has no end", id)
		}
	}
}

// tell is a short form of events, one a line.
func tell(events []Envelope) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s", e.Event.eventType())
		switch ev := e.Event.(type) {
		case TurnStarted:
			fmt.Fprintf(&b, " %d", ev.Turn)
		case TextDelta:
			fmt.Fprintf(&b, " %q", ev.Delta)
		case ThoughtDelta:
			fmt.Fprintf(&b, " %q", ev.Delta)
		case MessageDone:
			fmt.Fprintf(&b, " %q", ev.Text)
		case ToolCall:
			fmt.Fprintf(&b, " %s %s %s", ev.ToolCallID, strings.TrimSpace(ev.Title), ev.Status)
		case Notice:
			fmt.Fprintf(&b, " %s", ev.Code)
		case Steered:
			fmt.Fprintf(&b, " %q", ev.Prompt)
		case RunEnded:
			fmt.Fprintf(&b, " %s", ev.StopReason)
			if ev.Error != nil {
				fmt.Fprintf(&b, " %s", ev.Error.Class)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// find returns the events of a type.
func find[E Event](events []Envelope) (found []E) {
	for _, e := range events {
		if ev, ok := e.Event.(E); ok {
			found = append(found, ev)
		}
	}
	return found
}

// result is the text of the last result of the nth call (from 0) in a request.
func results(r llm.Request) (texts []string) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if res, ok := p.(llm.ToolResult); ok {
				texts = append(texts, res.Text)
			}
		}
	}
	return texts
}

// lastTexts are the texts of a request's last message.
func lastTexts(r llm.Request) (texts []string) {
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if t, ok := p.(llm.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return texts
}

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func wantHas(t testing.TB, what, got, part string) {
	t.Helper()
	if !strings.Contains(got, part) {
		t.Errorf("%s: %q does not hold %q", what, got, part)
	}
}
