package lspserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/review"
	"github.com/agentls/agentls/tools/text"
)

// commentMark is what makes a comment in the user's code a prompt.
const commentMark = "agentls:"

type (
	codeLensParams struct {
		TextDocument versionedDocument `json:"textDocument"`
	}
	codeActionParams struct {
		TextDocument versionedDocument `json:"textDocument"`
		Range        ext.Range         `json:"range"`
		Context      struct {
			Diagnostics []ext.Diagnostic `json:"diagnostics"`
			Only        []string         `json:"only"`
		} `json:"context"`
	}
)

// codeLens puts *Apply · Reject · Show diff* over what is pending in a document.
func (s *server) codeLens(ctx context.Context, p codeLensParams) (any, error) {
	lenses := []protocol.CodeLens{}
	path, err := s.pathOf(p.TextDocument.URI)
	if err != nil {
		return lenses, nil
	}
	for _, c := range s.conversations() {
		s.sync(ctx, c)
		lenses = append(lenses, review.Lenses(c.id(), c.proposal.Proposal(), path, s.client.encoding)...)
	}
	return lenses, nil
}

// codeAction offers the same on the hunks in range, and runs about what is there.
func (s *server) codeAction(ctx context.Context, p codeActionParams) (any, error) {
	actions := []protocol.CodeAction{}
	path, err := s.pathOf(p.TextDocument.URI)
	if err != nil {
		return actions, nil
	}
	for _, c := range s.conversations() {
		s.sync(ctx, c)
		actions = append(actions, review.Actions(c.id(), c.proposal.Proposal(), path, s.client.encoding, p.Range)...)
	}
	actions = append(actions, s.runActions(p)...)
	if !s.client.codeActionLit {
		// A client from before CodeAction takes commands (LSP 3.18 § Code Action).
		bare := []protocol.Command{}
		for _, a := range actions {
			bare = append(bare, a.Command)
		}
		return bare, nil
	}
	return wanted(actions, p.Context.Only), nil
}

// wanted keeps the kinds that the client asks for; a kind has its sub-kinds.
func wanted(actions []protocol.CodeAction, only []string) []protocol.CodeAction {
	if len(only) == 0 {
		return actions
	}
	kept := []protocol.CodeAction{}
	for _, a := range actions {
		for _, kind := range only {
			if a.Kind != nil && (string(*a.Kind) == kind || strings.HasPrefix(string(*a.Kind), kind+".")) {
				kept = append(kept, a)
				break
			}
		}
	}
	return kept
}

// runActions start a run about a problem, a selection or a comment.
func (s *server) runActions(p codeActionParams) []protocol.CodeAction {
	uri := p.TextDocument.URI
	var actions []protocol.CodeAction
	for _, d := range p.Context.Diagnostics {
		prompt := fmt.Sprintf("Fix this problem in %s, line %d: %s", s.displayURI(uri), d.Range.Start.Line+1, d.Message)
		actions = append(actions, runAction("Fix with agentls", protocol.CodeActionKindQuickFix, prompt, runTarget{URI: uri, Range: &d.Range}))
	}
	doc, ok := s.documentText(uri)
	if !ok {
		return actions
	}
	if p.Range.Start != p.Range.End {
		target := runTarget{URI: uri, Range: &p.Range, Mode: readOnlyMode}
		actions = append(actions, runAction("Explain with agentls", protocol.CodeActionKindRefactor, "Explain the selected code.", target))
	}
	if r, ok := s.commentAt(doc, p.Range.Start.Line); ok {
		actions = append(actions, runAction("Do what this comment asks", protocol.CodeActionKindQuickFix, "", runTarget{URI: uri, Range: &r}))
	}
	return actions
}

// commentAt is the run of comment lines at a line, if one of them holds the mark.
func (s *server) commentAt(doc *text.Document, line uint32) (ext.Range, bool) {
	n := doc.Lines()
	at := func(i int) string {
		start, end, _ := doc.Line(i)
		return doc.String()[start:end]
	}
	i := int(line)
	if i >= n || !strings.Contains(at(i), commentMark) {
		return ext.Range{}, false
	}
	start, _, _ := doc.Line(i)
	begin := start + strings.Index(at(i), commentMark)
	last := i
	for last+1 < n && isCommentLine(at(last+1)) {
		last++
	}
	_, end, _ := doc.Line(last)
	return s.toRange(doc, begin, end), true
}

// isCommentLine reports whether a line goes on with a line comment of the usual
// kinds.
func isCommentLine(line string) bool {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"//", "#", "--", ";", "*"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

func runAction(title string, kind protocol.CodeActionKind, prompt string, target runTarget) protocol.CodeAction {
	args := make([]protocol.LSPAny, 2)
	args[0], args[1] = protocol.LSPAny("null"), mustMarshal(target)
	if prompt != "" {
		args[0] = mustMarshal(prompt)
	}
	return protocol.CodeAction{
		Title:   title,
		Kind:    &kind,
		Command: protocol.Command{Title: title, Command: ext.CommandRun, Arguments: args},
	}
}

// mustMarshal is for values of ours that always marshal.
func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func (s *server) toRange(doc *text.Document, start, end int) ext.Range {
	a, b := doc.Position(start, s.client.encoding), doc.Position(end, s.client.encoding)
	return ext.Range{Start: ext.Position(a), End: ext.Position(b)}
}

// slice is the text of a range.
func (s *server) slice(doc *text.Document, r ext.Range) string {
	start, _ := doc.Offset(text.Position(r.Start), s.client.encoding)
	end, _ := doc.Offset(text.Position(r.End), s.client.encoding)
	if end < start {
		start, end = end, start
	}
	return doc.String()[start:end]
}

// documentText is a document as the editor holds it, else as it is on disk.
func (s *server) documentText(uri string) (*text.Document, bool) {
	if snap, ok := s.docs.GetURI(uri); ok {
		return snap.Doc, true
	}
	path, err := s.pathOf(uri)
	if err != nil {
		return nil, false
	}
	doc, err := s.workspace.Base(path)
	if err != nil || !doc.Exists {
		return nil, false
	}
	return text.New(doc.Text), true
}

func (s *server) displayURI(uri string) string {
	path, err := s.pathOf(uri)
	if err != nil {
		return uri
	}
	return s.workspace.Display(path)
}
