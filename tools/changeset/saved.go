package changeset

import (
	"fmt"
	"strconv"
	"strings"
)

// savedVersion is that of Saved's form.
const savedVersion = 1

// Saved is all of a Set that must survive, ready for JSON. It shares its texts
// with the set and costs little to make.
type Saved struct {
	Version  int         `json:"version"`
	Revision int64       `json:"revision"`
	LastID   int64       `json:"lastId"`
	Files    []SavedFile `json:"files,omitempty"`
	Outcomes []Outcome   `json:"outcomes,omitempty"`
}

// SavedFile is a file of a Saved.
type SavedFile struct {
	ID      string      `json:"id"`
	Old     string      `json:"old"`
	Path    string      `json:"path,omitempty"`
	Base    string      `json:"base,omitempty"`
	Exists  bool        `json:"exists,omitempty"`
	Open    bool        `json:"open,omitempty"`
	Saved   bool        `json:"saved,omitempty"`
	Born    bool        `json:"born,omitempty"`
	Gone    bool        `json:"gone,omitempty"`
	Blocker Doc         `json:"blocker"`
	Seen    string      `json:"seen,omitempty"`
	Failed  bool        `json:"failed,omitempty"`
	Reason  string      `json:"reason,omitempty"`
	Origin  Origin      `json:"origin"`
	Changed int64       `json:"changed"`
	Added   int64       `json:"added"`
	Hunks   []SavedHunk `json:"hunks,omitempty"`
	// Asked is the decision on an operation that was in flight.
	Asked *Outcome `json:"asked,omitempty"`
	To    string   `json:"to,omitempty"`
	Op    Op       `json:"op,omitempty"`
}

// SavedHunk is a hunk of a SavedFile.
type SavedHunk struct {
	ID      string `json:"id"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Old     string `json:"old"`
	New     string `json:"new"`
	Failed  bool   `json:"failed,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Origin  Origin `json:"origin"`
	Changed int64  `json:"changed"`
	Added   int64  `json:"added"`
	// Want and Asked are what was decided of it, Next what the agent wrote on
	// it in flight.
	Want   string    `json:"want,omitempty"`
	Asked  []Outcome `json:"asked,omitempty"`
	Flying bool      `json:"flying,omitempty"`
	Next   *string   `json:"next,omitempty"`
}

// Save gives the state to keep. What is in flight is saved as asked for and
// not known to be done.
func (s *Set) Save() Saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Saved{Version: savedVersion, Revision: s.revision, LastID: s.lastID, Outcomes: append([]Outcome(nil), s.outcomes...)}
	for _, f := range s.files {
		g := SavedFile{ID: f.id, Old: f.old, Path: f.path, Base: f.base, Exists: f.exists, Open: f.open, Saved: f.saved, Born: f.born,
			Gone: f.gone, Blocker: f.blocker, Seen: f.seen, Failed: f.failed, Reason: f.reason, Origin: f.origin, Changed: f.changed, Added: f.added}
		if f.flight != nil {
			asked := f.flight.item.outcome // it changes when it is known what came of it
			g.Asked, g.To, g.Op = &asked, f.flight.edit.Path, f.flight.edit.Op
		}
		for _, h := range f.hunks {
			k := SavedHunk{ID: h.id, Start: h.start, End: h.end, Old: h.old, New: h.new, Failed: h.failed, Reason: h.reason,
				Origin: h.origin, Changed: h.changed, Added: h.added, Next: h.next}
			if h.asked != nil {
				k.Want, k.Flying = h.asked.want, h.asked.flying
				for _, it := range h.asked.items {
					k.Asked = append(k.Asked, it.outcome)
				}
			}
			g.Hunks = append(g.Hunks, k)
		}
		out.Files = append(out.Files, g)
	}
	return out
}

// Restore makes the Set that was saved, over the documents of src as they are
// now: what was applied before, or while nobody looked, has left it.
func Restore(src Source, saved Saved) (*Set, error) {
	if saved.Version != savedVersion {
		return nil, fmt.Errorf("a proposal of version %d: this agentls knows version %d", saved.Version, savedVersion)
	}
	s := New(src)
	s.revision, s.lastID = saved.Revision, saved.LastID
	s.outcomes = append([]Outcome(nil), saved.Outcomes...)
	for _, g := range saved.Files {
		f := &file{id: g.ID, old: g.Old, path: g.Path, base: g.Base, exists: g.Exists, open: g.Open, saved: g.Saved, born: g.Born,
			gone: g.Gone, blocker: g.Blocker, seen: g.Seen, failed: g.Failed, reason: g.Reason, origin: g.Origin}
		for _, k := range g.Hunks {
			h, err := k.hunk(f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", g.Old, err)
			}
			f.hunks = append(f.hunks, h)
		}
		if g.Asked != nil {
			f.flight = &fileFlight{edit: FileEdit{FileID: f.id, Op: g.Op, Path: g.To, OldPath: g.Old}, item: &item{file: f, outcome: *g.Asked}}
		}
		s.files = append(s.files, f)
		s.index(f)
		f.show(s.revision)
		f.changed, f.added = g.Changed, g.Added
		for i, k := range g.Hunks {
			f.hunks[i].changed, f.hunks[i].added = k.Changed, k.Added
		}
	}
	s.Sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	files := append([]*file(nil), s.files...)
	for _, f := range files {
		if f.flight != nil {
			s.unlanded(f.flight.item, nil, reasonRestart)
		}
		for _, h := range onlyInFlight(f.hunks) {
			for _, it := range h.asked.items {
				s.unlanded(it, h, reasonRestart)
			}
		}
		s.endFlights(f)
	}
	s.commit(files...)
	return s, nil
}

const reasonRestart = "agentls was restarted before the editor answered"

func (k SavedHunk) hunk(f *file) (*hunk, error) {
	num, err := strconv.ParseInt(strings.TrimPrefix(k.ID, "h"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("hunk %q: %w", k.ID, err)
	}
	if n := len(f.hunks); k.Start < 0 || k.Start > k.End || k.End > len(f.base) || n > 0 && k.Start < f.hunks[n-1].end {
		return nil, fmt.Errorf("hunk %s lies outside its text or over another", k.ID)
	}
	h := &hunk{id: k.ID, num: num, start: k.Start, end: k.End, old: k.Old, new: k.New, failed: k.Failed, reason: k.Reason, origin: k.Origin, next: k.Next}
	if len(k.Asked) > 0 {
		h.asked = &asked{want: k.Want, on: f.base[k.Start:k.End], flying: k.Flying}
		for _, o := range k.Asked {
			h.asked.items = append(h.asked.items, &item{file: f, outcome: o})
		}
	}
	return h, nil
}
