package file

import (
	"strings"
)

// span is a stretch of a text in bytes.
type span struct{ start, end int }

// found is where a text stands in another.
type found struct {
	// spans do not overlap; they are taken left to right.
	spans []span
	// count counts overlapping ones too: `aa` stands twice in `aaa`, and which
	// of the two is meant nobody can tell. It stops at countLimit.
	count int
	// lines are the 1-based lines of the first few that count counts.
	lines []int
	// lone tells that \r by itself was read as a line ending.
	lone bool
}

const (
	countLimit = 1000
	linesLimit = 10
)

// locate finds old in s, character by character but for line endings, which
// models do not see. old is not empty.
func locate(s, old string) found {
	lone := loneEnds(s)
	f := locateFolded(s, old, lone)
	if f.count > 0 || lone || !strings.Contains(s, "\r") && !strings.Contains(old, "\r") {
		return f
	}
	f = locateFolded(s, old, true)
	for _, at := range f.spans {
		// What stands between endings of several kinds could not be put back
		// as it was.
		if part := s[at.start:at.end]; strings.Contains(part, "\r") && strings.Contains(part, "\n") {
			return found{lone: true}
		}
	}
	return f
}

func locateFolded(s, old string, lone bool) found {
	hay, needle := fold(s, lone), fold(old, lone).text
	f := found{lone: lone}
	free := 0 // where the next span that does not overlap may start
	line, counted := 1, 0
	for at := 0; ; at++ {
		i := strings.Index(hay.text[at:], needle)
		if i < 0 {
			return f
		}
		at += i
		if f.count < countLimit {
			f.count++
		}
		if len(f.lines) < linesLimit {
			line += lineEnds(hay.text[counted:at])
			counted = at
			f.lines = append(f.lines, line)
		}
		if at >= free {
			free = at + len(needle)
			f.spans = append(f.spans, span{hay.raw(at), hay.raw(free)})
		}
		if f.count == countLimit {
			// Overlaps no longer matter, and stepping over them could cost the
			// product of both lengths.
			at = max(at, free-1)
		}
	}
}

// lineOf is the 1-based line of the byte at offset, as read_file counts them:
// \r by itself ends one too, whether it is data or not, since editors and
// compilers say so.
func lineOf(s string, offset int) int {
	return 1 + lineEnds(fold(s[:offset], false).text)
}

// lineEnds counts the line ends of a text whose \r\n are folded.
func lineEnds(folded string) int {
	return strings.Count(folded, "\n") + strings.Count(folded, "\r")
}
