package changeset

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sort"
)

// home is a place where a hunk was at peace, and in which text.
type home struct {
	size       int
	hash       uint64
	start, end int
	old, new   string
}

const (
	// maxHomes is how many places a hunk remembers.
	maxHomes = 8
	// maxRoving is the number of hunks in a file up to which all of them
	// remember every step, so that a leap over several of them, such as going
	// back to the saved file, finds home, too.
	maxRoving = 100
)

var homeSeed = maphash.MakeSeed()

// leave notes where the hunks stand that edits of base between from and to
// meet, or come so close to that their undo would.
func (m *merger) leave(hunks []*hunk, from, to int) {
	var hash uint64
	first := sort.Search(len(hunks), func(i int) bool { return hunks[i].end >= from })
	if len(hunks) <= maxRoving {
		first, to = 0, len(m.base)
	}
	for _, h := range hunks[first:] {
		if h.start > to {
			break
		}
		if m.base[h.start:h.end] != h.old {
			continue
		}
		if hash == 0 {
			hash = maphash.String(homeSeed, m.base)
		}
		if len(h.homes) == maxHomes {
			h.homes = h.homes[1:]
		}
		h.homes = append(h.homes[:len(h.homes):len(h.homes)], home{len(m.base), hash, h.start, h.end, h.old, h.new})
	}
}

// goHome puts hunks back when the text is again, as a whole, what it was before
// an edit met them: an undo of several steps ends there, however its steps
// looked and wherever they seemed to take a hunk.
func (m *merger) goHome() {
	hash := uint64(0)
	var back []*hunk
	for _, h := range m.kept {
		if h.next != nil || h.inFlight() {
			continue
		}
		for _, to := range h.homes {
			if to.size != len(m.now) {
				continue
			}
			if hash == 0 {
				hash = maphash.String(homeSeed, m.now)
			}
			if to.hash != hash || m.now[to.start:to.end] != to.old {
				continue
			}
			there := to.start == h.start && to.end == h.end && !m.conflicted(h)
			if !there && m.free(h, to, back) {
				h.start, h.end, h.old, h.new = to.start, to.end, to.old, to.new
				h.asked, h.failed, h.reason = nil, false, ""
				back = append(back, h)
			}
			break
		}
	}
	if len(back) == 0 {
		return
	}
	for _, h := range m.kept {
		for _, b := range back {
			if h != b && m.conflicted(h) {
				h.makeRoom(b)
			}
		}
	}
	slices.SortStableFunc(m.kept, func(a, b *hunk) int { return cmp.Or(a.start-b.start, a.end-b.end) })
}

// free tells whether h may go home: no other hunk has the place, but one in
// conflict, which makes room.
func (m *merger) free(h *hunk, to home, back []*hunk) bool {
	for _, o := range m.kept {
		if o == h || m.conflicted(o) && !slices.Contains(back, o) {
			continue
		}
		if o.start < to.end && to.start < o.end || o.start == to.start && o.end == to.end {
			return false
		}
	}
	return true
}

// makeRoom takes the place of b out of that of h, which is in conflict.
func (h *hunk) makeRoom(b *hunk) {
	if h.end <= b.start || b.end <= h.start {
		return
	}
	if left, right := b.start-h.start, h.end-b.end; left >= right && left > 0 {
		h.end = b.start
	} else {
		h.start = b.end
		h.end = max(h.end, h.start)
	}
}
