package file

import (
	"strings"
	"testing"
)

func TestHints(t *testing.T) {
	const tabs = "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n"
	for _, c := range []struct {
		name, file, old, new string
		want                 []string
		from, to             int
	}{
		{"empty file", "", "a", "b", []string{"the file is empty"}, 0, 0},
		{"made before", "a\nnew\nb\n", "old", "new", []string{"new_text is there already, at line 2"}, 2, 2},
		{"spaces for tabs", tabs, "    if a {\n        b()\n    }", "    if a {\n        c()\n    }", []string{"at lines 2-4", "white space", `"\tif a {"`, `"    if a {"`}, 2, 4},
		{"trailing space", "a b  \nc\n", "a b\nc", "x", []string{"white space"}, 1, 2},
		{"look-alikes", "top\u2011level\u00a0x — “q”\n", `top-level x - "q"`, "top-level y", []string{"line 1", "look-alike", "U+2011 (‑)", "U+00A0", "U+2014 (—)", "U+201C (“)"}, 1, 1},
		{"look-alikes the other way", "a - b\n", "a \u2013 b", "c", []string{"old_text has U+2013"}, 1, 1},
		{"decomposed", "cafe\u0301\n", "caf\u00e9", "c", []string{"U+0301", "U+00E9"}, 1, 1},
		{"case", "Hello World\n", "hello world", "c", []string{"upper and lower case"}, 1, 1},
		{"line numbers", "a\nb\nc\n", "2\tb\n3\tc", "c", []string{"line numbers of read_file", "lines 2-3"}, 2, 3},
		{"escaped", "a\n\tb\n", `a\n\tb`, "c", []string{"backslash"}, 1, 2},
		{"entities", "if a < b && c\n", "a &lt; b &amp;&amp; c", "x", []string{"HTML"}, 1, 1},
		{"fence", "a := 1\nb := 2\n", "```go\na := 1\nb := 2\n```", "x", []string{"code fences"}, 1, 2},
		{"one line differs", "one\ntwo is here\nthree\nfour\n", "one\ntwo was here\nthree", "x", []string{"nearest is at lines 1-3", `line 2 is "two is here"`, `"two was here"`}, 1, 3},
		{"a word differs", "alpha\nreturn compute(first, second)\n", "return compute(first, third)", "x", []string{"nearest is line 2"}, 2, 2},
		{"nothing like it", "a\nb\n", "quite another thing", "x", []string{"nothing in its 2 lines"}, 0, 0},
	} {
		h := explain(c.file, c.old, c.new)
		for _, want := range c.want {
			if !strings.Contains(h.why, want) {
				t.Errorf("%s: %q does not say %q", c.name, h.why, want)
			}
		}
		if h.from != c.from || h.to != c.to || strings.Contains(h.why, "\n") {
			t.Errorf("%s: lines %d-%d of %q, want %d-%d", c.name, h.from, h.to, h.why, c.from, c.to)
		}
	}
}

// C017: the first and the last line being there is not enough to edit.
func TestFarApartIsNotFound(t *testing.T) {
	file := strings.Repeat("\\begin{t}\nbody\n\\end{t}\n", 60) + "\\section{X}\n"
	r := refused(t, file, replacement{Old: "\\end{t}\nwrong middle\n\\section{X}", New: "gone"})
	if !strings.Contains(r.line, "not found") {
		t.Error(r)
	}
}

func TestHintsAreBounded(t *testing.T) {
	file := strings.Repeat("阴x ", 100_000) + "\n" + strings.Repeat("line of it\n", 50_000)
	h := explain(file, strings.Repeat("阴y ", 5_000), "z")
	if len(h.why) > 1000 {
		t.Errorf("%d bytes", len(h.why))
	}
}

func FuzzExplain(f *testing.F) {
	f.Add("a\n\tb\n", "a\n  b", "c")
	f.Add("top\u2011level\n", "top-level", "")
	f.Add("", "\n", "\n")
	f.Add("1\n2\n3", "2\n3\n\n", "x")
	f.Fuzz(func(t *testing.T, file, old, replaced string) {
		if old == "" || strings.Contains(file, old) {
			return
		}
		lines := strings.Count(file, "\n") + 1
		h := explain(file, old, replaced)
		if h.why == "" || strings.Contains(h.why, "\n") || h.from < 0 || h.from > h.to || h.to > lines {
			t.Errorf("%q in %q: %+v of %d lines", old, file, h, lines)
		}
	})
}
