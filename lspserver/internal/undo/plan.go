package undo

import (
	"errors"
	"maps"
	"slices"

	"github.com/agentls/agentls/tools/changeset"
)

// ErrUnknown is the error of a checkpoint that there is none of.
var ErrUnknown = errors.New("no such checkpoint")

// Plan is the way back to before a checkpoint, or forth again.
type Plan struct {
	// Set proposes it: all of it is to be accepted.
	Set *changeset.Set
	// Conflicts are the parts that cannot be taken back cleanly: they stay as
	// they are.
	Conflicts []changeset.Result

	id     string
	redo   bool
	points []Point // that the plan takes back, or brings back
}

// The reasons of conflicts, for the user.
const (
	reasonTyped  = "you changed the same place since: it stays as it is"
	reasonKept   = "you changed the file since: it is not deleted"
	reasonThere  = "there is a file at this path again: it stays as it is"
	reasonGone   = "the file is not there any more"
	reasonUnread = "the file cannot be read now: "
)

// Plan finds the way back to before the checkpoint, over the documents that now
// gives. For a checkpoint that was restored it is the way forth again.
func (l *Log) Plan(id string, now changeset.Source) (*Plan, error) {
	l.mu.Lock()
	steps, p := l.stepsOf(id)
	l.mu.Unlock()
	if p == nil {
		return nil, ErrUnknown
	}
	w := world{src: now, docs: map[string]*place{}, plan: p}
	for _, s := range slices.Backward(steps) {
		w.revert(s)
	}
	return p, w.propose()
}

// stepsOf are the steps to take back for a checkpoint, oldest first.
func (l *Log) stepsOf(id string) ([]Step, *Plan) {
	i := slices.IndexFunc(l.state.Points, func(p Point) bool { return p.ID == id })
	if i >= 0 {
		p := &Plan{id: id, points: slices.Clone(l.state.Points[i:])}
		var steps []Step
		for _, point := range p.points {
			steps = append(steps, point.Steps...)
		}
		slices.SortFunc(steps, func(a, b Step) int { return a.Seq - b.Seq })
		return steps, p
	}
	i = slices.IndexFunc(l.state.Undone, func(u Undone) bool { return u.ID == id })
	if i < 0 {
		return nil, nil
	}
	u := l.state.Undone[i]
	return u.Steps, &Plan{id: id, redo: true, points: u.Points}
}

// Restored notes what came of a plan. Its checkpoints leave the list unless
// the editor did not do all that it was asked for, and can then be tried again.
func (l *Log) Restored(p *Plan, files []changeset.FileEdit, results []changeset.Result, now func(path string) (changeset.Doc, error)) {
	for _, r := range results {
		if r.State == changeset.NotApplied || r.State == changeset.Pending {
			return
		}
	}
	steps := landed(files, results, now)
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.redo {
		l.state.Undone = slices.DeleteFunc(slices.Clone(l.state.Undone), func(u Undone) bool { return u.ID == p.id })
		l.state.Points = append(slices.Clip(l.state.Points), p.points...)
		return
	}
	l.state.Points = slices.DeleteFunc(slices.Clone(l.state.Points), func(q Point) bool {
		return slices.ContainsFunc(p.points, func(o Point) bool { return o.ID == q.ID })
	})
	l.state.Undone = append(slices.Clip(l.state.Undone), Undone{ID: p.id, Points: p.points, Steps: steps})
}

// world is the documents while steps are taken back, one after the other.
type world struct {
	src  changeset.Source
	docs map[string]*place
	plan *Plan
}

// place is what is at a path, and what is to be.
type place struct {
	was, now changeset.Doc
	from     string // where a rename brings the file from
	err      error
}

func (p *place) there() bool { return p.now.Exists || p.now.Open }

func (w *world) at(path string) *place {
	p := w.docs[path]
	if p == nil {
		d, err := w.src.Base(path)
		p = &place{was: d, now: d, err: err}
		w.docs[path] = p
	}
	return p
}

func (w *world) conflict(path, reason string) {
	w.plan.Conflicts = append(w.plan.Conflicts, changeset.Result{Path: path, State: changeset.Conflicted, Reason: reason})
}

// revert takes one step back as far as that can be done cleanly.
func (w *world) revert(s Step) {
	p := w.at(s.Path)
	if p.err != nil {
		w.conflict(s.Path, reasonUnread+p.err.Error())
		return
	}
	switch s.Op {
	case changeset.OpCreate:
		w.uncreate(s, p)
	case changeset.OpDelete:
		if p.there() {
			w.conflict(s.Path, reasonThere)
			return
		}
		p.now = changeset.Doc{Text: s.Before, Exists: true}
	case changeset.OpRename:
		w.unrename(s, p)
	default:
		if !p.there() {
			w.conflict(s.Path, reasonGone)
			return
		}
		p.now.Text = w.merge(s, s.Path, p.now.Text)
	}
}

// uncreate takes a new file away, unless it holds what the user wrote.
func (w *world) uncreate(s Step, p *place) {
	switch {
	case !p.there():
	case p.now.Text == s.After:
		p.now = changeset.Doc{}
	default:
		w.conflict(s.Path, reasonKept)
	}
}

func (w *world) unrename(s Step, p *place) {
	old := w.at(s.OldPath)
	switch {
	case old.err != nil:
		w.conflict(s.OldPath, reasonUnread+old.err.Error())
	case !p.there():
		w.conflict(s.Path, reasonGone)
	case old.there():
		w.conflict(s.OldPath, reasonThere)
	default:
		content := w.merge(s, s.Path, p.now.Text)
		old.now, old.from = changeset.Doc{Text: content, Exists: true}, s.Path
		p.now = changeset.Doc{}
	}
}

// fixed is a Source of one text for every path.
type fixed string

func (f fixed) Base(string) (changeset.Doc, error) {
	return changeset.Doc{Text: string(f), Exists: true}, nil
}

// merge takes the change of a step out of a text three-way: what the user did
// elsewhere stays, what they did in the same place is a conflict.
func (w *world) merge(s Step, path, text string) string {
	if s.Before == s.After {
		return text
	}
	set := changeset.New(fixed(s.After))
	if _, err := set.Write(path, s.Before, changeset.Origin{}); err != nil {
		w.conflict(path, err.Error())
		return text
	}
	set.Rebase(path, changeset.Doc{Text: text, Exists: true, Open: true})
	files := set.Proposal().Files
	if len(files) == 0 {
		return text // it was taken back already
	}
	if files[0].State == changeset.Conflicted {
		w.conflict(path, reasonTyped)
	}
	return files[0].Proposed()
}

// propose makes the plan's Set out of what is to be.
func (w *world) propose() error {
	set := changeset.New(w.src)
	origin := changeset.Origin{Intent: "restore"}
	var errs []error
	take := func(_ changeset.Change, err error) { errs = append(errs, err) }
	paths := slices.Sorted(maps.Keys(w.docs))
	moved := map[string]bool{}
	for _, path := range paths {
		if p := w.docs[path]; p.from != "" && p.there() && !p.was.Exists {
			if from := w.docs[p.from]; from.was.Exists && !from.there() {
				take(set.Move(p.from, path, origin))
				moved[p.from] = true
			}
		}
	}
	for _, path := range paths {
		p := w.docs[path]
		switch {
		case p.there() && (p.now.Text != p.was.Text || !p.was.Exists && !p.was.Open):
			take(set.Write(path, p.now.Text, origin))
		case !p.there() && p.was.Exists && !moved[path]:
			take(set.Delete(path, origin))
		}
	}
	w.plan.Set = set
	return errors.Join(errs...)
}
