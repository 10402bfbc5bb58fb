package changeset

import (
	"strings"
	"unicode"

	"github.com/agentls/agentls/tools/text"
)

// merge moves hunks from base, the text that they are changes of, to now.
// What of them the step from one to the other made true has landed. The
// others stay, in order, some of them conflicted or no longer so.
//
// It is the three-way merge of changesets: base is what the agent saw, now
// what the user made of it, and the hunks are what the agent made of it.
func merge(base, now string, hunks []*hunk) (kept, landed []*hunk) {
	if base == now {
		return hunks, nil
	}
	if kept, landed, ok := mergeLanded(base, now, hunks); ok {
		return kept, landed
	}
	m := merger{base: base, now: now, kept: make([]*hunk, 0, len(hunks))}
	edits := userEdits(base, now, hunks)
	m.leave(hunks, edits[0].Start, edits[len(edits)-1].End)
	for i, j := 0, 0; i < len(hunks) || j < len(edits); {
		switch {
		case j == len(edits) || i < len(hunks) && hunks[i].before(edits[j], base):
			hunks[i].start += m.delta
			hunks[i].end += m.delta
			m.kept = append(m.kept, hunks[i])
			i++
		case i == len(hunks) || !hunks[i].meets(edits[j], base):
			m.delta += edits[j].Delta()
			j++
		default:
			ni, nj := cluster(base, hunks, edits, i, j)
			m.meet(hunks[i:ni], edits[j:nj])
			i, j = ni, nj
		}
	}
	m.settleRuns()
	m.goHome()
	return m.kept, m.landed
}

type merger struct {
	base, now string
	delta     int // by how much what comes next stands further along in now
	kept      []*hunk
	landed    []*hunk
	// met are the places in kept where a meeting left hunks.
	met []int
}

// meets tells whether an edit of base changes what h is about: part of its
// core, a word at its edge, or for an insertion its very place. Next to a core
// there is room for both. A conflicted hunk takes in what touches it, so that
// the text under it can come back piece by piece.
func (h *hunk) meets(e text.Edit, base string) bool {
	switch {
	case base[h.start:h.end] != h.old:
		return e.Start <= h.end && h.start <= e.End
	case h.start == h.end && e.Start == e.End:
		return e.Start == h.start
	case h.start == h.end:
		return e.Start < h.start && h.start < e.End
	case e.New != "" && e.Start == h.end:
		return !text.Boundary(h.old, e.New)
	case e.New != "" && e.End == h.start:
		return !text.Boundary(e.New, h.old)
	}
	return e.Start < h.end && h.start < e.End
}

// before tells whether h stands wholly before e, which is then no reason to
// move it.
func (h *hunk) before(e text.Edit, base string) bool {
	if h.meets(e, base) {
		return false
	}
	if h.start == h.end && h.start == e.End {
		return false // e ends where h inserts
	}
	return h.end <= e.Start
}

// cluster gives how many hunks and edits from i and j on hang together by
// meeting each other, or by standing between those that do.
func cluster(base string, hunks []*hunk, edits []text.Edit, i, j int) (int, int) {
	ni, nj := i+1, j+1
	for grown := true; grown; {
		grown = false
		for ni < len(hunks) && (hunks[ni].start < edits[nj-1].End || meetsAny(base, hunks[ni], edits[j:nj])) {
			ni, grown = ni+1, true
		}
		for nj < len(edits) && (edits[nj].Start < hunks[ni-1].end || anyMeets(base, hunks[i:ni], edits[nj])) {
			nj, grown = nj+1, true
		}
	}
	return ni, nj
}

func meetsAny(base string, h *hunk, edits []text.Edit) bool {
	for k := len(edits) - 1; k >= 0 && edits[k].End >= h.start; k-- {
		if h.meets(edits[k], base) {
			return true
		}
	}
	return false
}

func anyMeets(base string, hunks []*hunk, e text.Edit) bool {
	for k := len(hunks) - 1; k >= 0 && hunks[k].end >= e.Start; k-- {
		if hunks[k].meets(e, base) {
			return true
		}
	}
	return false
}

// meet settles hunks and edits that overlap. The region that they cover
// together is shared out among the hunks; it is then either what one of the
// sides wanted, or a conflict.
func (m *merger) meet(hunks []*hunk, edits []text.Edit) {
	first, last := hunks[0], hunks[len(hunks)-1]
	from, to := min(first.start, edits[0].Start), max(last.end, edits[len(edits)-1].End)
	at := from
	for i, h := range hunks {
		end := h.end
		if i == len(hunks)-1 {
			end = to
		}
		h.widen(m.base, at, end)
		at = end
	}
	region := to - from
	for _, e := range edits {
		region += e.Delta()
	}
	start := from + m.delta
	m.delta += region - (to - from)
	m.put(hunks, start, start+region)
}

// put gives hunks that met the span [start, end) of now.
func (m *merger) put(hunks []*hunk, start, end int) {
	t := m.now[start:end]
	if len(hunks) > 1 {
		if m.shareOut(hunks, start, t) {
			return
		}
	}
	for i, h := range hunks {
		h.start, h.end = start, end
		if i > 0 {
			h.start = end
		}
		switch u := m.now[h.start:h.end]; {
		case len(hunks) == 1 && h.lands(u):
			m.land(h, start, end)
		case u == h.old && (h.old != "" || len(hunks) == 1), h.isBack(u):
			m.keep(h.restored(m.now))
		default:
			m.keep(h)
		}
	}
}

// isBack tells whether u, the text at a conflicted hunk, is what the hunk was
// made on again, and cuts off what else was written before or behind that.
func (h *hunk) isBack(u string) bool {
	if h.next != nil || !strings.ContainsFunc(h.old, unicode.IsLetter) && !strings.ContainsFunc(h.old, unicode.IsDigit) {
		return false // a space or a bracket is found everywhere
	}
	rest, found := strings.CutSuffix(u, h.old)
	if found && text.Boundary(rest, h.old) {
		h.start = h.end - len(h.old)
		return true
	}
	rest, found = strings.CutPrefix(u, h.old)
	if found && text.Boundary(h.old, rest) {
		h.end = h.start + len(h.old)
		return true
	}
	return false
}

// shareOut finds out whether t is what all hunks wanted, or what all were made
// on, and gives each its part.
func (m *merger) shareOut(hunks []*hunk, start int, t string) bool {
	for _, part := range []func(*hunk) string{(*hunk).want, (*hunk).proposed} {
		if t != joined(hunks, part) {
			continue
		}
		for _, h := range hunks {
			end := start + len(part(h))
			m.land(h, start, end)
			start = end
		}
		return true
	}
	if t != joined(hunks, func(h *hunk) string { return h.old }) {
		return false
	}
	for _, h := range hunks {
		h.start, h.end = start, start+len(h.old)
		start = h.end
		m.keep(h.restored(m.now))
	}
	return true
}

// land takes h out: what it is about shows at [start, end) of now.
func (m *merger) land(h *hunk, start, end int) {
	h.start, h.end, h.slot = start, end, len(m.kept)
	m.landed = append(m.landed, h)
}

func (m *merger) keep(h *hunk) {
	m.met = append(m.met, len(m.kept))
	m.kept = append(m.kept, h)
}

// settleRuns looks at hunks that conflict side by side as one: when a deleted
// stretch comes back, the diff may have given all of it to one of them.
func (m *merger) settleRuns() {
	var drop map[*hunk]bool
	done := -1
	for _, at := range m.met {
		if at <= done || !m.isConflicted(at) {
			continue
		}
		from, to := at, at+1
		for from > 0 && m.isConflicted(from-1) && m.kept[from-1].end == m.kept[from].start {
			from--
		}
		for to < len(m.kept) && m.isConflicted(to) && m.kept[to].start == m.kept[to-1].end {
			to++
		}
		done = to - 1
		if to-from < 2 {
			continue
		}
		run := m.kept[from:to]
		t := m.now[run[0].start:run[len(run)-1].end]
		sub := merger{base: m.base, now: m.now}
		if sub.shareOut(append([]*hunk(nil), run...), run[0].start, t) {
			for _, h := range sub.landed {
				if drop == nil {
					drop = map[*hunk]bool{}
				}
				drop[h] = true
			}
			m.landed = append(m.landed, sub.landed...)
		}
	}
	if drop == nil {
		return
	}
	kept := m.kept[:0]
	for _, h := range m.kept {
		if !drop[h] {
			kept = append(kept, h)
		}
	}
	m.kept = kept
}

func (m *merger) isConflicted(i int) bool { return m.conflicted(m.kept[i]) }

func (m *merger) conflicted(h *hunk) bool { return m.now[h.start:h.end] != h.old }

// want is the text that shows that the hunk was applied: the user's own where
// there is one.
func (h *hunk) want() string {
	if h.asked != nil {
		return h.asked.want
	}
	return h.new
}

// proposed is the text that the agent wants.
func (h *hunk) proposed() string { return h.new }

// lands tells whether t in the place of the hunk means that it was applied.
// What was asked for in words of the user's own may also be the agent's.
func (h *hunk) lands(t string) bool { return t == h.want() || t == h.new }

// widen draws h out to [from, to) of base, in everything that it is about.
func (h *hunk) widen(base string, from, to int) {
	pre, post := base[from:h.start], base[h.end:to]
	if pre == "" && post == "" {
		return
	}
	h.start, h.end = from, to
	h.old, h.new = pre+h.old+post, pre+h.new+post
	if h.asked != nil {
		h.asked.want, h.asked.on = pre+h.asked.want+post, pre+h.asked.on+post
		for i := range h.asked.parts {
			h.asked.parts[i].start += len(pre)
			h.asked.parts[i].end += len(pre)
		}
	}
	if h.next != nil {
		next := pre + *h.next + post
		h.next = &next
	}
}

// restored is h back on the text that it was made on, cut to its core again.
func (h *hunk) restored(base string) *hunk {
	h.failed, h.reason = false, ""
	h.trim(base)
	return h
}

// trim cuts h back to its core, unless something hangs on its present extent.
func (h *hunk) trim(base string) {
	if h.next != nil || h.asked != nil && h.asked.want != h.new || base[h.start:h.end] != h.old {
		return
	}
	e := text.Trim(base, h.edit())
	h.start, h.end, h.new = e.Start, e.End, e.New
	h.old = base[e.Start:e.End]
	if h.asked != nil {
		h.asked.want = h.new
	}
}

func joined(hunks []*hunk, part func(*hunk) string) string {
	var b strings.Builder
	for _, h := range hunks {
		b.WriteString(part(h))
	}
	return b.String()
}
