package changeset

import (
	"strings"
	"testing"
)

// What the user types meets a pending hunk. `|` in now stands for nothing: it
// only marks where hunks are easily seen.
func TestRebase(t *testing.T) {
	const base = "one\ntwo\nthree\nfour\nfive\n"
	for _, c := range []struct {
		name     string
		old, new string // the agent's edit of base
		now      string // what the user makes of base
		want     string // sketch of what is left, or `gone`
		merged   string // text with everything accepted
	}{
		{"line above", "three", "3", "zero\n" + base, `"three\n">"3\n"`, "zero\none\ntwo\n3\nfour\nfive\n"},
		{"line below", "three", "3", base + "six\n", `"three\n">"3\n"`, "one\ntwo\n3\nfour\nfive\nsix\n"},
		{"neighbouring lines", "three", "3", "one\n2\nthree\n4\nfive\n", `"three\n">"3\n"`, "one\n2\n3\n4\nfive\n"},
		{"typed right before", "three", "3", "one\ntwo\n// three\nfour\nfive\n", `"// three\n">"// 3\n"`, "one\ntwo\n// 3\nfour\nfive\n"},
		{"typed right after", "three", "3", "one\ntwo\nthree // x\nfour\nfive\n", `"three // x\n">"3 // x\n"`, "one\ntwo\n3 // x\nfour\nfive\n"},
		{"typed on both sides", "three", "3", "one\ntwo\n(three)\nfour\nfive\n", `"(three)\n">"(3)\n"`, "one\ntwo\n(3)\nfour\nfive\n"},
		{"typed into it", "three", "3", "one\ntwo\nthrXee\nfour\nfive\n", `"thrXee\n">"3\n"conflicted`, ""},
		{"made it another word", "three", "3", "one\ntwo\nthrees\nfour\nfive\n", `"threes\n">"3\n"conflicted`, ""},
		{"deleted it", "three", "3", "one\ntwo\nfour\nfive\n", `"">"3\n"conflicted`, ""},
		{"deleted around it", "three", "3", "one\nfive\n", `"">"two\n3\nfour\n"conflicted`, ""},
		{"typed it themselves", "three", "3", "one\ntwo\n3\nfour\nfive\n", "gone", "one\ntwo\n3\nfour\nfive\n"},
		{"typed it and more", "three", "3", "zero\none\ntwo\n3\nfour\n5\n", "gone", "zero\none\ntwo\n3\nfour\n5\n"},
		{"line break before an inserted line", "three", "3\nthree", "one\ntwo\n\nthree\nfour\nfive\n", `"">"3\n"`, "one\ntwo\n\n3\nthree\nfour\nfive\n"},
		{"other line at the same place", "three", "3\nthree", "one\ntwo\nIII\nthree\nfour\nfive\n", `"III\n">"3\n"conflicted`, ""},
		{"same line at the same place", "three", "3\nthree", "one\ntwo\n3\nthree\nfour\nfive\n", "gone", "one\ntwo\n3\nthree\nfour\nfive\n"},
		{"deleted the same lines", "two\nthree\n", "", "one\nfour\nfive\n", "gone", "one\nfour\nfive\n"},
		{"deleted some of the same lines", "two\nthree\n", "", "one\nthree\nfour\nfive\n", `"three\n">""conflicted`, ""},
		{"all replaced", "three", "3", "nothing\nof it\n", `"nothing\n">"one\ntwo\n3\nfour\n"conflicted`, ""},
		{"emptied", "three", "3", "", `"">"one\ntwo\n3\nfour\nfive\n"conflicted`, ""},
		{"final line end removed", "five", "5", strings.TrimSuffix(base, "\n"), `"five">"5"`, "one\ntwo\nthree\nfour\n5"},
		{"line ends changed", "three", "3", strings.ReplaceAll(base, "\n", "\r\n"), `"three\r\n">"3\r\n"`, "one\r\ntwo\r\n3\r\nfour\r\nfive\r\n"},
		{"renamed everywhere else", "three", "3", "uno\ndos\nthree\ncuatro\ncinco\n", `"three\n">"3\n"`, "uno\ndos\n3\ncuatro\ncinco\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, "a", base)
			w.edit("a", c.old, c.new)
			before := w.file("a")
			w.user("a", c.now)
			if c.want == "gone" {
				w.want("")
				if o := w.set.TakeOutcomes(); len(o) != 1 || o[0].State != Applied || o[0].Verdict != "" {
					t.Errorf("the model hears %+v", o)
				}
				return
			}
			sketch := "modify a "
			if strings.HasSuffix(c.want, "conflicted") {
				sketch += "conflicted "
			}
			w.want(sketch + c.want)
			if now := w.file("a"); now.FileID != before.FileID || now.Hunks[0].HunkID != before.Hunks[0].HunkID {
				t.Error("ids changed")
			}
			if c.merged == "" {
				if got := w.file("a").Proposed(); got != c.now {
					t.Errorf("the agent sees %q where it is in conflict", got)
				}
				w.user("a", base) // undone
				w.want("modify a " + strings.Join(strings.Fields(sketchOf(before)), " "))
				c.merged = strings.Replace(base, c.old, c.new, 1)
			}
			if rs := w.acceptAll(); states(rs) != "applied" {
				t.Errorf("%+v", rs)
			}
			if got := w.content("a"); got != c.merged {
				t.Errorf("%q, want %q", got, c.merged)
			}
		})
	}
}

func sketchOf(f File) string {
	var s []string
	for _, h := range f.Hunks {
		s = append(s, strings.Join([]string{quote(h.OldText), quote(h.NewText)}, ">"))
	}
	return strings.Join(s, " ")
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, "\n", `\n`) + `"` }

// A user types the hunk's text key by key, and takes it back again.
func TestTypedKeyByKey(t *testing.T) {
	for _, c := range []struct{ base, old, new string }{
		{"a\nfoo\nb\n", "foo", "barbaz"},
		{"a\nb\n", "b", "foo()\nb"},
		{"a\nfoo bar baz\nb\n", "bar ", "xyz"},
	} {
		w := newWorld(t, "f", c.base)
		w.edit("f", c.old, c.new)
		before := w.sketch()
		i := strings.Index(c.base, c.old)
		var steps []string
		tail := c.base[i+len(c.old):]
		for n := len(c.old) - 1; n >= 0; n-- {
			steps = append(steps, c.base[:i]+c.old[:n]+tail)
		}
		for n := 1; n < len(c.new); n++ {
			steps = append(steps, c.base[:i]+c.new[:n]+tail)
		}
		some := steps[:min(len(steps), len(c.old)+2)] // not so many that it is done
		for _, s := range some {
			w.user("f", s)
		}
		for k := len(some) - 1; k >= 0; k-- {
			w.user("f", some[k])
		}
		w.user("f", c.base)
		w.want(before)
		for _, s := range steps {
			w.user("f", s)
		}
		w.user("f", c.base[:i]+c.new+tail)
		w.want("")
	}
}

// Everything is taken out and comes back: all hunks are as they were.
func TestUndoOfALargeDeletion(t *testing.T) {
	base := "func a() {\n\tone()\n\ttwo()\n}\n\nfunc b() {\n\tthree()\n}\n"
	w := newWorld(t, "f", base)
	w.edit("f", "one", "uno")
	w.edit("f", "\ttwo()\n", "\ttwo()\n\tdos()\n")
	w.edit("f", "three", "tres")
	before, ids := w.sketch(), hunkIDs(w.file("f"))
	for _, now := range []string{"", "func a() {\n}\n\nfunc b() {\n\tthree()\n}\n", "func b() {\n\tthree()\n}\n", "x", "x\ny"} {
		w.user("f", now)
		if got := hunkIDs(w.file("f")); got != ids {
			t.Errorf("with %q the hunks are %s, were %s", now, got, ids)
		}
		w.user("f", base)
		w.want(before)
		if got := hunkIDs(w.file("f")); got != ids {
			t.Errorf("after %q the hunks are %s, were %s", now, got, ids)
		}
	}
}

func hunkIDs(f File) string {
	var ids []string
	for _, h := range f.Hunks {
		ids = append(ids, h.HunkID)
	}
	return strings.Join(ids, " ")
}

// A word is typed in front of a hunk: while it looks like part of the hunk's
// own it is in conflict, and no longer then.
func TestWordTypedBeforeAHunk(t *testing.T) {
	w := newWorld(t, "f", "a\nfoo\nb\n")
	w.edit("f", "foo", "bar")
	for i := range len("new ") {
		w.user("f", "a\n"+"new "[:i+1]+"foo\nb\n")
	}
	w.want(`modify f "new foo\n">"new bar\n"`)
	for _, s := range []string{"x", "x ", "x y"} {
		w.user("f", "a\nnew foo"+s+"\nb\n")
	}
	w.want(`modify f conflicted "new foox y\n">"new bar\n"conflicted`)
	w.user("f", "a\nnew foo, x y\nb\n")
	w.want(`modify f "new foo, x y\n">"new bar, x y\n"`)
}

// Two hunks come to stand on one line and part again.
func TestLinesJoinedByTheUser(t *testing.T) {
	w := newWorld(t, "f", "foo\nbar\n")
	w.edit("f", "foo", "x")
	w.edit("f", "bar", "y")
	before, ids := w.sketch(), hunkIDs(w.file("f"))
	w.user("f", "foobar\n")
	w.user("f", "foo bar\n")
	w.want(`modify f "foo">"x" " bar\n">" y\n"`)
	w.user("f", "foo\nbar\n")
	w.want(before)
	if got := hunkIDs(w.file("f")); got != ids {
		t.Errorf("hunks %s, were %s", got, ids)
	}
	w.user("f", "foo bar\n")
	w.acceptAll()
	if got := w.content("f"); got != "x y\n" {
		t.Errorf("%q", got)
	}
}

// C044, C050: an accepted change that the user takes back stays back.
func TestUndoOfAnAcceptedChange(t *testing.T) {
	w := newWorld(t, "f", "a\nb\n")
	w.edit("f", "a", "A")
	w.acceptAll()
	w.user("f", "a\nb\n")
	w.edit("f", "b", "B")
	w.want(`modify f "b\n">"B\n"`)
}

func TestRevisionsOfRebase(t *testing.T) {
	w := newWorld(t, "f", "a\nb\nc\n")
	w.edit("f", "b", "B")
	for _, c := range []struct {
		now  string
		want Moves
	}{
		{"a\nb\nc\nd\n", Unmoved},
		{"x\na\nb\nc\nd\n", Shifted},
		{"x\na\nb //\nc\nd\n", Altered},
		{"x\na\nbb\nc\nd\n", Altered},
		{"x\na\nbb\nc\n", Unmoved},
		{"a\nb\nc\n", Altered},
		{"a\nB\nc\n", Altered},
		{"a\nB\n", Unmoved},
	} {
		was := w.set.Proposal().Revision
		got := w.user("f", c.now)
		if now := w.set.Proposal().Revision; got != c.want || (now != was) != (c.want != Unmoved) {
			t.Errorf("%q: %v, from revision %d to %d", c.now, got, was, now)
		}
	}
}

// Documents that come and go.

func TestFileOfAModifyIsDeleted(t *testing.T) {
	w := newWorld(t, "f", "a\nb\n")
	w.edit("f", "a", "A")
	before := w.sketch()
	w.remove("f")
	w.want(`modify f conflicted "">"A"conflicted`)
	if got := w.read("f"); got != "(none)" {
		t.Errorf("the agent reads %q", got)
	}
	if rs := w.acceptAll(); states(rs) != "conflicted" || rs[0].Reason == "" {
		t.Errorf("%+v", rs)
	}
	w.user("f", "a\nb\nc\n")
	w.want(strings.Replace(before, "modify f", "modify f", 1))
	w.remove("f")
	id := hunkIDs(w.file("f"))
	w.write("f", "new\n")
	w.want(`create f "">"new\n"`)
	if got := hunkIDs(w.file("f")); got != id {
		t.Errorf("the hunk is %s, was %s", got, id)
	}
	w.acceptAll()
	if got := w.content("f"); got != "new\n" {
		t.Errorf("%q", got)
	}
}

func TestFileAppearsUnderACreate(t *testing.T) {
	for _, c := range []struct{ now, want string }{
		{"mine\n", ``},
		{"", `modify n "">"mine\n"`},
		{"theirs\n", `modify n conflicted "theirs\n">"mine\n"conflicted`},
	} {
		w := newWorld(t)
		w.write("n", "mine\n")
		id := w.file("n").FileID + hunkIDs(w.file("n"))
		w.user("n", c.now)
		w.want(c.want)
		if c.want == "" {
			continue
		}
		if got := w.file("n").FileID + hunkIDs(w.file("n")); got != id {
			t.Errorf("ids %s, were %s", got, id)
		}
		w.remove("n")
		w.want(`create n "">"mine\n"`)
		w.user("n", "")
		w.acceptAll()
		if got := w.content("n"); got != "mine\n" {
			t.Errorf("%q", got)
		}
	}
}

func TestEmptyCreate(t *testing.T) {
	w := newWorld(t)
	w.write("n", "")
	w.want(`create n "">""`)
	if rs := w.acceptAll(); states(rs) != "applied" {
		t.Errorf("%+v", rs)
	}
	w.want("")
	w.write("m", "")
	w.user("m", "theirs")
	w.want(`modify m conflicted "theirs">""conflicted`)
}

// C058: the user rejects a new file, an empty buffer is left, and it is
// proposed again: an edit of that buffer.
func TestRejectedCreateLeavesABuffer(t *testing.T) {
	w := newWorld(t)
	w.write("n", "x\n")
	w.decide(Decision{All: true, Verdict: Reject})
	w.now("n", Doc{Open: true})
	w.write("n", "y\n")
	w.want(`modify n "">"y\n"`)
	w.acceptAll()
	if got := w.content("n"); got != "y\n" {
		t.Errorf("%q", got)
	}
}

func TestDocumentUnderADelete(t *testing.T) {
	w := newWorld(t, "a", "A\n")
	w.delete("a")
	w.user("a", "A!\n")
	w.want("delete a conflicted")
	if rs := w.acceptAll(); states(rs) != "conflicted" {
		t.Errorf("%+v", rs)
	}
	if got := w.content("a"); got != "A!\n" {
		t.Errorf("%q", got)
	}
	w.user("a", "A\n")
	w.want("delete a")
	w.remove("a")
	w.want("")
	if o := w.set.TakeOutcomes(); len(o) != 2 || o[1].Verdict != "" || o[1].State != Applied {
		t.Errorf("%+v", o)
	}
}

func TestRenameMeetsTheUser(t *testing.T) {
	for _, order := range []string{"old first", "new first"} {
		w := newWorld(t, "a", "A\nB\n")
		w.move("a", "b")
		w.edit("b", "A", "AA")
		w.user("a", "A\nB!\n")
		w.want(`rename a>b "A\n">"AA\n"`)
		// The user moves it.
		d, _ := w.Base("a")
		w.put("a", Doc{})
		w.put("b", d)
		if order == "old first" {
			w.set.Rebase("a", Doc{})
		}
		w.set.Rebase("b", d)
		w.set.Rebase("a", Doc{})
		w.want(`modify b "A\n">"AA\n"`)
	}
	w := newWorld(t, "a", "A\n")
	w.move("a", "b")
	w.user("b", "other\n")
	w.want("rename a>b conflicted")
	w.remove("b")
	w.want("rename a>b")
	w.remove("a")
	w.want("rename a>b conflicted")
	w.user("a", "A\n")
	w.want("rename a>b")
}
