package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/workspace"
)

// maxLocations bounds the places that a result points to.
const maxLocations = 50

// report is the result of a grep in the making.
type report struct {
	ws    *workspace.Workspace
	q     query
	where place
	stats workspace.WalkStats

	body      strings.Builder
	last      int // the line that was shown last of the file at hand
	skip      int // matches still to be skipped
	shown     int
	files     int // that have what is shown
	searched  int
	more      bool
	cut       bool
	foreign   bool
	binary    int
	unread    int
	secrets   []string
	notes     []string
	failure   error // of the file that was named
	locations []agent.Location
}

func newReport(ws *workspace.Workspace, q query, where place) *report {
	return &report{ws: ws, q: q, where: where, skip: q.offset}
}

// add takes in what was found in the next file and says whether there is room
// for more.
func (r *report) add(f finding) bool {
	switch {
	case f.secret:
		r.secrets = append(r.secrets, r.ws.Display(f.entry.Path))
		return true
	case f.failure != nil:
		r.fail(f)
		return true
	}
	r.searched++
	if f.matches <= r.skip {
		r.skip -= f.matches
		return true
	}
	display := r.ws.Display(f.entry.Path)
	if r.q.filesOnly {
		return r.addFile(f, display)
	}
	shown := r.shown
	ok := r.addLines(f, display)
	if r.shown > shown {
		r.files++
		r.cut = r.cut || f.cut
		r.foreign = r.foreign || f.foreign
	}
	return ok
}

// fail takes in a file that was not searched.
func (r *report) fail(f finding) {
	named := f.entry.Rel == "."
	switch err := f.failure; {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		// The search has ended, and that is told elsewhere.
	case named && errors.Is(err, errBinary):
		r.failure = fmt.Errorf("%s is binary: it is not searched", r.ws.Display(f.entry.Path))
	case named:
		r.failure = err
	case errors.Is(err, errBinary):
		r.binary++
	case !errors.Is(err, fs.ErrNotExist): // it was deleted since it was listed
		r.unread++
	}
}

func (r *report) addFile(f finding, display string) bool {
	if r.shown == r.q.limit || r.body.Len()+len(display) >= maxResult {
		r.more = true
		return false
	}
	r.body.WriteString(display + "\n")
	r.shown++
	r.files++
	r.point(f, 0)
	return true
}

func (r *report) addLines(f finding, display string) bool {
	lines := r.wanted(f.lines)
	r.last = -1
	end := 0 // of the context of the last match
	for i, l := range lines {
		if r.shown == r.q.limit && (l.match || l.no > end) {
			r.more = true // a match, or what precedes one
			return false
		}
		sep := "-"
		if l.match {
			sep = ":"
		}
		text := fmt.Sprintf("%s%s%d%s%s\n", display, sep, l.no, sep, l.text)
		if r.q.context > 0 && r.body.Len() > 0 && l.no != r.last+1 {
			text = "--\n" + text
		}
		if r.body.Len()+len(text) > maxResult {
			r.more = r.more || hasMatch(lines[i:])
			return false
		}
		r.body.WriteString(text)
		r.last = l.no
		if l.match {
			end = l.no + r.q.context
			if r.shown++; len(r.locations) == 0 || r.locations[len(r.locations)-1].Path != f.entry.Path {
				r.point(f, l.no)
			}
		}
	}
	return true
}

// wanted leaves out the lines of the matches that are to be skipped.
func (r *report) wanted(lines []line) []line {
	from := 0
	for i, l := range lines {
		if !l.match {
			continue
		}
		if r.skip == 0 {
			// With the context before it, as far as that is no other's.
			for n := 0; n < r.q.context && i > from && lines[i-1].no == lines[i].no-1; n++ {
				i--
			}
			return lines[i:]
		}
		r.skip--
		from = i + 1
	}
	return nil
}

func hasMatch(lines []line) bool {
	for _, l := range lines {
		if l.match {
			return true
		}
	}
	return false
}

func (r *report) point(f finding, line int) {
	if len(r.locations) < maxLocations {
		r.locations = append(r.locations, agent.Location{Path: f.entry.Path, Line: line})
	}
}

// result words the report.
func (r *report) result() agent.Result {
	if r.failure != nil {
		return agent.Failed(r.failure.Error())
	}
	var b strings.Builder
	b.WriteString(r.body.String())
	for _, note := range append([]string{r.summary()}, r.remarks()...) {
		b.WriteString("(" + note + ")\n")
	}
	return agent.Result{Text: strings.TrimSuffix(b.String(), "\n"), Locations: r.locations}
}

// summary is what was found, and how to see the rest.
func (r *report) summary() string {
	what := fmt.Sprintf("%s in %s", count(r.shown, "match", "matches"), count(r.files, "file", "files"))
	if r.q.filesOnly {
		what = count(r.files, "file has a match", "files have a match")
	}
	if r.shown == 0 && r.q.offset > 0 {
		return fmt.Sprintf("no more matches after the first %d", r.q.offset-r.skip)
	}
	if r.shown == 0 {
		return fmt.Sprintf("no match for %s in %s, %s searched", quote(r.q.pattern), r.where.in(r.ws), count(r.searched, "file", "files"))
	}
	if r.more {
		return fmt.Sprintf("the first %s; there are more: narrow the search with path, glob or pattern, or go on with offset=%d", what, r.q.offset+r.shown)
	}
	return what
}

// remarks are what else there is to know.
func (r *report) remarks() []string {
	notes := r.notes
	if r.cut {
		notes = append(notes, "long lines are cut to what is around the match, where … stands")
	}
	if r.foreign {
		notes = append(notes, `some lines are not UTF-8; their bytes are shown as \xE9 and cannot be edited`)
	}
	if n := len(r.secrets); n > 0 {
		names := strings.Join(r.secrets[:min(n, 3)], ", ")
		if n > 3 {
			names += " …"
		}
		notes = append(notes, fmt.Sprintf("not searched, since they usually hold secrets: %s", names))
	}
	if r.binary > 0 {
		notes = append(notes, "not searched: "+count(r.binary, "binary file", "binary files"))
	}
	if n := r.unread + r.stats.Unreadable; n > 0 {
		notes = append(notes, fmt.Sprintf("%d could not be read", n))
	}
	if r.shown == 0 && r.searched == 0 && r.stats.Ignored > 0 && r.failure == nil {
		notes = append(notes, "what git ignores is not searched unless path names it")
	}
	if r.shown == 0 && spansLines(r.q.pattern) {
		notes = append(notes, `each line is matched alone: a pattern with \n finds nothing`)
	}
	return notes
}
