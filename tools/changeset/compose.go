package changeset

import (
	"slices"
	"sort"

	"github.com/agentls/agentls/tools/text"
)

// lineEdits turns edits of s into the whole-line edits that do the same.
func lineEdits(s string, edits []text.Edit) []text.Edit {
	var out []text.Edit
	for i := 0; i < len(edits); {
		start, end := text.WholeLines(s, edits[i])
		j := i + 1
		for j < len(edits) {
			from, to := text.WholeLines(s, edits[j])
			if from > end {
				break
			}
			end, j = max(end, to), j+1
		}
		old, new := s[start:end], text.ApplyWithin(s, start, end, edits[i:j])
		for _, e := range text.Diff(old, new) {
			out = append(out, text.Edit{Start: e.Start + start, End: e.End + start, New: e.New})
		}
		i = j
	}
	return out
}

// compose puts whole-line edits of what the agent sees onto the hunks of f.
// Only hunks on the lines of an edit are looked into.
func (s *Set) compose(f *file, edits []text.Edit, o Origin) Change {
	c := composer{s: s, f: f, v: layOut(f), o: o}
	for len(edits) > 0 {
		edits = c.next(edits)
	}
	c.keep(f.hunks[c.done:])
	f.hunks = c.out
	if f.undone() {
		f.hunks, c.made = nil, nil
	}
	s.commit(f)
	change := Change{Kind: Edited, FileID: f.id, HunkIDs: c.ids()}
	if f.shown.Op == "" {
		change.Kind = Withdrawn
	}
	return change
}

// undone tells whether the hunks cancel out: text may be taken away in one
// place and put back in another without making a difference.
func (f *file) undone() bool {
	delta := 0
	for _, h := range f.hunks {
		if h.inFlight() || f.conflicted(h) {
			return false
		}
		delta += len(h.new) - len(h.old)
	}
	return delta == 0 && f.render() == f.base
}

// layout says where the hunks of a file stand in what the agent sees.
type layout struct {
	f    *file
	view string
	// start[i] is where hunk i begins in view; its text is shift[i+1] -
	// shift[i] longer there than in the base.
	start []int
	shift []int
}

func layOut(f *file) *layout {
	v := &layout{f: f, view: f.render(), start: make([]int, len(f.hunks)), shift: make([]int, len(f.hunks)+1)}
	for i, h := range f.hunks {
		v.start[i] = h.start + v.shift[i]
		v.shift[i+1] = v.shift[i] + len(f.text(h)) - (h.end - h.start)
	}
	return v
}

// end is where hunk i ends in view.
func (v *layout) end(i int) int { return v.f.hunks[i].end + v.shift[i+1] }

// onLines tells whether hunk i is on the lines that e replaces. Lines put in
// where others were taken out are a rewrite of the same place.
func (v *layout) onLines(i int, e text.Edit) bool {
	h := v.f.hunks[i]
	from, to := text.WholeLines(v.view, text.Edit{Start: v.start[i], End: v.end(i), New: v.f.base[h.start:h.end]})
	switch {
	case e.Start == e.End && from == to:
		return e.Start == from
	case e.Start == e.End:
		return from < e.Start && e.Start < to
	case from == to:
		return e.Start < from && from < e.End
	}
	return from < e.End && e.Start < to
}

// on gives the hunks [lo, hi) that are on the lines of e; where there are
// none, lo is the place for a new one.
func (v *layout) on(e text.Edit) (lo, hi int) {
	lo = sort.Search(len(v.start), func(i int) bool { return v.end(i) > e.Start })
	for lo > 0 && v.onLines(lo-1, e) {
		lo--
	}
	for lo < len(v.start) && v.end(lo) <= e.Start && !v.onLines(lo, e) {
		lo++
	}
	hi = lo
	for hi < len(v.start) && v.onLines(hi, e) {
		hi++
	}
	return lo, hi
}

// composer goes through edits and hunks side by side, and puts the hunks that
// come of them into out.
type composer struct {
	s    *Set
	f    *file
	v    *layout
	o    Origin
	done int // hunks of f that are accounted for
	out  []*hunk
	made []*hunk // of out, those that are new or changed
}

// next takes in the first of edits, together with those that work on the same
// hunks, and gives the rest.
func (c *composer) next(edits []text.Edit) []text.Edit {
	f, v := c.f, c.v
	lo, hi := v.on(edits[0])
	n := 1
	for n < len(edits) {
		lo2, hi2 := v.on(edits[n])
		if lo2 >= hi {
			break
		}
		hi, n = max(hi, hi2), n+1
	}
	first, last := edits[0], edits[n-1]
	// The region in the base, the same in view, and what it becomes.
	from, to := first.Start-v.shift[lo], last.End-v.shift[hi]
	start, end := first.Start, last.End
	if lo < hi && v.start[lo] < start {
		from, start = f.hunks[lo].start, v.start[lo]
	}
	if lo < hi && v.end(hi-1) > end {
		to, end = f.hunks[hi-1].end, v.end(hi-1)
	}
	new := text.ApplyWithin(v.view, start, end, edits[:n])

	c.keep(f.hunks[c.done:lo])
	was := f.hunks[lo:hi]
	c.done = hi
	if slices.ContainsFunc(was, (*hunk).inFlight) {
		c.put(overFlights(f, was, from, to, new, c.o))
		return edits[n:]
	}
	lower, upper := 0, len(f.base)
	if len(c.out) > 0 {
		lower = c.out[len(c.out)-1].end
	}
	if hi < len(f.hunks) {
		upper = f.hunks[hi].start
	}
	cores := cut(f.base, text.Edit{Start: from, End: to, New: new}, lower, upper)
	was, spared := f.rewritten(was, cores)
	for _, h := range c.s.identify(f, was, cores, c.o) {
		for len(spared) > 0 && spared[0].start < h.start {
			c.keep(spared[:1])
			spared = spared[1:]
		}
		if slices.Contains(was, h) {
			c.keep([]*hunk{h})
		} else {
			c.put(h)
		}
	}
	c.keep(spared)
	return edits[n:]
}

// rewritten sorts out the conflicted ones of hunks that no core lies on: the
// agent worked beside them.
func (f *file) rewritten(hunks, cores []*hunk) (was, spared []*hunk) {
	for _, h := range hunks {
		beside := f.conflicted(h) && !slices.ContainsFunc(cores, func(c *hunk) bool {
			return c.start < h.end && h.start < c.end || c.start == h.start || c.end == h.end
		})
		if beside {
			spared = append(spared, h)
		} else {
			was = append(was, h)
		}
	}
	return was, spared
}

// keep takes over hunks that are as they were.
func (c *composer) keep(hunks []*hunk) {
	for i, h := range hunks {
		if i > 0 || !c.collides(h) {
			c.out = append(c.out, h)
			continue
		}
		if last := len(c.out) - 1; c.wasMade(c.out[last]) {
			c.joinLast(h)
		} else {
			c.out = append(c.out, h)
		}
	}
}

// put takes in a hunk that was just made.
func (c *composer) put(h *hunk) {
	for c.collides(h) {
		last := len(c.out) - 1
		h = c.f.join(c.out[last], h, c.o)
		c.forget(c.out[last])
		c.out = c.out[:last]
	}
	if h.new == h.old {
		return
	}
	c.out, c.made = append(c.out, h), append(c.made, h)
}

// joinLast joins the last hunk, which was just made, with h.
func (c *composer) joinLast(h *hunk) {
	last := len(c.out) - 1
	joined := c.f.join(c.out[last], h, c.o)
	c.forget(c.out[last])
	c.out = c.out[:last]
	c.put(joined)
}

func (c *composer) collides(h *hunk) bool {
	return len(c.out) > 0 && c.f.collide(c.out[len(c.out)-1], h)
}

func (c *composer) wasMade(h *hunk) bool {
	return len(c.made) > 0 && c.made[len(c.made)-1] == h
}

func (c *composer) forget(h *hunk) {
	if c.wasMade(h) {
		c.made = c.made[:len(c.made)-1]
	}
}

func (c *composer) ids() []string {
	var ids []string
	for _, h := range c.made {
		ids = append(ids, h.id)
	}
	return ids
}

// cut makes hunks of an edit of base, one for each place that differs. The
// edit is drawn out to whole lines for that, within [lower, upper).
func cut(base string, e text.Edit, lower, upper int) []*hunk {
	from, to := text.WholeLines(base, e)
	from, to = max(from, lower), max(e.End, min(to, upper))
	old, new := base[from:to], base[from:e.Start]+e.New+base[e.End:to]
	var out []*hunk
	for _, d := range text.Diff(old, new) {
		d.Start, d.End = d.Start+from, d.End+from
		d = text.Trim(base, d)
		out = append(out, &hunk{start: d.Start, end: d.End, old: base[d.Start:d.End], new: d.New})
	}
	return out
}

// identify gives new hunks their ids: that of the earliest hunk whose place
// they have, each but once, so that the first part of a split keeps it. A
// hunk that came out as it was is that hunk.
func (s *Set) identify(f *file, was, now []*hunk, o Origin) []*hunk {
	left := slices.Clone(was)
	take := func(i int) *hunk {
		h := left[i]
		left = slices.Delete(left, i, i+1)
		return h
	}
	out := make([]*hunk, len(now))
	for i, h := range now {
		if j := slices.IndexFunc(left, func(w *hunk) bool {
			return w.start == h.start && w.end == h.end && w.new == h.new && !f.conflicted(w)
		}); j >= 0 {
			out[i] = take(j)
		}
	}
	for i, h := range now {
		if out[i] != nil {
			continue
		}
		for j := 0; j < len(left); {
			w := left[j]
			if w.start > h.end || h.start > w.end {
				j++
				continue
			}
			if h.id == "" || w.num < h.num {
				h.inherit(w)
			}
			take(j)
		}
	}
	for i, h := range now {
		if out[i] != nil {
			continue
		}
		h.origin = o
		switch {
		case h.id != "":
		case len(left) > 0:
			h.inherit(take(0))
		default:
			h.inherit(s.newHunk(o))
		}
		out[i] = h
	}
	return out
}

// inherit makes h the hunk that w was.
func (h *hunk) inherit(w *hunk) {
	h.id, h.num, h.added, h.changed = w.id, w.num, w.added, w.changed
}

// overFlights is the hunk for what the agent writes on hunks of which some are
// in flight. They stay as they are until it is known what landed; what the
// agent wants then waits beside them.
func overFlights(f *file, was []*hunk, from, to int, new string, o Origin) *hunk {
	out := &hunk{start: from, end: to, origin: o, next: &new, asked: &asked{flying: true, on: f.base[from:to]}}
	at := from
	for i, h := range was {
		gap := f.base[at:h.start]
		old, proposed, want := f.base[h.start:h.end], f.base[h.start:h.end], f.base[h.start:h.end]
		if h.inFlight() {
			old, proposed, want = h.old, h.new, h.asked.want
			out.asked.items = append(out.asked.items, h.asked.items...)
			for _, p := range h.flights(f.base) {
				p.start, p.end = p.start+h.start-from, p.end+h.start-from
				out.asked.parts = append(out.asked.parts, p)
			}
		}
		out.old, out.new, out.asked.want = out.old+gap+old, out.new+gap+proposed, out.asked.want+gap+want
		at = h.end
		if i == 0 || h.num < out.num {
			out.inherit(h)
		}
	}
	rest := f.base[at:to]
	out.old, out.new, out.asked.want = out.old+rest, out.new+rest, out.asked.want+rest
	return out
}

// collide tells whether two neighbours must be one hunk, one of which was just
// made. Of a conflicted one the made one takes the place.
func (f *file) collide(a, b *hunk) bool {
	switch {
	case a.inFlight() || b.inFlight():
		return false
	case a.end == b.start && (a.start == a.end || a.new == "") && (b.start == b.end || b.new == ""):
		return true // what is taken out and put in at one place is a replacement
	case f.conflicted(a) || f.conflicted(b):
		return b.start < a.end || a.start == b.start
	}
	_, end := text.WholeLines(f.base, a.edit())
	start, _ := text.WholeLines(f.base, b.edit())
	return start < end
}

// join makes one hunk of two neighbours.
func (f *file) join(a, b *hunk, o Origin) *hunk {
	first := a
	if b.num < a.num {
		first = b
	}
	h := &hunk{origin: o}
	h.inherit(first)
	switch {
	case f.conflicted(a):
		h.start, h.end, h.old, h.new = b.start, b.end, b.old, b.new
	case f.conflicted(b):
		h.start, h.end, h.old, h.new = a.start, a.end, a.old, a.new
	default:
		gap := f.base[a.end:b.start]
		h.start, h.end, h.old, h.new = a.start, b.end, a.old+gap+b.old, a.new+gap+b.new
		h.trim(f.base)
	}
	return h
}

// replace makes hunks of the agent's wish to have base[start:end] be new. was
// are those that had the place, as the hunks from index at on, and are no
// longer in f.
func (s *Set) replace(f *file, was []*hunk, at, start, end int, new string, o Origin) {
	c := composer{s: s, f: f, o: o}
	at = f.slot(at, start, end)
	lower, upper := 0, len(f.base)
	if at > 0 {
		lower = f.hunks[at-1].end
	}
	if at < len(f.hunks) {
		upper = f.hunks[at].start
	}
	c.keep(f.hunks[:at])
	for _, h := range s.identify(f, was, cut(f.base, text.Edit{Start: start, End: end, New: new}, lower, upper), o) {
		c.put(h)
	}
	c.keep(f.hunks[at:])
	f.hunks = c.out
}

// slot is the index for a hunk of base[start:end]. at is where it should be;
// that only tells insertions at one and the same place apart.
func (f *file) slot(at, start, end int) int {
	lo := sort.Search(len(f.hunks), func(i int) bool { return f.hunks[i].start >= end })
	hi := sort.Search(len(f.hunks), func(i int) bool { return f.hunks[i].start >= end && f.hunks[i].end > start })
	return max(lo, min(at, hi))
}

// create makes content what f is to be created with.
func (s *Set) create(f *file, content string, o Origin) Change {
	c := Change{Kind: Edited, FileID: f.id}
	if len(f.hunks) == 0 {
		c.Kind = Created
	}
	if len(f.hunks) == 1 && f.hunks[0].inFlight() {
		f.hunks[0].next, f.hunks[0].origin = &content, o
	} else {
		s.setContent(f, content, o)
	}
	f.origin = o
	s.commit(f)
	c.HunkIDs = []string{f.hunks[0].id}
	return c
}

// setContent makes one hunk, the earliest of f, hold all of a create.
func (s *Set) setContent(f *file, content string, o Origin) {
	h := s.newHunk(o)
	for _, g := range f.hunks {
		if g.num < h.num {
			h.inherit(g)
		}
	}
	h.new = content
	f.hunks = []*hunk{h}
}
