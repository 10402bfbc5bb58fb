package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agent/llm"
)

// Request is what a run is asked to do. Empty fields are the session's.
type Request struct {
	Prompt []llm.Part // texts and images
	Title  string     // the prompt's first line if empty
	Mode   Mode
	Model  string
	Review Review
	Budget Budget
	// Context is what the user has in front of them, as prompt renders it.
	Context string
}

// Budget limits a run; 0 is no limit. A run that reaches one stops with its
// history whole, and another goes on from there.
type Budget struct {
	MaxTurns   int64
	MaxTokens  int64   // input and output, over all requests
	MaxSeconds float64 // waiting for a person is not counted
	MaxCost    float64 // in the currency of ResolvedModel.Cost
}

// RunResult is how a run ended.
type RunResult struct {
	RunID, SessionID string
	StopReason       StopReason
	Text             string // the last that the model said
	Usage            Usage
	Error            *RunError
}

// The causes with which a run's context ends.
var (
	errCancelled  = errors.New("cancelled by the user")
	errMaxSeconds = errors.New("the run's time is used up")
)

// ErrRunEnded is what Steer returns when it is too late.
var ErrRunEnded = errors.New("the run has ended")

// Run is one prompt and all that the agent does about it. One goroutine,
// begun by Go, owns its state; the methods are safe for concurrent use.
type Run struct {
	s      *Session
	id     string
	title  string
	req    Request
	scope  *scope
	ctx    context.Context
	cancel context.CancelCauseFunc
	begin  sync.Once
	done   chan struct{}
	clock  stopwatch
	mail   mailbox
	result RunResult // set before done closes

	// What follows belongs to the run's goroutine.
	model    ResolvedModel
	tools    *toolset
	guard    loopGuard
	usage    usageSum
	batch    []*toolCall // the calls of the last answer
	messages int         // answers begun, for their ids
	text     string      // the last that the model said
	steered  []string    // what the next request tells of steers
	nudged   bool        // an empty answer was asked for again
	trimmed  bool        // the history was cut for the request at hand
}

func newRun(s *Session, req Request) *Run {
	r := &Run{s: s, id: newRunID(), req: req, done: make(chan struct{})}
	r.req.Mode = cmp.Or(req.Mode, s.info.Mode)
	r.req.Model = cmp.Or(req.Model, s.info.Model)
	r.req.Review = cmp.Or(req.Review, s.info.Review)
	r.title = cmp.Or(title(req.Title), title(promptText(req.Prompt)))
	r.scope = &scope{runID: r.id}
	r.ctx, r.cancel = context.WithCancelCause(s.life)
	r.clock.limit = req.Budget.MaxSeconds
	r.clock.fire = func() { r.cancel(errMaxSeconds) }
	return r
}

// ID names the run.
func (r *Run) ID() string { return r.id }

// Title is one line that says what the run is about.
func (r *Run) Title() string { return r.title }

// Review is the run's review mode.
func (r *Run) Review() Review { return r.req.Review }

// Go begins the run; the first event may come before it returns.
func (r *Run) Go() { r.begin.Do(func() { go r.main() }) }

// Cancel ends the run soon, in StopCancelled if it has not ended otherwise by
// then. Before Go it makes a run that ends at once.
func (r *Run) Cancel() { r.cancel(errCancelled) }

// Done closes when the run has ended: RunEnded was handed to the sink and
// Result is there.
func (r *Run) Done() <-chan struct{} { return r.done }

// Result is how the run ended, once Done is closed.
func (r *Run) Result() RunResult { return r.result }

// Pause tells that a person is waited for: until resume is called the time
// counts to no budget.
func (r *Run) Pause() (resume func()) { return r.clock.pause() }

// Steer gives the model more to go by. It gets to see the prompt with its next
// request, and goes on for it if it was about to end: "next-turn". While a
// person is waited for, or a failed request waits to be sent again, that may
// take long: "queued".
func (r *Run) Steer(prompt string) (delivered string, err error) {
	prompt = strings.ToValidUTF8(prompt, "\ufffd")
	waiting, ok := r.mail.post(prompt)
	if !ok {
		return "", ErrRunEnded
	}
	if waiting || r.clock.paused() {
		return "queued", nil
	}
	return "next-turn", nil
}

// ending is why a run stops.
type ending struct {
	reason StopReason
	err    *RunError
}

func (r *Run) main() {
	defer close(r.done)
	defer func() {
		// The front end's own callbacks panicked: there is nobody to tell.
		if p := recover(); p != nil {
			r.s.logger.Error("panic at the end of a run", "run", r.id, "panic", p, "stack", string(debug.Stack()))
			r.s.release(r, r.result)
		}
		r.cancel(nil)
	}()
	r.clock.start()
	end := r.guarded()
	r.clock.stop()
	r.finish(end)
}

// guarded does the work; a panic in it is an ending like others.
func (r *Run) guarded() (end ending) {
	defer func() {
		if p := recover(); p != nil {
			end = failure(r.panicked("a run", p))
		}
	}()
	return r.work()
}

// panicked logs a panic and makes the error that the user is told.
func (r *Run) panicked(where string, p any) *llm.Error {
	r.s.logger.Error("panic in "+where, "run", r.id, "panic", p, "stack", string(debug.Stack()))
	return &llm.Error{Class: llm.Internal, Message: fmt.Sprintf("internal error in %s, please report it: %v", where, p)}
}

// finish leaves a valid history, sends the run's last event and sets the result.
func (r *Run) finish(end ending) {
	s := r.s
	r.closeBatch()
	s.history.settle(stoppedResult(end.reason))
	s.history.close()
	r.keepSteers(r.mail.close(), end.reason)
	r.result = RunResult{
		RunID:      r.id,
		SessionID:  s.o.ID,
		StopReason: end.reason,
		Text:       r.text,
		Usage:      r.usage.total(),
		Error:      end.err,
	}
	last := RunEnded{StopReason: end.reason, Usage: r.result.Usage, Error: end.err}
	s.log.end(s.life, r.scope, last, func() { s.release(r, r.result) })
	s.describe()
}

// closeBatch closes calls that a panic left open.
func (r *Run) closeBatch() {
	for _, c := range r.batch {
		if !c.over {
			r.s.log.close(c.scope)
			r.tell(ToolCall{ToolCallID: c.use.ID, Name: c.name, Kind: c.plan.Kind, Title: c.plan.Title, Status: StatusFailed, Reason: "internal error"})
		}
	}
}

// keepSteers sees to prompts that no request took: the next run takes them,
// but after a cancel the user says anew what they want.
func (r *Run) keepSteers(steers []string, why StopReason) {
	if len(steers) == 0 {
		return
	}
	then := "it goes with the next prompt"
	if why == StopCancelled {
		then = "send it again if it is still wanted"
	} else {
		r.s.carried = append(r.s.carried, steers...)
	}
	for _, text := range steers {
		r.tell(Notice{Severity: "info", Code: "steer", Message: fmt.Sprintf("the run ended before the model saw this; %s: %s", then, text)})
	}
}

// emit sends an event that nobody misses after a cancel.
func (r *Run) emit(ev Event) {
	_ = r.s.log.emit(r.ctx, r.scope, ev) // the run looks at ctx itself
}

// tell sends an event that must not be missing.
func (r *Run) tell(ev Event) {
	_ = r.s.log.tell(r.s.life, r.scope, ev) // but a closed session takes none
}

// release ends a run's hold on its session.
func (s *Session) release(r *Run, res RunResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active != r {
		return
	}
	s.active = nil
	s.info.Updated = time.Now().UTC()
	s.info.Usage = addUsage(s.info.Usage, res.Usage)
}

// failure is the ending for an error of the model.
func failure(e *llm.Error) ending {
	return ending{StopError, &RunError{Class: string(e.Class), Message: e.Message, Status: e.Status, Retryable: e.Retryable}}
}

// stopped is the ending for a context that is over.
func (r *Run) stopped() ending {
	if errors.Is(context.Cause(r.ctx), errMaxSeconds) {
		return ending{reason: StopMaxSeconds}
	}
	return ending{reason: StopCancelled}
}

// promptText is what a prompt says, without its images.
func promptText(parts []llm.Part) string {
	var texts []string
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			texts = append(texts, p.Text)
		case llm.Image:
			texts = append(texts, "[image]")
		}
	}
	return strings.Join(texts, "\n")
}
