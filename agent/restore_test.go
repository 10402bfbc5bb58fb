package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentls/agentls/agent/llm"
)

// C090, C158: a server that is killed at any moment leaves a session that goes
// on: the numbers go on, the run has its end, the history is whole.
func TestRestoreAfterEachLine(t *testing.T) {
	replies := []reply{
		thinks("hm", calls(`read_file {"path":"/a"}`, `write_file {"path":"/b"}`)),
		say("half way there"),
		calls(`write_file {"path":"/c"}`),
		say("done"),
	}
	whole := newBench(t, newScript(t, replies...), withTools(reader(nil), writer(nil)))
	whole.run(ask("one"))
	whole.run(ask("two"))
	lines := whole.tape.records()
	for n := 1; n <= len(lines); n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			model := newScript(t, say("fine"))
			b := newBench(t, model, withTools(reader(nil), writer(nil)))
			b = b.restored(lines[:n])
			stored := decodeAll(t, b.tape.records())
			checkEvents(t, stored)
			last := int64(len(stored))
			if last > 0 {
				want(t, "last seq", stored[last-1].Seq, last)
			}
			res := b.run(ask("go on"))
			want(t, "stop reason", res.StopReason, StopEndTurn)
			want(t, "first seq", b.tape.events()[0].Seq, last+1)
			checkEvents(t, decodeAll(t, b.tape.records()))

			// The same again: a restart after the repair sends the same history.
			model.replies = []reply{say("fine")}
			b.again().run(ask("and on"))
			model.grows = true
		})
	}
}

func decodeAll(t *testing.T, records []Record) (events []Envelope) {
	t.Helper()
	for _, r := range records {
		if r.Seq == 0 {
			continue
		}
		var e Envelope
		if err := e.UnmarshalJSON(r.Line); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// C158: lines that are lost from the middle leave a history that is accepted.
func TestRestoreWithHoles(t *testing.T) {
	replies := []reply{calls(`read_file {"path":"/a"}`, `write_file {"path":"/b"}`), say("one"), calls(`write_file {"path":"/c"}`), say("two")}
	whole := newBench(t, newScript(t, replies...), withTools(reader(nil), writer(nil)))
	whole.run(ask("first"))
	whole.run(ask("second"))
	lines := whole.tape.records()
	for hole := range lines {
		for _, width := range []int{1, 3} {
			left := append(append([]Record(nil), lines[:hole]...), lines[min(hole+width, len(lines)):]...)
			model := newScript(t, say("fine"))
			b := newBench(t, model, withTools(reader(nil), writer(nil))).restored(left)
			want(t, fmt.Sprint("hole at ", hole), b.run(ask("go on")).StopReason, StopEndTurn)
		}
	}
}

// What the restored session says of itself.
func TestRestoreInfo(t *testing.T) {
	model := newScript(t, say("one"), say("two"))
	b := newBench(t, model, func(o *Options) { o.Workspace = []string{"/w"}; o.PendingHunks = func() int { return 3 } })
	b.run(ask("first prompt\nwith more"))
	b.run(ask("second"))
	before := b.Info()
	records := b.tape.records()
	last := records[len(records)-1]
	want(t, "last line", last.Type, RecordInfo)
	wantHas(t, "last line", string(last.Line), `"pendingHunks":3`)
	b.o.Title, b.o.Created = "", before.Created.AddDate(1, 0, 0)
	after := b.again().Info()
	want(t, "title", after.Title, "first prompt")
	want(t, "runs", after.Runs, 2)
	want(t, "created", after.Created, before.Created)
	want(t, "usage", *after.Usage.InputTokens, 200)
	want(t, "workspace", fmt.Sprint(after.Workspace), "[/w]")
	if after.Updated.Before(before.Created) {
		t.Errorf("updated %v", after.Updated)
	}
	if _, err := Restore(Options{ID: "x", Ephemeral: true}, nil); err == nil {
		t.Error("an ephemeral session was restored")
	}
}

// A run that was cut off is told as what it is.
func TestRestoreOfACutRun(t *testing.T) {
	model := newScript(t, calls("read_file"), hangs("I am at"))
	b := newBench(t, model, withTools(reader(nil)))
	r := b.start(ask("go"))
	b.tape.await(t, isText)
	cut := b.tape.records() // as kill -9 leaves it
	r.Cancel()
	b.end(r)
	model.replies = []reply{say("fine")}
	b = b.restored(cut)
	events := decodeAll(t, b.tape.records())
	end := events[len(events)-1].Event.(RunEnded)
	want(t, "stop reason", end.StopReason, StopError)
	wantHas(t, "error", end.Error.Message, "the server was stopped")
	want(t, "usage", *end.Usage.InputTokens, 100)
	want(t, "session's usage", *b.Info().Usage.InputTokens, 100)
	want(t, "sent", len(b.tape.events()), 0)
	model.requests = nil
	b.run(ask("and?"))
	m := model.request(0).Messages
	want(t, "partial answer", fmt.Sprint(m[3]), "{assistant [{I am at}]}")
	// Once told, the end is not told again.
	want(t, "ends", len(find[RunEnded](decodeAll(t, b.again().tape.records()))), 2)
}

func TestRepair(t *testing.T) {
	use := func(ids ...string) llm.Message {
		m := llm.Message{Role: llm.Assistant}
		for _, id := range ids {
			m.Parts = append(m.Parts, llm.ToolUse{ID: id, Name: "f", Input: []byte("{}")})
		}
		return m
	}
	res := func(ids ...string) llm.Message {
		m := llm.Message{Role: llm.User}
		for _, id := range ids {
			m.Parts = append(m.Parts, llm.ToolResult{ToolUseID: id, Text: "r" + id})
		}
		return m
	}
	user := llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{Text: "u"}}}
	said := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{Text: "a"}}}
	for name, c := range map[string]struct {
		in   []llm.Message
		want string
	}{
		"valid":          {[]llm.Message{user, use("1", "2"), res("1", "2"), said}, "u:t a:1,2 u:1,2 a:t"},
		"no result":      {[]llm.Message{user, use("1")}, "u:t a:1 u:1!"},
		"one of two":     {[]llm.Message{user, use("1", "2"), res("2")}, "u:t a:1,2 u:1!,2"},
		"orphan":         {[]llm.Message{user, res("9"), said}, "u:t a:t"},
		"twice":          {[]llm.Message{user, use("1"), res("1", "1")}, "u:t a:1 u:1"},
		"prompt instead": {[]llm.Message{user, use("1"), user}, "u:t a:1 u:1!,t"},
		"answers in row": {[]llm.Message{user, said, said}, "u:t a:t u:t a:t"},
		"call, answer":   {[]llm.Message{user, use("1"), said}, "u:t a:1 u:1! a:t"},
		"begins wrongly": {[]llm.Message{said, user}, "u:t a:t u:t"},
		"nothing":        {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := repair(c.in)
			want(t, "repaired", outline(got), c.want)
			want(t, "again", outline(repair(got)), c.want)
		})
	}
}

// Whatever is left of a history, repair makes one that a strict server takes,
// and leaves one alone that is.
func TestRepairAnything(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var in []llm.Message
		id := 0
		for range rng.IntN(8) {
			m := llm.Message{Role: llm.Assistant}
			if rng.IntN(2) == 0 {
				m.Role = llm.User
			}
			for range 1 + rng.IntN(3) {
				switch {
				case rng.IntN(3) == 0:
					m.Parts = append(m.Parts, llm.Text{Text: "t"})
				case m.Role == llm.Assistant:
					id++
					m.Parts = append(m.Parts, llm.ToolUse{ID: fmt.Sprint(id), Name: "f", Input: []byte("{}")})
				default:
					m.Parts = append(m.Parts, llm.ToolResult{ToolUseID: fmt.Sprint(rng.IntN(id + 1)), Text: "r"})
				}
			}
			in = append(in, m)
		}
		got := repair(in)
		again := repair(got)
		if outline(got) != outline(again) {
			t.Fatalf("%s became %s, then %s", outline(in), outline(got), outline(again))
		}
		prompt := llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{Text: "p"}}}
		checkRequest(t, llm.Request{Messages: append(got, prompt)})
		if t.Failed() {
			t.Fatalf("%s became %s", outline(in), outline(got))
		}
	}
}

// outline is a history in a few letters: t is text, an id a call or a result,
// and ! a result that says that it is lost.
func outline(messages []llm.Message) string {
	var out []string
	for _, m := range messages {
		var parts []string
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolUse:
				parts = append(parts, p.ID)
			case llm.ToolResult:
				mark := ""
				if p.Text == lostResult {
					mark = "!"
				}
				parts = append(parts, p.ToolUseID+mark)
			default:
				parts = append(parts, "t")
			}
		}
		out = append(out, string(m.Role[0])+":"+strings.Join(parts, ","))
	}
	return strings.Join(out, " ")
}

// Every kind of part comes back as it was stored.
func TestMessagesAreStoredWhole(t *testing.T) {
	m := llm.Message{Role: llm.User, Parts: []llm.Part{
		llm.Text{Text: ""}, llm.Thought{Text: "hm", Signature: "s"}, llm.ToolUse{ID: "1", Name: "f", Input: []byte(`{"a":1}`), Malformed: "m"},
		llm.ToolResult{ToolUseID: "1", Text: "r", IsError: true}, llm.Image{MIMEType: "image/png", Data: []byte{0, 1, 255}},
	}}
	tp := &tape{}
	l := &eventLog{recorder: tp, next: 1}
	if err := l.record(recordMessage, recordOf(m)); err != nil {
		t.Fatal(err)
	}
	b := rebuild{s: &Session{}}
	if err := b.take(tp.records()[0]); err != nil {
		t.Fatal(err)
	}
	want(t, "message", fmt.Sprintf("%#v", b.messages[0]), fmt.Sprintf("%#v", m))
}

// C158: what a newer version wrote is passed over, and so is what is not ours.
func TestRestoreOfUnknownRecords(t *testing.T) {
	model := newScript(t, calls("read_file"), say("one"), say("two"))
	b := newBench(t, model, withTools(reader(nil)))
	b.run(ask("go"))
	var lines []Record
	for _, r := range b.tape.records() {
		lines = append(lines, r,
			Record{Type: "_hologram", Line: []byte(`{"type":"_hologram","x":[]}`)},
			Record{Type: "_message", Line: []byte(`{"type":"_message","role":"robot","parts":[{"text":{"text":"x"}}]}`)},
			Record{Type: "_message", Line: []byte(`{"type":"_message","role":7}`)},
			Record{Type: "_info", Line: []byte(`{"type":"_info","runs":"many"}`)})
	}
	seq := int64(len(decodeAll(t, lines)))
	lines = append(lines, Record{Type: "hologram", Seq: seq + 1, Line: fmt.Appendf(nil, `{"sessionId":"s1","seq":%d,"time":"2026-01-02T02:04:05Z","type":"hologram"}`, seq+1)})
	next := b.restored(lines)
	want(t, "title", next.Info().Title, "go")
	next.run(ask("on"))
	want(t, "first seq", next.tape.events()[0].Seq, seq+2)
}

func BenchmarkRestore(b *testing.B) {
	model := newScript(b, calls("read_file"), say("a few words and some more of them"), calls(`read_file {"path":"b"}`), say("done"))
	model.grows = false
	s := newBench(b, model, withTools(reader(nil)))
	for range 5 {
		s.run(ask("go"))
	}
	var lines []Record
	for range 1000 {
		lines = append(lines, s.tape.records()...)
	}
	b.ReportMetric(float64(len(lines)), "lines")
	o := s.o
	o.Recorder, o.Sink = null{}, null{}
	for b.Loop() {
		restored, err := Restore(o, lines)
		if err != nil {
			b.Fatal(err)
		}
		_ = restored.Close(context.Background())
	}
}
