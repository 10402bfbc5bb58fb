// Package undo takes back what a run had applied. A Log keeps, for each run of
// a session, the texts before and after every edit that landed: a checkpoint.
// To restore one is to propose the way back over the documents as they are
// now; the editor makes it, like any other edit, and what the user typed since
// stays.
//
// The package computes and remembers; it asks no editor and writes nothing.
// The front end tells it what was applied and carries out what Plan gives. A
// Log may be used by several goroutines.
//
//	log.Applied(runID, batch.Files, results, time.Now())
//	plan, err := log.Plan(id, workspace.Base) // plan.Set: resolve all of it
//	log.Restored(plan, results)
package undo

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/agentls/agentls/tools/changeset"
)

// Point is a checkpoint: what one run had applied, in order.
type Point struct {
	ID    string    `json:"id"`
	RunID string    `json:"runId"`
	Time  time.Time `json:"time"`
	Steps []Step    `json:"steps"`
}

// Step is one edit of one file that landed.
type Step struct {
	// Seq orders the steps of a session: what an older run proposed may be
	// accepted after what a newer one did.
	Seq int          `json:"seq"`
	Op  changeset.Op `json:"op"`
	// Path is where the file is after the step, OldPath where a rename took it
	// from.
	Path    string `json:"path"`
	OldPath string `json:"oldPath,omitempty"`
	// Before and After are the document's texts; a create has no Before and a
	// delete no After.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Files are the paths that a checkpoint is about, in order.
func (p Point) Files() []string {
	var paths []string
	for _, s := range p.Steps {
		path := s.Path
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// State is a Log as it is kept.
type State struct {
	LastID  int     `json:"lastId"`
	LastSeq int     `json:"lastSeq"`
	Points  []Point `json:"points"`
	// Undone are checkpoints that were restored; each can be done again.
	Undone []Undone `json:"undone,omitempty"`
}

// Undone is a restore, and the checkpoints that it took back.
type Undone struct {
	ID     string  `json:"id"` // of the checkpoint that was restored
	Points []Point `json:"points"`
	Steps  []Step  `json:"steps"` // what the restore did
}

// Log is the checkpoints of one session.
type Log struct {
	mu    sync.Mutex
	state State
}

// NewLog goes on from a state; the zero State begins anew.
func NewLog(s State) *Log { return &Log{state: s} }

// State is a copy to keep.
func (l *Log) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return State{LastID: l.state.LastID, LastSeq: l.state.LastSeq, Points: slices.Clone(l.state.Points), Undone: slices.Clone(l.state.Undone)}
}

// List is newest first.
func (l *Log) List() []Point {
	l.mu.Lock()
	defer l.mu.Unlock()
	points := slices.Clone(l.state.Points)
	slices.Reverse(points)
	return points
}

// Applied notes what landed of the files that an editor was asked to change.
// now gives the documents after it. It reports whether there was anything.
func (l *Log) Applied(runID string, files []changeset.FileEdit, results []changeset.Result, now func(path string) (changeset.Doc, error), at time.Time) bool {
	return l.add(runID, landed(files, results, now), at)
}

func (l *Log) add(runID string, steps []Step, at time.Time) bool {
	if len(steps) == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// After something new there is nothing to do again.
	l.state.Undone = nil
	i := slices.IndexFunc(l.state.Points, func(p Point) bool { return p.RunID == runID })
	if i < 0 {
		l.state.LastID++
		l.state.Points = append(l.state.Points, Point{ID: fmt.Sprintf("c%d", l.state.LastID), RunID: runID, Time: at})
		i = len(l.state.Points) - 1
	}
	for i := range steps {
		l.state.LastSeq++
		steps[i].Seq = l.state.LastSeq
	}
	p := &l.state.Points[i]
	p.Steps = append(slices.Clip(p.Steps), steps...)
	return true
}

// Intended are the steps that an edit is to make, before the editor is asked
// for it: what Recover needs when nobody lives to see what became of it.
func Intended(files []changeset.FileEdit) []Step {
	var steps []Step
	for _, f := range files {
		steps = append(steps, Step{Op: f.Op, Path: f.Path, OldPath: f.OldPath, Before: f.Base, After: f.Want})
	}
	return steps
}

// Recover notes intended steps of which it was not told what became, where the
// documents show exactly what was intended. It reports whether there was any.
func (l *Log) Recover(runID string, steps []Step, now func(path string) (changeset.Doc, error), at time.Time) bool {
	var made []Step
	for _, s := range steps {
		if s.made(now) {
			made = append(made, s)
		}
	}
	return l.add(runID, made, at)
}

func (s Step) made(now func(path string) (changeset.Doc, error)) bool {
	d, err := now(s.Path)
	if err != nil {
		return false
	}
	there := d.Exists || d.Open
	switch s.Op {
	case changeset.OpDelete:
		return !there
	case changeset.OpRename:
		old, err := now(s.OldPath)
		return err == nil && there && !old.Exists && d.Text == s.After
	case changeset.OpCreate:
		return there && d.Text == s.After
	}
	return there && d.Text == s.After && s.Before != s.After
}

// landed makes steps of what the documents show.
func landed(files []changeset.FileEdit, results []changeset.Result, now func(path string) (changeset.Doc, error)) []Step {
	var steps []Step
	for _, f := range files {
		var some, operation bool
		all := true
		for _, r := range results {
			if r.FileID != f.FileID {
				continue
			}
			done := r.State == changeset.Applied || r.State == changeset.Modified
			some, all = some || done, all && done
			operation = operation || done && r.HunkID == ""
		}
		if !some {
			continue
		}
		s := Step{Op: f.Op, Path: f.Path, OldPath: f.OldPath, Before: f.Base, After: f.Want}
		if f.Op == changeset.OpRename && !operation {
			s.Op, s.Path, s.OldPath = changeset.OpModify, f.OldPath, ""
		}
		if !all && s.Op != changeset.OpDelete {
			// A part of it: what is there is what the part made.
			d, err := now(s.Path)
			if err != nil {
				continue
			}
			s.After = d.Text
		}
		steps = append(steps, s)
	}
	return steps
}
