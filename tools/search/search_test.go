package search_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/search"
	"github.com/agentls/agentls/tools/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// buffers is an editor with documents open.
type buffers map[string]string

func (b buffers) Buffer(path string) (string, bool) {
	text, ok := b[path]
	return text, ok
}

func (b buffers) Buffers() []string {
	var list []string
	for path := range b {
		list = append(list, path)
	}
	return list
}

// pending is what an agent has proposed.
type pending changeset.Overlay

func (p pending) Overlay() changeset.Overlay { return changeset.Overlay(p) }

// fixture is a workspace whose files are given as text by name; "-> target"
// makes a link, a slash at the end of the name a folder.
type fixture struct {
	t       testing.TB
	top     string
	ws      *workspace.Workspace
	buffers buffers
	pending pending
}

func newFixture(t testing.TB, tree map[string]string, folders ...string) *fixture {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, top: top, buffers: buffers{}}
	for name, text := range tree {
		f.write(name, text)
	}
	if len(folders) == 0 {
		folders = []string{"."}
	}
	var list []workspace.Folder
	for _, folder := range folders {
		list = append(list, workspace.Folder{Path: filepath.Join(top, folder)})
	}
	if f.ws, err = workspace.Open(list, f.buffers); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.ws.Close)
	return f
}

func (f *fixture) path(name string) string { return filepath.Join(f.top, filepath.FromSlash(name)) }

func (f *fixture) write(name, text string) {
	f.t.Helper()
	full := f.path(name)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		f.t.Fatal(err)
	}
	var err error
	switch target, isLink := strings.CutPrefix(text, "-> "); {
	case isLink:
		err = os.Symlink(target, full)
	case strings.HasSuffix(name, "/"):
		err = os.MkdirAll(full, 0o777)
	default:
		err = os.WriteFile(full, []byte(text), 0o666)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// call runs a tool and checks what holds of every result.
func (f *fixture) call(tool agent.Tool, input string) agent.Result {
	f.t.Helper()
	res := tool.Run(context.Background(), agent.Call{Input: json.RawMessage(input)})
	if len(res.Text) > 64<<10 || !utf8.ValidString(res.Text) || strings.ContainsRune(res.Text, 0) || res.Text == "" {
		f.t.Errorf("%s: result of %d bytes, valid %v", input, len(res.Text), utf8.ValidString(res.Text))
	}
	if again := tool.Run(context.Background(), agent.Call{Input: json.RawMessage(input)}); again.Text != res.Text {
		f.t.Errorf("%s: two results:\n%s\n%s", input, res.Text, again.Text)
	}
	return res
}

func (f *fixture) grep(input string) string {
	f.t.Helper()
	return f.call(search.Grep{Workspace: f.ws, Pending: f.pending}, input).Text
}

func (f *fixture) glob(input string) string {
	f.t.Helper()
	return f.call(search.Glob{Workspace: f.ws, Pending: f.pending}, input).Text
}

// expect compares results with what they should be, by the call's input.
func (f *fixture) expect(call func(string) string, want map[string]string) {
	f.t.Helper()
	for _, input := range sortedKeys(want) {
		if got := call(input); got != want[input] {
			f.t.Errorf("%s\n got: %s\nwant: %s", input, got, want[input])
		}
	}
}

// refuse checks that calls fail and what they say.
func (f *fixture) refuse(tool agent.Tool, want map[string]string) {
	f.t.Helper()
	for _, input := range sortedKeys(want) {
		res := f.call(tool, input)
		if res.Status != agent.StatusFailed || !strings.Contains(res.Text, want[input]) || strings.Contains(res.Text, "\n") {
			f.t.Errorf("%s: %s %q, want %q", input, res.Status, res.Text, want[input])
		}
	}
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// The tools are the same bytes at every call, and read only.
func TestSpecs(t *testing.T) {
	f := newFixture(t, map[string]string{"src/a.go": ""})
	for _, tool := range []agent.Tool{search.Grep{Workspace: f.ws}, search.Glob{Workspace: f.ws}} {
		spec := tool.Spec()
		if again := tool.Spec(); string(again.Schema) != string(spec.Schema) || again.Description != spec.Description {
			t.Error("the spec changes")
		}
		var schema struct {
			Properties map[string]any
			Required   []string
		}
		if err := json.Unmarshal(spec.Schema, &schema); err != nil || len(schema.Properties) == 0 || !slices.Equal(schema.Required, []string{"pattern"}) {
			t.Errorf("%s: %v, %s", spec.Name, err, spec.Schema)
		}
		if r, ok := tool.(agent.Reader); !ok || !r.ReadsOnly() {
			t.Errorf("%s changes something", spec.Name)
		}
		plan, err := tool.Plan(json.RawMessage(`{"pattern":"a\u001b` + strings.Repeat("é", 100) + `","path":"src"}`))
		if err != nil || !plan.ReadOnly || plan.Kind != agent.KindSearch || len(plan.Locations) != 1 || plan.Locations[0].Path != f.path("src") {
			t.Errorf("%s: %+v, %v", spec.Name, plan, err)
		}
		if len(plan.Title) > 250 || strings.ContainsRune(plan.Title, 0x1b) || !strings.HasSuffix(plan.Title, " in src") || !utf8.ValidString(plan.Title) {
			t.Errorf("%s: title %q", spec.Name, plan.Title)
		}
		if _, err := tool.Plan(json.RawMessage(`{"pattern":"x","path":"../y"}`)); err == nil || !strings.Contains(err.Error(), "outside the workspace") {
			t.Errorf("%s: a plan outside: %v", spec.Name, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	f := newFixture(t, map[string]string{"a.go": "x"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tool := range []agent.Tool{search.Grep{Workspace: f.ws}, search.Glob{Workspace: f.ws}} {
		if res := tool.Run(ctx, agent.Call{Input: json.RawMessage(`{"pattern":"x"}`)}); res.Status != agent.StatusCancelled {
			t.Errorf("%+v", res)
		}
	}
}

// A folder that was deleted is told of, not found empty.
func TestFolderGone(t *testing.T) {
	f := newFixture(t, map[string]string{"one/a": "needle\n", "two/b": "needle\n"}, "one", "two")
	if err := os.RemoveAll(f.path("two")); err != nil {
		t.Fatal(err)
	}
	f.expect(f.grep, map[string]string{`{"pattern":"needle"}`: "one/a:1:needle\n(1 match in 1 file)\n(1 could not be read)"})
	f.refuse(search.Grep{Workspace: f.ws}, map[string]string{`{"pattern":"needle","path":"two"}`: `the workspace folder "two" cannot be read`})
	if err := f.ws.SetFolders(f.ws.Folders()[1:]); err != nil {
		t.Fatal(err)
	}
	f.refuse(search.Grep{Workspace: f.ws}, map[string]string{`{"pattern":"needle"}`: "cannot be read"})
}
