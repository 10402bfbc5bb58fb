package changeset

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Operations fold into one change per file. Scripts: `w P=T` writes, `d P`
// deletes, `m P Q` moves; there are a = "A\n", b = "B\n", c = "C\n", and in
// texts a dot stands for a line end.
func TestOperationsFold(t *testing.T) {
	for _, c := range []struct{ script, want, tree string }{
		{"w n=X.", `create n ""=>"X."`, "a=A. b=B. c=C. n=X."},
		{"w n=", `create n ""=>""`, "a=A. b=B. c=C. n="},
		{"w n=X., w n=Y.", `create n ""=>"Y."`, "a=A. b=B. c=C. n=Y."},
		{"w n=X., d n", ``, "a=A. b=B. c=C."},
		{"w n=X., m n o", `create o ""=>"X."`, "a=A. b=B. c=C. o=X."},
		{"w n=X., m n o, d o", ``, "a=A. b=B. c=C."},
		{"w n=X., m n o, m o n", `create n ""=>"X."`, "a=A. b=B. c=C. n=X."},
		{"w n=X., d n, w n=Y.", `create n ""=>"Y."`, "a=A. b=B. c=C. n=Y."},
		{"w a=X.", `modify a "A."=>"X."`, "a=X. b=B. c=C."},
		{"w a=X., w a=A.", ``, "a=A. b=B. c=C."},
		{"d a", `delete a`, "b=B. c=C."},
		{"w a=X., d a", `delete a`, "b=B. c=C."},
		{"d a, w a=X.", `modify a "A."=>"X."`, "a=X. b=B. c=C."},
		{"d a, w a=A.", ``, "a=A. b=B. c=C."},
		{"d a, w a=X., d a", `delete a`, "b=B. c=C."},
		{"m a n", `rename a>n`, "b=B. c=C. n=A."},
		{"m a n, m n a", ``, "a=A. b=B. c=C."},
		{"m a n, w n=X.", `rename a>n "A."=>"X."`, "b=B. c=C. n=X."},
		{"w a=X., m a n", `rename a>n "A."=>"X."`, "b=B. c=C. n=X."},
		{"m a n, w n=X., m n a", `modify a "A."=>"X."`, "a=X. b=B. c=C."},
		{"m a n, w n=X., w n=A.", `rename a>n`, "b=B. c=C. n=A."},
		{"m a n, d n", `delete a`, "b=B. c=C."},
		{"m a n, w n=X., d n", `delete a`, "b=B. c=C."},
		{"m a n, m n o", `rename a>o`, "b=B. c=C. o=A."},
		{"m a n, d n, w a=X.", `modify a "A."=>"X."`, "a=X. b=B. c=C."},
		{"m a n, d n, w n=X.", `create n ""=>"X."; delete a`, "b=B. c=C. n=X."},
		// A path that was moved away is written again: the file that is there is
		// modified, the one that left is made anew.
		{"m a n, w a=X.", `create n ""=>"A."; modify a "A."=>"X."`, "a=X. b=B. c=C. n=A."},
		{"m a n, w a=A.", `create n ""=>"A."`, "a=A. b=B. c=C. n=A."},
		{"m a n, w a=X., d n", `modify a "A."=>"X."`, "a=X. b=B. c=C."},
		{"m a n, w a=X., d a", `create n ""=>"A."; delete a`, "b=B. c=C. n=A."},
		{"m a n, w a=X., d a, m n a", ``, "a=A. b=B. c=C."},
		// Onto a path that is free only in the proposal.
		{"d b, m a b", `delete a; modify b "B."=>"A."`, "b=A. c=C."},
		{"d b, w n=X., m n b", `modify b "B."=>"X."`, "a=A. b=X. c=C."},
		{"d b, w n=B., m n b", ``, "a=A. b=B. c=C."},
		{"d b, m a b, d b", `delete a; delete b`, "c=C."},
		{"m b n, m a b", `create n ""=>"B."; delete a; modify b "B."=>"A."`, "b=A. c=C. n=B."},
		// Two files change names.
		{"m a n, m b a, m n b", `modify a "A."=>"B."; modify b "B."=>"A."`, "a=B. b=A. c=C."},
		{"m a n, m b a, m c b, m n c", `modify a "A."=>"B."; modify b "B."=>"C."; modify c "C."=>"A."`, "a=B. b=C. c=A."},
		{"m a n, m b a, m n b, m a n, m b a, m n b", ``, "a=A. b=B. c=C."},
		{"w a=X., m a n, w a=Y., m n b", "!", ""},
		{"d a, d b, d c, w a=C., w c=A.", `delete b; modify a "A."=>"C."; modify c "C."=>"A."`, "a=C. c=A."},
		{"m a a", ``, "a=A. b=B. c=C."},
		{"m a b", "!", ""},
		{"d n", "!", ""},
		{"d a, d a", "!", ""},
		{"m n a", "!", ""},
		{"d a, m a n", "!", ""},
		{"m a n, m a o", "!", ""},
		{"w n=X., m a n", "!", ""},
	} {
		t.Run(c.script, func(t *testing.T) {
			w := newWorld(t, "a", "A\n", "b", "B\n", "c", "C\n")
			before := w.tree()
			if err := w.run(c.script); (err != nil) != (c.want == "!") {
				t.Fatal(err)
			}
			if c.want == "!" {
				return
			}
			w.want(strings.NewReplacer("=>", ">", ".", `\n`).Replace(c.want))
			if got := w.tree(); got != before {
				t.Fatalf("the documents changed: %s", got)
			}
			for _, r := range w.acceptAll() {
				if r.State != Applied {
					t.Errorf("%+v", r)
				}
			}
			if got := strings.NewReplacer(`"`, "", `\n`, ".").Replace(w.tree()); got != c.tree {
				t.Errorf("documents: %s, want %s", got, c.tree)
			}
			w.want("")
		})
	}
}

// run plays a script as TestOperationsFold writes them; the error is of its
// last call.
func (w *world) run(script string) (err error) {
	for call := range strings.SplitSeq(script, ", ") {
		if err != nil {
			w.t.Fatalf("%s: %v", script, err)
		}
		switch args := strings.Fields(call); args[0] {
		case "w":
			path, content, _ := strings.Cut(args[1], "=")
			_, err = w.set.Write(path, strings.ReplaceAll(content, ".", "\n"), Origin{})
		case "d":
			_, err = w.set.Delete(args[1], Origin{})
		case "m":
			_, err = w.set.Move(args[1], args[2], Origin{})
		}
		w.check()
	}
	return err
}

// Each file can be decided alone: whatever order and choice, no operation
// finds its place taken or its file missing.
func TestFilesAreIndependent(t *testing.T) {
	for _, script := range []string{
		"m a n, w a=X.", "d b, m a b", "m b n, m a b", "m a n, m b a, m n b", "m a n, d n, w n=X.", "w a=X., m a n, m b a",
	} {
		for choice := range 1 << 6 {
			w := newWorld(t, "a", "A\n", "b", "B\n", "c", "C\n")
			if err := w.run(script); err != nil {
				t.Fatal(err)
			}
			files := w.set.Proposal().Files
			for i := range files {
				f := files[i]
				if choice&8 != 0 {
					f = files[len(files)-1-i]
				}
				v := Accept
				if choice>>i&1 != 0 {
					v = Reject
				}
				for _, r := range w.decide(Decision{FileID: f.FileID, Verdict: v}) {
					if r.State != Applied && r.State != Rejected {
						t.Errorf("%s, choice %b: %+v", script, choice, r)
					}
				}
			}
			w.want("")
		}
	}
}

func TestFileIDsStay(t *testing.T) {
	w := newWorld(t, "a", "A\n")
	id := w.write("a", "X\n").FileID
	for _, c := range []Change{w.move("a", "b"), w.edit("b", "X", "Y"), w.move("b", "c")} {
		if c.FileID != id {
			t.Errorf("the file's id went from %s to %s", id, c.FileID)
		}
	}
	w.move("c", "a")
	if got := w.file("a").FileID; got != id {
		t.Errorf("back in place the file is %s, was %s", got, id)
	}
}

func TestRefusals(t *testing.T) {
	w := newWorld(t, "a", "A\n")
	w.put("buffer", Doc{Text: "typed", Open: true})
	var missing *MissingError
	var exists *ExistsError
	var unsaved *UnsavedError
	if _, err := w.set.Delete("n", Origin{}); !errors.As(err, &missing) {
		t.Errorf("deleting nothing: %v", err)
	}
	if _, err := w.set.Edit("n", "", nil, Origin{}); !errors.As(err, &missing) {
		t.Errorf("editing nothing: %v", err)
	}
	if _, err := w.set.Move("a", "buffer", Origin{}); !errors.As(err, &exists) {
		t.Errorf("moving onto a buffer: %v", err)
	}
	if _, err := w.set.Delete("buffer", Origin{}); !errors.As(err, &unsaved) {
		t.Errorf("deleting a buffer: %v", err)
	}
	if _, err := w.set.Move("buffer", "n", Origin{}); !errors.As(err, &unsaved) {
		t.Errorf("moving a buffer: %v", err)
	}
	if _, err := w.set.Edit("a", "old", nil, Origin{}); !errors.Is(err, ErrRaced) {
		t.Errorf("editing another text: %v", err)
	}
	w.want("")
	if c := w.write("a", "A\n"); c.Kind != NoChange {
		t.Errorf("writing what is there: %+v", c)
	}
	if c := w.write("buffer", "typed more"); c.Kind != Edited || w.read("buffer") != "typed more" {
		t.Errorf("writing a buffer: %+v", c)
	}
}

func TestChangeKinds(t *testing.T) {
	w := newWorld(t, "a", "A\n", "b", "B\n")
	var got []string
	for _, c := range []Change{
		w.write("n", "X\n"), w.write("n", "Y\n"), w.write("n", "Y\n"), w.move("n", "o"), w.delete("o"),
		w.write("a", "X\n"), w.write("a", "A\n"), w.move("a", "n"), w.move("n", "a"), w.delete("a"), w.write("a", "A\n"),
	} {
		got = append(got, string(c.Kind))
	}
	want := "created edited noChange moved withdrawn edited withdrawn moved withdrawn deleted withdrawn"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
}

func TestOverlay(t *testing.T) {
	w := newWorld(t, "a", "A\n", "b", "B\n", "c", "C\n", "d", "D\n")
	w.write("n", "X\n")
	w.edit("a", "A", "AA")
	w.delete("b")
	w.move("c", "m")
	w.edit("m", "C", "CC")
	o := w.set.Overlay()
	if got, want := fmt.Sprint(o.Present, o.Modified, o.Gone), "map[m:CC\n n:X\n] map[a:AA\n] [b c]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for path, want := range map[string]string{"n": "X\n", "a": "AA\n", "b": "(none)", "c": "(none)", "m": "CC\n", "d": "D\n"} {
		if got := w.read(path); got != want {
			t.Errorf("%s reads %q, want %q", path, got, want)
		}
	}
}
