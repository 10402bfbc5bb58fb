package undo

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/tools/changeset"
)

// disk is documents by path; it is the Source and, by apply, the editor.
type disk map[string]string

func (d disk) Base(path string) (changeset.Doc, error) {
	text, ok := d[path]
	return changeset.Doc{Text: text, Exists: ok}, nil
}

// apply accepts all of a set and makes its edits.
func (d disk) apply(t *testing.T, set *changeset.Set) ([]changeset.FileEdit, []changeset.Result) {
	t.Helper()
	p := set.Proposal()
	if len(p.Files) == 0 {
		return nil, nil
	}
	batch, err := set.Resolve(p.Revision, []changeset.Decision{{All: true, Verdict: changeset.Accept}})
	if err != nil {
		t.Fatal(err)
	}
	files := append([]changeset.FileEdit(nil), batch.Files...)
	for _, f := range files {
		switch f.Op {
		case changeset.OpDelete:
			delete(d, f.Path)
		case changeset.OpRename:
			delete(d, f.OldPath)
			d[f.Path] = f.Want
		default:
			d[f.Path] = f.Want
		}
	}
	return files, set.Settle(batch, d.Base, "")
}

// run has an agent change files, and all of it accepted.
func (d disk) run(t *testing.T, l *Log, id string, change func(*changeset.Set)) {
	t.Helper()
	set := changeset.New(d)
	change(set)
	files, results := d.apply(t, set)
	l.Applied(id, files, results, d.Base, time.Time{})
}

// restore undoes or does again, and returns the conflicts.
func (d disk) restore(t *testing.T, l *Log, id string) []changeset.Result {
	t.Helper()
	plan, err := l.Plan(id, d)
	if err != nil {
		t.Fatal(err)
	}
	files, results := d.apply(t, plan.Set)
	l.Restored(plan, files, results, d.Base)
	return plan.Conflicts
}

func write(t *testing.T, path, text string) func(*changeset.Set) {
	return func(s *changeset.Set) {
		if _, err := s.Write(path, text, changeset.Origin{ToolCallID: "t"}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRestore(t *testing.T) {
	move := func(s *changeset.Set) {
		if _, err := s.Move("a", "b", changeset.Origin{}); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(s *changeset.Set) {
		if _, err := s.Delete("a", changeset.Origin{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		before, want disk
		run          []func(*changeset.Set)
		user         func(disk)
		conflicts    int
	}{
		"an edit": {
			before: disk{"a": "one\r\ntwo\nthree"}, want: disk{"a": "one\r\ntwo\nthree"},
			run: []func(*changeset.Set){write(t, "a", "one\r\n2\nthree")},
		},
		"the user's line stays (C062)": {
			before: disk{"a": "one\ntwo\nthree\n"}, want: disk{"a": "one\ntwo\nthree\nmine\n"},
			run:  []func(*changeset.Set){write(t, "a", "one\n2\nthree\n"), write(t, "b", "new\n")},
			user: func(d disk) { d["a"] += "mine\n" },
		},
		"the user changed the same line": {
			before: disk{"a": "one\ntwo\nthree\n"}, want: disk{"a": "one\nmine\nthree\n"},
			run:  []func(*changeset.Set){write(t, "a", "one\n2\nthree\n")},
			user: func(d disk) { d["a"] = "one\nmine\nthree\n" }, conflicts: 1,
		},
		"the user undid it themselves": {
			before: disk{"a": "one\n"}, want: disk{"a": "one\n"},
			run:  []func(*changeset.Set){write(t, "a", "1\n")},
			user: func(d disk) { d["a"] = "one\n" },
		},
		"a new file": {
			before: disk{}, want: disk{},
			run: []func(*changeset.Set){write(t, "a", "new\n")},
		},
		"a new file that the user wrote into is not deleted": {
			before: disk{}, want: disk{"a": "new\nmine\n"},
			run:  []func(*changeset.Set){write(t, "a", "new\n")},
			user: func(d disk) { d["a"] += "mine\n" }, conflicts: 1,
		},
		"a deleted file": {
			before: disk{"a": "text"}, want: disk{"a": "text"},
			run: []func(*changeset.Set){remove},
		},
		"a deleted file that is there again": {
			before: disk{"a": "text"}, want: disk{"a": "mine"},
			run:  []func(*changeset.Set){remove},
			user: func(d disk) { d["a"] = "mine" }, conflicts: 1,
		},
		"a moved file": {
			before: disk{"a": "one\ntwo\n"}, want: disk{"a": "one\ntwo\n"},
			run: []func(*changeset.Set){move},
		},
		"a moved, edited and typed-in file": {
			before: disk{"a": "one\ntwo\nthree\n"}, want: disk{"a": "mine\none\ntwo\nthree\n"},
			run:  []func(*changeset.Set){func(s *changeset.Set) { move(s); write(t, "b", "one\ntwo\n3\n")(s) }},
			user: func(d disk) { d["b"] = "mine\n" + d["b"] },
		},
		"edits on edits": {
			before: disk{"a": "one\ntwo\n"}, want: disk{"a": "one\ntwo\n"},
			run: []func(*changeset.Set){write(t, "a", "1\ntwo\n"), write(t, "a", "1\n2\n"), write(t, "a", "0\n2\nthree\n")},
		},
		"created, then moved": {
			before: disk{}, want: disk{},
			run: []func(*changeset.Set){write(t, "a", "new\n"), move},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := tt.before
			l := NewLog(State{})
			for _, change := range tt.run {
				d.run(t, l, "run", change)
			}
			if tt.user != nil {
				tt.user(d)
			}
			after := copyOf(d)
			points := l.List()
			if len(points) != 1 {
				t.Fatalf("%d checkpoints, want one", len(points))
			}
			conflicts := d.restore(t, l, points[0].ID)
			if len(conflicts) != tt.conflicts {
				t.Errorf("conflicts: %+v, want %d", conflicts, tt.conflicts)
			}
			same(t, d, tt.want)
			if len(l.List()) != 0 {
				t.Errorf("the checkpoint is still there")
			}
			if tt.conflicts > 0 {
				return
			}
			d.restore(t, l, points[0].ID)
			same(t, d, after)
			if len(l.List()) != 1 {
				t.Errorf("the checkpoint is not back after doing it again")
			}
		})
	}
}

// TestLaterRuns restores an early checkpoint: the later ones go with it.
func TestLaterRuns(t *testing.T) {
	d := disk{"a": "0\n"}
	l := NewLog(State{})
	for _, text := range []string{"1\n", "2\n", "3\n"} {
		d.run(t, l, "run"+text, write(t, "a", text))
	}
	l = NewLog(l.State())
	points := l.List()
	if c := d.restore(t, l, points[1].ID); len(c) > 0 {
		t.Fatal(c)
	}
	same(t, d, disk{"a": "1\n"})
	if left := l.List(); len(left) != 1 || left[0].RunID != "run1\n" {
		t.Errorf("left: %+v", left)
	}
	if _, err := l.Plan("c99", d); err != ErrUnknown {
		t.Errorf("an unknown checkpoint: %v", err)
	}
}

// TestUntouchedLines: whatever runs and the user did, a restore brings back the
// lines of before and keeps those that only the user touched.
func TestUntouchedLines(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		lines := make([]string, 40)
		for i := range lines {
			lines[i] = strings.Repeat(string(rune('a'+i%26)), 3) + []string{"\n", "\r\n"}[r.IntN(2)]
		}
		before := append([]string(nil), lines...)
		want := append([]string(nil), lines...)
		d := disk{"f": strings.Join(lines, "")}
		l := NewLog(State{})
		for range 1 + r.IntN(4) {
			for range 1 + r.IntN(5) {
				// The agent has the even lines, the user the odd ones, never two next
				// to each other.
				lines[4*r.IntN(10)] = "agent " + string(rune('0'+r.IntN(10))) + "\n"
			}
			d.run(t, l, "run"+string(rune('0'+r.IntN(3))), write(t, "f", strings.Join(lines, "")))
			i := 4*r.IntN(10) + 2
			lines[i] = "user " + string(rune('0'+r.IntN(10))) + "\n"
			want[i] = lines[i]
			d["f"] = strings.Join(lines, "")
		}
		points := l.List()
		if len(points) == 0 {
			continue
		}
		conflicts := d.restore(t, l, points[len(points)-1].ID)
		if len(conflicts) > 0 || d["f"] != strings.Join(want, "") {
			t.Fatalf("seed %d: conflicts %v\nbefore %q\ngot    %q\nwant   %q", seed, conflicts, before, d["f"], want)
		}
	}
}

func copyOf(d disk) disk {
	c := disk{}
	for k, v := range d {
		c[k] = v
	}
	return c
}

func same(t *testing.T, got, want disk) {
	t.Helper()
	for path := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%s is there: %q", path, got[path])
		}
	}
	for path, text := range want {
		if g, ok := got[path]; !ok || g != text {
			t.Errorf("%s: %q (%v), want %q", path, g, ok, text)
		}
	}
}
