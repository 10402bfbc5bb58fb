// Package file is the tools by which a model reads and changes files:
// read_file, list_dir, edit_file, write_file, delete_file and move_file. Each
// is a file of code and the text beside it that the model is told.
//
// They see the workspace as the agent does, with what it proposed already in
// it, and they write nothing: a change goes into the session's changeset and
// waits there for the user. A model's spelling of a path is taken wherever it
// leads to a file of the workspace and refused wherever it leads out; what
// lies under .git is not changed at all.
//
// A Files serves one session. Its tools are safe for concurrent use; a change
// that races with another is located again.
//
//	f := file.New(ws, changes)
//	tools := append(f.Reading(), f.Changing()...)
package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/internal/args"
	"github.com/agentls/agentls/tools/workspace"
)

// Files are the tools of one session.
type Files struct {
	ws      *workspace.Workspace
	changes *changeset.Set
	seen    seen
}

// New makes the tools of a session whose proposal is changes.
func New(ws *workspace.Workspace, changes *changeset.Set) *Files {
	return &Files{ws: ws, changes: changes, seen: seen{seed: maphash.MakeSeed(), texts: map[string]uint64{}}}
}

// Reading are the tools that change nothing: read_file and list_dir.
func (f *Files) Reading() []agent.Tool { return []agent.Tool{readFile(f), listDir(f)} }

// Changing are edit_file, write_file, delete_file and move_file.
func (f *Files) Changing() []agent.Tool {
	return []agent.Tool{editFile(f), writeFile(f), deleteFile(f), moveFile(f)}
}

// tool is one of them: A are its arguments.
type tool[A any] struct {
	name, description, schema string
	decode                    func(json.RawMessage) (A, error)
	plan                      func(A) (agent.Plan, error)
	run                       func(context.Context, agent.Call, A) (agent.Result, error)
}

// Spec implements agent.Tool.
func (t tool[A]) Spec() llm.Tool {
	return llm.Tool{Name: t.name, Description: strings.TrimSpace(t.description), Schema: json.RawMessage(t.schema)}
}

// reader is a tool that changes nothing.
type reader[A any] struct{ tool[A] }

// ReadsOnly implements agent.Reader.
func (reader[A]) ReadsOnly() bool { return true }

// Plan implements agent.Tool.
func (t tool[A]) Plan(input json.RawMessage) (agent.Plan, error) {
	a, err := t.decode(input)
	if err != nil {
		return agent.Plan{}, err
	}
	return t.plan(a)
}

// Run implements agent.Tool.
func (t tool[A]) Run(ctx context.Context, call agent.Call) agent.Result {
	a, err := t.decode(call.Input)
	if err != nil {
		return agent.Failed(err.Error())
	}
	res, err := t.run(ctx, call, a)
	if err != nil {
		return agent.Failed(err.Error())
	}
	return res
}

// pathArg reads an argument that names a file.
func pathArg(a args.Args, name string) (string, error) {
	spelling, err := a.Required(name)
	if err == nil && strings.TrimSpace(spelling) == "" {
		err = fmt.Errorf("%s is empty: name a file of the workspace", name)
	}
	return spelling, err
}

// toChange resolves a spelling of a file that is to be changed. What is git's
// is refused however it is spelled, and wherever a link leads.
func (f *Files) toChange(spelling string) (workspace.Path, error) {
	p, err := f.ws.Resolve(spelling)
	if err != nil {
		return p, err
	}
	if InGit(p.Rel) || InGit(f.below(spelling, p)) {
		return p, fmt.Errorf("refused: %s is git's own; what lies under .git is never changed", f.ws.Display(p.Abs))
	}
	if p.Rel == "." {
		return p, fmt.Errorf("%s is the workspace folder, not a file", f.ws.Display(p.Abs))
	}
	return p, nil
}

// below is the part of a spelling that lies below the folder of p: the parents
// of a workspace folder may be called anything.
func (f *Files) below(spelling string, p workspace.Path) string {
	if !filepath.IsAbs(spelling) {
		return spelling
	}
	for _, folder := range f.ws.Folders() {
		if rel, err := filepath.Rel(folder.Path, spelling); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return p.Rel
}

// read is the file at p as the agent sees it. A file that is not there is an
// error that names what is like it.
func (f *Files) read(ctx context.Context, p workspace.Path) (changeset.Doc, error) {
	doc, err := f.changes.Read(p.Abs)
	if err != nil {
		return doc, err
	}
	if !doc.Exists {
		return doc, f.notFound(ctx, p)
	}
	return doc, nil
}

// planFor is the plan of a call that works on one file.
func (f *Files) planFor(kind agent.Kind, verb, spelling string, line int) (agent.Plan, error) {
	p, err := f.ws.Resolve(spelling)
	if err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{
		Kind:      kind,
		Title:     verb + " " + f.ws.Display(p.Abs),
		ReadOnly:  kind == agent.KindRead,
		Locations: []agent.Location{{Path: p.Abs, Line: line}},
	}, nil
}

// toRemove resolves a file that is to be deleted or moved away. It must be
// there, as a file: links are named apart, since the change would hit what
// they lead to.
func (f *Files) toRemove(ctx context.Context, spelling string) (workspace.Path, error) {
	p, err := f.toChange(spelling)
	if err != nil {
		return p, err
	}
	if p.Link {
		return p, fmt.Errorf("%q is a link to %s: links cannot be deleted or moved, name the file itself", spelling, f.ws.Display(p.Abs))
	}
	_, err = f.read(ctx, p)
	return p, err
}

// free refuses a target of a move where something is already.
func (f *Files) free(p workspace.Path) error {
	display := f.ws.Display(p.Abs)
	if info, err := f.ws.Stat(p.Abs); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: give the whole new path, with the file's name", display)
	}
	doc, err := f.changes.Read(p.Abs)
	if err != nil {
		return err
	}
	if doc.Exists {
		return fmt.Errorf("%s exists already: delete it first, or choose another name", display)
	}
	return f.parents(p)
}

// named puts the names that the model knows into an error of the changeset,
// which knows paths.
func (f *Files) named(err error) error {
	var missing *changeset.MissingError
	var exists *changeset.ExistsError
	var unsaved *changeset.UnsavedError
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("%s not found", f.ws.Display(missing.Path))
	case errors.As(err, &exists):
		return fmt.Errorf("%s exists already: delete it first, or choose another name", f.ws.Display(exists.Path))
	case errors.As(err, &unsaved):
		return fmt.Errorf("%s is only a buffer of the editor that was never saved: there is no file to delete or move", f.ws.Display(unsaved.Path))
	}
	return err
}

// attempts bounds how often a change is located anew because the text moved
// under it.
const attempts = 5

// retry runs a change until it meets the text that it was made for.
func retry(change func() (agent.Result, error)) (agent.Result, error) {
	for range attempts {
		res, err := change()
		if !errors.Is(err, changeset.ErrRaced) {
			return res, err
		}
	}
	return agent.Result{}, errors.New("the file keeps changing while it is edited: read it again and retry")
}

// waits is what to say of a change that was taken in: never that it was made.
const waits = "Pending the user's review: not on disk yet, but your tools see it."

// seen remembers what the agent last saw of each file, to tell a text that
// changed under it from one that it got wrong.
type seen struct {
	seed maphash.Seed

	mu    sync.Mutex
	texts map[string]uint64 // hash by path
}

// show takes down that the agent is shown the text of a file.
func (f *Files) show(path, text string) {
	f.changes.Saw(path, text)
	f.seen.note(path, text)
}

// note takes down that the agent knows text.
func (s *seen) note(path, text string) {
	h := maphash.String(s.seed, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[path] = h
}

// changed says whether the agent knew another text than this one.
func (s *seen) changed(path, text string) bool {
	h := maphash.String(s.seed, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.texts[path]
	return ok && known != h
}

// forget takes note that a file is gone.
func (s *seen) forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.texts, path)
}

// rename takes what is known of a file to its new path.
func (s *seen) rename(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.texts[from]; ok {
		s.texts[to] = h
		delete(s.texts, from)
	}
}
