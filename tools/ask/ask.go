// Package ask is the tool by which a model puts a question to the user. How
// it reaches them is up to the front end, which gives an Asker; the tool
// checks what is asked and words the answer. One Tool serves a session; its
// calls run one at a time, so that a person has one question before them.
//
//	tools := []agent.Tool{ask.New(editor)}
package ask

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/tools/internal/args"
)

//go:embed ask_user.md
var description string

const schema = `{"type":"object","properties":{"question":{"type":"string","description":"The question, as the user is to read it."},"options":{"type":"array","items":{"type":"string"},"description":"Likely answers, short."},"allow_free_text":{"type":"boolean","description":"Whether another answer than the options is welcome. Default true."}},"required":["question"],"additionalProperties":false}`

// The bounds of a question that fits a message box.
const (
	maxOptions  = 10
	maxOption   = 200  // bytes
	maxQuestion = 4000 // bytes
	maxTitle    = 100  // bytes
)

// ErrNoAnswer is what an Asker returns when the user closed the question.
var ErrNoAnswer = errors.New("the user closed the question without an answer")

// Asker puts a question to a person and waits as long as they take, which
// counts to no budget. Other errors than ErrNoAnswer and that of ctx say
// why they could not be asked.
type Asker interface {
	Ask(ctx context.Context, question string, options []string, allowFreeText bool) (string, error)
}

// Tool is ask_user.
type Tool struct{ asker Asker }

// New makes the tool for one session.
func New(a Asker) *Tool { return &Tool{asker: a} }

// ReadsOnly implements agent.Reader.
func (*Tool) ReadsOnly() bool { return true }

// Spec implements agent.Tool.
func (*Tool) Spec() llm.Tool {
	return llm.Tool{Name: "ask_user", Description: strings.TrimSpace(description), Schema: json.RawMessage(schema)}
}

// Plan implements agent.Tool. The call changes nothing, yet it is not
// ReadOnly: two questions side by side would be one too many.
func (*Tool) Plan(input json.RawMessage) (agent.Plan, error) {
	q, err := decode(input)
	if err != nil {
		return agent.Plan{}, err
	}
	line, _, _ := strings.Cut(q.text, "\n")
	return agent.Plan{Kind: agent.KindOther, Title: "Ask: " + clip(line, maxTitle)}, nil
}

// Run implements agent.Tool.
func (t *Tool) Run(ctx context.Context, call agent.Call) agent.Result {
	q, err := decode(call.Input)
	if err != nil {
		return agent.Failed(err.Error())
	}
	resume := call.Pause()
	answer, err := t.asker.Ask(ctx, q.text, q.options, q.free)
	resume()
	if err == nil && !q.free && !slices.Contains(q.options, answer) || err == nil && strings.TrimSpace(answer) == "" {
		err = ErrNoAnswer
	}
	switch {
	case err == nil:
		return agent.Result{Text: "The user answered: " + answer}
	case ctx.Err() != nil:
		return agent.Result{Text: "The question was cancelled.", Status: agent.StatusCancelled}
	case errors.Is(err, ErrNoAnswer):
		return agent.Result{Text: "The user closed the question without an answer. Go on with the most careful reading and say which you took; do not ask the same again."}
	}
	return agent.Failed(fmt.Sprintf("The user could not be asked: %v. Go on without, or end your turn with the question.", err))
}

// question is what is asked.
type question struct {
	text    string
	options []string
	free    bool
}

func decode(input json.RawMessage) (question, error) {
	a, err := args.Parse(input, "question", "options", "allow_free_text")
	if err != nil {
		return question{}, err
	}
	var q question
	if q.text, err = a.Required("question"); err != nil {
		return question{}, err
	}
	if q.text = strings.TrimSpace(q.text); q.text == "" {
		return question{}, errors.New("question is empty")
	}
	if len(q.text) > maxQuestion {
		return question{}, fmt.Errorf("question has %d bytes: %d at most, ask for one thing", len(q.text), maxQuestion)
	}
	options, _, err := a.Strings("options")
	if err != nil {
		return question{}, err
	}
	for _, o := range options {
		o = strings.Join(strings.Fields(o), " ")
		if o != "" && !slices.Contains(q.options, o) {
			q.options = append(q.options, o)
		}
		if len(o) > maxOption {
			return question{}, fmt.Errorf("option %q… is too long: %d bytes at most, put the detail into the question", clip(o, maxTitle), maxOption)
		}
	}
	if len(q.options) > maxOptions {
		return question{}, fmt.Errorf("%d options: %d at most", len(q.options), maxOptions)
	}
	if q.free, err = a.Bool("allow_free_text", true); err != nil {
		return question{}, err
	}
	// Nothing to choose from leaves only words.
	q.free = q.free || len(q.options) == 0
	return q, nil
}

// clip cuts a line on a rune boundary.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
