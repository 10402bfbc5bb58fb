package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/agentls/agentls/agent/llm"
)

// answer puts one message together from chunks. Each chunk adds deltas to out,
// which the caller empties.
type answer struct {
	out []llm.Delta

	text, thoughts        strings.Builder
	textJoin, thoughtJoin joiner
	refusalJoin           joiner
	think                 thinkSplitter
	thinkTags             bool
	refused               bool
	calls                 calls
	usage                 usageCount

	finish    string // the finish reason, "" until there is one
	choice    int    // the choice that counts: the first seen
	hasChoice bool
	// failure is what the server said went wrong in the middle of a stream.
	failure []byte

	scan scanner
	args []byte
}

// maxAnswer bounds what a server can make us keep.
const maxAnswer = 64 << 20

// size is how many bytes the answer holds.
func (a *answer) size() int { return a.text.Len() + a.thoughts.Len() + a.calls.size }

func newAnswer(r llm.Request, q quirks) *answer {
	return &answer{
		thinkTags: q.thinkTags,
		calls:     calls{tools: r.Tools, used: func() map[string]bool { return idsOf(r.Messages) }},
	}
}

func idsOf(history []llm.Message) map[string]bool {
	ids := map[string]bool{}
	for _, m := range history {
		for _, p := range m.Parts {
			if use, ok := p.(llm.ToolUse); ok {
				ids[use.ID] = true
			}
		}
	}
	return ids
}

// chunk takes one JSON object of the stream; false means that it is none.
func (a *answer) chunk(data []byte) bool {
	s := &a.scan
	s.data, s.pos, s.bad, s.depth = data, 0, false, 0
	if s.peek() != '{' {
		return false
	}
	isError := false
	s.object(func(key []byte) {
		switch string(key) {
		case "choices":
			a.choices(s)
		case "usage":
			a.usage.read(s)
		case "x_groq":
			s.object(func(key []byte) {
				if string(key) == "usage" {
					a.usage.read(s)
					return
				}
				s.skip()
			})
		case "error":
			a.readFailure(s, data)
		case "object", "type":
			isError = string(s.text()) == "error" || isError
		default:
			s.skip()
		}
	})
	if isError && a.failure == nil {
		a.failure = bytes.Clone(data)
	}
	return !s.bad && s.peek() == 0
}

// readFailure keeps the whole object, so that it reads as the body of a failed
// request does.
func (a *answer) readFailure(s *scanner, data []byte) {
	if raw := s.raw(); len(raw) > 0 && string(raw) != "null" && string(raw) != "{}" {
		a.failure = bytes.Clone(data)
	}
}

func (a *answer) choices(s *scanner) {
	position := 0
	s.array(func() {
		a.oneChoice(s, position)
		position++
	})
}

// oneChoice reads a choice. Its index may come after its delta: then the delta
// is read last.
func (a *answer) oneChoice(s *scanner, position int) {
	index, known, later := position, false, -1
	s.object(func(key []byte) {
		switch string(key) {
		case "index":
			if n, ok := s.number(); ok {
				index, known = int(n), true
			}
		case "delta", "message":
			if !known {
				s.peek()
				later = s.pos
				s.skip()
			} else if a.counts(index) {
				a.delta(s)
			} else {
				s.skip()
			}
		case "finish_reason":
			if reason := s.text(); len(reason) > 0 && a.counts(index) {
				a.finish = string(reason)
			}
		case "error":
			if raw := s.raw(); len(raw) > 0 && string(raw) != "null" {
				a.failure = fmt.Appendf(nil, `{"error":%s}`, raw)
			}
		default:
			s.skip()
		}
	})
	if later >= 0 && !s.bad && a.counts(index) {
		end := s.pos
		s.pos = later
		a.delta(s)
		s.pos = end
	}
}

func (a *answer) counts(index int) bool {
	if !a.hasChoice {
		a.choice, a.hasChoice = index, true
	}
	return index == a.choice
}

func (a *answer) delta(s *scanner) {
	thought := false // one of the names that servers give to the same text
	s.object(func(key []byte) {
		switch string(key) {
		case "content":
			a.content(s)
		case "reasoning_content", "reasoning", "thinking":
			if b := s.text(); len(b) > 0 && !thought {
				thought = true
				a.addThought(a.thoughtJoin.push(b))
			}
		case "refusal":
			if b := s.text(); len(b) > 0 {
				a.refused = true
				a.addText(a.refusalJoin.push(b))
			}
		case "tool_calls":
			sibling := false
			s.array(func() {
				a.toolCall(s, sibling)
				sibling = true
			})
		case "function_call":
			a.functionCall(s)
		default:
			s.skip()
		}
	})
}

// content is a string, or a list of parts.
func (a *answer) content(s *scanner) {
	if s.peek() != '[' {
		if b := s.text(); len(b) > 0 {
			a.addContent(a.textJoin.push(b))
		}
		return
	}
	s.array(func() {
		s.object(func(key []byte) {
			switch string(key) {
			case "text":
				if b := s.text(); len(b) > 0 {
					a.addContent(a.textJoin.push(b))
				}
			case "thinking":
				a.thinkingPart(s)
			default:
				s.skip()
			}
		})
	})
}

// thinkingPart is a string, or a list of parts with text.
func (a *answer) thinkingPart(s *scanner) {
	if s.peek() != '[' {
		a.addThought(a.thoughtJoin.push(s.text()))
		return
	}
	s.array(func() {
		s.object(func(key []byte) {
			if string(key) == "text" {
				a.addThought(a.thoughtJoin.push(s.text()))
				return
			}
			s.skip()
		})
	})
}

func (a *answer) toolCall(s *scanner, sibling bool) {
	d := callDelta{sibling: sibling}
	a.args = a.args[:0]
	s.object(func(key []byte) {
		switch string(key) {
		case "index":
			if n, ok := s.number(); ok {
				d.index, d.hasIndex = int(n), true
			}
		case "id":
			d.id = string(s.text())
		case "function":
			a.function(s, &d)
		case "name", "arguments":
			a.functionField(s, key, &d)
		default:
			s.skip()
		}
	})
	d.args = a.args
	a.addCall(d)
}

// functionCall is the form that had one call at most.
func (a *answer) functionCall(s *scanner) {
	if s.peek() != '{' {
		s.skip()
		return
	}
	d := callDelta{hasIndex: true}
	a.args = a.args[:0]
	a.function(s, &d)
	d.args = a.args
	a.addCall(d)
}

func (a *answer) function(s *scanner, d *callDelta) {
	s.object(func(key []byte) { a.functionField(s, key, d) })
}

func (a *answer) functionField(s *scanner, key []byte, d *callDelta) {
	switch string(key) {
	case "name":
		d.name = string(s.text())
	case "arguments":
		if c := s.peek(); c == '{' {
			a.args = append(a.args, s.raw()...)
		} else {
			a.args = append(a.args, s.text()...)
		}
	default:
		s.skip()
	}
}

func (a *answer) addCall(d callDelta) {
	if a.scan.bad {
		return
	}
	if c := a.calls.add(d); c != nil {
		a.out = append(a.out, llm.ToolUseDelta{ID: c.id, Name: c.name})
	}
}

func (a *answer) addContent(s string) {
	if !a.thinkTags {
		a.addText(s)
		return
	}
	thought, text := a.think.push(s)
	a.addThought(thought)
	a.addText(text)
}

func (a *answer) addText(s string) {
	if s != "" {
		a.text.WriteString(s)
		a.out = append(a.out, llm.TextDelta{Text: s})
	}
}

func (a *answer) addThought(s string) {
	if s != "" {
		a.thoughts.WriteString(s)
		a.out = append(a.out, llm.ThoughtDelta{Text: s})
	}
}

// object takes the data of an event: a chunk, or several that a server put
// into one event. It reports what it could not make sense of.
func (a *answer) object(e event) error {
	if e.lines > 1 && !json.Valid(e.data) {
		for line := range bytes.Lines(e.data) {
			if line = bytes.TrimSpace(line); len(line) > 0 && !a.chunk(line) {
				return &notJSON{string(line)}
			}
		}
		return nil
	}
	if !a.chunk(e.data) {
		return &notJSON{string(e.data)}
	}
	return nil
}

// plain takes an answer that is no stream of events: one JSON object, or some
// one after the other.
func (a *answer) plain(r io.Reader) (body []byte, err error) {
	body, err = io.ReadAll(io.LimitReader(r, maxEvent))
	if err != nil {
		return body, err
	}
	s := scanner{data: body}
	for s.peek() != 0 {
		if !a.chunk(s.raw()) || s.bad {
			return body, &notJSON{string(body)}
		}
	}
	return body, nil
}

// notJSON is data of a stream that should be JSON.
type notJSON struct{ data string }

func (e *notJSON) Error() string { return fmt.Sprintf("not JSON: %.200q", e.data) }

// callAsText is the markup in which models write calls that their server did
// not recognise.
var callAsText = regexp.MustCompile(`(?m)^\s*(<tool_call>|<function=\w|<\|tool_call|<｜tool▁call|\[TOOL_CALLS\]|<function_calls>)`)

// complete is the whole answer.
func (a *answer) complete() llm.Completed {
	a.flush()
	stop := stopOf(a.finish)
	if a.refused && stop == llm.StopEnd {
		stop = llm.StopRefusal
	}
	m := llm.Message{Role: llm.Assistant}
	if a.thoughts.Len() > 0 {
		m.Parts = append(m.Parts, llm.Thought{Text: a.thoughts.String()})
	}
	if a.text.Len() > 0 {
		m.Parts = append(m.Parts, llm.Text{Text: a.text.String()})
	}
	uses, dropped := a.calls.finish(stop)
	m.Parts = append(m.Parts, uses...)
	if dropped > 0 {
		a.out = append(a.out, llm.Notice{Severity: "warning", Code: "toolCallDropped",
			Message: "the model's server sent a tool call without a name; it was left out"})
	}
	if len(uses) == 0 && callAsText.MatchString(a.text.String()) {
		a.out = append(a.out, llm.Notice{Severity: "warning", Code: "toolCallAsText",
			Message: "the model wrote a tool call as text, which is not run: its server does not recognise this model's calls"})
	}
	return llm.Completed{Message: m, Stop: stop, Usage: a.usage.usage()}
}

// flush gives out what was held back for the rest of a rune or a tag.
func (a *answer) flush() {
	a.addThought(a.thoughtJoin.flush())
	if rest := a.textJoin.flush(); rest != "" {
		a.addContent(rest)
	}
	if a.thinkTags {
		thought, text := a.think.flush()
		a.addThought(thought)
		a.addText(text)
	}
	a.addText(a.refusalJoin.flush())
}

// stopOf sorts finish reasons. Most that are not known mean no more than that
// the model was done.
func stopOf(reason string) llm.StopReason {
	switch strings.ToLower(reason) {
	case "length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded":
		return llm.StopLength
	case "content_filter", "safety", "sensitive", "recitation", "blocklist", "prohibited_content":
		return llm.StopFilter
	case "refusal":
		return llm.StopRefusal
	}
	return llm.StopEnd
}

// failedFinish are finish reasons by which a server says that it failed.
var failedFinish = map[string]bool{
	"error": true, "network_error": true, "insufficient_system_resource": true, "abort": true,
}
