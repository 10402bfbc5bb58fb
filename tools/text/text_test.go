package text

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPositionsRoundTrip(t *testing.T) {
	const s = "const 🍋 = \"中文😀\"; foo(1);\r\nb\rc\n\u2028x\u0085y\x0cz"
	d := New(s)
	if got := d.Lines(); got != 4 {
		t.Fatalf("%d lines, want 4: only \\n, \\r\\n and \\r end one", got)
	}
	for _, enc := range []Encoding{UTF16, UTF8} {
		for i := 0; i <= len(s); i++ {
			if i < len(s) && !utf8.RuneStart(s[i]) || i > 0 && i < len(s) && s[i-1:i+1] == "\r\n" {
				continue
			}
			p := d.Position(i, enc)
			if back, ok := d.Offset(p, enc); !ok || back != i {
				t.Errorf("%v: offset %d is %v, which is offset %d, %v", enc, i, p, back, ok)
			}
		}
	}
}

// C009: columns count UTF-16 units, and bytes where utf-8 was negotiated.
func TestPositionAfterAstralCharacters(t *testing.T) {
	d := New("const 🍋 = \"中文😀\"; foo(1);\n")
	at := strings.Index(d.String(), "foo")
	if got := d.Position(at, UTF16); got != (Position{0, 19}) {
		t.Errorf("utf-16: %v, want column 19", got)
	}
	if got := d.Position(at, UTF8); got != (Position{0, 27}) {
		t.Errorf("utf-8: %v, want column 27", got)
	}
}

func TestOffsetClamps(t *testing.T) {
	d := New("a😀b\r\nend")
	for _, c := range []struct {
		p    Position
		enc  Encoding
		want int
		ok   bool
	}{
		{Position{0, 2}, UTF16, 1, true}, // between the surrogates
		{Position{0, 3}, UTF16, 5, true},
		{Position{0, 99}, UTF16, 6, true}, // before the line ending
		{Position{0, 1 << 31}, UTF8, 6, true},
		{Position{0, 3}, UTF8, 1, true}, // inside the rune
		{Position{1, 3}, UTF16, 11, true},
		{Position{1, 4}, UTF16, 11, true},
		{Position{2, 0}, UTF16, 11, false},
		{Position{1<<32 - 1, 1<<32 - 1}, UTF8, 11, false},
	} {
		if got, ok := d.Offset(c.p, c.enc); got != c.want || ok != c.ok {
			t.Errorf("Offset(%v, %v) = %d, %v, want %d, %v", c.p, c.enc, got, ok, c.want, c.ok)
		}
	}
}

func TestPositionClamps(t *testing.T) {
	d := New("a😀\r\nb")
	for _, c := range []struct {
		offset int
		want   Position
	}{{-1, Position{0, 0}}, {3, Position{0, 1}}, {6, Position{0, 3}}, {7, Position{1, 0}}, {99, Position{1, 1}}} {
		if got := d.Position(c.offset, UTF16); got != c.want {
			t.Errorf("Position(%d) = %v, want %v", c.offset, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	d := New("a\r\nb\r\rc\n")
	var got []string
	for i := range d.Lines() + 1 {
		start, end, next := d.Line(i)
		got = append(got, fmt.Sprintf("%d-%d-%d", start, end, next))
	}
	if want := "0-1-3 3-4-5 5-5-6 6-7-8 8-8-8 8-8-8"; strings.Join(got, " ") != want {
		t.Errorf("lines %v, want %s", got, want)
	}
}

// Whatever is replaced, the line table taken over is the one that a scan of
// the new text would give.
func TestReplaceKeepsLineTable(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	d := New("")
	for i := range 20000 {
		d = checkReplace(t, d, randomEdit(rnd, d.String()))
		if d.Len() > 40 {
			d = New(d.String()[:rnd.IntN(5)])
		}
		if t.Failed() {
			t.Fatalf("after %d edits", i)
		}
	}
}

func checkReplace(t *testing.T, d *Document, e Edit) *Document {
	t.Helper()
	d.Lines()
	n := d.Replace(e)
	if want := Apply(d.String(), []Edit{e}); n.String() != want {
		t.Fatalf("%q with %v is %q, want %q", d.String(), e, n.String(), want)
	}
	if got, want := fmt.Sprint(n.table()), fmt.Sprint(New(n.String()).table()); got != want {
		t.Errorf("%q with %v: lines start at %s, want %s", d.String(), e, got, want)
	}
	return n
}

func randomEdit(rnd *rand.Rand, s string) Edit {
	start := rnd.IntN(len(s) + 1)
	end := start + rnd.IntN(min(4, len(s)-start+1))
	var b strings.Builder
	for range rnd.IntN(4) {
		b.WriteString([]string{"a", "\r", "\n", "\r\n", "b"}[rnd.IntN(5)])
	}
	return Edit{Start: start, End: end, New: b.String()}
}

func FuzzReplace(f *testing.F) {
	f.Add("a\r\nb", 2, 3, "x\r")
	f.Add("\r\n\r", 1, 1, "\n")
	f.Fuzz(func(t *testing.T, s string, start, end int, new string) {
		if start < 0 || start > end || end > len(s) {
			t.Skip()
		}
		checkReplace(t, New(s), Edit{Start: start, End: end, New: new})
	})
}

func FuzzPositions(f *testing.F) {
	f.Add("a😀\r\nb", uint32(0), uint32(2), true)
	f.Fuzz(func(t *testing.T, s string, line, char uint32, wide bool) {
		if !utf8.ValidString(s) {
			t.Skip()
		}
		enc := UTF8
		if wide {
			enc = UTF16
		}
		d := New(s)
		o, ok := d.Offset(Position{line, char}, enc)
		if o < 0 || o > len(s) || o < len(s) && !utf8.RuneStart(s[o]) {
			t.Fatalf("offset %d is outside %q or inside a rune", o, s)
		}
		if ok != (int64(line) < int64(d.Lines())) {
			t.Fatalf("line %d of %d: %v", line, d.Lines(), ok)
		}
		if back, _ := d.Offset(d.Position(o, enc), enc); back != o {
			t.Fatalf("offset %d came back as %d in %q", o, back, s)
		}
	})
}

func TestClampRune(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 5, "abc"}, {"abc", 2, "ab"}, {"a阴b", 2, "a"}, {"a阴b", 3, "a"}, {"a阴b", 4, "a阴"}, {"阴", 0, ""}, {"x", -1, ""}} {
		if got := ClampRune(c.s, c.n); got != c.want {
			t.Errorf("ClampRune(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

func BenchmarkKeystroke(b *testing.B) {
	d := New(strings.Repeat("some line of code\n", 200_000))
	d.Lines()
	at := d.Len() / 2
	b.SetBytes(int64(d.Len()))
	for b.Loop() {
		d.Replace(Edit{Start: at, End: at, New: "x"}).Lines()
	}
}
