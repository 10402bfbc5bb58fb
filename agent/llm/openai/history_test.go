package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"

	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/agent/llm/scripted"
)

func encodeOf(t testing.TB, r llm.Request, q quirks) string {
	t.Helper()
	c := newClientTo(t, Options{Provider: "openai", BaseURL: "http://localhost:1"})
	b, err := c.encode(r, q)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b) || !utf8.Valid(b) {
		t.Fatalf("not valid JSON in UTF-8: %q", b)
	}
	return string(b)
}

func use(id, name, input string) llm.ToolUse {
	return llm.ToolUse{ID: id, Name: name, Input: json.RawMessage(input)}
}

func said(parts ...llm.Part) llm.Message    { return llm.Message{Role: llm.User, Parts: parts} }
func answers(parts ...llm.Part) llm.Message { return llm.Message{Role: llm.Assistant, Parts: parts} }

func TestHistory(t *testing.T) {
	for _, c := range []struct {
		name     string
		messages []llm.Message
		quirks   func(*quirks)
		want     []string
	}{
		{name: "texts", messages: []llm.Message{said(llm.Text{Text: "a"}, llm.Text{Text: "b"}), answers(llm.Text{Text: "c"})},
			want: []string{`{"role":"user","content":"a\n\nb"}`, `{"role":"assistant","content":"c"}`}},
		{name: "results before words", messages: []llm.Message{said(llm.Text{Text: "a"}), answers(use("c1", "list", `{}`), use("c2", "list", `{"a":1}`)),
			said(llm.Text{Text: "go on"}, llm.ToolResult{ToolUseID: "c1", Text: "one"}, llm.ToolResult{ToolUseID: "c2"})},
			want: []string{`{"role":"user","content":"a"}`,
				`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"list","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"list","arguments":"{\"a\":1}"}}]}`,
				`{"role":"tool","tool_call_id":"c1","content":"one"}`, `{"role":"tool","tool_call_id":"c2","content":"(no output)"}`, `{"role":"user","content":"go on"}`}},
		{name: "no null", quirks: func(q *quirks) { q.nullContent = false }, messages: []llm.Message{answers(use("c1", "list", `{}`))},
			want: []string{`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"list","arguments":"{}"}}]}`}},
		{name: "only thoughts", messages: []llm.Message{said(llm.Text{Text: "a"}), answers(llm.Thought{Text: "hm"}), said(llm.Text{Text: "b"})},
			want: []string{`{"role":"user","content":"a"}`, `{"role":"user","content":"b"}`}},
		{name: "C079 odd names", messages: []llm.Message{answers(use("a", "functions.read_file", `{}`), use("b", "read_file<|channel|>json", `{}`), use("c", strings.Repeat("n", 300), `{}`), use("d", "読む", `{}`))},
			want: []string{`{"role":"assistant","content":null,"tool_calls":[` +
				`{"id":"a","type":"function","function":{"name":"functions_read_file","arguments":"{}"}},` +
				`{"id":"b","type":"function","function":{"name":"read_file__channel__json","arguments":"{}"}},` +
				`{"id":"c","type":"function","function":{"name":"` + strings.Repeat("n", 64) + `","arguments":"{}"}},` +
				`{"id":"d","type":"function","function":{"name":"__","arguments":"{}"}}]}`}},
		{name: "image", messages: []llm.Message{said(llm.Text{Text: "what is it"}, llm.Image{MIMEType: "image/png", Data: []byte("png")})},
			want: []string{`{"role":"user","content":[{"type":"text","text":"what is it"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + base64.StdEncoding.EncodeToString([]byte("png")) + `"}}]}`}},
		{name: "C098 not UTF-8", messages: []llm.Message{said(llm.Text{Text: "a\xf0\x9f\x98 \xed\xa0\xbd <&> \u2028 \x00\x7f\t"})},
			want: []string{"{\"role\":\"user\",\"content\":\"a\\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd <&> \u2028 \\u0000\\u007f\\t\"}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := quirksOf("openai")
			if c.quirks != nil {
				c.quirks(&q)
			}
			var body struct{ Messages []json.RawMessage }
			if err := json.Unmarshal([]byte(encodeOf(t, llm.Request{Model: "m", Messages: c.messages}, q)), &body); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range body.Messages {
				got = append(got, string(m))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// C182: ids of other servers are kept apart, and a call and its result agree.
func TestForeignIDs(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"call_1", "a|b", "a_b", "a b", strings.Repeat("x", 41), strings.Repeat("x", 42), "", "toolu_01|fc_9", "é"} {
		for _, q := range []quirks{{}, {shortIDs: true}} {
			w := wireID(id, q)
			if !isSafeID(w) || q.shortIDs && len(w) != 9 {
				t.Errorf("wireID(%q) = %q", id, w)
			}
			if other, ok := seen[w]; ok {
				t.Errorf("%q and %q are both %q", id, other, w)
			}
			seen[w] = id
		}
	}
}

// The bodies are what the library's own types read: a check of field names.
func TestBodyIsOpenAIs(t *testing.T) {
	r := llm.Request{Model: "m", System: "s", MaxOutputTokens: 7, Tools: []llm.Tool{{Name: "list", Description: "d", Schema: json.RawMessage(`{ "type": "object" }`)}},
		Messages: append(thinking(), said(llm.Text{Text: "see"}, llm.Image{MIMEType: "image/png", Data: []byte{1}}))}
	for provider, q := range known {
		var p openai.ChatCompletionNewParams
		if err := json.Unmarshal([]byte(encodeOf(t, r, q)), &p); err != nil {
			t.Fatalf("%s: %v", provider, err)
		}
		if p.Model != "m" || len(p.Messages) != 5 || len(p.Tools) != 1 || p.Tools[0].OfFunction.Function.Name != "list" ||
			p.MaxTokens.Value+p.MaxCompletionTokens.Value != 7 || !p.StreamOptions.IncludeUsage.Value {
			t.Errorf("%s: %+v", provider, p)
		}
		if p.Messages[2].OfAssistant == nil || p.Messages[2].OfAssistant.ToolCalls[0].OfFunction.ID != "call_1" || p.Messages[3].OfTool.ToolCallID != "call_1" {
			t.Errorf("%s: %+v", provider, p.Messages)
		}
	}
}

// C184: the same request gives the same bytes, from the cache or not, and a
// longer one extends it.
func TestDeterminism(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := newClientTo(t, Options{Provider: "openai", BaseURL: "http://localhost:1"})
	conversations := make([][]llm.Message, 12) // more than the cache holds
	bodies := make([][]byte, len(conversations))
	for step := range 600 {
		i := rng.IntN(len(conversations))
		q := quirksOf("openai")
		if rng.IntN(4) == 0 {
			q = quirksOf("deepseek")
		}
		switch history := conversations[i]; {
		case len(history) > 10 && rng.IntN(10) == 0: // a compaction
			conversations[i] = append([]llm.Message{said(llm.Text{Text: "summary"})}, history[len(history)-2:]...)
			bodies[i] = nil
		case len(history)%2 == 0:
			conversations[i] = append(history, said(llm.Text{Text: fmt.Sprint("say ", step)}))
		default:
			conversations[i] = append(history, answers(llm.Thought{Text: "t"}, use(fmt.Sprint("id", step), "list", `{}`)),
				said(llm.ToolResult{ToolUseID: fmt.Sprint("id", step), Text: "r"}))
		}
		r := llm.Request{Model: "m", System: "s", Tools: offered, Messages: conversations[i]}
		got, err := c.encode(r, q)
		if err != nil {
			t.Fatal(err)
		}
		fresh := encodeOf(t, r, q)
		if string(got) != fresh {
			t.Fatalf("step %d: the cache gives\n%s\nnot\n%s", step, got, fresh)
		}
		if q == quirksOf("openai") {
			if old := bodies[i]; old != nil && !bytes.HasPrefix(got, old[:bytes.Index(old, []byte(`],"tools"`))]) {
				t.Fatalf("step %d: does not extend\n%s\n%s", step, old, got)
			}
			bodies[i] = got
		}
	}
}

func TestBadSchema(t *testing.T) {
	c := newClientTo(t, Options{Provider: "openai", BaseURL: "http://localhost:1"})
	a := collect(t, c, t.Context(), llm.Request{Model: "m", Messages: user("x"), Tools: []llm.Tool{{Name: "bad", Schema: json.RawMessage(`{`)}}})
	checkError(t, a.err, want{class: llm.Internal, says: "the schema of the tool bad"})
}

// C071, C072, C076, C079: whatever a server made of ids, names and arguments,
// the next request is one that a strict server takes.
func TestStrictServerTakesTheHistory(t *testing.T) {
	odd := []string{
		sse(opens(0, "Zs4", "read_file", `{"path":"a"}`), finish(`"tool_calls"`)),
		sse(opens(0, "Zs4", "read_file", `{"path":"b"}`), finish(`"tool_calls"`)),
		sse(opens(0, "", "list", "{}"), opens(1, "", "list", "{}"), finish(`"tool_calls"`)),
		sse(opens(0, strings.Repeat("i", 60), "functions.read_file", `{"path":"a\x"`), finish(`"tool_calls"`)),
		sse(opens(0, "a|b", strings.Repeat("n", 300), `{"a":"\ud83d"}`), finish(`"tool_calls"`)),
		sse(opens(0, "Zs4", "write_file", `{"path":"big.md","content":"# Ti`), finish(`"length"`)),
		sse(delta(`"content":"\ud83d half"`), finish(`"stop"`)),
		sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"","type":"function"}]},"finish_reason":"tool_calls"}]}`),
	}
	var script scripted.Script
	script.Strict = true
	for _, body := range odd {
		script.Replies = append(script.Replies, scripted.Reply{Steps: []scripted.Step{scripted.Raw(body), scripted.End()}})
	}
	script.Replies = append(script.Replies, scripted.Reply{Steps: []scripted.Step{scripted.Say("done")}})
	for _, provider := range []string{"openai", "deepseek", "ollama"} {
		srv, err := scripted.Start(script)
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		c := newClientTo(t, Options{Provider: provider, BaseURL: srv.URL()})
		r := llm.Request{Model: "m", System: "s", Messages: user("x"), Tools: offered}
		for turn := range script.Replies {
			a := collect(t, c, t.Context(), r)
			if a.err != nil {
				t.Fatalf("%s, turn %d: %v", provider, turn, a.err)
			}
			next := said(llm.Text{Text: "go on"})
			for _, u := range a.calls() {
				next.Parts = append(next.Parts, llm.ToolResult{ToolUseID: u.ID, Text: "result of " + u.Name + u.Malformed})
			}
			if len(a.completed.Message.Parts) > 0 {
				r.Messages = append(r.Messages, a.completed.Message)
			}
			r.Messages = append(r.Messages, next)
		}
	}
}
