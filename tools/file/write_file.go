package file

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/internal/args"
	"github.com/agentls/agentls/tools/workspace"
)

//go:embed write_file.md
var writeFileDescription string

const writeFileSchema = `{"type":"object","properties":{"path":{"type":"string","description":"The file, relative to the workspace folder."},"content":{"type":"string","description":"All of its text."}},"required":["path","content"],"additionalProperties":false}`

type writeFileArgs struct{ path, content string }

func writeFile(f *Files) agent.Tool {
	return tool[writeFileArgs]{
		name: "write_file", description: writeFileDescription, schema: writeFileSchema,
		decode: func(input json.RawMessage) (w writeFileArgs, err error) {
			a, err := args.Parse(input, "path", "content")
			if err != nil {
				return w, err
			}
			if w.path, err = pathArg(a, "path"); err != nil {
				return w, err
			}
			if w.content, err = a.Required("content"); err != nil {
				return w, err
			}
			if strings.Contains(w.content, "\x00") {
				return w, errors.New("content has a NUL character in it: only text can be written")
			}
			return w, nil
		},
		plan: func(a writeFileArgs) (agent.Plan, error) {
			return f.planFor(agent.KindEdit, "Write", a.path, 0)
		},
		run: func(ctx context.Context, call agent.Call, a writeFileArgs) (agent.Result, error) {
			p, err := f.toChange(a.path)
			if err != nil {
				return agent.Result{}, err
			}
			if strings.HasSuffix(a.path, "/") {
				return agent.Result{}, fmt.Errorf("%s names a folder: folders are made with the files in them", f.ws.Display(p.Abs))
			}
			return f.write(ctx, p, a.content, call)
		},
	}
}

// write proposes content for the file at p.
func (f *Files) write(ctx context.Context, p workspace.Path, content string, call agent.Call) (agent.Result, error) {
	// An editor's document never has the mark; the file keeps or lacks its own.
	content = strings.TrimPrefix(content, bom)
	doc, err := f.changes.Read(p.Abs)
	if err != nil {
		return agent.Result{}, err
	}
	if broken(content, doc.Text) {
		return agent.Result{}, errors.New("content " + brokenCharacter)
	}
	display := f.ws.Display(p.Abs)
	if doc.Exists {
		if content = fitAll(doc.Text, content); content == doc.Text {
			return agent.Result{}, fmt.Errorf("no change: %s has this content already", display)
		}
	} else {
		if err := f.parents(p); err != nil {
			return agent.Result{}, err
		}
		content = f.endingsForNew(ctx, p, content)
	}
	change, err := f.changes.Write(p.Abs, content, changeset.Origin{ToolCallID: call.ID})
	switch {
	case errors.Is(err, changeset.ErrRaced):
		return agent.Result{}, fmt.Errorf("the user changed lines of %s that your content changes too, after you read it: read it again and write what keeps both", display)
	case err != nil:
		return agent.Result{}, f.named(err)
	case change.Kind == changeset.NoChange:
		return agent.Result{}, fmt.Errorf("no change: %s has this content already", display)
	}
	return f.written(p, content, doc.Exists, change)
}

// written is the result of a write that changed something.
func (f *Files) written(p workspace.Path, content string, existed bool, change changeset.Change) (agent.Result, error) {
	display := f.ws.Display(p.Abs)
	f.seen.note(p.Abs, content)
	if change.Kind == changeset.Withdrawn {
		return agent.Result{Text: fmt.Sprintf("%s is back to what the user has: nothing is proposed for it any more.", display)}, nil
	}
	verb, merged := "Created", ""
	if existed {
		verb = "Rewrote"
	}
	if change.Merged {
		now, err := f.changes.Read(p.Abs)
		if err != nil {
			return agent.Result{}, err
		}
		content, merged = now.Text, " The user changed other lines of it after you read it; those changes are kept, read it to see them."
	}
	lines := lineOf(content, len(content))
	if content == "" || strings.HasSuffix(content, "\n") {
		lines--
	}
	return agent.Result{
		Text:      fmt.Sprintf("%s %s, %s. %s%s%s", verb, display, plural(lines, "line"), waits, merged, f.readOnlyNote(p)),
		Locations: []agent.Location{{Path: p.Abs}},
	}, nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// parents refuses a new file below something that is no folder.
func (f *Files) parents(p workspace.Path) error {
	for rel := filepath.Dir(filepath.FromSlash(p.Rel)); rel != "."; rel = filepath.Dir(rel) {
		abs := strings.TrimSuffix(p.Abs, filepath.FromSlash(strings.TrimPrefix(p.Rel, filepath.ToSlash(rel))))
		info, err := f.ws.Stat(abs)
		if errors.Is(err, fs.ErrNotExist) {
			if doc, err := f.changes.Read(abs); err == nil && doc.Exists {
				return fmt.Errorf("%s is a file: there can be nothing below it", f.ws.Display(abs))
			}
			continue
		}
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is a file: there can be nothing below it", f.ws.Display(abs))
		}
		return nil
	}
	return nil
}

// readOnlyNote warns of a file whose mode lets nobody write it: the editor may
// not be able to save what the user accepts.
func (f *Files) readOnlyNote(p workspace.Path) string {
	info, err := f.ws.Stat(p.Abs)
	if err != nil || info.Mode().Perm()&0o222 != 0 {
		return ""
	}
	return " The file is read-only on disk: saving it may fail."
}
