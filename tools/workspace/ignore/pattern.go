package ignore

import (
	"math/bits"
	"strings"
)

// pattern is one line of an ignore file.
type pattern struct {
	negated bool // ! in front
	dirOnly bool // / at the end
	byName  bool // no other slash: the last part of a path decides

	// literal is what stands before the first special character and is
	// compared as it is; tokens match the rest. A pattern of one star and a
	// plain end, the most frequent kind, is suffix instead.
	literal string
	suffix  string
	tokens  []token
	// must stands in whatever the tokens match: the longest plain text in them.
	must string
}

// token matches a part of a path.
type token struct {
	kind kind
	char byte
	set  *[4]uint64 // of bytes
}

type kind uint8

const (
	char     kind = iota
	one           // ?, a byte
	set           // [a-z]
	stars         // *, any bytes but a slash
	anything      // **, any bytes
	optional      // **/ may be nothing: goes on behind the two tokens after it, too
)

// special are the bytes that do not stand for themselves.
const special = `*?[\`

// compile reads a pattern; ok is false for one that matches nothing.
func compile(s string, fold bool) (p pattern, ok bool) {
	if s != "" && s[0] == '!' {
		p.negated = true
		s = s[1:]
	}
	if s != "" && s[len(s)-1] == '/' {
		p.dirOnly = true
		s = s[:len(s)-1]
	}
	if s == "" {
		return p, false
	}
	p.byName = !strings.Contains(s, "/")
	if s[0] == '/' {
		s = s[1:]
	}
	if p.byName && s[0] == '*' && len(s) > 1 && !strings.ContainsAny(s[1:], special) {
		p.suffix = s[1:]
		if fold {
			p.suffix = lower(p.suffix)
		}
		return p, true
	}
	// git compares the plain beginning apart, so that for it the rest of
	// `a**/b` begins with `**/`.
	plain := strings.IndexAny(s, special)
	if plain < 0 {
		plain = len(s)
	}
	p.literal = s[:plain]
	if fold {
		p.literal = lower(p.literal)
	}
	p.tokens, ok = tokens(s[plain:], fold)
	p.must = longest(p.tokens)
	return p, ok
}

// longest is the longest run of plain bytes among tokens. A **/ may match
// nothing, with its slash.
func longest(tokens []token) string {
	var best, run []byte
	for i, t := range tokens {
		if t.kind != char || i > 1 && tokens[i-2].kind == optional {
			run = run[:0]
			continue
		}
		if run = append(run, t.char); len(run) > len(best) {
			best = append(best[:0], run...)
		}
	}
	return string(best)
}

// match takes a path and its last part.
func (p *pattern) match(path, name string) bool {
	s := path
	if p.byName {
		s = name
		if p.suffix != "" {
			return strings.HasSuffix(s, p.suffix)
		}
	}
	if len(p.tokens) == 0 {
		return s == p.literal
	}
	rest, ok := strings.CutPrefix(s, p.literal)
	return ok && strings.Contains(rest, p.must) && run(p.tokens, rest)
}

// tokens reads a pattern the way git's wildmatch does: stars and sets stop at
// slashes, and ** is special between them.
func tokens(s string, fold bool) (list []token, ok bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i == len(s) {
				return nil, false
			}
			list = append(list, token{kind: char, char: folded(s[i], fold)})
		case '?':
			list = append(list, token{kind: one})
		case '[':
			t, next, ok := readSet(s, i+1, fold)
			if !ok {
				return nil, false
			}
			list = append(list, t)
			i = next
		case '*':
			from := i
			for i+1 < len(s) && s[i+1] == '*' {
				i++
			}
			rest := s[i+1:]
			wide := false
			if i > from && (from == 0 || s[from-1] == '/') {
				if strings.HasPrefix(rest, "/") {
					list = append(list, token{kind: optional})
				}
				wide = rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)
			}
			if wide {
				list = append(list, token{kind: anything})
			} else {
				list = append(list, token{kind: stars})
			}
		default:
			list = append(list, token{kind: char, char: folded(c, fold)})
		}
	}
	return list, true
}

// run says whether the tokens match all of s, by following every way at once.
func run(tokens []token, s string) bool {
	var room [2][2]uint64
	now, next := room[0][:], room[1][:]
	if words := len(tokens)/64 + 1; words > len(now) {
		now, next = make([]uint64, words), make([]uint64, words)
	}
	enter(now, tokens, 0)
	for i := range len(s) {
		clear(next)
		alive := false
		for w, word := range now {
			for ; word != 0; word &= word - 1 {
				at := w*64 + bits.TrailingZeros64(word)
				if at == len(tokens) {
					continue
				}
				if to := tokens[at].step(s[i], at); to >= 0 {
					enter(next, tokens, to)
					alive = true
				}
			}
		}
		if !alive {
			return false
		}
		now, next = next, now
	}
	return now[len(tokens)/64]>>(len(tokens)%64)&1 != 0
}

// step is where the token at a place leads with one more byte, -1 for nowhere.
func (t *token) step(c byte, at int) int {
	ok, to := false, at+1
	switch t.kind {
	case char:
		ok = c == t.char
	case one:
		ok = c != '/'
	case set:
		ok = t.set[c/64]>>(c%64)&1 != 0
	case stars:
		ok, to = c != '/', at
	case anything:
		ok, to = true, at
	}
	if ok {
		return to
	}
	return -1
}

// enter adds a place and those that are reached from it without a byte.
func enter(places []uint64, tokens []token, at int) {
	for {
		places[at/64] |= 1 << (at % 64)
		if at == len(tokens) {
			return
		}
		switch tokens[at].kind {
		case optional:
			enter(places, tokens, at+3) // behind anything and the slash
		case stars, anything:
		default:
			return
		}
		at++
	}
}

func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				b[i] = folded(b[i], true)
			}
			return string(b)
		}
	}
	return s
}

func folded(c byte, fold bool) byte {
	if fold && c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
