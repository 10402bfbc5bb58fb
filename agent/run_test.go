package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agent/llm"
)

// A run from its prompt to its end, in the order in which its events come.
func TestRun(t *testing.T) {
	model := newScript(t, calls(`read_file {"path":"/w/a.go"}`), say("all is well here"))
	b := newBench(t, model, withTools(reader(nil)))
	res := b.run(ask("look at a.go"))
	want(t, "stop reason", res.StopReason, StopEndTurn)
	want(t, "text", res.Text, "all is well here")
	got := tell(b.tape.events())
	const story = `runStarted
turnStarted 1
toolCall call_0 read_file pending
usage
toolCall call_0 read_file /w/a.go pending
toolCall call_0 read_file /w/a.go running
toolCall call_0 read_file /w/a.go completed
turnStarted 2
text "all i"
text "s wel"
text "l her"
text "e"
message "all is well here"
usage
runEnded endTurn
`
	if d := cmp.Diff(story, got); d != "" {
		t.Error(d)
	}
	last := find[ToolCall](b.tape.events())[3]
	want(t, "output", last.Output, `read_file {"path":"/w/a.go"}`)
	want(t, "input", string(last.Input), `{"path":"/w/a.go"}`)
	want(t, "result", results(model.request(1))[0], last.Output)
	want(t, "tools", len(model.request(0).Tools), 1)
	want(t, "system", model.request(0).System, "be good")
	info := b.Info()
	want(t, "title", info.Title, "look at a.go")
	want(t, "runs", info.Runs, 1)
	want(t, "running", info.Running, false)
}

// C178: the usage of a run is the sum over its requests; what no server told
// is absent.
func TestUsage(t *testing.T) {
	model := newScript(t, calls("read_file"), say("done with it"), say("once more"))
	b := newBench(t, model, withTools(reader(nil)), withWindow(8000))
	res := b.run(ask("go"))
	raw, err := json.Marshal(res.Usage)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "usage", string(raw), `{"inputTokens":200,"outputTokens":20,"cacheReadTokens":80,"turns":2,"toolCalls":1,"contextTokens":100,"contextWindow":8000}`)
	b.run(ask("again"))
	info := b.Info()
	want(t, "session's input", *info.Usage.InputTokens, 300)
	want(t, "session's turns", info.Usage.Turns, 3)
	want(t, "again's runs", info.Runs, 2)
	want(t, "restored usage", *b.again().Info().Usage.InputTokens, 300)

	silent := newScript(t, func(_ context.Context, _ llm.Request, yield func(llm.Delta, error) bool) {
		yield(llm.Completed{Message: llm.Message{Parts: []llm.Part{llm.Text{Text: "hi"}}}}, nil)
	})
	res = newBench(t, silent).run(ask("go"))
	raw, _ = json.Marshal(res.Usage)
	want(t, "unknown usage", string(raw), `{"turns":1,"toolCalls":0}`)
}

// A model that cannot be had ends the run, never the request for it.
func TestNoModel(t *testing.T) {
	b := newBench(t, newScript(t, say("never")), func(o *Options) {
		o.Model = "gpt"
		o.Resolve = func(context.Context, string) (ResolvedModel, error) {
			return ResolvedModel{}, &llm.Error{Class: llm.NoModel, Message: "set OPENAI_API_KEY"}
		}
	})
	res := b.run(ask("go"))
	want(t, "stop reason", res.StopReason, StopError)
	want(t, "error", *res.Error, RunError{Class: "noModel", Message: "set OPENAI_API_KEY"})
	want(t, "events", tell(b.tape.events()), "runStarted\nrunEnded error noModel\n")
	want(t, "model", find[RunStarted](b.tape.events())[0].Model, "gpt")
}

func TestOneRunAtATime(t *testing.T) {
	b := newBench(t, newScript(t, hangs("hm"), say("next")))
	r := b.start(ask("one"))
	b.tape.await(t, isText)
	if _, err := b.Start(ask("two")); err != ErrRunActive {
		t.Errorf("second start: %v", err)
	}
	r.Cancel()
	b.end(r)
	want(t, "next", b.run(ask("two")).StopReason, StopEndTurn)
}

// C149: who reads runEnded may start the next run at once.
func TestNextRunFromTheLastEvent(t *testing.T) {
	b := newBench(t, newScript(t, say("done")))
	next := make(chan *Run, 1)
	var once sync.Once
	b.tape.onSend = func(e Envelope) {
		if _, ok := e.Event.(RunEnded); ok {
			once.Do(func() {
				r, err := b.Start(ask("two"))
				if err != nil {
					t.Errorf("start from runEnded: %v", err)
				}
				next <- r
			})
		}
	}
	b.run(ask("one"))
	r := <-next
	r.Go()
	b.end(r)
	want(t, "runs", b.Info().Runs, 2)
}

// Calls that only read run side by side, others alone, and a read after a
// write sees the write. The results come in the order of the calls.
func TestSegments(t *testing.T) {
	var mu sync.Mutex
	var log []string
	note := func(s string) int {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, s)
		return len(log)
	}
	var both sync.WaitGroup
	both.Add(2)
	read := reader(func(_ context.Context, c Call) Result {
		if note("read") <= 2 {
			both.Done()
			both.Wait() // ends only if they run side by side
		}
		return Result{Text: "read " + c.ID}
	})
	write := writer(func(_ context.Context, c Call) Result {
		note("write")
		return Result{Text: "wrote " + c.ID}
	})
	model := newScript(t, calls("read_file", "read_file", "write_file", "read_file"), say("done"))
	b := newBench(t, model, withTools(read, write))
	b.run(ask("go"))
	want(t, "order", strings.Join(log, " "), "read read write read")
	want(t, "results", strings.Join(results(model.request(1)), ", "), "read call_0, read call_1, wrote call_2, read call_3")
}

func TestParallelIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := reader(func(context.Context, Call) Result {
			time.Sleep(time.Second)
			return Result{Text: "ok"}
		})
		var specs []string
		for i := range 30 {
			specs = append(specs, fmt.Sprintf(`read_file {"path":"%d"}`, i))
		}
		b := newBench(t, newScript(t, calls(specs...), say("done")), withTools(read))
		begin := time.Now()
		b.run(ask("go"))
		want(t, "took", time.Since(begin), 4*time.Second) // 8 + 8 + 8 + 6
	})
}

// A panic anywhere in what the loop calls ends a call or the run, and nothing
// else.
func TestPanics(t *testing.T) {
	boom := func() { panic("boom") }
	for _, c := range []struct {
		name  string
		model reply
		tool  *fake
		o     change
		stop  StopReason
	}{
		{name: "tool", tool: reader(func(context.Context, Call) Result { boom(); return Result{} }), stop: StopEndTurn},
		{name: "exit", tool: reader(func(context.Context, Call) Result { runtime.Goexit(); return Result{} }), stop: StopEndTurn},
		{name: "plan", tool: &fake{name: "read_file", plan: func(json.RawMessage) (Plan, error) { boom(); return Plan{}, nil }}, stop: StopEndTurn},
		{name: "model", model: func(context.Context, llm.Request, func(llm.Delta, error) bool) { boom() }, stop: StopError},
		{name: "feedback", o: func(o *Options) { o.Feedback = func() string { boom(); return "" } }, stop: StopError},
		{name: "locate", o: func(o *Options) { o.Locate = func([]Location) []EventLocation { boom(); return nil } }, stop: StopError},
		{name: "resolve", o: func(o *Options) {
			o.Resolve = func(context.Context, string) (ResolvedModel, error) { boom(); return ResolvedModel{}, nil }
		}, stop: StopError},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := calls(`read_file {"path":"/a"}`)
			if c.model != nil {
				first = c.model
			}
			if c.tool == nil {
				c.tool = reader(nil)
			}
			if c.o == nil {
				c.o = func(*Options) {}
			}
			b := newBench(t, newScript(t, first, say("done")), withTools(c.tool), c.o)
			r := b.start(ask("go"))
			b.end(r)
			want(t, "stop reason", r.Result().StopReason, c.stop)
			want(t, "ends", len(find[RunEnded](b.tape.events())), 1)
			if c.stop == StopError {
				want(t, "class", r.Result().Error.Class, "internal")
			} else {
				want(t, "status", find[ToolCall](b.tape.events())[3-btoi(c.name == "plan")].Status, StatusFailed)
			}
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// C142: a tool that was not offered does not run, whatever the model calls.
func TestModes(t *testing.T) {
	ran := false
	write := writer(func(context.Context, Call) Result { ran = true; return Result{} })
	sly := &fake{name: "read_all", kind: KindExecute, readOnly: true, run: write.run}
	model := newScript(t, calls(`write_file {"path":"a"}`, "read_all", "read_file"), say("fine"))
	b := newBench(t, model, withTools(reader(nil), write, sly))
	req := ask("what is this?")
	req.Mode = ModeAsk
	want(t, "stop reason", b.run(req).StopReason, StopEndTurn)
	if ran {
		t.Error("a tool that was not offered ran")
	}
	names := ""
	for _, s := range model.request(0).Tools {
		names += s.Name + " "
	}
	want(t, "offered", names, "read_file read_all ")
	got := results(model.request(1))
	wantHas(t, "result", got[0], "write_file is not available in ask mode")
	wantHas(t, "result", got[1], "read_all is not available in ask mode")
	want(t, "result", got[2], "read_file {}")
	wantHas(t, "prompt", strings.Join(lastTexts(model.request(0)), "\n"), "[Mode: ask.")
}

// The context comes before the prompt, which stays as it was written.
func TestPrompt(t *testing.T) {
	model := newScript(t, say("ok"))
	b := newBench(t, model, func(o *Options) { o.Feedback = func() string { return "Review: one hunk was accepted" } })
	req := ask("  fix\nit  ")
	req.Context = "[context]"
	b.run(req)
	if d := cmp.Diff([]string{"[context]", "Review: one hunk was accepted", "  fix\nit  "}, lastTexts(model.request(0))); d != "" {
		t.Error(d)
	}
	want(t, "title", b.Info().Title, "fix")
}

func TestConfigureIsForLaterRuns(t *testing.T) {
	var models []string
	b := newBench(t, newScript(t, say("ok")), func(o *Options) {
		resolve := o.Resolve
		o.Resolve = func(ctx context.Context, m string) (ResolvedModel, error) {
			models = append(models, m)
			return resolve(ctx, m)
		}
	})
	r, err := b.Start(ask("one"))
	if err != nil {
		t.Fatal(err)
	}
	b.Configure(Configuration{Model: new("big"), Mode: new(ModePlan), Title: new("mine")})
	r.Go()
	b.end(r)
	b.run(ask("two"))
	want(t, "models", strings.Join(models, ","), ",big")
	want(t, "mode", find[RunStarted](b.tape.events())[1].Mode, ModePlan)
	info := b.again().Info()
	want(t, "title", info.Title, "mine")
	want(t, "restored model", info.Model, "big")
}
