package document

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/agentls/agentls/tools/text"
)

// buffer is an editor's text as an editor keeps it: a list of units, and line
// ends found by looking at them. It shares no code with the mirror.
type buffer struct {
	units []uint16 // or bytes, for UTF-8
	enc   text.Encoding
}

func newBuffer(s string, enc text.Encoding) *buffer {
	b := &buffer{enc: enc}
	b.units = b.encode(s)
	return b
}

func (b *buffer) encode(s string) (u []uint16) {
	if b.enc == text.UTF16 {
		return utf16.Encode([]rune(s))
	}
	for i := range len(s) {
		u = append(u, uint16(s[i]))
	}
	return u
}

func (b *buffer) String() string {
	if b.enc == text.UTF16 {
		return string(utf16.Decode(b.units))
	}
	var s []byte
	for _, u := range b.units {
		s = append(s, byte(u))
	}
	return string(s)
}

// boundary says that a cursor can stand at i.
func (b *buffer) boundary(i int) bool {
	if i <= 0 || i >= len(b.units) {
		return true
	}
	if b.units[i] == '\n' && b.units[i-1] == '\r' {
		return false
	}
	if b.enc == text.UTF16 {
		return !(b.units[i] >= 0xDC00 && b.units[i] < 0xE000)
	}
	return utf8.RuneStart(byte(b.units[i]))
}

func (b *buffer) position(at int) (p text.Position) {
	for i := range at {
		if u := b.units[i]; u == '\n' || u == '\r' && !(i+1 < len(b.units) && b.units[i+1] == '\n') {
			p = text.Position{Line: p.Line + 1}
		} else {
			p.Character++
		}
	}
	return p
}

// replace changes the buffer and is what the editor would send about it.
func (b *buffer) replace(from, to int, s string) Change {
	for !b.boundary(from) {
		from--
	}
	for !b.boundary(to) {
		to++
	}
	c := Change{Range: &Range{b.position(from), b.position(to)}, Text: s}
	b.units = append(append(append([]uint16{}, b.units[:from]...), b.encode(s)...), b.units[to:]...)
	return c
}

var pieces = []string{
	"a", "bc ", "\n", "\r\n", "\r", "\n\n", "é", "中文", "😀", "🍋 x", "e\u0301", "\t", "\u2028", "\u0085", "\f", "\uFEFF", "",
	"line\nline\r\nline\rend", "\n\r", "\r\r\n",
}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n + 1) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func TestMirrorFollowsClient(t *testing.T) {
	for _, enc := range []text.Encoding{text.UTF16, text.UTF8} {
		for seed := range uint64(300) {
			r := rand.New(rand.NewPCG(seed, uint64(enc)))
			start := randomText(r, 30)
			client := newBuffer(start, enc)
			s := NewStore(enc, nil)
			if err := s.Open("file:///t/x", "", 0, start); err != nil {
				t.Fatal(err)
			}
			for version := int32(1); version < 60; version++ {
				var changes []Change
				for range 1 + r.IntN(4) {
					if r.IntN(25) == 0 {
						all := randomText(r, 30)
						client = newBuffer(all, enc)
						changes = append(changes, Change{Text: all})
						continue
					}
					from := r.IntN(len(client.units) + 1)
					to := min(len(client.units), from+r.IntN(8))
					changes = append(changes, client.replace(from, to, randomText(r, 3)))
				}
				if err := s.Change("file:///t/x", version, changes); err != nil {
					t.Fatalf("seed %d, encoding %v: %v", seed, enc, err)
				}
				if d, _ := s.Get("/t/x"); d.Doc.String() != client.String() || d.Version != version {
					t.Fatalf("seed %d, encoding %v, version %d: %+v\nmirror %q\nclient %q",
						seed, enc, version, changes, d.Doc.String(), client.String())
				}
			}
		}
	}
}

// Whatever a client sends, many changes in one notification and the same ones
// in one each lead to the same text.
func FuzzChange(f *testing.F) {
	f.Add("😀ab", uint32(0), uint32(2), uint32(0), uint32(3), "Z", uint32(9), uint32(0), uint32(0), uint32(1), "q", false)
	f.Add("a\r\nb\rc", uint32(0), uint32(5), uint32(1), uint32(0), "\n", uint32(1), uint32(0), uint32(1), uint32(0), "\n", true)
	f.Add("a\rb\n\nc", uint32(1), uint32(0), uint32(2), uint32(0), "", uint32(1), uint32(0), uint32(1), uint32(0), "", true)
	f.Fuzz(func(t *testing.T, start string, al, ac, bl, bc uint32, x string, cl, cc, dl, dc uint32, y string, wide bool) {
		if !utf8.ValidString(start) || !utf8.ValidString(x) || !utf8.ValidString(y) {
			t.Skip()
		}
		enc := text.UTF16
		if wide {
			enc = text.UTF8
		}
		changes := []Change{
			{&Range{text.Position{Line: al, Character: ac}, text.Position{Line: bl, Character: bc}}, x},
			{&Range{text.Position{Line: cl, Character: cc}, text.Position{Line: dl, Character: dc}}, y},
		}
		together, err := apply(text.New(start), changes, enc)
		first, err1 := apply(text.New(start), changes[:1], enc)
		second, err2 := apply(first, changes[1:], enc)
		if together.String() != second.String() {
			t.Fatalf("together %q, one by one %q", together.String(), second.String())
		}
		if (err == nil) != (err1 == nil && err2 == nil) {
			t.Fatalf("together %v, one by one %v, %v", err, err1, err2)
		}
		if !utf8.ValidString(second.String()) {
			t.Fatalf("invalid text %q", second.String())
		}
	})
}

func TestChangeClamps(t *testing.T) {
	for _, tt := range []struct{ start, json, want, err string }{
		{"ab\ncd", `{"range":{"start":{"line":0,"character":99},"end":{"line":1,"character":0}},"text":"-"}`, "ab-cd", ""},
		{"ab\ncd", `{"range":{"start":{"line":0,"character":0},"end":{"line":1.7976931348623157e308,"character":0}},"text":"-"}`, "-", "fit"},
		{"ab\ncd", `{"range":{"start":{"line":-1,"character":-5},"end":{"line":0,"character":1}},"text":"-"}`, "-b\ncd", ""},
		{"ab\ncd", `{"range":{"start":{"line":1,"character":1},"end":{"line":0,"character":1}},"text":"-"}`, "a-d", "fit"},
		{"ab\ncd", `{"range":{"start":{"line":7,"character":1},"end":{"line":9,"character":1}},"text":"-"}`, "ab\ncd-", "fit"},
		{"😀a", `{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":3}},"text":"-"}`, "-", ""},
		{"a\r\nb", `{"range":{"start":{"line":0,"character":2},"end":{"line":1,"character":0}},"text":"-"}`, "a-b", ""},
		{"ab", `{"range":null,"text":"new"}`, "new", ""},
		{"ab", `{"text":"new","rangeLength":3}`, "new", ""},
	} {
		var c Change
		if err := json.Unmarshal([]byte(tt.json), &c); err != nil {
			t.Fatal(err)
		}
		got, err := apply(text.New(tt.start), []Change{c}, text.UTF16)
		if got.String() != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q %s: %q, %v; want %q", tt.start, tt.json, got, err, tt.want)
		}
	}
	var c Change
	if err := json.Unmarshal([]byte(`{"range":null}`), &c); err == nil {
		t.Error("a change without text passes")
	}
}

func bigText() string {
	return strings.Repeat("\tif err := run(ctx, input); err != nil {\n", 200_000)
}

func BenchmarkKeystroke(b *testing.B) {
	s := NewStore(text.UTF16, nil)
	if err := s.Open("file:///t/x", "", 0, bigText()); err != nil {
		b.Fatal(err)
	}
	at := text.Position{Line: 150_000, Character: 10}
	var version int32
	for b.Loop() {
		version++
		if err := s.Change("file:///t/x", version, []Change{{&Range{at, at}, "x"}}); err != nil {
			b.Fatal(err)
		}
	}
}

// A replace-all, sent as Neovim does: a change for each line, top to bottom.
func BenchmarkReplaceAll(b *testing.B) {
	d := text.New(bigText())
	var changes []Change
	for l := uint32(0); l < 200_000; l += 20 {
		changes = append(changes, Change{&Range{text.Position{Line: l}, text.Position{Line: l + 1}}, "\tchanged 😀\n"})
	}
	for b.Loop() {
		if _, err := apply(d, changes, text.UTF16); err != nil {
			b.Fatal(err)
		}
	}
}
