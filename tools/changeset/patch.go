package changeset

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/tools/text"
)

// patchContext is the number of unchanged lines around a change, as git has it.
const patchContext = 3

// Patch is the unified diff of what is pending in a file, as git writes and
// applies it. display is the path to show for Path, oldDisplay that for
// OldPath of a rename; both use slashes. It is empty where nothing is pending.
func (f File) Patch(display, oldDisplay string) string {
	if f.Op != OpRename {
		oldDisplay = display
	}
	body := f.patchBody()
	if body == "" && f.Op == OpModify {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %s %s\n", quoteName("a/"+oldDisplay), quoteName("b/"+display))
	from, to := "a/"+oldDisplay, "b/"+display
	switch f.Op {
	case OpCreate:
		b.WriteString("new file mode 100644\n")
		from = ""
	case OpDelete:
		b.WriteString("deleted file mode 100644\n")
		to = ""
	case OpRename:
		if body == "" {
			b.WriteString("similarity index 100%\n")
		}
		fmt.Fprintf(&b, "rename from %s\nrename to %s\n", quoteName(oldDisplay), quoteName(display))
	}
	if body != "" {
		fmt.Fprintf(&b, "--- %s\n+++ %s\n%s", headerName(from), headerName(to), body)
	}
	return b.String()
}

// patchBody is the hunks of the patch.
func (f File) patchBody() string {
	if f.Op == OpDelete {
		return hunksOf(f.Base, []text.Edit{{Start: 0, End: len(f.Base)}})
	}
	var edits []text.Edit
	for _, h := range f.Hunks {
		if h.State == Conflicted {
			continue
		}
		for _, e := range text.Diff(h.OldText, h.NewText) {
			edits = append(edits, text.Edit{Start: h.Start + e.Start, End: h.Start + e.End, New: e.New})
		}
	}
	return hunksOf(f.Base, text.Widen(f.Base, edits))
}

// hunksOf writes edits of whole lines of s as the hunks of a patch.
func hunksOf(s string, edits []text.Edit) string {
	var b strings.Builder
	at, line, shift := 0, 1, 0 // an offset, its line, and how many lines later that is in the new text
	for i := 0; i < len(edits); {
		if edits[i].Start == edits[i].End && edits[i].New == "" {
			i++
			continue
		}
		start := linesBack(s, edits[i].Start, patchContext)
		line += strings.Count(s[at:start], "\n")
		j, end := i, start
		for {
			end = linesOn(s, edits[j].End, patchContext)
			if j++; j == len(edits) || linesOn(s, edits[j-1].End, 2*patchContext) < edits[j].Start {
				break
			}
		}
		var body strings.Builder
		old, new := 0, 0
		from := start
		for _, e := range edits[i:j] {
			n := writeLines(&body, ' ', s[from:e.Start])
			old, new = old+n, new+n
			old += writeLines(&body, '-', s[e.Start:e.End])
			new += writeLines(&body, '+', e.New)
			from = e.End
		}
		n := writeLines(&body, ' ', s[from:end])
		old, new = old+n, new+n
		fmt.Fprintf(&b, "@@ -%s +%s @@\n%s", lineRange(line, old), lineRange(line+shift, new), body.String())
		shift += new - old
		line += strings.Count(s[start:end], "\n")
		at, i = end, j
	}
	return b.String()
}

// lineRange is a range of lines in the head of a hunk. One without lines is
// named by the line before it.
func lineRange(line, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", line-1)
	case 1:
		return fmt.Sprint(line)
	}
	return fmt.Sprintf("%d,%d", line, n)
}

// linesBack is where the nth line before the one that starts at i starts.
func linesBack(s string, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		i = strings.LastIndexByte(s[:i-1], '\n') + 1
	}
	return i
}

// linesOn is where the nth line after the one that starts at i starts.
func linesOn(s string, i, n int) int {
	for ; n > 0 && i < len(s); n-- {
		next := strings.IndexByte(s[i:], '\n')
		if next < 0 {
			return len(s)
		}
		i += next + 1
	}
	return i
}

// writeLines writes the lines of s, each after mark, and counts them.
func writeLines(b *strings.Builder, mark byte, s string) int {
	n := 0
	for ; s != ""; n++ {
		line, rest, ended := strings.Cut(s, "\n")
		b.WriteByte(mark)
		b.WriteString(line)
		b.WriteByte('\n')
		if !ended {
			b.WriteString("\\ No newline at end of file\n")
		}
		s = rest
	}
	return n
}

// headerName is a name after --- or +++. Git ends one with a space in it by a
// tab, for tools that would take the rest for a time stamp.
func headerName(name string) string {
	if name == "" {
		return "/dev/null"
	}
	if q := quoteName(name); q != name || !strings.Contains(name, " ") {
		return q
	}
	return name + "\t"
}

// quoteName writes a name as git does with core.quotePath off: in quotes, like
// a C string, where it holds a quote, a backslash or a control character.
func quoteName(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7F || r == '"' || r == '\\' }) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7F:
			if j := strings.IndexByte("\a\b\t\n\v\f\r", c); j >= 0 {
				b.WriteByte('\\')
				b.WriteByte("abtnvfr"[j])
			} else {
				fmt.Fprintf(&b, "\\%03o", c)
			}
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
