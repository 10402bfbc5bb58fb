package lsptest

import (
	"slices"
	"strings"
)

// lineEdits changes a text the way Neovim does, whose buffers are lines that
// each have an ending: there is no place behind the last one. strict is
// Neovim 0.10, which leaves an empty line of what is put there.
//
// This is vim.lsp.util.apply_text_edits, step by step, for edits that lie in
// the text; columns past a line's end mean the end.
func lineEdits(s string, edits []TextEdit, encoding string, strict bool) (string, error) {
	eol := "\n"
	if strings.Contains(s, "\r\n") {
		eol = "\r\n"
	}
	body, ended := strings.CutSuffix(s, eol)
	lines := strings.Split(body, eol)
	sorted := slices.Clone(edits)
	slices.Reverse(sorted)
	slices.SortStableFunc(sorted, func(a, b TextEdit) int {
		if a.Range.Start.Line != b.Range.Start.Line {
			return b.Range.Start.Line - a.Range.Start.Line
		}
		return b.Range.Start.Character - a.Range.Start.Character
	})
	behind := false // an edit reached behind the last line
	for _, e := range sorted {
		text := strings.Split(strings.ReplaceAll(e.NewText, "\r\n", "\n"), "\n")
		start, end := e.Range.Start, e.Range.End
		if start.Line >= len(lines) {
			lines = append(lines, text...)
			behind = behind || !strict
			continue
		}
		last := lines[min(end.Line, len(lines)-1)]
		from, err := columnOf(lines[start.Line], start.Character, encoding)
		if err != nil {
			return "", err
		}
		to, err := columnOf(last, end.Character, encoding)
		switch {
		case end.Line >= len(lines):
			end.Line, to, behind = len(lines)-1, len(last), true
		case err != nil:
			return "", err
		case to == len(last) && end.Character > to && len(text) > 1 && text[len(text)-1] == "":
			text = text[:len(text)-1]
		}
		text[0] = lines[start.Line][:from] + text[0]
		text[len(text)-1] += last[to:]
		lines = slices.Replace(lines, start.Line, end.Line+1, text...)
	}
	if n := len(lines); behind && n > 1 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	out := strings.Join(lines, eol)
	if ended {
		out += eol
	}
	return out, nil
}

// columnOf is a character's offset in a line, at most the line's end.
func columnOf(line string, character int, encoding string) (int, error) {
	units := 0
	for _, r := range line {
		units += width(r, len(string(r)), encoding)
	}
	return offsetOf(line, Position{0, min(character, units)}, encoding)
}
