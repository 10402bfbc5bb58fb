package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// A run that edits a file again and again keeps one text of it.
func TestOneTextForARun(t *testing.T) {
	w := newWorld(t, "a", strings.Repeat("line\n", 1000)+"0\n", "b", strings.Repeat("line\n", 1000)+"0\n")
	for i := range 50 {
		w.edit("a", fmt.Sprint(i, "\n"), fmt.Sprint(i+1, "\n"))
		w.accept("r1")
	}
	w.edit("b", "0\n", "1\n")
	w.accept("r1")
	if n := w.log.bytes(); n > 5100 {
		t.Errorf("%d bytes kept", n)
	}
	if len(w.log.steps) != 2 {
		t.Errorf("%d steps", len(w.log.steps))
	}
	w.undo("r1")
	if got := w.docs["a"].Text; !strings.HasSuffix(got, "line\n0\n") {
		t.Errorf("%q", got[len(got)-10:])
	}
}

// The oldest checkpoints are dropped for want of room, and that is told. What
// is left of a run that lost a part is not offered as the run.
func TestRoom(t *testing.T) {
	big := strings.Repeat("line\n", 20)
	w := newWorld(t, "a", big+"a\n", "b", big+"b\n", "c", big+"c\n")
	w.log.maxBytes = 250
	w.edit("a", "a\n", "A\n")
	w.accept("r1")
	w.edit("b", "b\n", "B\n")
	w.accept("r2")
	w.edit("a", "A\n", "AA\n")
	b, err := w.set.Resolve(w.set.Proposal().Revision, []changeset.Decision{{All: true, Verdict: changeset.Accept}})
	if err != nil {
		t.Fatal(err)
	}
	w.apply(b.Files[0])
	dropped := w.log.Applied("r3", b.Files, w.set.Settle(b, w.Base, ""), w.tick())
	if len(dropped) != 1 || dropped[0].RunID != "r1" {
		t.Errorf("dropped %v", dropped)
	}
	w.wantList("r3(a) r2(b)")
	w.edit("c", "c\n", "C\n")
	w.accept("r1")
	w.wantList("r3(a) r2(b)")
	w.restart()
	w.log.maxBytes = 10
	w.edit("c", "C\n", "CC\n")
	w.accept("r4")
	w.wantList("")
	w.edit("c", "CC\n", "C\n")
	w.accept("r4")
	w.wantList("")
	w.restart()
	w.wantList("")
}

// The documents change between the plan and its proposal, and afterwards.
func TestRaces(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n3\n")
	w.edit("a", "1", "one")
	w.accept("r1")
	id := w.newest("r1")

	src := &restless{world: w, after: 1, change: func() { w.types("a", "3", "3, mine") }}
	w.log.src = src
	u, err := w.log.Plan(id)
	if err != nil {
		t.Fatal(err)
	}
	if p := u.Set.Proposal(); len(p.Files) != 1 || p.Files[0].Proposed() != "1\n2\n3, mine\n" {
		t.Errorf("%+v", p)
	}

	n := 0
	*src = restless{world: w, after: 1, often: true, change: func() { n++; w.user("a", fmt.Sprintf("one\n2\n%d\n", n)) }}
	if _, err := w.log.Plan(id); !errors.Is(err, changeset.ErrRaced) {
		t.Errorf("a document that does not keep still: %v", err)
	}

	// The user types on the line while the editor is asked.
	w.log.src = w
	w.user("a", "one\n2\n3\n")
	if u, err = w.log.Plan(id); err != nil {
		t.Fatal(err)
	}
	w.user("a", "oneself\n2\n3\n")
	u.Set.Sync()
	b, err := u.Set.Resolve(u.Set.Proposal().Revision, []changeset.Decision{{All: true, Verdict: changeset.Accept}})
	if err != nil {
		t.Fatal(err)
	}
	r := w.log.Done(u, b.Files, u.Set.Settle(b, w.Base, ""), w.tick())
	if got := sketch(r); got != "a conflicted (the text was changed in the editor)" {
		t.Error(got)
	}
	w.wantList("r1(a)") // to be tried again
}

// restless is a source whose documents change after some looks.
type restless struct {
	*world
	after  int
	often  bool
	change func()
}

func (r *restless) Base(path string) (changeset.Doc, error) {
	d, err := r.world.Base(path)
	if r.after--; r.after == 0 {
		r.change()
		if r.often {
			r.after = 1
		}
	}
	return d, err
}

// More of the run is applied between the plan and what comes of it.
func TestAppliedMeanwhile(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n3\n")
	w.edit("a", "1", "one")
	w.accept("r1")
	u, err := w.log.Plan(w.newest("r1"))
	if err != nil {
		t.Fatal(err)
	}
	w.edit("a", "3", "three")
	w.accept("r1")
	u.Set.Sync()
	files, results := w.resolve(u.Set, []changeset.Decision{{All: true, Verdict: changeset.Accept}})
	w.log.Done(u, files, results, w.tick())
	w.want(`a="1\n2\nthree\n"`)
	w.wantList("r1(a)")
	w.undo("r1")
	w.want(`a="1\n2\n3\n"`)
}

// A source that fails is a conflict of that file, and of no other.
func TestUnreadable(t *testing.T) {
	w := newWorld(t, "a", "1\n", "b", "b\n")
	w.edit("a", "1", "one")
	w.edit("b", "b", "B")
	w.accept("r1")
	w.log.src = failing{w}
	if got := w.undo("r1"); got != "a applied; b conflicted (binary, 12 bytes)" {
		t.Error(got)
	}
	w.want(`a="1\n" b="B\n"`)
}

type failing struct{ *world }

func (f failing) Base(path string) (changeset.Doc, error) {
	if path == "b" {
		return changeset.Doc{}, errors.New("binary, 12 bytes")
	}
	return f.world.Base(path)
}

// A damaged record costs the checkpoints that need it and the older ones.
func TestDamage(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n3\n")
	for i, old := range []string{"1", "2", "3"} {
		w.edit("a", old, "x"+old)
		w.accept(fmt.Sprint("r", i+1))
	}
	w.wantList("r3(a) r2(a) r1(a)")
	var saved []Saved
	for _, s := range w.stored {
		if len(s.Steps) > 0 && s.Steps[0].Seq == 2 {
			s.Texts = nil
		}
		saved = append(saved, s)
	}
	var err error
	if w.log, err = Restore(w, saved); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("%v", err)
	}
	w.wantList("r3(a)")
	w.undo("r3")
	w.want(`a="x1\nx2\n3\n"`)

	var s Saved
	if err := json.Unmarshal([]byte(`{"version":1,"entries":[{"num":1,"runId":"r"}],"steps":[{"seq":1,"entry":1,"op":"modify","path":"a","edits":[{"start":3,"end":9}]}]}`), &s); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(w, []Saved{s}); err == nil {
		t.Error("an edit outside its text is taken")
	}
	if _, err := Restore(w, []Saved{{Version: 99, Steps: []savedStep{{}}}}); err == nil {
		t.Error("a form of the future is taken")
	}
}

// Texts may be kept elsewhere.
func TestTextsApart(t *testing.T) {
	w := newWorld(t, "a", "1\n2\n")
	w.edit("a", "1", "one")
	w.accept("r1")
	texts := map[string]string{}
	var saved []Saved
	for _, s := range w.stored {
		for hash, t := range s.Texts {
			texts[hash] = t
		}
		s.Texts = nil
		saved = append(saved, s)
	}
	var err error
	if w.log, err = Restore(w, append(saved, Saved{Texts: texts})); err != nil {
		t.Fatal(err)
	}
	w.undo("r1")
	w.want(`a="1\n2\n"`)
	if s, ok := w.log.Unsaved(); ok && len(s.Texts) > 1 {
		t.Errorf("stored again: %v", s.Texts)
	}
}

// Everything at once.
func TestConcurrent(t *testing.T) {
	src := &shared{docs: map[string]changeset.Doc{}}
	l := New(src)
	set := func(path, content string) {
		src.mu.Lock()
		defer src.mu.Unlock()
		src.docs[path] = changeset.Doc{Text: content, Exists: true}
	}
	var wg sync.WaitGroup
	for g := range 4 {
		path := fmt.Sprint("f", g)
		wg.Go(func() {
			for i := range 40 {
				f := changeset.FileEdit{FileID: path, Op: changeset.OpModify, Path: path, Base: fmt.Sprint(i, "\n"), Want: fmt.Sprint(i+1, "\n")}
				f.Edits = text.Diff(f.Base, f.Want)
				l.Sending("r", []changeset.FileEdit{f}, time.Time{})
				set(path, f.Want)
				l.Applied(fmt.Sprint("r", i/10), []changeset.FileEdit{f}, []changeset.Result{{FileID: path, HunkID: "h", State: changeset.Applied}}, time.Time{})
			}
		})
		wg.Go(func() {
			for range 40 {
				if cs := l.List(); len(cs) > 0 {
					if u, err := l.Plan(cs[0].ID); err == nil && g == 0 {
						l.Done(u, nil, nil, time.Time{})
					}
				}
				l.Unsaved()
			}
		})
	}
	wg.Wait()
}

type shared struct {
	mu   sync.Mutex
	docs map[string]changeset.Doc
}

func (s *shared) Base(path string) (changeset.Doc, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.docs[path], nil
}

// Whatever the texts, the edits are sound.
func FuzzUndone(f *testing.F) {
	f.Add("one\ntwo\nthree\n", "one\nTWO\nthree\n", "one\nTWO\nmine\nthree\n")
	f.Add("a\r\nb", "a\r\n\tb\r\nc", "a\r\n    b\r\nc\r\n")
	f.Add("", "x\n", "x\ny")
	f.Fuzz(func(t *testing.T, before, after, now string) {
		if !utf8.ValidString(before) || !utf8.ValidString(after) || !utf8.ValidString(now) {
			t.Skip()
		}
		made := text.Diff(before, after)
		edits, conflicts := undone(before, made, now)
		last := 0
		for _, e := range edits {
			if e.Start < last || e.End < e.Start || e.End > len(now) {
				t.Fatalf("%v of %q", edits, now)
			}
			last = e.End
		}
		if got := text.Apply(now, edits); now == after && got != before {
			t.Fatalf("%q, want %q", got, before)
		}
		for _, at := range conflicts {
			if at < 0 || at > len(now) {
				t.Fatalf("a conflict at %d of %q", at, now)
			}
		}
		landed, left := shown(before, made, now)
		if len(landed)+len(left) == 0 && len(made) > 0 {
			t.Fatalf("%v is neither here nor there", made)
		}
	})
}
