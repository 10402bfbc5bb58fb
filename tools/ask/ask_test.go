package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/ask"
)

// person answers in one way and remembers what they were asked.
type person struct {
	answer string
	err    error

	question string
	options  []string
	free     bool

	paused bool // the run's clock stands
	asked  bool // while it stood
}

func (p *person) pause() func() {
	p.paused = true
	return func() { p.paused = false }
}

func (p *person) Ask(_ context.Context, question string, options []string, free bool) (string, error) {
	p.question, p.options, p.free, p.asked = question, options, free, p.paused
	return p.answer, p.err
}

func run(t *testing.T, p *person, input string) agent.Result {
	t.Helper()
	return ask.New(p).Run(t.Context(), agent.Call{Input: json.RawMessage(input), Emit: func(agent.Event) {}, Pause: p.pause})
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		input  string
		person person
		want   string
		status agent.Status
	}{
		{"one of the options", `{"question":"Which?","options":["a","b"],"allow_free_text":false}`, person{answer: "b"}, "answered: b", ""},
		{"words of their own", `{"question":"Which?","options":["a","b"]}`, person{answer: "neither"}, "answered: neither", ""},
		{"not an option", `{"question":"Which?","options":["a"],"allow_free_text":false}`, person{answer: "z"}, "without an answer", ""},
		{"nothing", `{"question":"Which?"}`, person{answer: " "}, "without an answer", ""},
		{"closed", `{"question":"Which?"}`, person{err: ask.ErrNoAnswer}, "without an answer", ""},
		{"no way to ask", `{"question":"Which?"}`, person{err: errors.New("the editor has no input box")}, "no input box", agent.StatusFailed},
		{"no question", `{"question":" "}`, person{}, "question is empty", agent.StatusFailed},
		{"missing", `{"text":"x"}`, person{}, "question is missing", agent.StatusFailed},
		{"too much to choose", `{"question":"?","options":["1","2","3","4","5","6","7","8","9","10","11"]}`, person{}, "10 at most", agent.StatusFailed},
	} {
		got := run(t, &c.person, c.input)
		if !strings.Contains(got.Text, c.want) || got.Status != c.status {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
}

func TestWhatIsAsked(t *testing.T) {
	p := &person{answer: "a"}
	run(t, p, `{"question":" Which? ","options":["a"," a\n","","b c"],"allow_free_text":"false"}`)
	if p.question != "Which?" || strings.Join(p.options, "|") != "a|b c" || p.free {
		t.Errorf("%+v", p)
	}
	if !p.asked || p.paused {
		t.Error("the time of the person was counted")
	}
	run(t, p, `{"question":"Which?","allow_free_text":false}`)
	if !p.free {
		t.Error("a question without options and without words cannot be answered")
	}
}

type waiting struct{}

func (waiting) Ask(ctx context.Context, _ string, _ []string, _ bool) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := ask.New(waiting{}).Run(ctx, agent.Call{Input: json.RawMessage(`{"question":"?"}`), Pause: (&person{}).pause})
	if got.Status != agent.StatusCancelled {
		t.Errorf("%+v", got)
	}
}

func TestTitle(t *testing.T) {
	q, err := json.Marshal(map[string]string{"question": strings.Repeat("阴", 60) + "\nmore"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := ask.New(nil).Plan(q)
	if err != nil || !utf8.ValidString(p.Title) || strings.Contains(p.Title, "more") || p.ReadOnly {
		t.Errorf("%+v, %v", p, err)
	}
	if !json.Valid(ask.New(nil).Spec().Schema) {
		t.Error("schema is no JSON")
	}
}
