package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentls/agentls/agent/llm"
)

// What an answer without calls means for the run (C101, C181, C073, C074).
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name     string
		replies  []reply
		stop     StopReason
		requests int
		notice   string
		class    string
	}{
		{"text", []reply{say("Now I'll edit a.go:")}, StopEndTurn, 1, "", ""},
		{"text that was not streamed", []reply{parts(llm.StopEnd, llm.Text{Text: "hi"})}, StopEndTurn, 1, "", ""},
		{"cut text", []reply{parts(llm.StopLength, llm.Text{Text: "and so"})}, StopLength, 1, "", ""},
		{"only thoughts to the limit", []reply{thinks("hm", parts(llm.StopLength, llm.Thought{Text: "hm"}))}, StopLength, 1, "length", ""},
		{"refusal", []reply{parts(llm.StopRefusal, llm.Text{Text: "I won't"})}, StopRefusal, 1, "", ""},
		{"filter", []reply{parts(llm.StopFilter, llm.Text{Text: "It is"})}, StopError, 1, "", "contentFilter"},
		{"nothing, then text", []reply{parts(llm.StopEnd), say("ok")}, StopEndTurn, 2, "", ""},
		{"nothing at all", []reply{parts(llm.StopEnd)}, StopError, 2, "emptyReply", "internal"},
		{"only thoughts", []reply{thinks("hm", parts(llm.StopEnd, llm.Thought{Text: "hm"}))}, StopError, 2, "emptyReply", "internal"},
		{"blanks", []reply{say(" \n\n")}, StopError, 2, "emptyReply", "internal"},
		{"a call of nothing", []reply{parts(llm.StopEnd, llm.ToolUse{ID: "x"}), say("ok")}, StopEndTurn, 2, "", ""},
		{"a call as text", []reply{say("<tool_call>\n<function=run_command>\n")}, StopEndTurn, 1, "toolCallAsText", ""},
		{"a call as text, unclosed", []reply{say("I'll look.\n<function=read_file>")}, StopEndTurn, 1, "toolCallAsText", ""},
		{"a call in thoughts", []reply{thinks("<tool_call>", parts(llm.StopEnd, llm.Thought{Text: "<tool_call>"}, llm.Text{Text: "done"}))}, StopEndTurn, 1, "", ""},
		{"a call in an explanation", []reply{say("Write:\n```xml\n<tool_call>\n```\nthat is it")}, StopEndTurn, 1, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := newScript(t, c.replies...)
			b := newBench(t, model, withTools(reader(nil)))
			res := b.run(ask("go"))
			want(t, "stop reason", res.StopReason, c.stop)
			want(t, "requests", model.count(), c.requests)
			codes := ""
			for _, n := range find[Notice](b.tape.events()) {
				codes += n.Code
			}
			want(t, "notices", codes, c.notice)
			if c.class != "" {
				want(t, "class", res.Error.Class, c.class)
			}
			model.replies = []reply{say("fine")}
			want(t, "next", b.run(ask("on")).StopReason, StopEndTurn)
		})
	}
}

// Text that an adapter did not stream is streamed for it.
func TestTextWithoutDeltas(t *testing.T) {
	b := newBench(t, newScript(t, parts(llm.StopEnd, llm.Text{Text: "a"}, llm.Text{Text: "b"})))
	want(t, "text", b.run(ask("go")).Text, "ab")
	want(t, "delta", find[TextDelta](b.tape.events())[0].Delta, "ab")
	want(t, "role", find[MessageDone](b.tape.events())[0].Role, "assistant")
}

// C172: a budget stops the run between two turns, and another goes on.
func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		name   string
		budget Budget
		stop   StopReason
		turns  int
	}{
		{"turns", Budget{MaxTurns: 25}, StopMaxTurns, 25},
		{"tokens", Budget{MaxTokens: 1000}, StopMaxTokens, 10}, // 110 a turn
		{"cost", Budget{MaxCost: 1}, StopMaxCost, 4},           // 0.25 a turn
	} {
		t.Run(c.name, func(t *testing.T) {
			var n int
			model := newScript(t, func(ctx context.Context, r llm.Request, yield func(llm.Delta, error) bool) {
				n++
				calls(fmt.Sprintf(`read_file {"path":"%d"}`, n))(ctx, r, yield)
			})
			b := newBench(t, model, withTools(reader(nil)), func(o *Options) {
				resolve := o.Resolve
				o.Resolve = func(ctx context.Context, m string) (ResolvedModel, error) {
					r, err := resolve(ctx, m)
					r.Cost = func(llm.Usage) (float64, bool) { return 0.25, true }
					return r, err
				}
			})
			req := ask("go")
			req.Budget = c.budget
			res := b.run(req)
			want(t, "stop reason", res.StopReason, c.stop)
			want(t, "turns", res.Usage.Turns, c.turns)
			want(t, "error", res.Error, nil)
			want(t, "all calls ran", res.Usage.ToolCalls, c.turns)
			model.replies = []reply{say("done")}
			want(t, "next", b.run(ask("go on")).StopReason, StopEndTurn)
		})
	}
}

// A token budget holds roughly where the server does not count.
func TestTokenBudgetWithoutUsage(t *testing.T) {
	big := strings.Repeat("words ", 2000)
	var n int
	model := newScript(t, func(_ context.Context, _ llm.Request, yield func(llm.Delta, error) bool) {
		n++
		use := llm.ToolUse{ID: fmt.Sprint(n), Name: "read_file", Input: fmt.Appendf(nil, `{"path":"%d"}`, n)}
		yield(llm.Completed{Message: llm.Message{Parts: []llm.Part{use}}}, nil)
	})
	b := newBench(t, model, withTools(reader(func(context.Context, Call) Result { return Result{Text: big} })))
	req := ask("go")
	req.Budget.MaxTokens = 20_000
	res := b.run(req)
	want(t, "stop reason", res.StopReason, StopMaxTokens)
	if res.Usage.InputTokens != nil || res.Usage.Turns > 10 {
		t.Errorf("usage %+v", res.Usage)
	}
}

func TestUnknownPriceIsSaid(t *testing.T) {
	b := newBench(t, newScript(t, say("ok")))
	req := ask("go")
	req.Budget.MaxCost = 1
	b.run(req)
	wantHas(t, "notice", find[Notice](b.tape.events())[0].Message, "maxCost cannot be held")
}

// maxSeconds ends a silent model and a slow tool; what a person takes to
// answer does not count.
func TestMaxSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newScript(t, hangs("well"), say("ok")))
		req := ask("go")
		req.Budget.MaxSeconds = 10
		begin := time.Now()
		res := b.run(req)
		want(t, "stop reason", res.StopReason, StopMaxSeconds)
		want(t, "took", time.Since(begin), 10*time.Second)
		want(t, "text", res.Text, "well")
		want(t, "next", b.run(ask("on")).StopReason, StopEndTurn)
	})
	synctest.Test(t, func(t *testing.T) {
		slow := reader(func(ctx context.Context, c Call) Result {
			time.Sleep(2 * time.Second)
			resume := c.Pause()
			nested := c.Pause()
			time.Sleep(30 * time.Second)
			nested()
			nested()
			time.Sleep(30 * time.Second)
			resume()
			<-ctx.Done()
			return Failed("out of time")
		})
		model := newScript(t, calls("read_file"), say("ok"))
		b := newBench(t, model, withTools(slow))
		req := ask("go")
		req.Budget.MaxSeconds = 10
		begin := time.Now()
		want(t, "stop reason", b.run(req).StopReason, StopMaxSeconds)
		want(t, "took", time.Since(begin), time.Minute+10*time.Second)
		b.run(ask("on"))
		wantHas(t, "result", results(model.request(1))[0], "time is used up")
	})
}

// A steer is seen with the next request; a run that was about to end goes on
// for it.
func TestSteer(t *testing.T) {
	model := newScript(t, calls("read_file"), say("done"), say("done too"))
	var r *Run
	b := newBench(t, model, withTools(reader(func(context.Context, Call) Result {
		delivered, err := r.Steer("and b.go")
		want(t, "delivered", delivered, "next-turn")
		want(t, "error", err, nil)
		return Result{Text: "a"}
	})))
	r, err := b.Start(ask("look at a.go"))
	if err != nil {
		t.Fatal(err)
	}
	b.tape.onSend = func(e Envelope) {
		if m, ok := e.Event.(MessageDone); ok && m.Text == "done" {
			_, _ = r.Steer("one more thing")
		}
	}
	r.Go()
	want(t, "stop reason", b.end(r).StopReason, StopEndTurn)
	want(t, "second request", strings.Join(lastTexts(model.request(1)), "|"), "and b.go")
	want(t, "third request", strings.Join(lastTexts(model.request(2)), "|"), "one more thing")
	want(t, "told", fmt.Sprint(find[Steered](b.tape.events())), "[{and b.go} {one more thing}]")
	if _, err := r.Steer("too late"); err != ErrRunEnded {
		t.Errorf("steer after the end: %v", err)
	}
}

// While a person is waited for, or a request waits to be sent again, a steer is
// queued.
func TestSteerQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &llm.Error{Class: llm.RateLimit, Message: "slow down", Retryable: true}
		b := newBench(t, newScript(t, fails(e), say("ok")))
		r := b.start(ask("go"))
		b.tape.await(t, isRetry)
		synctest.Wait()
		delivered, _ := r.Steer("hurry")
		want(t, "in a retry", delivered, "queued")
		b.end(r)
		want(t, "seen", len(find[Steered](b.tape.events())), 1)
	})
	b := newBench(t, newScript(t, hangs("hm")))
	r := b.start(ask("go"))
	b.tape.await(t, isText)
	resume := r.Pause()
	delivered, _ := r.Steer("hello?")
	want(t, "while paused", delivered, "queued")
	resume()
	delivered, _ = r.Steer("hello?")
	want(t, "after", delivered, "next-turn")
	r.Cancel()
	b.end(r)
}

// What the user said and no request took is not lost: a notice tells, and but
// for a cancel the next run takes it.
func TestSteersThatCameTooLate(t *testing.T) {
	for _, stop := range []StopReason{StopMaxTurns, StopCancelled} {
		model := newScript(t, calls("read_file"), say("ok"))
		var r *Run
		b := newBench(t, model, withTools(reader(func(context.Context, Call) Result {
			_, _ = r.Steer("in blue")
			if stop == StopCancelled {
				r.Cancel()
			}
			return Result{Text: "a"}
		})))
		req := ask("paint it")
		req.Budget.MaxTurns = 1
		r, err := b.Start(req)
		if err != nil {
			t.Fatal(err)
		}
		r.Go()
		want(t, "stop reason", b.end(r).StopReason, stop)
		wantHas(t, "notice", find[Notice](b.tape.events())[0].Message, "in blue")
		b.run(ask("go on"))
		seen := strings.Join(lastTexts(model.request(1)), "|")
		if stop == StopCancelled {
			want(t, "next prompt", seen, "go on")
		} else {
			want(t, "next prompt", seen, "in blue|go on")
		}
	}
}

// What the review says is heard once, with the results.
func TestFeedback(t *testing.T) {
	words := []string{"", "Review: hunk 1 accepted", ""}
	model := newScript(t, calls("read_file"), calls(`read_file {"path":"b"}`), say("ok"))
	b := newBench(t, model, withTools(reader(nil)), func(o *Options) {
		o.Feedback = func() string {
			next := words[0]
			words = words[1:]
			return next
		}
	})
	b.run(ask("go"))
	want(t, "second", strings.Join(lastTexts(model.request(1)), "|"), "Review: hunk 1 accepted")
	want(t, "third", strings.Join(lastTexts(model.request(2)), "|"), "")
}
