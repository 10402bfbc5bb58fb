package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/agentls/agentls/agent/llm"
)

// reply is one answer of a scripted model.
type reply func(ctx context.Context, r llm.Request, yield func(llm.Delta, error) bool)

// script is a Model that gives its replies in order, the last one again and
// again, and checks that each request is one that a strict server takes.
type script struct {
	t       testing.TB
	replies []reply

	mu       sync.Mutex
	requests []llm.Request
	grows    bool // each request must extend the one before
}

func newScript(t testing.TB, replies ...reply) *script {
	return &script{t: t, replies: replies, grows: true}
}

func (s *script) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	s.mu.Lock()
	checkRequest(s.t, r)
	if n := len(s.requests); n > 0 && s.grows {
		checkExtends(s.t, s.requests[n-1], r)
	}
	s.requests = append(s.requests, r)
	next := s.replies[min(len(s.requests), len(s.replies))-1]
	s.mu.Unlock()
	return func(yield func(llm.Delta, error) bool) { next(ctx, r, yield) }
}

func (s *script) request(i int) llm.Request {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if i >= len(s.requests) {
		s.t.Fatalf("%d requests, no number %d", len(s.requests), i)
	}
	return s.requests[i]
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

var strictName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// checkRequest refuses what strict servers refuse.
func checkRequest(t testing.TB, r llm.Request) {
	t.Helper()
	var open []string
	seen := map[string]bool{}
	for i, m := range r.Messages {
		if len(m.Parts) == 0 {
			t.Errorf("message %d is empty", i)
		}
		results := 0
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				if p.Text == "" || !utf8.ValidString(p.Text) {
					t.Errorf("message %d: text %q", i, p.Text)
				}
			case llm.ToolUse:
				if m.Role != llm.Assistant || !strictName.MatchString(p.Name) || !strictName.MatchString(p.ID) || seen[p.ID] {
					t.Errorf("message %d (%s): call %q of %q", i, m.Role, p.ID, p.Name)
				}
				var object map[string]any
				if err := json.Unmarshal(p.Input, &object); err != nil || object == nil || !utf8.Valid(p.Input) {
					t.Errorf("message %d: input %q: %v", i, p.Input, err)
				}
				seen[p.ID] = true
				open = append(open, p.ID)
			case llm.ToolResult:
				if len(open) == 0 || open[0] != p.ToolUseID || p.Text == "" || !utf8.ValidString(p.Text) {
					t.Errorf("message %d: result of %q, waiting for %q", i, p.ToolUseID, open)
					continue
				}
				open = open[1:]
				results++
			}
		}
		if m.Role == llm.User && len(open) > 0 {
			t.Errorf("message %d leaves calls open: %q", i, open)
		}
		if m.Role == llm.Assistant && i > 0 && r.Messages[i-1].Role == llm.Assistant {
			t.Errorf("messages %d and %d are both the assistant's", i-1, i)
		}
	}
	if n := len(r.Messages); n == 0 || r.Messages[n-1].Role != llm.User {
		t.Errorf("the last of %d messages is not the user's", n)
	}
}

// checkExtends makes sure that a provider's prompt cache can be used.
func checkExtends(t testing.TB, before, after llm.Request) {
	t.Helper()
	if before.System != after.System {
		t.Errorf("the system prompt changed")
	}
	if len(after.Messages) < len(before.Messages) {
		t.Errorf("%d messages after %d", len(after.Messages), len(before.Messages))
		return
	}
	for i, m := range before.Messages {
		if fmt.Sprint(m) != fmt.Sprint(after.Messages[i]) {
			t.Errorf("message %d changed from\n%s to\n%s", i, shorten(fmt.Sprint(m), 300), shorten(fmt.Sprint(after.Messages[i]), 300))
		}
	}
}

// say is an answer of text in a few deltas.
func say(text string) reply {
	return func(_ context.Context, _ llm.Request, yield func(llm.Delta, error) bool) {
		for rest := text; rest != ""; {
			part := clip(rest, max(4, len(text)/3))
			rest = rest[len(part):]
			if !yield(llm.TextDelta{Text: part}, nil) {
				return
			}
		}
		yield(done(llm.StopEnd, llm.Text{Text: text}), nil)
	}
}

// calls is an answer that makes calls, "name {…}" each.
func calls(specs ...string) reply { return callsThat(llm.StopEnd, specs...) }

func callsThat(stop llm.StopReason, specs ...string) reply {
	return func(_ context.Context, _ llm.Request, yield func(llm.Delta, error) bool) {
		var parts []llm.Part
		for i, spec := range specs {
			name, input, _ := strings.Cut(spec, " ")
			if input == "" {
				input = "{}"
			}
			use := llm.ToolUse{ID: fmt.Sprintf("call_%d", i), Name: name, Input: json.RawMessage(input)}
			if !yield(llm.ToolUseDelta{ID: use.ID, Name: use.Name}, nil) {
				return
			}
			parts = append(parts, use)
		}
		yield(done(stop, parts...), nil)
	}
}

// parts is an answer as it is, without deltas.
func parts(stop llm.StopReason, parts ...llm.Part) reply {
	return func(_ context.Context, _ llm.Request, yield func(llm.Delta, error) bool) {
		yield(done(stop, parts...), nil)
	}
}

func fails(e *llm.Error) reply {
	return func(_ context.Context, _ llm.Request, yield func(llm.Delta, error) bool) { yield(nil, e) }
}

// hangs is an answer that begins with text and does not go on.
func hangs(text string) reply {
	return func(ctx context.Context, _ llm.Request, yield func(llm.Delta, error) bool) {
		if text != "" && !yield(llm.TextDelta{Text: text}, nil) {
			return
		}
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
}

func done(stop llm.StopReason, parts ...llm.Part) llm.Completed {
	return llm.Completed{
		Message: llm.Message{Role: llm.Assistant, Parts: parts},
		Stop:    stop,
		Usage:   &llm.Usage{Input: new(int64(100)), Output: new(int64(10)), CacheRead: new(int64(40))},
	}
}

// fake is a tool. Its zero Run echoes the input.
type fake struct {
	name     string
	kind     Kind
	readOnly bool
	schema   string
	plan     func(json.RawMessage) (Plan, error)
	run      func(ctx context.Context, c Call) Result
}

func (f *fake) Spec() llm.Tool {
	schema := f.schema
	if schema == "" {
		schema = `{"type":"object"}`
	}
	return llm.Tool{Name: f.name, Description: "a tool", Schema: json.RawMessage(schema)}
}

func (f *fake) ReadsOnly() bool { return f.readOnly }

func (f *fake) Plan(input json.RawMessage) (Plan, error) {
	if f.plan != nil {
		return f.plan(input)
	}
	var in struct{ Path string }
	_ = json.Unmarshal(input, &in)
	p := Plan{Kind: f.kind, Title: f.name + " " + in.Path, ReadOnly: f.readOnly}
	if in.Path != "" {
		p.Locations = []Location{{Path: in.Path}}
	}
	return p, nil
}

func (f *fake) Run(ctx context.Context, c Call) Result {
	if f.run == nil {
		return Result{Text: f.name + " " + string(c.Input)}
	}
	return f.run(ctx, c)
}

func reader(run func(context.Context, Call) Result) *fake {
	return &fake{name: "read_file", kind: KindRead, readOnly: true, run: run}
}

func writer(run func(context.Context, Call) Result) *fake {
	return &fake{name: "write_file", kind: KindEdit, run: run}
}
