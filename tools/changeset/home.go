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
	homes := m.homes()
	if len(homes) == 0 {
		return
	}
	// Where nobody goes home, pending hunks keep their place.
	var taken []place
	for _, h := range m.kept {
		if _, goes := homes[h]; !goes && !m.conflicted(h) {
			taken = append(taken, place{h.start, h.end})
		}
	}
	moved := false
	for _, h := range m.kept {
		to, goes := homes[h]
		if !goes {
			continue
		}
		at := place{to.start, to.end}
		if slices.ContainsFunc(taken, at.collides) {
			delete(homes, h)
			continue
		}
		taken = append(taken, at)
		if to.start != h.start || to.end != h.end || m.conflicted(h) {
			h.start, h.end, h.old, h.new = to.start, to.end, to.old, to.new
			h.asked, h.failed, h.reason, moved = nil, false, "", true
		}
	}
	if !moved {
		return
	}
	for _, h := range m.kept {
		if _, home := homes[h]; !home && m.conflicted(h) {
			for _, at := range taken {
				h.makeRoom(at)
			}
		}
	}
	slices.SortStableFunc(m.kept, func(a, b *hunk) int { return cmp.Or(a.start-b.start, a.end-b.end) })
}

// homes finds the hunks that stood in this very text before, and where.
func (m *merger) homes() map[*hunk]home {
	var homes map[*hunk]home
	hash := uint64(0)
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
			if to.hash == hash && m.now[to.start:to.end] == to.old {
				if homes == nil {
					homes = map[*hunk]home{}
				}
				homes[h] = to
			}
		}
	}
	return homes
}

// place is a place in a text.
type place struct{ start, end int }

// collides tells whether two hunks cannot have both places.
func (a place) collides(b place) bool {
	return a.start < b.end && b.start < a.end || a == b
}

// makeRoom takes a place out of that of h, which is in conflict.
func (h *hunk) makeRoom(at place) {
	if h.end <= at.start || at.end <= h.start {
		return
	}
	if left, right := at.start-h.start, h.end-at.end; left >= right && left > 0 {
		h.end = at.start
	} else {
		h.start = at.end
		h.end = max(h.end, h.start)
	}
}
