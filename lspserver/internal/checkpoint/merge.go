package checkpoint

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// The three-way merge is that of proposals: in a changeset of its own, over a
// text that nobody else has.

// still is a Source with one text, whatever the path.
type still string

func (s still) Base(string) (changeset.Doc, error) {
	return changeset.Doc{Text: string(s), Exists: true}, nil
}

// scratch is the name of the document in such a changeset.
const scratch = "document"

// proposed is a changeset that proposes edits of base, and edits of what they
// make, and so on.
func proposed(base string, chain ...[]text.Edit) *changeset.Set {
	set := changeset.New(still(base))
	for _, edits := range chain {
		if _, err := set.Edit(scratch, base, edits, changeset.Origin{}); err != nil {
			panic("checkpoint: an edit of a text that nobody else has: " + err.Error())
		}
		base = text.Apply(base, edits)
	}
	return set
}

// cores are the edits that a changeset proposes, and where it has conflicts.
func cores(set *changeset.Set) (edits []text.Edit, conflicts []int) {
	for _, f := range set.Proposal().Files {
		for _, h := range f.Hunks {
			if h.State == changeset.Conflicted {
				conflicts = append(conflicts, h.Core().Start)
			} else {
				edits = append(edits, h.Core())
			}
		}
	}
	return edits, conflicts
}

// composed are the edits of base that do what a chain of edits does.
func composed(base string, chain ...[]text.Edit) []text.Edit {
	edits, _ := cores(proposed(base, chain...))
	return edits
}

// inverse are the edits that undo edits of s, in the text that they make.
func inverse(s string, edits []text.Edit) []text.Edit {
	back := make([]text.Edit, len(edits))
	delta := 0
	for i, e := range edits {
		start := e.Start + delta
		back[i] = text.Edit{Start: start, End: start + len(e.New), New: s[e.Start:e.End]}
		delta += e.Delta()
	}
	return back
}

// undone are the edits of now that undo edits of before, where now is what
// these made of it with other changes since, and the places in now where that
// cannot be done.
func undone(before string, made []text.Edit, now string) (edits []text.Edit, conflicts []int) {
	after, back := text.Apply(before, made), inverse(before, made)
	if now == after {
		return back, nil
	}
	if edits, conflicts = merged(after, back, now); len(conflicts) == 0 {
		return edits, nil
	}
	respaced := spacing(after, back, now)
	if len(respaced) == 0 {
		return edits, conflicts
	}
	plain := text.Apply(now, respaced)
	again, left := merged(after, back, plain)
	if len(left) >= len(conflicts) {
		return edits, conflicts
	}
	edits = composed(now, respaced, again)
	for i, at := range left {
		left[i] = shifted(at, inverse(now, respaced))
	}
	return edits, left
}

// merged moves edits of base into now, which is base with other changes.
func merged(base string, edits []text.Edit, now string) ([]text.Edit, []int) {
	set := proposed(base, edits)
	set.Rebase(scratch, changeset.Doc{Text: now, Exists: true})
	return cores(set)
}

// spacing are the edits of now that take back how lines of base that edits are
// on were spaced anew.
func spacing(base string, edits []text.Edit, now string) []text.Edit {
	lines := text.New(base)
	var took []text.Edit
	delta := 0
	for _, e := range text.Diff(base, now) {
		for _, l := range linewise(base, e) {
			if onLines(lines, edits, l) && sameButSpace(base[l.Start:l.End], l.New) {
				start := l.Start + delta
				took = append(took, text.Edit{Start: start, End: start + len(l.New), New: base[l.Start:l.End]})
			}
			delta += l.Delta()
		}
	}
	return took
}

// linewise splits an edit of whole lines into edits of one line each, where it
// takes as many away as it puts in.
func linewise(base string, e text.Edit) []text.Edit {
	old, new := strings.SplitAfter(base[e.Start:e.End], "\n"), strings.SplitAfter(e.New, "\n")
	if len(old) != len(new) {
		return []text.Edit{e}
	}
	out := make([]text.Edit, 0, len(old))
	at := e.Start
	for i := range old {
		if l := (text.Edit{Start: at, End: at + len(old[i]), New: new[i]}); old[i] != new[i] {
			out = append(out, l)
		}
		at += len(old[i])
	}
	return out
}

// onLines tells whether one of edits is on the lines that l replaces.
func onLines(lines *text.Document, edits []text.Edit, l text.Edit) bool {
	for _, e := range edits {
		from, _, _ := lines.Line(lines.LineAt(e.Start))
		_, _, to := lines.Line(lines.LineAt(max(e.Start, e.End-1)))
		if from < l.End && l.Start < to {
			return true
		}
	}
	return false
}

// shifted is where an offset stands after edits.
func shifted(at int, edits []text.Edit) int {
	delta := 0
	for _, e := range edits {
		if e.Start >= at {
			break
		}
		delta += e.Delta()
	}
	return max(at+delta, 0)
}

// shown tells which of edits, made of base, now shows: as hunks, each whole or
// not at all.
func shown(base string, edits []text.Edit, now string) (landed, left []text.Edit) {
	switch {
	case len(edits) == 0:
		return nil, nil
	case now == base:
		return nil, edits
	case now == text.Apply(base, edits):
		return edits, nil
	}
	set := proposed(base, edits)
	p := set.Proposal()
	batch, err := set.Resolve(p.Revision, []changeset.Decision{{All: true, Verdict: changeset.Accept}})
	if err != nil {
		panic("checkpoint: a proposal that nobody else has: " + err.Error())
	}
	applied := map[string]bool{}
	doc := changeset.Doc{Text: now, Exists: true}
	for _, r := range set.Settle(batch, func(string) (changeset.Doc, error) { return doc, nil }, "") {
		applied[r.HunkID] = r.State == changeset.Applied
	}
	var hunks []text.Edit
	for _, f := range p.Files {
		for _, h := range f.Hunks {
			hunks = append(hunks, h.Core())
			if applied[h.HunkID] {
				landed = append(landed, h.Core())
			} else {
				left = append(left, h.Core())
			}
		}
	}
	if len(left) == 0 {
		return landed, nil
	}
	return besideTyped(base, hunks, landed, now)
}

// besideTyped looks again for edits of base that did not land as it seems: the
// user may have typed so close to one that it looks like one change. One that
// is there word for word, in a place that was changed, has landed.
func besideTyped(base string, edits, found []text.Edit, now string) (landed, left []text.Edit) {
	fromBase, fromAll := text.Diff(base, now), text.Diff(text.Apply(base, edits), now)
	delta := 0
	for _, e := range edits {
		start := e.Start + delta
		delta += e.Delta()
		there := e.New != "" && touched(fromBase, e.Start, e.End) && !touched(fromAll, start, start+len(e.New))
		if there || slices.Contains(found, e) {
			landed = append(landed, e)
		} else {
			left = append(left, e)
		}
	}
	return landed, left
}

// touched tells whether one of edits changes what is in [start, end), or puts
// something in at an empty one.
func touched(edits []text.Edit, start, end int) bool {
	return slices.ContainsFunc(edits, func(e text.Edit) bool {
		if start == end {
			return e.Start <= start && start <= e.End
		}
		return e.Start < end && start < e.End
	})
}

// onTop are edits of base in the text that others of it make.
func onTop(edits, others []text.Edit) []text.Edit {
	out := make([]text.Edit, len(edits))
	for i, e := range edits {
		n := shifted(e.Start, others)
		out[i] = text.Edit{Start: n, End: n + e.End - e.Start, New: e.New}
	}
	return out
}
