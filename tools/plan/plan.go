// Package plan is the tool by which a model shows the user the steps of its
// work. It keeps nothing: each call replaces the whole list, which goes to
// the client as an event. The server gives it to every session; calls may run
// side by side.
//
//	tools := []agent.Tool{plan.New()}
package plan

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/tools/internal/args"
)

//go:embed update_plan.md
var description string

const schema = `{"type":"object","properties":{"entries":{"type":"array","description":"The whole plan, in order.","items":{"type":"object","properties":{"text":{"type":"string","description":"One short line."},"status":{"type":"string","enum":["pending","active","done"]}},"required":["text","status"],"additionalProperties":false}}},"required":["entries"],"additionalProperties":false}`

// The bounds of a list that a person can still follow.
const (
	maxEntries = 100
	maxText    = 500 // bytes
)

// The statuses of an entry.
const (
	pending = "pending"
	active  = "active"
	done    = "done"
)

// statuses maps what models write to the protocol's words.
var statuses = map[string]string{
	"": pending, pending: pending, "todo": pending, "not_started": pending,
	active: active, "in_progress": active, "in-progress": active, "doing": active,
	done: done, "completed": done, "complete": done, "finished": done,
}

// Tool is update_plan.
type Tool struct{}

// New makes the tool. One may serve any number of sessions.
func New() Tool { return Tool{} }

// ReadsOnly implements agent.Reader: a plan is no change.
func (Tool) ReadsOnly() bool { return true }

// Spec implements agent.Tool.
func (Tool) Spec() llm.Tool {
	return llm.Tool{Name: "update_plan", Description: strings.TrimSpace(description), Schema: json.RawMessage(schema)}
}

// Plan implements agent.Tool. The call is not ReadOnly: two lists in one
// answer are shown in their order.
func (Tool) Plan(input json.RawMessage) (agent.Plan, error) {
	entries, err := decode(input)
	if err != nil {
		return agent.Plan{}, err
	}
	title := "Update the plan"
	for _, e := range entries {
		if e.Status == active {
			title = "Plan: " + e.Text
			break
		}
	}
	return agent.Plan{Kind: agent.KindThink, Title: title}, nil
}

// Run implements agent.Tool.
func (Tool) Run(_ context.Context, call agent.Call) agent.Result {
	entries, err := decode(call.Input)
	if err != nil {
		return agent.Failed(err.Error())
	}
	call.Emit(agent.PlanUpdated{Entries: entries})
	if len(entries) == 0 {
		return agent.Result{Text: "The plan was taken away."}
	}
	count := map[string]int{}
	for _, e := range entries {
		count[e.Status]++
	}
	return agent.Result{Text: fmt.Sprintf("The user sees the plan: %d done, %d active, %d pending.", count[done], count[active], count[pending])}
}

func decode(input json.RawMessage) ([]agent.PlanEntry, error) {
	a, err := args.Parse(input, "entries")
	if err != nil {
		return nil, err
	}
	list, given, err := a.Objects("entries", "text", "status")
	if !given {
		return nil, a.Missing("entries")
	}
	if err != nil {
		if texts, _, textErr := a.Strings("entries"); textErr == nil {
			return pendingEntries(texts)
		}
		return nil, err
	}
	entries := make([]agent.PlanEntry, 0, len(list))
	for i, item := range list {
		text, err := item.Required("text")
		if err != nil {
			return nil, fmt.Errorf("entries[%d]: %w", i, err)
		}
		word, _, err := item.String("status")
		if err != nil {
			return nil, fmt.Errorf("entries[%d]: %w", i, err)
		}
		status, ok := statuses[strings.ToLower(strings.TrimSpace(word))]
		if !ok {
			return nil, fmt.Errorf("entries[%d]: status %q is none of pending, active, done", i, word)
		}
		entries = append(entries, agent.PlanEntry{Text: text, Status: status})
	}
	return check(entries)
}

// pendingEntries makes a plan of texts alone.
func pendingEntries(texts []string) ([]agent.PlanEntry, error) {
	entries := make([]agent.PlanEntry, 0, len(texts))
	for _, t := range texts {
		entries = append(entries, agent.PlanEntry{Text: t, Status: pending})
	}
	return check(entries)
}

func check(entries []agent.PlanEntry) ([]agent.PlanEntry, error) {
	if len(entries) > maxEntries {
		return nil, fmt.Errorf("the plan has %d entries: %d at most, join some", len(entries), maxEntries)
	}
	for i := range entries {
		line := strings.Join(strings.Fields(entries[i].Text), " ")
		if line == "" {
			return nil, fmt.Errorf("entries[%d]: text is empty", i)
		}
		entries[i].Text = clip(line)
	}
	return entries, nil
}

// clip cuts a line on a rune boundary.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText - len("…")
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
