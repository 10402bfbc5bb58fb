package review

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// BenchmarkAccept accepts 500 hunks in 50 open files of 1,000 lines. The editor
// costs next to nothing: it has the result ready.
func BenchmarkAccept(b *testing.B) {
	var before, after strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&before, "\tline%d := compute(ctx, %d)\n", i, i)
		if i%100 == 50 {
			fmt.Fprintf(&after, "\tline%d := recompute(ctx, %d, 😀)\n", i, i)
		} else {
			fmt.Fprintf(&after, "\tline%d := compute(ctx, %d)\n", i, i)
		}
	}
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("f%d.go", i)] = before.String()
	}
	for b.Loop() {
		b.StopTimer()
		d := newDesk(b, everything, files)
		for name := range files {
			d.open(name, 1)
			d.propose(name, after.String())
		}
		d.answer = func(_ context.Context, p applyEditParams) (any, error) {
			for _, c := range p.Edit.DocumentChanges {
				uri := c.(textDocumentEdit).TextDocument.URI
				d.check(d.docs.Change(uri, 2, []document.Change{{Text: after.String()}}))
			}
			return applyEditResult{Applied: true}, nil
		}
		b.StartTimer()
		results, err := d.applier.Resolve(b.Context(), d.set, Request{
			Revision: d.set.Proposal().Revision, Decisions: []changeset.Decision{{All: true, Verdict: changeset.Accept}},
		})
		b.StopTimer()
		if err != nil || len(results) != 500 {
			b.Fatalf("%d results, %v", len(results), err)
		}
		for _, r := range results {
			if r.State != changeset.Applied {
				b.Fatalf("%+v", r)
			}
		}
		b.StartTimer()
	}
}

// BenchmarkKeystroke types into a file of 20,000 lines with 2,000 hunks
// waiting: what the reader of a connection is kept from reading.
func BenchmarkKeystroke(b *testing.B) {
	var before, after strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&before, "\tline%d := compute(ctx, %d)\n", i, i)
		if i%10 == 5 {
			fmt.Fprintf(&after, "\tline%d := recompute(ctx, %d, 😀)\n", i, i)
		} else {
			fmt.Fprintf(&after, "\tline%d := compute(ctx, %d)\n", i, i)
		}
	}
	d := newDesk(b, everything, map[string]string{"f.go": before.String()})
	d.open("f.go", 1)
	d.propose("f.go", after.String())
	at := text.Position{Line: 10_000, Character: 5}
	version := int32(1)
	for b.Loop() {
		version++
		if err := d.docs.Change(d.uri("f.go"), version, []document.Change{{Range: &document.Range{Start: at, End: at}, Text: "x"}}); err != nil {
			b.Fatal(err)
		}
	}
}
