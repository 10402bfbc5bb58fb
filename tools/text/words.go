package text

import (
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// maxTokens is the number of tokens on both sides together up to which Words
// looks inside an edit.
const maxTokens = 4000

// Words splits an edit of a into its smallest parts: edits of whole tokens,
// sorted and disjoint, that do the same together. Two of them are separated
// by at least one word or line end that stays. An edit too large to look into
// comes back trimmed and whole; one that changes nothing gives none.
func Words(a string, e Edit) []Edit {
	e = Trim(a, e)
	if e.Start == e.End && e.New == "" {
		return nil
	}
	if e.Start == e.End || e.New == "" {
		return []Edit{e}
	}
	var w wordDiff
	w.ids = make(map[string]rune)
	ta, ok := w.tokens(a[e.Start:e.End], maxTokens)
	if !ok {
		return []Edit{e}
	}
	tb, ok := w.tokens(e.New, maxTokens-len(ta.runes))
	if !ok {
		return []Edit{e}
	}
	var out []Edit
	i, j, ao, bo := 0, 0, e.Start, 0
	solid := true // what was kept since the last edit separates
	for _, d := range diffRunes(ta.runes, tb.runes) {
		an, bn := 0, 0
		if d.op != diffmatchpatch.DiffInsert {
			for range d.n {
				an += ta.sizes[i]
				if d.op == diffmatchpatch.DiffEqual {
					solid = solid || separates(a[ao+an-ta.sizes[i]:])
				}
				i++
			}
		}
		if d.op != diffmatchpatch.DiffDelete {
			for range d.n {
				bn += tb.sizes[j]
				j++
			}
		}
		if d.op == diffmatchpatch.DiffEqual {
			ao, bo = ao+an, bo+bn
			continue
		}
		if solid || len(out) == 0 {
			out = append(out, Edit{Start: ao, End: ao + an, New: e.New[bo : bo+bn]})
		} else {
			last := &out[len(out)-1]
			last.New += a[last.End:ao] + e.New[bo:bo+bn]
			last.End = ao + an
		}
		ao, bo, solid = ao+an, bo+bn, false
	}
	return out
}

// separates tells whether the token that s begins with keeps two edits apart.
func separates(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '\n' || r == '\r' || isWord(r) || r >= utf8.RuneSelf
}

type tokenList struct {
	runes []rune
	sizes []int
}

type wordDiff struct{ ids map[string]rune }

// tokens splits s where Trim may cut, and gives up above limit.
func (w *wordDiff) tokens(s string, limit int) (tokenList, bool) {
	var t tokenList
	for s != "" {
		if len(t.runes) == limit {
			return t, false
		}
		n := tokenLen(s)
		id, ok := w.ids[s[:n]]
		if !ok {
			id = symbol(len(w.ids))
			w.ids[s[:n]] = id
		}
		t.runes, t.sizes = append(t.runes, id), append(t.sizes, n)
		s = s[n:]
	}
	return t, true
}

// tokenLen is the length of the first token of s: the shortest prefix that
// may be cut off.
func tokenLen(s string) int {
	l, n := utf8.DecodeRuneInString(s)
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if l == '\r' && r == '\n' || joins(r) || l == zwj || isWord(l) && isWord(r) {
			l, n = r, n+size
			continue
		}
		break
	}
	return n
}
