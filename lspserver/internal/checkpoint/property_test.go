package checkpoint

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// gambler does things at random.
type gambler struct {
	*world
	rnd  *rand.Rand
	mine []string // lines that the user typed
	made int      // files
}

func (g *gambler) text() string {
	var b strings.Builder
	end := []string{"\n", "\r\n", "\r"}[g.rnd.IntN(3)]
	for range g.rnd.IntN(12) {
		b.WriteString([]string{"}", "", "same", "x = 1", fmt.Sprint("line ", g.rnd.IntN(1000)), "\tä🍋"}[g.rnd.IntN(6)])
		if g.rnd.IntN(20) == 0 {
			b.WriteString("\n")
		} else {
			b.WriteString(end)
		}
	}
	return strings.TrimSuffix(b.String(), []string{"", end}[g.rnd.IntN(2)])
}

// anyOf picks a file that the agent sees.
func (g *gambler) anyOf() (path, content string, ok bool) {
	paths := map[string]bool{}
	for p := range g.docs {
		paths[p] = true
	}
	for p := range g.set.Overlay().Present {
		paths[p] = true
	}
	all := slices.Sorted(maps.Keys(paths))
	for range 5 {
		if len(all) == 0 {
			break
		}
		p := all[g.rnd.IntN(len(all))]
		if d, err := g.set.Read(p); err == nil && d.Exists {
			return p, d.Text, true
		}
	}
	return "", "", false
}

// agent makes a change. What cannot be done is not.
func (g *gambler) agent() {
	path, content, ok := g.anyOf()
	switch n := g.rnd.IntN(12); {
	case n == 0 || !ok:
		g.made++
		_, _ = g.set.Write(fmt.Sprint("new", g.made), g.text(), changeset.Origin{})
	case n == 1:
		_, _ = g.set.Delete(path, changeset.Origin{})
	case n == 2:
		to := fmt.Sprint("moved", g.rnd.IntN(4))
		if other, _, ok := g.anyOf(); ok && g.rnd.IntN(2) == 0 {
			to = other
		}
		_, _ = g.set.Move(path, to, changeset.Origin{})
	case n == 3:
		_, _ = g.set.Write(path, g.text(), changeset.Origin{})
	default:
		_, _ = g.set.Edit(path, content, g.edits(content), changeset.Origin{})
	}
}

// edits are some of s, at the starts of lines or within.
func (g *gambler) edits(s string) []text.Edit {
	lines := text.New(s)
	var out []text.Edit
	last := -1
	for range 1 + g.rnd.IntN(3) {
		i := last + 1 + g.rnd.IntN(3)
		if i >= lines.Lines() {
			break
		}
		start, end, next := lines.Line(i)
		e := text.Edit{Start: start, End: end, New: fmt.Sprint("agent ", g.rnd.IntN(1000))}
		switch g.rnd.IntN(4) {
		case 0:
			e.End, e.New = e.Start, e.New+"\n"
		case 1:
			e.End, e.New = next, ""
		}
		out, last = append(out, e), i
	}
	return out
}

// user types a line that nobody else has somewhere.
func (g *gambler) user() {
	paths := slices.Sorted(maps.Keys(g.docs))
	if len(paths) == 0 {
		return
	}
	path := paths[g.rnd.IntN(len(paths))]
	now := g.docs[path].Text
	at, _, _ := text.New(now).Line(g.rnd.IntN(text.New(now).Lines()))
	mine := fmt.Sprintf("<mine %d>", len(g.mine))
	g.mine = append(g.mine, mine)
	g.world.user(path, now[:at]+mine+"\n"+now[at:])
}

// apply accepts all or a part, under a run.
func (g *gambler) apply(runID string) {
	var ds []changeset.Decision
	for _, f := range g.set.Proposal().Files {
		switch {
		case f.State != changeset.Pending:
		case g.rnd.IntN(3) > 0 || f.Op == changeset.OpDelete:
			ds = append(ds, changeset.Decision{FileID: f.FileID, Verdict: changeset.Accept})
		default:
			for _, h := range f.Hunks {
				if g.rnd.IntN(2) == 0 && f.Op != changeset.OpRename {
					ds = append(ds, changeset.Decision{HunkID: h.HunkID, Verdict: changeset.Accept})
				}
			}
		}
	}
	if len(ds) > 0 {
		g.accept(runID, ds...)
	}
}

// Runs are applied at random, in parts, on several files; nobody types. Going
// back gives the bytes that were there, and going forth those that were.
func TestBytesComeBack(t *testing.T) {
	rounds := 600
	if testing.Short() {
		rounds = 60
	}
	restored := 0
	for round := range rounds {
		g := &gambler{world: newWorld(t), rnd: rand.New(rand.NewPCG(7, uint64(round)))}
		for _, p := range []string{"a", "b", "c"} {
			g.put(p, changeset.Doc{Text: g.text(), Exists: true})
		}
		before := map[string]string{} // by checkpoint
		for run := range 5 {
			runID := fmt.Sprint("r", run)
			for range 1 + g.rnd.IntN(4) {
				for range 1 + g.rnd.IntN(4) {
					g.agent()
				}
				tree := g.tree()
				g.apply(runID)
				if l := g.log.List(); len(l) > 0 && before[l[0].ID] == "" {
					before[l[0].ID] = "files: " + tree
				}
			}
			if g.rnd.IntN(3) > 0 {
				continue
			}
			l := g.log.List()
			if len(l) == 0 {
				continue
			}
			if g.rnd.IntN(2) == 0 {
				g.restart()
			}
			c, now := l[g.rnd.IntN(len(l))], g.tree()
			r := g.restore(c.ID)
			if got := "files: " + g.tree(); got != before[c.ID] || strings.Contains(sketch(r), "onflicted") {
				t.Fatalf("round %d: %s undone: %s\n%s\nwant %s\nfrom %s", round, c.ID, sketch(r), got, before[c.ID], now)
			}
			restored++
			if g.rnd.IntN(2) == 0 {
				list := l
				r := g.restore(c.ID)
				if got := g.tree(); got != now || strings.Contains(sketch(r), "onflicted") {
					t.Fatalf("round %d: %s made again: %s\n%s\nwant %s", round, c.ID, sketch(r), got, now)
				}
				if got := g.log.List(); len(got) != len(list) {
					t.Fatalf("round %d: checkpoints %v, were %v", round, got, list)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	if restored < rounds/3 {
		t.Errorf("only %d restores", restored)
	}
}

// The user types lines of their own all the time. Whatever is undone and made
// again, they stay. When everything is undone and nothing was in conflict,
// there is what was before any run, and they.
func TestUserLinesStay(t *testing.T) {
	rounds := 600
	if testing.Short() {
		rounds = 60
	}
	conflicts, restored, clean := 0, 0, 0
	for round := range rounds {
		g := &gambler{world: newWorld(t), rnd: rand.New(rand.NewPCG(8, uint64(round)))}
		for _, p := range []string{"a", "b", "c"} {
			g.put(p, changeset.Doc{Text: g.text(), Exists: true})
		}
		first, before := g.tree(), conflicts
		for step := range 30 {
			switch g.rnd.IntN(6) {
			case 0, 1:
				g.agent()
			case 2:
				g.user()
			case 3, 4:
				g.apply(fmt.Sprint("r", step/6))
			case 5:
				l := g.log.List()
				if len(l) == 0 {
					continue
				}
				before := g.tree()
				r := g.restore(l[g.rnd.IntN(len(l))].ID)
				restored++
				conflicts += conflictsIn(r)
				g.stay(round, before, r)
				if g.rnd.IntN(2) == 0 && r.Redo != "" {
					before := g.tree()
					r = g.restore(r.Redo)
					conflicts += conflictsIn(r)
					g.stay(round, before, r)
				}
			}
			g.forgetGone()
		}
		for len(g.log.List()) > 0 {
			l := g.log.List()
			before := g.tree()
			r := g.restore(l[len(l)-1].ID)
			conflicts += conflictsIn(r)
			g.stay(round, before, r)
			if n := len(g.log.List()); n > 0 {
				t.Fatalf("round %d: %d checkpoints after all were undone: %s", round, n, g.list())
			}
		}
		if conflicts > before {
			continue
		}
		clean++
		if got := typed.ReplaceAllString(g.tree(), ""); got != first {
			t.Fatalf("round %d: all undone, without the user's lines:\n%s\nwant %s\nwith them %s", round, got, first, g.tree())
		}
	}
	t.Logf("%d restores, %d conflicts, %d rounds without", restored, conflicts, clean)
	if restored < rounds/2 || clean < rounds/4 {
		t.Errorf("%d restores, %d conflicts, %d rounds without", restored, conflicts, clean)
	}
}

// typed are the user's lines in a tree.
var typed = regexp.MustCompile(`<mine \d+>\\n`)

func conflictsIn(r Restored) int { return strings.Count(sketch(r), "onflicted") }

// stay holds that every line of the user's that was there is there.
func (g *gambler) stay(round int, before string, r Restored) {
	g.t.Helper()
	now := g.tree()
	for _, m := range g.mine {
		if strings.Contains(before, m) && !strings.Contains(now, m) {
			g.t.Fatalf("round %d: %s is lost: %s\nbefore %s\nafter  %s", round, m, sketch(r), before, now)
		}
	}
}

// forgetGone forgets lines that an apply took away with what they were in.
func (g *gambler) forgetGone() {
	now := g.tree()
	g.mine = slices.DeleteFunc(g.mine, func(m string) bool { return !strings.Contains(now, m) })
}

// Edits of edits are edits; what undoes them does.
func TestEditAlgebra(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 9))
	g := &gambler{world: newWorld(t), rnd: rnd}
	for range 3000 {
		s := g.text()
		a := g.edits(s)
		t1 := text.Apply(s, a)
		if got := text.Apply(t1, inverse(s, a)); got != s {
			t.Fatalf("inverse of %v of %q: %q", a, s, got)
		}
		b := g.edits(t1)
		t2 := text.Apply(t1, b)
		if got := text.Apply(s, composed(s, a, b)); got != t2 {
			t.Fatalf("%v, then %v of %q: %q, want %q", a, b, s, got, t2)
		}
		if edits, conflicts := undone(s, a, t1); len(conflicts) > 0 || text.Apply(t1, edits) != s {
			t.Fatalf("undoing %v of %q: %v %v", a, s, edits, conflicts)
		}
		// What is sent are the hunks of a proposal.
		a = composed(s, a)
		var part []text.Edit
		for _, e := range a {
			if rnd.IntN(2) == 0 {
				part = append(part, e)
			}
		}
		landed, left := shown(s, a, text.Apply(s, part))
		if got := text.Apply(s, landed); got != text.Apply(s, part) {
			t.Fatalf("%v of %v in %q: %v and %v", part, a, s, landed, left)
		}
		if got := text.Apply(text.Apply(s, landed), onTop(left, landed)); got != text.Apply(s, a) {
			t.Fatalf("the rest %v on %v of %q: %q", left, landed, s, got)
		}
	}
}
