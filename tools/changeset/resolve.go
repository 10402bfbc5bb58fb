package changeset

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/tools/text"
)

// Resolve takes decisions on what the proposal was at revision. Rejects take
// effect at once; accepts and edits are put into the batch and are in flight
// until Settle. A *StaleError means that something decided is not what was
// seen, an *InvalidError that a decision makes no sense; nothing at all
// happens then.
//
// A decision on a hunk goes before one on its file, and that before one on
// all, so that "all but this" can be said in one call. Two of the same kind
// on one hunk are invalid.
func (s *Set) Resolve(revision int64, decisions []Decision) (*Batch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	units, err := s.plan(revision, decisions)
	if err != nil {
		return nil, err
	}
	b := &Batch{set: s}
	r := resolver{s: s, b: b}
	for _, u := range units {
		b.items = append(b.items, r.item(u))
	}
	for i, u := range units {
		if u.Verdict == Reject {
			r.reject(u, b.items[i])
		}
	}
	for i, u := range units {
		if u.Verdict != Reject {
			r.accept(u, b.items[i])
		}
	}
	for _, f := range r.touched {
		if e, ok := r.fileEdit(f); ok {
			b.Files = append(b.Files, e)
		}
	}
	s.commit(r.touched...)
	return b, nil
}

// unit is one hunk or one operation that is decided.
type unit struct {
	*Decision
	index int
	f     *file
	h     *hunk // nil for the operation of a delete or rename
}

// rank is how special the decision is.
func (u unit) rank() int {
	switch {
	case u.HunkID != "":
		return 2
	case u.FileID != "":
		return 1
	}
	return 0
}

type unitKey struct {
	f *file
	h *hunk
}

// plan finds out what the decisions are on, and checks all before anything is
// done.
func (s *Set) plan(revision int64, decisions []Decision) ([]unit, error) {
	if revision > s.revision {
		return nil, &InvalidError{-1, "there is no such revision yet"}
	}
	p := planner{s: s, revision: revision, at: map[unitKey]int{}}
	for i := range decisions {
		d := &decisions[i]
		if reason := d.invalid(); reason != "" {
			return nil, &InvalidError{i, reason}
		}
		reach := p.reach(d)
		hunks := 0
		for _, k := range reach {
			if k.h != nil {
				hunks++
			}
		}
		if d.Verdict == Edit && len(p.stale) == 0 {
			if hunks != 1 {
				return nil, &InvalidError{i, "an edit needs one hunk to take the text"}
			}
			if len(reach) > 1 && slices.ContainsFunc(reach, func(k unitKey) bool { return k.h == nil && k.f.operation() == OpDelete }) {
				return nil, &InvalidError{i, "a deletion has no text to edit"}
			}
		}
		for _, k := range reach {
			if err := p.add(unit{d, i, k.f, k.h}); err != nil {
				return nil, err
			}
		}
	}
	if len(p.stale) > 0 {
		return nil, &StaleError{IDs: p.stale, Reason: p.reason}
	}
	return p.units, nil
}

func (d *Decision) invalid() string {
	targets := 0
	for _, is := range []bool{d.HunkID != "", d.FileID != "", d.All} {
		if is {
			targets++
		}
	}
	switch {
	case targets != 1:
		return "name one of hunkId, fileId and all"
	case d.Verdict != Accept && d.Verdict != Reject && d.Verdict != Edit:
		return "the verdict is accept, reject or edit"
	case d.Verdict == Edit && d.NewText == nil:
		return "an edit needs newText"
	}
	return ""
}

type planner struct {
	s        *Set
	revision int64
	units    []unit
	at       map[unitKey]int // index in units
	byHunk   map[string]unitKey
	stale    []string
	reason   string
}

// add puts a unit in, unless a more special decision is on it already.
func (p *planner) add(u unit) error {
	k := unitKey{u.f, u.h}
	i, twice := p.at[k]
	switch {
	case !twice:
		p.at[k] = len(p.units)
		p.units = append(p.units, u)
	case p.units[i].rank() == u.rank():
		return &InvalidError{u.index, "this was decided before in the same call"}
	case p.units[i].rank() < u.rank():
		p.units[i] = u
	}
	return nil
}

func (p *planner) setStale(id, reason string) {
	if !slices.Contains(p.stale, id) {
		p.stale = append(p.stale, id)
	}
	if p.reason == "" {
		p.reason = reason
	}
}

const (
	reasonNotThere = "is no longer there"
	reasonNotSeen  = "is not what was seen"
)

// reach gives what a decision is on, and notes what of it is stale.
func (p *planner) reach(d *Decision) []unitKey {
	switch {
	case d.HunkID != "":
		k, ok := p.hunk(d.HunkID)
		switch {
		case !ok:
			p.setStale(d.HunkID, reasonNotThere)
			return nil
		case k.h.inFlight():
			p.setStale(d.HunkID, reasonBusy)
		case k.h.changed > p.revision, k.f.operation() == OpCreate && k.f.changed > p.revision:
			p.setStale(d.HunkID, reasonNotSeen)
		}
		return []unitKey{k}
	case d.FileID != "":
		f := p.s.fileByID(d.FileID)
		if f == nil {
			p.setStale(d.FileID, reasonNotThere)
			return nil
		}
		reach := p.file(f)
		if len(reach) == 0 {
			p.setStale(d.FileID, reasonBusy)
		}
		return reach
	}
	var reach []unitKey
	for _, f := range p.s.files {
		reach = append(reach, p.file(f)...)
	}
	return reach
}

// file gives all of a file that is not in flight.
func (p *planner) file(f *file) []unitKey {
	if f.shown.Op == "" {
		return nil
	}
	if f.changed > p.revision || f.added > p.revision {
		p.setStale(f.id, reasonNotSeen)
	}
	var reach []unitKey
	op := f.operation()
	if (op == OpDelete || op == OpRename) && f.flight == nil {
		reach = append(reach, unitKey{f, nil})
	}
	if op == OpDelete {
		return reach
	}
	for _, h := range f.hunks {
		switch {
		case h.inFlight() || f.hidden(h):
			continue
		case h.changed > p.revision || h.added > p.revision:
			p.setStale(h.id, reasonNotSeen)
		}
		reach = append(reach, unitKey{f, h})
	}
	return reach
}

func (p *planner) hunk(id string) (unitKey, bool) {
	if p.byHunk == nil {
		p.byHunk = map[string]unitKey{}
		for _, f := range p.s.files {
			if f.operation() == OpDelete {
				continue
			}
			for _, h := range f.hunks {
				if !f.hidden(h) {
					p.byHunk[h.id] = unitKey{f, h}
				}
			}
		}
	}
	k, ok := p.byHunk[id]
	return k, ok
}

// resolver carries out what was planned.
type resolver struct {
	s       *Set
	b       *Batch
	touched []*file
	// accepted are the files whose operation was accepted.
	accepted []*file
}

func (r *resolver) touch(f *file) {
	if !slices.Contains(r.touched, f) {
		r.touched = append(r.touched, f)
	}
}

func (r *resolver) item(u unit) *item {
	it := &item{batch: r.b, file: u.f, outcome: u.f.describe(u.h)}
	it.outcome.Verdict, it.outcome.Comment = u.Verdict, u.Comment
	return it
}

func (r *resolver) reject(u unit, it *item) {
	f := u.f
	r.touch(f)
	switch {
	case u.h != nil:
		f.hunks = slices.DeleteFunc(f.hunks, func(h *hunk) bool { return h == u.h })
		if !f.exists {
			// Nothing of it is left that the next write could be a change of.
			r.s.saw.drop(f.path)
			f.path = ""
		}
	default:
		f.path, f.blocker, f.failed = f.old, Doc{}, false
	}
	r.s.conclude(it, Rejected, "")
}

func (r *resolver) accept(u unit, it *item) {
	r.touch(u.f)
	if u.h == nil {
		r.acceptOperation(u, it)
		return
	}
	f, h := u.f, u.h
	shown := f.shownHunk(h.id)
	want, own := h.new, false
	if u.Verdict == Edit {
		want, own = f.fit(shown, *u.NewText), true
		if want == shown.NewText && shown.State != Conflicted {
			own = false // nothing was edited
			it.outcome.Verdict = Accept
		}
	}
	switch {
	case f.gone:
		r.s.conclude(it, Conflicted, reasonGone)
		return
	case !own && f.conflicted(h):
		r.s.conclude(it, Conflicted, reasonChanged)
		return
	case own:
		it.outcome.UserText = want
		h.asked = nil
		h.widen(f.base, shown.Start, shown.End)
		if f.exists && want == f.base[h.start:h.end] { // edited back to what is there
			f.hunks = slices.DeleteFunc(f.hunks, func(g *hunk) bool { return g == h })
			r.s.conclude(it, Modified, "")
			return
		}
	default:
		want = h.new
	}
	h.asked = &asked{want: want, on: f.base[h.start:h.end], items: []*item{it}, flying: true}
}

// fit is the user's text with the line endings of the place that it goes to.
// An editor may hand over a text with \n alone whatever the document has; one
// with \r\n in it for a document with \r\n is taken as it is.
func (f *file) fit(shown Hunk, t string) string {
	if !f.exists || strings.Contains(t, text.CRLF) && strings.Contains(f.base, text.CRLF) {
		return t
	}
	return text.FitEOL(f.base, text.Edit{Start: shown.Start, End: shown.End, New: t}).New
}

func (f *file) shownHunk(id string) Hunk {
	i := slices.IndexFunc(f.shown.Hunks, func(h Hunk) bool { return h.HunkID == id })
	return f.shown.Hunks[i]
}

func (r *resolver) acceptOperation(u unit, it *item) {
	f := u.f
	if state, reason := f.operationState(); state == Conflicted {
		r.s.conclude(it, Conflicted, reason)
		return
	}
	it.outcome.Verdict = Accept // an edit in a rename is that of its hunk
	f.flight = &fileFlight{item: it}
	f.flight.edit = FileEdit{FileID: f.id, Op: f.operation(), Path: f.path, OldPath: f.old}
	r.accepted = append(r.accepted, f)
}

// fileEdit is what the editor is to do with f, if anything.
func (r *resolver) fileEdit(f *file) (FileEdit, bool) {
	var hunks []*hunk
	for _, h := range f.hunks {
		if h.inFlight() && h.asked.items[0].batch == r.b {
			hunks = append(hunks, h)
		}
	}
	op := OpModify
	switch {
	case slices.Contains(r.accepted, f):
		op = f.operation()
	case !f.exists && len(hunks) > 0:
		op = OpCreate
	case len(hunks) == 0:
		return FileEdit{}, false
	}
	e := f.edit(op, hunks)
	if f.flight != nil && op != OpModify {
		f.flight.edit = e
	}
	return e, true
}
