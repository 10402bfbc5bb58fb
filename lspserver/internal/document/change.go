package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/tools/text"
)

// Change is one entry of didChange's contentChanges: Text replaces Range, or
// the whole text where there is none.
type Change struct {
	Range *Range
	Text  string
}

// Range is half open, in the connection's position encoding.
type Range struct{ Start, End text.Position }

// UnmarshalJSON takes positions that LSP does not know, too: editors write
// "to the end" as Number.MAX_VALUE, and a notification that fails to decode
// would leave the mirror wrong for good.
func (c *Change) UnmarshalJSON(b []byte) error {
	type position struct{ Line, Character float64 }
	var raw struct {
		Range *struct{ Start, End position }
		Text  *string
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	if raw.Text == nil {
		return errors.New("a content change without text")
	}
	*c = Change{Text: *raw.Text}
	if raw.Range != nil {
		clamp := func(p position) text.Position {
			u := func(f float64) uint32 { return uint32(max(0, min(f, math.MaxInt32))) }
			return text.Position{Line: u(p.Line), Character: u(p.Character)}
		}
		c.Range = &Range{clamp(raw.Range.Start), clamp(raw.Range.End)}
	}
	return nil
}

// apply is d after changes, each in terms of the text that the one before
// left. A range beyond the text is clamped to it and a reversed one turned
// round, as editors do; the error tells of them, the document is good anyway.
func apply(d *text.Document, changes []Change, enc text.Encoding) (*text.Document, error) {
	// Whatever came before a replacement of everything is gone.
	for i := len(changes) - 1; i >= 0; i-- {
		if changes[i].Range == nil {
			d, changes = text.New(changes[i].Text), changes[i+1:]
			break
		}
	}
	switch len(changes) {
	case 0:
		return d, nil
	case 1:
		c := changes[0]
		start, ok1 := d.Offset(c.Range.Start, enc)
		end, ok2 := d.Offset(c.Range.End, enc)
		start, end = min(start, end), max(start, end)
		var err error
		if !ok1 || !ok2 || before(c.Range.End, c.Range.Start) {
			err = badRange(*c.Range)
		}
		return d.Replace(text.Edit{Start: start, End: end, New: c.Text}), err
	}
	lines := split(d.String())
	var errs []error
	for _, c := range changes {
		var ok bool
		if lines, ok = lines.replace(*c.Range, c.Text, enc); !ok {
			errs = append(errs, badRange(*c.Range))
		}
	}
	return text.New(strings.Join(lines, "")), errors.Join(errs...)
}

func badRange(r Range) error {
	return fmt.Errorf("range %d:%d-%d:%d does not fit the text",
		r.Start.Line, r.Start.Character, r.End.Line, r.End.Character)
}

func before(a, b text.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Character < b.Character
}

// lines is a text cut after each line end; the last one has none and may be
// empty. It makes many small changes of a long text cheap (a replace-all or
// many cursors come as thousands in one notification), where each would copy
// the text.
type lines []string

func split(s string) lines {
	l := make(lines, 0, strings.Count(s, "\n")+1)
	for {
		i := strings.IndexAny(s, "\r\n")
		if i < 0 {
			return append(l, s)
		}
		if strings.HasPrefix(s[i:], "\r\n") {
			i++
		}
		l = append(l, s[:i+1])
		s = s[i+1:]
	}
}

// replace puts new over r. It reports whether r fits the text.
func (l lines) replace(r Range, new string, enc text.Encoding) (lines, bool) {
	fits := !before(r.End, r.Start)
	if !fits {
		r.Start, r.End = r.End, r.Start
	}
	first, head, ok1 := l.locate(r.Start, enc)
	last, tail, ok2 := l.locate(r.End, enc)
	mid := l[first][:head] + new + l[last][tail:]
	if mid == "" && last+1 < len(l) {
		last++
		mid = l[last]
	}
	// A lone \r and a \n that come to stand side by side are one line end.
	if first > 0 && strings.HasSuffix(l[first-1], "\r") && strings.HasPrefix(mid, "\n") {
		first--
		mid = l[first] + mid
	}
	if strings.HasSuffix(mid, "\r") && last+1 < len(l) && strings.HasPrefix(l[last+1], "\n") {
		last++
		mid += l[last]
	}
	parts := split(mid)
	if n := len(parts) - 1; parts[n] == "" && last+1 < len(l) {
		parts = parts[:n] // the line end is followed by the next line
	} else if parts[n] != "" && last+1 < len(l) {
		// The line end of the last line went: it goes on in the next.
		last++
		parts[n] += l[last]
	}
	if len(parts) == last+1-first {
		copy(l[first:], parts)
		return l, fits && ok1 && ok2
	}
	return slices.Replace(l, first, last+1, parts...), fits && ok1 && ok2
}

// locate is the line and the byte in it that p stands for, clamped as LSP
// says: never inside a line end, never inside a character.
func (l lines) locate(p text.Position, enc text.Encoding) (line, offset int, ok bool) {
	if uint64(p.Line) >= uint64(len(l)) {
		return len(l) - 1, len(l[len(l)-1]), false
	}
	s := strings.TrimRight(l[p.Line], "\r\n")
	left := int(p.Character)
	for i, r := range s {
		units := 1
		if enc == text.UTF8 {
			units = utf8.RuneLen(r)
		} else if r > 0xFFFF {
			units = 2
		}
		if left < units {
			return int(p.Line), i, true
		}
		left -= units
	}
	return int(p.Line), len(s), true
}
