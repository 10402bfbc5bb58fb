package text

const (
	// maxFew is the number of differing lines up to which few looks.
	maxFew = 600
	// maxSteps bounds the lines that few compares in one block.
	maxSteps = 1 << 25
)

// few compares a block in which most lines are kept, however long it is and
// however often its lines repeat: Myers' greedy algorithm, given up when more
// than maxFew lines differ. It tells whether it found the edits.
func (w *lineDiff) few(a0, a1, b0, b1 int) bool {
	a, b := w.a[a0:a1], w.b[b0:b1]
	if d := len(a) - len(b); d > maxFew || -d > maxFew {
		return false
	}
	// v[k] is how far along a the best path on diagonal k has come; trace
	// holds the v of each number of differences, diagonals -d to d.
	v := make([]int32, 2*maxFew+3)
	const mid = maxFew + 1
	var trace [][]int32
	steps := 0
	for d := 0; d <= maxFew; d++ {
		for k := -d; k <= d; k += 2 {
			var x int
			if k == -d || k != d && v[mid+k-1] < v[mid+k+1] {
				x = int(v[mid+k+1])
			} else {
				x = int(v[mid+k-1]) + 1
			}
			y := x - k
			if x > len(a) || y > len(b) {
				v[mid+k] = int32(x)
				continue
			}
			from := x
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			steps += x - from + 1
			v[mid+k] = int32(x)
			if x == len(a) && y == len(b) {
				w.backtrack(trace, d, a0, b0, x, y)
				return true
			}
		}
		if steps > maxSteps-w.work {
			break
		}
		trace = append(trace, append([]int32(nil), v[mid-d:mid+d+1]...))
	}
	w.work += steps
	return false
}

// backtrack marks what few's path keeps, from its end at x, y.
func (w *lineDiff) backtrack(trace [][]int32, d, a0, b0, x, y int) {
	for ; d > 0; d-- {
		v, k := trace[d-1], x-y
		at := func(k int) int32 {
			if k < -(d-1) || k > d-1 {
				return -1
			}
			return v[k+d-1]
		}
		prev := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			prev = k + 1
		}
		px := int(at(prev))
		py := px - prev
		for x > px && y > py {
			x, y = x-1, y-1
			w.keepA[a0+x], w.keepB[b0+y] = true, true
		}
		x, y = px, py
	}
	for x > 0 && y > 0 {
		x, y = x-1, y-1
		w.keepA[a0+x], w.keepB[b0+y] = true, true
	}
}
