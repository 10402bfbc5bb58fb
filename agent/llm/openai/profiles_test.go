package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/agentls/agentls/agent/llm"
)

// profile is a server that refuses some requests: it returns the error's
// body, or "" for a request that it takes.
type profile func(body map[string]any) string

// strictServer answers "ok" to what its profile takes, and keeps the bodies.
type strictServer struct {
	url string
	mu  sync.Mutex
	got []map[string]any
}

func serveProfile(t *testing.T, status int, p profile) *strictServer {
	s := &strictServer{}
	s.url = serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body map[string]any
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Errorf("the body %s: %v", raw, err)
		}
		s.mu.Lock()
		s.got = append(s.got, body)
		s.mu.Unlock()
		if refusal := p(body); refusal != "" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, refusal)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, sse(delta(`"content":"ok"`), finish(`"stop"`), done))
	})
	return s
}

func (s *strictServer) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got)
}

// refuses is a profile that refuses a request with one of the fields.
func refuses(reply string, fields ...string) profile {
	return func(body map[string]any) string {
		for _, f := range fields {
			if _, ok := body[f]; ok {
				return reply
			}
		}
		return ""
	}
}

func refusesRole(role, reply string) profile {
	return func(body map[string]any) string {
		if at(body, "messages", 0, "role") == role {
			return reply
		}
		return ""
	}
}

// at follows names and indices into JSON.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// thinking is a history with a tool call that followed reasoning.
func thinking() []llm.Message {
	return append(user("x"),
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Thought{Text: "plan"}, llm.ToolUse{ID: "call_1", Name: "list", Input: json.RawMessage(`{}`)}}},
		llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ToolUseID: "call_1", Text: "a.go"}}})
}

func openAIError(message, code, param string) string {
	b, err := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "code": code, "param": param}})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// C082 and C095: each server refuses something; the request is said once more
// without it, and never again with it.
func TestAdjustments(t *testing.T) {
	for _, c := range []struct {
		name     string
		provider string
		quirks   func(*quirks)
		profile  profile
		status   int
	}{
		{name: "max_tokens", provider: "custom", profile: refuses(openAIError("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "unsupported_parameter", "max_tokens"), "max_tokens")},
		{name: "max_completion_tokens", provider: "openai", profile: refuses(openAIError("Unrecognized request argument supplied: max_completion_tokens", "", ""), "max_completion_tokens")},
		{name: "max_tokens too large", provider: "custom", profile: func(b map[string]any) string {
			if n, _ := b["max_tokens"].(float64); n > 16384 {
				return openAIError("max_tokens is too large: 20000. This model supports at most 16384 completion tokens, whereas you provided 20000.", "invalid_value", "max_tokens")
			}
			return ""
		}},
		{name: "max_tokens in a range", provider: "custom", profile: func(b map[string]any) string {
			if n, _ := b["max_tokens"].(float64); n > 8192 {
				return `{"message":"` + "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model" + `"}`
			}
			return ""
		}},
		{name: "stream_options", provider: "custom", profile: refuses(openAIError("Unrecognized request argument supplied: stream_options", "", ""), "stream_options")},
		{name: "stream_options, FastAPI", provider: "custom", status: 422, profile: refuses(`{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, "stream_options")},
		{name: "parallel_tool_calls", provider: "aliyun", profile: refuses(openAIError("Unknown parameter: 'parallel_tool_calls'.", "unknown_parameter", "parallel_tool_calls"), "parallel_tool_calls")},
		{name: "two of them", provider: "aliyun", profile: func(b map[string]any) string {
			return orElse(refuses(openAIError("Unknown parameter: 'parallel_tool_calls'.", "", ""), "parallel_tool_calls")(b), refuses(openAIError("Unknown parameter: 'stream_options'.", "", ""), "stream_options")(b))
		}},
		{name: "developer", provider: "custom", quirks: func(q *quirks) { q.systemRole = "developer" }, profile: refusesRole("developer", openAIError("developer is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.0.role'", "", "messages[0].role"))},
		{name: "system", provider: "custom", profile: refusesRole("system", openAIError("Unsupported value: 'messages[0].role' does not support 'system' with this model.", "unsupported_value", "messages[0].role"))},
		{name: "system, in words", provider: "custom", profile: refusesRole("system", `{"error":"System role not supported"}`)},
		{name: "reasoning wanted", provider: "custom", profile: func(b map[string]any) string {
			if at(b, "messages", 2, "reasoning_content") != "plan" {
				return openAIError("The reasoning_content in the thinking mode must be passed back to the API.", "invalid_request_error", "")
			}
			return ""
		}},
		{name: "reasoning wanted, Kimi", provider: "custom", profile: func(b map[string]any) string {
			if at(b, "messages", 2, "reasoning_content") != "plan" {
				return openAIError("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2", "", "")
			}
			return ""
		}},
		{name: "reasoning refused", provider: "deepseek", profile: func(b map[string]any) string {
			if at(b, "messages", 2, "reasoning_content") != nil {
				return openAIError("property 'reasoning_content' is unsupported", "", "messages[2].reasoning_content")
			}
			return ""
		}},
		{name: "null content", provider: "openai", profile: func(b map[string]any) string {
			if at(b, "messages", 2, "content") == nil {
				return `{"detail":[{"loc":["body","messages",2,"content"],"msg":"Input should be a valid string"}]}`
			}
			return ""
		}},
		{name: "short ids", provider: "custom", profile: func(b map[string]any) string {
			id, _ := at(b, "messages", 2, "tool_calls", 0, "id").(string)
			if len(id) != 9 || at(b, "messages", 3, "tool_call_id") != id {
				return `{"object":"error","message":"Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","code":3280}`
			}
			return ""
		}},
		{name: "schema", provider: "custom", profile: func(b map[string]any) string {
			if _, ok := at(b, "tools", 0, "function", "parameters", "additionalProperties").(bool); ok {
				return `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].function.parameters': Cannot find field.","status":"INVALID_ARGUMENT"}}]`
			}
			return ""
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := serveProfile(t, max(c.status, 400), c.profile)
			m := newClientTo(t, Options{Provider: c.provider, BaseURL: srv.url})
			if c.quirks != nil {
				c.quirks(&m.quirks)
			}
			r := llm.Request{Model: "m", System: "s", MaxOutputTokens: 20000, Messages: thinking(), Tools: []llm.Tool{
				{Name: "list", Schema: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string","minLength":1}},"additionalProperties":false}`)}}}
			a := collect(t, m, t.Context(), r)
			if a.err != nil || a.text != "ok" {
				t.Fatalf("got %+v", a)
			}
			if len(a.notices) == 0 || a.notices[0].Code != "parameter" {
				t.Errorf("notices %+v", a.notices)
			}
			before := srv.requests()
			if a = collect(t, m, t.Context(), r); a.err != nil || len(a.notices) > 0 || srv.requests() != before+1 {
				t.Errorf("not remembered: %d requests after %d, %+v", srv.requests(), before, a)
			}
		})
	}
}

// A refusal that names nothing we could leave out is the user's to see, once.
func TestNoAdjustment(t *testing.T) {
	for _, message := range []string{
		"Unsupported value: 'temperature' does not support 0.2 with this model.",
		"Unknown parameter: 'parallel_tool_calls'.",
		"max_tokens is too large: 1. This model supports at most zero",
	} {
		srv := serveProfile(t, 400, func(map[string]any) string { return openAIError(message, "", "") })
		m := newClientTo(t, Options{Provider: "openai", BaseURL: srv.url})
		a := collect(t, m, t.Context(), llm.Request{Model: "m", Messages: user("x")})
		checkError(t, a.err, want{class: llm.BadRequest, says: message})
		if srv.requests() != 1 {
			t.Errorf("%d requests for %q", srv.requests(), message)
		}
	}
}

// A server that refuses whatever is tried is asked a few times at most.
func TestAdjustmentsEnd(t *testing.T) {
	srv := serveProfile(t, 400, func(map[string]any) string {
		return openAIError("max_tokens max_completion_tokens stream_options parallel_tool_calls reasoning content is null, system role unsupported", "", "")
	})
	m := newClientTo(t, Options{Provider: "aliyun", BaseURL: srv.url})
	a := collect(t, m, t.Context(), llm.Request{Model: "m", System: "s", Messages: user("x"), Tools: offered, MaxOutputTokens: 5})
	checkError(t, a.err, want{class: llm.BadRequest, says: "stream_options"})
	if n := srv.requests(); n != maxAdjustments+1 {
		t.Errorf("%d requests", n)
	}
}

// C082: who gets the reasoning back.
func TestReasoningBack(t *testing.T) {
	for provider, back := range map[string]bool{
		"openai": false, "deepseek": true, "moonshot": true, "groq": false, "aliyun": false, "custom": false,
	} {
		srv := serveProfile(t, 400, func(map[string]any) string { return "" })
		m := newClientTo(t, Options{Provider: provider, BaseURL: srv.url})
		history := append(thinking(), llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "call_2", Name: "list", Input: json.RawMessage(`{}`)}}},
			llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ToolUseID: "call_2"}}})
		if a := collect(t, m, t.Context(), llm.Request{Model: "m", Messages: history}); a.err != nil {
			t.Fatal(a.err)
		}
		for i, text := range map[int]any{1: "plan", 3: ""} {
			got, ok := at(srv.got[0], "messages", i).(map[string]any)["reasoning_content"]
			if ok != back || back && got != text {
				t.Errorf("%s: reasoning_content of message %d is %v, %v", provider, i, got, ok)
			}
		}
		for _, m := range srv.got[0]["messages"].([]any) {
			if _, ok := m.(map[string]any)["reasoning"]; ok {
				t.Errorf("%s: %v", provider, m)
			}
		}
	}
}

func TestFewestFields(t *testing.T) {
	srv := serveProfile(t, 400, func(map[string]any) string { return "" })
	m := newClientTo(t, Options{Provider: "custom", BaseURL: srv.url})
	if a := collect(t, m, t.Context(), llm.Request{Model: "m", Messages: user("x")}); a.err != nil {
		t.Fatal(a.err)
	}
	want := `map[messages:[map[content:x role:user]] model:m stream:true stream_options:map[include_usage:true]]`
	if got := fmt.Sprint(srv.got[0]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// C106.
func TestModelTrouble(t *testing.T) {
	for body, w := range map[string]want{
		`{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error"}}`: {class: llm.BadRequest, says: `model "x" not found, try pulling it first`},
		`{"error":{"message":"registry.ollama.ai/library/x does not support tools"}}`:            {class: llm.BadRequest, says: "cannot call tools"},
	} {
		status := 400
		if strings.Contains(body, "not found") {
			status = 404
		}
		srv := serveProfile(t, status, func(map[string]any) string { return body })
		m := newClientTo(t, Options{Provider: "ollama", BaseURL: srv.url})
		checkError(t, collect(t, m, t.Context(), llm.Request{Model: "x", Messages: user("x"), Tools: offered}).err, w)
		if srv.requests() != 1 {
			t.Errorf("%d requests", srv.requests())
		}
	}
}
