package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, s Script) *Server {
	t.Helper()
	srv, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		srv.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return srv
}

func parse(t *testing.T, text string) Script {
	t.Helper()
	s, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// body is a request with the messages, each a JSON object.
func body(messages ...string) string {
	return `{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"list","parameters":{"type":"object"}}}],"messages":[` + strings.Join(messages, ",") + `]}`
}

func say(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func post(t *testing.T, srv *Server, body string) *http.Response {
	t.Helper()
	res, err := http.Post(srv.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// told is what a stream says, put together.
type told struct {
	text, thoughts, finish string
	calls                  []ToolCall
	deltas                 int
	usage                  *usage
	done                   bool
	err                    error
}

func read(t *testing.T, res *http.Response) told {
	t.Helper()
	var got told
	raw, err := io.ReadAll(res.Body)
	got.err = err
	for event := range strings.SplitSeq(string(raw), "\n\n") {
		data, ok := strings.CutPrefix(event, "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			got.done = true
			continue
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if c.Usage != nil {
			got.usage = c.Usage
		}
		for _, choice := range c.Choices {
			got.add(choice)
		}
	}
	return got
}

func (g *told) add(c choice) {
	g.deltas++
	if c.Delta.Content != nil {
		g.text += *c.Delta.Content
	}
	if c.Delta.Reasoning != nil {
		g.thoughts += *c.Delta.Reasoning
	}
	for _, call := range c.Delta.ToolCalls {
		if call.ID != "" {
			g.calls = append(g.calls, ToolCall{ID: call.ID, Name: call.Function.Name})
		}
		g.calls[call.Index].Arguments += call.Function.Arguments
	}
	if c.Finish != nil {
		g.finish = *c.Finish
	}
}

const script = `
# All of it.
chunk 3
wire 5
model small window=8192
model large

reply
think a file 思
say "Looking\n😀 at it."
call edit_file {"path":"a.go"}
call write_file <<END
{"path": "b.go",
 "content": "x"}
END
usage in=10 out=5 cached=3 reasoning=2

reply when second
say <<.
two
lines
.
finish length
`

func TestReply(t *testing.T) {
	srv := start(t, parse(t, script))
	got := read(t, post(t, srv, body(say("first"))))
	if got.text != "Looking\n😀 at it." || got.thoughts != "a file 思" || got.finish != "tool_calls" || !got.done || got.deltas < 15 {
		t.Errorf("%+v", got)
	}
	if len(got.calls) != 2 || got.calls[0].Arguments != `{"path":"a.go"}` || got.calls[1].Name != "write_file" || !strings.Contains(got.calls[1].Arguments, ",\n") {
		t.Errorf("calls %+v", got.calls)
	}
	if u := got.usage; u == nil || u.Prompt != 10 || u.Completion != 5 || u.PromptDetails.Cached != 3 || u.CompletionDetails.Reasoning != 2 {
		t.Errorf("usage %+v", u)
	}
	if srv.Unused() != 1 {
		t.Errorf("%d unused", srv.Unused())
	}
	got = read(t, post(t, srv, body(say("the second one"))))
	if got.text != "two\nlines" || got.finish != "length" || got.usage != nil {
		t.Errorf("%+v", got)
	}
	res := post(t, srv, body(say("third")))
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d when the script is over", res.StatusCode)
	}
	if n := len(srv.Requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
}

// Several conversations at once: each gets the replies that are meant for it.
func TestWhen(t *testing.T) {
	srv := start(t, parse(t, "reply when apples\nsay red\nreply when pears\nsay green\nreply\nsay any\n"))
	for _, c := range [][2]string{{"pears", "green"}, {"plums", "any"}, {"apples", "red"}} {
		if got := read(t, post(t, srv, body(say(c[0])))); got.text != c[1] {
			t.Errorf("%s: %q", c[0], got.text)
		}
	}
}

func TestNoUsageUnlessAsked(t *testing.T) {
	srv := start(t, parse(t, "reply\nusage in=1 out=1\n"))
	if got := read(t, post(t, srv, `{"stream":true,"messages":[]}`)); got.usage != nil || !got.done {
		t.Errorf("%+v", got)
	}
}

func TestHold(t *testing.T) {
	srv := start(t, parse(t, "reply\nsay a\nhold here\nsay b\n"))
	res := post(t, srv, body(say("x")))
	<-srv.Reached("here")
	srv.Release("here")
	srv.Release("here") // once more is no harm
	if got := read(t, res); got.text != "ab" {
		t.Errorf("%+v", got)
	}
}

// Close ends a reply that holds, and so does a client that leaves.
func TestCloseInHold(t *testing.T) {
	srv := start(t, parse(t, "reply\nhold here\nreply\nhold there\n"))
	post(t, srv, body(say("x")))
	<-srv.Reached("here")
	res := post(t, srv, body(say("x")))
	<-srv.Reached("there")
	_ = res.Body.Close()
	srv.Close()
}

func TestEndings(t *testing.T) {
	srv := start(t, parse(t, "reply\nsay a\nend\nreply\nsay a\ncut\nreply\nraw data: {\"choices\":[]}\nraw\ndelay 1ms\n"))
	if got := read(t, post(t, srv, body(say("x")))); got.err != nil || got.done || got.finish != "" {
		t.Errorf("end: %+v", got)
	}
	if got := read(t, post(t, srv, body(say("x")))); got.err == nil {
		t.Errorf("cut: %+v", got)
	}
	if got := read(t, post(t, srv, body(say("x")))); got.err != nil || !got.done {
		t.Errorf("raw: %+v", got)
	}
}

func TestStatus(t *testing.T) {
	srv := start(t, parse(t, "reply\nstatus 429 {\"error\":\"slow down\"}\nheader Retry-After: 1\nreply\nsay ok\n"))
	res := post(t, srv, body(say("x")))
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 429 || res.Header.Get("Retry-After") != "1" || string(raw) != `{"error":"slow down"}` {
		t.Errorf("%d %v %s %v", res.StatusCode, res.Header, raw, err)
	}
	if got := read(t, post(t, srv, body(say("x")))); got.text != "ok" {
		t.Errorf("%+v", got)
	}
}

func TestModels(t *testing.T) {
	for text, want := range map[string]string{
		"":                            `{"object":"list","data":[{"id":"scripted","object":"model"}]}`,
		"model a window=5\nmodel b\n": `{"object":"list","data":[{"id":"a","object":"model","context_length":5},{"id":"b","object":"model"}]}`,
	} {
		srv := start(t, parse(t, text))
		res, err := http.Get(srv.URL() + "/models")
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || string(raw) != want {
			t.Errorf("%s, %v", raw, err)
		}
	}
}

func TestAwait(t *testing.T) {
	srv := start(t, parse(t, "reply\nreply\n"))
	got := make(chan int)
	go func() {
		requests, err := srv.Await(t.Context(), 2)
		if err != nil {
			t.Error(err)
		}
		got <- len(requests)
	}()
	post(t, srv, body(say("x")))
	post(t, srv, body(say("x")))
	if n := <-got; n != 2 {
		t.Errorf("%d requests", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := srv.Await(ctx, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestRequest(t *testing.T) {
	srv := start(t, parse(t, "reply\n"))
	post(t, srv, body(say("x"),
		`{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"list","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"list","arguments":"{}"}}]}`,
		`{"role":"tool","tool_call_id":"a","content":"one"}`, `{"role":"tool","tool_call_id":"b","content":"two"}`,
		`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:"}}]}`))
	r := srv.Requests()[0]
	if r.Model != "m" || len(r.Messages) != 5 || r.LastUserText() != "see" || r.Tools[0].Name != "list" {
		t.Errorf("%+v", r)
	}
	if got := fmt.Sprint(r.LastResults()); got != "[one two]" {
		t.Errorf("results %s", got)
	}
	if s, ok := r.ToolResult("b"); s != "two" || !ok {
		t.Errorf("%q %v", s, ok)
	}
	if m := r.Messages[1]; !m.HasContent || m.Reasoning == nil || *m.Reasoning != "hm" {
		t.Errorf("%+v", m)
	}
}

const (
	called  = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"list","arguments":"{}"}}]}`
	result  = `{"role":"tool","tool_call_id":"a","content":"r"}`
	answers = `{"role":"assistant","content":"ok"}`
)

func TestStrict(t *testing.T) {
	long := strings.Repeat("i", 41)
	for name, c := range map[string]struct {
		messages []string
		says     string // "" is taken
	}{
		"prompt":                   {[]string{say("x")}, ""},
		"call and result":          {[]string{say("x"), called, result}, ""},
		"user after result":        {[]string{say("x"), called, result, say("y")}, ""},
		"two users":                {[]string{say("x"), say("y")}, ""},
		"no result":                {[]string{say("x"), called, say("y")}, "tool_call_id"},
		"no result at end":         {[]string{say("x"), called}, "tool_call_id"},
		"result of nobody":         {[]string{say("x"), result}, "preceeding"},
		"result twice":             {[]string{say("x"), called, result, result}, "preceeding"},
		"id twice":                 {[]string{say("x"), called, result, called, result}, "duplicate"},
		"long id":                  {[]string{say("x"), strings.ReplaceAll(called, `"a"`, `"`+long+`"`)}, "40"},
		"odd name":                 {[]string{say("x"), strings.ReplaceAll(called, `"list"`, `"functions.list"`)}, "pattern"},
		"bad arguments":            {[]string{say("x"), strings.ReplaceAll(called, `"{}"`, `"{"`)}, "JSON object"},
		"arguments no object":      {[]string{say("x"), strings.ReplaceAll(called, `"{}"`, `"[1]"`)}, "JSON object"},
		"half a pair in arguments": {[]string{say("x"), strings.ReplaceAll(called, `"{}"`, `"{\"a\":\"\\ud83d\"}"`)}, "lone surrogate"},
		"half a pair":              {[]string{`{"role":"user","content":"\ud83d"}`}, "lone surrogate"},
		"a whole pair":             {[]string{`{"role":"user","content":"\ud83d\ude00 \\ud83d"}`}, ""},
		"no content":               {[]string{say("x"), strings.ReplaceAll(called, `"content":null,`, ``)}, "content"},
		"empty answer":             {[]string{say("x"), `{"role":"assistant","content":""}`}, "content"},
		"empty prompt":             {[]string{say("")}, "empty"},
		"system in the middle":     {[]string{say("x"), `{"role":"system","content":"y"}`}, "first and only"},
		"unknown role":             {[]string{`{"role":"robot","content":"y"}`}, "robot"},
		"not JSON":                 {[]string{`{`}, "could not parse"},
		"out of nowhere":           {[]string{say("z"), answers, say("y")}, "does not extend"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := start(t, Script{Strict: true, Replies: []Reply{{}, {}}})
			post(t, srv, body(say("x"))) // what most of these extend
			res := post(t, srv, body(c.messages...))
			raw, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if want := 200 + 200*min(len(c.says), 1); res.StatusCode != want || !strings.Contains(string(raw), c.says) {
				t.Errorf("%d %s, want %d %q", res.StatusCode, raw, want, c.says)
			}
			if p := srv.Requests()[1].Problem; (p != "") != (c.says != "") {
				t.Errorf("problem %q", p)
			}
		})
	}
}

// A conversation that goes on in another mode has fewer tools, or more, but
// none that changed its words or its place.
func TestStrictTools(t *testing.T) {
	tool := func(name, description string) string {
		return `{"type":"function","function":{"name":"` + name + `","description":"` + description + `","parameters":{}}}`
	}
	all := []string{tool("read", "r"), tool("write", "w"), tool("plan", "p")}
	for name, c := range map[string]struct {
		tools []string
		ok    bool
	}{
		"the same":      {all, true},
		"one less":      {[]string{all[0], all[2]}, true},
		"one more":      {append([]string{tool("first", "f")}, all...), true},
		"another order": {[]string{all[1], all[0], all[2]}, false},
		"other words":   {[]string{all[0], tool("write", "W"), all[2]}, false},
	} {
		srv := start(t, Script{Strict: true, Replies: []Reply{{}, {}}})
		send := func(tools []string, messages ...string) *http.Response {
			b := strings.TrimSuffix(body(messages...), "}") + `,"tools":[` + strings.Join(tools, ",") + `]}`
			return post(t, srv, b)
		}
		send(all, say("x"))
		if res := send(c.tools, say("x"), answers, say("y")); (res.StatusCode == 200) != c.ok {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
	}
}

// A refused request uses no reply up: what comes next gets it.
func TestStrictKeepsReply(t *testing.T) {
	srv := start(t, parse(t, "strict\nreply\nsay ok\n"))
	if res := post(t, srv, body(result)); res.StatusCode != 400 {
		t.Errorf("status %d", res.StatusCode)
	}
	if got := read(t, post(t, srv, body(say("x")))); got.text != "ok" {
		t.Errorf("%+v", got)
	}
}

func TestParseErrors(t *testing.T) {
	for text, says := range map[string]string{
		"say x":                     "line 1: \"say\" before the first reply",
		"reply\n\nshout x":          "line 3: \"shout\" is no directive",
		"reply whenever":            "line 1: reply takes",
		"reply\nsay <<END\nx":       "line 2: no line \"END\"",
		"reply\nsay \"x":            "line 2:",
		"reply\nusage in=x":         "line 2:",
		"reply\nusage up=1":         "\"up\" is not known",
		"reply\ndelay soon":         "line 2:",
		"reply\nstatus ok":          "line 2:",
		"reply\nheader Retry":       "NAME: VALUE",
		"reply\nhold":               "needs a name",
		"model":                     "needs a name",
		"chunk many":                "line 1:",
		"reply\ncall \"read {}":     "line 2:",
		"reply\nsay ok\nreply in\n": "line 3:",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

func TestQuotedName(t *testing.T) {
	s := parse(t, "reply\ncall \"read file\\n\" {}\n")
	if got := s.Replies[0].Steps[0]; got != Call("read file\n", "{}") {
		t.Errorf("%+v", got)
	}
}

func Example() {
	srv, err := Start(Script{Replies: []Reply{{Steps: []Step{Say("It prints hello.")}}}})
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	res, err := http.Post(srv.URL()+"/chat/completions", "application/json", strings.NewReader(`{"stream":true,"messages":[]}`))
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	fmt.Println(res.Header.Get("Content-Type"), srv.Unused())
	// Output: text/event-stream 0
}
