package text

const (
	// stride is the number of differing lines that greedy looks ahead.
	stride = 128
	// maxSteps bounds the lines that greedy compares in one Diff. What is left
	// over then is replaced as a whole.
	maxSteps = 1 << 26
)

// greedy compares a block that is too long to compare exactly, however often
// its lines repeat: Myers' algorithm in strides. Each looks a number of
// differences ahead, keeps the first half of the path that came furthest, and
// the next goes on from there. With few differences that is exact; with many
// the work grows with the length only.
func (w *lineDiff) greedy(a0, a1, b0, b1 int) {
	p := pathfinder{v: make([]int32, 2*stride+3)}
	for a0 < a1 && b0 < b1 {
		x, y, d, done := p.forward(w.a[a0:a1], w.b[b0:b1])
		w.steps += p.steps
		if !done {
			x, y, d = p.half(x, y, d)
		}
		p.back(x, y, d, func(x, y int) { w.keepA[a0+x], w.keepB[b0+y] = true, true })
		a0, b0 = a0+x, b0+y
		if done || w.steps > maxSteps {
			return
		}
	}
}

// pathfinder looks for the path through two lists with the fewest differences.
type pathfinder struct {
	// v[mid+k] is how far along a the best path on diagonal k has come.
	v []int32
	// trace holds v as it was after each number of differences, diagonals -d
	// to d.
	trace [][]int32
	steps int
}

// forward goes up to stride differences far. It gives the end of the path that
// came furthest, its number of differences, and whether that is the end of
// both lists.
func (p *pathfinder) forward(a, b []int32) (x, y, d int, done bool) {
	const mid = stride + 1
	clear(p.v)
	p.trace, p.steps = p.trace[:0], 0
	for d := 0; ; d++ {
		bestX, bestY := 0, 0
		for k := -d; k <= d; k += 2 {
			x := p.reach(p.v[mid-d:mid+d+1], k, d)
			y := x - k
			from := x
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			p.steps += x - from + 1
			p.v[mid+k] = int32(x)
			if x <= len(a) && y <= len(b) && x+y >= bestX+bestY {
				bestX, bestY = x, y
			}
			if x == len(a) && y == len(b) {
				return x, y, d, true
			}
		}
		if d == stride {
			return bestX, bestY, d, false
		}
		p.trace = append(p.trace, append([]int32(nil), p.v[mid-d:mid+d+1]...))
	}
}

// reach is where the best path with d differences enters diagonal k, from v
// with the diagonals -d to d.
func (p *pathfinder) reach(v []int32, k, d int) int {
	switch {
	case d == 0:
		return 0
	case k == -d || k != d && v[d+k-1] < v[d+k+1]:
		return int(v[d+k+1])
	}
	return int(v[d+k-1]) + 1
}

// before is where the path to x, y with d differences stood at the end of d-1.
func (p *pathfinder) before(x, y, d int) (int, int) {
	v, k := p.trace[d-1], x-y // diagonals -(d-1) to d-1
	at := func(k int) int { return int(v[k+d-1]) }
	if k == -d || k != d && at(k-1) < at(k+1) {
		return at(k + 1), at(k+1) - (k + 1)
	}
	return at(k - 1), at(k-1) - (k - 1)
}

// half is the place on the path to x, y where half of its differences are
// behind it.
func (p *pathfinder) half(x, y, d int) (int, int, int) {
	for h := d / 2; d > h; d-- {
		x, y = p.before(x, y, d)
	}
	return x, y, d
}

// back calls keep for all that is kept on the path to x, y.
func (p *pathfinder) back(x, y, d int, keep func(x, y int)) {
	for ; d >= 0; d-- {
		px, py := 0, 0
		if d > 0 {
			px, py = p.before(x, y, d)
		}
		for x > px && y > py {
			x, y = x-1, y-1
			keep(x, y)
		}
		x, y = px, py
	}
}
