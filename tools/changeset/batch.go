package changeset

import "github.com/agentls/agentls/tools/text"

// Batch is what one call of Resolve asks of an editor. Files are independent
// of each other and may be done in any order.
type Batch struct {
	Files []FileEdit

	set   *Set
	items []*item // in the order of the decisions
	// skipped says of which file the operation was not sent, and why.
	skipped map[string]string
}

// Skip notes that the operation of a file (its creation, deletion or rename;
// not the edits of a rename) is not asked of the editor, and why.
func (b *Batch) Skip(fileID, reason string) {
	if b.skipped == nil {
		b.skipped = map[string]string{}
	}
	b.skipped[fileID] = reason
}

// item is one decided hunk or operation on its way to its result.
type item struct {
	batch   *Batch
	file    *file
	outcome Outcome // as it is told; its state is empty until it is known
}

// asked is what was decided of a hunk.
type asked struct {
	// want is the text that is to be in the hunk's place, on what was there
	// when it was decided.
	want, on string
	items    []*item
	flying   bool // the editor was asked and it is not yet known what it did
	// parts are the edits that the editor was asked for, where the agent has
	// joined hunks in flight since; else there is one.
	parts []part
	// landed are the decisions of those parts that are done, until that is told.
	landed []*item
}

// part is an edit in flight within a hunk; offsets count from its start.
type part struct {
	start, end int
	want       string
	items      []*item
}

// flights are the edits in flight within the hunk, as long as the text under
// it is what they are for.
func (h *hunk) flights(base string) []part {
	if h.asked.parts != nil && base[h.start:h.end] == h.asked.on {
		return h.asked.parts
	}
	return []part{{0, h.end - h.start, h.asked.want, h.asked.items}}
}

// fileFlight is a delete or rename that the editor was asked for.
type fileFlight struct {
	edit FileEdit
	item *item
}

// conclude notes what became of a decision, for its result and for the model.
func (s *Set) conclude(it *item, state State, reason string) {
	it.outcome.State, it.outcome.Reason = state, reason
	s.outcomes = append(s.outcomes, it.outcome)
}

// edit is what the editor is to do with f for the hunks given, and the
// operation where op is one.
func (f *file) edit(op Op, hunks []*hunk) FileEdit {
	e := FileEdit{FileID: f.id, Op: op, Path: f.old, Base: f.base}
	switch op {
	case OpRename:
		e.OldPath, e.Path = f.old, f.path
	case OpDelete:
		return e
	case OpCreate:
		e.Path, e.Want = f.path, hunks[0].want()
		return e
	}
	for _, h := range hunks {
		// Trimmed again: the user's own text may keep more of the lines.
		t := text.Trim(f.base, text.Edit{Start: h.start, End: h.end, New: h.want()})
		if t.Start < t.End || t.New != "" {
			e.Edits = append(e.Edits, t)
		}
	}
	e.Want = text.Apply(f.base, e.Edits)
	return e
}

// Refresh makes b.Files anew from the documents as they are now, for another
// try after the editor refused a version: what has not landed and whose text
// is still what was decided on. It tells whether anything is left to ask.
func (s *Set) Refresh(b *Batch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var files []FileEdit
	for _, was := range b.Files {
		f := b.fileOf(was.FileID)
		var hunks []*hunk
		for _, h := range f.hunks {
			if h.inFlight() && f.base[h.start:h.end] == h.asked.on && !f.gone {
				hunks = append(hunks, h)
			}
		}
		op := OpModify
		switch {
		case f.flight != nil:
			if state, _ := f.operationState(); state != Conflicted {
				op = f.flight.edit.Op
			}
		case was.Op == OpCreate && !f.exists:
			op = OpCreate
		}
		if len(hunks) == 0 && (op == OpModify || op == OpCreate) {
			continue
		}
		e := f.edit(op, hunks)
		if op == OpRename {
			e.Path = f.flight.edit.Path
		}
		files = append(files, e)
	}
	b.Files = files
	return len(files) > 0
}

func (b *Batch) fileOf(id string) *file {
	for _, it := range b.items {
		if it.file.id == id {
			return it.file
		}
	}
	panic("changeset: a batch names a file that nobody decided on: " + id)
}
