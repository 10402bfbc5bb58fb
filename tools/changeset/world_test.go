package changeset

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentls/agentls/tools/text"
)

// world is an editor with its files, and a proposal over them.
type world struct {
	t   *testing.T
	set *Set

	mu   sync.Mutex
	docs map[string]Doc
	ids  map[string]bool // every hunk and file id that was ever shown
}

// newWorld makes files of pairs of path and content.
func newWorld(t *testing.T, files ...string) *world {
	w := &world{t: t, docs: map[string]Doc{}, ids: map[string]bool{}}
	for i := 0; i < len(files); i += 2 {
		w.docs[files[i]] = Doc{Text: files[i+1], Exists: true}
	}
	w.set = New(w)
	return w
}

// Base is the set's source.
func (w *world) Base(path string) (Doc, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.docs[path], nil
}

func (w *world) put(path string, d Doc) {
	w.mu.Lock()
	w.docs[path] = d
	w.mu.Unlock()
}

// user changes a document, which the set hears of.
func (w *world) user(path, content string) Moves {
	w.t.Helper()
	return w.now(path, Doc{Text: content, Exists: true, Open: true})
}

// remove takes a document away.
func (w *world) remove(path string) Moves { return w.now(path, Doc{}) }

func (w *world) now(path string, d Doc) Moves {
	w.t.Helper()
	w.put(path, d)
	m := w.set.Rebase(path, d)
	w.check()
	return m
}

func (w *world) content(path string) string {
	d, _ := w.Base(path)
	return d.Text
}

// Calls of the agent. They must work.

func (w *world) write(path, content string) Change {
	w.t.Helper()
	return w.did(w.set.Write(path, content, Origin{ToolCallID: "w"}))
}

func (w *world) edit(path, old, new string) Change {
	w.t.Helper()
	d, err := w.set.Read(path)
	if err != nil || strings.Count(d.Text, old) != 1 {
		w.t.Fatalf("edit of %q in %q: %v", old, d.Text, err)
	}
	i := strings.Index(d.Text, old)
	return w.did(w.set.Edit(path, d.Text, []text.Edit{{Start: i, End: i + len(old), New: new}}, Origin{ToolCallID: "e"}))
}

func (w *world) delete(path string) Change {
	w.t.Helper()
	return w.did(w.set.Delete(path, Origin{ToolCallID: "d"}))
}

func (w *world) move(from, to string) Change {
	w.t.Helper()
	return w.did(w.set.Move(from, to, Origin{ToolCallID: "m"}))
}

func (w *world) did(c Change, err error) Change {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	w.check()
	return c
}

func (w *world) read(path string) string {
	w.t.Helper()
	d, err := w.set.Read(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if !d.Exists {
		return "(none)"
	}
	return d.Text
}

// sketch is a proposal in lines: `modify a 2 hunks …`.
func (w *world) sketch() string {
	w.check()
	var lines []string
	for _, f := range w.set.Proposal().Files {
		line := string(f.Op) + " " + f.Path
		if f.Op == OpRename {
			line = string(f.Op) + " " + f.OldPath + ">" + f.Path
		}
		if f.State != Pending {
			line += " " + string(f.State)
		}
		for _, h := range f.Hunks {
			line += fmt.Sprintf(" %q>%q", h.OldText, h.NewText)
			if h.State != Pending {
				line += string(h.State)
			}
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

func (w *world) want(sketch string) {
	w.t.Helper()
	if got := w.sketch(); got != sketch {
		w.t.Errorf("proposal: %s\nwant:     %s", got, sketch)
	}
}

func (w *world) file(path string) File {
	w.t.Helper()
	for _, f := range w.set.Proposal().Files {
		if f.Path == path || f.OldPath == path {
			return f
		}
	}
	w.t.Fatalf("no file %s in %s", path, w.sketch())
	return File{}
}

// check holds what is true of every proposal.
func (w *world) check() {
	w.t.Helper()
	p := w.set.Proposal()
	ids := map[string]bool{}
	id := func(s string) {
		if ids[s] {
			w.t.Errorf("id %s twice", s)
		}
		ids[s], w.ids[s] = true, true
	}
	for _, f := range p.Files {
		id(f.FileID)
		doc, _ := w.Base(f.Document())
		// A create that is moved in flight may find a file where it goes then.
		if f.Base != doc.Text && !(f.Op == OpCreate && f.State == Conflicted) {
			w.t.Errorf("%s: base %q, the document is %q", f.Path, f.Base, doc.Text)
		}
		if f.Op == OpCreate && len(f.Hunks) != 1 || f.Op == OpDelete && len(f.Hunks) != 0 || f.Op == OpModify && len(f.Hunks) == 0 {
			w.t.Errorf("%s of %s has %d hunks", f.Op, f.Path, len(f.Hunks))
		}
		last, worst := 0, f.State
		var cores []text.Edit
		for _, h := range f.Hunks {
			id(h.HunkID)
			if h.Start < last || h.End < h.Start || h.End > len(f.Base) {
				w.t.Errorf("%s: hunks %+v are not sorted and disjoint", f.Path, f.Hunks)
				return
			}
			last = h.End
			if f.Base[h.Start:h.End] != h.OldText {
				w.t.Errorf("%s: hunk %s has the old text %q, the document %q", f.Path, h.HunkID, h.OldText, f.Base[h.Start:h.End])
			}
			if h.State == Pending && h.OldText == h.NewText && f.Op != OpCreate {
				w.t.Errorf("%s: hunk %s changes nothing", f.Path, h.HunkID)
			}
			if h.State != Conflicted {
				cores = append(cores, h.Core())
			}
			if h.State.worse(f.State) {
				worst = h.State
			}
		}
		if worst != f.State {
			w.t.Errorf("%s is %s, its worst hunk %s", f.Path, f.State, worst)
		}
		if f.Op == OpDelete {
			continue
		}
		if got := text.Apply(f.Base, cores); got != f.Proposed() {
			w.t.Errorf("%s: what is sent makes %q, what is shown %q", f.Path, got, f.Proposed())
		}
	}
}

// Verdicts.

func (w *world) decide(ds ...Decision) []Result {
	w.t.Helper()
	b, err := w.set.Resolve(w.set.Proposal().Revision, ds)
	if err != nil {
		w.t.Fatal(err)
	}
	w.check()
	for _, e := range b.Files {
		w.apply(e)
	}
	rs := w.set.Settle(b, w.Base, "")
	w.check()
	return rs
}

func (w *world) acceptAll() []Result {
	w.t.Helper()
	return w.decide(Decision{All: true, Verdict: Accept})
}

// apply does what an editor does with an edit, and tells the set.
func (w *world) apply(e FileEdit) {
	w.t.Helper()
	doc := w.content(e.Document())
	if e.Op != OpCreate && doc != e.Base {
		w.t.Errorf("an edit of %q is for %q", doc, e.Base)
	}
	switch e.Op {
	case OpCreate:
		if d, _ := w.Base(e.Path); d.there() {
			w.t.Errorf("%s is to be created over a file", e.Path)
		}
		w.user(e.Path, e.Want)
	case OpModify:
		w.user(e.Path, applyStrictly(w.t, doc, e.Edits))
	case OpDelete:
		w.remove(e.Path)
	case OpRename:
		if len(e.Edits) > 0 {
			w.user(e.OldPath, applyStrictly(w.t, doc, e.Edits))
		}
		if d, _ := w.Base(e.Path); d.there() {
			w.t.Errorf("%s is to be moved over a file", e.OldPath)
		}
		d, _ := w.Base(e.OldPath)
		w.put(e.OldPath, Doc{})
		w.put(e.Path, d)
		w.set.Rebase(e.OldPath, Doc{})
		w.set.Rebase(e.Path, d)
		w.check()
	}
}

// applyStrictly refuses edits that an editor would refuse.
func applyStrictly(t *testing.T, s string, edits []text.Edit) string {
	t.Helper()
	last := -1
	for _, e := range edits {
		if e.Start < last || e.End < e.Start || e.End > len(s) {
			t.Fatalf("edits %+v of %q overlap", edits, s)
		}
		last = e.End
	}
	return text.Apply(s, edits)
}

// tree is every document as text, for comparing.
func (w *world) tree() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(w.docs)) {
		if d := w.docs[p]; d.there() {
			fmt.Fprintf(&b, "%s=%q ", p, d.Text)
		}
	}
	return strings.TrimSpace(b.String())
}

func states(rs []Result) string {
	var out []string
	for _, r := range rs {
		out = append(out, string(r.State))
	}
	return strings.Join(out, " ")
}

func ptr(s string) *string { return &s }
