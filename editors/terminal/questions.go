package terminal

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/agentls/agentls/lspserver/ext"
)

// permission is an agent/permission/request.
type permission struct {
	Title   string `json:"title"`
	Detail  string `json:"detail"`
	Rule    string `json:"rule"`
	Options []struct {
		OptionID string `json:"optionId"`
		Label    string `json:"label"`
		AddsRule string `json:"addsRule"`
	} `json:"options"`
	Subject struct {
		Command string `json:"command"`
		Cwd     string `json:"cwd"`
	} `json:"subject"`
}

// permitted answers one.
type permitted struct {
	OptionID string `json:"optionId"`
}

// answer puts a question to the user and replies. Silence, an interrupt and a
// console with nobody there never allow anything. The error is errInterrupted
// or nil.
func (r *runner) answer(q question) error {
	var reply any = cancelledAnswer
	var err error
	if r.console.Interactive && !r.o.JSON {
		if q.permission != nil {
			reply, err = r.askPermission(q.ctx, *q.permission)
		} else {
			reply, err = r.askUser(q.ctx, *q.ask)
		}
	} else if q.ask != nil {
		r.view.remark("nobody is here to answer: %s", safeLine(q.ask.Question))
	} else {
		r.view.remark("nobody is here to allow: %s", safeLine(q.permission.Title))
	}
	q.reply <- reply
	return err
}

// askPermission shows the whole of what would be allowed.
func (r *runner) askPermission(ctx context.Context, p permission) (any, error) {
	var options []string
	for _, o := range p.Options {
		label := o.Label
		if o.AddsRule != "" {
			label += " (adds the rule " + o.AddsRule + ")"
		}
		options = append(options, label)
	}
	r.print("\n%s\n", r.style().bold(exact(p.Title)))
	shown := []string{p.Subject.Command, p.Detail}
	if p.Detail == p.Subject.Command {
		shown = shown[:1]
	}
	for _, text := range shown {
		if text != "" {
			r.print("  %s\n", strings.ReplaceAll(exact(text), "\n", "\n  "))
		}
	}
	if p.Subject.Cwd != "" {
		r.print("  %s\n", r.style().dim("in "+exact(p.Subject.Cwd)))
	}
	choice, _, err := r.choose(ctx, options, false)
	if err != nil || choice < 0 {
		return cancelledAnswer, interrupted(err)
	}
	return permitted{OptionID: p.Options[choice].OptionID}, nil
}

// askUser puts the agent's own question.
func (r *runner) askUser(ctx context.Context, p ext.AskParams) (any, error) {
	r.print("\n%s\n", r.style().bold(safe(p.Question)))
	choice, text, err := r.choose(ctx, p.Options, p.AllowFreeText || len(p.Options) == 0)
	switch {
	case err != nil || choice < 0 && text == "":
		return cancelledAnswer, interrupted(err)
	case choice >= 0:
		text = p.Options[choice]
	}
	return ext.AskResult{Answer: &text}, nil
}

// choose lets the user pick an option by its number, or write an answer. An
// empty line is no choice: -1.
func (r *runner) choose(ctx context.Context, options []string, free bool) (int, string, error) {
	for i, o := range options {
		r.print("  %d) %s\n", i+1, exact(o))
	}
	hint := "a number"
	switch {
	case free && len(options) == 0:
		hint = "your answer"
	case free:
		hint = "a number or your answer"
	}
	for {
		text, err := r.prompt(ctx, hint+", Enter for none: ")
		if err != nil || text == "" {
			return -1, "", err
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(options) {
			return n - 1, "", nil
		}
		if free {
			return -1, text, nil
		}
		r.print("there is no %s\n", exact(strconv.Quote(text)))
	}
}

// prompt reads one line, without the space around it. Where the input ends it
// is empty.
func (r *runner) prompt(ctx context.Context, text string) (string, error) {
	r.print("%s", r.style().bold(text))
	line, err := r.console.readLine(ctx)
	if err != nil {
		r.print("\n")
		if ctx.Err() != nil {
			r.view.remark("the question was taken back")
		}
		if !errors.Is(err, errInterrupted) {
			return "", nil
		}
		return "", err
	}
	return strings.TrimSpace(line), nil
}

func interrupted(err error) error {
	if errors.Is(err, errInterrupted) {
		return err
	}
	return nil
}

// print writes to the console below what the view shows.
func (r *runner) print(format string, args ...any) {
	if v, ok := r.view.(*textView); ok {
		v.print(format, args...)
	} else {
		fmt.Fprintf(r.console.Err, format, args...)
	}
}

func (r *runner) style() style { return style(r.console.Color) }
