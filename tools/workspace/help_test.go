package workspace_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentls/agentls/tools/workspace"
)

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
	slices.Sort(list)
	return list
}

// files puts files into a folder: name to text; "-> target" makes a link, and
// a name with a slash at the end a folder.
func files(t testing.TB, dir string, tree map[string]string) {
	t.Helper()
	for _, name := range sortedKeys(tree) {
		text := tree[name]
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		var err error
		target, isLink := cutPrefix(text, "-> ")
		switch {
		case isLink:
			err = os.Symlink(target, full)
		case name[len(name)-1] == '/':
			err = os.MkdirAll(full, 0o777)
		default:
			err = os.WriteFile(full, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return s, false
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// tempDir is a temporary folder by its canonical path.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t testing.TB, o workspace.Overlay, folders ...string) *workspace.Workspace {
	t.Helper()
	var list []workspace.Folder
	for _, f := range folders {
		list = append(list, workspace.Folder{Path: f})
	}
	ws, err := workspace.Open(list, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ws.Close)
	return ws
}
