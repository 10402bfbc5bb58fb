package file

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/internal/args"
	"github.com/agentls/agentls/tools/workspace"
)

//go:embed list_dir.md
var listDirDescription string

const listDirSchema = `{"type":"object","properties":{"path":{"type":"string","description":"The folder, relative to the workspace folder. Default the workspace folder itself."}},"additionalProperties":false}`

// The bounds of one listing.
const (
	maxEntries = 1000
	maxIgnored = 40
)

func listDir(f *Files) agent.Tool {
	return reader[string]{tool[string]{
		name: "list_dir", description: listDirDescription, schema: listDirSchema,
		decode: func(input json.RawMessage) (string, error) {
			a, err := args.Parse(input, "path")
			if err != nil {
				return "", err
			}
			spelling, _, err := a.String("path")
			if strings.TrimSpace(spelling) == "" {
				spelling = "."
			}
			return spelling, err
		},
		plan: func(spelling string) (agent.Plan, error) {
			if f.isTop(spelling) {
				return agent.Plan{Kind: agent.KindRead, Title: "List the workspace", ReadOnly: true}, nil
			}
			return f.planFor(agent.KindRead, "List", spelling, 0)
		},
		run: func(ctx context.Context, _ agent.Call, spelling string) (agent.Result, error) {
			if f.isTop(spelling) {
				return agent.Result{Text: f.listTop()}, nil
			}
			p, err := f.ws.Resolve(spelling)
			if err != nil {
				return agent.Result{}, err
			}
			text, err := f.list(ctx, p)
			return agent.Result{Text: text}, err
		},
	}}
}

// isTop says whether a spelling means all of several folders.
func (f *Files) isTop(spelling string) bool {
	clean := path.Clean(filepath.ToSlash(spelling))
	return (clean == "." || clean == "/") && len(f.ws.Folders()) != 1
}

func (f *Files) listTop() string {
	folders := f.ws.Folders()
	if len(folders) == 0 {
		return "(no folder is open)"
	}
	var b strings.Builder
	for _, folder := range folders {
		fmt.Fprintf(&b, "%s/\n", folder.Name)
	}
	return b.String() + "(these are the open folders; their names lead the paths of their files)"
}

// list is a folder for the model: what is on disk, what the editor holds
// beside it, and what is proposed.
func (f *Files) list(ctx context.Context, p workspace.Path) (string, error) {
	entries, err := f.ws.ReadDir(ctx, p.Abs)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return "", err
	}
	lines := map[string]string{} // by name, so that one is listed once
	var ignored []string
	for _, e := range entries {
		name := f.name(e.Path)
		switch {
		case e.Ignored || e.Type.IsDir() && name == gitFolder:
			ignored = append(ignored, name+slash(e.Type))
		case e.Type&fs.ModeSymlink != 0:
			lines[name] = name + "  (link)"
		default:
			lines[name] = name + slash(e.Type)
		}
	}
	if f.overlayInto(p.Abs, lines); missing && len(lines) == 0 {
		return "", f.notFound(ctx, p)
	}
	return render(f.ws.Display(p.Abs), lines, ignored), nil
}

// overlayInto puts what is not on disk as it is listed into the lines of dir.
func (f *Files) overlayInto(dir string, lines map[string]string) {
	put := func(path, mark string) {
		rel, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(rel) || rel == "." {
			return
		}
		first, _, below := strings.Cut(filepath.ToSlash(rel), "/")
		name := f.name(filepath.Join(dir, first))
		if below {
			if _, there := lines[name]; !there {
				lines[name] = name + "/" + "  (pending: new folder)"
			}
			return
		}
		lines[name] = name + mark
	}
	o := f.changes.Overlay()
	for _, path := range f.ws.Buffers() {
		if _, err := f.ws.Stat(path); errors.Is(err, fs.ErrNotExist) {
			put(path, "  (open in the editor, not on disk)")
		}
	}
	for path := range o.Present {
		put(path, "  (pending: proposed, not on disk)")
	}
	for _, path := range o.Gone {
		name := f.name(path)
		if _, there := lines[name]; there && filepath.Dir(path) == dir {
			lines[name] = name + "  (pending: proposed to be deleted or moved)"
		}
	}
}

func slash(t fs.FileMode) string {
	if t.IsDir() {
		return "/"
	}
	return ""
}

// name is the last part of a path, safe to print.
func (f *Files) name(abs string) string { return path.Base(f.ws.Display(abs)) }

func render(display string, lines map[string]string, ignored []string) string {
	var b strings.Builder
	names := slices.Sorted(maps.Keys(lines))
	for _, name := range names[:min(len(names), maxEntries)] {
		b.WriteString(lines[name] + "\n")
	}
	if more := len(names) - maxEntries; more > 0 {
		fmt.Fprintf(&b, "(%d more entries, not shown: find them with glob)\n", more)
	}
	if len(names) == 0 && len(ignored) == 0 {
		return fmt.Sprintf("(%s is empty)", display)
	}
	if len(ignored) > 0 {
		fmt.Fprintf(&b, "(ignored by git: %s", strings.Join(ignored[:min(len(ignored), maxIgnored)], ", "))
		if more := len(ignored) - maxIgnored; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		b.WriteString(")\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
