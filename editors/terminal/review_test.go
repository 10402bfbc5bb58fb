package terminal

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lspserver/ext"
)

// proposal makes a proposal that changes a.txt, which holds before, to after:
// each line that differs is a hunk. Both have as many lines.
func proposal(s *story, before, after string) (ext.Proposal, string) {
	u := s.file("a.txt", before)
	f := ext.FileChange{
		FileSummary: ext.FileSummary{FileID: "f1", Op: "modify", URI: u, State: "pending"},
		Patch:       "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n",
	}
	old, new := splitLines(before), splitLines(after)
	for i := range old {
		if old[i] == new[i] {
			continue
		}
		f.Added, f.Removed = f.Added+1, f.Removed+1
		f.Patch += fmt.Sprintf("@@ -%d +%d @@\n-%s+%s", i+1, i+1, old[i], new[i])
		f.Hunks = append(f.Hunks, ext.Hunk{
			HunkID: fmt.Sprintf("h%d", i), State: "pending", OldText: old[i], NewText: new[i],
			Range: ext.Range{Start: ext.Position{Line: uint32(i)}, End: ext.Position{Line: uint32(i) + 1}},
		})
	}
	return ext.Proposal{SessionID: testSession, Revision: 4, Files: []ext.FileChange{f}}, u
}

// propose serves a proposal until it is resolved: then what was accepted is
// applied by the client, as a server does it.
func (s *story) propose(p ext.Proposal) {
	open := true
	s.on[ext.MethodProposalGet] = func(json.RawMessage) (any, error) {
		if !open {
			return ext.Proposal{SessionID: testSession, Files: []ext.FileChange{}}, nil
		}
		return p, nil
	}
	s.on[ext.MethodProposalDocument] = func(json.RawMessage) (any, error) {
		return ext.ProposalDocument{Text: s.content("a.txt")}, nil
	}
	s.on[ext.MethodProposalResolve] = func(raw json.RawMessage) (any, error) {
		var params ext.ResolveParams
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, err
		}
		open = false
		return s.resolve(p, params), nil
	}
}

func (s *story) resolve(p ext.Proposal, params ext.ResolveParams) ext.ResolveResult {
	res := ext.ResolveResult{Revision: p.Revision + 1}
	var edits []map[string]any
	for _, h := range p.Files[0].Hunks {
		for _, d := range params.Decisions {
			if !d.All && d.FileID != p.Files[0].FileID && d.HunkID != h.HunkID {
				continue
			}
			state, text := "rejected", h.NewText
			switch d.Verdict {
			case "edit":
				state, text = "modified", *d.NewText
			case "accept":
				state = "applied"
			}
			if state != "rejected" {
				edits = append(edits, map[string]any{"range": h.Range, "newText": text})
			}
			res.Results = append(res.Results, ext.Result{HunkID: h.HunkID, State: state})
		}
	}
	if len(edits) == 0 {
		return res
	}
	answer := s.ask(protocol.MethodWorkspaceApplyEdit, map[string]any{"edit": map[string]any{"documentChanges": []any{
		map[string]any{"textDocument": map[string]any{"uri": p.Files[0].URI, "version": nil}, "edits": edits}}}})
	if answer["applied"] != true {
		for i := range res.Results {
			res.Results[i].State, res.Results[i].Reason = "notApplied", fmt.Sprint(answer["failureReason"])
		}
	}
	return res
}

// verdicts are the decisions that the server got.
func (s *story) decisions() *[]ext.Decision {
	var got []ext.Decision
	resolve := s.on[ext.MethodProposalResolve]
	s.on[ext.MethodProposalResolve] = func(raw json.RawMessage) (any, error) {
		var params ext.ResolveParams
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, err
		}
		got = params.Decisions
		return resolve(raw)
	}
	return &got
}

const before, after = "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n"

func TestReview(t *testing.T) {
	tests := []struct {
		name, input string
		want        string // of the file
		code        int
		out         []string
		err         []string
	}{
		{name: "yes", input: "y\n", want: after,
			out: []string{"2 changes in 1 file:", "modify a.txt +2 −2", "-1\n+one", "Apply to a.txt (1 of 1)? [y,n,h,s,a,q,?] ", "a.txt: 2 applied\n"}},
		{name: "all", input: "A\n", want: after, out: []string{"a.txt: 2 applied\n"}},
		{name: "no, without a reason", input: "n\n\n", want: before, out: []string{"Why, for the agent", "a.txt: 2 rejected\n"}},
		{name: "quit", input: "q\n", want: before, err: []string{"2 changes in 1 file left pending", "--session session-1"}},
		{name: "skip", input: "s\n", want: before, err: []string{"left pending"}},
		{name: "end of input", input: "\n", want: before, out: []string{"y  apply it"}, err: []string{"left pending"}},
		{name: "hunk by hunk", input: "h\nn\n\ny\n", want: "1\n2\n3\n4\n5\n6\n7\n8\nnine\n",
			out: []string{"@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n", "(1 of 2)?", "@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+nine\n", "(2 of 2)?", "a.txt: applied, rejected\n"}},
		{name: "hunk by hunk, then the rest of the file", input: "h\na\n", want: after},
		{name: "hunk by hunk, then quit", input: "h\ny\nq\n", want: "one\n2\n3\n4\n5\n6\n7\n8\n9\n"},
		{name: "what is no answer is asked again", input: "maybe\ny\n", want: after, out: []string{"q  leave the rest pending"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStory(t)
			p, _ := proposal(s, before, after)
			s.propose(p)
			s.input = tt.input
			s.play().wantCode(tt.code).wantOut(tt.out...).wantErr(tt.err...)
			if got := s.content("a.txt"); got != tt.want {
				t.Errorf("a.txt is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRejectWithACommentAndTryAgain(t *testing.T) {
	s := newStory(t)
	p, _ := proposal(s, "a\n", "b\n")
	s.propose(p)
	got := s.decisions()
	var prompts []string
	start := s.on[ext.MethodRunStart]
	s.on[ext.MethodRunStart] = func(raw json.RawMessage) (any, error) {
		prompts = append(prompts, string(raw))
		return start(raw)
	}
	s.input = "n\nuse c instead\ny\n"
	s.play().wantCode(ExitDone)
	if len(*got) != 1 || (*got)[0].Comment != "use c instead" || (*got)[0].FileID != "f1" {
		t.Errorf("decided %+v", *got)
	}
	if len(prompts) != 2 || !strings.Contains(prompts[1], `"sessionId":"session-1"`) {
		t.Errorf("prompts %v", prompts)
	}
}

func TestAcceptAll(t *testing.T) {
	s := newStory(t)
	s.o.Accept = All
	p, _ := proposal(s, before, after)
	s.propose(p)
	s.play().wantCode(ExitDone).wantOut("-1\n+one\n", "a.txt: 2 applied\n")
	if got := s.content("a.txt"); got != after {
		t.Errorf("a.txt is %q", got)
	}
}

// Half of the work is not accepted unseen.
func TestAcceptAllOfARunThatDidNotEnd(t *testing.T) {
	s := newStory(t)
	s.o.Accept = All
	p, _ := proposal(s, before, after)
	s.propose(p)
	s.runs(func() ext.RunResult { return result("maxTurns") })
	s.play().wantCode(ExitLimit).wantErr("maxTurns", "left pending")
	if got := s.content("a.txt"); got != before {
		t.Errorf("a.txt is %q", got)
	}
}

func TestNobodyThereToAsk(t *testing.T) {
	for _, accept := range []Accept{Ask, None} {
		s := newStory(t)
		s.o.Accept = accept
		p, _ := proposal(s, before, after)
		s.propose(p)
		s.play().wantCode(ExitDone).wantOut("diff --git a/a.txt b/a.txt\n", "-1\n+one\n").
			wantErr("2 changes in 1 file left pending", "agentls run --dir "+s.o.Dir+" --session session-1 --accept all")
	}
}

func TestAnEditThatTheClientRefuses(t *testing.T) {
	s := newStory(t)
	s.o.Accept = All
	p, _ := proposal(s, before, after)
	p.Files[0].Hunks[0].Range.Start.Line = 70
	s.propose(p)
	s.play().wantCode(ExitFailed).wantOut("a.txt: 2 not applied", "no position 70:0")
}

func TestAStaleProposalIsShownAgain(t *testing.T) {
	s := newStory(t)
	p, _ := proposal(s, before, after)
	s.propose(p)
	resolve, tries := s.on[ext.MethodProposalResolve], 0
	s.on[ext.MethodProposalResolve] = func(raw json.RawMessage) (any, error) {
		if tries++; tries == 1 {
			return nil, failedError(ext.ErrStaleRevision, "hunk h0 has changed")
		}
		return resolve(raw)
	}
	s.input = "y\ny\n"
	s.play().wantCode(ExitDone).wantErr("not what they were")
	if got := s.content("a.txt"); got != after {
		t.Errorf("a.txt is %q", got)
	}
}

func TestInterruptInAReview(t *testing.T) {
	s := newStory(t)
	p, _ := proposal(s, before, after)
	s.propose(p)
	s.input = "h\ny\n"
	s.on[ext.MethodProposalDocument] = func(json.RawMessage) (any, error) {
		s.interrupts <- nil
		<-s.ctx.Done()
		return nil, nil
	}
	s.play().wantCode(ExitInterrupted)
	if got := s.content("a.txt"); got != before {
		t.Errorf("a.txt is %q", got)
	}
}

func TestReviewOfASession(t *testing.T) {
	s := newStory(t)
	s.o.Prompt, s.o.Session = "", testSession
	p, _ := proposal(s, before, after)
	s.propose(p)
	s.input = "y\n"
	s.play().wantCode(ExitDone)
	if got := s.content("a.txt"); got != after {
		t.Errorf("a.txt is %q", got)
	}
}

func TestQuestions(t *testing.T) {
	ask := map[string]any{"sessionId": testSession, "runId": testRun, "question": "Which?", "options": []string{"red", "blue"}, "allowFreeText": true}
	permission := map[string]any{"title": "Run a command", "detail": "go test ./...\x1b[2K", "subject": map[string]any{"kind": "command", "command": "go test ./...\x1b[2K", "cwd": "/w"},
		"options": []map[string]any{{"optionId": "once", "kind": "allowOnce", "label": "Yes"}, {"optionId": "never", "kind": "rejectOnce", "label": "No"}}}
	tests := []struct {
		name, input, method string
		params              any
		want                string
		out                 []string
	}{
		{"an option", "2\n", ext.MethodAsk, ask, `{"answer":"blue"}`, []string{"Which?\n  1) red\n  2) blue\n"}},
		{"free text", "green\n", ext.MethodAsk, ask, `{"answer":"green"}`, nil},
		{"no answer", "\n", ext.MethodAsk, ask, `{"cancelled":true}`, nil},
		{"nobody there", "", ext.MethodAsk, ask, `{"cancelled":true}`, nil},
		{"allowed", "1\n", ext.MethodPermissionRequest, permission, `{"optionId":"once"}`, []string{"Run a command\n  go test ./...␛[2K\n  in /w\n  1) Yes\n"}},
		{"no such option, then none", "yes\n\n", ext.MethodPermissionRequest, permission, `{"cancelled":true}`, []string{`there is no "yes"`}},
		{"nobody there to allow", "", ext.MethodPermissionRequest, permission, `{"cancelled":true}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStory(t)
			s.input = tt.input
			var got string
			s.runs(func() ext.RunResult {
				s.event("text", map[string]any{"messageId": "a", "delta": "said before"})
				got = string(encode(s.ask(tt.method, tt.params)))
				return result("endTurn")
			})
			s.play().wantCode(ExitDone).wantOut(append([]string{"said before\n"}, tt.out...)...)
			if got != tt.want {
				t.Errorf("answered %s, want %s", got, tt.want)
			}
		})
	}
}

func TestSaveSaysThatAllIsSaved(t *testing.T) {
	s := newStory(t)
	s.runs(func() ext.RunResult {
		got := string(encode(s.ask(ext.MethodEditorSave, ext.SaveParams{URIs: []string{"file:///a"}})))
		if got != `{"saved":["file:///a"]}` {
			t.Errorf("answered %s", got)
		}
		return result("endTurn")
	})
	s.play()
}
