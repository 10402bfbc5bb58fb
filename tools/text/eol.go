package text

import "strings"

// The line endings that a file can be told to have. A lone \r is none of
// them: it counts as a line end in positions, but in a file it is data, such
// as the progress of a download in a log.
const (
	LF   = "\n"
	CRLF = "\r\n"
)

// DominantEOL is the line ending that most lines of s have: LF or CRLF, LF
// where there are none or as many of both.
func DominantEOL(s string) string {
	lf := strings.Count(s, LF)
	if crlf := strings.Count(s, CRLF); crlf > lf-crlf {
		return CRLF
	}
	return LF
}

// NormalEOL turns every CRLF of s into LF.
func NormalEOL(s string) string { return strings.ReplaceAll(s, CRLF, LF) }

// MatchEOL gives new, a whole new content for old that was written with
// whatever endings, the line endings of old: a line that is kept keeps its
// own, one that takes the place of another takes that one's, an added one
// its neighbour's. Whether the last line has an ending is new's to say.
func MatchEOL(old, new string) string {
	return matchEOL(old, new, DominantEOL(old))
}

// FitEOL gives e's new text the line endings of the place in s that it goes
// to, by the rules of MatchEOL.
func FitEOL(s string, e Edit) Edit {
	if !strings.ContainsAny(e.New, "\r\n") {
		return e
	}
	// With the lines around it whole, each line of the edit has its neighbour.
	from := strings.LastIndexByte(s[:e.Start], '\n') + 1
	to := len(s)
	if i := strings.IndexByte(s[e.End:], '\n'); i >= 0 {
		to = e.End + i + 1
	}
	fallback := LF
	if before := s[:from]; before != "" {
		fallback = ending(before)
	} else if after := s[from:]; strings.Contains(after, LF) {
		fallback = ending(after[:strings.IndexByte(after, '\n')+1])
	}
	head, tail := s[from:e.Start], s[e.End:to]
	fitted := matchEOL(s[from:to], head+e.New+tail, fallback)
	// Only endings differ. Those of head and tail are at most the last one,
	// which is the file's own: cut by the normal form.
	n := len(NormalEOL(tail))
	e.New = cutNormal(fitted[len(head):], n)
	return e
}

// cutNormal cuts off the end of s as much as is n bytes in normal form.
func cutNormal(s string, n int) string {
	for n > 0 {
		if strings.HasSuffix(s, CRLF) {
			s = s[:len(s)-1]
		}
		s, n = s[:len(s)-1], n-1
	}
	return s
}

func matchEOL(old, new, fallback string) string {
	new = NormalEOL(new)
	if !strings.Contains(old, CRLF) && (fallback == LF || strings.Contains(old, LF)) {
		return new
	}
	plain := NormalEOL(old)
	ends := endings(old)
	if len(ends) == 0 {
		return strings.ReplaceAll(new, LF, fallback)
	}
	var b strings.Builder
	b.Grow(len(new) + len(new)/16)
	line := 0  // of old, the next to be accounted for
	last := "" // ending of the line before
	keep := func(s string) {
		for s != "" {
			i := strings.IndexByte(s, '\n')
			if i < 0 {
				b.WriteString(s)
				return
			}
			last = ends[line]
			b.WriteString(s[:i])
			b.WriteString(last)
			s, line = s[i+1:], line+1
		}
	}
	put := func(s string, upTo int) {
		for s != "" {
			i := strings.IndexByte(s, '\n')
			if i < 0 {
				b.WriteString(s)
				break
			}
			switch {
			case line < upTo:
				last = ends[line]
				line++
			case last == "" && line < len(ends):
				last = ends[line]
			case last == "":
				last = fallback
			}
			b.WriteString(s[:i])
			b.WriteString(last)
			s = s[i+1:]
		}
		line = upTo
	}
	at := 0
	for _, e := range Widen(plain, Diff(plain, new)) {
		keep(plain[at:e.Start])
		put(e.New, line+strings.Count(plain[e.Start:e.End], LF))
		at = e.End
	}
	keep(plain[at:])
	return b.String()
}

// Widen draws edits of a out to lines that end with \n alone, as git and the
// format of patches count them; edits that meet then become one. The edits
// must be sorted and disjoint, the result is too, and does the same.
func Widen(a string, edits []Edit) []Edit {
	var out []Edit
	for i := 0; i < len(edits); {
		start := strings.LastIndexByte(a[:edits[i].Start], '\n') + 1
		end, j := edits[i].End, i+1
		if end > start && a[end-1] != '\n' {
			end = nextLF(a, end)
		}
		for {
			for j < len(edits) && (edits[j].Start < end || edits[j].Start == end && end > 0 && a[end-1] != '\n') {
				end = max(end, edits[j].End)
				if a[end-1] != '\n' {
					end = nextLF(a, end)
				}
				j++
			}
			text := ApplyWithin(a, start, end, edits[i:j])
			if text == "" || text[len(text)-1] == '\n' || end == len(a) {
				out = append(out, Edit{Start: start, End: end, New: text})
				break
			}
			end = nextLF(a, end)
		}
		i = j
	}
	return out
}

// nextLF is the offset after the next \n of s at or after i.
func nextLF(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(s)
}

// endings lists the line endings of s in order.
func endings(s string) []string {
	out := make([]string, 0, strings.Count(s, LF))
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' {
			out = append(out, ending(s[:i+1]))
		}
	}
	return out
}

// ending is the ending of s, which ends with \n.
func ending(s string) string {
	if strings.HasSuffix(s, CRLF) {
		return CRLF
	}
	return LF
}
