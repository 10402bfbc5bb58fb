package lspserver

import (
	"context"
	"errors"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/lspserver/internal/review"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/workspace"
)

func (s *server) proposalGet(ctx context.Context, p ext.SessionParams) (any, error) {
	c, err := s.findConversation(p.SessionID)
	if err != nil {
		return nil, err
	}
	s.sync(ctx, c)
	return s.wireProposal(c), nil
}

func (s *server) proposalResolve(ctx context.Context, p ext.ResolveParams) (any, error) {
	c, err := s.findConversation(p.SessionID)
	if err != nil {
		return nil, err
	}
	if p.Revision == nil {
		return nil, invalidParams("revision: which one was decided on?")
	}
	decisions := make([]changeset.Decision, len(p.Decisions))
	for i, d := range p.Decisions {
		decisions[i] = changeset.Decision{
			HunkID: d.HunkID, FileID: d.FileID, All: d.All,
			Verdict: changeset.Verdict(d.Verdict), NewText: d.NewText, Comment: d.Comment,
		}
	}
	c.dismissQuestion()
	s.sync(ctx, c)
	if ctx.Err() != nil { // cancelled before anything was done
		return ext.ResolveResult{Revision: c.proposal.Proposal().Revision, Results: []ext.Result{}}, nil
	}
	return s.resolve(ctx, c, *p.Revision, decisions, p.Save)
}

// sync brings the proposal up to what the editor sent before this request, and
// to what is on disk. A request that is cancelled meanwhile is answered with
// what there is: Neovim waits for ever for a request answered with an error.
func (s *server) sync(ctx context.Context, c *conversation) {
	if err := s.rebaser.Sync(ctx, c.proposal); err != nil {
		s.log.Debug("proposal not brought up to date", "session", c.id(), "err", err)
	}
}

// resolve carries decisions out and answers once it is known what came of them.
func (s *server) resolve(ctx context.Context, c *conversation, revision int64, ds []changeset.Decision, save bool) (ext.ResolveResult, error) {
	before := c.proposal.Proposal()
	results, err := s.applier.Resolve(ctx, c.proposal, review.Request{
		Revision:  revision,
		Decisions: ds,
		Save:      save,
		Announce:  func() { c.announce(c.session.Emit) },
		Sending:   func(files []changeset.FileEdit) { c.sending(before, files) },
		Applied: func(files []changeset.FileEdit, results []changeset.Result) {
			c.landed(before, files, results)
		},
	})
	var stale *changeset.StaleError
	var invalid *changeset.InvalidError
	switch {
	case errors.As(err, &stale):
		return ext.ResolveResult{}, failed(ext.ErrStaleRevision, "%v", err)
	case errors.As(err, &invalid):
		return ext.ResolveResult{}, invalidParams("%v", err)
	case err != nil:
		return ext.ResolveResult{}, err
	}
	c.announce(c.session.Emit)
	out := ext.ResolveResult{Revision: c.proposal.Proposal().Revision, Results: []ext.Result{}}
	for _, r := range results {
		out.Results = append(out.Results, ext.Result{HunkID: r.HunkID, FileID: r.FileID, State: string(r.State), Reason: r.Reason})
	}
	return out, nil
}

func (s *server) proposalDocument(ctx context.Context, p ext.ProposalDocumentParams) (any, error) {
	c, err := s.findConversation(p.SessionID)
	if err != nil {
		return nil, err
	}
	s.sync(ctx, c)
	text, err := s.side(c, p.URI, p.Side)
	if err != nil {
		return nil, err
	}
	return ext.ProposalDocument{Text: text, LanguageID: s.languageID(p.URI)}, nil
}

// side is the exact text of one side of a file.
func (s *server) side(c *conversation, uri, side string) (string, error) {
	path, err := s.pathOf(uri)
	if err != nil {
		return "", invalidParams("%s: %v", uri, err)
	}
	base, proposed, err := c.proposal.Sides(path)
	if err != nil {
		return "", failed(ext.ErrUnsupported, "%s: %v", s.workspace.Display(path), err)
	}
	switch side {
	case "base":
		return base, nil
	case "proposed":
		return proposed, nil
	}
	return "", invalidParams("side %q: base or proposed", side)
}

// textDocumentContentParams are those of workspace/textDocumentContent.
type textDocumentContentParams struct {
	URI string `json:"uri"`
}

func (s *server) textDocumentContent(ctx context.Context, p textDocumentContentParams) (any, error) {
	view, err := review.ParsePreview(p.URI)
	if err != nil {
		return nil, invalidParams("%v", err)
	}
	c, err := s.findConversation(view.SessionID)
	if err != nil {
		return nil, err
	}
	s.sync(ctx, c)
	text, err := s.side(c, view.URI, view.Side)
	if err != nil {
		return nil, err
	}
	c.views.shown(p.URI)
	return map[string]string{"text": text}, nil
}

func (s *server) languageID(uri string) string {
	path, err := s.pathOf(uri)
	if err != nil {
		return ""
	}
	if snap, ok := s.docs.Get(path); ok {
		return snap.LanguageID
	}
	return ""
}

// pathOf is the path of a document that the editor names: the target where the
// name is a link, so that one file has one path.
func (s *server) pathOf(uri string) (string, error) {
	path, err := document.PathOf(uri)
	if err != nil {
		return "", err
	}
	return workspace.Canonical(path), nil
}

// summaries is a proposal as its event tells it.
func (s *server) summaries(p changeset.Proposal) []agent.FileSummary {
	out := make([]agent.FileSummary, 0, len(p.Files))
	for _, f := range p.Files {
		out = append(out, agent.FileSummary(review.Summary(f, s.docs)))
	}
	return out
}

func (s *server) wireProposal(c *conversation) ext.Proposal {
	p := review.Wire(c.proposal.Proposal(), s.docs, s.client.encoding, s.workspace.Display)
	p.SessionID = c.id()
	return p
}

// patch is the diff of what id names: a file, the file of a hunk, or all.
func (s *server) patch(c *conversation, id string) string {
	var b strings.Builder
	for _, f := range s.wireProposal(c).Files {
		named := id == "all" || f.FileID == id
		for _, h := range f.Hunks {
			named = named || h.HunkID == id
		}
		if named {
			b.WriteString(f.Patch)
		}
	}
	return b.String()
}

// showPatch shows a diff to a client that has no view of its own: as a
// document where the editor can open one, else in its log.
func (s *server) showPatch(ctx context.Context, c *conversation, patch string) {
	if s.client.showDocument {
		if uri, err := s.writePatch(c, patch); err != nil {
			s.log.Warn("diff not written", "err", err)
		} else {
			// What the user types next is meant for where they are: no focus.
			params := map[string]any{"uri": uri, "takeFocus": false}
			var res struct {
				Success bool `json:"success"`
			}
			if err := s.conn.Call(ctx, protocol.MethodWindowShowDocument, params, &res); err == nil && res.Success {
				return
			}
		}
	}
	s.logMessage(patch)
	s.showMessage(protocol.MessageTypeInfo, "agentls: the diff is in the server's log")
}
