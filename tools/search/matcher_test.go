package search

import (
	"bytes"
	"context"
	"regexp"
	"testing"
)

// FuzzMatcher: what is known of a pattern beforehand never changes what it
// finds, in short lines and in long ones.
func FuzzMatcher(f *testing.F) {
	for _, s := range [][2]string{
		{"^package main$", "package main_test"}, {"^b", "ab"}, {"needle", "a needle"}, {"(?i)Needle", "NEEDLE"}, {"(ab)+c", "ababc"}, {"a|b", "b"}, {"ab?c", "ac"}, {"(?:foo){2}x", "foofoox"},
		{"\uFFFD", "\xff"}, {"x\\z", "x"}, {"\\bfoo\\b", "a foo b"}, {"(?s).", "\xe9"}, {"a{0}b", "b"}, {"", "x"}, {"[é]x", "éx"}, {"(?i:a)b", "Ab"}, {"(|a)b", "b"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, line string) {
		if len(pattern) > 100 {
			return
		}
		re, err := regexp.Compile(pattern)
		m, ours := compile(pattern, false)
		if (err == nil) != (ours == nil) {
			t.Fatalf("%q: %v, %v", pattern, err, ours)
		}
		if err != nil {
			return
		}
		b := []byte(line)
		want := re.FindIndex(b)
		if got := m.find(context.Background(), b); !same(got, want) {
			t.Errorf("%q in %q: %v, want %v", pattern, line, got, want)
		}
		if got := re.FindReaderIndex(&runeReader{ctx: context.Background(), rest: b}); !same(got, want) {
			t.Errorf("%q in a long %q: %v, want %v", pattern, line, got, want)
		}
		if want != nil && !bytes.Contains(b[want[0]:want[1]], m.must) {
			t.Errorf("%q in %q: the match holds no %q", pattern, line, m.must)
		}
	})
}

func same(a, b []int) bool {
	return (a == nil) == (b == nil) && (a == nil || a[0] == b[0] && a[1] == b[1])
}
