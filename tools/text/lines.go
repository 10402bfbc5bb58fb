package text

import "strings"

// LineStart tells whether a line of s starts at i.
func LineStart(s string, i int) bool {
	return i == 0 || s[i-1] == '\n' || s[i-1] == '\r' && (i == len(s) || s[i] != '\n')
}

// StartOfLine is where the line that i is in starts.
func StartOfLine(s string, i int) int {
	if LineStart(s, i) {
		return i
	}
	n := strings.LastIndexByte(s[:i], '\n') + 1
	// Only a lone \r can lie between.
	for cr := strings.LastIndexByte(s[n:i], '\r'); cr >= 0; cr = strings.LastIndexByte(s[n:n+cr], '\r') {
		if LineStart(s, n+cr+1) {
			return n + cr + 1
		}
	}
	return n
}

// NextLine is where the line after the one that i is in starts, or the end of
// s.
func NextLine(s string, i int) int { return i + lineLen(s[i:]) }

// WholeLines gives the lines of s that an edit is about. An edit that puts in
// or takes out whole lines already stays as it is, and so may be empty.
func WholeLines(s string, e Edit) (start, end int) {
	start = StartOfLine(s, e.Start)
	if LineStart(s, e.End) && e.endsLine(s) {
		return start, e.End
	}
	return start, NextLine(s, e.End)
}

// endsLine tells whether a line starts behind the new text.
func (e Edit) endsLine(s string) bool {
	if e.New == "" {
		return LineStart(s, e.Start)
	}
	switch e.New[len(e.New)-1] {
	case '\n':
		return true
	case '\r':
		return e.End == len(s) || s[e.End] != '\n'
	}
	return false
}

// lineLen is the length of the first line of s with its ending.
func lineLen(s string) int {
	line := s
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		line = s[:n+1]
	}
	if n := strings.IndexByte(line, '\r'); n >= 0 && !(n+1 < len(line) && line[n+1] == '\n') {
		return n + 1
	}
	return len(line)
}
