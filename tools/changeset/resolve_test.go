package changeset

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const tenLines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

// threeHunks is a file with hunks h2, h3 and h4 on lines 2, 5 and 8.
func threeHunks(t *testing.T) *world {
	w := newWorld(t, "f", tenLines)
	w.edit("f", "\n2\n", "\ntwo\n")
	w.edit("f", "\n5\n", "\nfive\n")
	w.edit("f", "\n8\n", "\neight\n")
	if got := hunkIDs(w.file("f")); got != "h2 h3 h4" {
		t.Fatal(got)
	}
	return w
}

func TestDecideHunkByHunk(t *testing.T) {
	w := threeHunks(t)
	if rs := w.decide(Decision{HunkID: "h3", Verdict: Reject, Comment: "no"}); states(rs) != "rejected" {
		t.Errorf("%+v", rs)
	}
	if got := w.read("f"); strings.Contains(got, "five") {
		t.Errorf("the agent still sees what was rejected: %q", got)
	}
	w.want(`modify f "2\n">"two\n" "8\n">"eight\n"`)
	if rs := w.decide(Decision{HunkID: "h2", Verdict: Accept}); states(rs) != "applied" {
		t.Errorf("%+v", rs)
	}
	w.want(`modify f "8\n">"eight\n"`)
	if rs := w.decide(Decision{HunkID: "h4", Verdict: Edit, NewText: ptr("VIII\n8\n")}); states(rs) != "modified" {
		t.Errorf("%+v", rs)
	}
	w.want("")
	if got := w.content("f"); got != "1\ntwo\n3\n4\n5\n6\n7\nVIII\n8\n9\n10\n" {
		t.Errorf("%q", got)
	}
	var heard []string
	for _, o := range w.set.TakeOutcomes() {
		heard = append(heard, fmt.Sprintf("%s %s %d %s%s", o.HunkID, o.State, o.Line, o.Comment, o.UserText))
	}
	if got := strings.Join(heard, "; "); got != "h3 rejected 5 no; h2 applied 2 ; h4 modified 8 VIII\n8\n" {
		t.Errorf("the model hears %q", got)
	}
	if o := w.set.TakeOutcomes(); len(o) != 0 {
		t.Errorf("twice: %+v", o)
	}
}

func TestEditVerdicts(t *testing.T) {
	for _, c := range []struct {
		name, base, old, new, own string
		state                     State
		want                      string
	}{
		{"own text", "a\nb\n", "a", "A", "AA\n", Modified, "AA\nb\n"},
		{"the same text", "a\nb\n", "a", "A", "A\n", Applied, "A\nb\n"},
		{"the old text", "a\nb\n", "a", "A", "a\n", Modified, "a\nb\n"},
		{"nothing", "a\nb\n", "a", "A", "", Modified, "b\n"},
		{"joined with the next line", "a\nb\n", "a", "A", "x ", Modified, "x b\n"},
		{"CRLF kept", "a\r\nb\r\n", "a", "A", "x\ny\n", Modified, "x\r\ny\r\nb\r\n"},
		{"CRLF given", "a\r\nb\r\n", "a", "A", "x\r\ny\r\n", Modified, "x\r\ny\r\nb\r\n"},
		{"no CR into LF", "a\nb\n", "a", "A", "x\r\ny\r\n", Modified, "x\ny\nb\n"},
		{"no last line end", "a\nb", "b", "B", "c\nd", Modified, "a\nc\nd"},
		{"insertion", "a\nb\n", "a\n", "a\nx\n", "y\n", Modified, "a\ny\nb\n"},
		{"insertion made nothing", "a\nb\n", "a\n", "a\nx\n", "", Modified, "a\nb\n"},
		{"deletion", "a\nb\n", "a\n", "", "c\n", Modified, "c\nb\n"},
	} {
		w := newWorld(t, "f", c.base)
		w.edit("f", c.old, c.new)
		rs := w.decide(Decision{HunkID: w.file("f").Hunks[0].HunkID, Verdict: Edit, NewText: &c.own})
		if states(rs) != string(c.state) || w.content("f") != c.want {
			t.Errorf("%s: %s, %q, want %s, %q", c.name, states(rs), w.content("f"), c.state, c.want)
		}
		w.want("")
	}
	w := newWorld(t)
	w.write("n", "x\n")
	if rs := w.decide(Decision{FileID: w.file("n").FileID, Verdict: Edit, NewText: ptr("y")}); states(rs) != "modified" || w.content("n") != "y" {
		t.Errorf("a create: %+v, %q", rs, w.content("n"))
	}
}

func TestWhoDecidesWhat(t *testing.T) {
	build := func() *world {
		w := newWorld(t, "m", "M\n", "r", "R\n", "d", "D\n")
		w.edit("m", "M", "MM")
		w.move("r", "s")
		w.edit("s", "R", "RR")
		w.delete("d")
		w.write("c", "C\n")
		return w
	}
	for _, c := range []struct{ name, want, left string }{
		{"hunk of a rename", `d="D\n" m="M\n" r="RR\n"`, `create c "">"C\n"; delete d; modify m "M\n">"MM\n"; rename r>s`},
		{"file of a rename", `d="D\n" m="M\n" s="RR\n"`, `create c "">"C\n"; delete d; modify m "M\n">"MM\n"`},
		{"file of a modify", `d="D\n" m="MM\n" r="R\n"`, `create c "">"C\n"; delete d; rename r>s "R\n">"RR\n"`},
		{"file of a delete", `m="M\n" r="R\n"`, `create c "">"C\n"; modify m "M\n">"MM\n"; rename r>s "R\n">"RR\n"`},
		{"hunk of a create", `c="C\n" d="D\n" m="M\n" r="R\n"`, `delete d; modify m "M\n">"MM\n"; rename r>s "R\n">"RR\n"`},
		{"all", `c="C\n" m="MM\n" s="RR\n"`, ``},
		{"all but the hunk of the rename", `c="C\n" m="MM\n" s="R\n"`, ``},
		{"all but the move", `c="C\n" m="MM\n" r="RR\n"`, ``},
	} {
		w := build()
		path := map[byte]string{'r': "s", 'm': "m", 'd': "d", 'c': "c"}[c.name[strings.LastIndex(c.name, " ")+1]]
		if strings.HasSuffix(c.name, "create") {
			path = "c"
		}
		if strings.HasSuffix(c.name, "move") {
			path = "s"
		}
		var ds []Decision
		switch {
		case c.name == "all":
			ds = []Decision{{All: true, Verdict: Accept}}
		case strings.HasPrefix(c.name, "all but the hunk"):
			ds = []Decision{{All: true, Verdict: Accept}, {HunkID: w.file("s").Hunks[0].HunkID, Verdict: Reject}}
		case strings.HasPrefix(c.name, "all but"):
			ds = []Decision{{FileID: w.file("s").FileID, Verdict: Reject}, {All: true, Verdict: Accept}, {HunkID: w.file("s").Hunks[0].HunkID, Verdict: Accept}}
		case strings.HasPrefix(c.name, "hunk"):
			ds = []Decision{{HunkID: w.file(path).Hunks[0].HunkID, Verdict: Accept}}
		default:
			ds = []Decision{{FileID: w.file(path).FileID, Verdict: Accept}}
		}
		w.decide(ds...)
		if got := w.tree(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		w.want(c.left)
		// What was accepted is undone by nothing, what is left can be rejected.
		w.decide(Decision{All: true, Verdict: Reject})
		w.want("")
		if got := w.tree(); got != c.want {
			t.Errorf("%s, then all rejected: %s", c.name, got)
		}
	}
}

func TestInvalidDecisions(t *testing.T) {
	w := threeHunks(t)
	w.put("d", Doc{Text: "D\n", Exists: true})
	w.put("r", Doc{Text: "R\n", Exists: true})
	w.delete("d")
	w.move("r", "s")
	rev := w.set.Proposal().Revision
	file := w.file("f").FileID
	for _, c := range []struct {
		name string
		rev  int64
		ds   []Decision
	}{
		{"no target", rev, []Decision{{Verdict: Accept}}},
		{"two targets", rev, []Decision{{HunkID: "h2", All: true, Verdict: Accept}}},
		{"no verdict", rev, []Decision{{HunkID: "h2"}}},
		{"unknown verdict", rev, []Decision{{HunkID: "h2", Verdict: "maybe"}}},
		{"edit without text", rev, []Decision{{HunkID: "h2", Verdict: Edit}}},
		{"edit of a delete", rev, []Decision{{FileID: w.file("d").FileID, Verdict: Edit, NewText: ptr("x")}}},
		{"edit of a rename without hunks", rev, []Decision{{FileID: w.file("s").FileID, Verdict: Edit, NewText: ptr("x")}}},
		{"edit of many hunks", rev, []Decision{{FileID: file, Verdict: Edit, NewText: ptr("x")}}},
		{"edit of all", rev, []Decision{{All: true, Verdict: Edit, NewText: ptr("x")}}},
		{"twice", rev, []Decision{{HunkID: "h2", Verdict: Accept}, {HunkID: "h2", Verdict: Reject}}},
		{"file twice", rev, []Decision{{FileID: file, Verdict: Accept}, {FileID: file, Verdict: Accept}}},
		{"revision to come", rev + 1, []Decision{{All: true, Verdict: Accept}}},
		{"one good, one bad", rev, []Decision{{HunkID: "h2", Verdict: Reject}, {HunkID: "h3"}}},
	} {
		before := w.sketch()
		_, err := w.set.Resolve(c.rev, c.ds)
		var invalid *InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("%s: %v", c.name, err)
		}
		w.want(before)
	}
	if b, err := w.set.Resolve(rev, nil); err != nil || len(b.Files) != 0 || len(w.set.Settle(b, w.Base, "")) != 0 {
		t.Errorf("no decisions: %v", err)
	}
}

func TestStaleDecisions(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(w *world)
		stale  string // of h2, h3, f1, all: those that are
	}{
		{"nothing", func(w *world) {}, ""},
		{"the hunk's text", func(w *world) { w.edit("f", "two", "zwei") }, "h2 f1 all"},
		{"text on its line", func(w *world) { w.user("f", strings.Replace(tenLines, "2\n", "2 //\n", 1)) }, "h2 f1 all"},
		{"its place", func(w *world) { w.user("f", "0\n"+tenLines) }, ""},
		{"its state", func(w *world) { w.user("f", strings.Replace(tenLines, "2\n", "22\n", 1)) }, "h2 f1 all"},
		{"another hunk", func(w *world) { w.edit("f", "five", "5!") }, "h3 f1 all"},
		{"a hunk more in the file", func(w *world) { w.edit("f", "10", "X") }, "f1 all"},
		{"a hunk more elsewhere", func(w *world) { w.write("n", "x\n") }, "all"},
		{"it left", func(w *world) { w.decide(Decision{HunkID: "h2", Verdict: Reject}) }, "h2"},
		{"it was typed", func(w *world) { w.user("f", strings.Replace(tenLines, "2\n", "two\n", 1)) }, "h2"},
		{"the file is renamed", func(w *world) { w.move("f", "g") }, "f1 all"},
		{"the file is deleted", func(w *world) { w.delete("f") }, "h2 h3 f1 all"},
		{"changed and back", func(w *world) { w.edit("f", "two", "x"); w.edit("f", "x", "two") }, "h2 f1 all"},
	} {
		var got []string
		for _, d := range []Decision{{HunkID: "h2"}, {HunkID: "h3"}, {FileID: "f1"}, {All: true}} {
			w := threeHunks(t)
			rev := w.set.Proposal().Revision
			c.change(w)
			d.Verdict = Accept
			before := w.sketch()
			// What is stale takes down what is not.
			_, err := w.set.Resolve(rev, []Decision{d, {HunkID: "h4", Verdict: Reject}})
			var stale *StaleError
			if errors.As(err, &stale) {
				w.want(before)
				if c.name == "the file is deleted" && d.HunkID != "" && len(stale.IDs) != 2 {
					t.Errorf("%s: %v", c.name, stale)
				}
				name := d.HunkID + d.FileID
				if d.All {
					name = "all"
				}
				got = append(got, name)
			} else if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if s := strings.Join(got, " "); s != c.stale {
			t.Errorf("%s makes stale: %q, want %q", c.name, s, c.stale)
		}
	}
	w := threeHunks(t)
	var stale *StaleError
	if _, err := w.set.Resolve(w.set.Proposal().Revision, []Decision{{HunkID: "h99", Verdict: Accept}}); !errors.As(err, &stale) || stale.IDs[0] != "h99" {
		t.Errorf("a hunk that never was: %v", err)
	}
}

// A decision on a document that changed underneath is not stale while the
// hunk did not: it applies where the hunk is now.
func TestDecisionOnMovedHunk(t *testing.T) {
	w := threeHunks(t)
	rev := w.set.Proposal().Revision
	w.user("f", "0\n"+tenLines)
	b, err := w.set.Resolve(rev, []Decision{{HunkID: "h2", Verdict: Accept}})
	if err != nil {
		t.Fatal(err)
	}
	w.apply(b.Files[0])
	w.set.Settle(b, w.Base, "")
	if got := w.content("f"); !strings.HasPrefix(got, "0\n1\ntwo\n3\n") {
		t.Errorf("%q", got)
	}
}

func TestConflictedHunks(t *testing.T) {
	build := func() *world {
		w := newWorld(t, "f", "a\nfoo\nb\n")
		w.edit("f", "foo", "bar")
		w.user("f", "a\nfog\nb\n")
		return w
	}
	w := build()
	id := w.file("f").Hunks[0].HunkID
	rs := w.decide(Decision{HunkID: id, Verdict: Accept})
	if states(rs) != "conflicted" || rs[0].Reason == "" || w.content("f") != "a\nfog\nb\n" {
		t.Errorf("accepted: %+v, %q", rs, w.content("f"))
	}
	w.want(`modify f conflicted "fog\n">"bar\n"conflicted`)
	if base, proposed, _ := w.set.Sides("f"); base != proposed {
		t.Errorf("sides %q and %q", base, proposed)
	}
	rs = w.decide(Decision{HunkID: id, Verdict: Edit, NewText: ptr("both\n")})
	if states(rs) != "modified" || w.content("f") != "a\nboth\nb\n" {
		t.Errorf("edited: %+v, %q", rs, w.content("f"))
	}
	w.want("")

	w = build()
	w.decide(Decision{HunkID: id, Verdict: Reject})
	w.want("")

	w = build()
	if rs := w.decide(Decision{HunkID: id, Verdict: Edit, NewText: ptr("bar\n")}); states(rs) != "modified" || w.content("f") != "a\nbar\nb\n" {
		t.Errorf("edited to the agent's text: %+v, %q", rs, w.content("f"))
	}
	w = build()
	if rs := w.decide(Decision{HunkID: id, Verdict: Edit, NewText: ptr("fog\n")}); states(rs) != "modified" || w.content("f") != "a\nfog\nb\n" {
		t.Errorf("edited to the user's text: %+v, %q", rs, w.content("f"))
	}
	w.want("")
}

// Rejected work does not come back with the agent's next edit.
func TestRejectedStaysAway(t *testing.T) {
	w := newWorld(t, "f", "A\nb\nC\n")
	w.edit("f", "A", "B")
	w.decide(Decision{All: true, Verdict: Reject, Comment: "user declined"})
	w.edit("f", "C", "D")
	w.want(`modify f "C\n">"D\n"`)
	w.acceptAll()
	if got := w.content("f"); got != "A\nb\nD\n" {
		t.Errorf("%q", got)
	}
}

func TestSides(t *testing.T) {
	w := newWorld(t, "a", "A\n", "b", "B\n", "c", "C\n", "x", "X\n")
	w.edit("a", "A", "AA")
	w.delete("b")
	w.move("c", "d")
	w.edit("d", "C", "CC")
	w.write("n", "N\n")
	for path, want := range map[string]string{"a": "A\n>AA\n", "b": "B\n>", "c": "C\n>CC\n", "d": "C\n>CC\n", "n": ">N\n", "x": "X\n>X\n"} {
		base, proposed, err := w.set.Sides(path)
		if got := base + ">" + proposed; got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", path, got, err, want)
		}
	}
}
