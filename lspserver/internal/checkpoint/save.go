package checkpoint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// savedVersion is that of Saved's form.
const savedVersion = 1

// Saved is a change of a Log, ready for JSON: all of them in a row, given to
// Restore, make the log again.
type Saved struct {
	Version int `json:"version"`
	// Entries, Steps and States are new or take the place of earlier ones.
	Entries []savedEntry    `json:"entries,omitempty"`
	Steps   []savedStep     `json:"steps,omitempty"`
	States  map[int64]state `json:"states,omitempty"`
	Gone    []int64         `json:"gone,omitempty"`
	Lost    []string        `json:"lost,omitempty"`
	// Texts are those that Steps name and that no earlier Saved had, by the
	// first 16 bytes of their SHA-256 in hex. Who has a store of its own for
	// texts may keep them there, and give Restore a Saved with Texts alone.
	Texts map[string]string `json:"texts,omitempty"`
}

type savedEntry struct {
	Num     int64     `json:"num"`
	RunID   string    `json:"runId,omitempty"`
	Restore bool      `json:"restore,omitempty"`
	Of      int64     `json:"of,omitempty"`
	Time    time.Time `json:"time"`
}

type savedStep struct {
	Seq     int64        `json:"seq"`
	Entry   int64        `json:"entry,omitempty"` // 0 for one that is open
	RunID   string       `json:"runId,omitempty"` // of one that is open, like Time
	Time    *time.Time   `json:"time,omitempty"`
	FileID  string       `json:"fileId,omitempty"`
	Op      changeset.Op `json:"op"`
	Path    string       `json:"path"`
	OldPath string       `json:"oldPath,omitempty"`
	Before  string       `json:"before,omitempty"` // empty for no text
	Edits   []savedEdit  `json:"edits,omitempty"`
	Undoes  []int64      `json:"undoes,omitempty"`
	Revives []int64      `json:"revives,omitempty"`
	State   state        `json:"state,omitempty"`
}

type savedEdit struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	New   string `json:"new,omitempty"`
}

// unsaved is what changed since it was last asked for.
type unsaved struct {
	entries map[int64]bool
	steps   map[int64]bool
	states  map[int64]bool
	gone    map[int64]bool
	lost    map[string]bool
	// texts are those that were given out.
	texts map[string]bool
}

func newUnsaved() unsaved {
	return unsaved{map[int64]bool{}, map[int64]bool{}, map[int64]bool{}, map[int64]bool{}, map[string]bool{}, map[string]bool{}}
}

func (u *unsaved) forget(seq int64) {
	delete(u.steps, seq)
	delete(u.states, seq)
	u.gone[seq] = true
}

// Unsaved gives what is to be stored, and counts it as stored. It is false
// where there is nothing.
func (l *Log) Unsaved() (Saved, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := &l.unsaved
	out := Saved{Version: savedVersion, Gone: slices.Sorted(maps.Keys(u.gone)), Lost: slices.Sorted(maps.Keys(u.lost))}
	for _, e := range l.entries {
		if u.entries[e.num] {
			out.Entries = append(out.Entries, savedEntry{e.num, e.runID, e.restore, e.of, e.time})
		}
	}
	for _, s := range l.steps {
		switch {
		case u.steps[s.seq]:
			out.Steps = append(out.Steps, s.saved())
			if b := s.before; b.text != "" && !u.texts[b.hash] {
				if out.Texts == nil {
					out.Texts = map[string]string{}
				}
				out.Texts[b.hash], u.texts[b.hash] = b.text, true
			}
		case u.states[s.seq]:
			if out.States == nil {
				out.States = map[int64]state{}
			}
			out.States[s.seq] = s.state
		}
	}
	given := u.texts
	l.unsaved = newUnsaved()
	l.unsaved.texts = given
	return out, len(out.Entries)+len(out.Steps)+len(out.States)+len(out.Gone)+len(out.Lost) > 0
}

func (s *step) saved() savedStep {
	out := savedStep{Seq: s.seq, Entry: s.entry.num, FileID: s.fileID, Op: s.op, Path: s.path, OldPath: s.oldPath,
		Undoes: s.undoes, Revives: s.revives, State: s.state}
	if s.state == open {
		out.RunID, out.Time = s.entry.runID, &s.entry.time
	}
	if s.before.text != "" {
		out.Before = s.before.hash
	}
	for _, e := range s.edits {
		out.Edits = append(out.Edits, savedEdit{e.Start, e.End, e.New})
	}
	return out
}

// Restore makes the log of what Unsaved gave, in that order. Checkpoints that
// need what is damaged or missing are left out with all older ones, and told
// in the error; the log is good all the same.
func Restore(src changeset.Source, saved []Saved) (*Log, error) {
	l := New(src)
	r := restorer{l: l, texts: map[string]string{}, entries: map[int64]*entry{}, steps: map[int64]savedStep{}}
	for _, s := range saved {
		r.take(s)
	}
	r.build()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep()
	known := l.unsaved.texts
	l.unsaved = newUnsaved()
	l.unsaved.texts = known
	return l, r.fault
}

type restorer struct {
	l       *Log
	texts   map[string]string
	entries map[int64]*entry
	steps   map[int64]savedStep
	fault   error
}

func (r *restorer) take(s Saved) {
	maps.Copy(r.texts, s.Texts)
	if s.Version != savedVersion && (len(s.Steps) > 0 || len(s.Entries) > 0) {
		r.fault = fmt.Errorf("checkpoints of version %d: this agentls knows version %d", s.Version, savedVersion)
		return
	}
	for _, e := range s.Entries {
		r.entries[e.Num] = &entry{e.Num, e.RunID, e.Restore, e.Of, e.Time}
		r.l.lastEntry = max(r.l.lastEntry, e.Num)
	}
	for _, st := range s.Steps {
		r.steps[st.Seq] = st
		r.l.lastSeq = max(r.l.lastSeq, st.Seq)
	}
	for seq, state := range s.States {
		if st, ok := r.steps[seq]; ok {
			st.State = state
			r.steps[seq] = st
		}
	}
	for _, seq := range s.Gone {
		delete(r.steps, seq)
	}
	for _, runID := range s.Lost {
		r.l.lost[runID] = true
	}
}

func (r *restorer) build() {
	l := r.l
	damaged := int64(0) // the newest entry that cannot be undone
	for _, seq := range slices.Sorted(maps.Keys(r.steps)) {
		saved := r.steps[seq]
		s, err := r.step(saved)
		if err != nil {
			damaged = max(damaged, saved.Entry)
			r.fault = fmt.Errorf("checkpoint c%d, %s: %w", saved.Entry, saved.Path, err)
			continue
		}
		s.before = l.blob(s.before)
		l.unsaved.texts[s.before.hash] = true
		l.steps = append(l.steps, s)
	}
	for _, e := range r.entries {
		if e.num > damaged {
			l.entries = append(l.entries, e)
		} else if !e.restore {
			l.lost[e.runID] = true
		}
	}
	slices.SortFunc(l.entries, func(a, b *entry) int { return cmp.Compare(a.num, b.num) })
	l.steps = slices.DeleteFunc(l.steps, func(s *step) bool { return s.state != open && s.entry.num <= damaged })
}

func (r *restorer) step(g savedStep) (*step, error) {
	s := &step{seq: g.Seq, entry: r.entries[g.Entry], fileID: g.FileID, op: g.Op, path: g.Path, oldPath: g.OldPath,
		undoes: g.Undoes, revives: g.Revives, state: g.State}
	if g.State == open {
		s.entry = &entry{runID: g.RunID}
		if g.Time != nil {
			s.entry.time = *g.Time
		}
	}
	if s.entry == nil {
		return nil, fmt.Errorf("it belongs to no checkpoint")
	}
	before, ok := r.texts[g.Before]
	if !ok && g.Before != "" {
		return nil, fmt.Errorf("its text before is missing")
	}
	s.before = newBlob(before)
	last := 0
	for _, e := range g.Edits {
		if e.Start < last || e.End < e.Start || e.End > len(before) {
			return nil, fmt.Errorf("an edit lies outside its text")
		}
		last = e.End
		s.edits = append(s.edits, text.Edit{Start: e.Start, End: e.End, New: e.New})
	}
	return s, nil
}
