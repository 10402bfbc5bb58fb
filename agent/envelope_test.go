package agent

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var samples = []Event{
	RunStarted{"p", "m", ModePlan},
	TurnStarted{3},
	TextDelta{"m1", "a<b>&\u2028\x01\"\\\n\r\t😀"},
	ThoughtDelta{"m1", "…"},
	MessageDone{"m1", "assistant", "a"},
	ToolCall{"c", "read_file", KindRead, "Read a", StatusRunning, json.RawMessage(`{"path":"<a>"}`), []EventLocation{{"file:///a", 3}}, "out", "why"},
	ToolOutput{"c", "line\n"},
	PlanUpdated{[]PlanEntry{{"one", "done"}}},
	ProposalChanged{7, []FileSummary{{"f", "modify", "file:///a", "", 1, 2, "pending"}}},
	PermissionAsked{"q", "resolved", "allowOnce"},
	UsageUpdated{Usage{InputTokens: new(int64(0)), Turns: 1, Cost: new(0.5)}},
	Notice{"info", "retry", "m"},
	Steered{"p"},
	RunEnded{StopError, Usage{}, &RunError{"network", "m", 502, true}},
}

func TestEnvelopeRoundTrip(t *testing.T) {
	if len(samples) != len(decoders) {
		t.Fatalf("%d samples of %d types", len(samples), len(decoders))
	}
	for i, ev := range samples {
		e := Envelope{"s1", "r1", int64(i + 1), time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC), ev}
		raw, err := e.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		var back Envelope
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if d := cmp.Diff(e, back); d != "" {
			t.Error(d)
		}
		for _, c := range raw {
			if c < ' ' {
				t.Errorf("%q is not one line", raw)
			}
		}
	}
}

func TestEnvelopeForm(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.FixedZone("", 3600))
	for want, e := range map[string]Envelope{
		`{"sessionId":"s","runId":"r","seq":5,"time":"2026-01-02T02:04:05.6Z","type":"text","messageId":"m","delta":"<&>"}`:    {"s", "r", 5, at, TextDelta{"m", "<&>"}},
		`{"sessionId":"s","seq":6,"time":"2026-01-02T02:04:05.6Z","type":"notice","severity":"info","code":"c","message":"<"}`: {"s", "", 6, at, Notice{"info", "c", "<"}},
	} {
		raw, err := e.AppendJSON(nil)
		if err != nil || string(raw) != want {
			t.Errorf("got  %s\nwant %s (%v)", raw, want, err)
		}
	}
}

// Fields and types of a newer version are no reason to fail.
func TestEnvelopeOfANewerVersion(t *testing.T) {
	var e Envelope
	if err := json.Unmarshal([]byte(`{"sessionId":"s","seq":1,"time":"2026-01-02T02:04:05Z","type":"hologram","x":1}`), &e); err != nil || e.Event != nil || e.Seq != 1 {
		t.Errorf("unknown type: %+v, %v", e, err)
	}
	if err := json.Unmarshal([]byte(`{"sessionId":"s","seq":1,"time":"2026-01-02T02:04:05Z","type":"steered","prompt":"p","mood":"good"}`), &e); err != nil || e.Event != (Steered{"p"}) {
		t.Errorf("unknown field: %+v, %v", e, err)
	}
	if _, err := (Envelope{}).AppendJSON(nil); err == nil {
		t.Error("an envelope without an event was written")
	}
}

// An event that cannot be written is told of, and leaves no gap.
func TestEventThatIsNoJSON(t *testing.T) {
	tp := &tape{}
	l := &eventLog{recorder: tp, sink: tp, next: 1}
	_ = l.add(nil, ToolCall{Input: json.RawMessage("{")})
	want(t, "code", find[Notice](tp.events())[0].Code, "internal")
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a\"\\\n", "\xff\xed\xa0\x80é😀\x7f", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := appendString(nil, s)
		var back string
		if err := json.Unmarshal(raw, &back); err != nil || !utf8.Valid(raw) {
			t.Fatalf("%q: %v", raw, err)
		}
		std, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(std, &want); err != nil || back != want {
			t.Errorf("%q: got %q, want %q", s, back, want)
		}
	})
}

func FuzzCleanInput(f *testing.F) {
	for _, s := range []string{`{"a":"\ud83d"}`, `{"a":"\ud83d\ude00"}`, `{"\\ud800":"\\\ud800x"}`, `[]`, `null`, `{`, "{\"\xff\":1}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := cleanInput(raw)
		var object map[string]any
		if err := json.Unmarshal(got, &object); err != nil || object == nil || !utf8.Valid(got) {
			t.Fatalf("%q: %v", got, err)
		}
		if again, _ := cleanInput(got); string(again) != string(got) {
			t.Errorf("%q is not clean: %q", got, again)
		}
		if !ok && string(got) != "{}" {
			t.Errorf("%q was replaced by %q", raw, got)
		}
	})
}

func FuzzRepairInput(f *testing.F) {
	const schema = `{"type":"object","properties":{"e":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}},"s":{"type":"string"},"b":{"type":"boolean"}}}`
	f.Add(`{"e":"[{\"n\":\"1\"}]","s":"[","b":"true"}`)
	f.Add(`{"e":{"n":null}}`)
	f.Fuzz(func(t *testing.T, in string) {
		raw, ok := cleanInput(json.RawMessage(in))
		if !ok {
			return
		}
		out := repairInput(raw, json.RawMessage(schema))
		if !json.Valid(out) {
			t.Fatalf("%q became %q", raw, out)
		}
		if again := repairInput(out, json.RawMessage(schema)); string(canonicalJSON(again)) != string(canonicalJSON(out)) {
			t.Errorf("%q is not mended: %q", out, again)
		}
		var before, after struct{ S *string }
		if json.Unmarshal(raw, &before) == nil && before.S != nil {
			if json.Unmarshal(out, &after) != nil || after.S == nil || *after.S != *before.S {
				t.Errorf("a string changed: %q became %q", raw, out)
			}
		}
	})
}
