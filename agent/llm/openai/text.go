package openai

import (
	"strings"
	"unicode/utf8"
)

// joiner makes valid UTF-8 of the pieces of one text. A rune that was cut
// apart between two pieces, by bytes or as a surrogate pair, is held back until
// its rest is there; what never gets complete becomes U+FFFD.
type joiner struct{ held []byte }

func (j *joiner) push(b []byte) string {
	if len(j.held) == 0 && utf8.Valid(b) {
		return string(b)
	}
	b = append(j.held, b...)
	j.held = nil
	var out strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r != utf8.RuneError || size > 1 {
			out.WriteRune(r)
			b = b[size:]
			continue
		}
		if incomplete(b) {
			j.held = append([]byte(nil), b...)
			break
		}
		if high, ok := surrogate(b); ok {
			if low, ok := surrogate(b[3:]); ok && isHigh(high) && isLow(low) {
				out.WriteRune(pair(high, low))
				b = b[6:]
				continue
			}
			b = b[2:] // with the byte below: the three of the surrogate
		}
		out.WriteRune(utf8.RuneError)
		b = b[1:]
	}
	return out.String()
}

// flush gives up on what is held back.
func (j *joiner) flush() string {
	if len(j.held) == 0 {
		return ""
	}
	j.held = nil
	return string(utf8.RuneError)
}

// incomplete reports whether all of b may be the start of a rune or of a
// surrogate pair.
func incomplete(b []byte) bool {
	if len(b) < utf8.UTFMax && !utf8.FullRune(b) {
		return true
	}
	// ED A0…AF xx is half a pair, in the bytes that unescape gives it.
	const lead = 0xed
	if b[0] != lead || len(b) > 5 || len(b) > 1 && (b[1] < 0xa0 || b[1] > 0xaf) {
		return false
	}
	return len(b) <= 3 || b[3] == lead && (len(b) == 4 || b[4] >= 0xb0)
}

// surrogate decodes half a pair at the start of b.
func surrogate(b []byte) (rune, bool) {
	if len(b) < 3 || b[0] != 0xed || b[1] < 0xa0 || b[1] > 0xbf || b[2] < 0x80 || b[2] > 0xbf {
		return 0, false
	}
	return 0xd000 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), true
}

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thinkSplitter takes the reasoning out of an answer that begins with
// <think>…</think>, as some local servers send it. Markup further on is text.
type thinkSplitter struct {
	state thinkState
	held  string // may be the start of a tag
	began bool   // a tag was seen: white space after it is not the answer's
}

type thinkState int

const (
	thinkStart  thinkState = iota // nothing but white space so far
	thinkInside                   // between the tags
	thinkPast                     // in the answer
)

// push splits a piece of text.
func (t *thinkSplitter) push(s string) (thought, text string) {
	if t.state == thinkPast {
		return "", s
	}
	s = t.held + s
	t.held = ""
	for {
		switch t.state {
		case thinkStart:
			body := strings.TrimLeft(s, " \t\r\n")
			if rest, ok := strings.CutPrefix(body, thinkOpen); ok {
				t.state, t.began, s = thinkInside, true, rest
				continue
			}
			if strings.HasPrefix(thinkOpen, body) {
				t.held = s
				return thought, ""
			}
			if t.began {
				s = body
			}
			t.state = thinkPast
		case thinkInside:
			before, rest, ok := strings.Cut(s, thinkClose)
			if !ok {
				keep := suffixOf(s, thinkClose)
				t.held = s[len(s)-keep:]
				return thought + s[:len(s)-keep], ""
			}
			thought += before
			t.state, s = thinkStart, rest
			continue
		}
		return thought, s
	}
}

// flush gives out what was held back.
func (t *thinkSplitter) flush() (thought, text string) {
	s := t.held
	t.held = ""
	switch {
	case t.state == thinkInside:
		return s, ""
	case t.began:
		return "", strings.TrimLeft(s, " \t\r\n")
	}
	return "", s
}

// suffixOf is how many bytes at the end of s are the start of tag.
func suffixOf(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
