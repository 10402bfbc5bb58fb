package changeset

import (
	"strings"

	"github.com/agentls/agentls/tools/text"
)

// lineStart tells whether a line of s starts at i, as LSP counts lines.
func lineStart(s string, i int) bool {
	return i == 0 || s[i-1] == '\n' || s[i-1] == '\r' && (i == len(s) || s[i] != '\n')
}

// startOfLine is where the line that i is in starts.
func startOfLine(s string, i int) int {
	if lineStart(s, i) {
		return i
	}
	n := strings.LastIndexByte(s[:i], '\n') + 1
	// Only a lone \r can lie between.
	for cr := strings.LastIndexByte(s[n:i], '\r'); cr >= 0; cr = strings.LastIndexByte(s[n:n+cr], '\r') {
		if lineStart(s, n+cr+1) {
			return n + cr + 1
		}
	}
	return n
}

// nextLine is where the line after the one that i is in starts, or the end.
func nextLine(s string, i int) int {
	rest := s[i:]
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n+1]
	}
	if n := strings.IndexByte(rest, '\r'); n >= 0 && !(n+1 < len(rest) && rest[n+1] == '\n') {
		return i + n + 1
	}
	return i + len(rest)
}

// wholeLines draws an edit of s out to whole lines. What inserts or removes
// whole lines already stays as it is.
func wholeLines(s string, start, end int, new string) (int, int) {
	from := startOfLine(s, start)
	if lineStart(s, end) && endsLine(new, from == start, s, end) {
		return from, end
	}
	return from, nextLine(s, end)
}

// endsLine tells whether a line starts in the new text at end, after new.
func endsLine(new string, atStart bool, s string, end int) bool {
	if new == "" {
		return atStart || end == len(s) && end == 0
	}
	switch new[len(new)-1] {
	case '\n':
		return true
	case '\r':
		return end == len(s) || s[end] != '\n'
	}
	return false
}

// count fills in how many lines the hunk adds and removes in a patch.
func (h *Hunk) count() {
	h.added, h.removed = 0, 0
	for _, e := range text.Widen(h.OldText, text.Diff(h.OldText, h.NewText)) {
		h.removed += countLines(h.OldText[e.Start:e.End])
		h.added += countLines(e.New)
	}
}

// countLines counts lines as a patch does: by \n, and the rest.
func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && s[len(s)-1] != '\n' {
		n++
	}
	return n
}
