// Package ignore tells what git would ignore, by the words of gitignore(5) and
// the deeds of git's own matcher where they differ. It knows neither files nor
// folders: who walks a tree hands it the texts of the ignore files.
//
// Rules are the patterns of one file, List those in force in one folder. Both
// never change once made and may be shared between goroutines.
//
//	list := (*ignore.List)(nil).Add("", exclude).Add("", top).Add("sub", nested)
//	if list.Decide("sub/a.o", false) == ignore.Ignored { … }
//
// A pattern is matched in time proportional to its length times the path's,
// whatever its stars.
package ignore

import (
	"bytes"
	"strings"
)

// Decision is what rules say of a path.
type Decision uint8

// The decisions.
const (
	Undecided Decision = iota // no pattern matches
	Ignored
	Included // a pattern with ! matches last
)

// The bounds of an ignore file; what is beyond them is not read.
const (
	MaxSize    = 1 << 20 // bytes
	maxPattern = 4 << 10 // bytes; no path is longer than that
)

// Rules are the patterns of one ignore file.
type Rules struct {
	patterns []pattern
	fold     bool
}

// Parse reads an ignore file. With fold, patterns do not tell the case of
// ASCII letters apart, as git does it where the file system does not.
func Parse(data []byte, fold bool) *Rules {
	if len(data) > MaxSize {
		data = data[:bytes.LastIndexByte(data[:MaxSize], '\n')+1]
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	r := &Rules{fold: fold}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		if nul := bytes.IndexByte(line, 0); nul >= 0 {
			line = line[:nul]
		}
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if text := trimSpaces(string(line)); len(text) <= maxPattern {
			if p, ok := compile(text, fold); ok {
				r.patterns = append(r.patterns, p)
			}
		}
	}
	return r
}

// trimSpaces cuts spaces at the end of a line that no backslash protects.
func trimSpaces(s string) string {
	end := len(s)
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			end = min(end, i)
			continue
		case '\\':
			if i++; i == len(s) {
				return s
			}
		}
		end = len(s)
	}
	return s[:end]
}

// Decide says what the last matching pattern does to a path, which is
// slash-separated and relative to the folder of the file. dir says that it is
// a folder; a link to one is none.
func (r *Rules) Decide(path string, dir bool) Decision {
	if r.fold {
		path = lower(path)
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(r.patterns) - 1; i >= 0; i-- {
		p := &r.patterns[i]
		if p.dirOnly && !dir || !p.match(path, name) {
			continue
		}
		if p.negated {
			return Included
		}
		return Ignored
	}
	return Undecided
}

// Empty says whether the file has no pattern.
func (r *Rules) Empty() bool { return len(r.patterns) == 0 }

// List is the rules in force in a folder: those of its own ignore file first,
// then those of the folders around it. The nil List has none.
type List struct {
	outer *List
	base  string // of the rules' folder, with a slash at the end, or empty
	rules *Rules
}

// Add is the list with the rules of an inner folder in front. base is that
// folder, relative to where the paths given to Decide start; "" is there.
func (l *List) Add(base string, r *Rules) *List {
	if r == nil || r.Empty() {
		return l
	}
	if base != "" {
		base += "/"
	}
	return &List{l, base, r}
}

// Decide says what the innermost file that has a matching pattern does to a
// path. The caller has found none of the folders around the path ignored:
// below an ignored folder nothing can be included again.
func (l *List) Decide(path string, dir bool) Decision {
	for ; l != nil; l = l.outer {
		inner, ok := strings.CutPrefix(path, l.base)
		if !ok || inner == "" {
			continue
		}
		if d := l.rules.Decide(inner, dir); d != Undecided {
			return d
		}
	}
	return Undecided
}
