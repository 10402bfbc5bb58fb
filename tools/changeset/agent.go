package changeset

import (
	"fmt"

	"github.com/agentls/agentls/tools/text"
)

// Read is the file at path as the agent sees it: the document with what is
// pending or notApplied. A file that is not there is a zero Doc.
func (s *Set) Read(path string) (Doc, error) {
	docs, err := s.fresh(path)
	if err != nil {
		return Doc{}, err
	}
	defer s.mu.Unlock()
	v, ok := s.see(path, docs[0])
	if !ok {
		return Doc{}, nil
	}
	return Doc{Text: v, Exists: true, Open: docs[0].Open}, nil
}

// Saw tells that the agent was shown text as the file at path. A Write of the
// whole file is then understood as a change of that text, so that what the
// user typed since is kept.
func (s *Set) Saw(path, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saw.put(path, text)
}

// Write gives the file at path a new content, or creates it. Where the user
// changed the file since the agent saw it, both changes are merged; where they
// overlap, it is ErrRaced.
func (s *Set) Write(path, content string, o Origin) (Change, error) {
	docs, err := s.fresh(path)
	if err != nil {
		return Change{}, err
	}
	defer s.mu.Unlock()
	return s.write(path, content, docs[0], o)
}

func (s *Set) write(path, content string, d Doc, o Origin) (Change, error) {
	f := s.byPath[path]
	if f != nil && f.path != path {
		var err error
		if f, err = s.vacate(f, path); err != nil {
			return Change{}, err
		}
		if f != nil { // deleted by the agent: it is back, whatever it saw before
			f.path, f.failed, f.origin = path, false, o
			s.saw.put(path, content)
			if !f.exists {
				return s.create(f, content, o), nil
			}
			return s.compose(f, text.Diff(f.render(), content), o), nil
		}
	}
	view, ok := s.see(path, d)
	var edits []text.Edit
	merged := false
	if ok {
		edits, merged, ok = s.intended(path, view, content)
		if !ok {
			return Change{}, ErrRaced
		}
		if len(edits) == 0 {
			return s.unchanged(f), nil
		}
	}
	s.saw.put(path, content)
	if f == nil {
		f = s.add(path, d, o)
	}
	if f.gone { // the user took the file away: it is created anew
		f.gone, f.exists, f.base, f.born = false, false, "", true
		s.setContent(f, content, o)
	}
	if f.operation() == OpCreate {
		if ok {
			content = text.Apply(view, edits)
		}
		c := s.create(f, content, o)
		c.Merged = merged
		return c, nil
	}
	c := s.compose(f, edits, o)
	c.Merged = merged
	return c, nil
}

// intended are the edits of view that the agent means by writing content: its
// change of the text that it was shown last.
func (s *Set) intended(path, view, content string) (edits []text.Edit, merged, ok bool) {
	saw, known := s.saw.get(path)
	if !known || saw == view {
		return text.Diff(view, content), false, true
	}
	edits, ok = carry(saw, view, text.Diff(saw, content))
	return edits, true, ok
}

// carry turns edits of from into edits of to, which is from with other
// changes, and drops those that are made there. It fails where they overlap.
func carry(from, to string, edits []text.Edit) ([]text.Edit, bool) {
	hunks := make([]*hunk, len(edits))
	for i, e := range edits {
		e = text.Trim(from, e)
		hunks[i] = &hunk{start: e.Start, end: e.End, old: from[e.Start:e.End], new: e.New}
	}
	kept, _ := merge(from, to, hunks)
	out := make([]text.Edit, len(kept))
	for i, h := range kept {
		if to[h.start:h.end] != h.old {
			return nil, false
		}
		out[i] = text.Edit{Start: h.start, End: h.end, New: h.new}
	}
	return out, true
}

// Edit changes parts of the file at path. seen is the text that edits are for,
// as Read gave it: if the file is another by now, nothing happens and it is
// ErrRaced. The edits are sorted and disjoint.
func (s *Set) Edit(path, seen string, edits []text.Edit, o Origin) (Change, error) {
	docs, err := s.fresh(path)
	if err != nil {
		return Change{}, err
	}
	defer s.mu.Unlock()
	view, ok := s.see(path, docs[0])
	if !ok {
		return Change{}, &MissingError{path}
	}
	if view != seen {
		return Change{}, ErrRaced
	}
	f := s.byPath[path]
	after := text.Apply(view, edits)
	if after == view {
		return s.unchanged(f), nil
	}
	s.keepSighting(path, view, after, edits)
	if f == nil {
		f = s.add(path, docs[0], o)
	}
	if f.operation() == OpCreate {
		return s.create(f, after, o), nil
	}
	return s.compose(f, lineEdits(view, edits), o), nil
}

// keepSighting brings what the agent saw up to date with its own edits.
func (s *Set) keepSighting(path, view, after string, edits []text.Edit) {
	switch saw, known := s.saw.get(path); {
	case !known:
	case saw == view:
		s.saw.put(path, after)
	default:
		if carried, ok := carry(view, saw, edits); ok {
			s.saw.put(path, text.Apply(saw, carried))
		} else {
			s.saw.drop(path)
		}
	}
}

// Delete proposes that the file at path goes.
func (s *Set) Delete(path string, o Origin) (Change, error) {
	docs, err := s.fresh(path)
	if err != nil {
		return Change{}, err
	}
	defer s.mu.Unlock()
	if _, ok := s.see(path, docs[0]); !ok {
		return Change{}, &MissingError{path}
	}
	return s.delete(path, docs[0], o)
}

func (s *Set) delete(path string, d Doc, o Origin) (Change, error) {
	f := s.byPath[path]
	if f == nil {
		if !d.Exists {
			return Change{}, &UnsavedError{path}
		}
		f = s.add(path, d, o)
	} else if f.exists && !f.saved && !f.born {
		return Change{}, &UnsavedError{path}
	}
	s.saw.drop(path)
	c := Change{Kind: Deleted, FileID: f.id}
	f.path, f.seen, f.failed, f.blocker, f.origin = "", f.base, false, Doc{}, o
	f.hunks = onlyInFlight(f.hunks)
	if f.exists && !f.saved { // only a buffer that the user opened for what was to be created
		f.path = f.old
	}
	s.commit(f)
	if f.shown.Op == "" {
		c.Kind = Withdrawn
	}
	return c, nil
}

// Move proposes that the file at from goes to to, where there must be none as
// the agent sees it.
func (s *Set) Move(from, to string, o Origin) (Change, error) {
	docs, err := s.fresh(from, to)
	if err != nil {
		return Change{}, err
	}
	defer s.mu.Unlock()
	view, ok := s.see(from, docs[0])
	if !ok {
		return Change{}, &MissingError{from}
	}
	if from == to {
		return s.unchanged(s.byPath[from]), nil
	}
	if _, ok := s.see(to, docs[1]); ok {
		return Change{}, &ExistsError{to}
	}
	f, t := s.byPath[from], s.byPath[to]
	if f == nil && !docs[0].Exists || f != nil && f.exists && !f.saved {
		return Change{}, &UnsavedError{from}
	}
	if t != nil && t != f {
		// The editor has a file there: that becomes this one.
		if t.flight != nil || f != nil && f.flight != nil {
			return Change{}, busy(to)
		}
		c, err := s.write(to, view, docs[1], o)
		if err != nil {
			return Change{}, err
		}
		if _, err := s.delete(from, docs[0], o); err != nil {
			return Change{}, err
		}
		c.Kind = Moved
		return c, nil
	}
	if f == nil {
		f = s.add(from, docs[0], o)
	}
	s.saw.drop(from)
	f.path, f.failed, f.blocker, f.origin = to, false, Doc{}, o
	if !f.exists && !f.busy() {
		f.old = to
	}
	s.commit(f)
	c := Change{Kind: Moved, FileID: f.id}
	if f.shown.Op == "" {
		c.Kind = Withdrawn
	}
	return c, nil
}

func busy(path string) error {
	return fmt.Errorf("%s is being changed by the editor just now: try again", path)
}

// busy tells whether anything of f is in flight.
func (f *file) busy() bool { return f.flight != nil || len(onlyInFlight(f.hunks)) > 0 }

func onlyInFlight(hunks []*hunk) (out []*hunk) {
	for _, h := range hunks {
		if h.inFlight() {
			out = append(out, h)
		}
	}
	return out
}

// vacate prepares a path that the agent took the editor's file away from for
// being written again. It gives f where that file was deleted, and nil where
// it was moved: it is created at its new place then, and the editor's own is
// free to be another.
func (s *Set) vacate(f *file, path string) (*file, error) {
	if f.path == "" && f.old == path {
		return f, nil
	}
	if f.busy() || f.old != path {
		return nil, busy(path)
	}
	content := f.render()
	there := f.blocker
	f.old, f.exists, f.base, f.born, f.gone, f.blocker, f.failed = f.path, false, "", true, false, Doc{}, false
	s.setContent(f, content, f.origin)
	s.observeDocument(f, there, nil)
	s.commit(f)
	return nil, nil
}

// see is the file at path as the agent sees it, where d is the document there.
func (s *Set) see(path string, d Doc) (view string, ok bool) {
	f := s.byPath[path]
	if f == nil {
		return d.Text, d.there()
	}
	if f.path != path || f.gone {
		return "", false
	}
	return f.view(), true
}

// view is the text that the agent sees, as of the last commit.
func (f *file) view() string {
	switch f.shown.Op {
	case OpCreate, OpModify, OpRename:
		return f.shown.Proposed() // the same text, and it is kept
	}
	return f.render()
}

// render makes the text that the agent sees.
func (f *file) render() string {
	edits := make([]text.Edit, len(f.hunks))
	for i, h := range f.hunks {
		edits[i] = text.Edit{Start: h.start, End: h.end, New: f.text(h)}
	}
	return text.Apply(f.base, edits)
}

func (s *Set) unchanged(f *file) Change {
	c := Change{Kind: NoChange}
	if f != nil && f.shown.Op != "" {
		c.FileID = f.id
	}
	return c
}

// Overlay is what the agent's files have that the documents have not, for
// listing and searching. The texts are shared: do not keep them for long.
type Overlay struct {
	// Present are files that are not there yet: created, or renamed to.
	Present map[string]string
	// Modified are files that are there with another text.
	Modified map[string]string
	// Gone are paths of files that were deleted or moved away.
	Gone []string
}

// Overlay gives the overlay as it is now.
func (s *Set) Overlay() Overlay {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := Overlay{Present: map[string]string{}, Modified: map[string]string{}}
	for _, f := range s.files {
		switch op := f.operation(); {
		case f.gone:
		case op == OpCreate:
			o.Present[f.path] = f.view()
		case op == OpRename:
			o.Present[f.path] = f.view()
			o.Gone = append(o.Gone, f.old)
		case op == OpDelete:
			o.Gone = append(o.Gone, f.old)
		case op == OpModify:
			o.Modified[f.path] = f.view()
		}
	}
	return o
}
