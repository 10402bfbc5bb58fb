package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDominantEOL(t *testing.T) {
	for s, want := range map[string]string{
		"": LF, "a": LF, "a\rb\r": LF, "a\nb\r\n": LF, "a\r\nb": CRLF, "a\r\nb\r\nc\n": CRLF,
	} {
		if got := DominantEOL(s); got != want {
			t.Errorf("DominantEOL(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestMatchEOL(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"C001 CRLF file", "\tif (!f) {\r\n\t\treturn 1;\r\n\t}\r\n", "\tif (!f) {\n\t\treturn 2;\n\t}\n", "\tif (!f) {\r\n\t\treturn 2;\r\n\t}\r\n"},
		{"C001 LF file gains no CR", "a\nb\n", "a\r\nc\r\n", "a\nc\n"},
		{"C002 added line", "alpha\r\nbeta\r\n", "alpha\ninserted\nbeta\n", "alpha\r\ninserted\r\nbeta\r\n"},
		{"C003 mixed", "one\r\ntwo\nthree\r\nfour\n", "one\ntwo\nTHREE\nfour\n", "one\r\ntwo\nTHREE\r\nfour\n"},
		{"added after LF in mixed", "one\r\ntwo\nthree\r\n", "one\ntwo\nx\nthree\n", "one\r\ntwo\nx\nthree\r\n"},
		{"added first", "one\r\ntwo\nthree\n", "x\none\ntwo\nthree\n", "x\r\none\r\ntwo\nthree\n"},
		{"C004 lone CR is data", "10%\r50%\nlast\n", "10%\r50%\nLAST\n", "10%\r50%\nLAST\n"},
		{"CR before CRLF", "a\r\r\nb\r\n", "a\r\nc\n", "a\r\nc\r\n"},
		{"gets a last line end", "a\r\nb", "a\nb\n", "a\r\nb\r\n"},
		{"loses its last line end", "a\r\nb\r\n", "a\nb", "a\r\nb"},
		{"appended after no line end", "a\r\nb", "a\nb\nc", "a\r\nb\r\nc"},
		{"replaced by more", "a\r\nb\nc\n", "x\ny\nz\nc\n", "x\r\ny\nz\nc\n"},
		{"no lines in old", "a", "b\nc\n", "b\nc\n"},
		{"empty", "", "a\r\nb\n", "a\nb\n"},
	} {
		if got := MatchEOL(c.old, c.new); got != c.want {
			t.Errorf("%s: MatchEOL(%q, %q) = %q, want %q", c.name, c.old, c.new, got, c.want)
		}
	}
}

func TestFitEOL(t *testing.T) {
	for _, c := range []struct{ name, s, old, new, want string }{
		{"inside one line", "a\r\nfoo(1)\r\n", "1", "1,\n2", "a\r\nfoo(1,\r\n2)\r\n"},
		{"last line without end", "a\r\nb", "b", "b\nc", "a\r\nb\r\nc"},
		{"LF in a CRLF neighbourhood", "a\r\nb\nc\r\n", "b", "b\nx", "a\r\nb\nx\nc\r\n"},
		{"spans both kinds", "one\r\ntwo\nthree\r\nfour\n", "two\nthree", "TWO\nTHREE", "one\r\nTWO\nTHREE\r\nfour\n"},
		{"whole lines", "a\r\nb\r\n", "b\r\n", "c\nd\n", "a\r\nc\r\nd\r\n"},
		{"only line", "a", "a", "b\r\nc", "b\nc"},
		{"LF file", "a\nb\n", "b", "x\r\ny", "a\nx\ny\n"},
	} {
		i := strings.Index(c.s, c.old)
		e := FitEOL(c.s, Edit{i, i + len(c.old), c.new})
		if got := Apply(c.s, []Edit{e}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// What MatchEOL returns differs from what was asked for in line endings only,
// keeps an unchanged text byte for byte, and brings no ending into a file
// that has only the other.
func FuzzMatchEOL(f *testing.F) {
	f.Add("a\r\nb\nc\r\n", "a\nx\nc\n", 1, 3)
	f.Fuzz(func(t *testing.T, old, new string, start, end int) {
		if !utf8.ValidString(old) || !utf8.ValidString(new) {
			t.Skip()
		}
		if strings.Contains(old+"|"+new, "\r\r\n") {
			t.Skip() // \r as the last character of a CRLF line: its normal form reads as CRLF again
		}
		got := MatchEOL(old, new)
		if NormalEOL(got) != NormalEOL(new) {
			t.Fatalf("MatchEOL(%q, %q) = %q changes more than line endings", old, new, got)
		}
		if same := MatchEOL(old, NormalEOL(old)); same != old {
			t.Fatalf("%q came back as %q", old, same)
		}
		if !strings.Contains(old, CRLF) && strings.Contains(got, CRLF) {
			t.Fatalf("MatchEOL(%q, %q) = %q: CRLF in a file without", old, new, got)
		}
		if start < 0 || start > end || end > len(old) || cutsCRLF(old, start) || cutsCRLF(old, end) {
			return
		}
		e := FitEOL(old, Edit{start, end, new})
		if e.Start != start || e.End != end || NormalEOL(e.New) != NormalEOL(new) && !strings.Contains(new, "\r") {
			t.Fatalf("FitEOL(%q, %d-%d, %q) = %+v", old, start, end, new, e)
		}
	})
}
