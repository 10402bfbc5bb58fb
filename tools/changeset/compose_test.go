package changeset

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentls/agentls/tools/text"
)

// One edit of the agent after another on one file, and the hunks with their
// ids after them: `h2` is the first hunk, since ids are shared with files.
func TestCompose(t *testing.T) {
	const base = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
	for _, c := range []struct {
		name  string
		edits [][2]string
		want  string
	}{
		{"apart", [][2]string{{"two", "2"}, {"five", "5"}}, `h2"two.">"2." h3"five.">"5."`},
		{"before", [][2]string{{"five", "5"}, {"two", "2"}}, `h3"two.">"2." h2"five.">"5."`},
		{"the same line", [][2]string{{"two", "2"}, {"2", "II"}}, `h2"two.">"II."`},
		{"elsewhere on the line", [][2]string{{"two", "2 two"}, {"two", "zwei"}}, `h2"two.">"2 zwei."`},
		{"back", [][2]string{{"two", "2"}, {"2", "two"}}, ``},
		{"back in part", [][2]string{{"two\nthree\nfour", "2\n3\n4"}, {"3", "three"}}, `h2"two.">"2." h3"four.">"4."`},
		{"back at its head", [][2]string{{"two\nthree\nfour", "2\n3\n4"}, {"2\n3", "two\nthree"}}, `h2"four.">"4."`},
		{"next line", [][2]string{{"two", "2"}, {"three", "3"}}, `h2"two.">"2." h3"three.">"3."`},
		{"over two hunks", [][2]string{{"five", "5"}, {"three", "3"}, {"3\nfour\n5", "x\ny\nz"}}, `h2"three.four.five.">"x.y.z."`},
		{"over a hunk and more", [][2]string{{"three", "3"}, {"two\n3\nfour", "x"}}, `h2"two.three.four.">"x."`},
		{"inserted and extended", [][2]string{{"two\n", "two\na\n"}, {"a\n", "a\nb\n"}}, `h2"">"a.b."`},
		{"inserted, then before it", [][2]string{{"two\n", "two\na\n"}, {"a\n", "b\na\n"}}, `h2"">"b.a."`},
		{"deleted and filled", [][2]string{{"two\nthree\n", ""}, {"one\n", "one\n2\n"}}, `h2"two.three.">"2."`},
		{"deleted, and the line before changed", [][2]string{{"three\n", ""}, {"two", "2"}}, `h3"two.">"2." h2"three.">""`},
		{"deleted, and the line after changed", [][2]string{{"three\n", ""}, {"four", "4"}}, `h2"three.">"" h3"four.">"4."`},
		{"around a deletion", [][2]string{{"three\n", ""}, {"two\nfour", "2\n4"}}, `h2"two.three.four.">"2.4."`},
		{"deleted, then all around", [][2]string{{"three\n", ""}, {"two\nfour\n", ""}}, `h2"two.three.four.">""`},
		{"insertion taken back", [][2]string{{"two\n", "two\na\nb\n"}, {"a\nb\n", ""}}, ``},
		{"insertion split by taking back", [][2]string{{"two", "a\ntwo\nb"}, {"b\n", ""}}, `h2"">"a."`},
		{"lines joined", [][2]string{{"two\nthree", "two three"}, {"four", "4"}}, `h2"two.three.">"two three." h3"four.">"4."`},
		{"lines joined, then changed", [][2]string{{"two\nthree", "two three"}, {"two three", "2 3"}}, `h2"two.three.">"2 3."`},
		{"moved down", [][2]string{{"two\n", ""}, {"four\n", "four\ntwo\n"}}, `h2"two.">"" h3"">"two."`},
		{"at the end", [][2]string{{"seven\n", "seven\neight\n"}, {"eight\n", "eight\nnine"}}, `h2"">"eight.nine"`},
		{"two words of a line", [][2]string{{"two", "a b c d"}, {"a", "A"}, {"d", "D"}}, `h2"two.">"A b c D."`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, "f", base)
			want := base
			for _, e := range c.edits {
				w.edit("f", e[0], e[1])
				want = strings.Replace(want, e[0], e[1], 1)
			}
			if got := w.read("f"); got != want {
				t.Errorf("the agent sees %q, wrote %q", got, want)
			}
			var hunks []string
			for _, f := range w.set.Proposal().Files {
				for _, h := range f.Hunks {
					hunks = append(hunks, fmt.Sprintf("%s%q>%q", h.HunkID, h.OldText, h.NewText))
				}
			}
			if got := strings.ReplaceAll(strings.Join(hunks, " "), `\n`, "."); got != c.want {
				t.Errorf("hunks %s\nwant  %s", got, c.want)
			}
		})
	}
}

// The whole file is written again with a change here and there: the hunks that
// were there keep their ids.
func TestWriteKeepsHunks(t *testing.T) {
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("line %d", i))
	}
	w := newWorld(t, "f", strings.Join(lines, "\n"))
	for i := 0; i < 200; i += 10 {
		lines[i] = fmt.Sprintf("LINE %d", i)
	}
	w.write("f", strings.Join(lines, "\n"))
	ids := hunkIDs(w.file("f"))
	lines[50], lines[105] = "LINE fifty", "between"
	c := w.write("f", strings.Join(lines, "\n"))
	if len(c.HunkIDs) != 2 {
		t.Errorf("the call changed %v", c.HunkIDs)
	}
	for _, id := range strings.Fields(ids) {
		if !strings.Contains(hunkIDs(w.file("f"))+" ", id+" ") {
			t.Errorf("hunk %s is gone", id)
		}
	}
	if got := len(w.file("f").Hunks); got != 21 {
		t.Errorf("%d hunks", got)
	}
}

func TestChangeNamesItsHunks(t *testing.T) {
	w := newWorld(t, "f", "a\nb\nc\nd\n")
	if c := w.write("f", "A\nb\nC\nd\n"); fmt.Sprint(c.HunkIDs) != "[h2 h3]" {
		t.Errorf("%+v", c)
	}
	if c := w.edit("f", "C", "CC"); fmt.Sprint(c.HunkIDs) != "[h3]" {
		t.Errorf("%+v", c)
	}
	if c := w.edit("f", "d", "D"); fmt.Sprint(c.HunkIDs) != "[h4]" {
		t.Errorf("%+v", c)
	}
	for i, want := range []string{"w", "e", "e"} {
		if got := w.file("f").Hunks[i].ToolCallID; got != want {
			t.Errorf("hunk %d is of call %s, want %s", i, got, want)
		}
	}
}

// C055: the agent writes the whole file from what it saw, while the user
// renames something in it.
func TestWriteOfAnOlderText(t *testing.T) {
	const saw = "def f(self):\n    if x:\n        pass\n"
	w := newWorld(t, "f", saw)
	w.set.Saw("f", w.read("f"))
	w.user("f", "def f(self):\n    if yy:\n        pass\n")
	c := w.write("f", "def f(self):\n    if x:\n        return\n")
	if !c.Merged {
		t.Error("nothing said of the merge")
	}
	w.want(`modify f "        pass\n">"        return\n"`)
	w.user("f", "def f(self):\n    if yy:\n        go()\n")
	w.decide(Decision{All: true, Verdict: Reject})
	if _, err := w.set.Write("f", "def f(self):\n    if x:\n        raise\n", Origin{}); err != ErrRaced {
		t.Errorf("an overlap: %v", err)
	}
	w.set.Saw("f", w.read("f"))
	if c := w.write("f", "def f(self):\n    if yy:\n        raise\n"); c.Merged {
		t.Errorf("%+v", c)
	}
	w.want(`modify f "        go()\n">"        raise\n"`)
}

func TestSightingFollowsEdits(t *testing.T) {
	w := newWorld(t, "f", "a\nb\nc\nd\n")
	w.set.Saw("f", "a\nb\nc\nd\n")
	w.user("f", "a\nb\nc\nD\n")
	w.edit("f", "a", "A")
	// The agent takes its edit back and changes another line; it never saw D.
	w.write("f", "a\nb\nC\nd\n")
	if got := w.read("f"); got != "a\nb\nC\nD\n" {
		t.Errorf("%q", got)
	}
}

// The agent works on a line that is in conflict, and beside one.
func TestComposeOnConflicts(t *testing.T) {
	w := newWorld(t, "f", "one foo bar\ntwo\n")
	w.edit("f", "foo", "x")
	w.user("f", "one fog bar\ntwo\n")
	w.want(`modify f conflicted "one fog bar\n">"one x bar\n"conflicted`)
	id := hunkIDs(w.file("f"))
	w.edit("f", "bar", "y")
	w.want(`modify f conflicted "one fog">"one x"conflicted " bar\n">" y\n"`)
	w.edit("f", "fog", "z")
	w.want(`modify f "one fog bar\n">"one z y\n"`)
	if got := hunkIDs(w.file("f")); got != id {
		t.Errorf("hunks %s, the conflicted one was %s", got, id)
	}
	w.edit("f", "z", "fog")
	w.edit("f", "y", "bar")
	w.want("")
}

// Any sequence of writes: what is proposed is what was written, and taken back
// it is nothing.
func TestComposeAnything(t *testing.T) {
	rnd := rand.New(rand.NewPCG(*seed, 11))
	for round := range 3000 {
		base := randomText(rnd, 12)
		w := newWorld(t, "f", base)
		view := base
		for range 6 {
			if rnd.IntN(2) == 0 {
				view = mutate(rnd, view)
				w.write("f", view)
			} else {
				var edits []text.Edit
				edits, view = randomEdits(rnd, view)
				before := w.read("f")
				w.did(w.set.Edit("f", before, edits, Origin{}))
			}
			if got := w.read("f"); got != view {
				t.Fatalf("round %d: the agent sees %q, wrote %q on %q", round, got, view, base)
			}
			if t.Failed() {
				t.Fatalf("round %d: %q on %q", round, view, base)
			}
		}
		w.write("f", base)
		w.want("")
		if t.Failed() {
			t.Fatalf("round %d: %q", round, base)
		}
	}
}

var pieces = []string{"a", "b", "foo", "bar", " ", " ", "\n", "\n", "\n", "\r\n", "\r", "é", "😀", "foo bar\n", "x = 1\n", "x = 1\n", "}\n"}

func randomText(rnd *rand.Rand, n int) string {
	var b strings.Builder
	for range rnd.IntN(n) {
		b.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return b.String()
}

// randomEdits gives edits of s, at places where it may be cut.
func randomEdits(rnd *rand.Rand, s string) ([]text.Edit, string) {
	var edits []text.Edit
	at := 0
	for range 1 + rnd.IntN(3) {
		start := cleanAt(s, at+rnd.IntN(len(s)-at+1))
		end := cleanAt(s, min(len(s), start+rnd.IntN(8)))
		if end < start || start < at || len(edits) > 0 && start == at {
			break
		}
		edits = append(edits, text.Edit{Start: start, End: end, New: randomText(rnd, 3)})
		at = end
	}
	return edits, text.Apply(s, edits)
}

func cleanAt(s string, i int) int {
	for !clean(s, i) {
		i++
	}
	return i
}

func mutate(rnd *rand.Rand, s string) string {
	_, s = randomEdits(rnd, s)
	return s
}
