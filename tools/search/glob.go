package search

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/tools/internal/args"
	"github.com/agentls/agentls/tools/workspace"
)

//go:embed glob.md
var globDescription string

const globSchema = `{"type":"object","properties":{"pattern":{"type":"string","description":"The names to find, such as *.go, src/**/*.{ts,tsx} or **/testdata/ for folders."},"path":{"type":"string","description":"The folder to look in. Default the whole workspace."},"limit":{"type":"integer","description":"How many to show, at most 2000. Default 500."},"offset":{"type":"integer","description":"How many to skip, to go on after an earlier call. Default 0."}},"required":["pattern"],"additionalProperties":false}`

// The bounds of a glob.
const (
	defaultNames = 500
	maxNames     = 2000
)

// Glob is the tool glob.
type Glob struct {
	Workspace *workspace.Workspace
	Pending   Pending
}

// globQuery is what a call of glob asks for.
type globQuery struct {
	pattern, path string
	folders       bool // the pattern ends with a slash
	limit, offset int
}

// Spec implements agent.Tool.
func (Glob) Spec() llm.Tool {
	return llm.Tool{Name: "glob", Description: strings.TrimSpace(globDescription), Schema: json.RawMessage(globSchema)}
}

// ReadsOnly implements agent.Reader.
func (Glob) ReadsOnly() bool { return true }

// Plan implements agent.Tool.
func (g Glob) Plan(input json.RawMessage) (agent.Plan, error) {
	q, err := decodeGlob(input)
	if err != nil {
		return agent.Plan{}, err
	}
	return planFor(g.Workspace, "Find "+quote(q.pattern), q.path)
}

func decodeGlob(input json.RawMessage) (q globQuery, err error) {
	a, err := args.Parse(input, "pattern", "path", "limit", "offset")
	if err != nil {
		return q, err
	}
	if q.pattern, err = textArg(a, "pattern"); err != nil {
		return q, err
	}
	if _, err := parseNames(q.pattern); err != nil {
		return q, err
	}
	q.folders = strings.HasSuffix(q.pattern, "/")
	if q.path, err = pathArg(a); err != nil {
		return q, err
	}
	if q.limit, err = countArg(a, "limit", defaultNames, 0, maxNames); err != nil {
		return q, err
	}
	if q.limit == 0 {
		q.limit = defaultNames
	}
	q.offset, err = countArg(a, "offset", 0, 0, maxOffset)
	return q, err
}

// Run implements agent.Tool.
func (g Glob) Run(ctx context.Context, call agent.Call) agent.Result {
	q, err := decodeGlob(call.Input)
	if err != nil {
		return agent.Failed(err.Error())
	}
	searches, err := g.plan(q)
	if err != nil {
		return agent.Failed(err.Error())
	}
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	l := &listing{ws: g.Workspace, q: q}
	v := newView(g.Workspace, g.Pending)
	for _, s := range searches {
		if s.fallback && l.there {
			break
		}
		if err = l.search(limited, v, s); err != nil {
			break
		}
	}
	note, err := unfinished(ctx, err)
	if err != nil {
		return failed(ctx, err)
	}
	return agent.Result{Text: l.text(note)}
}

// globSearch is a pattern for what is below a place.
type globSearch struct {
	place
	names names
	// within: the place is what the pattern begins with. It need not be there,
	// and names match from it on.
	within bool
	// fallback: for when none of the places before is there.
	fallback bool
}

// plan decides where to look. The folders that a pattern begins with in plain
// words are gone to at once, which is quick, and finds what git ignores if it
// is named.
func (g Glob) plan(q globQuery) ([]globSearch, error) {
	pattern := filepath.ToSlash(q.pattern)
	spelling := q.path
	if r, ok := g.absolute(pattern); ok {
		spelling, pattern = r.folder, r.pattern
	}
	where, err := find(g.Workspace, spelling)
	if err != nil {
		return nil, err
	}
	folder, rest := base(strings.TrimSuffix(pattern, "/"))
	if folder == "" || folder == "/" || pattern[0] == '!' {
		n, err := parseNames(pattern)
		return []globSearch{{place: where, names: n}}, err
	}
	// From here on the whole of a path counts, not its last part alone.
	n, err := parseNames("./" + rest)
	if err != nil {
		return nil, err
	}
	var searches []globSearch
	there := false
	for i, below := range g.bases(where, strings.TrimPrefix(folder, "/")) {
		p, err := g.Workspace.Resolve(below)
		if workspace.IsOutside(err) {
			return nil, err
		}
		if err == nil {
			searches = append(searches, globSearch{place{[]string{p.Abs}, &p}, n, true, where.named != nil && i > 0})
			_, err = g.Workspace.Stat(p.Abs)
			there = there || err == nil
		}
	}
	if folder[0] == '/' && !there {
		return nil, &workspace.OutsideError{Spelling: q.pattern}
	}
	return searches, nil
}

// rooted is a pattern and the folder that it starts at.
type rooted struct{ folder, pattern string }

// absolute splits a pattern that begins with the path of a workspace folder.
func (g Glob) absolute(pattern string) (rooted, bool) {
	if !filepath.IsAbs(filepath.FromSlash(pattern)) {
		return rooted{}, false
	}
	for i, f := range g.Workspace.Folders() {
		for _, dir := range []string{f.Path, g.Workspace.Roots()[i].Abs} {
			if rest, ok := strings.CutPrefix(pattern, filepath.ToSlash(dir)+"/"); ok {
				return rooted{dir, "./" + rest}, true
			}
		}
	}
	return rooted{}, false
}

// bases are the spellings of the folder that a pattern begins with.
func (g Glob) bases(where place, folder string) []string {
	if where.named != nil {
		list := []string{filepath.Join(where.named.Abs, filepath.FromSlash(folder))}
		// src/*.go in src: meant from the workspace folder.
		if p, err := g.Workspace.Resolve(folder); err == nil {
			if _, ok := workspace.Rel(where.named.Abs, p.Abs); ok {
				list = append(list, p.Abs)
			}
		}
		return list
	}
	first, _, _ := strings.Cut(folder, "/")
	roots := g.Workspace.Roots()
	var list []string
	for _, r := range roots {
		if len(roots) == 1 || r.Folder == first {
			return []string{folder}
		}
		list = append(list, filepath.Join(r.Abs, filepath.FromSlash(folder)))
	}
	return list
}

// listing is the result of a glob in the making.
type listing struct {
	ws      *workspace.Workspace
	q       globQuery
	body    strings.Builder
	there   bool // some place that was to be searched
	skipped int
	shown   int
	more    bool
	ignored int
}

func (l *listing) search(ctx context.Context, v *view, s globSearch) error {
	stats, err := v.walk(ctx, s.place, func(f file) error {
		l.there = true
		e := f.entry
		rel := e.Rel
		if rel == "." {
			if e.Type.IsDir() || s.within {
				return nil
			}
			rel = path.Base(filepath.ToSlash(e.Path))
		}
		if e.Type.IsDir() != l.q.folders || !s.names.fit(l.spellings(s, e, rel)...) {
			return nil
		}
		return l.add(e)
	})
	l.ignored += stats.Ignored
	if s.within && errors.Is(err, errNotFound) {
		return nil
	}
	return err
}

// spellings are those of an entry that the pattern may be meant for.
func (l *listing) spellings(s globSearch, e workspace.Entry, rel string) []string {
	if s.within {
		return []string{rel}
	}
	return spellings(l.ws, e)
}

// add takes in a name, and ends the walk when there is no room for it.
func (l *listing) add(e workspace.Entry) error {
	if l.skipped < l.q.offset {
		l.skipped++
		return nil
	}
	name := l.ws.Display(e.Path)
	switch {
	case e.Type.IsDir():
		name += "/"
	case e.Type&fs.ModeSymlink != 0:
		name += "  (link)"
	}
	if l.shown == l.q.limit || l.body.Len()+len(name) >= maxResult {
		l.more = true
		return errFull
	}
	l.body.WriteString(name + "\n")
	l.shown++
	return nil
}

func (l *listing) text(note string) string {
	kind := [2]string{"file", "files"}
	if l.q.folders {
		kind = [2]string{"folder", "folders"}
	}
	what := count(l.shown, kind[0], kind[1])
	switch {
	case l.shown == 0 && l.q.offset > 0:
		what = fmt.Sprintf("no more %s after the first %d", kind[1], l.skipped)
	case l.shown == 0:
		what = fmt.Sprintf("no %s fits %s", kind[0], quote(l.q.pattern))
		if l.ignored > 0 {
			what += "; what git ignores is not listed unless path or the beginning of the pattern names it"
		}
	case l.more:
		what = fmt.Sprintf("the first %s; there are more: narrow the pattern, or go on with offset=%d", what, l.q.offset+l.shown)
	}
	if note != "" {
		what += ")\n(" + note
	}
	return l.body.String() + "(" + what + ")"
}

var _ agent.Reader = Glob{}
