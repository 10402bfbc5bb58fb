package changeset

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/tools/text"
)

// userEdits finds what was done to base to make now: few edits, and of the
// ways to tell them the one that leaves the hunks in peace. They are sorted
// and disjoint and may be smaller than a word, as typing is.
func userEdits(base, now string, hunks []*hunk) []text.Edit {
	whole := span(base, now)
	edit, peace := slide(base, whole, hunks, 0, len(base))
	if peace || edit.Start == edit.End || edit.New == "" {
		return []text.Edit{edit}
	}
	// More than one change at a time, perhaps: look closer.
	from, to := text.StartOfLine(base, whole.Start), text.NextLine(base, whole.End)
	old, new := base[from:to], now[from:to+whole.Delta()]
	var edits []text.Edit
	for _, e := range text.Diff(old, new) {
		for _, w := range text.Words(old, e) {
			edits = append(edits, text.Edit{Start: w.Start + from, End: w.End + from, New: w.New})
		}
	}
	for i := range edits {
		lo, hi := 0, len(base)
		if i > 0 {
			lo = edits[i-1].End + 1 // never touching: the two would be one
		}
		if i+1 < len(edits) {
			hi = edits[i+1].Start - 1
		}
		edits[i], _ = slide(base, edits[i], hunks, lo, hi)
	}
	return edits
}

// span is the one edit that makes now of base, by what is common at the ends.
// It cuts no rune and no line ending.
func span(base, now string) text.Edit {
	p := text.CommonPrefix(base, now)
	s := text.CommonSuffix(base[p:], now[p:])
	e := text.Edit{Start: p, End: len(base) - s, New: now[p : len(now)-s]}
	if e.Start == e.End || e.New == "" {
		w := newSlider(base, e, 0, len(base))
		for at := e.Start; at >= e.Start-w.left; at-- {
			if c, ok := w.at(at); ok {
				return c
			}
		}
	}
	for !(clean(base, e.Start) && clean(now, e.Start)) {
		e.Start--
		e.New = now[e.Start : e.Start+1+len(e.New)]
	}
	for end := e.Start + len(e.New); !(clean(base, e.End) && clean(now, end)); end++ {
		e.End++
		e.New = now[e.Start : end+1]
	}
	return e
}

// clean tells whether s may be cut at i: not inside a rune or a line ending.
func clean(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return true
	}
	return utf8.RuneStart(s[i]) && !(s[i-1] == '\r' && s[i] == '\n')
}

// slide gives the edit that does the same as e and concerns hunks least, and
// whether it concerns none. Text put in or taken out between equal text can be
// told in several ways: a line break typed before a hunk must not look like
// one typed into it. Where one of the ways settles a hunk, it is that.
func slide(base string, e text.Edit, hunks []*hunk, lo, hi int) (text.Edit, bool) {
	w := newSlider(base, e, lo, hi)
	first := sort.Search(len(hunks), func(i int) bool { return hunks[i].end >= e.Start-w.left })
	last := first
	for last < len(hunks) && hunks[last].start <= e.End+w.right {
		last++
	}
	near := hunks[first:last]
	if len(near) == 0 {
		return e, true
	}
	if settlesOne(base, e, near) {
		return e, false
	}
	peace := !disturbs(base, e, near)
	// Next to a conflicted hunk an edit stays where it is: it may be a part of
	// the text that comes back. And who puts a line where the agent puts one
	// means that place, not one character before.
	fixed := meetsOne(base, e, near, func(h *hunk) bool {
		return base[h.start:h.end] != h.old || h.start == h.end && strings.TrimSpace(e.New) != ""
	})
	best := e
	const enough = 100 // hunks to look at: more would be next to each other in a run of one character
	for _, h := range near[:min(len(near), enough)] {
		for _, at := range []int{h.start, h.start - 1, h.start - w.removed(), h.end, h.end + 1} {
			c, ok := w.at(at)
			switch {
			case !ok:
			case settlesOne(base, c, near):
				return c, false
			case !peace && !fixed && !disturbs(base, c, near):
				best, peace = c, true
			}
		}
	}
	return best, peace
}

// settlesOne tells whether e makes true what a hunk wants, or brings back the
// text that a conflicted one was made on.
func settlesOne(base string, e text.Edit, hunks []*hunk) bool {
	for _, h := range hunks {
		if e.Start < h.start || e.End > h.end {
			continue
		}
		conflicted := base[h.start:h.end] != h.old
		if !conflicted && (e.Start > h.start || e.End < h.end) {
			continue
		}
		t := base[h.start:e.Start] + e.New + base[e.End:h.end]
		if h.lands(t) || conflicted && t == h.old {
			return true
		}
	}
	return false
}

func disturbs(base string, e text.Edit, hunks []*hunk) bool {
	return meetsOne(base, e, hunks, func(*hunk) bool { return true })
}

func meetsOne(base string, e text.Edit, hunks []*hunk, which func(*hunk) bool) bool {
	for _, h := range hunks {
		if h.meets(e, base) && which(h) {
			return true
		}
	}
	return false
}

// slider tells an insertion or a removal in all its ways.
type slider struct {
	base        string
	e           text.Edit
	left, right int // how far it may start from where it does
}

// maxSlide bounds how far an edit is slid, in bytes.
const maxSlide = 1 << 14

// newSlider looks how far e may slide within [lo, hi) of base. A replacement
// does not slide.
func newSlider(base string, e text.Edit, lo, hi int) slider {
	w := slider{base: base, e: e}
	n := len(e.New)
	switch {
	case e.Start == e.End:
		for w.left < min(e.Start-lo, maxSlide) && base[e.Start-1-w.left] == w.inserted(n-1-w.left) {
			w.left++
		}
		for w.right < min(hi-e.End, maxSlide) && base[e.Start+w.right] == w.inserted(w.right) {
			w.right++
		}
	case n == 0:
		for w.left < min(e.Start-lo, maxSlide) && base[e.Start-1-w.left] == base[e.End-1-w.left] {
			w.left++
		}
		for w.right < min(hi-e.End, maxSlide) && base[e.Start+w.right] == base[e.End+w.right] {
			w.right++
		}
	}
	return w
}

// inserted is byte i of the text after e.Start once e is made; before the
// start where i is negative.
func (w slider) inserted(i int) byte {
	switch n := len(w.e.New); {
	case i < 0:
		return w.base[w.e.Start+i]
	case i < n:
		return w.e.New[i]
	default:
		return w.base[w.e.Start+i-n]
	}
}

func (w slider) removed() int { return w.e.End - w.e.Start }

// at is the edit when it starts at p, if it can.
func (w slider) at(p int) (text.Edit, bool) {
	k := p - w.e.Start
	if k < -w.left || k > w.right {
		return text.Edit{}, false
	}
	c := text.Edit{Start: p, End: p + w.removed(), New: w.e.New}
	if n := len(c.New); n > 0 && k != 0 {
		b := make([]byte, n)
		for i := range b {
			b[i] = w.inserted(i + k)
		}
		c.New = string(b)
	}
	if !clean(w.base, c.Start) || !clean(w.base, c.End) {
		return c, false
	}
	if n := len(c.New); n > 0 {
		if !utf8.RuneStart(c.New[0]) ||
			p > 0 && w.base[p-1] == '\r' && c.New[0] == '\n' ||
			c.End < len(w.base) && c.New[n-1] == '\r' && w.base[c.End] == '\n' {
			return c, false
		}
	}
	return c, true
}
