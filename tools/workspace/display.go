package workspace

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Display spells a path for the model and the user: relative to its folder,
// slash-separated, led by the folder's name where several are open, the
// folder itself "." where one is. What a terminal or a reader could stumble
// over in a name is escaped, as in `a\x1b.txt`; Resolve takes that back.
func (w *Workspace) Display(abs string) string {
	f := w.folderOf(abs)
	if f == nil {
		return escapePath(filepath.ToSlash(abs))
	}
	rel := f.rel(abs)
	if len(w.list()) > 1 {
		if rel == "." {
			return escapePath(f.name)
		}
		rel = f.name + "/" + rel
	}
	return escapePath(rel)
}

// escapePath escapes a path if it needs that. A path that only looks escaped
// does: unescape undoes exactly what escapePath did.
func escapePath(p string) string {
	if runtime.GOOS == "windows" {
		return escape(p) // backslashes separate, and the rest cannot occur
	}
	if escaped := escape(p); escaped != p {
		return escape(strings.ReplaceAll(p, `\`, `\\`))
	}
	if plain, ok := unescape(p); ok && plain != p {
		return strings.ReplaceAll(p, `\`, `\\`)
	}
	return p
}

// escape makes control characters, invisible ones and broken UTF-8 visible.
func escape(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || hidden(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < utf8.RuneSelf && hidden(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xFFFF && hidden(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// unescape takes back what escapePath did; ok is false for what it never
// writes.
func unescape(s string) (plain string, ok bool) {
	if !strings.Contains(s, `\`) {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		switch s[i] {
		case '\\':
			b.WriteByte('\\')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'x', 'u', 'U':
			digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]]
			if len(s)-i-1 < digits {
				return "", false
			}
			v, err := strconv.ParseUint(s[i+1:i+1+digits], 16, 32)
			if err != nil || v > unicode.MaxRune {
				return "", false
			}
			if s[i] == 'x' {
				b.WriteByte(byte(v))
			} else {
				b.WriteRune(rune(v))
			}
			i += digits
		default:
			return "", false
		}
	}
	return b.String(), true
}

// hidden characters cannot be seen, or change how others are shown: controls,
// bidirectional overrides, separators that break lines, tags. Joiners are
// left alone: emoji and Persian need them.
func hidden(r rune) bool {
	switch {
	case unicode.IsControl(r),
		r == 0x061C, r == 0x200B, r == 0x200E, r == 0x200F,
		r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F,
		r == 0xFEFF, r >= 0xE0000 && r <= 0xE007F:
		return true
	}
	return false
}
