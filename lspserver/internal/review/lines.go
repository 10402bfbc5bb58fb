package review

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentls/agentls/tools/text"
)

// An editor whose buffers are lines, and not text, has no place behind the
// ending of the last line: Neovim makes an empty line of what is put there. So
// it gets the same edits in a form that it understands.

// beforeLastEnding makes lines that edits add after the last one an
// addition to that line, unless another edit is in the way.
func beforeLastEnding(s string, edits []text.Edit) []text.Edit {
	edits = slices.SortedStableFunc(slices.Values(edits), func(a, b text.Edit) int { return cmp.Compare(a.Start, b.Start) })
	n := len(edits)
	if n == 0 || edits[n-1].Start != len(s) {
		return edits
	}
	eol := "\n"
	if strings.HasSuffix(s, "\r\n") {
		eol = "\r\n"
	}
	body, ended := strings.CutSuffix(s, eol)
	added, lines := strings.CutSuffix(edits[n-1].New, eol)
	if !ended || !lines || n > 1 && edits[n-2].End > len(body) {
		return edits
	}
	edits[n-1] = text.Edit{Start: len(body), End: len(body), New: eol + added}
	return edits
}

// overLastLine lets the last edit reach over the end of d's last line where
// that has no ending and is to get one. It is the same place (LSP 3.18 §
// Position), and Neovim takes it for the ending that the line has in a buffer.
func overLastLine(d *text.Document, edits []textEdit, enc text.Encoding) {
	s := d.String()
	if len(edits) == 0 || strings.HasSuffix(s, "\n") {
		return
	}
	last := &edits[len(edits)-1]
	if last.Range.End == rangeOf(d, len(s), len(s), enc).End && strings.HasSuffix(last.NewText, "\n") && strings.Trim(last.NewText, "\r\n") != "" {
		last.Range.End.Character++
	}
}
