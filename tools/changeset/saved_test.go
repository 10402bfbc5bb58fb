package changeset

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// reborn saves the proposal, and restores it over the documents as they are.
func (w *world) reborn() {
	w.t.Helper()
	b, err := json.Marshal(w.set.Save())
	if err != nil {
		w.t.Fatal(err)
	}
	var saved Saved
	if err := json.Unmarshal(b, &saved); err != nil {
		w.t.Fatal(err)
	}
	if w.set, err = Restore(w, saved); err != nil {
		w.t.Fatal(err)
	}
	w.check()
}

func everything(t *testing.T) *world {
	w := newWorld(t, "m", "M\nN\nO\n", "r", "R\n", "d", "D\n", "c", "C\n", "g", "G\n")
	w.edit("m", "M", "MM")
	w.edit("m", "O", "OO")
	w.user("m", "M!!\nN\nOOO\n")
	w.move("r", "s")
	w.edit("s", "R", "RR")
	w.delete("d")
	w.write("n", "N\r\n\u2028😀")
	w.write("e", "")
	w.edit("g", "G", "GG")
	w.remove("g")
	w.decide(Decision{FileID: w.file("n").FileID, Verdict: Reject, Comment: "no"})
	w.write("n", "again\n")
	return w
}

func TestSurvival(t *testing.T) {
	w := everything(t)
	before := w.set.Proposal()
	w.reborn()
	opt := []cmp.Option{cmpopts.IgnoreUnexported(File{}, Hunk{})}
	if d := cmp.Diff(before, w.set.Proposal(), opt...); d != "" {
		t.Errorf("restored (-before +after):\n%s", d)
	}
	for i, f := range w.set.Proposal().Files {
		for j, h := range f.Hunks {
			if h.Core() != before.Files[i].Hunks[j].Core() {
				t.Errorf("%s: core %v, was %v", f.Path, h.Core(), before.Files[i].Hunks[j].Core())
			}
		}
	}
	if o := w.set.TakeOutcomes(); len(o) != 1 || o[0].Comment != "no" {
		t.Errorf("outcomes %+v", o)
	}
	// New ids are new, and what was seen before is not stale.
	for id := range w.ids {
		if w.write("z", "Z\n").FileID == id {
			t.Errorf("id %s again", id)
		}
	}
	if _, err := w.set.Resolve(before.Revision, []Decision{{HunkID: before.Files[0].Hunks[1].HunkID, Verdict: Accept}}); err != nil {
		t.Error(err)
	}
	// The conflict dissolves as it would have.
	w.user("m", "M\nN\nOOO\n")
	if h := w.file("m").Hunks[0]; h.State != Pending || h.NewText != "MM\n" {
		t.Errorf("%+v", h)
	}
}

func TestDocumentsChangedWhileDown(t *testing.T) {
	w := everything(t)
	w.put("m", Doc{Text: "0\nM\nN\nOO\n", Exists: true})
	w.put("n", Doc{Text: "again\n", Exists: true})
	w.put("d", Doc{})
	w.put("s", Doc{Text: "R\n", Exists: true})
	w.put("r", Doc{})
	w.reborn()
	w.want(`create e "">""; modify g conflicted "">"GG"conflicted; modify m "M\n">"MM\n"; modify s "R\n">"RR\n"`)
}

// The server dies while the editor applies. What is done is known to be done,
// with the verdict and the user's own text; the rest waits.
func TestDeathInFlight(t *testing.T) {
	for _, landed := range []bool{true, false} {
		w := threeHunks(t)
		w.put("d", Doc{Text: "D\n", Exists: true})
		w.delete("d")
		b, err := w.set.Resolve(w.set.Proposal().Revision, []Decision{
			{HunkID: "h2", Verdict: Edit, NewText: ptr("II\n")}, {HunkID: "h3", Verdict: Accept, Comment: "good"}, {FileID: w.file("d").FileID, Verdict: Accept}})
		if err != nil {
			t.Fatal(err)
		}
		if landed {
			w.put("f", Doc{Text: b.Files[0].Want, Exists: true})
			w.put("d", Doc{})
		}
		w.reborn()
		want := `delete d notApplied; modify f notApplied "2\n">"two\n"notApplied "5\n">"five\n"notApplied "8\n">"eight\n"`
		if landed {
			want = `modify f "8\n">"eight\n"`
		}
		w.want(want)
		var got []string
		for _, o := range w.set.TakeOutcomes() {
			got = append(got, fmt.Sprint(o.Verdict, " ", o.State, o.Comment))
		}
		want = "edit notApplied accept notAppliedgood accept notApplied"
		if landed {
			want = "edit modified accept appliedgood accept applied"
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("the model hears %s, want %s", s, want)
		}
	}
}

func TestSavedFieldsCoverTheState(t *testing.T) {
	// A field added to file or hunk must be thought of in Save.
	if n := reflect.TypeFor[file]().NumField(); n != 22 {
		t.Errorf("file has %d fields: are they all saved, or made anew?", n)
	}
	if n := reflect.TypeFor[hunk]().NumField(); n != 15 {
		t.Errorf("hunk has %d fields: are they all saved, or made anew?", n)
	}
}

func TestRestoreRefusesNonsense(t *testing.T) {
	for _, s := range []string{
		`{"version":2}`, `{}`,
		`{"version":1,"files":[{"id":"f1","old":"f","path":"f","base":"a","exists":true,"hunks":[{"id":"h2","start":0,"end":2}]}]}`,
		`{"version":1,"files":[{"id":"f1","old":"f","path":"f","base":"a","exists":true,"hunks":[{"id":"x","start":0,"end":1}]}]}`,
		`{"version":1,"files":[{"id":"f1","old":"f","path":"f","base":"ab","exists":true,"hunks":[{"id":"h2","start":1,"end":2},{"id":"h3","start":0,"end":1}]}]}`,
	} {
		var saved Saved
		if err := json.Unmarshal([]byte(s), &saved); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(newWorld(t), saved); err == nil {
			t.Errorf("%s is taken", s)
		}
	}
}
