package checkpoint

import (
	"encoding/json"
	"testing"
)

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

// C062: undoing a run restores; only what it created goes.
func TestRestoreIsNotDelete(t *testing.T) {
	w := newWorld(t, "a", "one\ntwo\nthree\n")
	w.edit("a", "two", "TWO")
	w.write("b", "new\n")
	w.accept("r1")
	w.want(`a="one\nTWO\nthree\n" b="new\n"`)
	w.types("a", "three", "three and more")
	w.wantList("r1(a b)")
	r := w.restore(w.newest("r1"))
	if got := sketch(r); got != "a applied; b applied" {
		t.Error(got)
	}
	w.want(`a="one\ntwo\nthree and more\n"`)
	w.wantList("")
	w.restore(r.Redo)
	w.want(`a="one\nTWO\nthree and more\n" b="new\n"`)
	w.wantList("r1(a b)")
}
