package checkpoint

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agentls/agentls/tools/changeset"
)

// UnknownError means that there is no such checkpoint, or no more.
type UnknownError struct{ ID string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no checkpoint %q: it was undone already, or dropped for want of room", e.ID)
}

// Undo is a restore worked out against the documents as they were at that
// moment.
type Undo struct {
	// Set proposes all that is to be done: accept all of it through the
	// editor. It may be empty. It is nobody else's, and follows the documents
	// when it is told of them, as every proposal.
	Set *changeset.Set

	target    *entry
	units     []*unit
	swallowed []*step
}

// unit is what must be done together: documents that have to do with each
// other by their paths.
type unit struct {
	docs  []*doc
	steps []*step
	paths map[string]bool
}

// Plan works out how to undo the run of a checkpoint and all later ones; for
// that of a restore, or one that was just restored, how to make it again. It
// changes nothing. An error is an *UnknownError, or wraps changeset.ErrRaced
// if the documents do not keep still.
func (l *Log) Plan(id string) (*Undo, error) {
	l.Look()
	for attempt := 1; ; attempt++ {
		target, steps, swallowed := l.from(id)
		if target == nil {
			return nil, &UnknownError{id}
		}
		u, err := plan(l.src, steps)
		if err == nil {
			u.target, u.swallowed = target, swallowed
			return u, nil
		}
		if attempt == 3 || !errors.Is(err, changeset.ErrRaced) {
			return nil, fmt.Errorf("restoring checkpoint %s: %w", id, err)
		}
	}
}

// from gives the steps to undo, oldest first. Restores that come after the
// target are not undone: together with what they undid they come to nothing.
func (l *Log) from(id string) (target *entry, steps, swallowed []*step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	target = l.target(id)
	if target == nil {
		return nil, nil, nil
	}
	for _, s := range l.steps {
		switch {
		case s.state != inForce || s.entry.num < target.num:
		case s.entry.restore && s.entry != target:
			swallowed = append(swallowed, s)
		default:
			steps = append(steps, s)
		}
	}
	return target, steps, swallowed
}

// target is the entry that id stands for: its own, or the restore that took
// that back, if no run had anything applied since.
func (l *Log) target(id string) *entry {
	for _, e := range l.entries {
		if _, there := l.checkpoint(e); there && e.id() == id {
			return e
		}
	}
	for _, e := range slices.Backward(l.entries) {
		switch _, there := l.checkpoint(e); {
		case !there:
		case e.restore && fmt.Sprintf("c%d", e.of) == id:
			return e
		case !e.restore:
			return nil
		}
	}
	return nil
}

// plan undoes steps, oldest first, on documents that only it has, and proposes
// what comes of it.
func plan(src changeset.Source, steps []*step) (*Undo, error) {
	p := &planner{src: src, byPath: map[string]*doc{}}
	for _, s := range slices.Backward(steps) {
		d := p.undo(s)
		d.steps = append(d.steps, s)
	}
	set, err := p.propose()
	if err != nil {
		return nil, err
	}
	return &Undo{Set: set, units: p.units()}, nil
}
