package file_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/file"
	"github.com/agentls/agentls/tools/workspace"
)

// desk is a workspace on disk with an editor's buffers over it, and the tools
// of one session.
type desk struct {
	t       *testing.T
	dir     string
	buffers map[string]string
	changes *changeset.Set
	tools   map[string]agent.Tool
}

func (d *desk) Buffer(path string) (string, bool) {
	text, ok := d.buffers[path]
	return text, ok
}

func (d *desk) Buffers() []string {
	var paths []string
	for p := range d.buffers {
		paths = append(paths, p)
	}
	return paths
}

// newDesk makes one with files by their names below the folder; a name that
// ends with a slash is a folder.
func newDesk(t *testing.T, files map[string]string) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: dir, buffers: map[string]string{}, tools: map[string]agent.Tool{}}
	for name, content := range files {
		d.put(name, content)
	}
	ws, err := workspace.Open([]workspace.Folder{{Name: "app", Path: dir}}, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ws.Close)
	d.changes = changeset.New(ws)
	f := file.New(ws, d.changes)
	for _, tool := range append(f.Reading(), f.Changing()...) {
		d.tools[tool.Spec().Name] = tool
	}
	return d
}

func (d *desk) put(name, content string) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	var err error
	if strings.HasSuffix(name, "/") {
		err = os.MkdirAll(path, 0o755)
	} else {
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// call runs a tool and checks what holds for every result.
func (d *desk) call(name string, input map[string]any) agent.Result {
	d.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		d.t.Fatal(err)
	}
	res := d.tools[name].Run(d.t.Context(), agent.Call{ID: "call1", Input: raw, Emit: func(agent.Event) {}})
	if !utf8.ValidString(res.Text) || strings.ContainsRune(res.Text, 0) || res.Text == "" {
		d.t.Errorf("%s: a result that is no text: %q", name, res.Text)
	}
	if len(res.Text) > 64<<10 {
		d.t.Errorf("%s: a result of %d bytes", name, len(res.Text))
	}
	return res
}

// ok is the result of a call that must succeed.
func (d *desk) ok(name string, input map[string]any) string {
	d.t.Helper()
	res := d.call(name, input)
	if res.Status != "" && res.Status != agent.StatusCompleted {
		d.t.Fatalf("%s %v: %s: %s", name, input, res.Status, res.Text)
	}
	return res.Text
}

// fails wants a call to fail in words that hold all of want.
func (d *desk) fails(name string, input map[string]any, want ...string) {
	d.t.Helper()
	res := d.call(name, input)
	if res.Status != agent.StatusFailed {
		d.t.Errorf("%s %v: %q, want a failure", name, input, res.Text)
	}
	says(d.t, name, res.Text, want...)
}

func says(t *testing.T, what, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s: %q does not say %q", what, text, w)
		}
	}
}

// sees is the text of a file as the agent sees it.
func (d *desk) sees(name, want string) {
	d.t.Helper()
	doc, err := d.changes.Read(filepath.Join(d.dir, name))
	if err != nil || !doc.Exists && !doc.Open || doc.Text != want {
		d.t.Errorf("%s: %q (there: %v), %v; want %q", name, doc.Text, doc.Exists, err, want)
	}
}

type in = map[string]any

func TestSpecs(t *testing.T) {
	d := newDesk(t, nil)
	for name, tool := range d.tools {
		s := tool.Spec()
		if !json.Valid(s.Schema) || s.Description == "" || strings.HasSuffix(s.Description, "\n") {
			t.Errorf("%s: %+v", name, s)
		}
		reads := name == "read_file" || name == "list_dir"
		if _, ok := tool.(agent.Reader); ok != reads {
			t.Errorf("%s: a reader: %v", name, ok)
		}
		if again := tool.Spec(); string(again.Schema) != string(s.Schema) || again.Description != s.Description {
			t.Errorf("%s: not the same bytes twice", name)
		}
	}
}

func TestPlans(t *testing.T) {
	d := newDesk(t, map[string]string{"a.go": "x\n"})
	for _, c := range []struct {
		tool, input, title string
		kind               agent.Kind
		reads              bool
		places             int
	}{
		{"read_file", `{"path":"./a.go"}`, "Read a.go", agent.KindRead, true, 1},
		{"list_dir", `{}`, "List .", agent.KindRead, true, 1},
		{"edit_file", `{"path":"a.go","old_text":"x","new_text":"y"}`, "Edit a.go", agent.KindEdit, false, 1},
		{"write_file", `{"path":"b.go","content":""}`, "Write b.go", agent.KindEdit, false, 1},
		{"delete_file", `{"path":"a.go"}`, "Delete a.go", agent.KindDelete, false, 1},
		{"move_file", `{"from":"a.go","to":"b/c.go"}`, "Move a.go to b/c.go", agent.KindMove, false, 2},
	} {
		p, err := d.tools[c.tool].Plan(json.RawMessage(c.input))
		if err != nil || p.Title != c.title || p.Kind != c.kind || p.ReadOnly != c.reads || len(p.Locations) != c.places {
			t.Errorf("%s: %+v, %v", c.tool, p, err)
		}
		if len(p.Locations) > 0 && !filepath.IsAbs(p.Locations[0].Path) {
			t.Errorf("%s: %+v", c.tool, p.Locations)
		}
	}
	for _, c := range []struct{ tool, input, want string }{
		{"read_file", `{}`, "path is missing"},
		{"read_file", `{"path":" "}`, "path is empty"},
		{"read_file", `{"path":"../x"}`, "outside the workspace"},
		{"edit_file", `{"path":"a.go","old_string":"x","new_string":"y"}`, `not "new_string", "old_string"`},
		{"edit_file", `{"path":"a.go","old_text":"x"}`, "new_text is missing"},
		{"edit_file", `{"path":"a.go","old_text":"x","new_text":"y","edits":[{"old_text":"x","new_text":"y"}]}`, "not both"},
		{"edit_file", `{"path":"a.go","edits":[{"old_text":"x","new_text":"y"},{"old_text":"x"}]}`, "edits[1]: new_text is missing"},
		{"write_file", `{"path":"a.go"}`, "content is missing"},
		{"write_file", `{"path":"a.go","content":"a\u0000b"}`, "NUL"},
		{"move_file", `{"from":"a.go"}`, "to is missing"},
	} {
		if _, err := d.tools[c.tool].Plan(json.RawMessage(c.input)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.tool, c.input, err, c.want)
		}
	}
}

// What leads out of the workspace, by text or by link, is refused by every
// tool (C124, C125).
func TestOutside(t *testing.T) {
	d := newDesk(t, map[string]string{"app/a.txt": "in\n"})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "key"), []byte("SECRET\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"out": outside, "k.txt": filepath.Join(outside, "key"), "new.txt": filepath.Join(outside, "not-yet"), "in.txt": "app/a.txt",
	} {
		if err := os.Symlink(target, filepath.Join(d.dir, link)); err != nil {
			t.Skip(err)
		}
	}
	for _, path := range []string{"out/key", "k.txt", "new.txt", "out/x", "../x", filepath.Join(outside, "key"), d.dir + "-sibling/k", "app/../../x"} {
		for tool, input := range map[string]in{
			"read_file":   {"path": path},
			"list_dir":    {"path": path},
			"edit_file":   {"path": path, "old_text": "SECRET", "new_text": "x"},
			"write_file":  {"path": path, "content": "x"},
			"delete_file": {"path": path},
			"move_file":   {"from": path, "to": "y"},
		} {
			d.fails(tool, input, "outside the workspace")
		}
		d.fails("move_file", in{"from": "app/a.txt", "to": path}, "outside the workspace")
	}
	says(t, "a link inside", d.ok("read_file", in{"path": "in.txt"}), "1\tin")
	d.ok("edit_file", in{"path": "in.txt", "old_text": "in", "new_text": "IN"})
	d.sees("app/a.txt", "IN\n")
	d.fails("delete_file", in{"path": "in.txt"}, "is a link to app/a.txt")
	d.fails("move_file", in{"from": "in.txt", "to": "b.txt"}, "is a link")
}

// What lies under .git is never changed, however it is spelled (C130).
func TestGitIsRefused(t *testing.T) {
	d := newDesk(t, map[string]string{".git/config": "[core]\n", "sub/.git/config": "[core]\n", "a.txt": "a\n"})
	if err := os.Symlink(".git/config", filepath.Join(d.dir, "cfg")); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{
		".git/config", ".git/./config", "./.git/config", "sub/.git/config", ".GIT/config", "cfg", ".git/hooks/pre-commit",
		".git::$INDEX_ALLOCATION/config", ".git", filepath.Join(d.dir, ".git/config"),
	} {
		for tool, input := range map[string]in{
			"edit_file":   {"path": path, "old_text": "core", "new_text": "x"},
			"write_file":  {"path": path, "content": "x"},
			"delete_file": {"path": path},
			"move_file":   {"from": path, "to": "y"},
		} {
			d.fails(tool, input)
		}
		d.fails("move_file", in{"from": "a.txt", "to": path})
	}
	if o := d.changes.Overlay(); len(o.Present)+len(o.Modified)+len(o.Gone) > 0 {
		t.Errorf("something was proposed: %+v", o)
	}
	d.ok("write_file", in{"path": ".gitignore", "content": "x\n"})
}
