package changeset

import "slices"

// Rebase tells the set that the document at path is now d: typed in, saved,
// reloaded, opened, closed, or changed on disk by another program. What is
// proposed for it is merged with that.
func (s *Set) Rebase(path string, d Doc) Moves {
	s.mu.Lock()
	f := s.byPath[path]
	if f == nil {
		s.rebases++
		s.mu.Unlock()
		return Unmoved
	}
	ask := f.otherPath(path, d)
	s.mu.Unlock()

	var other *Doc
	if ask != "" {
		if o, err := s.src.Base(ask); err == nil {
			other = &o
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rebases++
	if f = s.byPath[path]; f == nil {
		return Unmoved
	}
	s.observe(f, path, d, other)
	return s.commit(f)
}

// Sync asks the Source for every document of the proposal, as after a restart
// or when nobody told what happened to the files.
func (s *Set) Sync() {
	s.mu.Lock()
	var paths []string
	for _, f := range s.files {
		paths = append(paths, f.old)
	}
	s.mu.Unlock()
	for _, p := range paths {
		// What cannot be read now stays as it was.
		if _, err := s.fresh(p); err == nil {
			s.mu.Unlock()
		}
	}
}

// fresh locks the set with the documents at paths as the Source gives them
// now. Without an error the caller must unlock it.
func (s *Set) fresh(paths ...string) ([]Doc, error) {
	// A text from the Source may be older than one that Rebase brings
	// meanwhile. With somebody typing all the time, the third is taken: the
	// next keystroke puts it right.
	for attempt := 1; ; attempt++ {
		s.mu.Lock()
		before := s.rebases
		asks := make([]observation, len(paths))
		for i, p := range paths {
			asks[i].path = p
			if f := s.byPath[p]; f != nil {
				asks[i].path, asks[i].target = f.old, f.target()
			}
		}
		s.mu.Unlock()
		for i := range asks {
			if err := asks[i].look(s.src); err != nil {
				return nil, err
			}
		}
		s.mu.Lock()
		if s.rebases == before || attempt == 3 {
			return s.take(asks), nil
		}
		s.mu.Unlock()
	}
}

// observation is what the Source says of a document and, where it is to be
// renamed and gone, of where it may have gone to.
type observation struct {
	path, target string
	doc          Doc
	other        *Doc
}

func (o *observation) look(src Source) (err error) {
	if o.doc, err = src.Base(o.path); err != nil {
		return err
	}
	if o.target == "" {
		return nil
	}
	if d, err := src.Base(o.target); err == nil {
		o.other = &d
	}
	return nil
}

func (s *Set) take(asks []observation) []Doc {
	docs := make([]Doc, len(asks))
	var touched []*file
	for i, a := range asks {
		docs[i] = a.doc
		if f := s.byPath[a.path]; f != nil && f.old == a.path {
			s.observe(f, a.path, a.doc, a.other)
			if !slices.Contains(touched, f) {
				touched = append(touched, f)
			}
		}
	}
	s.commit(touched...)
	return docs
}

// target is the path that a rename of the document goes to, or that one in
// flight does.
func (f *file) target() string {
	switch {
	case f.flight != nil && f.flight.edit.Op == OpRename:
		return f.flight.edit.Path
	case f.operation() == OpRename:
		return f.path
	}
	return ""
}

// otherPath is the other end of a rename where d at path may mean that it was
// done.
func (f *file) otherPath(path string, d Doc) string {
	switch t := f.target(); {
	case t == "":
	case path == f.old && !d.Exists:
		return t
	case path == t && d.there():
		return f.old
	}
	return ""
}

// observe takes in that the document at path is d. other is the document at
// the other end of a rename, where that was asked for.
func (s *Set) observe(f *file, path string, d Doc, other *Doc) {
	if path == f.old {
		s.observeDocument(f, d, other)
		return
	}
	if path == f.path {
		f.blocker = d
	}
	if path == f.target() && d.there() && other != nil && !other.Exists {
		s.renamed(f, path, d)
	}
}

func (s *Set) observeDocument(f *file, d Doc, other *Doc) {
	wasSaved := f.saved
	f.saved, f.open = d.Exists, d.Open
	target := f.target()
	switch {
	case target != "" && !d.Exists && other != nil && other.there():
		s.renamed(f, target, *other)
	case f.exists && (!d.there() || wasSaved && !d.Exists && f.deleting()):
		s.gone(f)
	case f.exists:
		f.gone = false
		s.rebase(f, d.Text)
	case d.there():
		s.appeared(f, d.Text)
	}
	if other != nil && target == f.path && target == f.target() {
		f.blocker = *other
	}
}

// deleting tells whether the file is to go, or is just being deleted.
func (f *file) deleting() bool {
	return f.operation() == OpDelete || f.flight != nil && f.flight.edit.Op == OpDelete
}

// gone takes in that the document is not there any more.
func (s *Set) gone(f *file) {
	switch {
	case f.flight != nil && f.flight.edit.Op == OpDelete:
		s.conclude(f.flight.item, Applied, "")
		f.flight = nil
		s.uncreated(f)
	case f.operation() == OpDelete:
		s.tellMade(f, nil)
		f.exists, f.base, f.hunks = false, "", nil
	case f.born && f.operation() == OpModify:
		s.rebase(f, "")
		s.uncreated(f)
	default:
		f.gone = true
	}
}

// uncreated makes a create of a file whose document is no more.
func (s *Set) uncreated(f *file) {
	content := f.render()
	f.exists, f.base, f.gone = false, "", false
	if f.path == "" {
		f.hunks = nil
		return
	}
	f.born = true
	s.setContent(f, content, f.origin)
}

// appeared takes in that there is a document where the agent wants to create
// one. It is modified from now on: what the agent wants to create comes
// into the document, if that is empty, or is in conflict with it.
func (s *Set) appeared(f *file, now string) {
	f.exists = true
	if now == "" && len(f.hunks) == 1 && f.hunks[0].want() == "" {
		h := f.hunks[0]
		f.hunks = nil
		s.landed(f, h)
		s.carryOn(f, []*hunk{h})
		return
	}
	s.rebase(f, now)
}

// renamed takes in that the document is at target now.
func (s *Set) renamed(f *file, target string, d Doc) {
	if f.flight != nil && f.flight.edit.Op == OpRename {
		s.conclude(f.flight.item, Applied, "")
		f.flight = nil
	} else {
		s.tellMade(f, nil)
	}
	f.old, f.gone, f.blocker, f.failed = target, false, Doc{}, false
	f.saved, f.open = d.Exists, d.Open
	s.rebase(f, d.Text)
}

// rebase takes in that the document's text is now.
func (s *Set) rebase(f *file, now string) {
	kept, landed := merge(f.base, now, f.hunks)
	f.base, f.hunks = now, kept
	for _, h := range kept {
		if h.asked != nil && h.asked.landed != nil {
			s.concludeAll(h.asked.landed, true)
			h.asked.landed = nil
		}
	}
	for _, h := range landed {
		s.landed(f, h)
	}
	s.carryOn(f, landed)
}

// carryOn makes hunks of what the agent wrote on landed ones since they were
// sent: it is a change of what is there now.
func (s *Set) carryOn(f *file, landed []*hunk) {
	var rough []*hunk
	for _, h := range slices.Backward(landed) { // their slots are as if no other were put back
		if h.next == nil || f.path == "" {
			continue
		}
		r := s.newHunk(h.origin)
		r.start, r.end, r.old, r.new = h.start, h.end, f.base[h.start:h.end], *h.next
		f.hunks = slices.Insert(f.hunks, f.slot(h.slot, h.start, h.end), r)
		rough = append(rough, r)
	}
	for _, r := range rough {
		if at := slices.Index(f.hunks, r); at >= 0 {
			f.hunks = slices.Delete(f.hunks, at, at+1)
			s.replace(f, []*hunk{r}, at, r.start, r.end, r.new, r.origin)
		}
	}
}

// concludeAll notes that decisions are done, as they were asked for or else
// with the agent's own text.
func (s *Set) concludeAll(items []*item, asAsked bool) {
	for _, it := range items {
		if asAsked && it.outcome.Verdict == Edit {
			s.conclude(it, Modified, "")
		} else {
			s.conclude(it, Applied, "")
		}
	}
}

// landed takes in that a hunk, which is no longer in the file, shows in the
// document.
func (s *Set) landed(f *file, h *hunk) {
	f.born = false
	switch {
	case h.asked == nil:
		s.tellMade(f, h)
	default:
		s.concludeAll(h.asked.items, f.base[h.start:h.end] == h.asked.want)
	}
	if f.path == "" {
		f.seen = f.base // the agent deleted what it had made
	}
}
