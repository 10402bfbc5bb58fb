package lsptest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The fake editor has positions of its own, apart from the server's, so that a
// mistake in one of them shows.

// Position is LSP's, in the encoding that was negotiated.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is LSP's.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Character) }
func (r Range) String() string    { return r.Start.String() + "-" + r.End.String() }

// TextEdit is LSP's.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// width is how many units of an encoding a character takes.
func width(r rune, size int, encoding string) int {
	switch encoding {
	case "utf-8":
		return size
	case "utf-32":
		return 1
	}
	if r > 0xffff {
		return 2
	}
	return 1
}

// lineStarts are the offsets of the lines of a text: \n, \r\n and \r end one.
func lineStarts(s string) []int {
	starts := []int{0}
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// offsetOf converts a position, strictly: one that is not in the text is an
// error, as is one inside a character.
func offsetOf(s string, p Position, encoding string) (int, error) {
	starts := lineStarts(s)
	if p.Line < 0 || p.Line >= len(starts) {
		return 0, fmt.Errorf("%s: the document has %d lines", p, len(starts))
	}
	at, units := starts[p.Line], 0
	for units < p.Character {
		if at == len(s) || s[at] == '\n' || s[at] == '\r' {
			return 0, fmt.Errorf("%s: the line has %d characters", p, units)
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		units += width(r, size, encoding)
		at += size
	}
	if units != p.Character {
		return 0, fmt.Errorf("%s is inside a character", p)
	}
	return at, nil
}

// applyEdits changes a text as LSP says: all ranges are those of the text as
// it is. Edits that overlap, or lie outside of the text, are an error.
func applyEdits(s string, edits []TextEdit, encoding string) (string, error) {
	type placed struct {
		start, end int
		text       string
	}
	all := make([]placed, 0, len(edits))
	for _, e := range edits {
		start, err := offsetOf(s, e.Range.Start, encoding)
		if err != nil {
			return "", err
		}
		end, err := offsetOf(s, e.Range.End, encoding)
		if err != nil {
			return "", err
		}
		if end < start {
			return "", fmt.Errorf("range %s ends before it starts", e.Range)
		}
		all = append(all, placed{start, end, e.NewText})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, e := range all {
		if e.start < at {
			return "", errors.New("edits overlap")
		}
		b.WriteString(s[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.WriteString(s[at:])
	return b.String(), nil
}
