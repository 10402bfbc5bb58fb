package checkpoint

import (
	"errors"
	"slices"
	"time"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// verdict is what came of one file's edit.
type verdict struct {
	step *step               // what landed, nil for nothing
	rest *changeset.FileEdit // what did not
}

// landed finds out what of files is in the documents, by the results, and by
// the documents where the results do not tell.
func (l *Log) landed(files []changeset.FileEdit, results []changeset.Result) []verdict {
	out := make([]verdict, len(files))
	for i, f := range files {
		var operation changeset.State
		all, some := true, false
		for _, r := range results {
			if r.FileID != f.FileID || r.State == changeset.Rejected {
				continue
			}
			if r.HunkID == "" {
				operation = r.State
				continue
			}
			ok := r.State == changeset.Applied || r.State == changeset.Modified
			all, some = all && ok, some || ok
		}
		out[i] = l.verdict(f, operation == changeset.Applied, all, some)
	}
	return out
}

// verdict is that on one file: whether its operation was done, and all or some
// of its hunks.
func (l *Log) verdict(f changeset.FileEdit, done, all, some bool) verdict {
	switch f.Op {
	case changeset.OpCreate:
		if !some {
			return verdict{rest: &f}
		}
	case changeset.OpDelete:
		if !done {
			return verdict{rest: &f}
		}
		return verdict{step: &step{fileID: f.FileID, op: f.Op, path: f.Path, before: newBlob(f.Base)}}
	case changeset.OpRename:
		if !done {
			return l.notRenamed(f, all, some)
		}
	}
	s := &step{fileID: f.FileID, op: f.Op, path: f.Path, oldPath: f.OldPath}
	before, edits := editsOf(f)
	landed, left := l.edits(s.path, before, edits, all, some)
	if s.op == changeset.OpModify && len(landed) == 0 {
		return verdict{rest: &f}
	}
	s.before, s.edits = newBlob(before), landed
	v := verdict{step: s}
	if len(left) > 0 {
		rest := changeset.FileEdit{FileID: f.FileID, Op: changeset.OpModify, Path: f.Path, Base: s.after(), Edits: onTop(left, landed)}
		v.rest = &rest
	}
	return v
}

// notRenamed is the verdict where a rename is not done, but perhaps its edits.
func (l *Log) notRenamed(f changeset.FileEdit, all, some bool) verdict {
	landed, left := l.edits(f.OldPath, f.Base, f.Edits, all, some)
	if len(landed) == 0 {
		return verdict{rest: &f}
	}
	s := &step{fileID: f.FileID, op: changeset.OpModify, path: f.OldPath, before: newBlob(f.Base), edits: landed}
	f.Base, f.Edits = s.after(), onTop(left, landed)
	return verdict{step: s, rest: &f}
}

// edits are those that the document at path shows, and the others.
func (l *Log) edits(path, before string, edits []text.Edit, all, some bool) (landed, left []text.Edit) {
	if !some {
		return nil, edits
	}
	now, err := l.src.Base(path)
	switch {
	case err != nil || !now.Exists && !now.Open:
		if all {
			return edits, nil
		}
		return nil, edits
	case all:
		return asFormatted(before, edits, now.Text), nil
	}
	return shown(before, edits, now.Text)
}

// asFormatted are the edits that make now of before, where now is what edits
// make of it but for white space: editors give a new file their own line
// endings or a last one, and format on the way.
func asFormatted(before string, edits []text.Edit, now string) []text.Edit {
	after := text.Apply(before, edits)
	if len(edits) == 0 || now == after || !sameButSpace(now, after) {
		return edits
	}
	if before == "" {
		return whole(now)
	}
	return text.Diff(before, now)
}

// maxOpen is how many edits are remembered that did not land.
const maxOpen = 200

// keepOpen remembers that f may land yet. l.mu is held.
func (l *Log) keepOpen(runID string, f changeset.FileEdit, t time.Time) {
	before, edits := editsOf(f)
	s := &step{fileID: f.FileID, op: f.Op, path: f.Path, oldPath: f.OldPath, before: l.blob(newBlob(before)), edits: edits, state: open}
	s.entry = &entry{runID: runID, time: t}
	l.lastSeq++
	s.seq = l.lastSeq
	l.steps = append(l.steps, s)
	l.unsaved.steps[s.seq] = true
	waiting := 0
	for _, s := range slices.Backward(l.steps) {
		if s.state != open {
			continue
		}
		if waiting++; waiting > maxOpen {
			l.remove(s)
			break
		}
	}
}

// forgetOpen forgets what was asked for before in the documents of files: if
// it has not landed by now, what is asked for now takes its place.
func (l *Log) forgetOpen(files []changeset.FileEdit) {
	for _, f := range files {
		for _, s := range slices.Clone(l.steps) {
			if s.state == open && (s.touches(f.Path) || f.OldPath != "" && s.touches(f.OldPath)) {
				l.remove(s)
			}
		}
	}
}

func (l *Log) remove(s *step) {
	l.steps = slices.DeleteFunc(l.steps, func(o *step) bool { return o == s })
	l.unsaved.forget(s.seq)
}

// Look takes in what landed after it had been given up: List and Plan call it.
func (l *Log) Look() {
	l.lookAt(nil)
}

var errNotAsked = errors.New("not looked at")

// lookAt looks for what is open in docs, and nowhere else; where docs is nil,
// in the documents as they are.
func (l *Log) lookAt(docs map[string]changeset.Doc) {
	look := l.src.Base
	if docs != nil {
		look = func(path string) (changeset.Doc, error) {
			d, ok := docs[path]
			if !ok {
				return changeset.Doc{}, errNotAsked
			}
			return d, nil
		}
	}
	l.mu.Lock()
	var waiting []*step
	for _, s := range l.steps {
		if s.state == open {
			waiting = append(waiting, s)
		}
	}
	l.mu.Unlock()
	for _, s := range waiting {
		late := s.landedLate(look)
		if late == nil {
			continue
		}
		l.mu.Lock()
		if slices.Contains(l.steps, s) {
			l.remove(s)
			if !l.lost[s.entry.runID] {
				l.add(l.entryOf(s.entry.runID, s.entry.time), late)
			}
		}
		l.mu.Unlock()
	}
}

// landedLate is what of s the documents show, nil for nothing.
func (s *step) landedLate(look func(string) (changeset.Doc, error)) *step {
	there := func(path string) (string, bool, bool) {
		d, err := look(path)
		return d.Text, d.Exists || d.Open, err == nil
	}
	found := &step{fileID: s.fileID, op: s.op, path: s.path, oldPath: s.oldPath, before: s.before}
	now, exists, known := there(s.path)
	if !known {
		return nil
	}
	switch s.op {
	case changeset.OpDelete:
		if exists {
			return nil
		}
		return found
	case changeset.OpCreate:
		content := s.after()
		if !exists || !contains(now, content) {
			return nil
		}
		found.edits = asFormatted("", s.edits, now)
		return found
	case changeset.OpRename:
		old, stays, known := there(s.oldPath)
		if !known {
			return nil
		}
		if exists && !stays {
			found.edits, _ = shown(s.before.text, s.edits, now)
			return found
		}
		found.op, found.path, found.oldPath = changeset.OpModify, s.oldPath, ""
		now, exists = old, stays
	}
	if !exists {
		return nil
	}
	if found.edits, _ = shown(s.before.text, s.edits, now); len(found.edits) == 0 {
		return nil
	}
	return found
}

// contains tells whether now is content, white space aside, or content with
// lines put in.
func contains(now, content string) bool {
	if sameButSpace(now, content) {
		return true
	}
	for _, e := range text.Diff(content, now) {
		if e.Start < e.End {
			return false
		}
	}
	return content != ""
}
