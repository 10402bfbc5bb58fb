package search

import (
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"path"
	"strings"
	"sync/atomic"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/tools/internal/args"
	"github.com/agentls/agentls/tools/workspace"
)

//go:embed grep.md
var grepDescription string

const grepSchema = `{"type":"object","properties":{"pattern":{"type":"string","description":"A regular expression (RE2), matched line by line."},"path":{"type":"string","description":"A file or folder to search. Default the whole workspace."},"glob":{"type":"string","description":"Search only files whose names fit, such as *.go or src/**/*.{ts,tsx}; !*.md leaves out."},"case_insensitive":{"type":"boolean","description":"Default false."},"context":{"type":"integer","description":"Lines to show before and after each match, 0 to 10. Default 0."},"files_only":{"type":"boolean","description":"Show only the paths of files that match. Default false."},"limit":{"type":"integer","description":"How many matches to show, at most 1000. Default 100."},"offset":{"type":"integer","description":"How many matches to skip, to go on after an earlier call. Default 0."}},"required":["pattern"],"additionalProperties":false}`

// The bounds of a grep.
const (
	defaultMatches = 100
	maxMatches     = 1000
	maxContext     = 10
)

// Grep is the tool grep.
type Grep struct {
	Workspace *workspace.Workspace
	Pending   Pending
}

// query is what a call of grep asks for.
type query struct {
	pattern       string
	match         *matcher
	path          string
	names         *names // nil for all
	glob          string
	context       int
	filesOnly     bool
	limit, offset int
}

// Spec implements agent.Tool.
func (Grep) Spec() llm.Tool {
	return llm.Tool{Name: "grep", Description: strings.TrimSpace(grepDescription), Schema: json.RawMessage(grepSchema)}
}

// ReadsOnly implements agent.Reader.
func (Grep) ReadsOnly() bool { return true }

// Plan implements agent.Tool.
func (g Grep) Plan(input json.RawMessage) (agent.Plan, error) {
	q, err := decodeGrep(input)
	if err != nil {
		return agent.Plan{}, err
	}
	return planFor(g.Workspace, "Search for "+quote(q.pattern), q.path)
}

func decodeGrep(input json.RawMessage) (q query, err error) {
	a, err := args.Parse(input, "pattern", "path", "glob", "case_insensitive", "context", "files_only", "limit", "offset")
	if err != nil {
		return q, err
	}
	if q.pattern, err = textArg(a, "pattern"); err != nil {
		return q, err
	}
	ignoreCase, err := a.Bool("case_insensitive", false)
	if err != nil {
		return q, err
	}
	if q.match, err = compile(q.pattern, ignoreCase); err != nil {
		return q, err
	}
	if q.path, err = pathArg(a); err != nil {
		return q, err
	}
	if q.glob, _, err = a.String("glob"); err != nil {
		return q, err
	}
	if q.glob != "" {
		if q.glob, err = textArg(a, "glob"); err != nil {
			return q, err
		}
		n, err := parseNames(q.glob)
		if err != nil {
			return q, err
		}
		q.names = &n
	}
	if q.context, err = countArg(a, "context", 0, 0, maxContext); err != nil {
		return q, err
	}
	if q.filesOnly, err = a.Bool("files_only", false); err != nil {
		return q, err
	}
	if q.filesOnly {
		q.context = 0
	}
	if q.limit, err = countArg(a, "limit", defaultMatches, 0, maxMatches); err != nil {
		return q, err
	}
	if q.limit == 0 {
		q.limit = defaultMatches
	}
	q.offset, err = countArg(a, "offset", 0, 0, maxOffset)
	return q, err
}

// Run implements agent.Tool.
func (g Grep) Run(ctx context.Context, call agent.Call) agent.Result {
	q, err := decodeGrep(call.Input)
	if err != nil {
		return agent.Failed(err.Error())
	}
	where, err := find(g.Workspace, q.path)
	if err != nil {
		return agent.Failed(err.Error())
	}
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	r := newReport(g.Workspace, q, where)
	err = g.search(limited, q, where, r)
	note, err := unfinished(ctx, err)
	if err != nil {
		return failed(ctx, err)
	}
	if note != "" {
		r.notes = append(r.notes, note)
	}
	return r.result()
}

// search hands what it finds to the report, file by file and in order.
func (g Grep) search(ctx context.Context, q query, where place, r *report) error {
	v := newView(g.Workspace, g.Pending)
	// wanted is how many matches the report can still take, one more than it
	// shows so as to know that there are more. It only ever falls.
	var wanted atomic.Int64
	wanted.Store(int64(q.offset + q.limit + 1))
	var stats workspace.WalkStats
	err := ordered(ctx,
		func(ctx context.Context, emit func(file) error) (err error) {
			stats, err = v.walk(ctx, where, func(f file) error {
				if f.entry.Type != 0 || !q.wants(v, f) {
					return nil
				}
				return emit(f)
			})
			return err
		},
		func(ctx context.Context) func(file) finding {
			buf := make([]byte, 0, firstBuffer)
			return func(f file) (out finding) {
				s := &scan{ctx: ctx, m: q.match, context: q.context, most: int(wanted.Load())}
				if q.filesOnly {
					s.most = 1
				}
				out, buf = s.file(v, f, buf)
				return out
			}
		},
		func(f finding) bool {
			wanted.Add(-int64(f.matches))
			return r.add(f)
		})
	r.stats = stats
	return err
}

// wants says whether the names of a file fit. The file that was named is
// searched whatever its name.
func (q query) wants(v *view, f file) bool {
	if q.names == nil || f.entry.Rel == "." {
		return true
	}
	return q.names.fit(spellings(v.ws, f.entry)...)
}

// spellings are the paths of an entry that a pattern may be meant for: from
// where the search began, from the workspace folder, with its name in front.
func spellings(ws *workspace.Workspace, e workspace.Entry) []string {
	list := []string{e.Rel}
	for _, root := range ws.Roots() {
		if rel, ok := workspace.Rel(root.Abs, e.Path); ok {
			list = append(list, rel, path.Join(root.Folder, rel))
		}
	}
	return list
}

// finding is what came of one file.
type finding struct {
	file
	found
	secret  bool  // it was left out
	failure error // it could not be read, or is no text
}

// file searches a file.
func (s *scan) file(v *view, f file, buf []byte) (finding, []byte) {
	out := finding{file: f}
	if f.entry.Rel != "." && workspace.Secret(f.entry.Path) {
		out.secret = true
		return out, buf
	}
	var r io.Reader = strings.NewReader(f.text)
	if !f.known {
		disk, err := v.ws.OpenFile(f.entry.Path)
		if err != nil {
			out.failure = err
			return out, buf
		}
		defer disk.Close()
		r = disk
	}
	buf, err := s.run(r, buf)
	if cap(buf) > keepBuffer {
		buf = make([]byte, 0, firstBuffer)
	}
	if out.failure = err; err == nil {
		out.found = s.found
	}
	return out, buf
}

var _ agent.Reader = Grep{}
