package changeset

import "strings"

// mergeLanded is merge for a step that did nothing but put in the wanted text
// of some of the hunks in flight: what an editor's answer to an edit looks
// like, whole or in part. It finds out which part for certain, where a diff
// could tell it in several ways. It is false for any other step.
func mergeLanded(base, now string, hunks []*hunk) (kept, landed []*hunk, ok bool) {
	p := landingParser{base: base, now: now, failed: map[[2]int]bool{}}
	for _, h := range hunks {
		if !h.inFlight() {
			continue
		}
		for _, f := range h.flights(base) {
			p.flights = append(p.flights, part{start: f.start + h.start, end: f.end + h.start, want: f.want})
		}
	}
	p.landed = make([]bool, len(p.flights))
	if len(p.flights) == 0 || !p.fit(0, 0, 0) {
		return nil, nil, false
	}
	delta, next := 0, 0
	for _, h := range hunks {
		var flights []part
		if h.inFlight() {
			flights = h.flights(base)
		}
		h.start, h.end = h.start+delta, h.end+delta
		grown, all := h.takeOff(flights, p.landed[next:next+len(flights)], now)
		if all {
			h.slot = len(kept)
			landed = append(landed, h)
		} else {
			kept = append(kept, h)
		}
		delta, next = delta+grown, next+len(flights)
	}
	return kept, landed, true
}

// takeOff takes in which flights of a hunk landed in now, where it starts
// already. It gives by how much that made the hunk longer, and whether it was
// all of them.
func (h *hunk) takeOff(flights []part, landed []bool, now string) (grown int, all bool) {
	var open []part
	var done []*item
	for i, p := range flights {
		p.start, p.end = p.start+grown, p.end+grown
		if landed[i] {
			grown += len(p.want) - (p.end - p.start)
			done = append(done, p.items...)
		} else {
			open = append(open, p)
		}
	}
	if len(done) == 0 {
		return 0, false
	}
	h.end += grown
	if len(open) == 0 {
		return grown, true
	}
	// Some of what the agent has joined: the rest is still in flight.
	h.old, h.new = now[h.start:h.end], h.asked.want
	h.asked = &asked{want: h.asked.want, on: h.old, flying: true, parts: open, landed: done}
	for _, p := range open {
		h.asked.items = append(h.asked.items, p.items...)
	}
	return grown, false
}

type landingParser struct {
	base, now string
	flights   []part // offsets in base
	landed    []bool
	failed    map[[2]int]bool
}

// fit matches base from b on, where flight k comes next, with now from n on.
func (p *landingParser) fit(k, b, n int) bool {
	if k == len(p.flights) {
		return p.base[b:] == p.now[n:]
	}
	f := p.flights[k]
	gap := p.base[b:f.start]
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
		t := p.base[f.start:f.end]
		if landed {
			t = f.want
		}
		if strings.HasPrefix(p.now[n:], t) && p.fit(k+1, f.end, n+len(t)) {
			p.landed[k] = landed
			return true
		}
	}
	p.failed[[2]int{k, n}] = true
	return false
}
