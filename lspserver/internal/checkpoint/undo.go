package checkpoint

import (
	"slices"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// doc is a document as undoing has it by now.
type doc struct {
	// src is where it is, empty where undoing creates it; there it is as real
	// says, or cannot be read.
	src   string
	real  changeset.Doc
	fault error
	// path is where undoing has it by now, empty for nowhere.
	path  string
	move  int // which move took it there last, 0 for none
	text  string
	edits []text.Edit // of real.Text: they make text
	steps []*step     // that were about it, newest first

	conflicts []conflict
}

// conflict is a part that cannot be undone.
type conflict struct {
	at     int // offset in the text, or -1
	reason string
}

// Reasons of conflicts of a file as a whole.
const (
	reasonMissing = "the file is not there any more"
	reasonTaken   = "there is a file again in its place: that was left as it is"
	reasonUnsaved = "it is a buffer that was never saved, and has no file to move back"
	reasonKept    = "there is text in it that the run did not put there: the file stays"
)

func (d *doc) fail(reason string) {
	if !slices.ContainsFunc(d.conflicts, func(c conflict) bool { return c.at < 0 && c.reason == reason }) {
		d.conflicts = append(d.conflicts, conflict{-1, reason})
	}
}

// planner undoes steps on documents that only it has.
type planner struct {
	src    changeset.Source
	docs   []*doc
	byPath map[string]*doc
	moves  int
}

// at is the document that is at path by now, or one that is nowhere.
func (p *planner) at(path string) *doc {
	if d := p.byPath[path]; d != nil {
		return d
	}
	d := p.vacate(path)
	if d.real, d.fault = p.src.Base(path); d.fault != nil || d.real.Exists || d.real.Open {
		d.src, d.path, d.text = path, path, d.real.Text
	}
	return d
}

// vacate has nothing at path.
func (p *planner) vacate(path string) *doc {
	d := &doc{}
	p.byPath[path] = d
	p.docs = append(p.docs, d)
	return d
}

// undo undoes one step and gives the document that it is about.
func (p *planner) undo(s *step) *doc {
	d := p.at(s.path)
	switch {
	case d.fault != nil:
		d.fail(d.fault.Error())
	case s.op == changeset.OpDelete:
		d.uncover(s)
	case s.op == changeset.OpCreate:
		p.uncreate(d, s)
	case s.op == changeset.OpRename:
		return p.moveBack(d, s)
	default:
		d.unmake(s)
	}
	return d
}

// uncover brings a deleted file back.
func (d *doc) uncover(s *step) {
	switch {
	case d.path == "":
		d.path, d.text = s.path, s.before.text
		d.edits = text.Diff(d.real.Text, d.text)
	case d.text != s.before.text:
		d.fail(reasonTaken)
	}
}

// uncreate takes a created file away, if nothing but what runs put there is in
// it.
func (p *planner) uncreate(d *doc, s *step) {
	if d.path == "" { // as it was before, whatever else was missed
		d.conflicts = nil
		return
	}
	content, clean := s.after(), len(d.conflicts) == 0
	if !clean || !nothingBut(d.text, content) {
		d.merge("", whole(content))
		if !clean || len(d.conflicts) > 0 {
			return
		}
		if d.text != "" {
			d.fail(reasonKept)
			return
		}
	}
	d.path, d.text, d.edits = "", "", nil
	if d.src != s.path {
		p.vacate(s.path)
	}
}

// moveBack undoes a rename and gives the document that it is about. Where that
// cannot be, what came before is still looked for in that document.
func (p *planner) moveBack(d *doc, s *step) *doc {
	old := p.at(s.oldPath)
	switch {
	case d.path == "" && old.path != "": // the user moved it back
		d = old
	case d.path == "":
		d.fail(reasonMissing)
	case old.path != "":
		d.fail(reasonTaken)
	case d.src != "" && !d.real.Exists:
		d.fail(reasonUnsaved)
	default:
		p.moves++
		d.path, d.move = s.oldPath, p.moves
		p.vacate(s.path)
	}
	p.byPath[s.oldPath] = d
	if d.path != "" {
		d.unmake(s)
	}
	return d
}

// unmake takes the edits of a step back.
func (d *doc) unmake(s *step) {
	switch {
	case len(s.edits) == 0:
	case d.path == "":
		d.fail(reasonMissing)
	default:
		d.merge(s.before.text, s.edits)
	}
}

func (d *doc) merge(before string, made []text.Edit) {
	edits, conflicts := undone(before, made, d.text)
	for i := range d.conflicts {
		if c := &d.conflicts[i]; c.at >= 0 {
			c.at = shifted(c.at, edits)
		}
	}
	for _, at := range conflicts {
		d.conflicts = append(d.conflicts, conflict{at: shifted(at, edits)})
	}
	switch {
	case len(edits) == 0:
		return
	case len(d.edits) == 0:
		d.edits = edits
	default:
		d.edits = composed(d.real.Text, d.edits, edits)
	}
	d.text = text.Apply(d.text, edits)
}

// nothingBut tells whether there is nothing in s but lines of content, white
// space aside.
func nothingBut(s, content string) bool {
	if sameButSpace(s, content) {
		return true
	}
	return !slices.ContainsFunc(text.Diff(content, s), func(e text.Edit) bool { return e.New != "" })
}
