package changeset

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// resolveAll accepts all and gives the batch, in flight.
func (w *world) resolveAll() *Batch {
	w.t.Helper()
	b, err := w.set.Resolve(w.set.Proposal().Revision, []Decision{{All: true, Verdict: Accept}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.check()
	return b
}

// What an editor does with an edit of the hunks on lines 2, 5 and 8 of ten.
func TestWhatTheEditorDid(t *testing.T) {
	const all = "1\ntwo\n3\n4\nfive\n6\n7\neight\n9\n10\n"
	for _, c := range []struct {
		name  string
		steps []string // the document after each notification
		want  string
	}{
		{"all", []string{all}, "applied applied applied"},
		{"one after the other", []string{
			"1\n2\n3\n4\n5\n6\n7\neight\n9\n10\n", "1\n2\n3\n4\nfive\n6\n7\neight\n9\n10\n", all}, "applied applied applied"},
		{"nothing", nil, "notApplied notApplied notApplied"},
		{"the first", []string{"1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n"}, "applied notApplied notApplied"},
		{"the last two", []string{"1\n2\n3\n4\nfive\n6\n7\neight\n9\n10\n"}, "notApplied applied applied"},
		{"all, then formatted", []string{all, strings.ReplaceAll(all, "\n", " \n")}, "applied applied applied"},
		{"all, then undone", []string{all, tenLines}, "applied applied applied"},
		{"all, while the user types elsewhere", []string{"0\n" + all + "11\n"}, "applied applied applied"},
		{"the user types first", []string{"0\n" + tenLines, "0\n" + all}, "applied applied applied"},
		{"some, and the user changed another", []string{"1\ntwo\n3\n4\nfive\n6\n7\n88\n9\n10\n"}, "applied applied conflicted"},
		{"only the formatted text is seen", []string{strings.ReplaceAll(all, "five", "FIVE")}, "applied conflicted applied"},
		{"something else", []string{"x\n"}, "conflicted conflicted conflicted"},
	} {
		w := threeHunks(t)
		b := w.resolveAll()
		for _, s := range c.steps {
			w.user("f", s)
		}
		rs := w.set.Settle(b, w.Base, "the editor said no")
		w.check()
		if got := states(rs); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		for _, r := range rs {
			if r.State == NotApplied && r.Reason != "the editor said no" || r.State == Conflicted && r.Reason == "" {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
		var open []string
		for _, f := range w.set.Proposal().Files {
			for _, h := range f.Hunks {
				open = append(open, string(h.State))
			}
		}
		if got, want := strings.Join(open, " "), strings.TrimSpace(strings.ReplaceAll(c.want, "applied", "")); strings.Join(strings.Fields(want), " ") != got {
			t.Errorf("%s: left open %q, results %s", c.name, got, c.want)
		}
		if got := len(w.set.TakeOutcomes()); got != 3 {
			t.Errorf("%s: the model hears %d outcomes", c.name, got)
		}
	}
}

// The editor answers before its notifications come: Settle looks at the
// documents, and what comes later is old news.
func TestSettleReadsTheDocuments(t *testing.T) {
	w := threeHunks(t)
	b := w.resolveAll()
	w.put("f", Doc{Text: b.Files[0].Want, Exists: true, Open: true})
	if got := states(w.set.Settle(b, w.Base, "")); got != "applied applied applied" {
		t.Error(got)
	}
	w.user("f", b.Files[0].Want)
	w.want("")
}

func TestNotAppliedStaysAndCanBeDecidedAgain(t *testing.T) {
	w := threeHunks(t)
	b := w.resolveAll()
	w.set.Settle(b, w.Base, "no")
	w.want(`modify f notApplied "2\n">"two\n"notApplied "5\n">"five\n"notApplied "8\n">"eight\n"notApplied`)
	if got := w.read("f"); !strings.Contains(got, "five") {
		t.Errorf("the agent does not see what is notApplied: %q", got)
	}
	if rs := w.acceptAll(); states(rs) != "applied applied applied" {
		t.Errorf("%+v", rs)
	}
	w.want("")
}

// The editor applies after it was given up: the documents tell.
func TestLateApply(t *testing.T) {
	w := threeHunks(t)
	b, err := w.set.Resolve(w.set.Proposal().Revision, []Decision{{HunkID: "h2", Verdict: Edit, NewText: ptr("II\n"), Comment: "so"}, {HunkID: "h3", Verdict: Accept}})
	if err != nil {
		t.Fatal(err)
	}
	want := b.Files[0].Want
	w.set.Settle(b, w.Base, "timed out")
	w.set.TakeOutcomes()
	w.user("f", want)
	w.want(`modify f "8\n">"eight\n"`)
	var got []string
	for _, o := range w.set.TakeOutcomes() {
		got = append(got, fmt.Sprint(o.HunkID, o.Verdict, o.State, o.Comment))
	}
	if s := strings.Join(got, " "); s != "h2editmodifiedso h3acceptapplied" {
		t.Errorf("the model hears %s", s)
	}
}

func TestFlightOfFiles(t *testing.T) {
	build := func() (*world, *Batch) {
		w := newWorld(t, "r", "R\n", "d", "D\n")
		w.move("r", "s")
		w.edit("s", "R", "RR")
		w.delete("d")
		w.write("c", "C\n")
		return w, w.resolveAll()
	}
	w, b := build()
	if rs := w.set.Settle(b, w.Base, "no"); states(rs) != "notApplied notApplied notApplied notApplied" {
		t.Errorf("%+v", rs)
	}
	w.want(`create c notApplied "">"C\n"notApplied; delete d notApplied; rename r>s notApplied "R\n">"RR\n"notApplied`)
	if rs := w.acceptAll(); states(rs) != "applied applied applied applied" {
		t.Errorf("%+v", rs)
	}
	w.want("")

	// The text is there, the operations are not.
	w, b = build()
	b.Skip(w.file("s").FileID, "the editor cannot rename")
	w.user("r", "RR\n")
	w.user("c", "")
	rs := w.set.Settle(b, w.Base, "no")
	w.check()
	if got := states(rs); got != "notApplied applied notApplied notApplied" || rs[0].Reason != "the editor cannot rename" {
		t.Errorf("%+v", rs)
	}
	w.want(`delete d notApplied; modify c notApplied "">"C\n"notApplied; rename r>s notApplied`)

	// The editor creates the file first and fills it then, as VS Code does.
	w, b = build()
	w.user("c", "")
	w.user("c", "C\n")
	w.remove("d")
	w.put("r", Doc{})
	w.put("s", Doc{Text: "RR\n", Exists: true, Open: true})
	if got := states(w.set.Settle(b, w.Base, "")); got != "applied applied applied applied" {
		t.Error(got)
	}
	w.want("")
}

func TestSettleCannotRead(t *testing.T) {
	w := threeHunks(t)
	b := w.resolveAll()
	rs := w.set.Settle(b, func(string) (Doc, error) { return Doc{}, errors.New("no such disk") }, "")
	if states(rs) != "notApplied notApplied notApplied" || !strings.Contains(rs[0].Reason, "no such disk") {
		t.Errorf("%+v", rs)
	}
}

// The user types between the proposal and the apply, and the editor refuses
// the version: the same again, where it is now.
func TestRefreshAfterAVersionRace(t *testing.T) {
	w := threeHunks(t)
	b := w.resolveAll()
	w.user("f", "0\n"+strings.Replace(tenLines, "5\n", "5!\n", 1)) // a line above, and right behind a hunk
	if !w.set.Refresh(b) || len(b.Files) != 1 || len(b.Files[0].Edits) != 3 {
		t.Fatalf("%+v", b.Files)
	}
	w.user("f", "0\n"+strings.Replace(tenLines, "5\n", "(5)\n", 1))
	if !w.set.Refresh(b) || len(b.Files[0].Edits) != 3 {
		t.Fatalf("%+v", b.Files)
	}
	w.user("f", "0\n"+strings.Replace(tenLines, "5\n", "V\n", 1))
	if !w.set.Refresh(b) || len(b.Files[0].Edits) != 2 {
		t.Fatalf("%+v", b.Files)
	}
	w.apply(b.Files[0])
	if rs := w.set.Settle(b, w.Base, ""); states(rs) != "applied conflicted applied" {
		t.Errorf("%+v", rs)
	}
	if got := w.content("f"); got != "0\n1\ntwo\n3\n4\nV\n6\n7\neight\n9\n10\n" {
		t.Errorf("%q", got)
	}
	if w.set.Refresh(b) {
		t.Error("something is left to send after the end")
	}
}

// What the agent writes on a hunk that is being applied is neither lost nor
// claimed to be applied.
func TestAgentWritesInFlight(t *testing.T) {
	for _, c := range []struct {
		name         string
		agent        func(w *world)
		landed, left string // the proposal, when the flight landed and when it did not
	}{
		{"elsewhere", func(w *world) { w.edit("f", "10", "X") },
			`modify f "10\n">"X\n"`, `modify f notApplied "2\n">"two\n"notApplied "5\n">"five\n"notApplied "8\n">"eight\n"notApplied "10\n">"X\n"`},
		{"on a hunk", func(w *world) { w.edit("f", "five", "V") },
			`modify f "five\n">"V\n"`, `modify f notApplied "2\n">"two\n"notApplied "5\n">"V\n" "8\n">"eight\n"notApplied`},
		{"back to the old text", func(w *world) { w.edit("f", "five", "5") },
			`modify f "five\n">"5\n"`, `modify f notApplied "2\n">"two\n"notApplied "8\n">"eight\n"notApplied`},
		{"over two hunks", func(w *world) { w.edit("f", "five\n6\n7\neight\n", "x\n") },
			`modify f "five\n6\n7\neight\n">"x\n"`, `modify f notApplied "2\n">"two\n"notApplied "5\n6\n7\n8\n">"x\n"`},
		{"twice", func(w *world) { w.edit("f", "five", "V"); w.edit("f", "V\n6", "V\nVI") },
			`modify f "five\n">"V\n" "6\n">"VI\n"`, `modify f notApplied "2\n">"two\n"notApplied "5\n">"V\n" "6\n">"VI\n" "8\n">"eight\n"notApplied`},
		{"deletes the file", func(w *world) { w.delete("f") }, `delete f`, `delete f`},
		{"moves the file", func(w *world) { w.move("f", "g") },
			`rename f>g`, `rename f>g notApplied "2\n">"two\n"notApplied "5\n">"five\n"notApplied "8\n">"eight\n"notApplied`},
	} {
		for _, lands := range []bool{true, false} {
			w := threeHunks(t)
			b := w.resolveAll()
			ids := hunkIDs(w.file("f"))
			c.agent(w)
			view := w.read("f")
			if lands {
				w.apply(b.Files[0])
			}
			w.set.Settle(b, w.Base, "no")
			want := c.left
			if lands {
				want = c.landed
			}
			w.want(want)
			if got := w.read("f"); got != view {
				t.Errorf("%s, lands %v: the agent sees %q, saw %q", c.name, lands, got, view)
			}
			for _, f := range w.set.Proposal().Files {
				for _, h := range f.Hunks {
					if lands && strings.Contains(ids, h.HunkID) {
						t.Errorf("%s: hunk %s was applied and is back", c.name, h.HunkID)
					}
				}
			}
		}
	}
}

func TestAgentWritesOnFilesInFlight(t *testing.T) {
	for _, c := range []struct {
		name         string
		before, then string // scripts of TestOperationsFold
		landed, left string
	}{
		{"a create is edited", "w n=X.", "w n=Y.", `modify n "X\n">"Y\n"`, `create n "">"Y\n"`},
		{"a create is deleted", "w n=X.", "d n", `delete n`, ``},
		{"a create is moved", "w n=X.", "m n o", `rename n>o`, `create o notApplied "">"X\n"notApplied`},
		{"a create is moved and edited", "w n=X.", "m n o, w o=Y.", `rename n>o "X\n">"Y\n"`, `create o "">"Y\n"`},
		{"a create is deleted and written", "w n=X.", "d n, w n=Y.", `modify n "X\n">"Y\n"`, `create n "">"Y\n"`},
		{"a delete is taken back", "d a", "w a=A.", `create a "">"A\n"`, ``},
		{"a delete is written over", "d a", "w a=X.", `create a "">"X\n"`, `modify a "A\n">"X\n"`},
		{"a rename goes on", "m a n", "m n o", `rename n>o`, `rename a>o`},
		{"a rename is taken back", "m a n", "m n a", `rename n>a`, ``},
		{"a rename is deleted", "m a n", "d n", `delete n`, `delete a`},
		{"a rename is edited", "m a n", "w n=X.", `modify n "A\n">"X\n"`, `rename a>n notApplied "A\n">"X\n"`},
	} {
		for _, lands := range []bool{true, false} {
			w := newWorld(t, "a", "A\n")
			if err := w.run(c.before); err != nil {
				t.Fatal(err)
			}
			b := w.resolveAll()
			if err := w.run(c.then); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			want := c.left
			if lands {
				want = c.landed
				w.apply(b.Files[0])
			}
			rs := w.set.Settle(b, w.Base, "no")
			if got := states(rs); got != map[bool]string{true: "applied", false: "notApplied"}[lands] {
				t.Errorf("%s, lands %v: %s", c.name, lands, got)
			}
			w.want(want)
			w.acceptAll()
			w.want("")
		}
	}
}

func TestInFlightCannotBeDecidedAgain(t *testing.T) {
	w := threeHunks(t)
	rev := w.set.Proposal().Revision
	b, err := w.set.Resolve(rev, []Decision{{HunkID: "h2", Verdict: Accept}})
	if err != nil {
		t.Fatal(err)
	}
	var stale *StaleError
	if _, err := w.set.Resolve(rev, []Decision{{HunkID: "h2", Verdict: Reject}}); !errors.As(err, &stale) {
		t.Errorf("%v", err)
	}
	other, err := w.set.Resolve(rev, []Decision{{All: true, Verdict: Reject}})
	if err != nil {
		t.Fatal(err)
	}
	if got := states(w.set.Settle(other, w.Base, "")); got != "rejected rejected" {
		t.Error(got)
	}
	w.apply(b.Files[0])
	if got := states(w.set.Settle(b, w.Base, "")); got != "applied" {
		t.Error(got)
	}
	w.want("")
}
