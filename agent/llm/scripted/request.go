package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Request is a chat request as it arrived.
type Request struct {
	Body   []byte
	Header http.Header
	// The parsed body; zero where it did not parse.
	Model        string
	Messages     []Message
	Tools        []Tool
	Stream       bool
	IncludeUsage bool
	// Problem is why Strict refused it, "" if it did not.
	Problem string

	messages []json.RawMessage
	tools    json.RawMessage
	err      error
}

// Message is one entry of a request's history.
type Message struct {
	Role string
	// Content is the text of the message, parts joined.
	Content    string
	HasContent bool // the field was there, null counts
	ToolCalls  []ToolCall
	ToolCallID string
	// Reasoning is the reasoning that was sent back, nil if none was.
	Reasoning *string
}

// ToolCall is a call in an assistant's message.
type ToolCall struct{ ID, Name, Arguments string }

// Tool is a tool that a request offers.
type Tool struct {
	Name, Description string
	Parameters        json.RawMessage
}

// LastUserText is the text of the last message with the role user.
func (r *Request) LastUserText() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return r.Messages[i].Content
		}
	}
	return ""
}

// ToolResult returns what the history says about a call, by its id.
func (r *Request) ToolResult(id string) (string, bool) {
	for _, m := range r.Messages {
		if m.Role == "tool" && m.ToolCallID == id {
			return m.Content, true
		}
	}
	return "", false
}

// LastResults are the results of the last batch of calls, in order.
func (r *Request) LastResults() []string {
	var results []string
	for i := len(r.Messages) - 1; i >= 0; i-- {
		switch r.Messages[i].Role {
		case "tool":
			results = append([]string{r.Messages[i].Content}, results...)
		case "assistant":
			return results
		}
	}
	return results
}

// newRequest parses what it can; check reports what it could not.
func newRequest(body []byte, h http.Header) Request {
	r := Request{Body: body, Header: h.Clone()}
	var wire struct {
		Model         string            `json:"model"`
		Messages      []json.RawMessage `json:"messages"`
		Tools         json.RawMessage   `json:"tools"`
		Stream        bool              `json:"stream"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if r.err = json.Unmarshal(body, &wire); r.err != nil {
		return r
	}
	r.Model, r.Stream, r.IncludeUsage = wire.Model, wire.Stream, wire.StreamOptions.IncludeUsage
	r.messages, r.tools = wire.Messages, wire.Tools
	for _, raw := range wire.Messages {
		m, err := parseMessage(raw)
		if err != nil {
			r.err = err
			return r
		}
		r.Messages = append(r.Messages, m)
	}
	r.Tools, r.err = parseTools(wire.Tools)
	return r
}

func parseMessage(raw json.RawMessage) (Message, error) {
	var wire struct {
		Role             string          `json:"role"`
		Content          json.RawMessage `json:"content"`
		ReasoningContent *string         `json:"reasoning_content"`
		Reasoning        *string         `json:"reasoning"`
		ToolCallID       string          `json:"tool_call_id"`
		ToolCalls        []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return Message{}, err
	}
	m := Message{Role: wire.Role, ToolCallID: wire.ToolCallID, HasContent: wire.Content != nil, Reasoning: wire.ReasoningContent}
	if m.Reasoning == nil {
		m.Reasoning = wire.Reasoning
	}
	for _, c := range wire.ToolCalls {
		m.ToolCalls = append(m.ToolCalls, ToolCall{c.ID, c.Function.Name, c.Function.Arguments})
	}
	text, err := contentText(wire.Content)
	m.Content = text
	return m, err
}

// contentText joins the text of a content, which is a string, parts or null.
func contentText(raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String(), nil
}

func parseTools(raw json.RawMessage) ([]Tool, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var wire []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return nil, err
	}
	var tools []Tool
	for _, t := range wire {
		tools = append(tools, Tool{t.Function.Name, t.Function.Description, t.Function.Parameters})
	}
	return tools, nil
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check says what a strict server would refuse, in such a server's words where
// it has some, or "". earlier are the requests before this one.
func (r *Request) check(earlier []Request) string {
	if r.err != nil {
		return "We could not parse the JSON body of your request: " + r.err.Error()
	}
	if p := loneSurrogate(r.Body); p != "" {
		return p
	}
	for i, t := range r.Tools {
		if !toolName.MatchString(t.Name) {
			return fmt.Sprintf("Invalid 'tools[%d].function.name': string does not match pattern. Expected a string that matches the pattern '%s'.", i, toolName)
		}
	}
	if p := r.checkShape(); p != "" {
		return p
	}
	return r.checkExtends(earlier)
}

// checkShape follows calls and their results through the history.
func (r *Request) checkShape() string {
	open := map[string]bool{}
	seen := map[string]bool{}
	for i, m := range r.Messages {
		at := fmt.Sprintf("messages[%d]", i)
		if len(open) > 0 && m.Role != "tool" {
			return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: " + strings.Join(keys(open), ", ")
		}
		switch m.Role {
		case "system", "developer":
			if i > 0 {
				return fmt.Sprintf("Invalid '%s': a %s message must be the first and only one.", at, m.Role)
			}
		case "user":
			if m.Content == "" && !bytes.Contains(r.messages[i], []byte("image_url")) {
				return fmt.Sprintf("Invalid '%s.content': must not be empty.", at)
			}
		case "assistant":
			if !m.HasContent || m.Content == "" && len(m.ToolCalls) == 0 {
				return fmt.Sprintf("Invalid value for 'content': expected a string, got null, in %s.", at)
			}
			if p := checkCalls(at, m.ToolCalls, open, seen); p != "" {
				return p
			}
		case "tool":
			if !open[m.ToolCallID] {
				return fmt.Sprintf("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls' (%s, tool_call_id %q).", at, m.ToolCallID)
			}
			if !m.HasContent {
				return fmt.Sprintf("Missing required parameter: '%s.content'.", at)
			}
			delete(open, m.ToolCallID)
		default:
			return fmt.Sprintf("Invalid value: '%s' in %s.role.", m.Role, at)
		}
	}
	if len(open) > 0 {
		return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: " + strings.Join(keys(open), ", ")
	}
	return ""
}

func checkCalls(at string, calls []ToolCall, open, seen map[string]bool) string {
	for j, c := range calls {
		where := fmt.Sprintf("%s.tool_calls[%d]", at, j)
		switch {
		case c.ID == "" || len(c.ID) > 40:
			return fmt.Sprintf("Invalid '%s.id': string of length %d. Expected one of 1 to 40.", where, len(c.ID))
		case seen[c.ID]:
			return fmt.Sprintf("Invalid '%s.id': duplicate id %q.", where, c.ID)
		case !toolName.MatchString(c.Name):
			return fmt.Sprintf("Invalid '%s.function.name': string does not match pattern. Expected a string that matches the pattern '%s'.", where, toolName)
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.Arguments), &object); err != nil || object == nil {
			return fmt.Sprintf("Invalid '%s.function.arguments': must be a JSON object (%q).", where, c.Arguments)
		}
		if p := loneSurrogate([]byte(c.Arguments)); p != "" {
			return p
		}
		seen[c.ID], open[c.ID] = true, true
	}
	return ""
}

// checkExtends asks that a request which goes on with a conversation begins
// with all of an earlier request, byte for byte, its tools included: anything
// else loses the provider's prompt cache. A run in another mode may offer some
// tools more or less.
func (r *Request) checkExtends(earlier []Request) string {
	goesOn := false
	for _, m := range r.Messages {
		goesOn = goesOn || m.Role == "assistant"
	}
	if !goesOn {
		return ""
	}
	for i := range earlier {
		if e := &earlier[i]; e.err == nil && len(e.messages) < len(r.messages) && sameTools(e.Tools, r.Tools) && extends(e.messages, r.messages) {
			return ""
		}
	}
	return "scripted: this request does not extend an earlier one byte for byte"
}

// sameTools says whether the shorter list is the longer one without some.
func sameTools(a, b []Tool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, t := range b {
		if len(a) > 0 && a[0].Name == t.Name && a[0].Description == t.Description && bytes.Equal(a[0].Parameters, t.Parameters) {
			a = a[1:]
		}
	}
	return len(a) == 0
}

func extends(old, new []json.RawMessage) bool {
	for i := range old {
		if !bytes.Equal(old[i], new[i]) {
			return false
		}
	}
	return true
}

var surrogate = regexp.MustCompile(`\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)

// loneSurrogate says where JSON text escapes half a surrogate pair, or "".
func loneSurrogate(b []byte) string {
	for _, m := range surrogate.FindAllIndex(b, -1) {
		if m[1]-m[0] == 6 {
			return fmt.Sprintf("We could not parse the JSON body of your request: lone surrogate at byte %d.", m[0])
		}
	}
	return ""
}

func keys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
