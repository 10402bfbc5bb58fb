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

// C090, C149: a cancel at each event of a run leaves one end, nothing after it,
// and a history that the next request is accepted with. Also after a restart.
func TestCancelAtEachEvent(t *testing.T) {
	script := func(t testing.TB) (*script, change) {
		model := newScript(t,
			thinks("hm", calls(`read_file {"path":"/a"}`, `read_file {"path":"/b"}`, `write_file {"path":"/c"}`)),
			calls(`write_file {"path":"/d"}`),
			say("that was it"), say("again"))
		// What comes after a cancel depends on where it came.
		model.replies = append(model.replies, say("again"))
		return model, withTools(reader(nil), writer(nil))
	}
	model, tools := script(t)
	whole := newBench(t, model, tools)
	whole.run(ask("go"))
	n := len(whole.tape.events())
	for i := 1; i <= n; i++ {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			model, tools := script(t)
			b := newBench(t, model, tools)
			r, err := b.Start(ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			b.tape.onSend = func(e Envelope) {
				if e.Seq == int64(i) {
					r.Cancel()
				}
			}
			r.Go()
			res := b.end(r)
			if res.StopReason != StopCancelled && res.StopReason != StopEndTurn {
				t.Errorf("stop reason %s", res.StopReason)
			}
			before := model.count()
			want(t, "next run", b.run(ask("go on")).StopReason != StopError, true)
			if model.count() == before {
				t.Error("the next run asked nothing")
			}
			restored := b.again()
			want(t, "after a restart", restored.run(ask("and on")).StopReason != StopError, true)
		})
	}
}

// thinks is an answer with reasoning in front.
func thinks(thought string, then reply) reply {
	return func(ctx context.Context, r llm.Request, yield func(llm.Delta, error) bool) {
		if yield(llm.ThoughtDelta{Text: thought}, nil) {
			then(ctx, r, yield)
		}
	}
}

func TestCancelBeforeGo(t *testing.T) {
	b := newBench(t, newScript(t, say("hi")))
	r, err := b.Start(ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	r.Cancel()
	r.Cancel()
	r.Go()
	r.Go()
	want(t, "stop reason", b.end(r).StopReason, StopCancelled)
	want(t, "events", tell(b.tape.events()), "runStarted\nrunEnded cancelled\n")
	r.Cancel()
	want(t, "still", r.Result().StopReason, StopCancelled)
}

// A run that was never begun has its end when the session is closed.
func TestCloseEndsARunThatNeverBegan(t *testing.T) {
	b := newBench(t, newScript(t, say("hi")))
	r, err := b.Start(ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	b.close()
	want(t, "stop reason", b.end(r).StopReason, StopCancelled)
	want(t, "recorder closed", b.tape.closed, true)
	if _, err := b.Start(ask("more")); err != ErrClosed {
		t.Errorf("start after close: %v", err)
	}
}

// The text that the user saw before the cancel stays in the history.
func TestCancelKeepsThePartialAnswer(t *testing.T) {
	model := newScript(t, hangs("I would first"), say("ok"))
	b := newBench(t, model)
	r := b.start(ask("go"))
	b.tape.await(t, isText)
	r.Cancel()
	res := b.end(r)
	want(t, "text", res.Text, "I would first")
	want(t, "message", find[MessageDone](b.tape.events())[0].Text, "I would first")
	b.run(ask("and?"))
	want(t, "history", fmt.Sprint(model.request(1).Messages), "[{user [{go}]} {assistant [{I would first}]} {user [{and?}]}]")
}

// C090: calls that a cancel meets have results that say so, and what a tool
// says too late is dropped.
func TestCancelDuringCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := writer(func(ctx context.Context, c Call) Result {
			<-release // does not look at ctx
			c.Emit(ToolOutput{ToolCallID: c.ID, Delta: "late"})
			return Result{Text: "late"}
		})
		model := newScript(t, calls("write_file", `write_file {"path":"b"}`), say("ok"))
		b := newBench(t, model, withTools(stuck))
		r := b.start(ask("go"))
		b.tape.await(t, isRunning)
		begin := time.Now()
		r.Cancel()
		<-r.Done()
		if d := time.Since(begin); d > time.Second {
			t.Errorf("the cancel took %v", d)
		}
		b.run(ask("on"))
		close(release)
		b.close() // waits for the tool
		got := results(model.request(1))
		wantHas(t, "first", got[0], "cancelled by the user while it ran")
		want(t, "second", got[1], "not run: cancelled by the user")
		if strings.Contains(tell(b.tape.events()), "toolOutput") {
			t.Error("late output was sent")
		}
		checkEvents(t, b.tape.events())
	})
}

// A tool that comes to its end in time has its say, and what it did is told as
// done.
func TestCancelWaitsForTools(t *testing.T) {
	read := reader(func(ctx context.Context, c Call) Result {
		<-ctx.Done()
		return Failed("given up")
	})
	write := writer(func(ctx context.Context, c Call) Result {
		<-ctx.Done()
		return Result{Text: "written"}
	})
	for tool, text := range map[*fake]string{read: "cancelled by the user while it ran. given up", write: "written"} {
		model := newScript(t, calls(tool.name), say("ok"))
		b := newBench(t, model, withTools(tool))
		r := b.start(ask("go"))
		b.tape.await(t, isRunning)
		r.Cancel()
		want(t, "stop reason", b.end(r).StopReason, StopCancelled)
		b.run(ask("on"))
		want(t, "result", results(model.request(1))[0], text)
	}
}

// A cancel during the wait before a request is sent again ends it at once.
func TestCancelDuringRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newScript(t, fails(&llm.Error{Class: llm.RateLimit, Message: "slow down", Retryable: true, RetryAfter: time.Minute})))
		r := b.start(ask("go"))
		b.tape.await(t, isRetry)
		begin := time.Now()
		r.Cancel()
		<-r.Done()
		want(t, "took", time.Since(begin), 0)
		want(t, "stop reason", r.Result().StopReason, StopCancelled)
	})
}

// The close of a session does not wait for ever for a tool.
func TestCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := newBench(t, newScript(t, calls("write_file")), withTools(writer(func(context.Context, Call) Result { <-release; return Result{} })))
		r := b.start(ask("go"))
		b.tape.await(t, isRunning)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := b.Session.Close(ctx); err == nil {
			t.Error("close did not say that a tool is still running")
		}
		want(t, "stop reason", r.Result().StopReason, StopCancelled)
		close(release)
	})
}

// The close of a session does not wait for a client that does not read: what
// it did not take is stored.
func TestCloseDoesNotWaitForTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newScript(t, hangs("hm")))
		r := b.start(ask("go"))
		b.tape.await(t, isText)
		b.tape.mu.Lock()
		b.tape.full = make(chan struct{})
		b.tape.mu.Unlock()
		begin := time.Now()
		b.close()
		want(t, "took", time.Since(begin), 0)
		want(t, "stop reason", r.Result().StopReason, StopCancelled)
		checkEvents(t, decodeAll(t, b.tape.records()))
		n := len(b.tape.events())
		b.Emit(Notice{Code: "late"})
		want(t, "events after the close", len(b.tape.events()), n)
	})
}
