package text

import (
	"unicode"
	"unicode/utf8"
)

// maxRun bounds how far back a cut looks for the start of a word. What is
// longer is no identifier but data, and may be cut.
const maxRun = 512

// Trim cuts what an edit of a leaves as it is off both ends, back to token
// boundaries: never inside a word or number, a rune, a base character with
// its marks, or between \r and \n. The result does the same to a.
//
//	Trim("x = hello\n", Edit{0, 10, "x = hello2\n"}) // {4 9 "hello2"}
func Trim(a string, e Edit) Edit {
	old := a[e.Start:e.End]
	p := CommonPrefix(old, e.New)
	tail := a[e.End:]
	for p > 0 && !(cutAt(old, p, tail) && cutAt(e.New, p, tail)) {
		p--
	}
	e.Start += p
	e.New = e.New[p:]
	old = old[p:]

	s := CommonSuffix(old, e.New)
	head := a[:e.Start]
	for s > 0 && !(cutBefore(head, old, s) && cutBefore(head, e.New, s)) {
		s--
	}
	e.End -= s
	e.New = e.New[:len(e.New)-s]
	return e
}

// cutAt tells whether s+tail may be cut at i, which lies within s.
func cutAt(s string, i int, tail string) bool {
	if i < len(s) {
		return Boundary(s[:i], s[i:])
	}
	return Boundary(s, tail)
}

// cutBefore tells whether head+s may be cut before the last n bytes of s.
func cutBefore(head, s string, n int) bool {
	if i := len(s) - n; i > 0 {
		return Boundary(s[:i], s[i:])
	}
	return Boundary(head, s)
}

// Boundary tells whether left and right, which follow each other, may be cut
// apart: no word, number, rune, character with marks or \r\n goes across.
func Boundary(left, right string) bool {
	if left == "" || right == "" {
		return true
	}
	if !utf8.RuneStart(right[0]) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(right)
	l, _ := utf8.DecodeLastRuneInString(left)
	if l == '\r' && r == '\n' {
		return false
	}
	if joins(r) || l == zwj {
		return false
	}
	return !(isWord(l) && isWord(r)) || longRun(left)
}

const zwj = '\u200D'

// joins tells whether r belongs to the character before it.
func joins(r rune) bool {
	if r < 0x300 {
		return false
	}
	return r == zwj || r >= 0xFE00 && r <= 0xFE0F || r >= 0x1F3FB && r <= 0x1F3FF || unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc)
}

// isWord tells whether r is part of a word that must stay whole. Scripts that
// write no spaces have words of one character here.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// longRun tells whether left ends with more word characters than a word has.
func longRun(left string) bool {
	if len(left) <= maxRun {
		return false
	}
	for i := len(left); len(left)-i <= maxRun; {
		r, size := utf8.DecodeLastRuneInString(left[:i])
		if !isWord(r) {
			return false
		}
		i -= size
	}
	return true
}
