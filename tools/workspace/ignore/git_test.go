package ignore_test

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

	"github.com/agentls/agentls/tools/workspace/ignore"
)

// repo is a temporary repository that git answers questions about.
type repo struct {
	t   *testing.T
	dir string
	env []string
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git, to compare with")
	}
	r := &repo{t, t.TempDir(), nil}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			r.env = append(r.env, kv)
		}
	}
	r.env = append(r.env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "HOME="+r.dir, "XDG_CONFIG_HOME="+r.dir)
	r.git(nil, "init", "-q")
	return r
}

func (r *repo) git(stdin []byte, args ...string) []byte {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.dir, r.env, bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 1 {
		err = nil // check-ignore: none of them
	}
	if err != nil {
		r.t.Fatalf("git %q: %v: %s", args, err, stderr.Bytes())
	}
	return out
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	name = filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

// ignored asks git about paths.
func (r *repo) ignored(paths []string, fold bool) map[string]bool {
	r.t.Helper()
	out := r.git([]byte(strings.Join(paths, "\x00")+"\x00"), "-c", fmt.Sprintf("core.ignorecase=%v", fold), "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
	result := map[string]bool{}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for ; len(fields) >= 4; fields = fields[4:] {
		pattern, path := fields[2], fields[3]
		result[path] = pattern != "" && pattern[0] != '!'
	}
	return result
}

// tree is the ignore files of a repository, by folder; "" is the top.
type tree struct {
	exclude string
	files   map[string]string
	fold    bool
}

// ignored decides by our rules, with the folders around a path first.
func (tr tree) ignored(path string, dir bool) bool {
	list := (*ignore.List)(nil).Add("", ignore.Parse([]byte(tr.exclude), tr.fold))
	for at := 0; ; {
		base := strings.TrimSuffix(path[:at], "/")
		if text, ok := tr.files[base]; ok {
			list = list.Add(base, ignore.Parse([]byte(text), tr.fold))
		}
		next := strings.IndexByte(path[at:], '/')
		if next < 0 {
			return list.Decide(path, dir) == ignore.Ignored
		}
		at += next
		if list.Decide(path[:at], true) == ignore.Ignored {
			return true
		}
		at++
	}
}

// compare puts the tree on disk beside the paths, of which those with a slash
// at the end are folders, and asks git and us about each.
func compare(t *testing.T, tr tree, paths []string) {
	t.Helper()
	r := newRepo(t)
	r.compare(tr, paths)
}

func (r *repo) compare(tr tree, paths []string) {
	r.t.Helper()
	dirs := map[string]bool{}
	var names []string
	for _, p := range paths {
		name, isDir := strings.CutSuffix(p, "/")
		if isDir {
			if err := os.MkdirAll(filepath.Join(r.dir, name), 0o777); err != nil {
				r.t.Fatal(err)
			}
		} else {
			r.write(name, "")
		}
		dirs[name] = isDir
		names = append(names, name)
	}
	for base, text := range tr.files {
		r.write(filepath.Join(base, ".gitignore"), text)
	}
	r.write(".git/info/exclude", tr.exclude)
	want := r.ignored(names, tr.fold)
	for _, name := range names {
		if got := tr.ignored(name, dirs[name]); got != want[name] {
			r.t.Errorf("%q (folder: %v): ignored %v, git says %v\nby %q, exclude %q, fold %v", name, dirs[name], got, want[name], tr.files, tr.exclude, tr.fold)
		}
	}
}

var plainPaths = []string{
	"a", "A", "ab", "b.o", "a.O", "dir/", "dir/a", "dir/ab", "dir/b.o", "dir/dir/", "dir/dir/a", "dir/dir/b", "dir/foo", "foo", "foobar", "foo.txt",
	"x/", "x/foo/", "x/foo/bar", "x/foo/a/bar", "x/foo/a/b/bar", "x/y/z/w", "build/", "build/keep/", "build/keep/a", "doc/a.txt", "doc/sub/a.txt",
	"#hash", "!bang", "sp ", "sp", "tr\t", "[set]", "ä", "aé", "q?", "star*", "-", "]", "a-c", ".hidden", ".hid/x",
}

// TestPages are the statements of gitignore(5), one per line, and the odd
// lines that people write.
func TestPages(t *testing.T) {
	r := newRepo(t)
	paths := append(slices.Clone(plainPaths), "foo2/bar", "logs/debug.log", "logs/a/debug.log")
	for _, text := range []string{
		"a\n", "/a\n", "dir\n", "dir/\n", "/dir\n", "/dir/\n", "dir/a\n", "/dir/a\n", "dir/*\n", "dir/**\n", "**/a\n", "**/dir/a\n", "x/**/bar\n", "x/foo/**/bar\n",
		"*.o\n", "*.o\n!b.o\n", "*\n!a\n", "*\n!*/\n!a\n", "dir/\n!dir/a\n", "dir/*\n!dir/a\n", "build/*\n!build/keep/\n", "/*\n!/x\n/x/*\n!/x/foo\n",
		"\\#hash\n", "#hash\n", "\\!bang\n", "!bang\n", "sp \n", "sp\\ \n", "sp  \n", "tr\t\n", "a \r\n", "a\r\nb.o\r\n", "\r\n\n\na", "\xEF\xBB\xBFa\n",
		"[ab]\n", "[!a]\n", "[^a]\n", "[a-c]\n", "[]]\n", "[]-]\n", "[a-]\n", "[\\]]\n", "[\\-]\n", "[[:alpha:]]\n", "[[:upper:]]\n", "[[:bogus:]]\n", "[[:alpha]\n", "[a\n", "[\n", "[[]set]\n", "\\[set]\n",
		"foo**\n", "foo**/bar\n", "fo**r\n", "x/**\n", "**\n", "***\n", "*/\n", "**/\n", "/**\n", "/**/a\n", "*/a\n", "**/**/a\n", "x/**/\n", "a/**/\n", "**foo\n", "x/*/bar\n", "x/**/**/bar\n", "x/***/bar\n", "x/**\\/bar\n",
		"?\n", "??\n", "a?\n", "\\a\n", "a\\\n", "\\\n", "/\n", "//\n", "!\n", "!!\n", "./a\n", "a//b\n", "dir//a\n", "../a\n", ".\n", ".*\n", "ä\n", "a??\n", "q\\?\n", "star\\*\n", "star*\n", "\\**\n",
		"foo\n!foo\nfoo\n", "*\n!.gitignore\n", "doc/**/*.txt\n", "doc/*.txt\n", "logs/**/debug.log\n", "foo/*\n", "*foo\n", "f*o\n", "f*o*r\n", "*a*b*\n", "a\x00b\n", "\x00\n", "x/foo/\n", "foo/\n", "foo/bar/\n", "-\n", "/foo*\n",
	} {
		r.compare(tree{files: map[string]string{"": text}}, paths)
		r.compare(tree{files: map[string]string{"": text}, fold: true}, paths)
	}
}

// TestNested is which file has the last word.
func TestNested(t *testing.T) {
	for _, tr := range []tree{
		{files: map[string]string{"": "*.o\n", "dir": "!b.o\n"}},
		{files: map[string]string{"": "dir/\n", "dir": "!a\n"}},
		{files: map[string]string{"": "!a\n", "dir": "a\n", "dir/dir": "!a\n"}},
		{files: map[string]string{"": "", "x": "/foo\n", "dir": "/dir/a\n"}},
		{files: map[string]string{"": "!b.o\n"}, exclude: "*.o\n"},
		{files: map[string]string{"dir": "!b.o\n"}, exclude: "*.o\n!dir\n"},
		{files: map[string]string{"": "a\n"}, exclude: "!a\n"},
		{files: map[string]string{"x/foo": "bar\n!/bar\n", "": "**/bar\n"}},
	} {
		compare(t, tr, plainPaths)
	}
}

// TestAgainstGit compares many random repositories. The words are few, so that
// patterns meet paths.
func TestAgainstGit(t *testing.T) {
	rounds := 80
	if testing.Short() {
		rounds = 20
	}
	seed := uint64(os.Getpid())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	for range rounds {
		paths := randomPaths(rnd)
		tr := tree{files: map[string]string{"": randomFile(rnd)}, fold: rnd.IntN(4) == 0}
		if rnd.IntN(3) == 0 {
			tr.exclude = randomFile(rnd)
		}
		for _, p := range paths {
			if dir, ok := strings.CutSuffix(p, "/"); ok && rnd.IntN(3) == 0 {
				tr.files[dir] = randomFile(rnd)
			}
		}
		compare(t, tr, paths)
		if t.Failed() {
			return
		}
	}
}

func randomPaths(rnd *rand.Rand) []string {
	names := []string{"a", "b", "ab", "B", "a.o", "b.o", "foo", "a b", "-", "é", "[a]", "a*", "x"}
	dirs := []string{""}
	seen := map[string]bool{}
	var paths []string
	for range 12 + rnd.IntN(30) {
		name := dirs[rnd.IntN(len(dirs))] + names[rnd.IntN(len(names))]
		if seen[name] {
			continue
		}
		seen[name] = true
		if strings.Count(name, "/") < 4 && rnd.IntN(2) == 0 {
			dirs = append(dirs, name+"/")
			name += "/"
		}
		paths = append(paths, name)
	}
	return paths
}

func randomFile(rnd *rand.Rand) string {
	var b strings.Builder
	for range 1 + rnd.IntN(5) {
		b.WriteString(randomPattern(rnd))
		b.WriteString([]string{"\n", "\n", "\n", "\r\n", " \n"}[rnd.IntN(5)])
	}
	return b.String()
}

func randomPattern(rnd *rand.Rand) string {
	words := []string{"a", "b", "ab", "B", "*", "**", "*", "?", "/", "/", "/", ".o", "*.o", "foo", "[ab]", "[!a]", "[a-f]", "[[:upper:]]", "[^b-]", "\\a", "\\*", "\\[", " ", "\\ ", "-", "é", "x", "***", "**/", "/**", "/**/", "[", "]", "!", "#"}
	var b strings.Builder
	if rnd.IntN(4) == 0 {
		b.WriteByte('!')
	}
	for range 1 + rnd.IntN(5) {
		b.WriteString(words[rnd.IntN(len(words))])
	}
	if rnd.IntN(4) == 0 {
		b.WriteByte('/')
	}
	return b.String()
}
