package file

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/tools/text"
)

// bom is what a file may begin with and an editor's document never does.
const bom = "\ufeff"

// replacement is one edit as a model asks for it.
type replacement struct {
	Old, New string
	All      bool
}

// composed is what some replacements come to in a text.
type composed struct {
	edits []text.Edit
	// counts[i] tells how often the i-th replacement is made, and where more
	// overlapping places match, how many those are.
	counts []occurrences
}

type occurrences struct{ made, matching int }

// refusal is why an edit is not made, in one line for the model, and the
// 1-based lines of the file to show it, 0 for none.
type refusal struct {
	line     string
	from, to int
}

func (r *refusal) Error() string { return r.line }

// compose turns replacements into edits of s, all or none. Each is located in
// s as it is, not in what the ones before make of it; s is named display.
func compose(display, s string, rs []replacement) (composed, error) {
	var c composed
	type placed struct {
		text.Edit
		index int
	}
	var all []placed
	for i, r := range rs {
		edits, n, err := locateOne(display, s, r)
		if err != nil {
			return composed{}, inBatch(err, i, rs)
		}
		c.counts = append(c.counts, n)
		for _, e := range edits {
			all = append(all, placed{e, i})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; b.Start < a.End {
			return composed{}, &refusal{line: fmt.Sprintf("edits[%d] and edits[%d] overlap at line %d of %s; nothing was changed. Join them into one edit",
				min(a.index, b.index), max(a.index, b.index), lineOf(s, b.Start), display)}
		}
	}
	for _, p := range all {
		if s[p.Start:p.End] != p.New {
			c.edits = append(c.edits, p.Edit)
		}
	}
	if len(c.edits) == 0 {
		return composed{}, noChange(display, rs)
	}
	return c, nil
}

// locateOne finds what one replacement replaces and spells the new text with
// the endings of each place.
func locateOne(display, s string, r replacement) ([]text.Edit, occurrences, error) {
	old, replaced := r.Old, r.New
	if strings.HasPrefix(old, bom) && !strings.Contains(s, bom) {
		old, replaced = strings.TrimPrefix(old, bom), strings.TrimPrefix(replaced, bom)
	}
	if old == "" {
		return nil, occurrences{}, &refusal{line: "old_text is empty: give the text to replace; to make a file or to write a whole one use write_file"}
	}
	f := locate(s, old)
	switch {
	case f.count == 0:
		h := explain(fold(s, true).text, fold(old, true).text, fold(replaced, true).text)
		return nil, occurrences{}, &refusal{line: fmt.Sprintf("old_text not found in %s: %s", display, h.why), from: h.from, to: h.to}
	case f.count > 1 && !r.All:
		return nil, occurrences{}, &refusal{line: fmt.Sprintf("old_text is not unique in %s: %s. Give more of the lines around the place you mean, or set replace_all", display, f.places())}
	}
	var edits []text.Edit
	for _, at := range f.spans {
		put := replaced
		if at.start == 0 {
			put = strings.TrimPrefix(put, bom)
		}
		edits = append(edits, fit(s, text.Edit{Start: at.start, End: at.end, New: put}, f.lone))
	}
	return edits, occurrences{made: len(edits), matching: f.count}, nil
}

// places says where a text that is not unique stands.
func (f found) places() string {
	n := fmt.Sprint(f.count)
	if f.count == countLimit {
		n = fmt.Sprintf("%d or more", f.count)
	}
	said := make([]string, len(f.lines))
	for i, l := range f.lines {
		said[i] = fmt.Sprint(l)
	}
	more := ""
	if f.count > len(f.lines) {
		more = " …"
	}
	return fmt.Sprintf("%s matches, at lines %s%s", n, strings.Join(said, ", "), more)
}

// inBatch names the edit that failed where there are several.
func inBatch(err error, index int, rs []replacement) error {
	var r *refusal
	if len(rs) == 1 || !errors.As(err, &r) {
		return err
	}
	named := *r
	named.line = fmt.Sprintf("edits[%d]: %s; nothing was changed, the edits of one call are made together", index, r.line)
	for i, earlier := range rs[:index] {
		if rs[index].Old != "" && strings.Contains(earlier.New, rs[index].Old) {
			named.line += fmt.Sprintf(". It is in the new_text of edits[%d], but all are located in the file as it is before any of them", i)
			break
		}
	}
	return &named
}

// noChange is the refusal of an edit that leaves the file as it is.
func noChange(display string, rs []replacement) error {
	for _, r := range rs {
		if r.Old != r.New {
			return &refusal{line: fmt.Sprintf("no change: old_text and new_text differ in line endings only, and those stay as %s has them", display)}
		}
	}
	return &refusal{line: "no change: old_text and new_text are the same"}
}

// ranges are the lines of the text that edits make, in words. Touching ones
// are joined.
func ranges(before string, edits []text.Edit) string {
	type lines struct{ from, to int }
	var all []lines
	line, at := 1, 0 // in the new text, and in before
	for _, e := range edits {
		line += lineOf(before[at:e.Start], e.Start-at) - 1
		at = e.End
		from := line
		line += lineOf(e.New, len(e.New)) - 1
		to := line
		if to > from && strings.HasSuffix(e.New, "\n") && (e.Start == 0 || before[e.Start-1] == '\n') {
			to-- // whole lines
		}
		if n := len(all); n > 0 && from <= all[n-1].to+1 {
			all[n-1].to = max(all[n-1].to, to)
			continue
		}
		all = append(all, lines{from, to})
	}
	const shown = 10
	var said []string
	for _, l := range all[:min(len(all), shown)] {
		if l.from == l.to {
			said = append(said, fmt.Sprint(l.from))
		} else {
			said = append(said, fmt.Sprintf("%d-%d", l.from, l.to))
		}
	}
	if len(all) > shown {
		said = append(said, fmt.Sprintf("and %d more places", len(all)-shown))
	}
	if len(all) == 1 && all[0].from == all[0].to {
		return "line " + said[0]
	}
	return "lines " + strings.Join(said, ", ")
}
