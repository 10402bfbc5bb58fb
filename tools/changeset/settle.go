package changeset

import "slices"

// Settle ends the flight of a batch: it looks at the documents through after,
// and gives each decision its result, in the order of the decisions. What
// shows in a document was applied, whatever the editor answered; what does
// not stays in the proposal, with why as the reason. after gives a document as
// it is now; where it fails, nothing can be told to be applied.
func (s *Set) Settle(b *Batch, after func(path string) (Doc, error), why string) []Result {
	looks := make([]observation, len(b.Files))
	faults := make([]error, len(b.Files))
	for i, e := range b.Files {
		looks[i].path = e.Document()
		if looks[i].doc, faults[i] = after(looks[i].path); faults[i] != nil || e.Op != OpRename {
			continue
		}
		var other Doc
		if other, faults[i] = after(e.Path); faults[i] == nil {
			looks[i].other = &other
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rebases++
	var touched []*file
	for i, e := range b.Files {
		f := b.fileOf(e.FileID)
		if faults[i] == nil && f.old == looks[i].path && slices.Contains(s.files, f) {
			s.observe(f, looks[i].path, looks[i].doc, looks[i].other)
		}
	}
	for _, it := range b.items {
		if !slices.Contains(touched, it.file) {
			touched = append(touched, it.file)
		}
	}
	flying := inFlight(touched)
	for _, it := range b.items {
		if it.outcome.State == "" {
			s.unlanded(it, flying[it], b.why(it, faults, why))
		}
	}
	for _, f := range touched {
		s.endFlights(f)
	}
	s.commit(slices.DeleteFunc(touched, func(f *file) bool { return !slices.Contains(s.files, f) })...)
	return b.results()
}

// why is the reason for what was not applied.
func (b *Batch) why(it *item, faults []error, why string) string {
	if reason, ok := b.skipped[it.file.id]; ok && (it.outcome.HunkID == "" || it.outcome.Op == OpCreate) {
		return reason
	}
	for i, e := range b.Files {
		if e.FileID == it.file.id && faults[i] != nil {
			return "the document cannot be read: " + faults[i].Error()
		}
	}
	if why == "" {
		return "the document does not show it"
	}
	return why
}

func (b *Batch) results() []Result {
	out := make([]Result, len(b.items))
	for i, it := range b.items {
		o := it.outcome
		out[i] = Result{FileID: o.FileID, HunkID: o.HunkID, Path: o.Path, State: o.State, Reason: o.Reason}
	}
	return out
}

// inFlight finds the hunks that decisions are on their way to.
func inFlight(files []*file) map[*item]*hunk {
	m := map[*item]*hunk{}
	for _, f := range files {
		for _, h := range f.hunks {
			if h.inFlight() {
				for _, it := range h.asked.items {
					m[it] = h
				}
			}
		}
	}
	return m
}

// unlanded gives a decision its result that does not show in the document. h
// is the hunk that it was on, nil for the operation or if the hunk is gone.
func (s *Set) unlanded(it *item, h *hunk, why string) {
	f := it.file
	if f.flight != nil && f.flight.item == it {
		was := f.flight.edit
		f.flight = nil
		state, reason := f.operationState()
		if state != Conflicted {
			state, reason = NotApplied, why
		}
		if op := f.operation(); op == was.Op && (op == OpDelete || f.path == was.Path) {
			f.failed, f.reason = true, why
		}
		s.conclude(it, state, reason)
		return
	}
	state, reason := NotApplied, why
	if h != nil && f.conflicted(h) {
		state, reason = Conflicted, f.reasonOf(h)
	}
	s.conclude(it, state, reason)
}

// endFlights makes pending or notApplied what was in flight and did not land.
// What the agent wrote on it meanwhile takes its place.
func (s *Set) endFlights(f *file) {
	if f.path == "" {
		f.hunks = nil
		return
	}
	defer func() {
		if !f.exists && f.old != f.path { // moved while its creation was in flight
			there := f.blocker
			s.unindex(f)
			f.old, f.blocker = f.path, Doc{}
			s.observeDocument(f, there, nil)
		}
	}()
	for _, h := range slices.Clone(f.hunks) {
		if h.inFlight() {
			s.endFlight(f, h)
		}
	}
	f.joinInsertions()
}

func (s *Set) endFlight(f *file, h *hunk) {
	at := slices.Index(f.hunks, h)
	h.asked.flying = false
	switch {
	case h.next != nil:
		h.new, h.next, h.asked = *h.next, nil, nil
		if !f.conflicted(h) && f.exists {
			f.hunks = slices.Delete(f.hunks, at, at+1)
			s.replace(f, []*hunk{h}, at, h.start, h.end, h.new, h.origin)
		}
	case f.exists && h.new == h.old:
		f.hunks = slices.Delete(f.hunks, at, at+1)
	case !f.conflicted(h):
		h.failed, h.reason = true, h.asked.items[0].outcome.Reason
		h.trim(f.base)
	}
}

// joinInsertions joins hunks that insert at one and the same place: the agent
// wrote beside one in flight.
func (f *file) joinInsertions() {
	out := f.hunks[:0]
	for _, h := range f.hunks {
		if n := len(out); n > 0 && !f.conflicted(h) && !f.conflicted(out[n-1]) &&
			h.start == h.end && out[n-1].start == h.start && out[n-1].end == h.end {
			out[n-1] = f.join(out[n-1], h, h.origin)
			continue
		}
		out = append(out, h)
	}
	f.hunks = out
}
