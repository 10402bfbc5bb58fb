package review

import (
	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// Wire is a proposal as clients read it: documents in the editor's spelling,
// ranges in its position encoding. display names paths in the patches. The
// caller fills in the session's id.
func Wire(p changeset.Proposal, docs *document.Store, enc text.Encoding, display func(path string) string) ext.Proposal {
	out := ext.Proposal{Revision: p.Revision, Files: make([]ext.FileChange, 0, len(p.Files))}
	for _, f := range p.Files {
		old := f.OldPath
		if old != "" {
			old = display(old)
		}
		change := ext.FileChange{FileSummary: Summary(f, docs), Patch: f.Patch(display(f.Path), old), Hunks: make([]ext.Hunk, 0, len(f.Hunks))}
		d := text.New(f.Base)
		for _, h := range f.Hunks {
			change.Hunks = append(change.Hunks, ext.Hunk{
				HunkID:     h.HunkID,
				State:      string(h.State),
				Range:      rangeOf(d, h.Start, h.End, enc),
				OldText:    h.OldText,
				NewText:    h.NewText,
				ToolCallID: h.ToolCallID,
				Intent:     h.Intent,
				Reason:     h.Reason,
			})
		}
		out.Files = append(out.Files, change)
	}
	return out
}

// Summary is one file without its patch and hunks.
func Summary(f changeset.File, docs *document.Store) ext.FileSummary {
	s := ext.FileSummary{
		FileID:  f.FileID,
		Op:      string(f.Op),
		URI:     docs.URI(f.Path),
		Added:   f.Added,
		Removed: f.Removed,
		State:   string(f.State),
	}
	if f.OldPath != "" {
		s.OldURI = docs.URI(f.OldPath)
	}
	return s
}
