package checkpoint

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// Log is the history of what was applied in one session.
type Log struct {
	src      changeset.Source
	maxBytes int

	mu sync.Mutex
	// entries are in the order of their first step. One without steps in force
	// is not there for anybody, but may come back.
	entries   []*entry
	steps     []*step // by seq
	lastEntry int64
	lastSeq   int64
	texts     map[string]*blob // by hash
	// lost are runs of which steps were dropped for want of room: what is left
	// of them cannot be told to undo the run.
	lost    map[string]bool
	unsaved unsaved
}

// New makes an empty log. src gives the documents as they are now.
func New(src changeset.Source) *Log {
	return &Log{src: src, maxBytes: MaxBytes, texts: map[string]*blob{}, lost: map[string]bool{}, unsaved: newUnsaved()}
}

// Checkpoint is the state before the first thing that a run had applied.
type Checkpoint struct {
	ID    string
	RunID string
	// Time is that of the first apply.
	Time time.Time
	// Files are the paths that are concerned, each once, in the order in which
	// they were: where a file is after the run, or was before it deleted it.
	Files []string
}

// List gives the checkpoints of runs, newest first.
func (l *Log) List() []Checkpoint {
	l.Look()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Checkpoint
	for _, e := range slices.Backward(l.entries) {
		if c, ok := l.checkpoint(e); ok && !e.restore {
			out = append(out, c)
		}
	}
	return out
}

func (e *entry) id() string { return fmt.Sprintf("c%d", e.num) }

// checkpoint is what e is to others; false if nothing of it is in force.
func (l *Log) checkpoint(e *entry) (Checkpoint, bool) {
	c := Checkpoint{ID: e.id(), RunID: e.runID, Time: e.time}
	any := false
	for _, s := range l.steps {
		if s.entry != e || s.state != inForce {
			continue
		}
		any = true
		if i := slices.Index(c.Files, s.oldPath); i >= 0 && s.oldPath != "" {
			c.Files = slices.Delete(c.Files, i, i+1)
		}
		if !slices.Contains(c.Files, s.path) {
			c.Files = append(c.Files, s.path)
		}
	}
	return c, any
}

// Sending tells that an editor is about to be asked for files, so that what
// comes of it is not lost should the process end before it is known. Calling
// it is optional; a second try takes the place of the first.
func (l *Log) Sending(runID string, files []changeset.FileEdit, t time.Time) {
	l.lookAt(basesOf(files))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost[runID] {
		return
	}
	l.forgetOpen(files)
	for _, f := range files {
		l.keepOpen(runID, f, t)
	}
	l.trim()
}

// Applied tells what an editor was asked for, in the form in which it was sent
// last, and the results of it. Only what landed counts. It returns the
// checkpoints that were dropped for want of room.
//
// What did not land is remembered: editors answer late, or never, and do it
// all the same.
func (l *Log) Applied(runID string, files []changeset.FileEdit, results []changeset.Result, t time.Time) (dropped []Checkpoint) {
	l.lookAt(basesOf(files))
	verdicts := l.landed(files, results)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost[runID] {
		return nil
	}
	l.forgetOpen(files)
	for _, v := range verdicts {
		if v.step != nil {
			l.add(l.entryOf(runID, t), v.step)
		}
		if v.rest != nil {
			l.keepOpen(runID, *v.rest, t)
		}
	}
	return l.trim()
}

// add takes a step in. What goes on where the same run left the file, becomes
// one step with that. l.mu is held.
func (l *Log) add(e *entry, s *step) *step {
	s.entry, s.before = e, l.blob(s.before)
	for i, last := range slices.Backward(l.steps) {
		if last.state == open || !last.touches(s.document()) {
			continue
		}
		if last.continues(e, s) {
			joined := last.extend(s.edits)
			joined.fileID = s.fileID
			l.steps[i] = joined
			l.unsaved.steps[joined.seq] = true
			return joined
		}
		break
	}
	l.lastSeq++
	s.seq = l.lastSeq
	l.steps = append(l.steps, s)
	l.unsaved.steps[s.seq] = true
	return s
}

// continues tells whether s is made on what last left, by the same run.
func (last *step) continues(e *entry, s *step) bool {
	plain := len(last.undoes)+len(last.revives)+len(s.undoes)+len(s.revives) == 0
	return plain && last.entry == e && last.state == inForce && last.op != changeset.OpDelete &&
		s.op == changeset.OpModify && s.path == last.path && last.leaves(s.before.text)
}

// entryOf is the checkpoint of a run: a new one if there is none that is
// listed. l.mu is held.
func (l *Log) entryOf(runID string, t time.Time) *entry {
	for _, e := range slices.Backward(l.entries) {
		if e.restore || e.runID != runID {
			continue
		}
		if slices.ContainsFunc(l.steps, func(s *step) bool { return s.entry == e && s.state == inForce }) {
			return e
		}
	}
	return l.newEntry(entry{runID: runID, time: t})
}

func (l *Log) newEntry(fresh entry) *entry {
	l.lastEntry++
	e := &fresh
	e.num = l.lastEntry
	l.entries = append(l.entries, e)
	l.unsaved.entries[e.num] = true
	return e
}

// blob is the one copy of a text. l.mu is held.
func (l *Log) blob(b *blob) *blob {
	if have := l.texts[b.hash]; have != nil {
		return have
	}
	l.texts[b.hash] = b
	return b
}

// newBlob hashes a text, which takes a moment: do it unlocked.
func newBlob(s string) *blob { return &blob{hash: hashOf(s), text: s} }

func (l *Log) bySeq(seq int64) *step {
	i, ok := slices.BinarySearchFunc(l.steps, seq, func(s *step, seq int64) int { return cmp.Compare(s.seq, seq) })
	if !ok {
		return nil
	}
	return l.steps[i]
}

// basesOf are the documents that files are for, by path.
func basesOf(files []changeset.FileEdit) map[string]changeset.Doc {
	docs := map[string]changeset.Doc{}
	for _, f := range files {
		switch f.Op {
		case changeset.OpCreate:
			docs[f.Path] = changeset.Doc{}
		case changeset.OpRename:
			docs[f.Path] = changeset.Doc{}
			docs[f.OldPath] = changeset.Doc{Text: f.Base, Exists: true}
		default:
			docs[f.Path] = changeset.Doc{Text: f.Base, Exists: true}
		}
	}
	return docs
}

// editsOf are the edits that a file's edit makes of before.
func editsOf(f changeset.FileEdit) (before string, edits []text.Edit) {
	if f.Op == changeset.OpCreate {
		return "", whole(f.Want)
	}
	return f.Base, slices.Clone(f.Edits)
}
