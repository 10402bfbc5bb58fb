package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/agent/prompt"
)

// C079: unknown names are told back; names that are clear are understood; no
// name is sent back that a server would refuse.
func TestNames(t *testing.T) {
	for name, runs := range map[string]bool{
		"read_file":                true,
		"functions.read_file":      true,
		"default_api:read_file":    true,
		"read_file<|channel|>json": true,
		"Read_File":                true,
		"read-file":                true,
		"functions.Read_File<|x":   true,
		"readfile":                 false,
		"Task":                     false,
		"read file":                false,
		"écrire":                   false,
		strings.Repeat("x", 300):   false,
	} {
		model := newScript(t, calls(strings.ReplaceAll(name, " ", "\u00a0")), say("ok"))
		b := newBench(t, model, withTools(reader(nil), writer(nil)))
		want(t, name, b.run(ask("go")).StopReason, StopEndTurn)
		got := results(model.request(1))[0]
		if runs {
			want(t, name, got, "read_file {}")
			continue
		}
		wantHas(t, name, got, "unknown tool")
		wantHas(t, name, got, "available: read_file, write_file")
		if len(got) > 200 {
			t.Errorf("%s: the result has %d bytes", name, len(got))
		}
	}
}

func TestAmbiguousNamesAreNotGuessed(t *testing.T) {
	set := offer([]Tool{&fake{name: "do_it"}, &fake{name: "Do-It"}}, ModeAgent)
	want(t, "canonical", set.canonical("DO_IT"), "DO_IT")
	want(t, "exact", set.canonical("Do-It"), "Do-It")
}

// C071, C072, C182: ids are unique in the session and fit for every server.
func TestIDs(t *testing.T) {
	same := func(id string) reply {
		return parts(llm.StopEnd, llm.ToolUse{ID: id, Name: "read_file", Input: json.RawMessage(`{"path":"` + id + `"}`)})
	}
	odd := strings.Repeat("f", 50)
	model := newScript(t, same("Zs4"), same("Zs4"), same(""), same("fc|1"), same(odd), say("ok"), same("Zs4"), say("ok"))
	b := newBench(t, model, withTools(reader(nil)))
	b.run(ask("go"))
	b = b.again()
	b.run(ask("go"))
	// checkRequest looked at each id; the results are those of their calls.
	got := results(model.request(7))
	want(t, "results", len(got), 6)
	for i, id := range []string{"Zs4", "Zs4", "", "fc|1", odd, "Zs4"} {
		want(t, "result", got[i], `read_file {"path":"`+id+`"}`)
	}
}

// C076: a broken call is told back and never run, and what goes back to the
// server is an object.
func TestMalformedInput(t *testing.T) {
	ran := false
	write := writer(func(context.Context, Call) Result { ran = true; return Result{} })
	model := newScript(t,
		parts(llm.StopEnd, llm.ToolUse{ID: "a", Name: "write_file", Input: json.RawMessage(`{}`), Malformed: "invalid character 'x' at byte 9"}),
		parts(llm.StopEnd, llm.ToolUse{ID: "b", Name: "write_file", Input: json.RawMessage(`[1]`)}),
		parts(llm.StopEnd, llm.ToolUse{ID: "c", Name: "write_file", Input: json.RawMessage(`{"a":`)}),
		say("ok"))
	b := newBench(t, model, withTools(write))
	b.run(ask("go"))
	if ran {
		t.Error("a malformed call ran")
	}
	got := results(model.request(3))
	wantHas(t, "result", got[0], "invalid character 'x' at byte 9")
	wantHas(t, "result", got[1], "not a JSON object")
	wantHas(t, "result", got[2], "not a JSON object")
}

// No arguments are an empty object.
func TestNoInput(t *testing.T) {
	model := newScript(t, parts(llm.StopEnd, llm.ToolUse{ID: "a", Name: "read_file"}), say("ok"))
	b := newBench(t, model, withTools(reader(nil)))
	b.run(ask("go"))
	want(t, "result", results(model.request(1))[0], "read_file {}")
}

// C089: of an answer that was cut the last call never runs.
func TestCutCalls(t *testing.T) {
	for _, stop := range []llm.StopReason{llm.StopLength, llm.StopFilter} {
		var ran []string
		write := writer(func(_ context.Context, c Call) Result {
			ran = append(ran, string(c.Input))
			return Result{Text: "done"}
		})
		model := newScript(t, callsThat(stop, `write_file {"path":"a"}`, `write_file {"path":"b"}`), say("ok"))
		b := newBench(t, model, withTools(write))
		res := b.run(ask("go"))
		want(t, "ran", strings.Join(ran, " "), `{"path":"a"}`)
		if stop == llm.StopFilter {
			want(t, "stop reason", res.StopReason, StopError)
			want(t, "class", res.Error.Class, "contentFilter")
			continue
		}
		want(t, "stop reason", res.StopReason, StopEndTurn)
		got := results(model.request(1))
		want(t, "whole call", got[0], "done")
		wantHas(t, "cut call", got[1], "output limit")
	}
	// A cut call that comes again and again ends as a loop.
	model := newScript(t, callsThat(llm.StopLength, `write_file {}`))
	b := newBench(t, model, withTools(writer(nil)))
	want(t, "stop reason", b.run(ask("go")).StopReason, StopLoop)
	want(t, "requests", model.count(), 5)
}

// A tool's refusal is a result like others, and says how it ended.
func TestStatuses(t *testing.T) {
	for _, status := range []Status{StatusFailed, StatusDenied, StatusCancelled, ""} {
		model := newScript(t, calls("write_file"), say("ok"))
		b := newBench(t, model, withTools(writer(func(context.Context, Call) Result {
			return Result{Text: "no\nbecause", Status: status, Locations: []Location{{Path: "/b"}}}
		})), func(o *Options) {
			o.Locate = func(l []Location) []EventLocation { return []EventLocation{{URI: "file://" + l[0].Path}} }
		})
		b.run(ask("go"))
		cs := find[ToolCall](b.tape.events())
		last := cs[len(cs)-1]
		want(t, "location", last.Locations[0].URI, "file:///b")
		want(t, "output", last.Output, "no\nbecause")
		if status == "" {
			want(t, "status", last.Status, StatusCompleted)
			want(t, "reason", last.Reason, "")
			continue
		}
		want(t, "status", last.Status, status)
		want(t, "reason", last.Reason, "no")
		m := model.request(1).Messages
		want(t, "is error", m[len(m)-1].Parts[0].(llm.ToolResult).IsError, true)
	}
}

// C098: what tools and models write reaches the next request as valid UTF-8,
// without half surrogate pairs.
func TestBrokenUnicode(t *testing.T) {
	model := newScript(t,
		parts(llm.StopEnd,
			llm.Text{Text: "a\xffb"},
			llm.ToolUse{ID: "a", Name: "read_file", Input: json.RawMessage(`{"p":"\ud83d","q":"\ud83d\ude00","r":"\ude00\ud83d","s":"\\ud83d","t":"` + "\xff" + `"}`)}),
		say("ok"))
	b := newBench(t, model, withTools(reader(func(_ context.Context, c Call) Result { return Result{Text: "x\xed\xa0\xbdy" + string(c.Input)} })))
	b.run(ask("g\xffo"))
	r := model.request(1)
	want(t, "prompt", r.Messages[0].Parts[0].(llm.Text).Text, "g\ufffdo")
	want(t, "text", r.Messages[1].Parts[0].(llm.Text).Text, "a\ufffdb")
	const clean = `{"p":"\ufffd","q":"\ud83d\ude00","r":"\ufffd\ufffd","s":"\\ud83d","t":"` + "\ufffd" + `"}`
	want(t, "input", string(r.Messages[1].Parts[1].(llm.ToolUse).Input), clean)
	want(t, "result", results(r)[0], "x\ufffdy"+clean)
	want(t, "prompt event", find[RunStarted](b.tape.events())[0].Prompt, "g\ufffdo")
}

// C077: the shapes that models give to arguments that are right in themselves.
func TestRepairInput(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"path":{"type":"string"},
		"n":{"type":"integer"},"x":{"type":"number"},"all":{"type":"boolean"},
		"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"all":{"type":"boolean"}}}},
		"tags":{"type":"array","items":{"type":"string"}},
		"opt":{"type":["string","null"]},
		"deep":{"type":"object","properties":{"n":{"type":"integer"}}}},
		"required":["path"]}`
	for _, c := range [][2]string{
		{`{"path":"a"}`, ``},
		{`{"edits":"[{\"old\":\"a\"}]"}`, `{"edits":[{"old":"a"}]}`},
		{`{"edits":"{\"old\":\"a\"}"}`, `{"edits":[{"old":"a"}]}`},
		{`{"edits":{"old":"a"}}`, `{"edits":[{"old":"a"}]}`},
		{`{"edits":["{\"old\":\"a\"}","{\"old\":\"<b>\",\"all\":\"True\"}"]}`, `{"edits":[{"old":"a"},{"all":true,"old":"<b>"}]}`},
		{`{"edits":"[{\"old\":\"a\nb\"}]"}`, `{"edits":[{"old":"a\nb"}]}`},
		{`{"edits":"not json"}`, ``},
		{`{"edits":"[{\"old\":"}`, ``},
		{`{"path":"[1]","tags":"one"}`, `{"path":"[1]","tags":["one"]}`},
		{`{"tags":"[\"a\",\"b\"]"}`, `{"tags":["a","b"]}`},
		{`{"n":"5","x":"1.5","all":"false"}`, `{"all":false,"n":5,"x":1.5}`},
		{`{"n":"five","x":"Inf","all":"maybe"}`, ``},
		{`{"n":null,"path":null,"opt":null}`, `{"opt":null,"path":null}`},
		{`{"deep":"{\"n\":\"7\"}"}`, `{"deep":{"n":7}}`},
		{`{"deep":"[1]"}`, ``},
		{`{"other":"[1]"}`, ``},
	} {
		got := repairInput(json.RawMessage(c[0]), json.RawMessage(schema))
		if c[1] == "" {
			c[1] = c[0]
		}
		want(t, c[0], string(got), c[1])
	}
	// The tool and the client get what was understood.
	model := newScript(t, calls(`write_file {"edits":"[{\"old\":\"a\"}]"}`), say("ok"))
	tool := writer(nil)
	tool.schema = schema
	b := newBench(t, model, withTools(tool))
	b.run(ask("go"))
	want(t, "result", results(model.request(1))[0], `write_file {"edits":[{"old":"a"}]}`)
}

// C169: the same call with the same result is pointed out at the third time
// and ends the run at the fifth, in any rhythm.
func TestLoop(t *testing.T) {
	for name, rhythm := range map[string][]string{
		"A":       {`write_file {"path":"a"}`},
		"A, B":    {`write_file {"path":"a"}`, `read_file {"path":"b"}`},
		"A, B, C": {`write_file {"path":"a"}`, `read_file {"path":"b"}`, `read_file {"path":"c"}`},
		"spaces":  {`write_file {"path":"a","x":1}`, `write_file {"x":1, "path": "a"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var n int
			model := newScript(t, func(ctx context.Context, r llm.Request, yield func(llm.Delta, error) bool) {
				n++
				calls(rhythm[(n-1)%len(rhythm)])(ctx, r, yield)
			})
			same := func(context.Context, Call) Result { return Result{Text: "no change"} }
			b := newBench(t, model, withTools(reader(same), writer(same)))
			res := b.run(ask("go"))
			want(t, "stop reason", res.StopReason, StopLoop)
			period := len(rhythm)
			if name == "spaces" {
				period = 1
			}
			want(t, "turns", res.Usage.Turns, 4*period+1)
			want(t, "error", res.Error, nil)
			got := results(model.request(2*period + 1))
			for i, text := range got {
				want(t, fmt.Sprint("reminder ", i), strings.Contains(text, "call number 3"), i >= 2*period)
			}
			want(t, "notice", find[Notice](b.tape.events())[0].Code, "loop")
			model.replies = []reply{say("ok")}
			want(t, "next", b.run(ask("on")).StopReason, StopEndTurn)
		})
	}
}

// C170: work that repeats and gets on is not stopped.
func TestNoLoop(t *testing.T) {
	var n int
	count := func() int { n++; return n }
	for name, c := range map[string]struct {
		call func(i int) string
		run  func(context.Context, Call) Result
	}{
		"edits of one file":         {func(i int) string { return fmt.Sprintf(`write_file {"path":"a","text":"%d"}`, i) }, func(context.Context, Call) Result { return Result{Text: "proposed"} }},
		"a command with new output": {func(int) string { return "write_file" }, func(context.Context, Call) Result { return Result{Text: fmt.Sprint(count())} }},
		"a failing test between edits": {func(i int) string {
			if i%2 == 0 {
				return `write_file {"test":1}`
			}
			return fmt.Sprintf(`write_file {"edit":%d}`, i)
		}, func(_ context.Context, c Call) Result { return Result{Text: "FAIL", Status: StatusFailed} }},
	} {
		t.Run(name, func(t *testing.T) {
			i := 0
			model := newScript(t, func(ctx context.Context, r llm.Request, yield func(llm.Delta, error) bool) {
				if i++; i > 20 {
					say("done")(ctx, r, yield)
					return
				}
				calls(c.call(i))(ctx, r, yield)
			})
			b := newBench(t, model, withTools(writer(c.run)))
			want(t, "stop reason", b.run(ask("go")).StopReason, StopEndTurn)
			want(t, "notices", len(find[Notice](b.tape.events())), 0)
		})
	}
	// One answer with the same call many times is one time.
	spec := `read_file {"path":"a"}`
	b := newBench(t, newScript(t, calls(spec, spec, spec, spec, spec, spec), say("ok")), withTools(reader(nil)))
	want(t, "stop reason", b.run(ask("go")).StopReason, StopEndTurn)
}

// C179: a nested instruction file is told with the first result from below it,
// once, also after a restart.
func TestInstructions(t *testing.T) {
	files := map[string]string{"/w/AGENTS.md": "ROOT", "/w/web/AGENTS.md": "WEB", "/w/srv/AGENTS.md": "SRV", "/AGENTS.md": "PARENT"}
	fresh := func() *prompt.Instructions {
		return prompt.NewInstructions(prompt.Sources{
			Folders: []string{"/w"},
			Read:    func(path string) (string, bool) { text, ok := files[path]; return text, ok },
		})
	}
	model := newScript(t, calls(`read_file {"path":"/w/web/src/a.ts"}`), calls(`read_file {"path":"/w/web/b.ts"}`), say("ok"),
		calls(`read_file {"path":"/w/web/c.ts"}`), say("ok"))
	b := newBench(t, model, withTools(reader(nil)), func(o *Options) { o.Instructions = fresh() })
	b.run(ask("go"))
	wantHas(t, "system", model.request(0).System, "ROOT")
	wantHas(t, "system", model.request(0).System, "be good")
	wantHas(t, "first result", strings.Join(lastTexts(model.request(1)), ""), "WEB")
	b.o.Instructions = fresh()
	files["/w/AGENTS.md"] = "CHANGED" // the system prompt stays what it was
	b = b.again()
	b.run(ask("go"))
	all := fmt.Sprint(model.request(4))
	want(t, "told", strings.Count(all, "WEB"), 1)
	for _, not := range []string{"SRV", "PARENT", "CHANGED"} {
		want(t, not, strings.Contains(all, not), false)
	}
}
