package workspace_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/tools/workspace"
)

// git runs git in a folder, away from the settings of who runs the test.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git, to compare with")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
	cmd.Dir = dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, stderr.Bytes())
	}
	return string(out)
}

// sameAsGit compares the files of a walk with those that git would add.
func sameAsGit(t *testing.T, w *workspace.Workspace, dir string) {
	t.Helper()
	want := strings.Split(strings.TrimSuffix(git(t, dir, "ls-files", "--others", "--exclude-standard", "-z"), "\x00"), "\x00")
	want = slices.DeleteFunc(want, func(s string) bool { return s == "" })
	got := []string{}
	_, err := w.Walk(t.Context(), []string{dir}, func(e workspace.Entry) error {
		if !e.Type.IsDir() {
			got = append(got, e.Rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -git +walk:\n%s", dir, diff)
	}
}

// What a walk leaves out is what git does, with ignore files anywhere.
func TestWalkAgainstGit(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	seed := uint64(os.Getpid())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 4))
	names := []string{"a", "b", "ab", "x.o", "y.log", "dir", "é"}
	patterns := []string{"a", "*.o", "!x.o", "/b", "dir/", "!dir/", "dir/*", "!dir/a", "**/ab", "a/**/b", "*", "!*/", "[ab]", "é", "y.*", "*b*/", "!a", "/a/*", "!/a/b"}
	file := func() string {
		var lines []string
		for range 1 + rnd.IntN(4) {
			lines = append(lines, patterns[rnd.IntN(len(patterns))])
		}
		return strings.Join(lines, "\n")
	}
	for range rounds {
		dir := tempDir(t)
		git(t, dir, "init", "-q")
		tree := map[string]string{}
		for range 40 {
			name := names[rnd.IntN(len(names))]
			for range rnd.IntN(4) {
				name += ".d/" + names[rnd.IntN(len(names))]
			}
			tree[name] = ""
			if rnd.IntN(5) == 0 {
				tree[filepath.ToSlash(filepath.Join(filepath.Dir(name), ".gitignore"))] = file()
			}
		}
		files(t, dir, tree)
		if err := os.WriteFile(filepath.Join(dir, ".git", "info", "exclude"), []byte(file()), 0o666); err != nil {
			t.Fatal(err)
		}
		sameAsGit(t, open(t, nil, dir), dir)
		// A folder of the repository is opened alone.
		for _, e := range must(os.ReadDir(dir)) {
			sub := filepath.Join(dir, e.Name())
			if e.IsDir() && e.Name() != ".git" && !open(t, nil, dir).Ignored(sub, true) {
				sameAsGit(t, open(t, nil, sub), sub)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// Repositories in a repository, and a work tree whose .git is a file.
func TestNestedRepositories(t *testing.T) {
	top := tempDir(t)
	main, tree := filepath.Join(top, "main"), filepath.Join(top, "tree")
	files(t, main, map[string]string{".gitignore": "*.o\n", "a.o": "", "a": "", "inner/a.o": "", "inner/.gitignore": "b\n", "inner/b": "", "inner/sub/c.o": ""})
	git(t, top, "init", "-q", main)
	git(t, filepath.Join(main, "inner"), "init", "-q")
	files(t, main, map[string]string{".git/info/exclude": "local\n", "inner/local": "", "local": ""})
	w := open(t, nil, main)
	if diff := cmp.Diff([]string{"./", ".gitignore", "a", "inner/", "inner/.gitignore", "inner/a.o", "inner/local", "inner/sub/", "inner/sub/c.o"}, walked(t, w, main)); diff != "" {
		t.Error(diff)
	}
	git(t, main, "commit", "-q", "--allow-empty", "-m", "x")
	git(t, main, "worktree", "add", "-q", tree)
	files(t, tree, map[string]string{"x.o": "", "local": "", "y": "", ".gitignore": "*.o\n"})
	sameAsGit(t, open(t, nil, tree), tree)
	if diff := cmp.Diff([]string{"./", ".gitignore", "y"}, walked(t, open(t, nil, tree), tree)); diff != "" {
		t.Error(diff)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprint("test: ", err))
	}
	return v
}
