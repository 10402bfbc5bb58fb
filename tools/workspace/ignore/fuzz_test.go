package ignore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/tools/workspace/ignore"
)

// FuzzDecide asks any rules about any path: an answer always comes, soon, and
// for one pattern it is the one that trying every way gives.
func FuzzDecide(f *testing.F) {
	for _, s := range [][2]string{
		{"*.o\n!b.o\n", "a/b.o"}, {"/a/**/b\n", "a/x/y/b"}, {"[[:alpha:]-z]\\ \n", "x "}, {"[!]-]", "-"}, {"a**b/", "ab"}, {"**/", "x"}, {"\\", "\\"}, {"foo**/bar", "foo/bar"},
		{strings.Repeat("*a", 60), strings.Repeat("a", 100) + "b"}, {strings.Repeat("**/a/", 40), strings.Repeat("a/", 100) + "b"}, {"[a-", "a"}, {"[[:x:]", "x"}, {"x/**\\/y", "x/a/y"},
	} {
		f.Add(s[0], s[1], false)
		f.Add(s[0], s[1], true)
	}
	f.Fuzz(func(t *testing.T, text, path string, fold bool) {
		start := time.Now()
		rules := ignore.Parse([]byte(text), fold)
		for _, dir := range []bool{true, false} {
			rules.Decide(path, dir)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v for %d bytes of rules and %d of path", took, len(text), len(path))
		}
		slow := strings.Count(text, "*") > 6 || len(text) > 60 || len(path) > 60
		if slow || fold || strings.ContainsAny(text, "\n\r\x00# !") || strings.HasPrefix(text, "\xEF\xBB\xBF") || path == "" || strings.Contains(path, "\x00") {
			return
		}
		if got, want := rules.Decide(path, true) == ignore.Ignored, wildmatch(text, path); got != want {
			t.Errorf("%q matches %q: %v, want %v", text, path, got, want)
		}
	})
}

// wildmatch says whether a pattern of an ignore file matches a folder, by the
// plainest reading of git's code.
func wildmatch(pattern, path string) bool {
	pattern = strings.TrimSuffix(pattern, "/")
	if pattern == "" {
		return false
	}
	if !strings.Contains(pattern, "/") {
		return wild(pattern, path[strings.LastIndexByte(path, '/')+1:], pattern)
	}
	pattern = strings.TrimPrefix(pattern, "/")
	plain := strings.IndexAny(pattern, `*?[\`)
	if plain < 0 {
		return pattern == path
	}
	rest, ok := strings.CutPrefix(path, pattern[:plain])
	return ok && wild(pattern[plain:], rest, pattern[plain:])
}

// wild matches p against s; whole is the pattern that p is the end of.
func wild(p, s, whole string) bool {
	for p != "" {
		if s == "" && p[0] != '*' {
			return false
		}
		switch p[0] {
		case '?':
			if s[0] == '/' {
				return false
			}
			p, s = p[1:], s[1:]
		case '[':
			n, in := class(p, s[0])
			if n == 0 || !in || s[0] == '/' {
				return false
			}
			p, s = p[n:], s[1:]
		case '*':
			rest := strings.TrimLeft(p, "*")
			before := whole[:len(whole)-len(p)]
			wide := len(p)-len(rest) > 1 && (before == "" || before[len(before)-1] == '/') && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
			if wide && rest != "" && rest[0] == '/' && wild(rest[1:], s, whole) {
				return true
			}
			for i := 0; i <= len(s); i++ {
				if wild(rest, s[i:], whole) {
					return true
				}
				if i < len(s) && s[i] == '/' && !wide {
					return false
				}
			}
			return false
		case '\\':
			if len(p) < 2 || p[1] != s[0] {
				return false
			}
			p, s = p[2:], s[1:]
		default:
			if p[0] != s[0] {
				return false
			}
			p, s = p[1:], s[1:]
		}
	}
	return s == ""
}

// class is the length of the set that p begins with, 0 if it is malformed, and
// whether c is in it.
func class(p string, c byte) (n int, in bool) {
	i := 1
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	var prev byte
	for first := true; ; first = false {
		if i >= len(p) {
			return 0, false
		}
		ch := p[i]
		if ch == ']' && !first {
			return i + 1, in != negated
		}
		switch {
		case ch == '\\':
			if i++; i >= len(p) {
				return 0, false
			}
			ch = p[i]
			in = in || c == ch
		case ch == '-' && prev != 0 && i+1 < len(p) && p[i+1] != ']':
			if i++; p[i] == '\\' {
				if i++; i >= len(p) {
					return 0, false
				}
			}
			in = in || prev <= c && c <= p[i]
			ch = 0
		case ch == '[' && i+1 < len(p) && p[i+1] == ':':
			end := strings.IndexByte(p[i+2:], ']')
			if end < 0 {
				return 0, false
			}
			name, ok := strings.CutSuffix(p[i+2:i+2+end], ":")
			if !ok {
				in = in || c == '['
				break
			}
			members, known := classMembers[name]
			if !known {
				return 0, false
			}
			in = in || strings.IndexByte(members, c) >= 0
			i += 2 + end
			ch = 0
		default:
			in = in || c == ch
		}
		prev = ch
		i++
	}
}

var classMembers = func() map[string]string {
	const lower, upper, digit = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	const punct = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	var controls strings.Builder
	for c := range byte(' ') {
		controls.WriteByte(c)
	}
	graph := lower + upper + digit + punct
	return map[string]string{
		"alnum": lower + upper + digit, "alpha": lower + upper, "blank": " \t", "cntrl": controls.String() + "\x7f", "digit": digit, "graph": graph, "lower": lower,
		"print": graph + " ", "punct": punct, "space": " \t\n\r", "upper": upper, "xdigit": digit + "abcdefABCDEF",
	}
}()

func TestBounds(t *testing.T) {
	name := strings.Repeat("a", 255) // the longest that file systems have
	for _, c := range []struct {
		rules, path string
		want        ignore.Decision
	}{
		{strings.Repeat("*a", 2000), name, ignore.Undecided},
		{strings.Repeat("*a", 200), name, ignore.Ignored},
		{strings.Repeat("**/a", 1000), strings.Repeat("a/", 2000) + "b", ignore.Undecided},
		{strings.Repeat("[a-z]*", 600), name, ignore.Undecided},
		{strings.Repeat(strings.Repeat("*a", 100)+"*c*a\n", 200), name, ignore.Undecided},
		{strings.Repeat("x", ignore.MaxSize+10), name, ignore.Undecided},
	} {
		start := time.Now()
		if got := ignore.Parse([]byte(c.rules), true).Decide(c.path, false); got != c.want {
			t.Errorf("%.20q…: %v", c.rules, got)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%.20q…: %v", c.rules, took)
		}
	}
	if rules := ignore.Parse([]byte("keep\n"+strings.Repeat("#", ignore.MaxSize)+"\nbeyond\n"), false); rules.Decide("keep", false) != ignore.Ignored || rules.Decide("beyond", false) != ignore.Undecided {
		t.Error("the part of a file within the bound does not count")
	}
}

func BenchmarkDecide(b *testing.B) {
	for name, text := range map[string]string{
		"usual":   "node_modules/\ndist/\n*.log\n*.tmp\n.DS_Store\n/build\n.env*\ncoverage/\n*.swp\n**/generated/**\n!keep.log\n__pycache__/\n*.py[co]\n.idea/\n.vscode/\n",
		"hostile": strings.Repeat(strings.Repeat("*a", 100)+"*c*a\n", 10),
	} {
		b.Run(name, func(b *testing.B) {
			rules := ignore.Parse([]byte(text), false)
			path := "src/components/" + strings.Repeat("a", 100) + ".ts"
			for range b.N {
				rules.Decide(path, false)
			}
		})
	}
}
