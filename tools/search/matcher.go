package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// matcher finds a pattern in lines. It takes time proportional to what it
// reads, whatever the pattern: Go's expressions never backtrack.
type matcher struct {
	re *regexp.Regexp
	// must is a text that every match holds, or empty: where it is missing
	// the expression need not run. whole says that it is the pattern.
	must  []byte
	whole bool
}

// compile reads a pattern; its error is for the model.
func compile(pattern string, ignoreCase bool) (*matcher, error) {
	flags := ""
	if ignoreCase {
		flags = "(?i)"
	}
	re, err := regexp.Compile(flags + pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern is no valid regular expression: %s%s", cause(err), advice(err, pattern))
	}
	m := &matcher{re: re}
	if tree, err := syntax.Parse(flags+pattern, syntax.Perl); err == nil {
		tree = tree.Simplify()
		m.must = []byte(required(tree))
		m.whole = tree.Op == syntax.OpLiteral && len(m.must) > 0
		if bytes.ContainsRune(m.must, utf8.RuneError) {
			m.must, m.whole = nil, false // an expression finds it in every broken byte
		}
	}
	return m, nil
}

func cause(err error) string {
	var se *syntax.Error
	if errors.As(err, &se) {
		return fmt.Sprintf("%s: %s", se.Code, quote(se.Expr))
	}
	return err.Error()
}

// advice is what to do about a pattern that does not compile.
func advice(err error, pattern string) string {
	var se *syntax.Error
	if !errors.As(err, &se) {
		return ""
	}
	switch se.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidEscape:
		return " (the syntax is RE2: no look-around, no back references)"
	case syntax.ErrInvalidRepeatSize, syntax.ErrLarge, syntax.ErrNestingDepth:
		return " (make it simpler)"
	}
	if len(pattern) > maxTitle || strings.ContainsFunc(pattern, unicode.IsControl) {
		return ""
	}
	return fmt.Sprintf(" (to find these very characters search for %s)", regexp.QuoteMeta(pattern))
}

// required is the longest text that every match of an expression holds.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(best) {
				best = s
			}
		}
		return best
	}
	return ""
}

// longLine is from how many bytes on a line is matched so that the end of a
// context is noticed on the way.
const longLine = 1 << 20

// find is where the first match in a line is, nil if there is none.
func (m *matcher) find(ctx context.Context, line []byte) []int {
	at := 0
	if len(m.must) > 0 {
		if at = bytes.Index(line, m.must); at < 0 {
			return nil
		}
		if m.whole {
			return []int{at, at + len(m.must)}
		}
	}
	if len(line) < longLine {
		return m.re.FindIndex(line)
	}
	loc := m.re.FindReaderIndex(&runeReader{ctx: ctx, rest: line})
	if ctx.Err() != nil {
		return nil
	}
	return loc
}

// runeReader reads runes until its context ends.
type runeReader struct {
	ctx  context.Context
	rest []byte
	n    int
}

// ReadRune implements io.RuneReader.
func (r *runeReader) ReadRune() (rune, int, error) {
	if r.n++; r.n&0xFFF == 0 && r.ctx.Err() != nil || len(r.rest) == 0 {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRune(r.rest)
	r.rest = r.rest[size:]
	return c, size, nil
}

// spansLines says whether a pattern asks for more than one line, which it
// never gets.
func spansLines(pattern string) bool {
	return strings.Contains(pattern, `\n`) || strings.Contains(pattern, "\n")
}
