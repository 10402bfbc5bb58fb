package review

import (
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// The answers to Question, in the order in which they are offered.
const (
	AnswerApply    = "Apply"
	AnswerShowDiff = "Show diff"
	AnswerKeep     = "Keep pending"
	AnswerReject   = "Reject"
)

// Question is what a client without a review of its own is asked at the end of
// a run: how much it is, and which files. display names a path for the user.
func Question(p changeset.Proposal, display func(path string) string) string {
	const named = 5
	var added, removed int
	var names []string
	for i, f := range p.Files {
		added, removed = added+f.Added, removed+f.Removed
		if i < named {
			names = append(names, describe(f, display))
		}
	}
	if more := len(p.Files) - named; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("agentls proposes changes to %s (+%d -%d): %s", count(len(p.Files), "file"), added, removed, strings.Join(names, ", "))
}

func describe(f changeset.File, display func(string) string) string {
	name := display(f.Path)
	if f.State == changeset.Conflicted {
		return name + " (in conflict with your edits)"
	}
	switch f.Op {
	case changeset.OpCreate:
		return name + " (new)"
	case changeset.OpDelete:
		return name + " (deleted)"
	case changeset.OpRename:
		return display(f.OldPath) + " → " + name
	}
	return name
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// offer is one thing that can be decided in a document, and the lines where it
// shows.
type offer struct {
	id         string
	title      string
	at         ext.Range
	conflicted bool // accepting would do nothing
}

// offers are what waits in the document of path: each hunk of its text, or the
// file as a whole where that is created or deleted.
func offers(p changeset.Proposal, path string, enc text.Encoding) (all []offer) {
	for _, f := range p.Files {
		var here ext.Range
		switch {
		case f.Op == changeset.OpRename && f.OldPath == path:
			all = append(all, offer{f.FileID, "move of this file", here, f.State == changeset.Conflicted})
		case f.Path != path || f.Op == changeset.OpRename:
			continue
		case f.Op == changeset.OpCreate:
			all = append(all, offer{f.FileID, "new file", here, f.State == changeset.Conflicted})
			continue
		case f.Op == changeset.OpDelete:
			all = append(all, offer{f.FileID, "deletion of this file", here, f.State == changeset.Conflicted})
			continue
		}
		d := text.New(f.Base)
		for _, h := range f.Hunks {
			all = append(all, offer{h.HunkID, hunkTitle(h), rangeOf(d, h.Start, h.End, enc), h.State == changeset.Conflicted})
		}
	}
	return all
}

func hunkTitle(h changeset.Hunk) string {
	lines := func(s string) int { return len(strings.SplitAfter(strings.TrimRight(s, "\r\n"), "\n")) }
	size := ""
	switch {
	case h.OldText == "":
		size = "+" + count(lines(h.NewText), "line")
	case h.NewText == "":
		size = "-" + count(lines(h.OldText), "line")
	default:
		size = fmt.Sprintf("-%d +%d", lines(h.OldText), lines(h.NewText))
	}
	if h.State == changeset.Conflicted {
		size += ", in conflict with your edits"
	}
	if h.Intent != "" {
		return fmt.Sprintf("%s (%s)", h.Intent, size)
	}
	return "change " + size
}

// Lenses are *Apply · Reject · Show diff* over everything that waits in a
// document. They carry commands that a plain client sends back and a client
// with a plugin has registered itself; ids are unique in their session only, so
// that each names it.
func Lenses(session string, p changeset.Proposal, path string, enc text.Encoding) []protocol.CodeLens {
	var lenses []protocol.CodeLens
	for _, o := range offers(p, path, enc) {
		// A lens belongs to one line (LSP 3.18 § Code Lens).
		line := protocol.Position{Line: o.at.Start.Line, Character: o.at.Start.Character}
		for _, c := range commands(session, o) {
			lenses = append(lenses, protocol.CodeLens{Range: protocol.Range{Start: line, End: line}, Command: c})
		}
	}
	return lenses
}

// Actions are the same as code actions, for what touches a range.
func Actions(session string, p changeset.Proposal, path string, enc text.Encoding, at ext.Range) []protocol.CodeAction {
	var actions []protocol.CodeAction
	kind := protocol.CodeActionKindQuickFix
	for _, o := range offers(p, path, enc) {
		if o.at.End.Line < at.Start.Line || at.End.Line < o.at.Start.Line {
			continue
		}
		for _, c := range commands(session, o) {
			title := c.Title + ": " + o.title
			c.Title = title
			actions = append(actions, protocol.CodeAction{Title: title, Kind: &kind, Command: c})
		}
	}
	return actions
}

func commands(session string, o offer) []protocol.Command {
	args := []protocol.LSPAny{fmt.Appendf(nil, "%q", o.id), fmt.Appendf(nil, "%q", session)} // ids are plain ASCII
	var out []protocol.Command
	for _, c := range []struct{ title, command string }{
		{AnswerApply, ext.CommandAccept}, {AnswerReject, ext.CommandReject}, {AnswerShowDiff, ext.CommandShowDiff},
	} {
		if c.command == ext.CommandAccept && o.conflicted {
			continue
		}
		out = append(out, protocol.Command{Title: c.title, Command: c.command, Arguments: args})
	}
	return out
}
