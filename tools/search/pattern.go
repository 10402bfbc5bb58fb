package search

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxAlternatives bounds what the braces of a pattern multiply to.
const maxAlternatives = 256

// names is a pattern for the names of files: a glob of doublestar's, without
// its braces, once for each of their alternatives.
type names struct {
	globs   []string
	negated bool // ! in front: whatever does not fit
}

// parseNames reads a pattern; its error is for the model. One without a slash
// is for the last part of a path at any depth, any other for the whole.
func parseNames(s string) (names, error) {
	var n names
	s, n.negated = strings.CutPrefix(s, "!")
	if runtime.GOOS == "windows" {
		s = filepath.ToSlash(s)
	}
	if !doublestar.ValidatePattern(s) {
		return n, fmt.Errorf("%s is no valid pattern: a bracket or brace is not closed, or a backslash ends it", quote(s))
	}
	if slices.Contains(strings.Split(s, "/"), "..") {
		return n, fmt.Errorf("%s leads outside the folder that is searched: .. is not taken in a pattern, use path", quote(s))
	}
	globs, ok := alternatives(s, maxAlternatives)
	if !ok {
		return n, fmt.Errorf("the braces of %s stand for more than %d patterns: use * instead", quote(s), maxAlternatives)
	}
	for _, g := range globs {
		if strings.Trim(g, "./") == "" {
			return n, fmt.Errorf("%s names no files", quote(s))
		}
		anchored := strings.HasPrefix(g, "/") || strings.HasPrefix(g, "./")
		g = strings.TrimPrefix(path.Clean("/"+g), "/")
		if !anchored && !strings.Contains(g, "/") {
			g = "**/" + g
		}
		n.globs = append(n.globs, collapse(g))
	}
	return n, nil
}

// collapse makes one of several ** in a row.
func collapse(g string) string {
	for strings.Contains(g, "**/**/") {
		g = strings.ReplaceAll(g, "**/**/", "**/")
	}
	return g
}

// fit says whether one of the spellings of a path does.
func (n names) fit(spellings ...string) bool {
	for _, g := range n.globs {
		for _, s := range spellings {
			if doublestar.MatchUnvalidated(g, s) {
				return !n.negated
			}
		}
	}
	return n.negated
}

// alternatives writes out the braces of a pattern; ok is false if that makes
// more than most.
func alternatives(s string, most int) (list []string, ok bool) {
	open, parts, rest := braces(s)
	if open < 0 {
		return []string{s}, true
	}
	tails, ok := alternatives(rest, most)
	if !ok {
		return nil, false
	}
	for _, part := range parts {
		heads, ok := alternatives(part, most)
		if !ok || len(list)+len(heads)*len(tails) > most {
			return nil, false
		}
		for _, head := range heads {
			for _, tail := range tails {
				list = append(list, s[:open]+head+tail)
			}
		}
	}
	return list, true
}

// braces finds the first pair of braces: where it opens, -1 if nowhere, what
// its commas part, and what comes after it.
func braces(s string) (open int, parts []string, rest string) {
	open = -1
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if end := classEnd(s, i); end > 0 {
				i = end
			}
		case '{':
			if depth++; depth == 1 {
				open, from = i, i+1
			}
		case ',':
			if depth == 1 {
				parts = append(parts, s[from:i])
				from = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				return open, append(parts, s[from:i]), s[i+1:]
			}
			depth = max(depth, 0)
		}
	}
	return -1, nil, ""
}

// classEnd is where the class that opens at s[i] ends, 0 if it does not.
func classEnd(s string, i int) int {
	for j := i + 1; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case ']':
			return j
		}
	}
	return 0
}

// base splits off the folders that a pattern names in plain words.
func base(glob string) (folder, rest string) {
	folder, rest = doublestar.SplitPattern(glob)
	if folder == "." {
		folder = ""
	}
	return folder, rest
}
