package text

import (
	"slices"

	"github.com/sergi/go-diff/diffmatchpatch"
)

const (
	// maxBlock is the number of lines on both sides together up to which a
	// block is compared exactly at once.
	maxBlock = 2000
	// maxWork bounds the exact comparisons of one Diff, in pairs of lines.
	maxWork = 1 << 24
	// maxDepth bounds how often a gap between anchors is anchored again.
	maxDepth = 8
)

// Diff gives the whole-line edits that turn a into b: sorted, disjoint, and
// never touching. They are minimal where that can be had with bounded work:
// in blocks of up to some thousand lines, and where few lines differ.
func Diff(a, b string) []Edit {
	if a == b {
		return nil
	}
	skip := commonLines(a, b)
	ma, mb := a[skip:], b[skip:]
	tail := commonLinesEnd(ma, mb)
	ma, mb = ma[:len(ma)-tail], mb[:len(mb)-tail]
	var w lineDiff
	w.intern(ma, mb)
	w.run(0, len(w.a), 0, len(w.b), 0)
	return w.edits(skip, mb)
}

// commonLines is the length of the lines that a and b begin with alike. It
// ends at the start of a line in both.
func commonLines(a, b string) int {
	n := CommonPrefix(a, b)
	for n > 0 && !(LineStart(a, n) && LineStart(b, n)) {
		n--
	}
	return n
}

// commonLinesEnd is the same for the end.
func commonLinesEnd(a, b string) int {
	n := CommonSuffix(a, b)
	for n > 0 && !(LineStart(a, len(a)-n) && LineStart(b, len(b)-n)) {
		n--
	}
	return n
}

// lineDiff compares two lists of lines, each line a number.
type lineDiff struct {
	a, b   []int32
	sizeA  []int // length of each line in bytes
	sizeB  []int
	count  int // of different lines
	keepA  []bool
	keepB  []bool
	work   int // pairs of lines that were compared exactly
	steps  int // lines that greedy compared
	counts []lineCount
}

func (w *lineDiff) intern(a, b string) {
	ids := make(map[string]int32)
	number := func(s string) (ids32 []int32, sizes []int) {
		for s != "" {
			n := lineLen(s)
			id, ok := ids[s[:n]]
			if !ok {
				id = int32(len(ids))
				ids[s[:n]] = id
			}
			ids32, sizes = append(ids32, id), append(sizes, n)
			s = s[n:]
		}
		return ids32, sizes
	}
	w.a, w.sizeA = number(a)
	w.b, w.sizeB = number(b)
	w.count = len(ids)
	w.keepA, w.keepB = make([]bool, len(w.a)), make([]bool, len(w.b))
}

// run marks the lines of a[a0:a1] and b[b0:b1] that are kept.
func (w *lineDiff) run(a0, a1, b0, b1, depth int) {
	for a0 < a1 && b0 < b1 && w.a[a0] == w.b[b0] {
		w.keepA[a0], w.keepB[b0] = true, true
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && w.a[a1-1] == w.b[b1-1] {
		a1, b1 = a1-1, b1-1
		w.keepA[a1], w.keepB[b1] = true, true
	}
	if a0 == a1 || b0 == b1 {
		return
	}
	if (a1-a0)+(b1-b0) <= maxBlock && w.exact(a0, a1, b0, b1) {
		return
	}
	var anchors [][2]int
	if depth < maxDepth {
		anchors = w.anchors(a0, a1, b0, b1)
	}
	if len(anchors) == 0 {
		w.greedy(a0, a1, b0, b1)
		return
	}
	for _, p := range append(anchors, [2]int{a1, b1}) {
		w.run(a0, p[0], b0, p[1], depth+1)
		if p[0] < a1 {
			w.keepA[p[0]], w.keepB[p[1]] = true, true
		}
		a0, b0 = p[0]+1, p[1]+1
	}
}

type lineCount struct{ inA, inB, atA, atB int32 }

// count counts the lines of the block; uncount forgets them in time
// proportional to the block.
func (w *lineDiff) countBlock(a0, a1, b0, b1 int) {
	if w.counts == nil {
		w.counts = make([]lineCount, w.count)
	}
	for i := a0; i < a1; i++ {
		c := &w.counts[w.a[i]]
		c.inA, c.atA = c.inA+1, int32(i)
	}
	for i := b0; i < b1; i++ {
		c := &w.counts[w.b[i]]
		c.inB, c.atB = c.inB+1, int32(i)
	}
}

func (w *lineDiff) uncountBlock(a0, a1, b0, b1 int) {
	for i := a0; i < a1; i++ {
		w.counts[w.a[i]] = lineCount{}
	}
	for i := b0; i < b1; i++ {
		w.counts[w.b[i]] = lineCount{}
	}
}

// anchors pairs lines that occur once in the block of a and once in that of b,
// as many as can be had in the same order.
func (w *lineDiff) anchors(a0, a1, b0, b1 int) [][2]int {
	w.countBlock(a0, a1, b0, b1)
	defer w.uncountBlock(a0, a1, b0, b1)
	// Patience: the longest increasing run of places in b.
	type card struct {
		a, b, prev int
	}
	var cards []card
	var piles []int // index of the card on top of each pile
	for i := a0; i < a1; i++ {
		c := w.counts[w.a[i]]
		if c.inA != 1 || c.inB != 1 {
			continue
		}
		at, _ := slices.BinarySearchFunc(piles, int(c.atB), func(p, b int) int { return cards[p].b - b })
		prev := -1
		if at > 0 {
			prev = piles[at-1]
		}
		cards = append(cards, card{i, int(c.atB), prev})
		if at == len(piles) {
			piles = append(piles, 0)
		}
		piles[at] = len(cards) - 1
	}
	if len(piles) == 0 {
		return nil
	}
	out := make([][2]int, len(piles), len(piles)+1)
	for i, c := len(piles)-1, piles[len(piles)-1]; i >= 0; i-- {
		out[i] = [2]int{cards[c].a, cards[c].b}
		c = cards[c].prev
	}
	return out
}

// exact compares a block with go-diff and tells whether its work was within
// bounds. Lines that the other side does not have cannot be kept: they are
// left out first, which makes most blocks small and changes no result.
func (w *lineDiff) exact(a0, a1, b0, b1 int) bool {
	w.countBlock(a0, a1, b0, b1)
	defer w.uncountBlock(a0, a1, b0, b1)
	local := make(map[int32]rune)
	ra, ia := w.shared(w.a, a0, a1, local, func(c lineCount) bool { return c.inB > 0 })
	rb, ib := w.shared(w.b, b0, b1, local, func(c lineCount) bool { return c.inA > 0 })
	work := len(ra) * len(rb)
	if work > maxWork-w.work {
		return false
	}
	w.work += work
	at, bt := 0, 0
	for _, d := range diffRunes(ra, rb) {
		switch d.op {
		case diffmatchpatch.DiffDelete:
			at += d.n
		case diffmatchpatch.DiffInsert:
			bt += d.n
		default:
			for range d.n {
				w.keepA[ia[at]], w.keepB[ib[bt]] = true, true
				at, bt = at+1, bt+1
			}
		}
	}
	return true
}

// shared gives the lines of a block that the other side has too, each as a
// rune of its own, and where they stand.
func (w *lineDiff) shared(lines []int32, from, to int, local map[int32]rune, has func(lineCount) bool) ([]rune, []int) {
	var runes []rune
	var at []int
	for i := from; i < to; i++ {
		if !has(w.counts[lines[i]]) {
			continue
		}
		r, ok := local[lines[i]]
		if !ok {
			r = symbol(len(local))
			local[lines[i]] = r
		}
		runes, at = append(runes, r), append(at, i)
	}
	return runes, at
}

// symbol is the nth rune that go-diff can tell from all others: it passes
// runes through strings, where surrogates would become one and the same.
func symbol(n int) rune {
	r := rune(n + 1)
	if r >= 0xD800 {
		r += 0x800
	}
	return r
}

type runeDiff struct {
	op diffmatchpatch.Operation
	n  int
}

func diffRunes(a, b []rune) []runeDiff {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0 // exact; a time limit would make results differ from run to run
	var out []runeDiff
	for _, d := range dmp.DiffMainRunes(a, b, false) {
		n := 0
		for range d.Text {
			n++
		}
		out = append(out, runeDiff{d.Type, n})
	}
	return out
}

// edits reads the edits off the marks. b is the text that w.b was made of,
// base the offset of the text of w.a.
func (w *lineDiff) edits(base int, b string) []Edit {
	var out []Edit
	i, j, ao, bo := 0, 0, base, 0
	for i < len(w.a) || j < len(w.b) {
		if i < len(w.a) && w.keepA[i] && j < len(w.b) && w.keepB[j] {
			ao, bo = ao+w.sizeA[i], bo+w.sizeB[j]
			i, j = i+1, j+1
			continue
		}
		e := Edit{Start: ao}
		from := bo
		for i < len(w.a) && !w.keepA[i] {
			ao, i = ao+w.sizeA[i], i+1
		}
		for j < len(w.b) && !w.keepB[j] {
			bo, j = bo+w.sizeB[j], j+1
		}
		e.End, e.New = ao, b[from:bo]
		out = append(out, e)
	}
	return out
}
