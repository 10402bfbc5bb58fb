package search_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGrepAgainstPlain compares many calls with what the plainest code makes
// of them: every line of every file, split and matched one by one.
func TestGrepAgainstPlain(t *testing.T) {
	seed := uint64(os.Getpid())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 5))
	for range 20 {
		tree := map[string]string{}
		for range 1 + rnd.IntN(5) {
			var b strings.Builder
			for range rnd.IntN(40) {
				b.WriteString([]string{"a", "b", "ab", "x", "aé", "cab"}[rnd.IntN(6)] + []string{"\n", "\r\n", "\r"}[rnd.IntN(3)])
			}
			tree[[]string{"p", "q", "p.d/r", "p.d/s/t", "z"}[rnd.IntN(5)]] = b.String() + []string{"", "a"}[rnd.IntN(2)]
		}
		f := newFixture(t, tree)
		for range 20 {
			pattern := []string{"a", "^a", "b$", "x|é", "ab", "^$", "."}[rnd.IntN(7)]
			around, limit, offset := rnd.IntN(4), 1+rnd.IntN(12), rnd.IntN(6)
			got := f.grep(fmt.Sprintf(`{"pattern":%q,"context":%d,"limit":%d,"offset":%d}`, pattern, around, limit, offset))
			want := plainGrep(tree, regexp.MustCompile(pattern), around, limit, offset)
			if body, _, ok := strings.Cut("\n"+got, "\n("); !ok || strings.TrimPrefix(body+"\n", "\n") != want {
				t.Fatalf("%q, context %d, limit %d, offset %d in %q\n got: %s\nwant: %s", pattern, around, limit, offset, tree, got, want)
			}
		}
	}
}

// plainGrep is the body of a result. Context ends at matches that are not
// shown themselves.
func plainGrep(tree map[string]string, re *regexp.Regexp, around, limit, offset int) string {
	names := sortedKeys(tree)
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
	})
	var out strings.Builder
	n := 0
	for _, name := range names {
		lines := regexp.MustCompile("\r\n|\n|\r").Split(tree[name], -1)
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		match := make([]bool, len(lines))
		show := make([]bool, len(lines))
		var chosen []int
		for i, line := range lines {
			if match[i] = re.MatchString(line); !match[i] {
				continue
			}
			if n++; n > offset && n <= offset+limit {
				chosen = append(chosen, i)
				show[i] = true
			}
		}
		for _, i := range chosen {
			for _, step := range []int{-1, 1} {
				for j := i + step; j >= 0 && j < len(lines) && (j-i)*step <= around && (!match[j] || show[j]); j += step {
					show[j] = true
				}
			}
		}
		last := -1
		for i, line := range lines {
			if !show[i] {
				continue
			}
			if around > 0 && out.Len() > 0 && last != i-1 || around > 0 && out.Len() > 0 && last < 0 {
				out.WriteString("--\n")
			}
			sep := "-"
			if match[i] {
				sep = ":"
			}
			fmt.Fprintf(&out, "%s%s%d%s%s\n", name, sep, i+1, sep, line)
			last = i
		}
	}
	return out.String()
}
