package ignore

import "strings"

// classes are the names between [: and :], with git's idea of each.
var classes = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return isAlpha(c) || isDigit(c) },
	"alpha":  isAlpha,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7F },
	"digit":  isDigit,
	"graph":  func(c byte) bool { return c > ' ' && c < 0x7F },
	"lower":  isLower,
	"print":  func(c byte) bool { return c >= ' ' && c < 0x7F },
	"punct":  func(c byte) bool { return c > ' ' && c < 0x7F && !isAlpha(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' },
	"upper":  isUpper,
	"xdigit": func(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' },
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isAlpha(c byte) bool { return isLower(c) || isUpper(c) }

// readSet reads a set whose [ is before s[i], and returns the index of its ].
// One that git finds malformed matches nothing, and so does its pattern.
func readSet(s string, i int, fold bool) (t token, end int, ok bool) {
	negated := i < len(s) && (s[i] == '!' || s[i] == '^')
	if negated {
		i++
	}
	has := make([]bool, 256)
	var previous byte
	for first := true; ; first = false {
		if i >= len(s) {
			return token{}, 0, false
		}
		c := s[i]
		if c == ']' && !first {
			break
		}
		switch {
		case c == '\\':
			if i++; i >= len(s) {
				return token{}, 0, false
			}
			c = s[i]
			has[c] = true
		case c == '-' && previous != 0 && i+1 < len(s) && s[i+1] != ']':
			if i++; s[i] == '\\' {
				if i++; i >= len(s) {
					return token{}, 0, false
				}
			}
			addRange(has, previous, s[i], fold)
			c = 0
		case c == '[' && strings.HasPrefix(s[i+1:], ":"):
			after, named, ok := addClass(has, s, i+2, fold)
			if !ok {
				return token{}, 0, false
			}
			if named {
				i, c = after, 0
			} else {
				has['['] = true
			}
		default:
			has[c] = true
		}
		previous = c
		i++
	}
	return token{kind: set, set: pack(has, negated)}, i, true
}

// addRange adds from-to. Folded text has no upper case letters: one of a range
// stands for its lower case.
func addRange(has []bool, from, to byte, fold bool) {
	for c := int(from); c <= int(to); c++ {
		has[c] = true
		if fold && isUpper(byte(c)) {
			has[folded(byte(c), true)] = true
		}
	}
}

// addClass adds the class whose name starts at s[i] and returns the index of
// its ]. Without :] there it is no class, named is false then; with a name
// that is none, or without any ], ok is false.
func addClass(has []bool, s string, i int, fold bool) (end int, named, ok bool) {
	n := strings.IndexByte(s[i:], ']')
	if n < 0 {
		return 0, false, false
	}
	end = i + n
	if n == 0 || s[end-1] != ':' {
		return 0, false, true
	}
	class, known := classes[s[i:end-1]]
	if !known {
		return 0, false, false
	}
	for c := range 256 {
		if class(byte(c)) || fold && isLower(byte(c)) && s[i:end-1] == "upper" {
			has[c] = true
		}
	}
	return end, true, true
}

// pack makes a set, which never holds the slash.
func pack(has []bool, negated bool) *[4]uint64 {
	var m [4]uint64
	for c := range 256 {
		if has[c] != negated && c != '/' {
			m[c/64] |= 1 << (c % 64)
		}
	}
	return &m
}
