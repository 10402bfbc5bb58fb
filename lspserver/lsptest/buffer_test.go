package lsptest

import (
	"strings"
	"testing"
)

func TestPositions(t *testing.T) {
	const s = "a😀é\r\nb\rc\n\u2028x"
	for _, c := range []struct {
		encoding string
		at       Position
		offset   int
	}{
		{"utf-16", Position{0, 0}, 0}, {"utf-16", Position{0, 3}, 5}, {"utf-16", Position{0, 4}, 7},
		{"utf-8", Position{0, 5}, 5}, {"utf-32", Position{0, 2}, 5},
		{"utf-16", Position{1, 1}, 10}, {"utf-16", Position{2, 0}, 11}, {"utf-16", Position{3, 1}, 16}, {"utf-16", Position{3, 2}, 17},
	} {
		got, err := offsetOf(s, c.at, c.encoding)
		if err != nil || got != c.offset {
			t.Errorf("%s %s: %d, %v; want %d", c.encoding, c.at, got, err, c.offset)
		}
	}
	for _, p := range []Position{{0, 2}, {0, 5}, {4, 0}, {-1, 0}, {1, 2}} {
		if got, err := offsetOf(s, p, "utf-16"); err == nil {
			t.Errorf("%s was taken for %d", p, got)
		}
	}
}

func TestApplyEdits(t *testing.T) {
	edit := func(at, text string) TextEdit {
		r, err := rangeOf(at)
		if err != nil {
			t.Fatal(err)
		}
		return TextEdit{r, text}
	}
	got, err := applyEdits("one\ntwo\n", []TextEdit{edit("1:0-1:3", "2"), edit("0:0", "0 "), edit("0:0", "1 ")}, "utf-16")
	if err != nil || got != "0 1 one\n2\n" {
		t.Errorf("%q, %v", got, err)
	}
	for _, edits := range [][]TextEdit{
		{edit("0:0-0:2", ""), edit("0:1-0:3", "")},
		{edit("0:0-0:9", "")},
		{edit("3:0", "")},
		{edit("1:0-0:0", "")},
	} {
		if got, err := applyEdits("one\ntwo\n", edits, "utf-16"); err == nil {
			t.Errorf("%v made %q", edits, got)
		}
	}
}

func TestScript(t *testing.T) {
	lines, err := parseScript("# nothing\nopen a.go\n! resolve all accept  # it is stale\ntype a.go 0:0 \"x\\n\" text=\"a b\"\nrequest m { \"a\": 1 }\n", 1)
	if err != nil || len(lines) != 4 {
		t.Fatalf("%v, %v", lines, err)
	}
	if !lines[1].fails || lines[1].number != 3 || strings.Join(lines[2].words, "|") != "type|a.go|0:0|x\n|text=a b" || lines[3].words[2] != `{ "a": 1 }` {
		t.Errorf("%+v", lines)
	}
	if _, err := parseScript(`run "a`, 1); err == nil {
		t.Error("a string without end was taken")
	}
	if got, err := unescape("a\\r\\n\n\\xEF\"\n"); err != nil || got != "a\r\n\xef\"" {
		t.Errorf("%q, %v", got, err)
	}
}
