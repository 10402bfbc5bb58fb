package terminal

import (
	"fmt"
	"strings"
	"unicode"
)

// What a model, a file or a server says goes to a terminal only through the
// functions here: a terminal obeys control characters, and a reader cannot see
// the ones that change how text is read.

// safe makes control characters and those that turn the direction of writing
// visible. Line ends and tabs stay.
func safe(s string) string { return show(s, false) }

// exact makes everything visible that a reader would not see: also what has no
// width. It is for what gets approved.
func exact(s string) string { return show(s, true) }

// safeLine is safe for text that must stay on one line.
func safeLine(s string) string {
	return strings.NewReplacer("\n", "␊", "\t", " ").Replace(safe(s))
}

func show(s string, all bool) string {
	hidden := func(r rune) bool {
		if r == '\n' || r == '\t' {
			return false
		}
		return unicode.IsControl(r) || turnsDirection(r) || all && unicode.Is(unicode.Cf, r)
	}
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// turnsDirection reports whether a character reorders what is around it.
func turnsDirection(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// stream makes a text safe that comes in pieces. Carriage returns before line
// ends, which may come in another piece, are dropped.
type stream struct{ cr bool }

func (s *stream) next(delta string) string {
	if s.cr {
		delta = "\r" + delta
	}
	if s.cr = strings.HasSuffix(delta, "\r"); s.cr {
		delta = delta[:len(delta)-1]
	}
	return safe(strings.ReplaceAll(delta, "\r\n", "\n"))
}
