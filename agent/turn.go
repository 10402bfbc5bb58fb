package agent

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/agentls/agentls/agent/llm"
)

// work is a run from its first event to the reason for its last.
func (r *Run) work() ending {
	if end, ok := r.open(); !ok {
		return end
	}
	for {
		if r.ctx.Err() != nil {
			return r.stopped()
		}
		if reason, spent := r.overBudget(); spent {
			return ending{reason: reason}
		}
		answer, err := r.turn()
		if err != nil {
			return r.failed(err)
		}
		if end, over := r.take(answer); over {
			return end
		}
	}
}

// open finds the model, tells that the run has begun and puts the prompt into
// the history.
func (r *Run) open() (ending, bool) {
	s := r.s
	err := r.resolve()
	r.usage.window = r.model.ContextWindow
	prompt := promptText(r.req.Prompt)
	s.mu.Lock()
	s.info.Runs++
	if s.info.Title == "" {
		s.info.Title = r.title
	}
	s.info.Updated = time.Now().UTC()
	s.mu.Unlock()
	shown := r.req.Model
	if r.model.ID != "" {
		shown = r.model.ID
	}
	r.tell(RunStarted{Prompt: strings.ToValidUTF8(prompt, "\ufffd"), Model: shown, Mode: r.req.Mode})
	r.putPrompt()
	if r.ctx.Err() != nil {
		return r.stopped(), false
	}
	if err != nil {
		return failure(asModelError(err)), false
	}
	if s.system == nil {
		r.makeSystem()
	}
	r.tools = offer(s.o.Tools, r.req.Mode)
	if r.req.Budget.MaxCost > 0 && r.model.Cost == nil {
		r.emit(Notice{Severity: "warning", Code: "budget", Message: "the price of " + r.model.ID + " is not known: maxCost cannot be held"})
	}
	return ending{}, true
}

// resolve finds the model.
func (r *Run) resolve() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = r.panicked("finding the model", p)
		}
	}()
	model, err := r.s.o.Resolve(r.ctx, r.req.Model)
	if err == nil {
		r.model = model
	}
	return err
}

// makeSystem asks for the system prompt, which stays the same in a session.
func (r *Run) makeSystem() {
	s := r.s
	var text string
	if s.o.System != nil {
		text = s.o.System()
	}
	if root := s.o.Instructions.Root(); root != "" {
		text = strings.TrimRight(text, "\n") + "\n\n" + root
	}
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\ufffd")
	s.system = &text
	s.keep(recordSystem, textRecord{text})
}

// putPrompt puts what the user wants at the end of the next message, behind
// what they have in front of them.
func (r *Run) putPrompt() {
	h := &r.s.history
	h.live = len(h.messages)
	h.say(strings.ToValidUTF8(r.req.Context, "\ufffd"))
	h.say(modeNote[r.req.Mode])
	r.hear()
	r.steered, r.s.carried = r.s.carried, nil
	for _, text := range r.steered {
		h.say(text)
	}
	for _, p := range r.req.Prompt {
		if t, ok := p.(llm.Text); ok {
			p = llm.Text{Text: strings.ToValidUTF8(t.Text, "\ufffd")}
		}
		h.put(p)
	}
}

// modeNote tells the model what a mode means for it. The tools that it is
// offered hold it to that.
var modeNote = map[Mode]string{
	ModePlan: "[Mode: plan. Only look, change nothing. End with a plan of the work, in steps that the user can approve.]",
	ModeAsk:  "[Mode: ask. Only look, change nothing. Answer the question.]",
}

// hear puts what the review says into the next message.
func (r *Run) hear() {
	if r.s.o.Feedback != nil {
		r.s.history.say(strings.ToValidUTF8(r.s.o.Feedback(), "\ufffd"))
	}
}

// turn sends one request and returns the whole answer.
func (r *Run) turn() (*answer, error) {
	s := r.s
	r.usage.turns++
	if r.usage.turns > 1 {
		r.hear()
	}
	for _, text := range r.mail.take() {
		s.history.say(text)
		r.steered = append(r.steered, text)
	}
	r.trimmed = false
	r.makeRoom()
	r.emit(TurnStarted{Turn: r.usage.turns})
	for _, text := range r.steered {
		r.tell(Steered{Prompt: text})
	}
	r.steered = nil
	r.messages++
	a := &answer{run: r, id: fmt.Sprintf("%s_%d", strings.TrimPrefix(r.id, "run_"), r.messages)}
	if err := a.ask(); err != nil {
		a.abandon(err)
		return nil, err
	}
	a.close()
	return a, nil
}

// failed is the ending for an answer that could not be had.
func (r *Run) failed(err error) ending {
	if r.ctx.Err() != nil {
		return r.stopped()
	}
	return failure(asModelError(err))
}

// asModelError finds or makes the error that the user is told.
func asModelError(err error) *llm.Error {
	var e *llm.Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &llm.Error{Class: llm.Network, Message: "the request to the model was given up: " + err.Error(), Retryable: true, Err: err}
	}
	return &llm.Error{Class: llm.Internal, Message: err.Error(), Err: err}
}

// take decides what an answer means for the run. Calls, not the reason why the
// answer ended, decide if it goes on.
func (r *Run) take(a *answer) (end ending, over bool) {
	r.s.history.add(llm.Message{Role: llm.Assistant, Parts: a.parts})
	if len(a.calls) > 0 {
		r.runCalls(a)
		switch {
		case r.ctx.Err() != nil:
			return r.stopped(), true
		case a.stop == llm.StopFilter:
			return filtered, true
		case r.guard.stuck():
			return ending{reason: StopLoop}, true
		}
		return ending{}, false
	}
	switch {
	case a.stop == llm.StopFilter:
		return filtered, true
	case a.stop == llm.StopRefusal:
		return r.endOr(StopRefusal)
	case a.stop == llm.StopLength:
		if a.text == "" {
			r.emit(Notice{Severity: "warning", Code: "length", Message: "the model reached its output limit before it said anything"})
		}
		return r.endOr(StopLength)
	case strings.TrimSpace(a.text) == "":
		return r.empty()
	}
	if callAsText(a.text) {
		r.emit(Notice{Severity: "warning", Code: "toolCallAsText", Message: "the model wrote a tool call into its text; it was not run. The model, or the server in front of it, may not be set up for tools."})
	}
	return r.endOr(StopEndTurn)
}

var filtered = failure(&llm.Error{Class: llm.ContentFilter, Message: "the model's server withheld the answer (content filter): word the request differently"})

// endOr ends the run, unless the user has said something meanwhile.
func (r *Run) endOr(reason StopReason) (ending, bool) {
	if !r.mail.closeIfEmpty() {
		return ending{}, false
	}
	return ending{reason: reason}, true
}

// empty asks once more after an answer that says and does nothing.
func (r *Run) empty() (ending, bool) {
	if !r.nudged {
		r.nudged = true
		r.s.history.say("[Your answer was empty. Go on with the task, or say in a sentence what came of it.]")
		return ending{}, false
	}
	const message = "the model sent an empty answer twice; what it has proposed so far is kept"
	r.tell(Notice{Severity: "warning", Code: "emptyReply", Message: message})
	return failure(&llm.Error{Class: llm.Internal, Message: message + ": ask again, or choose another model", Retryable: true}), true
}

// markup is how models write calls when they, or the template of their server,
// do not know how calls are made here.
var markup = regexp.MustCompile(`(?m)^\s*(<tool_call>|<function=|<function_calls?>|<invoke name=|<\|tool_calls?_?|\[TOOL_CALLS\]|<\|python_tag\|>|<｜tool)`)

// callAsText reports whether a text holds a call as markup, outside the code
// blocks of an explanation. It is told, never run.
func callAsText(text string) bool {
	return markup.MatchString(withoutCode(text))
}

// withoutCode drops fenced code blocks.
func withoutCode(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(line, " \t")
		mark := ""
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			mark = trimmed[:3]
		}
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && mark == fence:
			fence = ""
		case fence == "":
			b.WriteString(line)
		}
	}
	return b.String()
}
