package openai

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/agent/llm/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// user is a history of one prompt.
func user(text string) []llm.Message {
	return []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{Text: text}}}}
}

// answered is what came of a stream.
type answered struct {
	text, thoughts string // of the deltas
	announced      []llm.ToolUseDelta
	notices        []llm.Notice
	completed      *llm.Completed
	err            error
}

// collect reads a stream and holds it to its contract.
func collect(t testing.TB, m *Client, ctx context.Context, r llm.Request) answered {
	t.Helper()
	var a answered
	for d, err := range m.Stream(ctx, r) {
		if a.err != nil || a.completed != nil {
			t.Fatalf("%#v, %v after the end of the stream", d, err)
		}
		a.err = err
		switch d := d.(type) {
		case llm.TextDelta:
			a.text += d.Text
		case llm.ThoughtDelta:
			a.thoughts += d.Text
		case llm.ToolUseDelta:
			a.announced = append(a.announced, d)
		case llm.Notice:
			a.notices = append(a.notices, d)
		case llm.Completed:
			a.completed = &d
		}
	}
	if a.err == nil && a.completed == nil {
		t.Fatal("the stream ended with neither Completed nor an error")
	}
	var typed *llm.Error
	if a.err != nil && ctx.Err() == nil && !errors.As(a.err, &typed) {
		t.Fatalf("%T %v is no *llm.Error", a.err, a.err)
	}
	if typed != nil && (typed.Class == "" || typed.Message == "" || strings.Contains(typed.Message, "\n")) {
		t.Fatalf("the error %+v does not read as one line", typed)
	}
	return a
}

func (a answered) calls() []llm.ToolUse {
	var uses []llm.ToolUse
	if a.completed != nil {
		for _, p := range a.completed.Message.Parts {
			if u, ok := p.(llm.ToolUse); ok {
				uses = append(uses, u)
			}
		}
	}
	return uses
}

func newClientTo(t testing.TB, o Options) *Client {
	t.Helper()
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func TestStream(t *testing.T) {
	srv, err := scripted.Start(scripted.Script{Strict: true, Wire: 3, Replies: []scripted.Reply{
		{Steps: []scripted.Step{
			scripted.Think("a file 思"), scripted.Say("Looking 😀 at it."), scripted.Call("read_file", `{"path":"é.go"}`),
		}, Usage: &scripted.Usage{Input: 10, Output: 5, Cached: 3, Reasoning: 2}},
		{Steps: []scripted.Step{scripted.Say("Done.")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	m := newClientTo(t, Options{Provider: "openai", BaseURL: srv.URL(), APIKey: "sk-test-1234567890"})
	r := llm.Request{Model: "scripted", System: "Be brief.", Messages: user("look"), Tools: []llm.Tool{{Name: "read_file"}}}

	a := collect(t, m, t.Context(), r)
	if a.err != nil {
		t.Fatal(a.err)
	}
	if a.text != "Looking 😀 at it." || a.thoughts != "a file 思" || len(a.announced) != 1 {
		t.Errorf("got %+v", a)
	}
	calls := a.calls()
	if len(calls) != 1 || string(calls[0].Input) != `{"path":"é.go"}` || calls[0].ID != a.announced[0].ID {
		t.Fatalf("calls %+v, announced %+v", calls, a.announced)
	}
	u := a.completed.Usage
	if u == nil || *u.Input != 10 || *u.Output != 5 || *u.CacheRead != 3 || *u.Reasoning != 2 || u.CacheWrite != nil {
		t.Errorf("usage %+v", u)
	}

	r.Messages = append(r.Messages, a.completed.Message, llm.Message{Role: llm.User, Parts: []llm.Part{
		llm.ToolResult{ToolUseID: calls[0].ID, Text: "package a"}, llm.Text{Text: "go on"}}})
	a = collect(t, m, t.Context(), r)
	if a.err != nil || a.text != "Done." || a.completed.Stop != llm.StopEnd {
		t.Errorf("second turn: %+v", a)
	}
	if got := srv.Requests()[1].LastResults(); len(got) != 1 || got[0] != "package a" {
		t.Errorf("results %q", got)
	}
	if got := srv.Requests()[0].Header.Get("Authorization"); got != "Bearer sk-test-1234567890" {
		t.Errorf("Authorization %q", got)
	}
}
