package text

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func checkDiff(t *testing.T, a, b string) []Edit {
	t.Helper()
	edits := Diff(a, b)
	checkEdits(t, a, b, edits)
	for i, e := range edits {
		if !LineStart(a, e.Start) {
			t.Errorf("edit %d starts inside a line", i)
		}
		if e.End != len(a) && !LineStart(a, e.End) {
			t.Errorf("edit %d ends inside a line", i)
		}
		if i > 0 && edits[i-1].End == e.Start {
			t.Errorf("edits %d and %d touch", i-1, i)
		}
	}
	return edits
}

func checkEdits(t *testing.T, a, b string, edits []Edit) {
	t.Helper()
	last := 0
	for i, e := range edits {
		if e.Start < last || e.End < e.Start || e.End > len(a) {
			t.Fatalf("edit %d of %v is not sorted, disjoint and within %q", i, edits, a)
		}
		if a[e.Start:e.End] == e.New {
			t.Fatalf("edit %d of %v changes nothing", i, edits)
		}
		last = e.End
	}
	if got := Apply(a, edits); got != b {
		t.Fatalf("%q with %+v\n is %q\nwant %q", a, edits, got, b)
	}
}

func TestDiff(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", "[]"},
		{"", "x\n", `[{0 0 "x\n"}]`},
		{"x", "", `[{0 1 ""}]`},
		{"a\nb", "a\nb\n", `[{2 3 "b\n"}]`},
		{"a\nb\n", "a\nb", `[{2 4 "b"}]`},
		{"a\nb\n", "a\nb\nc\n", `[{4 4 "c\n"}]`},
		{"one\ntwo\nthree\n", "one\n2\nthree\n", `[{4 8 "2\n"}]`},
		{"a\nb\nc\n", "A\nb\nC\n", `[{0 2 "A\n"} {4 6 "C\n"}]`},
		{"a\r\nb\r\n", "a\nb\r\n", `[{0 3 "a\n"}]`},
		{"10%\r50%\rend\n", "10%\r60%\rend\n", `[{4 8 "60%\r"}]`},
		{"a\rb", "a\r\nb", `[{0 2 "a\r\n"}]`},
	} {
		var got []string
		for _, e := range checkDiff(t, c.a, c.b) {
			got = append(got, fmt.Sprintf("{%d %d %q}", e.Start, e.End, e.New))
		}
		if s := "[" + strings.Join(got, " ") + "]"; s != c.want {
			t.Errorf("Diff(%q, %q) = %s, want %s", c.a, c.b, s, c.want)
		}
	}
}

// The edits are as few lines as a plain table of longest common subsequences
// says, as long as the texts are small.
func TestDiffIsMinimal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		a, b := randomLines(rnd, 12, 4), randomLines(rnd, 12, 4)
		kept := strings.Count(a, "\n")
		for _, e := range checkDiff(t, a, b) {
			kept -= strings.Count(a[e.Start:e.End], "\n")
		}
		if want := lcs(strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")); kept != want {
			t.Fatalf("Diff(%q, %q) keeps %d lines of %d", a, b, kept, want)
		}
	}
}

func randomLines(rnd *rand.Rand, n, kinds int) string {
	var b strings.Builder
	for range rnd.IntN(n) {
		fmt.Fprintf(&b, "%d\n", rnd.IntN(kinds))
	}
	return b.String()
}

func lcs(a, b []string) int {
	a, b = a[:len(a)-1], b[:len(b)-1]
	row := make([]int, len(b)+1)
	for i := range a {
		diag := 0
		for j := range b {
			up := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diag + 1
			} else {
				row[j+1] = max(row[j], up)
			}
			diag = up
		}
	}
	return row[len(b)]
}

// A few differences in a long text are found one by one, even where no line
// is unique; and the worst texts end in bounded time.
func TestDiffOfLongTexts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	lines := func(n, kinds int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf("line %d\n", rnd.IntN(kinds))
		}
		return out
	}
	change := func(in []string, n int) []string {
		out := append([]string(nil), in...)
		for range n {
			i := rnd.IntN(len(out))
			switch rnd.IntN(3) {
			case 0:
				out[i] = "changed\n"
			case 1:
				out[i] = ""
			default:
				out[i] += "added\n"
			}
		}
		return out
	}
	for _, c := range []struct {
		name     string
		a, b     []string
		maxEdits int
		maxBytes int // of replaced text, how coarse it may get
	}{
		{"repeating", lines(50_000, 10), nil, 300, 10_000},
		{"one line over and over", lines(50_000, 1), nil, 300, 10_000},
		{"unique", lines(50_000, 1<<40), nil, 300, 10_000},
	} {
		c.b = change(c.a, 100)
		edits := checkDiff(t, strings.Join(c.a, ""), strings.Join(c.b, ""))
		n := 0
		for _, e := range edits {
			n += e.End - e.Start + len(e.New)
		}
		if len(edits) > c.maxEdits || n > c.maxBytes {
			t.Errorf("%s: %d edits of %d bytes", c.name, len(edits), n)
		}
	}
	start := time.Now()
	checkDiff(t, strings.Join(lines(100_000, 2), ""), strings.Join(lines(100_000, 2), ""))
	checkDiff(t, strings.Join(lines(100_000, 50_000), ""), strings.Join(lines(100_000, 50_000), ""))
	t.Logf("two worst cases: %v", time.Since(start))
}

// More different lines than a rune has values must not make go-diff panic.
func TestDiffOfMoreLinesThanRunes(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var a, b strings.Builder
	for i := range 1_200_000 {
		fmt.Fprintf(&a, "a%d\n", i)
		fmt.Fprintf(&b, "b%d\n", i)
	}
	checkDiff(t, a.String(), b.String())
}

func TestTrim(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"const 🍋 = \"中文😀\"; foo(1);\n", "const 🍋 = \"中文😀\"; bar(1);\n", `"foo" -> "bar"`},
		{"hello\r\n", "hello2\r\n", `"hello" -> "hello2"`},
		{"x = 10\n", "x = 11\n", `"10" -> "11"`},
		{"a\r\n", "a\n", `"\r\n" -> "\n"`},
		{"a\r", "a\r\n", `"\r" -> "\r\n"`},
		{"e\u0301 x", "e x", "\"e\u0301\" -> \"e\""},
		{"中文字", "中新字", `"文" -> "新"`},
		{"f(a)\n", "f(a, b)\n", `"" -> ", b"`},
		{"foo foo\n", "foo\n", `" foo" -> ""`},
		{"ab\n", "ab\n", `"" -> ""`},
		{"éa\n", "èa\n", `"éa" -> "èa"`},
	} {
		e := Trim(c.a, Edit{0, len(c.a), c.b})
		if got := fmt.Sprintf("\"%s\" -> \"%s\"", c.a[e.Start:e.End], e.New); got != strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(c.want) {
			t.Errorf("Trim(%q to %q) = %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// Data without word breaks is cut all the same, so that one character in a
// line of megabytes is no edit of megabytes.
func TestTrimOfLongRuns(t *testing.T) {
	a := strings.Repeat("A", 100_000)
	e := Trim(a, Edit{0, len(a), a[:50_000] + "B" + a[50_001:]})
	if n := e.End - e.Start; n > 2*maxRun {
		t.Errorf("an edit of %d bytes", n)
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"foo(a, b)", "bar(a, c)", `[{0 3 "bar"} {7 8 "c"}]`},
		{"a.b", "c.d", `[{0 3 "c.d"}]`}, // a lone dot does not separate
		{"x\n", "x\n", `[]`},
		{"one\ntwo\n", "1\ntwo\n", `[{0 3 "1"}]`},
		{"one\ntwo\n", "1\n2\n", `[{0 3 "1"} {4 7 "2"}]`},
	} {
		var got []string
		for _, e := range Words(c.a, Edit{0, len(c.a), c.b}) {
			got = append(got, fmt.Sprintf("{%d %d %q}", e.Start, e.End, e.New))
		}
		if s := "[" + strings.Join(got, " ") + "]"; s != c.want {
			t.Errorf("Words(%q, %q) = %s, want %s", c.a, c.b, s, c.want)
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\r\nc\r\u2028😀x", "a\nB\r\nc\r😀y\n")
	f.Add("\r\n\r", "\r\r\n")
	f.Add("x = foo(1)\n", "x = foo(2)\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			t.Skip()
		}
		edits := checkDiff(t, a, b)
		trimmed := make([]Edit, len(edits))
		var words []Edit
		for i, e := range edits {
			trimmed[i] = Trim(a, e)
			words = append(words, Words(a, e)...)
		}
		checkEdits(t, a, b, trimmed)
		checkEdits(t, a, b, words)
		for _, e := range append(trimmed, words...) {
			if !utf8.ValidString(a[e.Start:e.End]) || !utf8.ValidString(e.New) {
				t.Fatalf("%v cuts a rune of %q", e, a)
			}
			if cutsCRLF(a, e.Start) || cutsCRLF(a, e.End) {
				t.Fatalf("%v cuts a line ending of %q", e, a)
			}
		}
		for _, e := range Widen(a, edits) {
			if e.Start > 0 && a[e.Start-1] != '\n' {
				t.Fatalf("Widen: %v starts inside a line of %q", e, a)
			}
		}
		if got := Apply(a, Widen(a, edits)); got != b {
			t.Fatalf("Widen: %q, want %q", got, b)
		}
	})
}

func cutsCRLF(s string, i int) bool { return i > 0 && i < len(s) && s[i-1:i+1] == "\r\n" }

func benchTexts(n, edits int) (string, string) {
	rnd := rand.New(rand.NewPCG(7, 8))
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("\tvalue%d := compute(%d, %q)\n", i%977, i%50, "name")
		if i%7 == 0 {
			lines[i] = "\n"
		}
		if i%5 == 0 {
			lines[i] = fmt.Sprintf("func f%d() error {\n", i)
		}
	}
	a := strings.Join(lines, "")
	for range edits {
		i := rnd.IntN(n)
		lines[i] = strings.Replace(lines[i], "e", "E", 1) + "// new\n"
	}
	return a, strings.Join(lines, "")
}

func BenchmarkDiff(b *testing.B) {
	x, y := benchTexts(100_000, 1000)
	b.Run("100000 lines 1000 edits", func(b *testing.B) {
		for b.Loop() {
			for _, e := range Diff(x, y) {
				Trim(x, e)
			}
		}
	})
	rnd := rand.New(rand.NewPCG(7, 8))
	u, v := randomLines(rnd, 200_000, 2), randomLines(rnd, 200_000, 2)
	b.Run("worst", func(b *testing.B) {
		for b.Loop() {
			Diff(u, v)
		}
	})
	one := x[:len(x)/2] + "x" + x[len(x)/2:]
	b.Run("one keystroke", func(b *testing.B) {
		for b.Loop() {
			Diff(x, one)
		}
	})
}
