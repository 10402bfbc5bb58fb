package openai

import (
	"strconv"
	"unicode/utf8"
)

// scanner walks over the JSON of a chunk without decoding what nobody asks
// for. It takes what encoding/json takes and more: invalid UTF-8 and lone
// surrogates stay in the strings, as bytes, so that a rune which was cut apart
// between two chunks can be put together again. A fault sets bad and from
// there on every call returns at once.
//
// Values of an unexpected type are skipped, not refused: one odd field must
// not cost the answer.
type scanner struct {
	data    []byte
	pos     int
	bad     bool
	depth   int
	scratch []byte // for strings with escapes
}

const maxDepth = 200

func (s *scanner) fail() { s.bad = true }

// peek returns the first byte of the next value, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// take consumes a byte that has to be there.
func (s *scanner) take(c byte) {
	if s.peek() != c {
		s.fail()
		return
	}
	s.pos++
}

// object calls f for each member with the scanner before the value; f has to
// consume it. Anything but an object is skipped.
func (s *scanner) object(f func(key []byte)) {
	if s.peek() != '{' {
		s.skip()
		return
	}
	if s.depth++; s.depth > maxDepth {
		s.fail()
		return
	}
	s.pos++
	for first := true; !s.bad; first = false {
		if s.peek() == '}' {
			s.pos++
			break
		}
		if !first {
			s.take(',')
		}
		if s.peek() != '"' {
			s.fail()
			return
		}
		key := s.text()
		s.take(':')
		if !s.bad {
			f(key)
		}
	}
	s.depth--
}

// array calls f for each item with the scanner before it. Anything but an
// array is skipped.
func (s *scanner) array(f func()) {
	if s.peek() != '[' {
		s.skip()
		return
	}
	if s.depth++; s.depth > maxDepth {
		s.fail()
		return
	}
	s.pos++
	for first := true; !s.bad; first = false {
		if s.peek() == ']' {
			s.pos++
			break
		}
		if !first {
			s.take(',')
		}
		f()
	}
	s.depth--
}

// text reads a string; it is nil for a value of another type, which is
// skipped, and not nil for an empty one. The bytes are valid until the next
// string with escapes is read.
func (s *scanner) text() []byte {
	if s.peek() != '"' {
		s.skip()
		return nil
	}
	s.pos++
	start := s.pos
	for i := start; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return s.data[start:i:i]
		case c == '\\':
			return s.escaped(start, i)
		case c < ' ':
			s.fail()
			return nil
		}
	}
	s.fail()
	return nil
}

// escaped reads a string whose first escape stands at i.
func (s *scanner) escaped(start, i int) []byte {
	out := append(s.scratch[:0], s.data[start:i]...)
	for i < len(s.data) {
		c := s.data[i]
		switch {
		case c == '"':
			s.pos = i + 1
			s.scratch = out
			return out
		case c < ' ':
			s.fail()
			return nil
		case c != '\\':
			out = append(out, c)
			i++
		default:
			n := 0
			if out, n = unescape(out, s.data[i:]); n == 0 {
				s.fail()
				return nil
			}
			i += n
		}
	}
	s.fail()
	return nil
}

// unescape appends what the escape at the start of b stands for and returns
// its length, 0 if it is none. Half a surrogate pair is appended as the three
// bytes that UTF-8 would give it, for joiner to complete.
func unescape(out, b []byte) ([]byte, int) {
	if len(b) < 2 {
		return out, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return append(out, b[1]), 2
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	case 'u':
		r, ok := hex4(b[2:])
		if !ok {
			return out, 0
		}
		if isHigh(r) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if low, ok := hex4(b[8:]); ok && isLow(low) {
				return utf8.AppendRune(out, pair(r, low)), 12
			}
		}
		if isHigh(r) || isLow(r) {
			return append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f), 6
		}
		return utf8.AppendRune(out, r), 6
	}
	return out, 0
}

func isHigh(r rune) bool { return r >= 0xd800 && r < 0xdc00 }
func isLow(r rune) bool  { return r >= 0xdc00 && r < 0xe000 }

func pair(high, low rune) rune { return (high-0xd800)<<10 + (low - 0xdc00) + 0x10000 }

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// number reads a number, also one in quotes; ok is false for anything else,
// which is skipped.
func (s *scanner) number() (n float64, ok bool) {
	var raw []byte
	if s.peek() == '"' {
		raw = s.text()
	} else {
		raw = s.raw()
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	return n, err == nil
}

// raw skips a value and returns its text.
func (s *scanner) raw() []byte {
	s.peek()
	start := s.pos
	s.skip()
	if s.bad {
		return nil
	}
	return s.data[start:s.pos]
}

// skip consumes a value of any type.
func (s *scanner) skip() {
	switch c := s.peek(); {
	case c == '"':
		s.skipString()
	case c == '{':
		s.object(func([]byte) { s.skip() })
	case c == '[':
		s.array(s.skip)
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.literal("null")
	case c == '-' || c >= '0' && c <= '9':
		s.skipNumber()
	default:
		s.fail()
	}
}

func (s *scanner) skipString() {
	for i := s.pos + 1; i < len(s.data); i++ {
		switch s.data[i] {
		case '\\':
			i++
		case '"':
			s.pos = i + 1
			return
		}
	}
	s.fail()
}

func (s *scanner) skipNumber() {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) literal(word string) {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		s.fail()
		return
	}
	s.pos += len(word)
}
