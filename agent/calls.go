package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agent/llm"
)

// maxParallel is how many calls run side by side.
const maxParallel = 8

// The bounds of what an event tells about a call; the model gets more.
const (
	maxEventOutput = 8 << 10
	maxReason      = 300
)

// toolCall is a call on its way through a run.
type toolCall struct {
	use     llm.ToolUse // the name is the model's
	name    string      // as it is shown
	tool    Tool
	input   json.RawMessage // mended
	plan    Plan
	refusal string // why it does not run
	scope   *scope
	left    chan struct{} // closed when the tool has returned

	over   bool
	result Result
}

// returned is what a tool's goroutine hands back.
type returned struct {
	call   *toolCall
	result Result
}

// runCalls makes the calls of an answer and puts their results, in the order
// of the calls, into the next message.
func (r *Run) runCalls(a *answer) {
	r.guard.begin()
	calls := make([]*toolCall, len(a.calls))
	for i, use := range a.calls {
		calls[i] = r.prepare(use)
	}
	r.batch = calls
	refuseCut(calls, a.stop)
	for _, c := range calls {
		r.emit(c.event(r, StatusPending))
	}
	for rest := calls; len(rest) > 0; {
		n := segment(rest)
		r.runSegment(rest[:n])
		rest = rest[n:]
	}
	r.usage.toolCalls += len(calls)
	r.putResults(calls)
}

// prepare finds out what a call would do, or why it will not be done.
func (r *Run) prepare(use llm.ToolUse) *toolCall {
	c := &toolCall{use: use, input: use.Input, name: cleanName(r.tools.canonical(use.Name))}
	c.scope = &scope{runID: r.id, parent: r.scope}
	c.plan = Plan{Kind: KindOther, Title: c.name}
	tool, refusal := r.tools.find(use.Name)
	switch {
	case refusal != "":
		c.refusal = refusal
		return c
	case use.Malformed != "":
		c.refusal = fmt.Sprintf("not run: the arguments could not be read: %s. Send them again as one JSON object.", use.Malformed)
		return c
	}
	c.tool = tool
	c.input = repairInput(use.Input, r.tools.byName[r.tools.canonical(use.Name)].Schema)
	plan, err := r.planOf(tool, c.input)
	if err != nil {
		c.refusal = err.Error()
		return c
	}
	if plan.Kind == "" {
		plan.Kind = KindOther
	}
	if plan.Title == "" {
		plan.Title = c.name
	}
	c.plan = plan
	if r.tools.mode != ModeAgent && changes(plan.Kind) {
		c.refusal = fmt.Sprintf("%s is not available in %s mode, in which nothing is changed", c.name, r.tools.mode)
	}
	return c
}

func changes(k Kind) bool {
	return k == KindEdit || k == KindDelete || k == KindMove || k == KindExecute
}

func (r *Run) planOf(tool Tool, input json.RawMessage) (plan Plan, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = r.panicked("the plan of a tool", p)
		}
	}()
	return tool.Plan(input)
}

// refuseCut refuses the last call of an answer that was cut: even where its
// arguments are valid they may be half of what was meant. The calls before it
// are whole, since another one followed them.
func refuseCut(calls []*toolCall, stop llm.StopReason) {
	last := calls[len(calls)-1]
	switch stop {
	case llm.StopLength:
		last.refusal = "not run: your answer reached the output limit inside this call, so that its arguments are cut. Do it in smaller pieces: less text in one call, more calls."
	case llm.StopFilter:
		last.refusal = "not run: the server's content filter cut your answer inside this call."
	}
}

// segment is how many calls run together: those at the front that only read,
// or one that does not. So a read after a write sees the write.
func segment(calls []*toolCall) int {
	n := 0
	for n < len(calls) && calls[n].plan.ReadOnly {
		n++
	}
	return max(n, 1)
}

// runSegment runs calls side by side and returns when each is over.
func (r *Run) runSegment(calls []*toolCall) {
	back := make(chan returned, len(calls))
	running, next := 0, 0
	stop := r.ctx.Done()
	var grace <-chan time.Time
	for {
		for running < maxParallel && next < len(calls) && r.ctx.Err() == nil {
			if r.launch(calls[next], back) {
				running++
			}
			next++
		}
		if running == 0 {
			break
		}
		select {
		case ret := <-back:
			running--
			r.finishCall(ret.call, r.judgeResult(ret.result))
		case <-stop:
			stop = nil
			timer := time.NewTimer(r.s.o.Limits.CancelGrace)
			defer timer.Stop()
			grace = timer.C
		case <-grace:
			running = 0 // their results come too late, and nobody reads them
		}
	}
	why := stoppedReason(r.stopped().reason)
	for i, c := range calls {
		if c.over {
			continue
		}
		text := "not run: " + why
		if i < next {
			text = why + " while it ran: look before you rely on its effects"
			r.s.keepStray(c.left)
		}
		r.finishCall(c, Result{Text: text, Status: StatusCancelled})
	}
}

// launch starts a call and reports whether there is a result to wait for.
func (r *Run) launch(c *toolCall, back chan<- returned) bool {
	if c.refusal != "" {
		r.finishCall(c, Failed(c.refusal))
		return false
	}
	r.emit(c.event(r, StatusRunning))
	call := Call{
		ID:     c.use.ID,
		RunID:  r.id,
		Input:  c.input,
		Mode:   r.req.Mode,
		Review: r.req.Review,
		Pause:  r.Pause,
		Emit:   func(ev Event) { r.emitFrom(c.scope, ev) },
	}
	c.left = make(chan struct{})
	go func() {
		defer close(c.left)
		ret := returned{call: c, result: Failed("the tool ended without a result")}
		defer func() { back <- ret }() // there is room for each
		defer func() {
			if p := recover(); p != nil {
				ret.result = Failed(r.panicked("the tool "+c.name, p).Message)
			}
		}()
		ret.result = c.tool.Run(r.ctx, call)
	}()
	return true
}

// emitFrom sends an event of a call; live output may be missing after a
// cancel, what it tells of the proposal or of a question may not.
func (r *Run) emitFrom(s *scope, ev Event) {
	var err error
	if _, ok := ev.(ToolOutput); ok {
		err = r.s.log.emit(r.ctx, s, ev)
	} else {
		err = r.s.log.tell(r.s.life, s, ev)
	}
	if err != nil {
		r.s.logger.Debug("event of a call dropped", "run", r.id, "type", ev.eventType(), "err", err)
	}
}

// judgeResult fills in what a tool left open. A tool that returned after a
// cancel and did not complete was cancelled.
func (r *Run) judgeResult(res Result) Result {
	if res.Status == "" {
		res.Status = StatusCompleted
	}
	if r.ctx.Err() != nil && res.Status == StatusFailed {
		res.Status = StatusCancelled
	}
	if res.Status == StatusCancelled && r.ctx.Err() != nil {
		res.Text = strings.TrimSpace(stoppedReason(r.stopped().reason) + " while it ran. " + res.Text)
	}
	return res
}

// finishCall tells how a call ended. Nothing comes from it any more.
func (r *Run) finishCall(c *toolCall, res Result) {
	res.Text = strings.ToValidUTF8(res.Text, "\ufffd")
	if res.Text == "" {
		res.Text = "(no output)" // some servers refuse an empty result
	}
	c.result, c.over = res, true
	if res.Locations != nil {
		c.plan.Locations = res.Locations
	}
	r.s.log.close(c.scope)
	ev := c.event(r, res.Status)
	ev.Output = bound(res.Text, maxEventOutput)
	if res.Status != StatusCompleted {
		line, _, _ := strings.Cut(res.Text, "\n")
		ev.Reason = shorten(line, maxReason)
	}
	r.tell(ev)
}

// event is a call as it stands. Its input, which may be a whole file, comes
// when it is known and once more at the end, for who was not there before.
func (c *toolCall) event(r *Run, status Status) ToolCall {
	ev := ToolCall{ToolCallID: c.use.ID, Name: c.name, Kind: c.plan.Kind, Title: c.plan.Title, Status: status}
	if status != StatusRunning {
		ev.Input = c.input
	}
	if r.s.o.Locate != nil && len(c.plan.Locations) > 0 {
		ev.Locations = r.s.o.Locate(c.plan.Locations)
	}
	return ev
}

// putResults puts the results of a batch into the next message, and the
// instructions for the folders that it first worked in.
func (r *Run) putResults(calls []*toolCall) {
	h := &r.s.history
	texts := make([]string, len(calls))
	var paths []string
	for i, c := range calls {
		texts[i] = c.result.Text
		for _, l := range c.plan.Locations {
			paths = append(paths, l.Path)
		}
	}
	boundBatch(texts, r.window())
	for i, c := range calls {
		n := r.guard.count(c.name, c.input, c.result.Status, c.result.Text)
		if n >= loopRemind {
			r.emit(Notice{Severity: "warning", Code: "loop", Message: fmt.Sprintf("%s: the same call with the same result, %d times", c.plan.Title, n)})
		}
		h.put(llm.ToolResult{ToolUseID: c.use.ID, Text: texts[i] + reminder(n), IsError: c.result.Status != StatusCompleted})
	}
	told, text := r.s.o.Instructions.For(paths)
	if len(told) > 0 {
		h.say(text)
		r.s.keep(recordInstructions, pathsRecord{told})
	}
}

// stoppedReason is why a run was stopped from outside.
func stoppedReason(reason StopReason) string {
	if reason == StopMaxSeconds {
		return errMaxSeconds.Error()
	}
	return errCancelled.Error()
}

// stoppedResult stands for the result of a call that a run's end left open.
func stoppedResult(reason StopReason) string {
	switch reason {
	case StopCancelled, StopMaxSeconds:
		return "not run: " + stoppedReason(reason)
	}
	return "no result: the run ended in an error before this call was over"
}

// keepStray remembers a tool that was not waited for until it has returned.
func (s *Session) keepStray(left <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strays = append(s.strays, left)
}
