package agent

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentls/agentls/agent/llm"
)

func sized(n int) func(context.Context, Call) Result {
	return func(_ context.Context, c Call) Result {
		return Result{Text: strings.Repeat(c.ID+" ", n/(len(c.ID)+1)) + "\n(end: go on with offset 7)"}
	}
}

// reads is an answer that reads n files at once, other ones each time.
func reads(n int) reply {
	turn := 0
	return func(ctx context.Context, r llm.Request, yield func(llm.Delta, error) bool) {
		turn++
		var specs []string
		for i := range n {
			specs = append(specs, fmt.Sprintf(`read_file {"path":"/%d/%d"}`, turn, i))
		}
		uncounted(calls(specs...))(ctx, r, yield)
	}
}

// uncounted is an answer of a server that tells no usage.
func uncounted(then reply) reply {
	return func(ctx context.Context, r llm.Request, yield func(llm.Delta, error) bool) {
		then(ctx, r, func(d llm.Delta, err error) bool {
			if c, ok := d.(llm.Completed); ok {
				c.Usage = nil
				d = c
			}
			return yield(d, err)
		})
	}
}

// bytesOf is the size of a request as a strict server would see it.
func bytesOf(r llm.Request) int { return weighMessages(r.Messages) + len(r.System) }

// C176: no result, and no batch of them, is larger than fits.
func TestResultsFitTheWindow(t *testing.T) {
	for _, n := range []int{1, 2, 8, 20} {
		model := newScript(t, reads(n), say("ok"))
		b := newBench(t, model, withTools(reader(sized(1<<20))), withWindow(8000))
		want(t, "stop reason", b.run(ask("go")).StopReason, StopEndTurn)
		r := model.request(1)
		if size := bytesOf(r); size > 8000*bytesPerToken*6/10 {
			t.Errorf("%d results: the request has %d bytes", n, size)
		}
		for _, text := range results(r) {
			wantHas(t, "result", text, "bytes left out here: ask for a smaller part")
			wantHas(t, "result", text, "(end: go on with offset 7)")
		}
		for _, c := range find[ToolCall](b.tape.events()) {
			if len(c.Output) > maxEventOutput+200 {
				t.Errorf("an event has %d bytes of output", len(c.Output))
			}
		}
	}
}

// Short results leave their room to the long ones.
func TestBoundBatch(t *testing.T) {
	texts := []string{strings.Repeat("x", 100_000), "short", strings.Repeat("y", 100_000)}
	boundBatch(texts, 10_000) // 40,000 bytes
	want(t, "short", texts[1], "short")
	for _, i := range []int{0, 2} {
		if n := len(texts[i]); n < 9_000 || n > 10_200 {
			t.Errorf("%d bytes", n)
		}
	}
}

// C098: a cut never falls into a character.
func TestBound(t *testing.T) {
	text := strings.Repeat("é😀\n", 500)
	for n := range 300 {
		got := bound(text, n)
		if !utf8.ValidString(got) || len(got) > n+100 {
			t.Fatalf("%d: %d bytes: %q", n, len(got), got)
		}
	}
	want(t, "whole", bound("abc", 3), "abc")
}

// C157: in a long session old outputs are masked before the window is full,
// rarely, so that most requests extend the one before; the prompt stays.
func TestLongRunsFitTheWindow(t *testing.T) {
	model := newScript(t, reads(2))
	model.grows = false
	b := newBench(t, model, withTools(reader(sized(2_000))), withWindow(20_000))
	req := ask("the live request")
	req.Budget.MaxTurns = 60
	want(t, "stop reason", b.run(req).StopReason, StopMaxTurns)
	shrunk := 0
	for i := range model.count() {
		r := model.request(i)
		if size := bytesOf(r); size > 20_000*bytesPerToken*9/10 {
			t.Errorf("request %d has %d bytes", i, size)
		}
		want(t, "prompt", r.Messages[0].Parts[0].(llm.Text).Text, "the live request")
		if i > 0 && len(r.Messages) > 3 {
			last := results(r)
			if strings.Contains(last[len(last)-1], "left out to save room") {
				t.Errorf("request %d: the newest output is masked", i)
			}
		}
		if i > 0 && bytesOf(r) < bytesOf(model.request(i-1)) {
			shrunk++
		}
	}
	notices := 0
	for _, n := range find[Notice](b.tape.events()) {
		if n.Code == "compaction" {
			notices++
		}
	}
	want(t, "each is told", notices, shrunk)
	if shrunk == 0 || shrunk > 60/4 {
		t.Errorf("masked %d times in 60 turns", shrunk)
	}
	// What was masked stays masked after a restart.
	want(t, "restored", fmt.Sprint(b.again().history.messages) == fmt.Sprint(b.history.messages), true)
}

// C097, C175: a server that finds the request too long gets a shorter one,
// once; the second time the run ends and says why.
func TestOverflow(t *testing.T) {
	overflow := &llm.Error{Class: llm.ContextOverflow, Message: "the conversation is too long for the model", Status: 400, ContextLimit: 4096}
	for name, c := range map[string]struct {
		before []reply
		after  reply
		stop   StopReason
		n      int
	}{
		"helps":          {[]reply{reads(1), reads(1)}, say("ok"), StopEndTurn, 4},
		"does not help":  {[]reply{reads(1), reads(1)}, fails(overflow), StopError, 4},
		"nothing to cut": {nil, nil, StopError, 1},
	} {
		t.Run(name, func(t *testing.T) {
			model := newScript(t, append(c.before, fails(overflow))...)
			if c.after != nil {
				model.replies = append(model.replies, c.after)
			}
			model.grows = false
			b := newBench(t, model, withTools(reader(sized(20_000))))
			res := b.run(ask("the live request"))
			want(t, "stop reason", res.StopReason, c.stop)
			want(t, "requests", model.count(), c.n)
			if res.Error != nil {
				want(t, "class", res.Error.Class, "contextOverflow")
			}
			if c.n == 4 {
				last := model.request(3)
				if n := bytesOf(last); n > 4096*bytesPerToken {
					t.Errorf("the request that was cut has %d bytes", n)
				}
				want(t, "prompt", last.Messages[0].Parts[0].(llm.Text).Text, "the live request")
				want(t, "notice", find[Notice](b.tape.events())[0].Code, "compaction")
			}
		})
	}
}

// Earlier exchanges go before the live request does; steers stay behind it.
func TestOverflowDropsOldExchanges(t *testing.T) {
	long := strings.Repeat("words and words ", 1000)
	overflow := &llm.Error{Class: llm.ContextOverflow, Message: "too long", ContextLimit: 8000}
	model := newScript(t, say(long), say(long), calls("read_file"), fails(overflow), say("ok"))
	model.grows = false
	var r *Run
	b := newBench(t, model, withTools(reader(func(context.Context, Call) Result {
		_, _ = r.Steer("in blue")
		return Result{Text: "a"}
	})))
	b.run(ask("one"))
	b.run(ask("two"))
	r, err := b.Start(ask("three"))
	if err != nil {
		t.Fatal(err)
	}
	r.Go()
	want(t, "stop reason", b.end(r).StopReason, StopEndTurn)
	last := model.request(4)
	want(t, "first", last.Messages[0].Parts[0].(llm.Text).Text, "three")
	want(t, "last", strings.Join(lastTexts(last), ""), "in blue")
	// The next run still begins where this one ended.
	model.grows = true
	b.again().run(ask("four"))
}

func TestDropOld(t *testing.T) {
	user := func(s string) llm.Message {
		return llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{Text: s}}}
	}
	model := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{Text: strings.Repeat("x", 1000)}}}
	all := []llm.Message{user("1"), model, user("2"), model, user("3"), model, user("steer")}
	for excess, left := range map[int]int{500: 5, 1500: 3, 100_000: 3} {
		want(t, fmt.Sprint(excess), len(dropOld(all, 4, excess)), left)
	}
	want(t, "only the live one", len(dropOld(all[4:], 0, 1000)), 3)
}

// C157: memory does not grow with the turns of a session.
func TestMemory(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 200<<10/16)
	var at [2]uint64
	turn := 0
	m := stream(func(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
		return func(yield func(llm.Delta, error) bool) {
			turn++
			if turn%150 == 0 {
				runtime.GC()
				var mem runtime.MemStats
				runtime.ReadMemStats(&mem)
				at[turn/150-1] = mem.HeapAlloc
			}
			if turn == 300 {
				yield(done(llm.StopEnd, llm.Text{Text: "ok"}), nil)
				return
			}
			c := done(llm.StopEnd, llm.ToolUse{ID: "c", Name: "read_file", Input: fmt.Appendf(nil, `{"path":"/%d"}`, turn)})
			c.Usage = nil
			yield(c, nil)
		}
	})
	s := New(Options{ID: "s", Recorder: null{}, Sink: null{}, Tools: []Tool{reader(func(_ context.Context, c Call) Result { return Result{Text: string(c.Input) + big} })},
		Resolve: func(context.Context, string) (ResolvedModel, error) { return ResolvedModel{Model: m, ID: "m"}, nil }})
	defer func() { _ = s.Close(context.Background()) }()
	r, err := s.Start(ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	r.Go()
	<-r.Done()
	if grown := int64(at[1]) - int64(at[0]); at[0] == 0 || grown > 1<<20 {
		t.Errorf("%d bytes at turn 150, %d more at turn 300", at[0], grown)
	}
}
