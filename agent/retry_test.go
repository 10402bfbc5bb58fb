package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentls/agentls/agent/llm"
)

// C092, C086, C085: what is asked again, how long is waited for it, and what
// the user is told.
func TestRetry(t *testing.T) {
	limited := func(after time.Duration) *llm.Error {
		return &llm.Error{Class: llm.RateLimit, Message: "too many requests", Status: 429, Retryable: true, RetryAfter: after}
	}
	cut := &llm.Error{Class: llm.StreamCut, Message: "cut", Retryable: true}
	for _, c := range []struct {
		name     string
		replies  []reply
		stop     StopReason
		class    llm.ErrorClass
		requests int
		least    time.Duration
		most     time.Duration
	}{
		{"asked to wait", []reply{fails(limited(3 * time.Second)), say("ok")}, StopEndTurn, "", 2, 3 * time.Second, 3 * time.Second},
		{"not told how long", []reply{fails(limited(0)), say("ok")}, StopEndTurn, "", 2, 500 * time.Millisecond, time.Second},
		{"longer each time", []reply{fails(cut), fails(cut), fails(cut), say("ok")}, StopEndTurn, "", 4, 3500 * time.Millisecond, 7 * time.Second},
		{"bounded", []reply{fails(cut)}, StopError, llm.StreamCut, 5, 7500 * time.Millisecond, 15 * time.Second},
		{"far too long", []reply{fails(limited(30 * time.Hour))}, StopError, llm.RateLimit, 1, 0, 0},
		{"quota", []reply{fails(&llm.Error{Class: llm.Quota, Message: "no money left", Status: 429})}, StopError, llm.Quota, 1, 0, 0},
		{"an error of no class", []reply{func(_ context.Context, _ llm.Request, y func(llm.Delta, error) bool) { y(nil, errors.New("odd")) }}, StopError, llm.Internal, 1, 0, 0},
		{"end without an end", []reply{func(context.Context, llm.Request, func(llm.Delta, error) bool) {}, say("ok")}, StopEndTurn, "", 2, 500 * time.Millisecond, time.Second},
		{"after thoughts", []reply{thinks("hm", fails(cut)), say("ok")}, StopEndTurn, "", 2, 500 * time.Millisecond, time.Second},
		{"after text", []reply{speaksThen("half an", cut), say("ok")}, StopError, llm.StreamCut, 1, 0, 0},
		{"in a call", []reply{announcesThen("read_file", cut), say("ok")}, StopEndTurn, "", 2, 500 * time.Millisecond, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := newScript(t, c.replies...)
				b := newBench(t, model, withTools(reader(nil)))
				begin := time.Now()
				res := b.run(ask("go"))
				took := time.Since(begin)
				want(t, "stop reason", res.StopReason, c.stop)
				want(t, "requests", model.count(), c.requests)
				if took < c.least || took > c.most {
					t.Errorf("took %v, want %v to %v", took, c.least, c.most)
				}
				if res.Error != nil {
					want(t, "class", res.Error.Class, string(c.class))
				}
				notices := find[Notice](b.tape.events())
				want(t, "notices", len(notices), c.requests-1)
				for _, n := range notices {
					wantHas(t, "notice", n.Code+": "+n.Message, "retry: ")
					wantHas(t, "notice", n.Message, "trying again in ")
				}
				want(t, "turns", len(find[TurnStarted](b.tape.events())), 1)
				// A failed run leaves a session that goes on.
				model.replies = []reply{say("fine")}
				want(t, "next", b.run(ask("on")).StopReason, StopEndTurn)
			})
		})
	}
}

func speaksThen(text string, e *llm.Error) reply {
	return func(_ context.Context, _ llm.Request, yield func(llm.Delta, error) bool) {
		if yield(llm.TextDelta{Text: text}, nil) {
			yield(nil, e)
		}
	}
}

func announcesThen(name string, e *llm.Error) reply {
	return func(_ context.Context, _ llm.Request, yield func(llm.Delta, error) bool) {
		if yield(llm.ToolUseDelta{ID: "x", Name: name}, nil) {
			yield(nil, e)
		}
	}
}

func TestRetryMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &llm.Error{Class: llm.RateLimit, Message: "too many requests", Retryable: true, RetryAfter: 30 * time.Hour}
		b := newBench(t, newScript(t, fails(e)))
		wantHas(t, "message", b.run(ask("go")).Error.Message, "the server asks to wait 30 hours")
		want(t, "the adapter's error", e.Message, "too many requests")

		e = &llm.Error{Class: llm.Network, Message: "no route", Retryable: true, RetryAfter: 90 * time.Second}
		b = newBench(t, newScript(t, fails(e), say("ok")))
		b.run(ask("go"))
		want(t, "notice", find[Notice](b.tape.events())[0].Message, "no route; trying again in 1m30s (attempt 2 of 5)")
	})
}

// A call that was shown and then never made does not stay open.
func TestRetryClosesCallsThatWereShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := newScript(t, announcesThen("read_file", &llm.Error{Class: llm.StreamCut, Message: "cut", Retryable: true}), say("ok"))
		b := newBench(t, model, withTools(reader(nil)))
		b.run(ask("go"))
		cs := find[ToolCall](b.tape.events())
		want(t, "calls", len(cs), 2)
		want(t, "status", cs[1].Status, StatusCancelled)
		want(t, "reason", cs[1].Reason, "the answer broke off")
	})
}

// What was shown keeps its place in the history when the rest does not come.
func TestErrorAfterTextKeepsIt(t *testing.T) {
	model := newScript(t, speaksThen("half an", &llm.Error{Class: llm.StreamCut, Message: "cut", Retryable: true}), say("ok"))
	b := newBench(t, model)
	res := b.run(ask("go"))
	want(t, "text", res.Text, "half an")
	want(t, "error", *res.Error, RunError{Class: "streamCut", Message: "cut", Retryable: true})
	b.run(ask("on"))
	var roles []string
	for _, m := range model.request(1).Messages {
		roles = append(roles, string(m.Role))
	}
	want(t, "roles", strings.Join(roles, " "), "user assistant user")
}
