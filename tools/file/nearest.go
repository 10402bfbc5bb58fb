package file

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/tools/workspace"
)

// The bounds of a search for what a missing file may have been meant to be.
const (
	nearestWalked = 20_000
	nearestShown  = 5
)

// notFound is the error of a path where nothing is, with what is like it.
func (f *Files) notFound(ctx context.Context, p workspace.Path) error {
	said := f.ws.Display(p.Abs) + " not found"
	if slices.Contains(f.changes.Overlay().Gone, p.Abs) {
		return fmt.Errorf("%s: you proposed to delete or move it", said)
	}
	var shown []string
	for _, path := range f.alike(ctx, p) {
		shown = append(shown, f.ws.Display(path))
	}
	if len(shown) == 0 {
		return fmt.Errorf("%s, and nothing with a name like it", said)
	}
	return fmt.Errorf("%s; did you mean %s?", said, strings.Join(shown, " or "))
}

// alike are the files whose names are near that of p: in its folder by their
// letters, elsewhere by the same name. The nearest come first.
func (f *Files) alike(ctx context.Context, p workspace.Path) []string {
	type candidate struct {
		path string
		far  int
	}
	var found []candidate
	name, dir := filepath.Base(p.Abs), filepath.Dir(p.Abs)
	consider := func(path string) {
		far := distance(strings.ToLower(filepath.Base(path)), strings.ToLower(name))
		switch {
		case filepath.Dir(path) == dir && far <= 1+utf8.RuneCountInString(name)/4:
		case far == 0:
			far = 1
		default:
			return
		}
		found = append(found, candidate{path, far})
	}
	var top string
	for _, root := range f.ws.Roots() {
		if root.Folder == p.Folder {
			top = root.Abs
		}
	}
	walked := 0
	// A walk that cannot be made leaves the error without a proposal, no more.
	_, _ = f.ws.Walk(ctx, []string{top}, func(e workspace.Entry) error {
		if walked++; walked > nearestWalked {
			return fs.SkipAll
		}
		if e.Type.IsRegular() {
			consider(e.Path)
		}
		return nil
	})
	for path := range f.changes.Overlay().Present {
		consider(path)
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(a.far-b.far, strings.Compare(a.path, b.path)) })
	var paths []string
	for _, c := range slices.Compact(found) {
		if len(paths) < nearestShown {
			paths = append(paths, c.path)
		}
	}
	return paths
}

// distance is how many letters must be changed, put in or left out to make b
// of a (Levenshtein), counted no further than names differ in length.
func distance(a, b string) int {
	const long = 64
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); len(x) > long || len(y) > long || d > long/4 || -d > long/4 {
		if a == b {
			return 0
		}
		return long
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range y {
			step := diagonal
			if r != s {
				step++
			}
			diagonal = row[j+1]
			row[j+1] = min(step, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}
