// Package text is what agentls knows about the text of a document: lines and
// positions, edits, differences, and line endings. It knows no file and no
// protocol.
//
// A text is a Go string in valid UTF-8 with its own line endings and without
// byte order mark. Everything inside the program counts in byte offsets of
// such a string. A [Position] exists only where an editor is spoken to, and
// [Document] converts between the two:
//
//	offset    bytes from the start of the text             Document.Position, Document.Offset
//	Position  line, and characters in units of an Encoding  (LSP 3.18 §position)
//	Edit      a replaced span of offsets and its new text   Apply, Diff, Trim
//
// A line ends with \n, \r\n or a lone \r, as LSP counts them; form feed,
// U+0085 and U+2028 end none.
//
// Everything here is pure. A Document is immutable, so that one may be shared
// between goroutines without a lock.
//
//	d := text.New("one\ntwo\n")
//	d.Position(4, text.UTF16)            // {1 0}
//	text.Diff("one\ntwo\n", "one\n2\n")  // [{4 8 "2\n"}]
package text

import (
	"sort"
	"sync"
	"unicode/utf8"
)

// Encoding is the unit in which a Position counts characters: what LSP calls
// positionEncoding.
type Encoding int

// The encodings. UTF16 is the one that every client can do.
const (
	UTF16 Encoding = iota
	UTF8
)

// String is the encoding's name in LSP.
func (e Encoding) String() string {
	if e == UTF8 {
		return "utf-8"
	}
	return "utf-16"
}

// Position is a place in a text as LSP writes it: both numbers are 0-based,
// Character counts units of the encoding that was negotiated.
type Position struct{ Line, Character uint32 }

// Document is a text together with its line table, which is built when it is
// first asked for. It is immutable.
type Document struct {
	s string

	once   sync.Once
	starts []int // offset of the start of each line; starts[0] is 0
}

// New makes a document of s. It costs nothing until a line is asked for.
func New(s string) *Document { return &Document{s: s} }

// String is the whole text.
func (d *Document) String() string { return d.s }

// Len is the length of the text in bytes.
func (d *Document) Len() int { return len(d.s) }

// Lines is the number of lines. A text that ends with a line end has an empty
// last line, as in LSP; the empty text has one line.
func (d *Document) Lines() int { return len(d.table()) }

// Line gives the span of line i: its text is [start, end), the next line
// starts at next. A line past the end is empty and stands at the end.
func (d *Document) Line(i int) (start, end, next int) {
	starts := d.table()
	if i < 0 || i >= len(starts) {
		return len(d.s), len(d.s), len(d.s)
	}
	start, next = starts[i], len(d.s)
	if i+1 < len(starts) {
		next = starts[i+1]
	}
	return start, next - eolLen(d.s[start:next]), next
}

// LineAt is the number of the line that offset is in, 0-based.
func (d *Document) LineAt(offset int) int {
	starts := d.table()
	return sort.Search(len(starts), func(i int) bool { return starts[i] > offset }) - 1
}

// Position converts an offset. An offset outside the text is clamped, one
// inside a rune goes back to its start, one inside a \r\n to before it.
func (d *Document) Position(offset int, enc Encoding) Position {
	offset = max(0, min(offset, len(d.s)))
	for offset > 0 && offset < len(d.s) && !utf8.RuneStart(d.s[offset]) {
		offset--
	}
	line := d.LineAt(offset)
	start, end, _ := d.Line(line)
	return Position{Line: uint32(line), Character: uint32(units(d.s[start:min(offset, end)], enc))}
}

// Offset converts a position. As LSP asks, a character past the end of its
// line is the end of the line, before the line ending. A line past the end of
// the text is the end of the text, and false. A character in the middle of a
// rune, or between the halves of a surrogate pair, is the start of the rune.
func (d *Document) Offset(p Position, enc Encoding) (int, bool) {
	if int64(p.Line) >= int64(d.Lines()) {
		return len(d.s), false
	}
	start, end, _ := d.Line(int(p.Line))
	return start + skipUnits(d.s[start:end], int64(p.Character), enc), true
}

// Replace gives the document with one span replaced. The new one takes over
// the line table but for the lines around the change, so that following an
// editor's keystrokes costs little more than the copy of the text. The edit
// must lie within the text.
func (d *Document) Replace(e Edit) *Document {
	n := New(d.s[:e.Start] + e.New + d.s[e.End:])
	old := d.table()
	// A start depends on the character before it and, after a \r, on the one
	// at it: those below e.Start stay, and so do those above e.End.
	first := max(sort.SearchInts(old, e.Start)-1, 0)
	after := sort.SearchInts(old, e.End+1)
	starts := make([]int, 0, len(old)+16)
	starts = append(starts, old[:first+1]...)
	starts = appendStarts(starts, n.s, old[first], e.Start+len(e.New))
	shift := e.Delta()
	for _, s := range old[after:] {
		starts = append(starts, s+shift)
	}
	n.once.Do(func() { n.starts = starts })
	return n
}

// Apply gives the text with edits applied; see the function Apply.
func (d *Document) Apply(edits []Edit) string { return Apply(d.s, edits) }

func (d *Document) table() []int {
	d.once.Do(func() {
		d.starts = appendStarts([]int{0}, d.s, 0, len(d.s))
	})
	return d.starts
}

// appendStarts appends the line starts that the line ends within s[from:to]
// give rise to.
func appendStarts(starts []int, s string, from, to int) []int {
	for i := from; i < to; i++ {
		switch s[i] {
		case '\n':
			starts = append(starts, i+1)
		case '\r':
			if i+1 == len(s) || s[i+1] != '\n' {
				starts = append(starts, i+1)
			}
		}
	}
	return starts
}

// eolLen is the length of the line ending that line ends with.
func eolLen(line string) int {
	n := len(line)
	switch {
	case n > 1 && line[n-2] == '\r' && line[n-1] == '\n':
		return 2
	case n > 0 && (line[n-1] == '\n' || line[n-1] == '\r'):
		return 1
	}
	return 0
}

// units is the length of s in units of enc.
func units(s string, enc Encoding) int {
	if enc == UTF8 {
		return len(s)
	}
	n := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < 0x80 || c >= 0xC0 && c < 0xF0:
			n++
		case c >= 0xF0:
			n += 2
		}
	}
	return n
}

// skipUnits is the offset in s after at most n units.
func skipUnits(s string, n int64, enc Encoding) int {
	if enc == UTF8 {
		if n >= int64(len(s)) {
			return len(s)
		}
		i := int(n)
		for i > 0 && !utf8.RuneStart(s[i]) {
			i--
		}
		return i
	}
	i := 0
	for i < len(s) && n > 0 {
		c, size, width := s[i], 1, int64(1)
		switch {
		case c >= 0xF0:
			size, width = 4, 2
		case c >= 0xE0:
			size = 3
		case c >= 0xC0:
			size = 2
		}
		if width > n {
			break
		}
		n -= width
		i = min(i+size, len(s))
	}
	return i
}
