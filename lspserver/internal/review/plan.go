package review

import (
	"context"
	"errors"
	"slices"

	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// planned is a file's edit together with the document that it was made for.
type planned struct {
	fileEdit
	path string
	text string
}

var (
	errCancelled = errors.New("cancelled before the editor was asked")
	errUnsteady  = errors.New("the document keeps changing: accept again")
)

// plan works out what the editor is to do, against the documents as they are
// now; what it cannot be asked for is withheld.
func (a *Applier) plan(ctx context.Context, d *delivery) ([]planned, error) {
	waited := false
	for range 5 {
		if ctx.Err() != nil {
			return nil, errCancelled
		}
		a.look(d)
		if !waited && a.stale(d.batch) {
			// Editors take a moment to reload what a command or a checkout wrote.
			waited = true
			a.until(ctx, func() bool { return !a.stale(d.batch) })
			continue
		}
		if plan, ok := a.planFiles(d); ok {
			return plan, nil
		}
	}
	return nil, errUnsteady
}

func (a *Applier) stale(batch *changeset.Batch) bool {
	return slices.ContainsFunc(batch.Files, func(f changeset.FileEdit) bool {
		_, disk := a.Docs.Disk(f.Document())
		return disk == document.Stale
	})
}

// planFiles is false where a document is not what the batch was made for.
func (a *Applier) planFiles(d *delivery) (plan []planned, ok bool) {
	d.withheld = map[string]withheld{}
	for _, f := range d.batch.Files {
		path := f.Document()
		snap, disk := a.Docs.Disk(path)
		switch {
		case disk == document.Stale:
			reason := a.Display(path) + " changed on disk and the editor still has the old text: reload it there, then accept again"
			d.withheld[f.FileID] = withheld{true, reason}
			d.batch.Skip(f.FileID, reason)
			continue
		case disk != document.NotOpen && snap.Doc.String() != f.Base:
			return nil, false
		}
		p := planned{path: path, text: f.Base, fileEdit: fileEdit{uri: a.Docs.URI(path), operation: f.Op}}
		doc := snap.Doc
		if disk == document.NotOpen {
			doc = text.New(f.Base)
		} else {
			p.uri, p.version = snap.URI, new(snap.Version)
		}
		if reason := a.refused(f); reason != "" {
			d.withheld[f.FileID] = withheld{false, reason}
			d.batch.Skip(f.FileID, reason)
			p.operation = changeset.OpModify
		}
		p.edits = a.textEdits(doc, p.operation, f)
		if p.operation == changeset.OpRename {
			p.newURI = a.Docs.URI(f.Path)
		}
		if len(p.edits) > 0 || p.operation != changeset.OpModify {
			plan = append(plan, p)
		}
	}
	return plan, true
}

// textEdits are the edits of the text of f, whose document is doc.
func (a *Applier) textEdits(doc *text.Document, operation changeset.Op, f changeset.FileEdit) []textEdit {
	edits, enc := f.Edits, a.Docs.Encoding()
	if operation == changeset.OpCreate && f.Want != "" {
		edits = []text.Edit{{New: f.Want}}
	}
	if !a.Capabilities.Neovim {
		return textEdits(doc, edits, enc)
	}
	out := textEdits(doc, beforeLastEnding(doc.String(), edits), enc)
	overLastLine(doc, out, enc)
	return out
}

// refused is why the file operation of f is not sent to this editor. What an
// editor does with an operation that it did not declare is anybody's guess:
// eglot does half of the edit, then fails.
func (a *Applier) refused(f changeset.FileEdit) string {
	name := a.Display(f.Path)
	switch {
	case f.Op == changeset.OpCreate && !a.Capabilities.Create:
		return "this editor does not create files for a language server: make an empty " + name + ", open it, and accept again"
	case f.Op == changeset.OpRename && !a.Capabilities.Rename:
		return "this editor does not rename files for a language server: rename " + a.Display(f.OldPath) + " to " + name + " yourself"
	case f.Op == changeset.OpDelete && !a.Capabilities.Delete:
		return "this editor does not delete files for a language server: delete " + name + " yourself"
	}
	return ""
}

// raced reports whether a document is not the one any more that the plan was
// made for: the reason of a refusal that is worth another try.
func (a *Applier) raced(plan []planned) bool {
	return slices.ContainsFunc(plan, func(p planned) bool {
		if snap, open := a.Docs.Get(p.path); open {
			return p.version != nil && *p.version != snap.Version || snap.Doc.String() != p.text
		}
		d, err := a.Rebaser.source.Base(p.path)
		return p.version != nil || err == nil && d.Text != p.text
	})
}

// outdated reports whether an editor that looks at versions had to leave the
// plan alone. Where it was told no version, an edit that comes late would be
// made twice.
func (a *Applier) outdated(plan []planned) bool {
	if a.Capabilities.Neovim && (len(plan) > 1 || plan[0].version == nil || *plan[0].version == 0) {
		return false
	}
	outdated := false
	for _, p := range plan {
		snap, open := a.Docs.Get(p.path)
		if !open || p.version == nil || !a.Capabilities.DocumentChanges {
			return false
		}
		outdated = outdated || *p.version != snap.Version
	}
	return outdated
}
