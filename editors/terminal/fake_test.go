package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/goleak"

	"github.com/agentls/agentls/lspserver/ext"
)

// fake is a server that does what a test says, at the other end of a pipe.
type fake struct {
	t    *testing.T
	conn jsonrpc2.Conn
	pipe io.Closer
	ctx  context.Context
	// on answers requests by method, each in its own goroutine.
	on map[string]func(params json.RawMessage) (any, error)

	mu    sync.Mutex
	calls []string // methods, in order
	seq   int
}

// story is a client over a fake server: what it was started with and what the
// user types.
type story struct {
	*fake
	o     Options
	input string
	// interrupts is the user's Ctrl+C.
	interrupts chan os.Signal

	code     int
	out, err bytes.Buffer
}

const testRun, testSession = "run-1", "session-1"

func newStory(t *testing.T) *story {
	t.Helper()
	s := &story{
		fake:       &fake{t: t, on: map[string]func(json.RawMessage) (any, error){}},
		interrupts: make(chan os.Signal, 2),
	}
	s.o = Options{Prompt: "fix it", Dir: t.TempDir(), Accept: Ask}
	s.on[protocol.MethodInitialize] = func(json.RawMessage) (any, error) {
		return json.RawMessage(`{"capabilities":{"positionEncoding":"utf-16"}}`), nil
	}
	s.on[protocol.MethodShutdown] = func(json.RawMessage) (any, error) { return nil, nil }
	s.on[ext.MethodRunStart] = func(json.RawMessage) (any, error) {
		return ext.RunStarted{SessionID: testSession, RunID: testRun}, nil
	}
	s.on[ext.MethodProposalGet] = func(json.RawMessage) (any, error) {
		return ext.Proposal{SessionID: testSession, Files: []ext.FileChange{}}, nil
	}
	s.runs(func() ext.RunResult { return result("endTurn") })
	return s
}

func result(stop string) ext.RunResult {
	return ext.RunResult{RunID: testRun, SessionID: testSession, StopReason: stop, Usage: map[string]any{
		"inputTokens": 12, "outputTokens": 3, "turns": 1, "toolCalls": 0}}
}

// runs says what happens in the run, and how it ends.
func (s *story) runs(f func() ext.RunResult) {
	s.on[ext.MethodRunWait] = func(json.RawMessage) (any, error) { return f(), nil }
}

// file puts a file into the workspace and returns its URI.
func (s *story) file(name, content string) string {
	s.t.Helper()
	path := filepath.Join(s.o.Dir, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return string(uri.File(path))
}

func (s *story) content(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.o.Dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// play runs the client to its end. The user is there if they type something.
func (s *story) play() *story {
	s.t.Helper()
	defer goleak.VerifyNone(s.t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("github.com/agentls/agentls/editors/terminal.readLines"))
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	ours, theirs := net.Pipe()
	s.fake.ctx, s.pipe = ctx, theirs
	s.conn = jsonrpc2.NewConn(jsonrpc2.NewStream(theirs))
	s.conn.Go(ctx, s.handle)
	s.o.Console = &Console{
		In: strings.NewReader(s.input), Out: &s.out, Err: &s.err,
		Interactive: s.input != "", Interrupts: s.interrupts,
	}
	r := &runner{o: s.o, console: s.o.Console, view: newView(s.o)}
	s.code = r.finish(r.serve(ctx, ours))
	if ctx.Err() != nil {
		s.t.Errorf("took too long; the server was asked %v", s.asked())
	}
	cancel()
	_ = s.conn.Close()
	return s
}

func (f *fake) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	method := strings.Clone(req.Method()) // borrowed from the frame
	f.mu.Lock()
	f.calls = append(f.calls, method)
	f.mu.Unlock()
	if !req.IsCall() {
		return nil, nil
	}
	jsonrpc2.Async(ctx)
	if on, ok := f.on[method]; ok {
		return on(bytes.Clone(req.Params()))
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "no %s here", method)
}

func (f *fake) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.calls...)
}

// event sends an agent/event with some fields.
func (f *fake) event(typ string, fields map[string]any) {
	f.seq++
	all := map[string]any{"sessionId": testSession, "runId": testRun, "seq": f.seq, "time": "2026-01-02T03:04:05Z", "type": typ}
	for k, v := range fields {
		all[k] = v
	}
	f.notify(ext.MethodEvent, all)
}

func (f *fake) notify(method string, params any) {
	if err := f.conn.Notify(f.ctx, method, params); err != nil {
		f.t.Errorf("%s: %v", method, err)
	}
}

// ask sends the client a request.
func (f *fake) ask(method string, params any) (answer map[string]any) {
	if _, err := f.conn.Call(f.ctx, method, params, &answer); err != nil {
		f.t.Errorf("%s: %v", method, err)
	}
	return answer
}

func (s *story) wantCode(code int) *story {
	s.t.Helper()
	if s.code != code {
		s.t.Errorf("exit status %d, want %d; stderr:\n%s", s.code, code, s.err.String())
	}
	return s
}

func (s *story) wantOut(parts ...string) *story {
	s.t.Helper()
	return s.wantIn("output", s.out.String(), parts)
}

func (s *story) wantErr(parts ...string) *story {
	s.t.Helper()
	return s.wantIn("standard error", s.err.String(), parts)
}

// wantIn checks that a text holds some parts in this order.
func (s *story) wantIn(what, text string, parts []string) *story {
	s.t.Helper()
	rest := text
	for _, p := range parts {
		_, after, ok := strings.Cut(rest, p)
		if !ok {
			s.t.Errorf("%s has no %q where it should:\n%s", what, p, text)
			return s
		}
		rest = after
	}
	return s
}
