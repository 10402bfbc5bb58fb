package file

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// hint is what to tell of a text that was not found: why, in one line, and
// the 1-based lines that it may have meant, 0 if nothing is like it.
//
// A hint is all that comes of a near match. Editing by one is guessing, and
// writes the model's indentation or takes away lines that it never saw.
type hint struct {
	why      string
	from, to int
}

// explain says why old is not in s. replacement is what was to take its place.
// Both texts are folded.
func explain(s, old, replacement string) hint {
	if s == "" {
		return hint{why: "the file is empty"}
	}
	if strings.TrimSpace(replacement) != "" && !strings.Contains(old, replacement) {
		if i := strings.Index(s, replacement); i >= 0 {
			h := linesOf(s, i, replacement)
			h.why = fmt.Sprintf("new_text is there already, at %s: the edit may have been made before", h.lines())
			return h
		}
	}
	for _, m := range misreadings {
		meant := m.read(old)
		if meant == old || strings.TrimSpace(meant) == "" {
			continue
		}
		if i := strings.Index(s, meant); i >= 0 {
			h := linesOf(s, i, meant)
			h.why = m.why + ", at " + h.lines()
			return h
		}
	}
	for _, l := range likenesses {
		if h, ok := l.find(s, old); ok {
			return h
		}
	}
	return nearest(s, old)
}

// misreadings are ways in which a model spells a text that is there.
var misreadings = []struct {
	why  string
	read func(string) string
}{
	{"old_text has the line numbers of read_file in it, which are not part of the file; without them it is there", withoutNumbers},
	{"old_text has a backslash before letters where the file has the character itself", strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`).Replace},
	{"old_text is escaped as in HTML, the file is not", html.UnescapeString},
	{"old_text stands between code fences, the file's text does not", withoutFences},
}

var numbered = regexp.MustCompile(`(?m)^[ ]*[0-9]+\t`)

func withoutNumbers(s string) string { return numbered.ReplaceAllString(s, "") }

func withoutFences(s string) string {
	first, rest, ok := strings.Cut(s, "\n")
	if !ok || !strings.HasPrefix(first, "```") {
		return s
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(rest, "\n"), "```"), "\n")
}

// likeness is a reading of both texts that takes a kind of difference out of
// them. It keeps the number of lines.
type likeness struct {
	read func(string) string
	// tell says how the lines of the file differ from old.
	tell func(lines, old string) string
}

var likenesses = []likeness{
	{read: plainSpace, tell: tellSpace},
	{read: plainCharacters, tell: tellCharacters},
	{read: func(s string) string { return plainSpace(plainCharacters(s)) }, tell: func(lines, old string) string {
		return tellCharacters(lines, old) + ", and white space differs"
	}},
	{read: strings.ToLower, tell: func(string, string) string { return "it differs in upper and lower case" }},
}

func (l likeness) find(s, old string) (hint, bool) {
	meant := strings.Trim(l.read(old), "\n")
	if strings.TrimSpace(meant) == "" {
		return hint{}, false
	}
	read := l.read(s)
	i := strings.Index(read, meant)
	if i < 0 {
		return hint{}, false
	}
	h := linesOf(read, i, meant)
	h.why = fmt.Sprintf("the text at %s is like it, but %s", h.lines(), l.tell(cutLines(s, h.from, h.to), old))
	return h, true
}

// plainSpace takes out indentation, trailing space and the width of what is
// between words.
func plainSpace(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "\n")
}

func tellSpace(lines, old string) string {
	has, wants := strings.Split(lines, "\n"), strings.Split(strings.Trim(old, "\n"), "\n")
	for i, line := range has {
		if i < len(wants) && line != wants[i] && !strings.Contains(line, wants[i]) {
			return fmt.Sprintf("white space differs: the file has %s, old_text has %s", quote(line), quote(wants[i]))
		}
	}
	return "white space differs"
}

// plainCharacters reads typographic characters as those of a keyboard.
func plainCharacters(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(plainCharacter, norm.NFKC.String(s))
}

func plainCharacter(r rune) rune {
	switch {
	case r >= 0x2010 && r <= 0x2015, r == 0x2212, r == 0xad, r == 0xfe58, r == 0xfe63:
		return '-'
	case r >= 0x2018 && r <= 0x201b, r == 0x2032, r == 0xb4, r == 0x60:
		return '\''
	case r >= 0x201c && r <= 0x201f, r == 0x2033, r == 0xab, r == 0xbb:
		return '"'
	case r == 0xa0, r >= 0x2000 && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000:
		return ' '
	case r >= 0x200b && r <= 0x200f, r == 0x2060, r == 0xfeff:
		return -1
	}
	return r
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func tellCharacters(lines, old string) string {
	odd := func(in, notIn string) []string {
		var names []string
		for _, r := range in {
			if r < utf8.RuneSelf || strings.ContainsRune(notIn, r) {
				continue
			}
			name := fmt.Sprintf("U+%04X", r)
			if unicode.IsPrint(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Mn, r) {
				name += " (" + string(r) + ")"
			}
			if !slices.Contains(names, name) && len(names) < 8 {
				names = append(names, name)
			}
		}
		return names
	}
	file, model := odd(lines, old), odd(old, lines)
	var said []string
	if len(file) > 0 {
		said = append(said, "the file has "+strings.Join(file, ", "))
	}
	if len(model) > 0 {
		said = append(said, "old_text has "+strings.Join(model, ", "))
	}
	return "look-alike characters differ: " + strings.Join(said, "; ") + "; copy them as they are in the file"
}

// nearestLimit bounds the search for something similar: a hint is not worth
// more.
const nearestLimit = 4 << 20

// nearest finds the place where most lines of old stand in their order, else
// the line that shares most words with old's longest.
func nearest(s, old string) hint {
	if len(s) > nearestLimit || len(old) > nearestLimit {
		return hint{why: "nothing was found that is the same"}
	}
	lines, wants := strings.Split(s, "\n"), strings.Split(strings.Trim(old, "\n"), "\n")
	if at, ok := vote(lines, wants); ok {
		h := hint{from: at + 1, to: min(at+len(wants), len(lines))}
		h.why = fmt.Sprintf("the nearest is at %s", h.lines())
		for i, want := range wants {
			if at+i < len(lines) && lines[at+i] != want {
				h.why += fmt.Sprintf("; line %d is %s, old_text has %s", at+i+1, quote(lines[at+i]), quote(want))
				break
			}
		}
		return h
	}
	longest := slices.MaxFunc(wants, func(a, b string) int { return len(a) - len(b) })
	if at, ok := closest(lines, longest); ok {
		return hint{why: fmt.Sprintf("the nearest is line %d, %s", at+1, quote(lines[at])), from: at + 1, to: at + 1}
	}
	return hint{why: fmt.Sprintf("nothing in its %d lines is like it", strings.Count(strings.TrimSuffix(s, "\n"), "\n")+1)}
}

// vote lets each line of wants that stands in lines vote for the place where
// wants would begin. Lines that stand everywhere (a brace) have no vote.
func vote(lines, wants []string) (at int, ok bool) {
	const common = 20
	where := map[string][]int{}
	for i, line := range lines {
		if key := strings.TrimSpace(line); len(key) > 2 && len(where[key]) <= common {
			where[key] = append(where[key], i)
		}
	}
	votes, most := map[int]int{}, 0
	for i, want := range wants[:min(len(wants), 1000)] {
		found := where[strings.TrimSpace(want)]
		if len(found) > common {
			continue
		}
		for _, j := range found {
			start := max(j-i, 0)
			votes[start]++
			if n := votes[start]; n > most || n == most && start < at {
				at, most = start, n
			}
		}
	}
	return at, most > 0
}

// closest is the line that shares most words with want, if it shares half.
func closest(lines []string, want string) (at int, ok bool) {
	words := wordsOf(want)
	if len(words) == 0 {
		return 0, false
	}
	best := 0
	for i, line := range lines {
		if len(line) > 4*len(want)+100 {
			continue
		}
		shared := 0
		own := wordsOf(line)
		for w := range words {
			if own[w] {
				shared++
			}
		}
		if shared > best && 2*shared >= len(words) {
			at, best = i, shared
		}
	}
	return at, best > 0
}

func wordsOf(s string) map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		words[strings.ToLower(w)] = true
	}
	return words
}

// linesOf are the lines that part, found in s at offset, stands on.
func linesOf(s string, offset int, part string) hint {
	from := lineOf(s, offset)
	return hint{from: from, to: from + strings.Count(strings.TrimSuffix(part, "\n"), "\n")}
}

func (h hint) lines() string { return lineRange(h.from, h.to) }

func lineRange(from, to int) string {
	if from >= to {
		return fmt.Sprintf("line %d", from)
	}
	return fmt.Sprintf("lines %d-%d", from, to)
}

// cutLines are the lines from to to of s, 1-based, without the last ending.
func cutLines(s string, from, to int) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[from-1:min(to, len(lines))], "\n")
}

// quote shows a line with its tabs and odd characters visible, bounded.
func quote(line string) string {
	const limit = 120
	if len(line) > limit {
		return fmt.Sprintf("%q…", clip(line, limit))
	}
	return fmt.Sprintf("%q", line)
}

// clip is s, cut on a rune boundary to at most limit bytes.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
