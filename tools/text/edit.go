package text

import (
	"strings"
	"unicode/utf8"
)

// Edit replaces the bytes [Start, End) of a text by New.
type Edit struct {
	Start, End int
	New        string
}

// Delta is by how much the edit makes the text longer.
func (e Edit) Delta() int { return len(e.New) - (e.End - e.Start) }

// Apply gives s with edits applied. They must be sorted and disjoint and lie
// within s; offsets are those of s. Two edits may touch: they take effect in
// their order.
func Apply(s string, edits []Edit) string {
	if len(edits) == 0 {
		return s
	}
	n := len(s)
	for _, e := range edits {
		n += e.Delta()
	}
	var b strings.Builder
	b.Grow(max(n, 0))
	last := 0
	for _, e := range edits {
		b.WriteString(s[last:e.Start])
		b.WriteString(e.New)
		last = e.End
	}
	b.WriteString(s[last:])
	return b.String()
}

// ApplyWithin is what becomes of s[start:end] with edits of s that lie in it.
func ApplyWithin(s string, start, end int, edits []Edit) string {
	moved := make([]Edit, len(edits))
	for i, e := range edits {
		moved[i] = Edit{Start: e.Start - start, End: e.End - start, New: e.New}
	}
	return Apply(s[start:end], moved)
}

// ClampRune cuts s to at most n bytes, never inside a rune.
func ClampRune(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// CommonPrefix is the length of the longest common prefix of a and b in
// bytes. It may end inside a rune. Strings that share their memory, or much
// of their content, are compared at the speed of memory.
func CommonPrefix(a, b string) int {
	const block = 1 << 10
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && a[i:i+block] == b[i:i+block] {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// CommonSuffix is the length of the longest common suffix of a and b in bytes.
func CommonSuffix(a, b string) int {
	const block = 1 << 10
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && a[len(a)-i-block:len(a)-i] == b[len(b)-i-block:len(b)-i] {
		i += block
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}
