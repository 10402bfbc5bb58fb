package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agent/llm"
)

// gate is an answer of single deltas that the test lets through one by one.
func gate(next <-chan string) reply {
	return func(ctx context.Context, _ llm.Request, yield func(llm.Delta, error) bool) {
		var text strings.Builder
		for s := range next {
			text.WriteString(s)
			if !yield(llm.TextDelta{Text: s}, nil) {
				return
			}
		}
		yield(done(llm.StopEnd, llm.Text{Text: text.String()}), nil)
	}
}

func (p *tape) congest(slow bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slow = slow
}

// While the client is slow its text is joined; a joined delta is one event
// with one number. Anything else sends it first.
func TestTextIsJoinedWhileCongested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := make(chan string)
		b := newBench(t, newScript(t, gate(next)))
		r := b.start(ask("go"))
		texts := func() string {
			synctest.Wait()
			var all []string
			for _, d := range find[TextDelta](b.tape.events()) {
				all = append(all, d.Delta)
			}
			return strings.Join(all, "|")
		}
		next <- "a"
		want(t, "at once", texts(), "a")
		b.tape.congest(true)
		next <- "b"
		next <- "c"
		want(t, "held", texts(), "a")
		b.Drained()
		want(t, "drained", texts(), "a|bc")
		next <- "d"
		next <- "e"
		b.Emit(Notice{Severity: "info", Code: "x", Message: "y"})
		want(t, "before another event", texts(), "a|bc|de")
		next <- "f"
		synctest.Wait()
		b.tape.congest(false)
		next <- "g"
		want(t, "with the next one", texts(), "a|bc|de|fg")
		synctest.Wait()
		b.tape.congest(true)
		next <- "h"
		close(next)
		b.end(r)
		want(t, "before the message", texts(), "a|bc|de|fg|h")
		want(t, "message", find[MessageDone](b.tape.events())[0].Text, "abcdefgh")
		b.Drained() // nothing is held
		want(t, "once", texts(), "a|bc|de|fg|h")
	})
}

// Text and thoughts are not joined with each other, nor what is of different
// messages; and what is held is bounded.
func TestHeldTextIsBounded(t *testing.T) {
	tp := &tape{slow: true}
	l := &eventLog{recorder: tp, sink: tp, next: 1}
	s := &scope{runID: "r"}
	add := func(ev Event) {
		if err := l.add(s, ev); err != nil {
			t.Fatal(err)
		}
	}
	add(ThoughtDelta{"m1", "a"})
	add(ThoughtDelta{"m1", "b"})
	add(TextDelta{"m1", "c"})
	add(TextDelta{"m2", "d"})
	add(TextDelta{"m2", "e"})
	l.drained()
	want(t, "events", tell(tp.events()), "thought \"ab\"\ntext \"c\"\ntext \"de\"\n")
	chunk := strings.Repeat("x", 1000)
	for range 1000 {
		add(TextDelta{"m3", chunk})
	}
	l.drained()
	most, sum := 0, 0
	for _, d := range find[TextDelta](tp.events()) {
		most, sum = max(most, len(d.Delta)), sum+len(d.Delta)
	}
	if most > heldLimit+len(chunk) || sum != 1000*len(chunk)+3 {
		t.Errorf("the largest delta has %d bytes, all of them %d", most, sum)
	}
}

// With the queue full a run stops reading its model; a cancel is still taken.
func TestFullSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := make(chan string)
		b := newBench(t, newScript(t, gate(next), say("ok")))
		r := b.start(ask("go"))
		next <- "a"
		synctest.Wait()
		room := make(chan struct{})
		b.tape.mu.Lock()
		b.tape.full = room
		b.tape.mu.Unlock()
		next <- "b"
		synctest.Wait()
		select {
		case next <- "c":
			t.Error("the model is read while the queue is full")
		case <-time.After(time.Minute):
		}
		r.Cancel()
		synctest.Wait()
		// The end waits for room: the client has to read before it can know.
		select {
		case <-r.Done():
			t.Error("runEnded was sent into a full queue")
		default:
		}
		close(room)
		want(t, "stop reason", b.end(r).StopReason, StopCancelled)
		want(t, "message", find[MessageDone](b.tape.events())[0].Text, "ab")
		close(next)
	})
}

// A client that is gone does not keep a run from being stored.
func TestSinkThatIsGone(t *testing.T) {
	b := newBench(t, newScript(t, say("hi")), func(o *Options) { o.Sink = gone{} })
	r := b.start(ask("go"))
	<-r.Done()
	want(t, "stop reason", r.Result().StopReason, StopEndTurn)
	events, _, err := b.Events(0)
	if err != nil || len(events) < 5 {
		t.Errorf("%d events stored: %v", len(events), err)
	}
}

type gone struct{}

func (gone) Send(Envelope, []byte)      {}
func (gone) Congested() bool            { return true }
func (gone) Wait(context.Context) error { return errors.New("connection closed") }

// C158: when the disk is full the run goes on and says so; what was held back
// is stored, in order, when there is room again.
func TestRecorderFails(t *testing.T) {
	b := newBench(t, newScript(t, say("hi"), say("ho")))
	b.tape.refuses = errors.New("no space left on device")
	want(t, "stop reason", b.run(ask("go")).StopReason, StopEndTurn)
	notices := find[Notice](b.tape.events())
	want(t, "notices", len(notices), 1)
	wantHas(t, "notice", notices[0].Message, "no space left on device")
	held, next, err := b.Events(0)
	if err != nil || int64(len(held)) != next-1 {
		t.Errorf("%d events, next %d: %v", len(held), next, err)
	}
	b.tape.mu.Lock()
	b.tape.refuses = nil
	b.tape.mu.Unlock()
	b.run(ask("again"))
	notices = find[Notice](b.tape.events())
	want(t, "notices", len(notices), 2)
	wantHas(t, "notice", notices[1].Message, "stored again")
	seq := int64(0)
	for i, r := range b.tape.records() {
		if i == 0 {
			want(t, "first line", r.Type, RecordSession)
		}
		if r.Seq > 0 {
			seq++
			want(t, "seq", r.Seq, seq)
		}
	}
	b = b.again()
	want(t, "runs", b.Info().Runs, 2)
	b.run(ask("and on"))
}

func TestRecorderFailsForGood(t *testing.T) {
	tp := &tape{refuses: errors.New("disk full")}
	l := &eventLog{recorder: tp, sink: tp, next: 1}
	big := strings.Repeat("x", 1<<20)
	for range 20 {
		_ = l.add(nil, Notice{Message: big})
	}
	codes := ""
	for _, n := range find[Notice](tp.events()) {
		if n.Code != "" {
			codes += n.Severity + " "
		}
	}
	want(t, "told", codes, "warning error ")
	want(t, "kept", len(l.backlog), 0)
	tp.refuses, l.sink = nil, nil
	_ = l.add(nil, Notice{Message: "late"})
	want(t, "stored", len(tp.records()), 0)
}

// session/load gives the events in the form they were sent in, and where the
// next one goes on; text that is held back is among them.
func TestEvents(t *testing.T) {
	for _, ephemeral := range []bool{false, true} {
		b := newBench(t, newScript(t, say("hi there")), func(o *Options) { o.Ephemeral = ephemeral })
		b.tape.onSend = func(Envelope) {}
		if ephemeral {
			// Nothing is stored, so the tape cannot compare.
			b.tape.refuses = errors.New("never asked")
		}
		b.run(ask("go"))
		sent := b.tape.events()
		all, next, err := b.Events(0)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "next", next, int64(len(sent))+1)
		var back []Envelope
		for _, raw := range all {
			var e Envelope
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatal(err)
			}
			back = append(back, e)
		}
		if d := cmp.Diff(sent, back); d != "" {
			t.Error(d)
		}
		some, _, _ := b.Events(4)
		want(t, "from 4", len(some), len(sent)-3)
		none, _, _ := b.Events(next)
		want(t, "from next", len(none), 0)
		b.tape.congest(true)
		_ = b.log.add(&scope{runID: "r"}, TextDelta{"m", "held"})
		late, after, _ := b.Events(next)
		want(t, "held text", len(late), 1)
		want(t, "next after it", after, next+1)
		want(t, "records", len(b.tape.records()) == 0, ephemeral)
	}
}

// Events of a run and of reviews come from many goroutines and are numbered
// all the same.
func TestEmitFromManySides(t *testing.T) {
	b := newBench(t, newScript(t, calls("read_file", "read_file"), say("ok")), withTools(reader(func(_ context.Context, c Call) Result {
		for i := range 50 {
			c.Emit(ToolOutput{ToolCallID: c.ID, Delta: fmt.Sprint(i)})
		}
		return Result{Text: c.ID}
	})))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				b.Emit(ProposalChanged{Revision: int64(i)})
				b.Drained()
				b.Info()
				_, _, _ = b.Events(0)
			}
		})
	}
	b.run(ask("go"))
	wg.Wait()
	checkEvents(t, b.tape.events())
	want(t, "output", len(find[ToolOutput](b.tape.events())), 100)
	for _, e := range b.tape.events() {
		if _, ok := e.Event.(ProposalChanged); ok && e.RunID != "" {
			t.Error("an event of a review has a run")
		}
	}
}

// A session that did nothing leaves nothing behind.
func TestNothingIsStoredForNothing(t *testing.T) {
	b := newBench(t, newScript(t, say("hi")))
	b.Configure(Configuration{Title: new("new name")})
	want(t, "lines", len(b.tape.records()), 0)
	b.run(ask("go"))
	first := b.tape.records()[0]
	want(t, "first line", first.Type, RecordSession)
	wantHas(t, "first line", string(first.Line), "new name")
}

func TestRecordsOfTheFrontEnd(t *testing.T) {
	b := newBench(t, newScript(t, say("hi")))
	if err := b.Record("proposal", struct{}{}); err == nil {
		t.Error("a record that looks like an event was taken")
	}
	if err := b.Record("_proposal", struct {
		N int `json:"n"`
	}{7}); err != nil {
		t.Fatal(err)
	}
	if err := b.Record("_odd", func() {}); err == nil {
		t.Error("a record that is no JSON was taken")
	}
	records := b.tape.records()
	want(t, "record", string(records[len(records)-1].Line), `{"type":"_proposal","n":7}`)
	b.again().run(ask("go"))
}
