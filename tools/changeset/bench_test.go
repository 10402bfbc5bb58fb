package changeset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentls/agentls/tools/text"
)

// bigFile is n lines, of which every step-th is changed by the agent.
func bigFile(n, step int) (base, proposed string) {
	var a, b strings.Builder
	for i := range n {
		line := fmt.Sprintf("\tvalue%d := compute(%d, %q)\n", i%977, i%50, "some name")
		if i%7 == 0 {
			line = "\n"
		}
		a.WriteString(line)
		if i%step == step/2 {
			line = fmt.Sprintf("\tother%d := compute(%d)\n", i, i)
		}
		b.WriteString(line)
	}
	return a.String(), b.String()
}

type oneFile struct{ doc Doc }

func (o *oneFile) Base(string) (Doc, error) { return o.doc, nil }

func proposalOf(b *testing.B, base, proposed string) *Set {
	b.Helper()
	s := New(&oneFile{Doc{Text: base, Exists: true, Open: true}})
	if _, err := s.Write("f", proposed, Origin{}); err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkPropose(b *testing.B) {
	base, proposed := bigFile(100_000, 100)
	b.Run("100000 lines 1000 edits", func(b *testing.B) {
		for b.Loop() {
			s := proposalOf(b, base, proposed)
			if n := len(s.Proposal().Files[0].Hunks); n != 1000 {
				b.Fatal(n)
			}
		}
	})
	b.Run("patch", func(b *testing.B) {
		f := proposalOf(b, base, proposed).Proposal().Files[0]
		for b.Loop() {
			f.Patch("f", "")
		}
	})
}

// A keystroke while 2,000 hunks wait in a file of 200,000 lines.
func BenchmarkRebase(b *testing.B) {
	base, proposed := bigFile(200_000, 100)
	middle := strings.Index(base[len(base)/2:], "\n") + len(base)/2
	hunk := strings.Index(proposed[len(proposed)/2:], "other") + len(proposed)/2
	for name, at := range map[string]int{"first line": 0, "middle": middle, "last line": len(base), "in a hunk": hunk} {
		b.Run(name, func(b *testing.B) {
			s := proposalOf(b, base, proposed)
			if n := len(s.Proposal().Files[0].Hunks); n != 2000 {
				b.Fatal(n)
			}
			typed := base[:at] + "x" + base[at:]
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				t := typed
				if i%2 == 1 {
					t = base
				}
				s.Rebase("f", Doc{Text: t, Exists: true, Open: true})
			}
		})
	}
	b.Run("reload", func(b *testing.B) {
		s := proposalOf(b, base, proposed)
		other := strings.ReplaceAll(base, "\tvalue1 ", "\tvalue one ")
		for i := 0; b.Loop(); i++ {
			t := other
			if i%2 == 1 {
				t = base
			}
			s.Rebase("f", Doc{Text: t, Exists: true, Open: true})
		}
	})
}

// One more edit of the agent onto 2,000 hunks.
func BenchmarkCompose(b *testing.B) {
	base, proposed := bigFile(200_000, 100)
	s := proposalOf(b, base, proposed)
	at := strings.Index(proposed[len(proposed)/2:], "other") + len(proposed)/2
	for i := 0; b.Loop(); i++ {
		d, err := s.Read("f")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Edit("f", d.Text, []text.Edit{{Start: at, End: at + 5, New: fmt.Sprintf("%05d", i%100000)}}, Origin{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Accepting 500 hunks in 50 files, without the editor.
func BenchmarkAccept(b *testing.B) {
	base, proposed := bigFile(1000, 100)
	for b.Loop() {
		w := &world{docs: map[string]Doc{}}
		w.set = New(w)
		for i := range 50 {
			path := fmt.Sprint("f", i)
			w.put(path, Doc{Text: base, Exists: true})
			if _, err := w.set.Write(path, proposed, Origin{}); err != nil {
				b.Fatal(err)
			}
		}
		batch, err := w.set.Resolve(w.set.Proposal().Revision, []Decision{{All: true, Verdict: Accept}})
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range batch.Files {
			d := Doc{Text: e.Want, Exists: true}
			w.put(e.Path, d)
			w.set.Rebase(e.Path, d)
		}
		if rs := w.set.Settle(batch, w.Base, ""); len(rs) != 500 || rs[0].State != Applied {
			b.Fatal(len(rs))
		}
	}
}
