package changeset

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSummarise(t *testing.T) {
	w := newWorld(t, "f", tenLines, "d", "D\n", "r", "R\n")
	w.edit("f", "\n2\n", "\ntwo\n")
	w.edit("f", "\n4\n", "\n\n")
	w.edit("f", "\n6\n", "\nsix\n")
	w.edit("f", "\n8\n", "\neight\n")
	w.edit("f", "\n10\n", "\nten\n")
	w.write("n", "N\n")
	w.delete("d")
	w.move("r", "s")
	ids := strings.Fields(hunkIDs(w.file("f")))
	w.user("f", strings.Replace(tenLines, "8\n", "VIII\n", 1))
	w.decide(
		Decision{HunkID: ids[0], Verdict: Accept},
		Decision{HunkID: ids[1], Verdict: Accept},
		Decision{HunkID: ids[2], Verdict: Edit, NewText: ptr("VI\nVI.5\n")},
		Decision{HunkID: ids[3], Verdict: Accept},
		Decision{HunkID: ids[4], Verdict: Reject, Comment: "ten is\nno word"},
		Decision{FileID: w.file("n").FileID, Verdict: Reject},
		Decision{FileID: w.file("d").FileID, Verdict: Accept, Comment: "thanks"},
	)
	b := w.resolveAll()
	w.set.Settle(b, w.Base, "the editor cannot rename files")
	w.user("f", strings.Replace(w.content("f"), "VIII", "eight", 1))
	got := Summarise(w.set.TakeOutcomes(), func(p string) string { return "ws/" + p })
	want := `What became of your proposed changes:
- ws/f: rejected; it is out of your view of the file. The user says:
    ten is
    no word
    line 10: ten
- ws/n: the new file rejected; it is out of your view of the file.
- ws/f: accepted, but not applied: it is in conflict (the text was changed in the editor).
    line 8: eight
- ws/f: accepted and applied.
    line 2: two
    line 4: 4 (removed)
- ws/f: applied with the user's own text instead of yours. The user's text is:
    VI
    VI.5
    line 6: six
- ws/d: its deletion accepted and applied. The user says: thanks
- ws/f: accepted, but not applied: it is in conflict (the text was changed in the editor).
    line 9: eight
- ws/r -> ws/s: the move accepted, but not applied (the editor cannot rename files); it still waits.
- ws/f: the user already made this change.
    line 9: eight`
	if got != want {
		t.Errorf("%s\n\nwant\n%s", got, want)
	}
	if got := Summarise(nil, nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

// Whatever the outcomes, the message is bounded and valid.
func TestSummaryIsBounded(t *testing.T) {
	var many []Outcome
	for i := range 5000 {
		many = append(many, Outcome{Path: "f", HunkID: "h", Line: i, Text: strings.Repeat("阴", 39), State: Modified, Verdict: Edit,
			UserText: strings.Repeat("阴", 5000), Comment: strings.Repeat("😀", 5000)})
	}
	got := Summarise(many, func(p string) string { return p })
	if len(got) > maxSummary+maxUserText+maxComment+1000 || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
	if !strings.Contains(got, "more") {
		t.Error("nothing said of the rest")
	}
	for i := range many {
		many[i].State, many[i].UserText, many[i].Comment = Applied, "", ""
	}
	if got := Summarise(many, func(p string) string { return p }); len(got) > 3000 {
		t.Errorf("%d bytes for hunks that are all alike", len(got))
	}
}
