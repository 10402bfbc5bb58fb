package review

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/tools/changeset"
)

// A user types at any moment and an editor does an edit, part of it, or
// nothing, and answers what it likes: what is said to be applied is there
// exactly once, nothing else of the agent's is, and what the user typed stays.
func TestNothingIsLostOrClaimed(t *testing.T) {
	const lines = 30
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			var text []string
			for i := range lines {
				text = append(text, fmt.Sprintf("line %02d 😀", i))
			}
			d := newDesk(t, everything, map[string]string{"f": strings.Join(text, "\n") + "\n"})
			d.applier.settleWithin = 30 * time.Millisecond
			d.open("f", 1)
			proposed := slices.Clone(text)
			for i := range lines {
				if r.IntN(4) == 0 {
					proposed[i] = fmt.Sprintf("line %02d agent", i)
				}
			}
			d.propose("f", strings.Join(proposed, "\n")+"\n")

			var typed []string
			user := func() {
				for range r.IntN(3) {
					word := fmt.Sprintf("user%d", len(typed))
					now := strings.Split(d.text("f"), "\n")
					at := r.IntN(len(now) - 1)
					if r.IntN(2) == 0 {
						now = slices.Insert(now, at, word)
					} else {
						now[at] += " " + word
					}
					typed = append(typed, word)
					d.typeAll("f", strings.Join(now, "\n"))
				}
			}
			d.answer = func(_ context.Context, p applyEditParams) (any, error) {
				if r.IntN(2) == 0 {
					user()
				}
				res := applyEditResult{Applied: r.IntN(2) == 0}
				edit := p.Edit.DocumentChanges[0].(textDocumentEdit)
				switch r.IntN(4) {
				case 0:
				case 1: // some of them
					edit.Edits = slices.DeleteFunc(edit.Edits, func(textEdit) bool { return r.IntN(2) == 0 })
					p.Edit.DocumentChanges[0] = edit
					d.apply(p)
				default:
					res = d.apply(p)
				}
				if r.IntN(3) == 0 {
					user()
				}
				return res, nil
			}
			applied := map[string]bool{}
			for range 4 {
				user()
				p := d.set.Proposal()
				if len(p.Files) == 0 {
					break
				}
				wanted := map[string]string{}
				for _, h := range p.Files[0].Hunks {
					wanted[h.HunkID] = h.NewText
				}
				results, err := d.applier.Resolve(t.Context(), d.set, Request{Revision: p.Revision, Decisions: []changeset.Decision{{All: true, Verdict: changeset.Accept}}})
				if err != nil {
					t.Fatal(err)
				}
				for _, res := range results {
					for line := range strings.Lines(wanted[res.HunkID]) {
						if strings.Contains(line, "agent") {
							applied[line[:len("line 00")]] = res.State == changeset.Applied
						}
					}
				}
			}
			final := d.text("f")
			for _, word := range typed {
				if strings.Count(final, word+"\n")+strings.Count(final, word+" ") != 1 {
					t.Errorf("%s was typed and is there %d times", word, strings.Count(final, word))
				}
			}
			for line, is := range applied {
				if n := strings.Count(final, line+" agent"); n > 1 || is != (n == 1) {
					t.Errorf("%s: said applied %v, is there %d times", line, is, n)
				}
				if n := strings.Count(final, line); n != 1 {
					t.Errorf("%s is there %d times", line, n)
				}
			}
			if t.Failed() {
				t.Logf("final text:\n%s", final)
			}
		})
	}
}
