package review

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

func TestQuestion(t *testing.T) {
	d := newDesk(t, everything, map[string]string{"a.go": before, "d": "x\n", "r": "r\n"})
	d.propose("a.go", after)
	want(t, "question", Question(d.set.Proposal(), d.applier.Display), "agentls proposes changes to 1 file (+2 -2): a.go")
	d.propose("n", "1\n2\n")
	d.remove("d")
	d.move("r", "s")
	for i := range 4 {
		d.propose(fmt.Sprint(i), "")
	}
	want(t, "question", Question(d.set.Proposal(), d.applier.Display),
		"agentls proposes changes to 8 files (+4 -3): a.go, n (new), d (deleted), r → s, 0 (new), and 3 more")
}

func TestLensesAndActions(t *testing.T) {
	d := newDesk(t, everything, map[string]string{"a.go": before, "d": "x\n", "r": "r\n"})
	d.propose("a.go", after)
	d.propose("n", "1\n")
	d.remove("d")
	d.move("r", "s")
	p := d.set.Proposal()
	describe := func(name string) string {
		var s []string
		for _, l := range Lenses("s", p, d.path(name), text.UTF16) {
			if l.Range.Start != l.Range.End {
				t.Errorf("a lens spans %v", l.Range)
			}
			s = append(s, fmt.Sprintf("%d %s %s", l.Range.Start.Line, l.Command.Title, l.Command.Command))
		}
		return strings.Join(s, "\n")
	}
	three := func(line int) string {
		return fmt.Sprintf("%[1]d Apply agentls.accept\n%[1]d Reject agentls.reject\n%[1]d Show diff agentls.showDiff", line)
	}
	want(t, "lenses", describe("a.go"), three(2)+"\n"+three(6))
	want(t, "lenses of a new file", describe("n"), three(0))
	want(t, "lenses of a deleted file", describe("d"), three(0))
	want(t, "lenses of a moved file", describe("r"), three(0))
	want(t, "lenses at its new place", describe("s"), "")
	want(t, "lenses elsewhere", describe("other"), "")

	at := func(line uint32) (titles []string) {
		r := ext.Range{Start: ext.Position{Line: line, Character: 3}, End: ext.Position{Line: line, Character: 3}}
		for _, a := range Actions("s", p, d.path("a.go"), text.UTF16, r) {
			titles = append(titles, a.Title)
			var id string
			if err := json.Unmarshal(a.Command.Arguments[0], &id); err != nil || id != p.Files[0].Hunks[1].HunkID {
				t.Errorf("argument %s, %v", a.Command.Arguments[0], err)
			}
		}
		return titles
	}
	want(t, "actions", strings.Join(at(6), "\n"), "Apply: change -1 +1\nReject: change -1 +1\nShow diff: change -1 +1")
	want(t, "actions between hunks", strings.Join(at(4), "\n"), "")
}

func TestWire(t *testing.T) {
	d := newDesk(t, everything, map[string]string{"e mpty#.ts": "const 🍋 = 1; foo(1);\n\nx\n", "r": "r\n"})
	d.propose("e mpty#.ts", "const 🍋 = 1; bar(1);\n\nx\ny\n")
	d.move("r", "s")
	odd := strings.Replace(d.uri("e mpty#.ts"), "e%20mpty", "%65%20mpty", 1)
	d.check(d.docs.Open(odd, "typescript", 1, d.onDisk("e mpty#.ts")))
	p := Wire(d.set.Proposal(), d.docs, text.UTF16, d.applier.Display)
	f := p.Files[0]
	want(t, "uri", f.URI, odd)
	wantLike(t, "patch", f.Patch, "+++ b/e mpty#.ts")
	if f.Op != "modify" || f.Added != 2 || f.Removed != 1 || f.State != "pending" || len(f.Hunks) != 2 {
		t.Errorf("got %+v", f)
	}
	if r := f.Hunks[0].Range; r != (ext.Range{End: ext.Position{Line: 1}}) {
		t.Errorf("range %+v", r)
	}
	if h := f.Hunks[1]; h.Range.Start != h.Range.End || h.Range.Start.Line != 3 || h.NewText != "y\n" || h.OldText != "" {
		t.Errorf("insertion %+v", h)
	}
	if r := p.Files[1]; r.Op != "rename" || r.URI != d.uri("s") || r.OldURI != d.uri("r") || r.Hunks == nil {
		t.Errorf("rename %+v", r)
	}
	raw, err := json.Marshal(Wire(changeset.Proposal{}, d.docs, text.UTF16, nil))
	if err != nil || !strings.Contains(string(raw), `"files":[]`) {
		t.Errorf("an empty proposal is %s, %v", raw, err)
	}
}
