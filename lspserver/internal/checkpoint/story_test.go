package checkpoint

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentls/agentls/tools/changeset"
)

// C062: undoing a run restores; only what it created goes. And forth again.
func TestRestoreIsNotDelete(t *testing.T) {
	w := newWorld(t, "a", "one\ntwo\nthree\n")
	w.edit("a", "two", "TWO")
	w.write("b", "new\n")
	w.accept("r1")
	w.want(`a="one\nTWO\nthree\n" b="new\n"`)
	w.types("a", "three", "three and more")
	w.wantList("r1(a b)")
	id := w.newest("r1")
	if got := sketch(w.restore(id)); got != "a applied; b applied" {
		t.Error(got)
	}
	w.want(`a="one\ntwo\nthree and more\n"`)
	w.wantList("")
	w.restart()
	w.restore(id)
	w.want(`a="one\nTWO\nthree and more\n" b="new\n"`)
	w.wantList("r1(a b)")
	w.restart()
	w.restore(id)
	w.want(`a="one\ntwo\nthree and more\n"`)
}

// What a run did, what the user did then, and what comes of undoing the run.
func TestStories(t *testing.T) {
	for _, story := range []struct {
		name   string
		files  []string
		run    func(w *world)
		user   func(w *world)
		said   string
		result string
	}{{
		name:   "line endings and a missing last one stay as they are",
		files:  []string{"a", "one\r\ntwo\r\nthree"},
		run:    func(w *world) { w.edit("a", "three", "3\r\nfour"); w.edit("a", "two", "2") },
		said:   "a applied",
		result: `a="one\r\ntwo\r\nthree"`,
	}, {
		name:   "the user typed on a line of the run's",
		files:  []string{"a", "one\ntwo\nthree\nfour\n"},
		run:    func(w *world) { w.edit("a", "two", "TWO"); w.edit("a", "four", "FOUR") },
		user:   func(w *world) { w.types("a", "TWO", "TWO2") },
		said:   "a applied; a conflicted (line 2 was changed since: it was left as it is)",
		result: `a="one\nTWO2\nthree\nfour\n"`,
	}, {
		name:   "all that the run did was typed over",
		files:  []string{"a", "one\ntwo\n"},
		run:    func(w *world) { w.edit("a", "two", "TWO") },
		user:   func(w *world) { w.types("a", "TWO", "2") },
		said:   "a conflicted (line 2 was changed since: it was left as it is)",
		result: `a="one\n2\n"`,
	}, {
		name:   "C044: the user undid it already",
		files:  []string{"a", "one\ntwo\n"},
		run:    func(w *world) { w.edit("a", "two", "TWO") },
		user:   func(w *world) { w.user("a", "one\ntwo\n") },
		said:   "a applied",
		result: `a="one\ntwo\n"`,
	}, {
		name:   "C047: a formatter spaced it anew",
		files:  []string{"a", "func f() {\n\tone()\n}\n"},
		run:    func(w *world) { w.edit("a", "\tone()\n", "\tone( )\n\ttwo()\n") },
		user:   func(w *world) { w.user("a", "func f() {\n    one()\n    two()\n}\n") },
		said:   "a applied",
		result: `a="func f() {\n\tone()\n}\n"`,
	}, {
		name:   "a created file with more typed below",
		run:    func(w *world) { w.write("a", "one\ntwo\n") },
		user:   func(w *world) { w.user("a", "one\ntwo\nmine\n") },
		said:   "a applied; a conflicted (there is text in it that the run did not put there: the file stays)",
		result: `a="mine\n"`,
	}, {
		name:   "a created file that was typed into",
		run:    func(w *world) { w.write("a", "one\ntwo\n") },
		user:   func(w *world) { w.user("a", "one\nmine\ntwo\n") },
		said:   "a conflicted (line 1 was changed since: it was left as it is)",
		result: `a="one\nmine\ntwo\n"`,
	}, {
		name:   "a created file that was formatted",
		run:    func(w *world) { w.write("a", "a{\nb}") },
		user:   func(w *world) { w.user("a", "a{\r\n  b\r\n}\r\n") },
		said:   "a applied",
		result: ``,
	}, {
		name:   "a created file that the user cut down",
		run:    func(w *world) { w.write("a", "one\ntwo\nthree\n") },
		user:   func(w *world) { w.user("a", "one\nthree\n") },
		said:   "a applied",
		result: ``,
	}, {
		name:   "an empty file was created, and the user wrote it",
		run:    func(w *world) { w.write("a", "") },
		user:   func(w *world) { w.user("a", "mine\n") },
		said:   "a conflicted (there is text in it that the run did not put there: the file stays)",
		result: `a="mine\n"`,
	}, {
		name:   "a created file that the user deleted",
		run:    func(w *world) { w.write("a", "one\n") },
		user:   func(w *world) { w.put("a", changeset.Doc{}) },
		said:   "a applied",
		result: ``,
	}, {
		name:   "a created file that is only a buffer by now",
		run:    func(w *world) { w.write("a", "one\n") },
		user:   func(w *world) { w.put("a", changeset.Doc{Text: "one\n", Open: true}) },
		said:   "a applied",
		result: `a=""`,
	}, {
		name:   "a file that the run edited was deleted by the user",
		files:  []string{"a", "one\n"},
		run:    func(w *world) { w.edit("a", "one", "1") },
		user:   func(w *world) { w.put("a", changeset.Doc{}) },
		said:   "a conflicted (the file is not there any more)",
		result: ``,
	}, {
		name:   "a deleted file comes back with its text",
		files:  []string{"a", "one\r\ntwo"},
		run:    func(w *world) { w.edit("a", "one", "1"); w.accept("r1"); w.delete("a") },
		said:   "a applied",
		result: `a="one\r\ntwo"`,
	}, {
		name:   "an empty file that was deleted comes back",
		files:  []string{"a", ""},
		run:    func(w *world) { w.delete("a") },
		said:   "a applied",
		result: `a=""`,
	}, {
		name:   "the user put another file in the place of a deleted one",
		files:  []string{"a", "one\n"},
		run:    func(w *world) { w.delete("a") },
		user:   func(w *world) { w.user("a", "mine\n") },
		said:   "a conflicted (there is a file again in its place: that was left as it is)",
		result: `a="mine\n"`,
	}, {
		name:   "the user brought the deleted file back",
		files:  []string{"a", "one\n"},
		run:    func(w *world) { w.delete("a") },
		user:   func(w *world) { w.user("a", "one\n") },
		said:   "a applied",
		result: `a="one\n"`,
	}, {
		name:   "a renamed file goes back with what was typed in it",
		files:  []string{"a", "one\ntwo\nthree\n"},
		run:    func(w *world) { w.move("a", "d/b"); w.edit("d/b", "two", "TWO") },
		user:   func(w *world) { w.types("d/b", "one", "mine") },
		said:   "a applied",
		result: `a="mine\ntwo\nthree\n"`,
	}, {
		name:   "there is another file where a renamed one was",
		files:  []string{"a", "one\ntwo\nthree\n"},
		run:    func(w *world) { w.edit("a", "one", "1"); w.accept("r1"); w.move("a", "b"); w.edit("b", "three", "3") },
		user:   func(w *world) { w.user("a", "mine\n") },
		said:   "b applied; b conflicted (there is a file again in its place: that was left as it is)",
		result: `a="mine\n" b="one\ntwo\nthree\n"`,
	}, {
		name:   "the user moved a renamed file back",
		files:  []string{"a", "one\ntwo\n"},
		run:    func(w *world) { w.move("a", "b"); w.edit("b", "two", "TWO") },
		user:   func(w *world) { w.put("a", w.docs["b"]); w.put("b", changeset.Doc{}) },
		said:   "a applied",
		result: `a="one\ntwo\n"`,
	}, {
		name:   "the user moved a renamed file on",
		files:  []string{"a", "one\n"},
		run:    func(w *world) { w.edit("a", "one", "1"); w.accept("r1"); w.move("a", "b") },
		user:   func(w *world) { w.put("c", w.docs["b"]); w.put("b", changeset.Doc{}) },
		said:   "b conflicted (the file is not there any more)",
		result: `c="1\n"`,
	}, {
		name: "a created file was moved and edited",
		run: func(w *world) {
			w.write("a", "one\n")
			w.accept("r1")
			w.move("a", "b")
			w.accept("r1")
			w.edit("b", "one", "1")
		},
		said:   "b applied",
		result: ``,
	}, {
		name:   "deleted and created anew",
		files:  []string{"a", "one\ntwo\n"},
		run:    func(w *world) { w.delete("a"); w.accept("r1"); w.write("a", "2\n") },
		user:   nil,
		said:   "a applied",
		result: `a="one\ntwo\n"`,
	}, {
		name:   "created and deleted again",
		run:    func(w *world) { w.write("a", "one\n"); w.accept("r1"); w.delete("a") },
		said:   "a applied",
		result: ``,
	}, {
		name:  "two files changed places",
		files: []string{"a", "one\n", "b", "two\n"},
		run: func(w *world) {
			w.move("a", "t")
			w.accept("r1")
			w.move("b", "a")
			w.accept("r1")
			w.move("t", "b")
		},
		said:   "a applied; b applied",
		result: `a="one\n" b="two\n"`,
	}, {
		name:   "a file took the name of another",
		files:  []string{"a", "one\n", "b", "two\n"},
		run:    func(w *world) { w.move("b", "c"); w.accept("r1"); w.move("a", "b") },
		user:   func(w *world) { w.types("c", "two", "two, mine") },
		said:   "a applied; b applied",
		result: `a="one\n" b="two, mine\n"`,
	}, {
		name:   "moved over a deleted file",
		files:  []string{"a", "one\n", "b", "two\n"},
		run:    func(w *world) { w.delete("b"); w.accept("r1"); w.move("a", "b") },
		said:   "a applied; b applied",
		result: `a="one\n" b="two\n"`,
	}, {
		name:   "the user's text in the words of an edit verdict goes with it",
		files:  []string{"a", "one\ntwo\n"},
		run:    func(w *world) { w.edit("a", "two", "TWO"); w.acceptAs("r1", "a", "my two\n") },
		said:   "a applied",
		result: `a="one\ntwo\n"`,
	}, {
		name:  "many edits of one file, typed between",
		files: []string{"a", "1\n2\n3\n4\n5\n"},
		run: func(w *world) {
			w.edit("a", "2", "two")
			w.accept("r1")
			w.edit("a", "two", "Two")
			w.accept("r1")
			w.types("a", "5", "5\nmine")
			w.edit("a", "4", "four")
			w.accept("r1")
			w.edit("a", "Two", "TWO\nand more")
		},
		said:   "a applied",
		result: `a="1\n2\n3\n4\n5\nmine\n"`,
	}} {
		t.Run(story.name, func(t *testing.T) {
			w := newWorld(t, story.files...)
			story.run(w)
			w.accept("r1")
			if story.user != nil {
				story.user(w)
			}
			before := w.tree()
			w.restart()
			r := w.restore(w.newest("r1"))
			if got := sketch(r); got != story.said {
				t.Errorf("said: %s\nwant: %s", got, story.said)
			}
			w.want(story.result)
			w.wantList("")
			w.restart()
			w.restore(r.Redo)
			w.want(before)
			if !strings.HasPrefix(w.list(), "r1(") {
				t.Errorf("checkpoints at last: %s", w.list())
			}
		})
	}
}

// acceptAs accepts the one hunk of a file in other words.
func (w *world) acceptAs(runID, path, content string) {
	w.t.Helper()
	for _, f := range w.set.Proposal().Files {
		if f.Path == path && len(f.Hunks) == 1 {
			w.accept(runID, changeset.Decision{HunkID: f.Hunks[0].HunkID, Verdict: changeset.Edit, NewText: &content})
			return
		}
	}
	w.t.Fatalf("%s has not one hunk", path)
}

func TestRunsAreUndoneNewestFirst(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n3\n", "b", "b\n")
	w.edit("a", "1", "one")
	w.write("c", "c\n")
	w.accept("r1")
	w.edit("a", "2", "two")
	w.edit("c", "c", "C")
	w.accept("r2")
	w.edit("b", "b", "B")
	w.accept("r3")
	w.wantList("r3(b) r2(a c) r1(a c)")
	if got := w.undo("r2"); got != "a applied; b applied; c applied" {
		t.Error(got)
	}
	w.want(`a="one\n2\n3\n" b="b\n" c="c\n"`)
	w.wantList("r1(a c)")
	w.edit("a", "3", "three")
	w.accept("r4")
	w.types("a", "2", "2, mine")
	w.wantList("r4(a) r1(a c)")
	if got := w.undo("r1"); got != "a applied; c applied" {
		t.Error(got)
	}
	w.want(`a="1\n2, mine\n3\n" b="b\n"`)
	w.wantList("")
}

// What an older run proposed may be accepted after what a newer one did.
func TestOlderRunAppliedLater(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n3\n4\n5\n")
	w.edit("a", "1", "one")
	w.accept("r1")
	w.edit("a", "3", "three")
	w.accept("r2")
	w.edit("a", "5", "five")
	w.accept("r1")
	w.wantList("r2(a) r1(a)")
	w.undo("r2")
	w.want(`a="one\n2\n3\n4\nfive\n"`)
	w.undo("r1")
	w.want(`a="1\n2\n3\n4\n5\n"`)
}

// Only what landed is a step, and what lands later is one then.
func TestPartAndRest(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n3\n4\n5\n")
	w.edit("a", "1", "one")
	w.edit("a", "3", "three")
	w.edit("a", "5", "five")
	b, err := w.set.Resolve(w.set.Proposal().Revision, []changeset.Decision{{All: true, Verdict: changeset.Accept}})
	if err != nil {
		t.Fatal(err)
	}
	w.user("a", "one\n2\n3\n4\nfive\nmine\n")
	files := b.Files
	results := w.set.Settle(b, w.Base, "it did half")
	w.log.Applied("r1", files, results, w.tick())
	w.restart()
	w.wantList("r1(a)")
	w.user("a", "one\n2\nthree\n4\nfive\nmine\n") // C052: the rest after all
	w.wantList("r1(a)")
	w.restart()
	w.undo("r1")
	w.want(`a="1\n2\n3\n4\n5\nmine\n"`)
}

func TestLateApplies(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n", "b", "b\n", "c", "c\n")
	w.edit("a", "1", "one")
	w.delete("b")
	w.write("n", "new\n")
	w.move("c", "d")
	w.edit("d", "c", "C")
	w.refuses = func(changeset.FileEdit) string { return "no answer" }
	w.accept("r1")
	w.wantList("")
	w.restart()
	w.user("a", "one\n2\nmine\n")
	w.wantList("r1(a)")
	w.put("b", changeset.Doc{})
	w.user("n", "new\nmine\n")
	w.put("c", changeset.Doc{})
	w.put("d", changeset.Doc{Text: "C\n", Exists: true})
	w.wantList("r1(a b n d)")
	if got := w.undo("r1"); got != "a applied; b applied; c applied; n applied; n conflicted ("+reasonKept+")" {
		// The editor refuses still.
		w.refuses = nil
		got = w.undo("r1")
		if got != "a applied; b applied; c applied; n applied; n conflicted ("+reasonKept+")" {
			t.Error(got)
		}
	}
	w.want(`a="1\n2\nmine\n" b="b\n" c="c\n" n="mine\n"`)
}

// What was refused and is accepted anew counts once.
func TestRefusedThenApplied(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n")
	w.edit("a", "1", "one")
	w.refuses = func(changeset.FileEdit) string { return "no" }
	w.accept("r1")
	w.refuses = nil
	w.accept("r1")
	w.wantList("r1(a)")
	w.undo("r1")
	w.want(`a="1\n2\n"`)
	w.wantList("")
}

// The process ended after an edit was sent.
func TestSending(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n", "b", "b\n")
	w.edit("a", "1", "one")
	w.edit("b", "b", "B")
	b, err := w.set.Resolve(w.set.Proposal().Revision, []changeset.Decision{{All: true, Verdict: changeset.Accept}})
	if err != nil {
		t.Fatal(err)
	}
	w.log.Sending("r1", b.Files, w.tick())
	w.wantList("")
	w.store()
	w.user("a", "one\n2\n")
	w.log, err = Restore(w, w.stored)
	if err != nil {
		t.Fatal(err)
	}
	w.wantList("r1(a)")
	w.undo("r1")
	w.want(`a="1\n2\n" b="b\n"`)
}

// An editor that does not delete: what it did is done, the rest can be tried
// again.
func TestEditorRefuses(t *testing.T) {
	w := newWorld(t, "a", "1\n")
	w.edit("a", "1", "one")
	w.write("b", "b\n")
	w.accept("r1")
	w.edit("b", "b", "B")
	w.accept("r2")
	w.refuses = func(f changeset.FileEdit) string {
		if f.Op == changeset.OpDelete {
			return "this editor does not delete files"
		}
		return ""
	}
	if got := w.undo("r1"); got != "a applied; b notApplied (this editor does not delete files)" {
		t.Error(got)
	}
	w.want(`a="1\n" b="B\n"`)
	w.wantList("r2(b) r1(b)")
	w.restart()
	w.types("a", "1", "mine")
	w.put("b", changeset.Doc{}) // by hand, then
	if got := w.undo("r1"); got != "b applied" {
		t.Error(got)
	}
	w.want(`a="mine\n"`)
	w.wantList("")
}

// Undo, do again, undo: as often as one likes, and after other runs.
func TestRedo(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n3\n")
	w.edit("a", "1", "one")
	w.accept("r1")
	w.edit("a", "2", "two")
	w.write("b", "b\n")
	w.accept("r2")
	r1, r2 := w.newest("r1"), w.newest("r2")
	both, first := w.tree(), `a="one\n2\n3\n"`
	for range 3 {
		w.restore(r2)
		w.want(first)
		w.restore(r1)
		w.want(`a="1\n2\n3\n"`)
		w.wantList("")
		w.restart()
		w.restore(r1)
		w.want(first)
		w.wantList("r1(a)")
		w.restore(r2)
		w.want(both)
		w.wantList("r2(a b) r1(a)")
	}
	redo := w.restore(r1).Redo
	w.edit("a", "3", "three")
	w.accept("r3")
	var unknown *UnknownError
	if _, err := w.log.Plan(r1); !errors.As(err, &unknown) {
		t.Errorf("a run came since, and the old checkpoint is still good: %v", err)
	}
	w.want(`a="1\n2\nthree\n"`)
	back := w.restore(redo).Redo // undoes r3, too
	w.want(both)
	w.wantList("r2(a b) r1(a)")
	w.restart()
	w.restore(back)
	w.want(`a="1\n2\nthree\n"`)
	w.wantList("r3(a)")
	w.restore(redo)
	w.want(both)
	w.wantList("r2(a b) r1(a)")
}

// Restores come between, and the target is before them.
func TestRestoreOverRestores(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n3\n")
	w.edit("a", "1", "one")
	w.accept("r1")
	w.edit("a", "2", "two")
	w.accept("r2")
	second := w.restore(w.newest("r2"))
	w.edit("a", "3", "three")
	w.accept("r3")
	before := w.tree()
	r := w.restore(w.newest("r1"))
	w.want(`a="1\n2\n3\n"`)
	w.wantList("")
	w.restart()
	if _, err := w.log.Plan(second.Redo); err == nil {
		t.Error("a restore that was taken back with all else can be taken back again")
	}
	w.restore(r.Redo)
	w.want(before)
	w.wantList("r3(a) r1(a)")
	w.restore(second.Redo)
	w.want(`a="one\ntwo\n3\n"`)
	w.wantList("r2(a) r1(a)")
}

// A conflict drops the checkpoint, and nothing is lost all the same.
func TestConflictCanBeRedone(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n")
	w.edit("a", "1", "one")
	w.accept("r1")
	id := w.newest("r1")
	w.types("a", "one", "mine")
	w.undo("r1")
	w.wantList("")
	w.types("a", "mine", "one")
	w.restore(id)
	w.wantList("r1(a)")
	w.want(`a="one\n2\n"`)
	w.undo("r1")
	w.want(`a="1\n2\n"`)
}

// The hunks that wait stay, and move.
func TestPendingStays(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n3\n")
	w.edit("a", "1", "one\nand a half")
	w.accept("r1")
	w.edit("a", "3", "three")
	w.undo("r1")
	w.want(`a="1\n2\n3\n"`)
	p := w.set.Proposal()
	if len(p.Files) != 1 || p.Files[0].State != changeset.Pending || p.Files[0].Proposed() != "1\n2\nthree\n" {
		t.Errorf("%+v", p.Files)
	}
}

// The results name files as the session's proposal did.
func TestFileIDs(t *testing.T) {
	w := newWorld(t, "a", "1\n", "b", "b\n")
	w.edit("b", "b", "B")
	w.accept("r0")
	w.edit("a", "1", "one")
	id := w.set.Proposal().Files[0].FileID
	w.accept("r1")
	r := w.restore(w.newest("r1"))
	if len(r.Results) != 1 || r.Results[0].FileID != id || id == "f1" {
		t.Errorf("%+v, want %s", r.Results, id)
	}
	r = w.restore(r.Redo)
	if len(r.Results) != 1 || r.Results[0].FileID != id {
		t.Errorf("%+v, want %s", r.Results, id)
	}
}
