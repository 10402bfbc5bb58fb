package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// When the loop guard speaks.
const (
	loopRemind = 3
	loopEnd    = 5
)

// loopGuard counts calls that were made before with the same result. A result
// that the run has not seen yet is progress: what was repeated before it counts
// once from then on. So neither different edits of one file nor a command
// with new output is held up, and A, B, A, B is seen as well as A, A, A.
type loopGuard struct {
	seen  map[[32]byte]repeats
	turn  map[[32]byte]bool // what this turn counted already
	phase int               // rises with each new result
	ended bool
}

// repeats is how often a call came with one result, as of a phase; what is of
// an earlier phase counts once.
type repeats struct{ n, phase int }

// begin opens a turn, in which a call counts once however often it is made.
func (g *loopGuard) begin() { g.turn = map[[32]byte]bool{} }

// count takes a call with its result and returns how often both were seen.
func (g *loopGuard) count(name string, input json.RawMessage, status Status, result string) int {
	if g.seen == nil {
		g.seen = map[[32]byte]repeats{}
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%q %s %s %s", name, status, canonicalJSON(input), result))
	r, known := g.seen[key]
	if g.turn[key] {
		return r.n
	}
	g.turn[key] = true
	if !known {
		g.phase++
	}
	if r.phase != g.phase {
		r = repeats{min(r.n, 1), g.phase}
	}
	r.n++
	g.seen[key] = r
	if r.n >= loopEnd {
		g.ended = true
	}
	return r.n
}

// stuck reports whether the run goes round in circles.
func (g *loopGuard) stuck() bool { return g.ended }

// reminder is what the model is told about a call that it has made n times.
func reminder(n int) string {
	if n < loopRemind {
		return ""
	}
	return fmt.Sprintf("\n\n[This is call number %d with this input and this same result. It will not come out differently: "+
		"look at the file or the output as it is now, and do something else, or end your turn and say what is in the way.]", n)
}

// canonicalJSON writes JSON without needless space and with keys in order.
func canonicalJSON(raw json.RawMessage) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return raw
	}
	out, err := json.Marshal(v) // maps are written in the order of their keys
	if err != nil {
		return raw
	}
	return out
}
