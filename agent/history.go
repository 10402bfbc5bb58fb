package agent

import (
	"slices"
	"unicode/utf8"

	"github.com/agentls/agentls/agent/llm"
)

// history is what the model is told again with each request. It only grows,
// so that a request extends the one before, but for replace. Every ToolUse in
// it has its one ToolResult in the message after it, except while a batch runs:
// then the results are among the open parts.
type history struct {
	messages []llm.Message
	// open are the parts of a user message that goes with the next request:
	// results of calls, what the review says, steers.
	open []llm.Part
	// bytes is the size of messages and open, as weigh counts.
	bytes int
	// live is the index of the message that holds the prompt of the run under way.
	live int

	record func(typ string, v any)
}

// add appends a message and stores it.
func (h *history) add(m llm.Message) {
	if len(m.Parts) == 0 {
		return
	}
	h.messages = append(h.messages, m)
	h.bytes += weighAll(m.Parts)
	h.record(recordMessage, recordOf(m))
}

// endsWith reports whose the last message is.
func (h *history) endsWith(role llm.Role) bool {
	return len(h.messages) > 0 && h.messages[len(h.messages)-1].Role == role
}

// put adds to the message that goes with the next request.
func (h *history) put(parts ...llm.Part) {
	h.open = append(h.open, parts...)
	h.bytes += weighAll(parts)
}

// say puts a text, if there is one.
func (h *history) say(text string) {
	if text != "" {
		h.put(llm.Text{Text: text})
	}
}

// close makes a message of the open parts.
func (h *history) close() {
	parts := h.open
	h.open = nil
	h.bytes -= weighAll(parts)
	h.add(llm.Message{Role: llm.User, Parts: parts})
}

// settle gives each call of the last answer that has no result yet a synthetic
// one that says text.
func (h *history) settle(text string) {
	if len(h.messages) == 0 {
		return
	}
	last := h.messages[len(h.messages)-1]
	calls := callsOf(last)
	if last.Role != llm.Assistant || len(calls) == 0 {
		return
	}
	results, rest := sortResults(calls, h.open, text)
	h.bytes -= weighAll(h.open)
	h.open = nil
	h.put(append(results, rest...)...)
}

// callsOf lists the ids of a message's calls.
func callsOf(m llm.Message) (ids []string) {
	for _, p := range m.Parts {
		if use, ok := p.(llm.ToolUse); ok {
			ids = append(ids, use.ID)
		}
	}
	return ids
}

// request returns the messages to send. Later additions do not show in it.
func (h *history) request() []llm.Message {
	h.close()
	return slices.Clip(h.messages)
}

// replace puts other messages in the place of all, which a compaction does.
func (h *history) replace(messages []llm.Message) {
	h.set(messages)
	r := historyRecord{Messages: make([]messageRecord, len(messages))}
	for i, m := range messages {
		r.Messages[i] = recordOf(m)
	}
	h.record(recordHistory, r)
}

// set is replace without storing it.
func (h *history) set(messages []llm.Message) {
	h.messages, h.bytes = messages, weighAll(h.open)
	for _, m := range messages {
		h.bytes += weighAll(m.Parts)
	}
}

// imageWeight is about what an image costs in bytes of text.
const imageWeight = 6000

// weigh is the size of a part in bytes of text.
func weigh(p llm.Part) int {
	const frame = 16 // roles, ids and braces
	switch p := p.(type) {
	case llm.Text:
		return frame + len(p.Text)
	case llm.Thought:
		return frame + len(p.Text) + len(p.Signature)
	case llm.ToolUse:
		return frame + len(p.ID) + len(p.Name) + len(p.Input)
	case llm.ToolResult:
		return frame + len(p.ToolUseID) + len(p.Text)
	case llm.Image:
		return imageWeight
	}
	return frame
}

func weighAll(parts []llm.Part) (n int) {
	for _, p := range parts {
		n += weigh(p)
	}
	return n
}

// The texts that stand in for what is not known any more.
const (
	lostResult  = "The server was stopped before the result of this call was stored. It may or may not have taken effect: look before you rely on it."
	lostMessage = "[A part of this conversation could not be read back and is missing here.]"
)

// repair makes messages that were read back valid: each ToolUse gets its one
// result, results without a call are dropped, and two answers in a row are
// parted. What is valid stays as it is.
func repair(messages []llm.Message) []llm.Message {
	var out []llm.Message
	var calls []string // of the answer before
	answered := true   // the last message was a user's
	answer := func(parts []llm.Part) []llm.Part {
		results, rest := sortResults(calls, parts, lostResult)
		calls = nil
		return append(results, rest...)
	}
	for _, m := range messages {
		if m.Role == llm.User {
			if m.Parts = answer(m.Parts); len(m.Parts) > 0 {
				out = append(out, m)
				answered = true
			}
			continue
		}
		if len(calls) > 0 {
			out = append(out, llm.Message{Role: llm.User, Parts: answer(nil)})
		} else if !answered || len(out) == 0 {
			out = append(out, llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{Text: lostMessage}}})
		}
		calls = callsOf(m)
		out = append(out, m)
		answered = false
	}
	if len(calls) > 0 {
		out = append(out, llm.Message{Role: llm.User, Parts: answer(nil)})
	}
	return out
}

// sortResults takes from parts the results of calls, in their order, and makes
// those that are missing, which say text. rest is what is no result.
func sortResults(calls []string, parts []llm.Part, text string) (results, rest []llm.Part) {
	byID := map[string]llm.ToolResult{}
	for _, p := range parts {
		if r, ok := p.(llm.ToolResult); ok {
			if _, twice := byID[r.ToolUseID]; !twice {
				byID[r.ToolUseID] = r
			}
			continue
		}
		rest = append(rest, p)
	}
	for _, id := range calls {
		r, ok := byID[id]
		if !ok {
			r = llm.ToolResult{ToolUseID: id, Text: text, IsError: true}
		}
		results = append(results, r)
	}
	return results, rest
}

// clip cuts s to at most n bytes, on a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
