package terminal

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lspserver/ext"
)

func TestShowsARun(t *testing.T) {
	s := newStory(t)
	s.runs(func() ext.RunResult {
		s.event("runStarted", map[string]any{"prompt": "fix it", "model": "m-1", "mode": "agent"})
		s.event("turnStarted", map[string]any{"turn": 1})
		s.event("thought", map[string]any{"messageId": "t", "delta": "hm"})
		s.event("text", map[string]any{"messageId": "a", "delta": "Looking\r"})
		s.event("text", map[string]any{"messageId": "a", "delta": "\nat it."})
		s.event("message", map[string]any{"messageId": "a", "role": "assistant", "text": "Looking\r\nat it."})
		s.event("plan", map[string]any{"entries": []map[string]string{{"text": "read", "status": "done"}, {"text": "mend", "status": "active"}, {"text": "test", "status": "pending"}}})
		s.event("toolCall", map[string]any{"toolCallId": "c1", "name": "read_file", "title": "Read a.go", "status": "running"})
		s.event("toolCall", map[string]any{"toolCallId": "c1", "name": "read_file", "status": "completed"})
		s.event("toolCall", map[string]any{"toolCallId": "c2", "name": "edit_file", "title": "Edit a.go", "status": "failed", "output": "not found in a.go\nmore"})
		s.event("notice", map[string]any{"severity": "warning", "code": "retry", "message": "the server is busy"})
		s.event("steered", map[string]any{"prompt": "also b"})
		s.event("future", map[string]any{"x": 1})
		return result("endTurn")
	})
	s.play().wantCode(ExitDone)
	want := `agentls · m-1
(thinking) hm
Looking
at it.
  plan
    ✓ read
    ▸ mend
    · test
  ✓ Read a.go
  ✗ Edit a.go: not found in a.go
! the server is busy
> also b
12 tokens in, 3 out · 1 turn · 0 tool calls
`
	if diff := cmp.Diff(want, s.out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if s.err.Len() > 0 {
		t.Errorf("standard error: %s", s.err.String())
	}
	if want := []string{"initialize", "initialized", ext.MethodRunStart, ext.MethodRunWait, ext.MethodProposalGet, "shutdown", "exit"}; !slices.Equal(s.asked(), want) {
		t.Errorf("asked %v, want %v", s.asked(), want)
	}
}

func TestAnAnswerThatReplacesWhatWasStreamed(t *testing.T) {
	s := newStory(t)
	s.runs(func() ext.RunResult {
		s.event("text", map[string]any{"messageId": "a", "delta": "half an ans"})
		s.event("message", map[string]any{"messageId": "a", "role": "assistant", "text": "A whole answer."})
		s.event("message", map[string]any{"messageId": "b", "role": "assistant", "text": "Never streamed."})
		return result("endTurn")
	})
	s.play().wantOut("half an ans\n(answered again)\nA whole answer.\nNever streamed.\n")
}

// What a model, a file name or a server says must not drive the terminal.
func TestControlCharactersAreShown(t *testing.T) {
	const evil = "\x1b]52;c;ZXZpbA==\x07 \u202e \u009b31m \r|"
	s := newStory(t)
	s.runs(func() ext.RunResult {
		s.event("runStarted", map[string]any{"model": evil})
		s.event("thought", map[string]any{"messageId": "t", "delta": evil})
		s.event("text", map[string]any{"messageId": "a", "delta": evil})
		s.event("plan", map[string]any{"entries": []map[string]string{{"text": evil, "status": "done"}}})
		s.event("toolCall", map[string]any{"toolCallId": "c", "name": evil, "title": "Read " + evil + "\nx", "status": "failed", "reason": evil})
		s.event("toolOutput", map[string]any{"toolCallId": "c", "delta": evil})
		s.event("notice", map[string]any{"severity": "info", "message": evil})
		s.notify(protocol.MethodWindowShowMessage, map[string]any{"type": 1, "message": evil})
		res := result("error")
		res.Error = map[string]any{"class": "auth", "message": evil}
		return res
	})
	p, _ := proposal(s, evil+"\n", evil+"2\n")
	s.propose(p)
	s.play().wantCode(ExitFailed)
	for what, text := range map[string]string{"output": s.out.String(), "standard error": s.err.String()} {
		if i := strings.IndexFunc(text, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e
		}); i >= 0 {
			t.Errorf("%s holds %q", what, text[i:min(i+20, len(text))])
		}
	}
	s.wantOut("␛]52;c;ZXZpbA==␇ <U+202E> <U+009B>31m ␍|")
}

func TestExitStatus(t *testing.T) {
	for stop, want := range map[string]int{
		"endTurn": ExitDone, "cancelled": ExitInterrupted, "maxTurns": ExitLimit, "maxTokens": ExitLimit,
		"maxSeconds": ExitLimit, "maxCost": ExitLimit, "length": ExitLimit, "loop": ExitLimit,
		"refusal": ExitFailed, "error": ExitFailed, "new": ExitFailed,
	} {
		s := newStory(t)
		s.runs(func() ext.RunResult { return result(stop) })
		s.play().wantCode(want)
	}
}

func TestAFailedRunSaysWhatToDo(t *testing.T) {
	s := newStory(t)
	s.runs(func() ext.RunResult {
		res := result("error")
		res.Error = map[string]any{"class": "noModel", "message": "no model: set OPENAI_API_KEY", "retryable": false}
		return res
	})
	s.play().wantCode(ExitFailed).wantErr("error: no model: set OPENAI_API_KEY")
}

func TestARunThatCannotStart(t *testing.T) {
	s := newStory(t)
	s.on[ext.MethodRunStart] = func(json.RawMessage) (any, error) {
		return nil, failedError(ext.ErrUnknownSession, "no session \"x\"")
	}
	s.play().wantCode(ExitFailed).wantErr(`the run could not start: no session "x"`)
}

// failedError is an error of this protocol.
func failedError(code ext.ErrorCode, message string) error {
	e := jsonrpc2.NewError(ext.CodeFailed, message)
	e.Data = jsonrpc2.RawMessage(encode(ext.ErrorData{Code: code}))
	return e
}

func TestTheServerGoesAway(t *testing.T) {
	s := newStory(t)
	s.on[ext.MethodRunWait] = func(json.RawMessage) (any, error) {
		s.event("text", map[string]any{"messageId": "a", "delta": "bye"})
		_ = s.pipe.Close()
		<-s.ctx.Done()
		return nil, nil
	}
	s.play().wantCode(ExitFailed).wantOut("bye\n").wantErr("the server ended before the run did")
}

func TestInterruptCancelsThenLeaves(t *testing.T) {
	t.Run("once", func(t *testing.T) {
		s := newStory(t)
		cancelled := make(chan struct{})
		s.on[ext.MethodRunCancel] = func(json.RawMessage) (any, error) {
			close(cancelled)
			return ext.RunCancelled{State: "cancelling"}, nil
		}
		s.runs(func() ext.RunResult {
			s.interrupts <- os.Interrupt
			<-cancelled
			return result("cancelled")
		})
		s.play().wantCode(ExitInterrupted).wantErr("once more leaves at once", "stopped")
	})
	t.Run("twice", func(t *testing.T) {
		s := newStory(t)
		s.on[ext.MethodRunCancel] = func(json.RawMessage) (any, error) {
			s.interrupts <- os.Interrupt
			return ext.RunCancelled{State: "cancelling"}, nil
		}
		s.runs(func() ext.RunResult {
			s.interrupts <- os.Interrupt
			<-s.ctx.Done() // a run that does not end
			return ext.RunResult{}
		})
		s.fake.t = t
		s.play().wantCode(ExitInterrupted).wantErr("interrupted")
	})
}

func TestJSON(t *testing.T) {
	s := newStory(t)
	s.o.JSON, s.o.Accept = true, None
	p, _ := proposal(s, "a\n", "b\n")
	s.propose(p)
	s.runs(func() ext.RunResult {
		s.event("text", map[string]any{"messageId": "a", "delta": "x\x1b"})
		res := result("endTurn")
		res.Text = "done"
		return res
	})
	s.play().wantCode(ExitDone)
	lines := strings.Split(strings.TrimSuffix(s.out.String(), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines:\n%s", len(lines), s.out.String())
	}
	var first struct{ Type, Delta string }
	var last struct {
		Type, StopReason, Text string
		ExitCode               int
		Pending                ext.Proposal
	}
	for i, v := range []any{&first, &last} {
		if err := json.Unmarshal([]byte(lines[i]), v); err != nil {
			t.Fatal(err)
		}
	}
	if first.Type != "text" || first.Delta != "x\x1b" {
		t.Errorf("first line %s", lines[0])
	}
	if last.Type != "result" || last.StopReason != "endTurn" || last.Text != "done" || len(last.Pending.Files) != 1 {
		t.Errorf("last line %s", lines[1])
	}
}

func TestJSONTellsOfEveryFailure(t *testing.T) {
	s := newStory(t)
	s.o.JSON = true
	delete(s.on, ext.MethodRunStart)
	s.play().wantCode(ExitFailed).wantOut(`{"type":"result","exitCode":1`, `"stopReason":"error"`, "no agent/run/start here")
}
