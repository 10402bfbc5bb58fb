// Package search is the tools by which a model finds its way: grep searches
// the text of files, glob their names. Each is a file of code and the text
// beside it that the model is told.
//
// Both see the workspace as the agent does: what is on disk, the editor's
// unsaved text over it, the agent's own pending changes over that. What git
// ignores is left out unless it is named, files that usually hold secrets are
// not searched unless named, links are not followed. A result is bounded, the
// same for the same files, and says how to go on.
//
// Calls change nothing and may run side by side.
//
//	tools := []agent.Tool{search.Grep{ws, changes}, search.Glob{ws, changes}}
package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/internal/args"
	"github.com/agentls/agentls/tools/text"
	"github.com/agentls/agentls/tools/workspace"
)

// Pending is what the agent has changed and the user has not settled yet: a
// *changeset.Set, or nil for nothing.
type Pending interface {
	Overlay() changeset.Overlay
}

// maxTime bounds a call; a variable for its test.
var maxTime = 20 * time.Second

// The bounds of a call.
const (
	maxResult = 32 << 10 // bytes
	maxOffset = 100_000
	maxTitle  = 80 // bytes of what is quoted in a title
)

// place is where a search looks: everything, or what one path holds.
type place struct {
	starts []string
	// named is the path that was asked for, nil for everything.
	named *workspace.Path
}

// find takes the path argument of a call.
func find(ws *workspace.Workspace, spelling string) (place, error) {
	if top(ws, spelling) {
		roots := ws.Roots()
		if len(roots) == 0 {
			return place{}, errors.New("no folder is open: there is nothing to search")
		}
		var p place
		for _, r := range roots {
			p.starts = append(p.starts, r.Abs)
		}
		return p, nil
	}
	p, err := ws.Resolve(spelling)
	if err != nil {
		return place{}, err
	}
	return place{[]string{p.Abs}, &p}, nil
}

// top says whether a spelling means the whole workspace.
func top(ws *workspace.Workspace, spelling string) bool {
	clean := path.Clean(filepath.ToSlash(spelling))
	return clean == "." || clean == "/" && len(ws.Folders()) != 1
}

// in names a place for a title or a message.
func (p place) in(ws *workspace.Workspace) string {
	if p.named == nil {
		return "the workspace"
	}
	return ws.Display(p.named.Abs)
}

// planFor is the plan of a call.
func planFor(ws *workspace.Workspace, what, spelling string) (agent.Plan, error) {
	p, err := find(ws, spelling)
	if err != nil {
		return agent.Plan{}, err
	}
	plan := agent.Plan{Kind: agent.KindSearch, Title: what + " in " + p.in(ws), ReadOnly: true}
	if p.named != nil {
		plan.Locations = []agent.Location{{Path: p.named.Abs}}
	}
	return plan, nil
}

// pathArg reads the optional argument that says where to look.
func pathArg(a args.Args) (string, error) {
	spelling, _, err := a.String("path")
	if strings.TrimSpace(spelling) == "" {
		spelling = "."
	}
	return spelling, err
}

// countArg reads an argument that counts.
func countArg(a args.Args, name string, fallback, least, most int) (int, error) {
	n, err := a.Int(name, fallback)
	if err == nil && n < 0 {
		err = fmt.Errorf("%s is negative", name)
	}
	return min(max(n, least), most), err
}

// textArg reads the text that is searched for.
func textArg(a args.Args, name string) (string, error) {
	s, err := a.Required(name)
	switch {
	case err != nil:
		return "", err
	case s == "":
		return "", fmt.Errorf("%s is empty", name)
	case strings.ContainsRune(s, 0):
		return "", fmt.Errorf("%s holds a NUL character", name)
	case len(s) > maxPattern:
		return "", fmt.Errorf("%s is %d bytes long: %d at most", name, len(s), maxPattern)
	}
	return s, nil
}

const maxPattern = 4 << 10 // bytes

// file is a file as the agent sees it.
type file struct {
	entry workspace.Entry
	// Where text is known, known is set; else it is on disk.
	text  string
	known bool
}

var (
	errNotFound = errors.New("not found")
	// errFull ends a walk whose result has no more room.
	errFull = errors.New("full")
)

// view is the workspace as the agent sees it, at the time of one call.
type view struct {
	ws      *workspace.Workspace
	pending changeset.Overlay
	gone    map[string]bool
	extra   []string // the files that are not on disk, in order
}

func newView(ws *workspace.Workspace, p Pending) *view {
	v := &view{ws: ws, gone: map[string]bool{}}
	if p != nil {
		v.pending = p.Overlay()
	}
	for _, path := range v.pending.Gone {
		_, back := v.pending.Present[path]
		v.gone[path] = !back
	}
	for path := range v.pending.Present {
		v.extra = append(v.extra, path)
	}
	for _, path := range ws.Buffers() {
		if _, err := ws.Stat(path); errors.Is(err, fs.ErrNotExist) && !v.gone[path] {
			v.extra = append(v.extra, path)
		}
	}
	slices.SortFunc(v.extra, workspace.Compare)
	v.extra = slices.Compact(v.extra)
	return v
}

// text is what is known of a file without reading it.
func (v *view) text(path string) (string, bool) {
	for _, changed := range []map[string]string{v.pending.Present, v.pending.Modified} {
		if text, ok := changed[path]; ok {
			return text, true
		}
	}
	return v.ws.Buffer(path)
}

// walk calls fn for the files and folders at and below a place, in order, as
// Workspace.Walk does; what is not on disk has its place among the others,
// though its folders have none.
func (v *view) walk(ctx context.Context, p place, fn func(file) error) (workspace.WalkStats, error) {
	var total workspace.WalkStats
	for _, start := range p.starts {
		stats, found, err := v.walkFrom(ctx, start, p.starts, fn)
		total.Ignored += stats.Ignored
		total.Unreadable += stats.Unreadable
		var gone *workspace.GoneError
		switch {
		case errors.As(err, &gone) && len(p.starts) > 1:
			total.Unreadable++ // one of several folders
		case err != nil:
			return total, err
		case !found && p.named != nil:
			return total, fmt.Errorf("%s: %w", v.ws.Display(start), errNotFound)
		}
	}
	return total, nil
}

// walkFrom walks from one of the starts. found says that something was there.
func (v *view) walkFrom(ctx context.Context, start string, starts []string, fn func(file) error) (stats workspace.WalkStats, found bool, err error) {
	emit := func(e workspace.Entry) error {
		found = true
		f := file{entry: e}
		f.text, f.known = v.text(e.Path)
		return fn(f)
	}
	extra := v.below(start, starts)
	stats, err = v.ws.Walk(ctx, []string{start}, func(e workspace.Entry) error {
		if e.Path != start && slices.Contains(starts, e.Path) {
			return fs.SkipDir
		}
		for len(extra) > 0 && workspace.Compare(extra[0].Path, e.Path) <= 0 {
			before := extra[0]
			extra = extra[1:]
			if before.Path == e.Path {
				break // it is there by now
			}
			if err := emit(before); err != nil {
				return err
			}
		}
		if v.gone[e.Path] {
			return nil
		}
		return emit(e)
	})
	var gone *workspace.GoneError
	if err != nil && (!errors.Is(err, fs.ErrNotExist) || errors.As(err, &gone)) {
		return stats, found, err
	}
	for _, e := range extra {
		if err := emit(e); err != nil {
			return stats, found, err
		}
	}
	return stats, found, nil
}

// below are the files at and below start that are not on disk and not ignored.
func (v *view) below(start string, starts []string) []workspace.Entry {
	var list []workspace.Entry
	for _, path := range v.extra {
		rel, ok := workspace.Rel(start, path)
		inner := slices.ContainsFunc(starts, func(s string) bool {
			_, deeper := workspace.Rel(s, path)
			return deeper && len(s) > len(start)
		})
		if !ok || inner || v.ws.Ignored(path, false) && rel != "." && !v.ws.Ignored(start, true) {
			continue
		}
		list = append(list, workspace.Entry{Path: path, Rel: rel})
	}
	return list
}

// unfinished says of a search that ended early why, or returns the error that
// is none of that kind. ctx is the one of the call, not of the search.
func unfinished(ctx context.Context, err error) (note string, _ error) {
	switch {
	case err == nil || errors.Is(err, errFull):
		return "", nil
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Sprintf("The search was stopped after %v: this is what it had found. Narrow it with path or glob.", maxTime), nil
	}
	return "", err
}

// failed is the result of a call that could not be done.
func failed(ctx context.Context, err error) agent.Result {
	if ctx.Err() != nil {
		return agent.Result{Text: "The search was cancelled.", Status: agent.StatusCancelled}
	}
	return agent.Failed(err.Error())
}

// count words a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// quote shows a text in a title, on one line and not long.
func quote(s string) string {
	if len(s) > maxTitle {
		s = text.ClampRune(s, maxTitle) + "…"
	}
	return strconv.Quote(s)
}
