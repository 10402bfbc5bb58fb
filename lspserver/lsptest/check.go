package lsptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Check fails the test for every rule that the server broke: those of LSP and
// of the protocol that were seen to be broken, and those that can only be
// judged at the end. Close calls it.
func (e *Editor) Check() {
	e.t.Helper()
	if problems := e.problems(); len(problems) > 0 {
		e.Errorf("%s", strings.Join(problems, "\n"))
	}
}

func (e *Editor) problems() []string {
	e.record.mu.Lock()
	problems := slices.Clone(e.record.breaches)
	// Whoever stopped reading does not know how it ended.
	unread := e.record.paused != nil
	for id, r := range e.record.follow.runs {
		if unread {
			break
		}
		if e.profile.Agent != nil && r.ended != 1 {
			problems = append(problems, fmt.Sprintf("run %s has ended %d times", id, r.ended))
		}
	}
	for token, state := range e.record.follow.progress {
		if state == "begin" && !unread {
			problems = append(problems, fmt.Sprintf("progress %s has no end", token))
		}
	}
	e.record.mu.Unlock()
	if err := e.disk.check(); err != nil {
		problems = append(problems, err.Error())
	}
	slices.Sort(problems)
	return problems
}

// CheckNowhere fails the test if a secret stands in any frame of the server.
func (e *Editor) CheckNowhere(secret string) {
	e.t.Helper()
	for _, f := range e.Frames() {
		if f.FromServer && strings.Contains(string(f.Body), secret) {
			e.Errorf("a frame holds the secret %q: %s", secret, f)
		}
	}
}

// CheckRequests holds the bodies of chat requests against what strict servers
// ask for: each call has exactly one result, later and with its id, arguments
// are JSON objects, and each request extends one before it or begins a
// conversation.
func CheckRequests(bodies [][]byte) error {
	var earlier []chatRequest
	for i, body := range bodies {
		var r chatRequest
		if err := json.Unmarshal(body, &r); err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
		if err := r.paired(); err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
		begins := r.turns() <= 1
		if !begins && !slices.ContainsFunc(earlier, r.extends) {
			return fmt.Errorf("request %d extends none of those before it", i+1)
		}
		earlier = append(earlier, r)
	}
	return nil
}

type chatRequest struct {
	Messages []json.RawMessage `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
}

type chatMessage struct {
	Role       string `json:"role"`
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// turns counts the answers of the model in the history, and one more.
func (r chatRequest) turns() int {
	n := 1
	for _, raw := range r.Messages {
		var m chatMessage
		if json.Unmarshal(raw, &m) == nil && m.Role == "assistant" {
			n++
		}
	}
	return n
}

func (r chatRequest) paired() error {
	open := map[string]bool{}
	answered := map[string]bool{}
	for _, raw := range r.Messages {
		var m chatMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Errorf("a %s message where %d calls have no result", m.Role, len(open))
		}
		for _, c := range m.ToolCalls {
			var object map[string]any
			if err := json.Unmarshal([]byte(c.Function.Arguments), &object); err != nil {
				return fmt.Errorf("call %s: arguments that are no object: %q", c.ID, c.Function.Arguments)
			}
			if c.ID == "" || open[c.ID] || answered[c.ID] {
				return fmt.Errorf("call id %q is empty or there twice", c.ID)
			}
			open[c.ID] = true
		}
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				return fmt.Errorf("a result for %q, which waits for none", m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			answered[m.ToolCallID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%d calls have no result", len(open))
	}
	return nil
}

// extends says whether r goes on from before, with the same tools or, in
// another mode, with some of them.
func (r chatRequest) extends(before chatRequest) bool {
	if len(r.Messages) < len(before.Messages) || !sameTools(r.Tools, before.Tools) {
		return false
	}
	for i, m := range before.Messages {
		if string(m) != string(r.Messages[i]) {
			return false
		}
	}
	return true
}

// sameTools says whether the shorter list is the longer one without some.
func sameTools(a, b []json.RawMessage) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, t := range b {
		if len(a) > 0 && string(a[0]) == string(t) {
			a = a[1:]
		}
	}
	return len(a) == 0
}
