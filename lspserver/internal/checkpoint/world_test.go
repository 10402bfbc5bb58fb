package checkpoint

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// world is an editor with its files, a session's proposal and its log.
type world struct {
	t    *testing.T
	docs map[string]changeset.Doc
	set  *changeset.Set
	log  *Log
	now  time.Time
	// during is called in the middle of an apply, after the editor did it.
	during func()
	// refuses says which files the editor leaves alone, and why.
	refuses func(changeset.FileEdit) string
	stored  []Saved
}

func roundTrip(t *testing.T, s Saved) Saved {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Saved
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// newWorld makes files of pairs of path and content.
func newWorld(t *testing.T, files ...string) *world {
	w := &world{t: t, docs: map[string]changeset.Doc{}, now: time.Unix(1, 0).UTC()}
	for i := 0; i < len(files); i += 2 {
		w.docs[files[i]] = changeset.Doc{Text: files[i+1], Exists: true}
	}
	w.set, w.log = changeset.New(w), New(w)
	return w
}

// Base is the source of everything.
func (w *world) Base(path string) (changeset.Doc, error) { return w.docs[path], nil }

// user changes a document.
func (w *world) user(path, content string) {
	d := w.docs[path]
	d.Text = content
	if !d.Exists {
		d.Open = true
	}
	w.put(path, d)
}

// types replaces the one place where old stands.
func (w *world) types(path, old, new string) {
	w.t.Helper()
	now := w.docs[path].Text
	if strings.Count(now, old) != 1 {
		w.t.Fatalf("%q is not once in %q", old, now)
	}
	w.user(path, strings.Replace(now, old, new, 1))
}

func (w *world) put(path string, d changeset.Doc) {
	if d == (changeset.Doc{}) {
		delete(w.docs, path)
	} else {
		w.docs[path] = d
	}
	w.set.Rebase(path, d)
}

func (w *world) write(path, content string) {
	w.t.Helper()
	if _, err := w.set.Write(path, content, changeset.Origin{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) edit(path, old, new string) {
	w.t.Helper()
	d, err := w.set.Read(path)
	if err != nil || strings.Count(d.Text, old) != 1 {
		w.t.Fatalf("%q in %q: %v", old, d.Text, err)
	}
	i := strings.Index(d.Text, old)
	if _, err := w.set.Edit(path, d.Text, []text.Edit{{Start: i, End: i + len(old), New: new}}, changeset.Origin{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) delete(path string) {
	w.t.Helper()
	if _, err := w.set.Delete(path, changeset.Origin{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) move(from, to string) {
	w.t.Helper()
	if _, err := w.set.Move(from, to, changeset.Origin{}); err != nil {
		w.t.Fatal(err)
	}
}

// accept applies all of the proposal, or what is decided, for a run.
func (w *world) accept(runID string, ds ...changeset.Decision) []changeset.Result {
	w.t.Helper()
	if len(ds) == 0 {
		ds = []changeset.Decision{{All: true, Verdict: changeset.Accept}}
	}
	files, results := w.resolve(w.set, ds)
	if dropped := w.log.Applied(runID, files, results, w.tick()); len(dropped) > 0 {
		w.t.Logf("dropped: %v", dropped)
	}
	w.store()
	return results
}

func (w *world) resolve(set *changeset.Set, ds []changeset.Decision) ([]changeset.FileEdit, []changeset.Result) {
	w.t.Helper()
	b, err := set.Resolve(set.Proposal().Revision, ds)
	if err != nil {
		w.t.Fatal(err)
	}
	files := slices.Clone(b.Files)
	why := ""
	for _, f := range files {
		if w.refuses != nil {
			if reason := w.refuses(f); reason != "" {
				why = reason
				continue
			}
		}
		w.apply(f)
	}
	if w.during != nil {
		w.during()
	}
	return files, set.Settle(b, w.Base, why)
}

// apply does what an editor does.
func (w *world) apply(f changeset.FileEdit) {
	w.t.Helper()
	d := w.docs[f.Document()]
	there := d.Exists || d.Open
	if there == (f.Op == changeset.OpCreate) || there && d.Text != f.Base {
		w.t.Fatalf("an edit %+v of %+v", f, d)
	}
	switch f.Op {
	case changeset.OpCreate:
		w.put(f.Path, changeset.Doc{Text: f.Want, Exists: true})
	case changeset.OpDelete:
		w.put(f.Path, changeset.Doc{})
	case changeset.OpModify:
		d.Text = text.Apply(d.Text, f.Edits)
		w.put(f.Path, d)
	case changeset.OpRename:
		if t := w.docs[f.Path]; t.Exists || t.Open {
			w.t.Fatalf("%s is moved over %s", f.OldPath, f.Path)
		}
		d.Text = text.Apply(d.Text, f.Edits)
		w.put(f.OldPath, d)
		delete(w.docs, f.OldPath)
		w.docs[f.Path] = d
		w.set.Rebase(f.OldPath, changeset.Doc{})
		w.set.Rebase(f.Path, d)
	}
}

// restore goes back to a checkpoint.
func (w *world) restore(id string) Restored {
	w.t.Helper()
	u, err := w.log.Plan(id)
	if err != nil {
		w.t.Fatal(err)
	}
	files, results := w.resolve(u.Set, []changeset.Decision{{All: true, Verdict: changeset.Accept}})
	r := w.log.Done(u, files, results, w.tick())
	w.store()
	return r
}

// undo goes back to before a run and says what came of it.
func (w *world) undo(runID string) string {
	w.t.Helper()
	return sketch(w.restore(w.newest(runID)))
}

// restart makes the log anew of what was stored.
func (w *world) restart() {
	w.t.Helper()
	w.store()
	before := w.list()
	log, err := Restore(w, w.stored)
	if err != nil {
		w.t.Fatal(err)
	}
	w.log = log
	w.wantList(before)
}

// store keeps what a front end would, as JSON.
func (w *world) store() {
	w.t.Helper()
	if s, ok := w.log.Unsaved(); ok {
		w.stored = append(w.stored, roundTrip(w.t, s))
	}
}

func (w *world) tick() time.Time {
	w.now = w.now.Add(time.Second)
	return w.now
}

// newest is the id of the newest checkpoint of a run.
func (w *world) newest(runID string) string {
	w.t.Helper()
	for _, c := range w.log.List() {
		if c.RunID == runID {
			return c.ID
		}
	}
	w.t.Fatalf("no checkpoint of %q in %v", runID, w.list())
	return ""
}

// list is the checkpoints in short: run and files.
func (w *world) list() string {
	var out []string
	for _, c := range w.log.List() {
		out = append(out, fmt.Sprintf("%s(%s)", c.RunID, strings.Join(c.Files, " ")))
	}
	return strings.Join(out, " ")
}

func (w *world) wantList(want string) {
	w.t.Helper()
	if got := w.list(); got != want {
		w.t.Errorf("checkpoints: %s, want %s", got, want)
	}
}

// tree is all files in short.
func (w *world) tree() string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(w.docs)) {
		if d := w.docs[p]; d.Exists || d.Open {
			out = append(out, fmt.Sprintf("%s=%q", p, d.Text))
		}
	}
	return strings.Join(out, " ")
}

func (w *world) want(tree string) {
	w.t.Helper()
	if got := w.tree(); got != tree {
		w.t.Errorf("files: %s\nwant:  %s", got, tree)
	}
}

// sketch is results in short.
func sketch(r Restored) string {
	var out []string
	for _, s := range r.Results {
		line := s.Path + " " + string(s.State)
		if s.Reason != "" {
			line += " (" + s.Reason + ")"
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}
