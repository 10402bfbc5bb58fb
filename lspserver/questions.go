package lspserver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/review"
	"github.com/agentls/agentls/lspserver/internal/rpc"
	"github.com/agentls/agentls/tools/changeset"
)

// ask puts a question with some answers by window/showMessageRequest. "" means
// that it was closed, taken back or answered with something else.
func (s *server) ask(ctx context.Context, kind protocol.MessageType, text string, answers ...string) string {
	type item struct {
		Title string `json:"title"`
	}
	params := struct {
		Type    protocol.MessageType `json:"type"`
		Message string               `json:"message"`
		Actions []item               `json:"actions"`
	}{Type: kind, Message: text}
	for _, a := range answers {
		params.Actions = append(params.Actions, item{a})
	}
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return ""
	}
	var got *item
	if err := s.conn.Call(ctx, protocol.MethodWindowShowMessageRequest, params, &got); err != nil {
		s.log.Info("question not answered", "err", err)
		return ""
	}
	if got == nil {
		return ""
	}
	for _, a := range answers {
		if a == got.Title {
			return a
		}
	}
	return ""
}

// askReview asks a plain client what is to become of a proposal at the end of
// a run, and does it.
func (s *server) askReview(c *conversation) {
	if len(c.proposal.Proposal().Files) == 0 {
		return
	}
	ctx, done := c.beginQuestion(s.life)
	s.goroutines.Go(func() {
		defer done()
		for {
			snapshot := c.proposal.Proposal()
			if len(snapshot.Files) == 0 || ctx.Err() != nil {
				return
			}
			var verdict changeset.Verdict
			switch s.ask(ctx, protocol.MessageTypeInfo, review.Question(snapshot, s.workspace.Display), review.AnswerApply, review.AnswerShowDiff, review.AnswerKeep, review.AnswerReject) {
			case review.AnswerApply:
				verdict = changeset.Accept
			case review.AnswerReject:
				verdict = changeset.Reject
			case review.AnswerShowDiff:
				s.showPatch(ctx, c, s.patch(c, "all"))
				continue
			default:
				return
			}
			res, err := s.resolve(ctx, c, snapshot.Revision, []changeset.Decision{{All: true, Verdict: verdict}}, false)
			if codeOf(err) == ext.ErrStaleRevision {
				// What the user answered is not what is there now: ask again.
				continue
			}
			if err != nil {
				s.showMessage(protocol.MessageTypeError, "agentls: "+err.Error())
				return
			}
			s.tellTrouble(res)
			return
		}
	})
}

// codeOf is the code of our own that an error carries, "" for others.
func codeOf(err error) ext.ErrorCode {
	var e *rpc.Error
	var data ext.ErrorData
	if !errors.As(err, &e) || json.Unmarshal(e.Data, &data) != nil {
		return ""
	}
	return data.Code
}

// tellTrouble says what was decided and did not come about.
func (s *server) tellTrouble(res ext.ResolveResult) {
	if !s.client.plain() {
		return
	}
	var reasons []string
	for _, r := range res.Results {
		if r.Reason != "" && (r.State == string(changeset.NotApplied) || r.State == string(changeset.Conflicted)) {
			reasons = append(reasons, r.Reason)
		}
	}
	if len(reasons) == 0 {
		return
	}
	s.showMessage(protocol.MessageTypeWarning, "agentls: not everything was applied: "+strings.Join(dedupe(reasons), "; "))
}

func dedupe(in []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range in {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func (s *server) showMessage(kind protocol.MessageType, text string) {
	if err := s.conn.Notify(s.life, protocol.MethodWindowShowMessage, protocol.ShowMessageParams{Type: kind, Message: text}); err != nil {
		s.log.Debug("message not shown", "err", err)
	}
}

func (s *server) logMessage(text string) {
	if err := s.conn.Notify(s.life, protocol.MethodWindowLogMessage, protocol.LogMessageParams{Type: protocol.MessageTypeInfo, Message: text}); err != nil {
		s.log.Debug("message not logged", "err", err)
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
