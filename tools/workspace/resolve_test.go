package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/tools/workspace"
)

// resolves checks what comes of spellings: "rel" below the folder at dir, or
// "!" and what the error must hold.
func resolves(t *testing.T, ws *workspace.Workspace, dir string, spellings map[string]string) {
	t.Helper()
	for _, s := range sortedKeys(spellings) {
		want := spellings[s]
		p, err := ws.Resolve(s)
		if refusal, ok := cutPrefix(want, "!"); ok {
			if err == nil || !strings.Contains(err.Error(), refusal) {
				t.Errorf("%q: %+v, %v; want a refusal with %q", s, p, err, refusal)
			}
			if strings.Contains(refusal, "outside") && !workspace.IsOutside(err) {
				t.Errorf("%q: %#v is no OutsideError", s, err)
			}
			continue
		}
		if err != nil || p.Abs != filepath.Join(dir, want) {
			t.Errorf("%q: %+v, %v; want %q", s, p, err, want)
		}
	}
}

// C034, C124, C125, C143: one file has many spellings, and none leads out.
func TestResolve(t *testing.T) {
	top := tempDir(t)
	ws := filepath.Join(top, "app")
	files(t, top, map[string]string{
		"app/src/a.go": "a", "app/README.md": "r", "app/with space/a#b/100%/q?x": "", "app/[id].tsx": "", "app/c%3A": "", "app/ünï/中文.go": "",
		"app/link.go": "-> src/a.go", "app/dir": "-> src", "app/abs": "-> " + ws + "/src", "app/chain": "-> dir/a.go", "app/in": "-> ../app/src",
		"app/out": "-> ../outside", "app/key": "-> " + top + "/outside/key", "app/new": "-> " + top + "/outside/not-yet", "app/soon": "-> src/soon.go",
		"app/loop": "-> loop", "app/l1": "-> l2", "app/l2": "-> l1", "app/a/self": "-> ..", "app/a/up": "-> ../..", "app/root": "-> /",
		"app/nfc-\u00e9.txt": "", "app/nfd-e\u0301.txt": "", "app/odd\x1b]52;c\x07.txt": "", "app/b\n2\tfake": "", "app/bad\xff.txt": "", `app/a\nb`: "", "app/a:b": "",
		"outside/key": "SECRET", "app-secret/k": "SECRET", "link": "-> app",
	})
	w := open(t, nil, ws)
	resolves(t, w, ws, map[string]string{
		"src/a.go": "src/a.go", "./src/a.go": "src/a.go", "src//a.go": "src/a.go", "src/./a.go": "src/a.go", "src/../src/a.go": "src/a.go", "nowhere/../src/a.go": "src/a.go",
		".": "", "./": "", "src/": "src", "src/new.go": "src/new.go", "x/y/z": "x/y/z", "README.md/": "README.md",
		ws + "/src/a.go": "src/a.go", ws: "", ws + "/": "", ws + "//src///a.go": "src/a.go", "../app/src/a.go": "src/a.go", top + "/./app/src/a.go": "src/a.go",
		top + "/link/src/a.go": "src/a.go", top + "/link/fresh": "fresh",
		"with space/a#b/100%/q?x": "with space/a#b/100%/q?x", "[id].tsx": "[id].tsx", "c%3A": "c%3A", "ünï/中文.go": "ünï/中文.go",
		"app/src/a.go": "src/a.go", "app": "", "app/nothing.go": "app/nothing.go", "app/": "",
		"link.go": "src/a.go", "dir/a.go": "src/a.go", "abs/a.go": "src/a.go", "chain": "src/a.go", "in/a.go": "src/a.go", "dir/../README.md": "README.md", "soon": "src/soon.go", "dir/new.go": "src/new.go",
		"a/self/src/a.go": "src/a.go", "a/self/a/self/a/self/src/a.go": "src/a.go", "a/up/app/src/a.go": "src/a.go",
		"nfc-e\u0301.txt": "nfc-\u00e9.txt", "nfd-\u00e9.txt": "nfd-e\u0301.txt", "nfc-\u00e9.txt": "nfc-\u00e9.txt", "nfd-e\u0301.txt": "nfd-e\u0301.txt", "new-e\u0301.txt": "new-e\u0301.txt",
		`odd\x1b]52;c\x07.txt`: "odd\x1b]52;c\x07.txt", `b\n2\tfake`: "b\n2\tfake", `bad\xff.txt`: "bad\xff.txt", `a\nb`: `a\nb`, `a\\nb`: `a\nb`, "a:b": "a:b", "new:b": "new:b",

		"../app-secret/k": "!outside the workspace", top + "/app-secret/k": "!outside the workspace", "..": "!outside the workspace", "/etc/passwd": "!outside the workspace", "../../../../../../../etc/passwd": "!outside", "src/../../app-secret/k": "!outside",
		"out/key": "!leads out through a link", "out": "!outside the workspace", "out/x": "!outside the workspace", "out/x/y/z": "!outside", "key": "!outside the workspace", "new": "!outside the workspace", "root/etc/passwd": "!outside", "out/../src/a.go": "!outside", "out/key/x": "!outside", "a/up/outside/key": "!outside", "../app-secret/k/x": "!outside",
		"loop": "!outside the workspace: it is a link that leads to itself", "l1/x": "!outside the workspace", "/": "!outside the workspace", "~/x": "!outside", "~": "!outside",
		"": "!empty", "a\x00b": "!NUL", `C:\Work\a.go`: "!Windows path", "c:/Work/a.go": "!Windows path", "untitled:Untitled-1": "!URI", "file:///etc/passwd": "!URI", "https://x/y": "!URI", "agentls-proposal:/x": "!URI",
		"README.md/x": "!leads through a file", strings.Repeat("x", 300): "!name too long",
	})
	for spelling, want := range map[string]bool{"link.go": true, "chain": true, "dir": true, "dir/": true, "dir/a.go": false, "src/a.go": false, "soon": true} {
		if p, err := w.Resolve(spelling); err != nil || p.Link != want {
			t.Errorf("%q: %+v, %v; link should be %v", spelling, p, err, want)
		}
	}
}

// C143: the root itself is a link, has a slash at the end, or is the top.
func TestRootSpellings(t *testing.T) {
	top := tempDir(t)
	files(t, top, map[string]string{"private/my ws%20/a.go": "", "tmp": "-> private", "private/secret": ""})
	real := filepath.Join(top, "private", "my ws%20")
	for _, root := range []string{top + "/tmp/my ws%20", top + "/tmp/my ws%20/", real, top + "/tmp/../private//my ws%20/."} {
		w := open(t, nil, root)
		resolves(t, w, real, map[string]string{
			"a.go": "a.go", real + "/a.go": "a.go", top + "/tmp/my ws%20/a.go": "a.go", top + "/tmp/my ws%20/b": "b",
			top + "/tmp/secret": "!outside the workspace", "../secret": "!outside the workspace",
		})
		if got := w.Display(filepath.Join(real, "a.go")); got != "a.go" {
			t.Errorf("shown as %q", got)
		}
	}
	w := open(t, nil, "/")
	resolves(t, w, "/", map[string]string{real + "/a.go": real + "/a.go", strings.TrimPrefix(real, "/") + "/a.go": real + "/a.go", "/": "", "..": ""})
	if got := w.Display(real + "/a.go"); "/"+got != real+"/a.go" {
		t.Errorf("shown as %q", got)
	}
}

// C154: several folders, and none.
func TestSeveralFolders(t *testing.T) {
	top := tempDir(t)
	files(t, top, map[string]string{
		"one/app/main.go": "", "two/app/main.go": "", "three/lib/x.go": "",
		"one/app/only-here.go": "", "two/app/src/z.go": "", "one/app/app/inner.go": "", "three/lib/nested/y.go": "",
	})
	dirs := []string{filepath.Join(top, "one/app"), filepath.Join(top, "two/app"), filepath.Join(top, "three/lib")}
	w := open(t, nil, dirs...)
	resolves(t, w, top, map[string]string{
		"app/main.go": "one/app/main.go", "app-2/main.go": "two/app/main.go", "./app-2//main.go": "two/app/main.go", "lib/x.go": "three/lib/x.go", "app": "one/app", "app-2/": "two/app",
		"app/new.go": "one/app/new.go", "app-2/new/n.go": "two/app/new/n.go", "app/app/inner.go": "one/app/app/inner.go",
		"only-here.go": "one/app/only-here.go", "src/z.go": "two/app/src/z.go", "src/new.go": "two/app/src/new.go", "new.go": "one/app/new.go", "nested/new.go": "three/lib/nested/new.go",
		dirs[1] + "/main.go": "two/app/main.go",
		"main.go":            `!"app/main.go" or "app-2/main.go"`, ".": `!"app" or "app-2" or "lib"`, "./main.go": `!"app/main.go"`,
		"../app/only-here.go": "one/app/only-here.go", "app/../../two/app/main.go": "two/app/main.go", "app/../secret": "!outside the workspace", "../x": "!outside the workspace",
	})
	for path, want := range map[string]string{dirs[0] + "/main.go": "app/main.go", dirs[1] + "/main.go": "app-2/main.go", dirs[2]: "lib", "/etc/x": "/etc/x"} {
		if got := w.Display(path); got != want {
			t.Errorf("%s is shown as %q, want %q", path, got, want)
		}
	}
	none := open(t, nil)
	resolves(t, none, "", map[string]string{"a.go": "!outside the workspace: no folder is open", dirs[0] + "/main.go": "!no folder is open"})
}

// C154: a folder comes or goes while a session runs.
func TestFoldersChange(t *testing.T) {
	top := tempDir(t)
	files(t, top, map[string]string{"1/app/a": "1", "2/app/a": "2", "3/app/a": "3"})
	dir := func(n string) workspace.Folder {
		return workspace.Folder{Name: "app", Path: filepath.Join(top, n, "app")}
	}
	w, err := workspace.Open([]workspace.Folder{dir("1"), dir("2")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	first, err := w.Resolve("app/a")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SetFolders([]workspace.Folder{dir("2"), dir("3")}); err != nil {
		t.Fatal(err)
	}
	resolves(t, w, top, map[string]string{"app-2/a": "2/app/a", "app/a": "3/app/a", first.Abs: "!outside the workspace"})
	if _, err := w.OpenFile(first.Abs); !workspace.IsOutside(err) {
		t.Errorf("a removed folder: %v", err)
	}
	if err := w.SetFolders([]workspace.Folder{{Path: "rel/ative"}}); err == nil {
		t.Error("a relative folder was taken")
	}
	if got := len(w.Folders()); got != 2 {
		t.Errorf("%d folders after a failed change", got)
	}
}

func TestFolderNames(t *testing.T) {
	top := tempDir(t)
	files(t, top, map[string]string{"a/": "", "b/": "", "c/": "", "d/": "", "e/": "", "f/": "", "link": "-> a"})
	var list []workspace.Folder
	for path, name := range map[string]string{"a": "x", "b": "x", "c": "x/y", "d": "..", "e": "x\x1b", "f": ""} {
		list = append(list, workspace.Folder{Name: name, Path: filepath.Join(top, path)})
	}
	list = append(list, workspace.Folder{Name: "again", Path: filepath.Join(top, "link")})
	w, err := workspace.Open(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	got := map[string]bool{}
	for _, f := range w.Folders() {
		got[f.Name] = true
		if p, err := w.Resolve(f.Name + "/q"); err != nil || filepath.Dir(p.Abs) != f.Path {
			t.Errorf("%q resolves to %+v, %v", f.Name, p, err)
		}
	}
	for _, want := range []string{"x", "x-2", "x-y", "root", "x-", "f"} {
		if !got[want] {
			t.Errorf("no folder is called %q: %v", want, got)
		}
	}
	if len(got) != 6 {
		t.Errorf("one folder under two names: %v", got)
	}
}

// A folder is deleted and made anew while the server runs.
func TestRootRemoved(t *testing.T) {
	dir := filepath.Join(tempDir(t), "ws")
	files(t, dir, map[string]string{"a": "one"})
	w := open(t, nil, dir)
	read := func() (string, error) { return w.ReadFile(filepath.Join(dir, "a"), 100) }
	if got, err := read(); got != "one" {
		t.Fatal(got, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	var gone *workspace.GoneError
	if _, err := read(); !errors.As(err, &gone) || gone.Closed {
		t.Errorf("a removed folder: %v", err)
	}
	files(t, dir, map[string]string{"a": "two"})
	if got, err := read(); got != "two" {
		t.Errorf("the folder made anew has %q, %v", got, err)
	}
}

func TestBuffersCount(t *testing.T) {
	top := tempDir(t)
	files(t, top, map[string]string{"x/": "", "y/": ""})
	w := open(t, buffers{filepath.Join(top, "y", "new.go"): ""}, filepath.Join(top, "x"), filepath.Join(top, "y"))
	resolves(t, w, top, map[string]string{"new.go": "y/new.go"})
}
