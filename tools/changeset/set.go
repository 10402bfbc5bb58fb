package changeset

import (
	"fmt"
	"slices"
	"sync"
)

// Set is the proposal of one session.
type Set struct {
	src Source

	mu sync.Mutex
	// files in the order in which the agent first touched them.
	files []*file
	// byPath finds a file by every path that it has to do with: where its
	// document is, where the agent sees it, where an operation in flight
	// takes it.
	byPath map[string]*file
	// lastID is the number of the newest id; they are shared by hunks and files.
	lastID   int64
	revision int64
	changed  chan struct{} // closed at the next revision
	// rebases counts calls of Rebase: a text that the Source gave before one
	// may be older than what it brought.
	rebases  int64
	saw      sightings
	outcomes []Outcome
}

// New makes an empty proposal over the documents of src.
func New(src Source) *Set {
	return &Set{src: src, byPath: map[string]*file{}, changed: make(chan struct{})}
}

// Proposal is a snapshot of everything that is not settled. It costs nothing
// where nothing changed.
func (s *Set) Proposal() Proposal {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := Proposal{Revision: s.revision, Files: make([]File, 0, len(s.files))}
	for _, f := range s.files {
		if f.shown.Op != "" {
			p.Files = append(p.Files, f.shown)
		}
	}
	return p
}

// Changed is a channel that is closed when the revision next grows. Take it
// before looking at the proposal.
func (s *Set) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Sides are the two texts of a path: the document as it is, and as it is to
// be. Where nothing is proposed both are the same; the base of a create and
// the proposed text of a delete are empty. A rename answers for both paths.
func (s *Set) Sides(path string) (base, proposed string, err error) {
	s.mu.Lock()
	if f := s.byPath[path]; f != nil && f.shown.Op != "" {
		shown := f.shown
		s.mu.Unlock()
		return shown.Base, shown.Proposed(), nil
	}
	s.mu.Unlock()
	d, err := s.src.Base(path)
	if err != nil {
		return "", "", err
	}
	return d.Text, d.Text, nil
}

func (s *Set) newHunk(o Origin) *hunk {
	s.lastID++
	return &hunk{id: fmt.Sprintf("h%d", s.lastID), num: s.lastID, origin: o}
}

// commit ends every change: what is left without meaning leaves, what is shown
// is made anew, and the revision grows where that differs.
func (s *Set) commit(touched ...*file) Moves {
	effect := Unmoved
	next := s.revision + 1
	for _, f := range touched {
		was := f.shown.Op
		if f.empty() {
			f.shown = File{}
			s.remove(f)
			if was != "" {
				effect = Altered
			}
			continue
		}
		s.index(f)
		effect = max(effect, f.show(next))
	}
	if effect != Unmoved {
		s.revision = next
		close(s.changed)
		s.changed = make(chan struct{})
	}
	return effect
}

// add takes a new file in.
func (s *Set) add(path string, d Doc, o Origin) *file {
	s.lastID++
	f := &file{id: fmt.Sprintf("f%d", s.lastID), old: path, path: path, base: d.Text, exists: d.there(), open: d.Open, saved: d.Exists, origin: o}
	f.born = !f.exists
	s.files = append(s.files, f)
	s.index(f)
	return f
}

func (s *Set) remove(f *file) {
	s.unindex(f)
	s.files = slices.DeleteFunc(s.files, func(g *file) bool { return g == f })
}

// index makes f be found by the paths that it has to do with now.
func (s *Set) index(f *file) {
	s.unindex(f)
	f.indexed = f.indexed[:0]
	paths := []string{f.old, f.path}
	if f.flight != nil {
		paths = append(paths, f.flight.edit.Path)
	}
	for _, p := range paths {
		if p != "" && s.byPath[p] == nil {
			s.byPath[p] = f
			f.indexed = append(f.indexed, p)
		}
	}
}

func (s *Set) unindex(f *file) {
	for _, p := range f.indexed {
		if s.byPath[p] == f {
			delete(s.byPath, p)
		}
	}
	f.indexed = nil
}

func (s *Set) fileByID(id string) *file {
	i := slices.IndexFunc(s.files, func(f *file) bool { return f.id == id && f.shown.Op != "" })
	if i < 0 {
		return nil
	}
	return s.files[i]
}
