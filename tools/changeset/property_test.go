package changeset

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentls/agentls/tools/text"
)

// seed makes other rounds of the property tests: -args -seed=2.
var seed = flag.Uint64("seed", 1, "seed of the property tests")

// The agent and the user work on lines that are not next to each other, as
// they like: the merge is what both did, and nothing is in conflict.
func TestMergeOfDistantLines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(*seed, 31))
	for round := range 2000 {
		n := 4 + rnd.IntN(20)
		ends := []string{"\n", "\r\n", "\r"}[rnd.IntN(3)]
		var base, agent, user, both []string
		who := 0
		for i := range n {
			line := fmt.Sprintf("line %d%s", i, ends)
			if rnd.IntN(3) == 0 { // all of a kind, so that nothing is unique
				line = "same" + ends
			}
			if line == "same"+ends || i%2 == 0 {
				who = 0
			} else {
				who = rnd.IntN(3)
			}
			changed := line
			switch rnd.IntN(3) {
			case 0:
				changed = fmt.Sprintf("LINE %d and more%s", i, ends)
			case 1:
				changed = line + fmt.Sprintf("added %d%s", i, ends)
			case 2:
				changed = ""
			}
			base = append(base, line)
			pick := func(as int) string {
				if who == as || as == 3 && who > 0 {
					return changed
				}
				return line
			}
			agent, user, both = append(agent, pick(1)), append(user, pick(2)), append(both, pick(3))
		}
		w := newWorld(t, "f", strings.Join(base, ""))
		w.write("f", strings.Join(agent, ""))
		// The user does it at once, or line by line.
		if rnd.IntN(2) == 0 {
			now := slices.Clone(base)
			for _, i := range rnd.Perm(n) {
				now[i] = user[i]
				w.user("f", strings.Join(now, ""))
			}
		} else {
			w.user("f", strings.Join(user, ""))
		}
		if got, want := w.read("f"), strings.Join(both, ""); got != want {
			t.Fatalf("round %d:\nbase  %q\nagent %q\nuser  %q\ngot   %q\nwant  %q\n%s", round, base, agent, user, got, want, w.sketch())
		}
		if strings.Contains(w.sketch(), "conflicted") {
			t.Fatalf("round %d: %s", round, w.sketch())
		}
		w.acceptAll()
		if got, want := w.content("f"), strings.Join(both, ""); got != want || t.Failed() {
			t.Fatalf("round %d: applied %q, want %q", round, got, want)
		}
	}
}

// The user changes anything, in any number of steps, and undoes it: the
// proposal is what it was.
func TestUndoOfAnything(t *testing.T) {
	rnd := rand.New(rand.NewPCG(*seed, 41))
	undone, stuck := 0, 0
	for round := range 3000 {
		base := randomText(rnd, 30)
		w := newWorld(t, "f", base)
		for range 1 + rnd.IntN(3) {
			edits, _ := randomEdits(rnd, w.read("f"))
			w.did(w.set.Edit("f", w.read("f"), edits, Origin{}))
		}
		before := w.sketch()
		texts := []string{base}
		for range 1 + rnd.IntN(4) {
			now := mutate(rnd, texts[len(texts)-1])
			w.user("f", now)
			texts = append(texts, now)
		}
		if o := w.set.TakeOutcomes(); len(o) > 0 || t.Failed() {
			continue // a hunk was typed by chance
		}
		steps := rnd.IntN(2) == 0
		if steps {
			for i := len(texts) - 2; i > 0; i-- {
				w.user("f", texts[i])
			}
		}
		w.user("f", base)
		if o := w.set.TakeOutcomes(); len(o) > 0 {
			continue
		}
		undone++
		if got := w.sketch(); got != before || t.Failed() {
			if !steps && strings.Contains(got, "conflicted") && !t.Failed() {
				stuck++ // a leap over several texts, among words that all look alike
				continue
			}
			t.Fatalf("round %d: through %q\nproposal %s\nwas      %s", round, texts, got, before)
		}
	}
	if undone < 1000 || stuck > undone/50 {
		t.Errorf("%d rounds went through, %d did not come back", undone, stuck)
	}
}

// What the agent sees does not depend on what an editor makes of an edit, as
// long as nobody else types: all of it, a part, or nothing.
func TestFlightsKeepTheView(t *testing.T) {
	rnd := rand.New(rand.NewPCG(*seed, 51))
	joined := 0
	for round := range 3000 {
		base := randomText(rnd, 40)
		w := newWorld(t, "f", base)
		for range 1 + rnd.IntN(5) {
			edits, _ := randomEdits(rnd, w.read("f"))
			w.did(w.set.Edit("f", w.read("f"), edits, Origin{}))
		}
		if len(w.set.Proposal().Files) == 0 {
			continue
		}
		var ds []Decision
		for _, h := range w.file("f").Hunks {
			if rnd.IntN(3) > 0 {
				ds = append(ds, Decision{HunkID: h.HunkID, Verdict: Accept})
			}
		}
		b, err := w.set.Resolve(w.set.Proposal().Revision, ds)
		if err != nil {
			t.Fatal(err)
		}
		for range rnd.IntN(3) {
			edits, _ := randomEdits(rnd, w.read("f"))
			w.did(w.set.Edit("f", w.read("f"), edits, Origin{}))
		}
		view := w.read("f")
		var done []text.Edit
		if len(b.Files) > 0 {
			for _, e := range b.Files[0].Edits {
				if rnd.IntN(4) > 0 {
					done = append(done, e)
				}
			}
		}
		w.user("f", text.Apply(base, done))
		if strings.Contains(w.sketch(), "conflicted") {
			// The agent wrote over two hunks of which one landed: not claimed,
			// not lost, and for a person to look at.
			joined++
			continue
		}
		if got := w.read("f"); got != view {
			t.Fatalf("round %d: %q with %v of %v: the agent sees %q, saw %q", round, base, done, b.Files, got, view)
		}
		applied := 0
		for _, r := range w.set.Settle(b, w.Base, "no") {
			if r.State == Applied {
				applied++
			}
		}
		w.check()
		if got := w.read("f"); got != view || t.Failed() {
			t.Fatalf("round %d: %q: settled, the agent sees %q, saw %q", round, base, got, view)
		}
		if applied != len(done) {
			// Edits that repeat what is around them may look done when others are.
			t.Logf("round %d: %d of %d edits seen, %q %v", round, applied, len(done), base, b.Files[0].Edits)
		}
		w.acceptAll()
		if got := w.content("f"); got != view {
			t.Fatalf("round %d: in the end %q, want %q", round, got, view)
		}
	}
	if joined > 0 {
		t.Errorf("in conflict in %d rounds", joined)
	}
}

// Everything at random on several files; check holds after every step, and an
// id is never used again.
func TestAnythingGoes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(*seed, 61))
	rounds := 400
	if testing.Short() {
		rounds = 50
	}
	for round := range rounds {
		w := newWorld(t, "a", randomText(rnd, 20), "b", randomText(rnd, 20), "c", "")
		left := map[string]bool{}
		shown := map[string]bool{}
		var log []string
		for range 40 {
			log = append(log, w.randomStep(rnd, 13))
			now := map[string]bool{}
			for _, f := range w.set.Proposal().Files {
				for _, h := range f.Hunks {
					now[h.HunkID] = true
					if left[h.HunkID] {
						t.Errorf("round %d: hunk %s is back\n%s", round, h.HunkID, strings.Join(log, "\n"))
					}
				}
			}
			for id := range shown {
				if !now[id] {
					left[id] = true
				}
			}
			shown = now
			if t.Failed() {
				t.Fatalf("round %d:\n%s", round, strings.Join(log, "\n"))
			}
		}
	}
}

// randomStep does one of the first n kinds of steps.
func (w *world) randomStep(rnd *rand.Rand, n int) string {
	w.t.Helper()
	paths := []string{"a", "b", "c", "d"}
	p, q := paths[rnd.IntN(4)], paths[rnd.IntN(4)]
	var err error
	var step string
	switch rnd.IntN(n) {
	case 0, 1:
		step = "write " + p
		_, err = w.set.Write(p, randomText(rnd, 20), Origin{})
	case 2, 3, 4:
		d, _ := w.set.Read(p)
		edits, to := randomEdits(rnd, d.Text)
		step = fmt.Sprintf("edit %s %q to %q", p, d.Text, to)
		_, err = w.set.Edit(p, d.Text, edits, Origin{})
	case 5:
		step = "delete " + p
		_, err = w.set.Delete(p, Origin{})
	case 6:
		step = "move " + p + " " + q
		_, err = w.set.Move(p, q, Origin{})
	case 7, 8:
		now := mutate(rnd, w.content(p))
		step = fmt.Sprintf("user %s %q to %q", p, w.content(p), now)
		w.user(p, now)
	case 9:
		step = "remove " + p
		w.remove(p)
	case 10:
		step = "reborn"
		w.reborn()
	default:
		step = w.randomVerdicts(rnd)
	}
	if err != nil {
		step += ": " + err.Error()
	}
	w.check()
	return step + "\n\t" + w.sketch()
}

func (w *world) randomVerdicts(rnd *rand.Rand) string {
	var ds []Decision
	for _, f := range w.set.Proposal().Files {
		if rnd.IntN(3) == 0 {
			ds = append(ds, Decision{FileID: f.FileID, Verdict: []Verdict{Accept, Reject}[rnd.IntN(2)]})
			continue
		}
		for _, h := range f.Hunks {
			d := Decision{HunkID: h.HunkID, Verdict: []Verdict{Accept, Reject, Edit}[rnd.IntN(3)], NewText: ptr(randomText(rnd, 3))}
			if rnd.IntN(2) == 0 {
				ds = append(ds, d)
			}
		}
	}
	b, err := w.set.Resolve(w.set.Proposal().Revision, ds)
	if err != nil {
		w.t.Errorf("%v: %v", ds, err)
		return "resolve"
	}
	log := fmt.Sprintf("resolve %+v", ds)
	for range rnd.IntN(3) { // meanwhile
		log += "\n\t\tmeanwhile " + w.randomStep(rnd, 10)
	}
	w.set.Refresh(b)
	for _, e := range b.Files {
		if d, _ := w.Base(e.Path); e.Op != OpRename && e.Op != OpCreate || !d.there() {
			if rnd.IntN(4) > 0 {
				w.apply(e)
			}
		}
	}
	if rnd.IntN(20) == 0 {
		w.reborn()
		return log + ", and the server died"
	}
	return log + ": " + states(w.set.Settle(b, w.Base, "no"))
}

// A base, what the agent makes of it and what the user makes of it, and back.
func FuzzRebase(f *testing.F) {
	f.Add("one\ntwo\nthree\n", "one\n2\nthree\n", "zero\none\ntwo\nthree\n")
	f.Add("a\r\nb\r\n", "a\r\nx\r\nb\r\n", "a\r\ny\r\nb")
	f.Add("x = foo(1)\n", "x = bar(1)\n", "x = foo(1, 2)\n")
	f.Add("\r\n\r", "\r\r\n", "\n")
	f.Fuzz(func(t *testing.T, base, agent, user string) {
		if !utf8.ValidString(base) || !utf8.ValidString(agent) || !utf8.ValidString(user) {
			t.Skip()
		}
		w := newWorld(t, "f", base)
		w.write("f", agent)
		if got := w.read("f"); got != agent {
			t.Fatalf("the agent wrote %q and sees %q", agent, got)
		}
		before := w.sketch()
		w.user("f", user)
		if len(w.set.TakeOutcomes()) == 0 {
			w.user("f", base)
			if got := w.sketch(); got != before && len(w.set.TakeOutcomes()) == 0 {
				t.Fatalf("undone: %s, was %s", got, before)
			}
			w.user("f", user)
		}
		proposed := w.read("f")
		conflicts := strings.Contains(w.sketch(), "conflicted")
		for _, r := range w.acceptAll() {
			if r.State != Applied && r.State != Conflicted || r.State == Conflicted && !conflicts {
				t.Fatalf("%+v", r)
			}
		}
		if got := w.content("f"); got != proposed {
			t.Fatalf("applied %q, shown %q", got, proposed)
		}
		w.decide(Decision{All: true, Verdict: Reject})
		w.want("")
	})
}

// One text after another from the agent, by whole writes.
func FuzzCompose(f *testing.F) {
	f.Add("one\ntwo\n", "1\ntwo\n", "1\n2\n", "one\n2\n")
	f.Add("a\r\n", "", "\r", "b\n")
	f.Fuzz(func(t *testing.T, base, x, y, z string) {
		w := newWorld(t, "f", base)
		for _, s := range []string{x, y, z, x, base} {
			if !utf8.ValidString(s) {
				t.Skip()
			}
			w.write("f", s)
			if got := w.read("f"); got != s {
				t.Fatalf("wrote %q, sees %q", s, got)
			}
			for _, file := range w.set.Proposal().Files {
				if file.Proposed() != s {
					t.Fatalf("wrote %q, shown %q", s, file.Proposed())
				}
			}
		}
		w.want("")
	})
}
