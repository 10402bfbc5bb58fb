package agent

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentls/agentls/agent/llm"
)

// answer is one message of the model while it comes in, over all attempts to
// get it.
type answer struct {
	run *Run
	id  string // messageId, the same for each attempt

	shown   strings.Builder // text that went out as deltas
	thought bool            // reasoning went out
	early   []earlyCall     // calls that were shown while they were written

	// Set by close.
	text  string
	parts []llm.Part // as they go into the history
	calls []llm.ToolUse
	stop  llm.StopReason

	completed llm.Completed
}

// earlyCall is a call of which the name is known.
type earlyCall struct{ id, given, name string }

// ask gets the answer, again where that is safe.
func (a *answer) ask() error {
	r := a.run
	for attempt := 1; ; attempt++ {
		err := a.attempt()
		if err == nil || r.ctx.Err() != nil {
			return err
		}
		e := asModelError(err)
		a.retract("the answer broke off")
		if e.Class == llm.ContextOverflow && !r.trimmed && a.shown.Len() == 0 {
			r.trimmed = true
			if r.trim(e) {
				attempt--
				continue
			}
		}
		wait, why := r.mayRetry(e, attempt, a.shown.Len() > 0)
		if why != "" {
			return giveUp(e, why)
		}
		r.tell(retryNotice(e, attempt, r.s.o.Limits.Attempts, wait))
		if err := r.sleep(wait); err != nil {
			return err
		}
	}
}

// attempt sends the request and passes on what comes.
func (a *answer) attempt() (err error) {
	r := a.run
	defer func() {
		if p := recover(); p != nil {
			err = r.panicked("the model's adapter", p)
		}
	}()
	done := false
	for d, err := range r.model.Model.Stream(r.ctx, r.request()) {
		if err != nil {
			return err
		}
		switch d := d.(type) {
		case llm.TextDelta:
			if d.Text != "" {
				a.shown.WriteString(d.Text)
				r.emit(TextDelta{MessageID: a.id, Delta: d.Text})
			}
		case llm.ThoughtDelta:
			if d.Text != "" {
				a.thought = true
				r.emit(ThoughtDelta{MessageID: a.id, Delta: d.Text})
			}
		case llm.ToolUseDelta:
			a.announce(d)
		case llm.Notice:
			r.emit(Notice{Severity: d.Severity, Code: d.Code, Message: d.Message})
		case llm.Completed:
			a.completed, done = d, true
		}
		if !done && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
	}
	if !done {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		return &llm.Error{Class: llm.StreamCut, Message: "the model's answer broke off in the middle: try again", Retryable: true}
	}
	return nil
}

// request is what is sent; it extends the request before.
func (r *Run) request() llm.Request {
	return llm.Request{
		Model:           r.model.ID,
		System:          *r.s.system,
		Messages:        r.s.history.request(),
		Tools:           r.tools.specs,
		MaxOutputTokens: r.model.MaxOutputTokens,
	}
}

// announce shows a call while its arguments are still being written.
func (a *answer) announce(d llm.ToolUseDelta) {
	if d.Name == "" {
		return
	}
	for _, c := range a.early {
		if c.given == d.ID {
			return
		}
	}
	r := a.run
	name := r.tools.canonical(d.Name)
	c := earlyCall{id: r.s.ids.take(d.ID), given: d.ID, name: name}
	a.early = append(a.early, c)
	r.emit(ToolCall{ToolCallID: c.id, Name: name, Kind: KindOther, Title: name, Status: StatusPending})
}

// retract closes calls that were shown and will never be made.
func (a *answer) retract(why string) {
	for _, c := range a.early {
		a.run.tell(ToolCall{ToolCallID: c.id, Name: c.name, Kind: KindOther, Title: c.name, Status: StatusCancelled, Reason: why})
	}
	a.early = nil
}

// abandon ends an answer that broke off: what was shown of its text stays, its
// calls do not.
func (a *answer) abandon(err error) {
	r := a.run
	why := "the answer broke off"
	if r.ctx.Err() != nil {
		why = stoppedReason(r.stopped().reason)
	}
	a.retract(why)
	text := strings.ToValidUTF8(a.shown.String(), "\ufffd")
	if text != "" || a.thought {
		r.tell(MessageDone{MessageID: a.id, Role: string(llm.Assistant), Text: text})
	}
	if strings.TrimSpace(text) != "" {
		r.text = text
		r.s.history.add(llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{Text: text}}})
	}
}

// close makes of what came in what the history keeps and the run goes by.
func (a *answer) close() {
	r := a.run
	a.stop = a.completed.Stop
	for _, p := range a.completed.Message.Parts {
		switch p := p.(type) {
		case llm.Text:
			p.Text = strings.ToValidUTF8(p.Text, "\ufffd")
			a.text += p.Text
			if p.Text != "" {
				a.parts = append(a.parts, p)
			}
		case llm.Thought:
			a.parts = append(a.parts, p)
		case llm.ToolUse:
			if strings.TrimSpace(p.Name) == "" {
				continue // a call of nothing: no server takes it back
			}
			a.calls = append(a.calls, a.adopt(p))
			p = a.calls[len(a.calls)-1]
			p.Name = cleanName(r.tools.canonical(p.Name))
			a.parts = append(a.parts, p)
		}
	}
	a.retract("the model dropped it")
	if len(a.calls) == 0 && strings.TrimSpace(a.text) == "" {
		a.parts = nil // thoughts alone are no message that servers take back
	}
	a.finishText()
	r.usage.add(a.completed.Usage, r.model.Cost)
	r.spend(a.completed.Usage, weighAll(a.parts))
	r.s.context.measure(a.completed.Usage, r.s.history.bytes, weighAll(a.parts))
	r.tell(UsageUpdated{Usage: r.usage.total()})
}

// adopt gives a call the id it was shown with, or a new one, and arguments
// that every server takes back.
func (a *answer) adopt(use llm.ToolUse) llm.ToolUse {
	given := use.ID
	use.ID = ""
	for i, c := range a.early {
		if c.given == given {
			use.ID = c.id
			a.early = append(a.early[:i:i], a.early[i+1:]...)
			break
		}
	}
	if use.ID == "" {
		use.ID = a.run.s.ids.take(given)
	}
	input, ok := cleanInput(use.Input)
	if !ok && use.Malformed == "" {
		use.Malformed = "the arguments are not a JSON object"
	}
	use.Input = input
	return use
}

// finishText closes the deltas of the message.
func (a *answer) finishText() {
	r := a.run
	shown := strings.ToValidUTF8(a.shown.String(), "\ufffd")
	if rest, ok := strings.CutPrefix(a.text, shown); ok && rest != "" {
		// An adapter may have text that it did not stream.
		r.emit(TextDelta{MessageID: a.id, Delta: rest})
	}
	if a.text != "" || shown != "" || a.thought {
		r.tell(MessageDone{MessageID: a.id, Role: string(llm.Assistant), Text: a.text})
	}
	if strings.TrimSpace(a.text) != "" {
		r.text = a.text
	}
}

// cleanInput makes arguments fit for every server: a JSON object of valid
// UTF-8 without half surrogate pairs. ok is false where it had to be replaced.
func cleanInput(raw json.RawMessage) (_ json.RawMessage, ok bool) {
	if len(raw) == 0 {
		return json.RawMessage("{}"), true
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return json.RawMessage("{}"), false
	}
	if !utf8.Valid(raw) {
		raw = json.RawMessage(strings.ToValidUTF8(string(raw), "\ufffd"))
	}
	return wholeSurrogates(raw), true
}

// sleep waits before a request is sent again.
func (r *Run) sleep(d time.Duration) error {
	r.mail.setWaiting(true)
	defer r.mail.setWaiting(false)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}
