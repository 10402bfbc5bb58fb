package lsptest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// puppet is a server that answers every request with an empty result, and does
// what a test tells it.
type puppet struct {
	out      *writer
	got      chan Frame // what came that was no request
	answered chan Frame // answers to what it asked
}

func (p *puppet) serve(_ context.Context, in io.Reader, out io.Writer) error {
	p.out.w = out
	r := bufio.NewReader(in)
	shutdown := false
	for {
		body, err := readFrame(r)
		if err != nil {
			return nil
		}
		f, err := parseFrame(body)
		if err != nil {
			return err
		}
		switch {
		case f.Method == "exit":
			if !shutdown {
				return errors.New("status 1")
			}
			return nil
		case f.isResponse():
			p.answered <- f
		case !f.isRequest():
			p.got <- f
		default:
			shutdown = shutdown || f.Method == "shutdown"
			if err := p.send(map[string]any{"id": f.ID, "result": map[string]any{}}); err != nil {
				return err
			}
		}
	}
}

func (p *puppet) send(m map[string]any) error {
	m["jsonrpc"] = "2.0"
	return p.out.write(mustJSON(m))
}

func (p *puppet) notify(t *testing.T, method, params string) {
	t.Helper()
	if err := p.send(map[string]any{"method": method, "params": json.RawMessage(params)}); err != nil {
		t.Fatal(err)
	}
}

// ask sends a request and gives the answer.
func (p *puppet) ask(t *testing.T, method, params string) Frame {
	t.Helper()
	if err := p.send(map[string]any{"id": 1, "method": method, "params": json.RawMessage(params)}); err != nil {
		t.Fatal(err)
	}
	return <-p.answered
}

// stage is an editor with a puppet for a server, and a file f.txt, "one\ntwo\n".
func stage(t *testing.T, profile string) (*Editor, *puppet) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f.txt"), []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := &puppet{out: &writer{}, got: make(chan Frame, 100), answered: make(chan Frame, 100)}
	return Start(t, p.serve, Options{Profile: profile, Folders: []string{dir}}), p
}

// breaches ends the connection and gives what was wrong.
func breaches(t *testing.T, e *Editor) []string {
	t.Helper()
	e.Must("shutdown", nil, nil)
	e.Exit()
	return e.problems()
}

func edit(e *Editor, version, edits string) string {
	return `{"edit":{"documentChanges":[{"textDocument":{"uri":"` + URI(e.Abs("f.txt")) + `"` + version + `},"edits":[` + edits + `]}]}}`
}

const second = `{"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":3}},"newText":"2"}`

func TestHonestEdit(t *testing.T) {
	for _, profile := range []string{"rich", "vscode", "nvim-0.10", "nvim-0.12", "helix", "eglot"} {
		e, p := stage(t, profile)
		e.Open("f.txt")
		if f := p.ask(t, "workspace/applyEdit", edit(e, `,"version":1`, second)); string(f.Result) != `{"applied":true}` {
			t.Errorf("%s: %s", profile, f.Body)
		}
		if got, _ := e.Buffer("f.txt"); got != "one\n2\n" || e.Version("f.txt") != 2 {
			t.Errorf("%s: %q", profile, got)
		}
		if got := breaches(t, e); len(got) > 0 {
			t.Errorf("%s: %q", profile, got)
		}
	}
}

// What a server must not send is taken down, and editors answer it as they do.
func TestBadEdits(t *testing.T) {
	for _, c := range []struct {
		name, profile, version, edits, answer, breach string
	}{
		{"stale", "vscode", `,"version":7`, second, `"applied":false`, ""},
		{"stale, claimed", "nvim-0.12", `,"version":7`, second, `"applied":true`, ""},
		{"no version", "vscode", ``, second, `-32603`, "without the key version"},
		{"no version, refused", "nvim-0.12", ``, second, `"applied":false`, "without the key version"},
		{"null version", "rich", `,"version":null`, second, `"applied":true`, "without its version, 1"},
		{"overlap", "rich", `,"version":1`, second + "," + second, `"applied":false`, "overlap"},
		{"out of range", "rich", `,"version":1`, `{"range":{"start":{"line":9,"character":0},"end":{"line":9,"character":0}},"newText":""}`, `"applied":false`, "the document has 3 lines"},
		{"not announced", "minimal", `,"version":1`, second, `"applied":true`, "did not announce"},
	} {
		e, p := stage(t, c.profile)
		e.Open("f.txt")
		if f := p.ask(t, "workspace/applyEdit", edit(e, c.version, c.edits)); !strings.Contains(string(f.Body), c.answer) {
			t.Errorf("%s: %s", c.name, f.Body)
		}
		got := breaches(t, e)
		if c.breach == "" && len(got) > 0 || c.breach != "" && !strings.Contains(strings.Join(got, "\n"), c.breach) {
			t.Errorf("%s: %q, want %q", c.name, got, c.breach)
		}
	}
}

func TestLiars(t *testing.T) {
	for _, c := range []struct {
		behaviour Behaviour
		answer    string
		text      string
	}{
		{Behaviour{Kind: Lies}, `{"applied":true}`, "one\ntwo\n"},
		{Behaviour{Kind: Refuses, Text: "no"}, `{"applied":false,"failureReason":"no"}`, "one\ntwo\n"},
		{Behaviour{Kind: Answers, Text: "null"}, `null`, "one\ntwo\n"},
		{Behaviour{Kind: Types, Text: "0\n", Path: "f.txt"}, `{"applied":false}`, "0\none\ntwo\n"},
		{Behaviour{Kind: Blind, Text: "0\n", Path: "f.txt"}, `{"applied":true}`, "0\n2\ntwo\n"},
		{Behaviour{Kind: Formats}, `{"applied":true}`, "one\n2\n"},
	} {
		e, p := stage(t, "rich")
		e.Open("f.txt")
		e.Behave(c.behaviour)
		f := p.ask(t, "workspace/applyEdit", edit(e, `,"version":1`, second))
		if string(f.Result) != c.answer {
			t.Errorf("%s: %s", c.behaviour.Kind, f.Body)
		}
		if got, _ := e.Buffer("f.txt"); got != c.text {
			t.Errorf("%s: %q", c.behaviour.Kind, got)
		}
		breaches(t, e)
	}
}

func TestFileOperations(t *testing.T) {
	e, p := stage(t, "rich")
	e.Open("f.txt")
	p.ask(t, "workspace/applyEdit", `{"edit":{"documentChanges":[
		{"kind":"create","uri":"`+URI(e.Abs("d/n.txt"))+`"},
		{"textDocument":{"uri":"`+URI(e.Abs("d/n.txt"))+`","version":null},"edits":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"new\n"}]},
		{"kind":"rename","oldUri":"`+URI(e.Abs("f.txt"))+`","newUri":"`+URI(e.Abs("g.txt"))+`"}]}}`)
	if got, _ := e.Buffer("d/n.txt"); got != "new\n" {
		t.Errorf("created: %q", got)
	}
	if b, err := os.ReadFile(e.Abs("d/n.txt")); err != nil || len(b) != 0 {
		t.Errorf("on disk: %q, %v", b, err)
	}
	if got, _ := e.Buffer("g.txt"); got != "one\ntwo\n" {
		t.Errorf("renamed: %q", got)
	}
	e.Save("d/n.txt")
	if got := breaches(t, e); len(got) > 0 {
		t.Error(got)
	}
}

// Everything that the protocol forbids is noticed.
func TestBreaches(t *testing.T) {
	event := func(seq, kind, more string) string {
		return `{"sessionId":"s","runId":"r","seq":` + seq + `,"time":"","type":"` + kind + `"` + more + `}`
	}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, e *Editor, p *puppet)
		want string
	}{
		{"an event too early", func(t *testing.T, _ *Editor, p *puppet) {
			p.notify(t, "agent/event", event("1", "runStarted", ""))
		}, "before an answer named it"},
		{"a gap", func(t *testing.T, _ *Editor, p *puppet) {
			p.notify(t, "agent/event", event("1", "runStarted", ""))
			p.notify(t, "agent/event", event("3", "runEnded", ""))
		}, "event 3 after 1"},
		{"two ends", func(t *testing.T, _ *Editor, p *puppet) {
			p.notify(t, "agent/event", event("1", "runStarted", ""))
			p.notify(t, "agent/event", event("2", "runEnded", ""))
			p.notify(t, "agent/event", event("3", "runEnded", ""))
		}, "runEnded after runEnded"},
		{"an open call", func(t *testing.T, _ *Editor, p *puppet) {
			p.notify(t, "agent/event", event("1", "runStarted", ""))
			p.notify(t, "agent/event", event("2", "toolCall", `,"toolCallId":"c","status":"running"`))
			p.notify(t, "agent/event", event("3", "runEnded", ""))
		}, "tool call c is running"},
		{"no end", func(t *testing.T, _ *Editor, p *puppet) {
			p.notify(t, "agent/event", event("1", "runStarted", ""))
		}, "run r has ended 0 times"},
		{"a print", func(t *testing.T, _ *Editor, p *puppet) {
			if err := p.out.raw([]byte("hello\n")); err != nil {
				t.Fatal(err)
			}
		}, "standard output"},
		{"a second answer", func(t *testing.T, _ *Editor, p *puppet) {
			if err := p.send(map[string]any{"id": 1, "result": 1}); err != nil {
				t.Fatal(err)
			}
		}, "a response to nothing"},
		{"progress without end", func(t *testing.T, e *Editor, p *puppet) {
			e.record.created("t")
			p.notify(t, "$/progress", `{"token":"t","value":{"kind":"begin"}}`)
		}, "has no end"},
		{"progress from nowhere", func(t *testing.T, _ *Editor, p *puppet) {
			p.notify(t, "$/progress", `{"token":"t","value":{"kind":"begin"}}`)
		}, "never created"},
		{"a written file", func(t *testing.T, e *Editor, _ *puppet) {
			if err := os.WriteFile(e.Abs("x"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "the editor did not make it"},
		{"focus", func(t *testing.T, _ *Editor, p *puppet) {
			p.ask(t, "window/showDocument", `{"uri":"file:///x","takeFocus":true}`)
		}, "takes the focus"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, p := stage(t, "rich")
			c.do(t, e, p)
			// What a print broke leaves no answer to wait for.
			if c.name == "a print" {
				e.Await("the breach", func() bool { return len(e.problems()) > 0 })
				e.HangUp()
			} else {
				e.Must("shutdown", nil, nil)
				e.Exit()
			}
			if got := e.problems(); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, c.want) }) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestQuestions(t *testing.T) {
	e, p := stage(t, "rich")
	done := make(chan Frame, 1)
	go func() { done <- p.ask(t, "agent/ask", `{"question":"?"}`) }()
	f, answer := e.AwaitQuestion()
	if f.Method != "agent/ask" {
		t.Errorf("%s", f.Body)
	}
	answer(map[string]string{"answer": "yes"})
	if got := <-done; string(got.Result) != `{"answer":"yes"}` {
		t.Errorf("%s", got.Body)
	}
	e.Close()
}

// Changes go out so that a mirror that applies them in order is right.
func TestChangesInOrder(t *testing.T) {
	e, p := stage(t, "rich")
	e.Open("f.txt")
	one := `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"newText":"1\n1"}`
	p.ask(t, "workspace/applyEdit", edit(e, `,"version":1`, one+","+second))
	var last Frame
	for len(p.got) > 0 {
		last = <-p.got
	}
	var params struct {
		ContentChanges []struct {
			Range Range  `json:"range"`
			Text  string `json:"text"`
		} `json:"contentChanges"`
	}
	if err := json.Unmarshal(last.Params, &params); err != nil {
		t.Fatal(err)
	}
	text := "one\ntwo\n"
	for _, c := range params.ContentChanges {
		var err error
		if text, err = applyEdits(text, []TextEdit{{c.Range, c.Text}}, "utf-16"); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := e.Buffer("f.txt"); got != text || text != "1\n1\n2\n" {
		t.Errorf("buffer %q, mirror %q", got, text)
	}
	e.Close()
}

func TestCheckRequests(t *testing.T) {
	const call = `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}}]}`
	for _, c := range []struct{ bodies, want string }{
		{`{"messages":[{"role":"user"}]}`, ""},
		{`{"messages":[{"role":"user"}]}|{"messages":[{"role":"user"},` + call + `,{"role":"tool","tool_call_id":"a"}]}`, ""},
		{`{"messages":[{"role":"user"},` + call + `]}`, "no result"},
		{`{"messages":[{"role":"user"},` + call + `,{"role":"user"}]}`, "no result"},
		{`{"messages":[{"role":"user"},{"role":"tool","tool_call_id":"a"}]}`, "waits for none"},
		{`{"messages":[{"role":"user"}]}|{"messages":[{"role":"user","content":"other"},{"role":"assistant"}]}`, "extends none"},
		{`{"messages":[{"role":"user"},` + strings.Replace(call, "{}", "[]", 1) + `,{"role":"tool","tool_call_id":"a"}]}`, "no object"},
	} {
		var bodies [][]byte
		for b := range strings.SplitSeq(c.bodies, "|") {
			bodies = append(bodies, []byte(b))
		}
		err := CheckRequests(bodies)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.bodies, err, c.want)
		}
	}
}
