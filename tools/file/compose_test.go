package file

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentls/agentls/tools/text"
)

// result is what replacements make of s; a refusal fails the test.
func result(t *testing.T, s string, rs ...replacement) string {
	t.Helper()
	c, err := compose("f", s, rs)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return text.Apply(s, c.edits)
}

// refused is why replacements of s are not made.
func refused(t *testing.T, s string, rs ...replacement) *refusal {
	t.Helper()
	c, err := compose("f", s, rs)
	var r *refusal
	if !errors.As(err, &r) {
		t.Fatalf("%q: %+v, %v; want a refusal", s, c.edits, err)
	}
	if strings.Contains(r.line, "\n") {
		t.Errorf("more than one line: %q", r.line)
	}
	return r
}

// Line endings are the file's, whatever the model writes (C001 to C004).
func TestEndings(t *testing.T) {
	for _, c := range []struct{ name, file, old, new, want string }{
		{"LF search in CRLF", "\tif (!f) {\r\n\t\treturn 1;\r\n\t}\r\n", "\tif (!f) {\n\t\treturn 1;", "\tif (!f) {\n\t\treturn 2;", "\tif (!f) {\r\n\t\treturn 2;\r\n\t}\r\n"},
		{"CRLF search in LF", "\tif (!f) {\n\t\treturn 1;\n\t}\n", "\tif (!f) {\r\n\t\treturn 1;", "\tif (!f) {\r\n\t\treturn 2;", "\tif (!f) {\n\t\treturn 2;\n\t}\n"},
		{"inserted in CRLF", "alpha\r\nbeta\r\n", "alpha\nbeta", "alpha\ninserted\nbeta", "alpha\r\ninserted\r\nbeta\r\n"},
		{"inserted in CRLF, one line searched", "alpha\r\nbeta\r\n", "beta", "inserted\nbeta", "alpha\r\ninserted\r\nbeta\r\n"},
		{"inserted at the end of CRLF", "alpha\r\nbeta", "beta", "beta\ngamma\n", "alpha\r\nbeta\r\ngamma\r\n"},
		{"mixed, one line", "one\r\ntwo\nthree\r\nfour\n", "three", "THREE", "one\r\ntwo\nTHREE\r\nfour\n"},
		{"mixed, both kinds", "one\r\ntwo\nthree\r\nfour\n", "two\nthree", "two\nTHREE", "one\r\ntwo\nTHREE\r\nfour\n"},
		{"mixed, over both kinds", "one\r\ntwo\nthree\r\nfour\n", "one\ntwo\nthree\nfour\n", "one\ntwo\nTHREE\nfour\n", "one\r\ntwo\nTHREE\r\nfour\n"},
		{"mixed, one line more", "one\r\ntwo\nthree\r\nfour\n", "one\ntwo\nthree\n", "one\nmore\ntwo\nthree\n", "one\r\nmore\r\ntwo\nthree\r\nfour\n"},
		{"ends in the ending", "a\r\nb\r\nc\r\n", "b\n", "", "a\r\nc\r\n"},
		{"begins with the ending", "a\r\nb\r\nc\r\n", "\nb", "", "a\r\nc\r\n"},
		{"only the ending", "a\r\nb", "\n", " ", "a b"},
		{"lone CR is data", "10%\r50%\r100%\nok\x0Cend\u2028x\u0085y\nlast\n", "last", "LAST", "10%\r50%\r100%\nok\x0Cend\u2028x\u0085y\nLAST\n"},
		{"lone CR kept as data", "10%\r50%\r100%\nlast\n", "50%", "60%", "10%\r60%\r100%\nlast\n"},
		{"lone CR searched as it is", "10%\r50%\r100%\nlast\n", "10%\r50%", "10%\r60%", "10%\r60%\r100%\nlast\n"},
		{"lone CR searched as LF", "10%\r50%\r100%\nlast\n", "10%\n50%", "10%\n60%", "10%\r60%\r100%\nlast\n"},
		{"old Mac", "a\rb\rc\r", "b\nc", "b\nx\nc", "a\rb\rx\rc\r"},
		{"old Mac, one line searched", "a\rb\rc\r", "b", "b\nx", "a\rb\rx\rc\r"},
		{"lone CR in what is written stays", "a\nb\n", "a", "1%\r2%", "1%\r2%\nb\n"},
	} {
		if got := result(t, c.file, replacement{Old: c.old, New: c.new}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFinalNewline(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"a\nb", "b", "c", "a\nc"},
		{"a\nb", "b", "b\nc\n", "a\nb\nc\n"},
		{"a\nb\n", "b\n", "c\n", "a\nc\n"},
		{"a\nb", "b", "b\nd", "a\nb\nd"},
	} {
		if got := result(t, c.file, replacement{Old: c.old, New: c.new}); got != c.want {
			t.Errorf("%q→%q in %q: %q, want %q", c.old, c.new, c.file, got, c.want)
		}
	}
}

// Nothing in the new text means anything (C013, C028).
func TestNewTextIsLiteral(t *testing.T) {
	const odd = "$$ $& $` $' $1 ${x} \\1 \\\\n %s \\n &lt;"
	for _, all := range []bool{false, true} {
		if got := result(t, "PID=old\n", replacement{Old: "old", New: odd, All: all}); got != "PID="+odd+"\n" {
			t.Errorf("all %v: %q", all, got)
		}
	}
	const page = `<a title="&quot;1&quot;">&lt;b&gt;</a>`
	if got := result(t, page, replacement{Old: "&lt;b&gt;", New: "&lt;i&gt;"}); got != `<a title="&quot;1&quot;">&lt;i&gt;</a>` {
		t.Errorf("%q", got)
	}
	if got := result(t, "a  \nb\n", replacement{Old: "a  \n", New: "c  \n"}); got != "c  \nb\n" {
		t.Errorf("trailing spaces: %q", got)
	}
}

// A byte order mark is not part of the text (C005).
func TestByteOrderMark(t *testing.T) {
	if got := result(t, "hello\r\nworld\r\n", replacement{Old: "\ufeffhello", New: "\ufeffhello2"}); got != "hello2\r\nworld\r\n" {
		t.Errorf("%q", got)
	}
	if got := result(t, "hello\n", replacement{Old: "hello", New: "\ufeffhello2"}); got != "hello2\n" {
		t.Errorf("%q", got)
	}
}

// A text that stands more than once is refused, also where the places overlap
// (C014).
func TestNotUnique(t *testing.T) {
	for _, c := range []struct{ file, old, want, all string }{
		{"foo\nfoo\nfoo\n", "foo\nfoo\n", "2 matches, at lines 1, 2", "xfoo\n"},
		{"aaa", "aa", "2 matches, at lines 1, 1", "xa"},
		{"\n\n\n", "\n\n", "2 matches, at lines 1, 2", "x\n"},
		{"a\nb\na\n", "a", "2 matches, at lines 1, 3", "x\nb\nx\n"},
		{"a\r\na\n", "a\n", "2 matches, at lines 1, 2", "xx"},
		{strings.Repeat("a\n", 5000), "a", "1000 or more matches, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 …", strings.Repeat("x\n", 5000)},
	} {
		r := refused(t, c.file, replacement{Old: c.old, New: "x"})
		if !strings.Contains(r.line, "not unique") || !strings.Contains(r.line, c.want) {
			t.Errorf("%.20q in %.20q: %q, want %q", c.old, c.file, r.line, c.want)
		}
		if got := result(t, c.file, replacement{Old: c.old, New: "x", All: true}); got != c.all {
			t.Errorf("all %.20q in %.20q: %.40q, want %.40q", c.old, c.file, got, c.all)
		}
	}
}

// All matches of a text that overlaps itself are found in good time.
func TestManyOverlaps(t *testing.T) {
	s := strings.Repeat("a", 1<<20)
	c, err := compose("f", s, []replacement{{Old: s[:1<<18], New: "b", All: true}})
	if err != nil || len(c.edits) != 4 || c.counts[0].matching != countLimit {
		t.Errorf("%d edits, %v", len(c.edits), err)
	}
}

func TestEmptyAndSame(t *testing.T) {
	if r := refused(t, "a\n", replacement{Old: "", New: "x"}); !strings.Contains(r.line, "empty") {
		t.Error(r)
	}
	if r := refused(t, "a\n", replacement{Old: "a", New: "a"}); !strings.Contains(r.line, "no change") {
		t.Error(r)
	}
	if r := refused(t, "a\r\nb\r\n", replacement{Old: "a\r\n", New: "a\n"}); !strings.Contains(r.line, "no change") || !strings.Contains(r.line, "line endings") {
		t.Error(r)
	}
}

// Several edits are made together or not at all, in the text as it is (C022).
func TestSeveralEdits(t *testing.T) {
	const file = "if l.n() < r.n() { l.n() }\n"
	if got := result(t, file, replacement{Old: "r.n() ", New: "R "}, replacement{Old: "l.n() < ", New: "L < "}); got != "if L < R { l.n() }\n" {
		t.Errorf("touching: %q", got)
	}
	r := refused(t, file, replacement{Old: "l.n() < r.n()", New: "x"}, replacement{Old: "r.n() {", New: "y"})
	if !strings.Contains(r.line, "edits[0] and edits[1] overlap") {
		t.Error(r)
	}
	r = refused(t, file, replacement{Old: "l.n() <", New: "left <"}, replacement{Old: "left", New: "right"})
	if !strings.Contains(r.line, "edits[1]: old_text not found") || !strings.Contains(r.line, "in the new_text of edits[0]") {
		t.Error(r)
	}
	r = refused(t, file, replacement{Old: "if", New: "when"}, replacement{Old: "", New: "x"})
	if !strings.Contains(r.line, "edits[1]: old_text is empty") {
		t.Error(r)
	}
	if got := result(t, "a\nb\n", replacement{Old: "a", New: "a"}, replacement{Old: "b", New: "c"}); got != "a\nc\n" {
		t.Errorf("one of them changes nothing: %q", got)
	}
}

func TestRanges(t *testing.T) {
	for _, c := range []struct {
		file string
		rs   []replacement
		want string
	}{
		{"a\nb\nc\n", []replacement{{Old: "b", New: "B"}}, "line 2"},
		{"a\nb\nc\n", []replacement{{Old: "b\n", New: "1\n2\n"}}, "lines 2-3"},
		{"a\nb\nc\n", []replacement{{Old: "b", New: "1\n2"}}, "lines 2-3"},
		{"a\nb\nc\nd\ne\n", []replacement{{Old: "a", New: "1\n2"}, {Old: "e", New: "E"}}, "lines 1-2, 6"},
		{"a\nb\nc\n", []replacement{{Old: "a", New: "A"}, {Old: "b", New: "B"}}, "lines 1-2"},
		{"a\nb\n", []replacement{{Old: "b\n", New: ""}}, "line 2"},
	} {
		composed, err := compose("f", c.file, c.rs)
		if err != nil {
			t.Fatal(err)
		}
		if got := ranges(c.file, composed.edits); got != c.want {
			t.Errorf("%q: %s, want %s", c.file, got, c.want)
		}
	}
}

// FuzzCompose: an edit changes what was meant and nothing else, but for line
// endings as a reader of lines sees the text; and it brings in no new kind of
// ending.
func FuzzCompose(f *testing.F) {
	f.Add("one\r\ntwo\nthree\r\nfour\n", "two\nthree", "two\nx\nTHREE")
	f.Add("a\rb\rc", "b\nc", "b\n\nc")
	f.Add("a\r\r\nb", "a\r\n", "\n\r\n")
	f.Add("aaa", "aa", "a")
	f.Fuzz(func(t *testing.T, file, old, replaced string) {
		if strings.Contains(file+old+replaced, bom) {
			return
		}
		c, err := compose("f", file, []replacement{{Old: old, New: replaced, All: true}})
		if err != nil {
			return
		}
		at := 0
		for _, e := range c.edits {
			if e.Start < at || e.End < e.Start || e.End > len(file) {
				t.Fatalf("edits out of order: %+v", c.edits)
			}
			at = e.End
		}
		got := text.Apply(file, c.edits)
		if crs := strings.Count(file, "\r") - strings.Count(file, "\r\n"); crs > 0 || loneCR(replaced) || loneCR(old) {
			return // a \r before a new \n would make one ending of two
		}
		if want := strings.ReplaceAll(fold(file, false).text, fold(old, false).text, fold(replaced, false).text); fold(got, false).text != want {
			t.Errorf("%q→%q in %q: %q, want the lines of %q", old, replaced, file, got, want)
		}
		if !strings.Contains(file, "\r") && strings.Contains(got, "\r") || !loneLF(file) && strings.Contains(file, "\r\n") && loneLF(got) {
			t.Errorf("%q→%q in %q: %q has a new kind of ending", old, replaced, file, got)
		}
	})
}

func loneCR(s string) bool { return strings.Contains(strings.ReplaceAll(s, "\r\n", ""), "\r") }
func loneLF(s string) bool { return strings.Contains(strings.ReplaceAll(s, "\r\n", ""), "\n") }
