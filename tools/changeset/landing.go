package changeset

import "strings"

// landedExactly looks whether now is base with the wanted text of some of the
// hunks in flight and nothing else. That is what an editor's answer to an edit
// looks like, whole or in part, and this finds out which part for certain,
// where a diff could tell it in several ways. It fills in which of hunks.
func landedExactly(base, now string, hunks []*hunk) (landed []bool, ok bool) {
	p := landingParser{base: base, now: now, hunks: hunks, landed: make([]bool, len(hunks)), failed: map[[2]int]bool{}}
	for i, h := range hunks {
		if h.inFlight() {
			p.flights = append(p.flights, i)
		}
	}
	if len(p.flights) == 0 || !p.fit(0, 0, 0) {
		return nil, false
	}
	return p.landed, true
}

type landingParser struct {
	base, now string
	hunks     []*hunk
	flights   []int
	landed    []bool
	failed    map[[2]int]bool
}

// fit matches base from b on, where flight k comes next, with now from n on.
func (p *landingParser) fit(k, b, n int) bool {
	if k == len(p.flights) {
		return p.base[b:] == p.now[n:]
	}
	h := p.hunks[p.flights[k]]
	gap := p.base[b:h.start]
	if !strings.HasPrefix(p.now[n:], gap) {
		return false
	}
	n += len(gap)
	// More places than this were tried in vain only where texts repeat
	// themselves all over: a diff is as good then.
	if p.failed[[2]int{k, n}] || len(p.failed) > 4*len(p.flights)+1000 {
		return false
	}
	for _, landed := range []bool{true, false} {
		t := p.base[h.start:h.end]
		if landed {
			t = h.want()
		}
		if strings.HasPrefix(p.now[n:], t) && p.fit(k+1, h.end, n+len(t)) {
			p.landed[p.flights[k]] = landed
			return true
		}
	}
	p.failed[[2]int{k, n}] = true
	return false
}

// mergeLanded is merge where it is known which hunks landed, and that nothing
// else was changed.
func mergeLanded(hunks []*hunk, landed []bool) (kept, gone []*hunk) {
	delta := 0
	for i, h := range hunks {
		size := h.end - h.start
		h.start, h.end = h.start+delta, h.end+delta
		if !landed[i] {
			kept = append(kept, h)
			continue
		}
		delta += len(h.want()) - size
		h.end = h.start + len(h.want())
		gone = append(gone, h)
	}
	return kept, gone
}
