package file

import (
	"sort"
	"strings"

	"github.com/agentls/agentls/tools/text"
)

// folded is a text whose line endings are all \n, and the way back. Models
// write \n whatever a file has, so texts are compared folded and changed raw.
type folded struct {
	text string
	// pairs are the offsets in text of the \n that were \r\n.
	pairs []int
}

// fold reads \r\n as \n, and a lone \r too if it ends lines here.
func fold(s string, lone bool) folded {
	if !strings.Contains(s, "\r") {
		return folded{text: s}
	}
	var f folded
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
			f.pairs = append(f.pairs, b.Len())
		case c == '\r' && lone:
			b.WriteByte('\n')
		default:
			b.WriteByte(c)
		}
	}
	f.text = b.String()
	return f
}

// raw maps an offset of the folded text to the one in the text it came from.
// It never falls between \r and \n.
func (f folded) raw(offset int) int {
	return offset + sort.SearchInts(f.pairs, offset)
}

// loneEnds says whether \r by itself ends the lines of s, as it did on old
// Macs. Next to any \n it is data: a progress bar's log.
func loneEnds(s string) bool {
	return strings.Contains(s, "\r") && !strings.Contains(s, "\n")
}

// fit gives an edit of s the line endings of the place that it goes to.
func fit(s string, e text.Edit, lone bool) text.Edit {
	if !lone {
		return text.FitEOL(s, e)
	}
	e.New = strings.ReplaceAll(fold(e.New, true).text, "\n", nearestEnding(s, e.Start, e.End))
	return e
}

// nearestEnding is the line ending in s[start:end], else the first after it,
// else the last before it, else \n. A lone \r is one.
func nearestEnding(s string, start, end int) string {
	const ends = "\r\n"
	i := strings.IndexAny(s[start:], ends)
	if i >= 0 {
		i += start
	} else if i = strings.LastIndexAny(s[:start], ends); i < 0 {
		return "\n"
	}
	switch {
	case s[i] == '\n' && i > 0 && s[i-1] == '\r', s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n':
		return "\r\n"
	}
	return s[i : i+1]
}

// fitAll gives a file's whole new content the line endings that it has.
func fitAll(old, content string) string {
	if loneEnds(old) {
		return strings.ReplaceAll(fold(content, true).text, "\n", "\r")
	}
	return text.MatchEOL(old, content)
}
