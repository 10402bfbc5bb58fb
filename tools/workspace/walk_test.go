package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/tools/workspace"
)

// walked is what a walk meets, by Rel, folders with a slash and links with @.
func walked(t *testing.T, w *workspace.Workspace, starts ...string) []string {
	t.Helper()
	var list []string
	_, err := w.Walk(context.Background(), starts, func(e workspace.Entry) error {
		switch {
		case e.Type.IsDir():
			list = append(list, e.Rel+"/")
		case e.Type&fs.ModeSymlink != 0:
			list = append(list, e.Rel+"@")
		default:
			list = append(list, e.Rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// C125, C155: ignored folders are not entered, links are not followed, the
// order is that of Compare.
func TestWalk(t *testing.T) {
	top := tempDir(t)
	dir := filepath.Join(top, "ws")
	files(t, top, map[string]string{
		"ws/.gitignore": "node_modules/\n*.log\n!keep.log\n", "ws/a/b.go": "", "ws/a.go": "", "ws/a-b": "", "ws/z": "", "ws/x.log": "", "ws/keep.log": "", "ws/.hidden": "",
		"ws/node_modules/m/index.js": "", "ws/node_modules/.gitignore": "!*\n", "ws/a/.gitignore": "/b.*\n!x.log\n", "ws/a/x.log": "", "ws/a/c/b.go": "",
		"ws/.git/HEAD": "ref: x\n", "ws/.git/info/exclude": "z\n", "ws/.svn/x": "",
		"ws/out": "-> ../outside", "ws/in": "-> a", "ws/loop": "-> .", "outside/secret": "", "ws/key": "-> ../outside/secret",
		"ws/mod/.git": "gitdir: ../.git/modules/mod\n", "ws/.git/modules/mod/HEAD": "", "ws/.git/modules/mod/info/exclude": "local\n", "ws/mod/x.log": "", "ws/mod/local": "", "ws/mod/y": "",
		"ws/linked/.gitignore": "-> ../patterns", "ws/patterns": "q\n", "ws/linked/q": "", "ws/a/c/.gitignore/": "",
		"ws/fake/.git/x": "", "ws/fake/x.log": "", "ws/fake/y": "",
	})
	w := open(t, nil, dir)
	want := []string{
		"./", ".gitignore", ".hidden", "a/", "a/.gitignore", "a/c/", "a/c/.gitignore/", "a/c/b.go", "a/x.log", "a-b", "a.go", "fake/", "fake/y", "in@", "keep.log", "key@", "linked/", "linked/.gitignore@", "linked/q", "loop@", "mod/", "mod/x.log", "mod/y", "out@", "patterns",
	}
	got := walked(t, w, dir)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("walked (-want +got):\n%s", diff)
	}
	if !slices.IsSortedFunc(got[1:], func(a, b string) int {
		return workspace.Compare(strings.TrimRight(a, "/@"), strings.TrimRight(b, "/@"))
	}) {
		t.Errorf("not in the order of Compare: %q", got)
	}
	for start, want := range map[string][]string{
		"a":              {"./", ".gitignore", "c/", "c/.gitignore/", "c/b.go", "x.log"},
		"node_modules":   {"./", ".gitignore", "m/", "m/index.js"},
		"node_modules/m": {"./", "index.js"},
		"x.log":          {"."},
		"mod":            {"./", "x.log", "y"},
		".git/info":      {"./", "exclude"},
		"in":             {".@"},
	} {
		if diff := cmp.Diff(want, walked(t, w, filepath.Join(dir, start))); diff != "" {
			t.Errorf("from %s (-want +got):\n%s", start, diff)
		}
	}
	if _, err := w.Walk(context.Background(), []string{dir + "/none"}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("from nowhere: %v", err)
	}
	if _, err := w.Walk(context.Background(), []string{top + "/outside"}, nil); !workspace.IsOutside(err) {
		t.Errorf("from outside: %v", err)
	}
	for path, want := range map[string]bool{"a/b.go": true, "a/c/b.go": false, "node_modules": true, "node_modules/m/index.js": true, "a/x.log": false, ".git": true, ".git/config": true, "z": true, "mod/local": true, "mod/x.log": false, "": false} {
		if got := w.Ignored(filepath.Join(dir, path), path == "node_modules" || path == ".git"); got != want {
			t.Errorf("%s: ignored %v", path, got)
		}
	}
}

// The folder that is open lies in a repository, whose rules hold.
func TestFolderInsideRepository(t *testing.T) {
	top := tempDir(t)
	files(t, top, map[string]string{
		".git/HEAD": "", ".git/info/exclude": "excluded\n", ".gitignore": "*.log\n/pkg/app/gen\nvendored/\n",
		"pkg/.gitignore": "tmp\n", "pkg/app/a": "", "pkg/app/x.log": "", "pkg/app/gen/x": "", "pkg/app/tmp": "", "pkg/app/excluded": "",
		"vendored/lib/a": "", "vendored/lib/x.log": "", "vendored/lib/.gitignore": "own\n", "vendored/lib/own": "",
	})
	app := filepath.Join(top, "pkg/app")
	if diff := cmp.Diff([]string{"./", "a"}, walked(t, open(t, nil, app), app)); diff != "" {
		t.Error(diff)
	}
	// Opened though the repository ignores it: its own rules alone.
	lib := filepath.Join(top, "vendored/lib")
	if diff := cmp.Diff([]string{"./", ".gitignore", "a", "x.log"}, walked(t, open(t, nil, lib), lib)); diff != "" {
		t.Error(diff)
	}
}

func TestWalkSeveral(t *testing.T) {
	top := tempDir(t)
	files(t, top, map[string]string{"a/x": "", "a/nested/y": "", "b/z": ""})
	a, b, nested := filepath.Join(top, "a"), filepath.Join(top, "b"), filepath.Join(top, "a/nested")
	w := open(t, nil, a, b, nested)
	if diff := cmp.Diff([]string{"./", "x", "./", "z", "./", "y"}, walked(t, w, a, b, nested)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"./", "nested/", "nested/y", "x"}, walked(t, w, a)); diff != "" {
		t.Error(diff)
	}
}

func TestWalkStops(t *testing.T) {
	dir := tempDir(t)
	tree := map[string]string{}
	for i := range 300 {
		tree[fmt.Sprintf("d%02d/f%d", i%20, i)] = ""
	}
	files(t, dir, tree)
	w := open(t, nil, dir)
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	_, err := w.Walk(ctx, []string{dir}, func(workspace.Entry) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 10 {
		t.Errorf("after a cancel at 10: %d, %v", n, err)
	}
	for stop, want := range map[error]int{fs.SkipAll: 1, fs.SkipDir: 21, fs.ErrInvalid: 1} {
		n := 0
		_, err := w.Walk(context.Background(), []string{dir}, func(e workspace.Entry) error {
			n++
			if e.Rel == "." && stop == fs.SkipDir {
				return nil
			}
			return stop
		})
		if n != want || (stop == fs.ErrInvalid) != (err != nil) {
			t.Errorf("fn returned %v: %d calls, %v", stop, n, err)
		}
	}
}

func TestReadDir(t *testing.T) {
	dir := tempDir(t)
	files(t, dir, map[string]string{".gitignore": "*.o\n", "b.o": "", "a/x": "", "l": "-> a", ".git/HEAD": ""})
	w := open(t, nil, dir)
	list, err := w.ReadDir(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, fmt.Sprint(e.Rel, " ", e.Type.IsDir(), " ", e.Ignored))
	}
	if diff := cmp.Diff([]string{".git true true", ".gitignore false false", "a true false", "b.o false true", "l false false"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := w.ReadDir(context.Background(), filepath.Join(dir, "b.o")); err == nil || !strings.Contains(err.Error(), "is a file, not a folder") {
		t.Error(err)
	}
}

func TestSecret(t *testing.T) {
	for name, want := range map[string]bool{".env": true, "a/.env.local": true, ".ENV": true, "id_rsa": true, "x/server.pem": true, ".env.example": false, "env.go": false, "id_rsa.pub": false, "key.go": false, "environment": false, ".npmrc": false} {
		if got := workspace.Secret(filepath.FromSlash(name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// C139: odd names are shown escaped, and the shown name finds the file.
func TestDisplay(t *testing.T) {
	dir := tempDir(t)
	w := open(t, nil, dir)
	for name, want := range map[string]string{
		"a\x1b]52;c;ZXZpbA==\x07.txt": `a\x1b]52;c;ZXZpbA==\x07.txt`, "b\n2\tfake line": `b\n2\tfake line`, "\xff.txt": `\xff.txt`, "rtl\u202egnp.exe": `rtl\u202egnp.exe`, "tag\U000e0041": `tag\U000e0041`, "del\x7f\u0085": `del\x7f\u0085`,
		`back\slash`: `back\slash`, `looks\nescaped`: `looks\\nescaped`, `c:\new\table`: `c:\\new\\table`, "both\\n\n": `both\\n\n`, "日本語 é.txt": "日本語 é.txt", "👩\u200d💻": "👩\u200d💻", "rune\ufffd": "rune\ufffd", `\\`: `\\\\`, `end\`: `end\`, `\q`: `\q`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
		got := w.Display(path)
		if got != want {
			t.Errorf("%q is shown as %s, want %s", name, got, want)
		}
		if p, err := w.Resolve(got); err != nil || p.Abs != path {
			t.Errorf("%s resolves to %q, %v", got, p.Abs, err)
		}
	}
	if list := walked(t, w, dir); len(list) != 17 {
		t.Errorf("walked %d: %q", len(list), list)
	}
}
