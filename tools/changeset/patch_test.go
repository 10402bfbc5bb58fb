package changeset

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestPatch(t *testing.T) {
	w := newWorld(t, "f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20", "d", "D\n", "e", "", "r", "R\nS\n", "p", "P\n")
	w.edit("f", "\n2\n", "\ntwo\n")
	w.edit("f", "\n9\n", "\n")
	w.edit("f", "20", "twenty\n")
	w.delete("d")
	w.delete("e")
	w.move("r", "s")
	w.edit("s", "S", "SS")
	w.move("p", "q")
	w.write("n", "N\nM")
	w.write("o", "")
	for path, want := range map[string]string{
		"f": "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,12 +1,11 @@\n 1\n-2\n+two\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n 10\n 11\n 12\n" +
			"@@ -17,4 +16,4 @@\n 17\n 18\n 19\n-20\n\\ No newline at end of file\n+twenty\n",
		"d": "diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-D\n",
		"e": "diff --git a/e b/e\ndeleted file mode 100644\n",
		"s": "diff --git a/r b/s\nrename from r\nrename to s\n--- a/r\n+++ b/s\n@@ -1,2 +1,2 @@\n R\n-S\n+SS\n",
		"q": "diff --git a/p b/q\nsimilarity index 100%\nrename from p\nrename to q\n",
		"n": "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+N\n+M\n\\ No newline at end of file\n",
		"o": "diff --git a/o b/o\nnew file mode 100644\n",
	} {
		f := w.file(path)
		if got := f.Patch(f.Path, f.OldPath); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", path, got, want)
		}
	}
	f := w.file("f")
	if f.Added != 2 || f.Removed != 3 {
		t.Errorf("+%d -%d", f.Added, f.Removed)
	}
	if n := w.file("n"); n.Added != 2 || n.Removed != 0 {
		t.Errorf("create: +%d -%d", n.Added, n.Removed)
	}
	if d := w.file("d"); d.Added != 0 || d.Removed != 1 {
		t.Errorf("delete: +%d -%d", d.Added, d.Removed)
	}
}

// What is in conflict is not in the patch, which then may be empty.
func TestPatchLeavesConflictsOut(t *testing.T) {
	w := newWorld(t, "f", "a\nb\nc\nd\ne\n")
	w.edit("f", "a", "A")
	w.edit("f", "e", "E")
	w.user("f", "aa\nb\nc\nd\ne\n")
	f := w.file("f")
	if got := f.Patch("f", ""); got != "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -2,4 +2,4 @@\n b\n c\n d\n-e\n+E\n" {
		t.Errorf("%s", got)
	}
	if f.Added != 1 || f.Removed != 1 {
		t.Errorf("+%d -%d", f.Added, f.Removed)
	}
	w.user("f", "aa\nb\nc\nd\nee\n")
	if got := w.file("f").Patch("f", ""); got != "" {
		t.Errorf("%s", got)
	}
}

func TestQuotedNames(t *testing.T) {
	for name, want := range map[string]string{
		"a/x y": "a/x y", "a/é": "a/é", "a/\t": `"a/\t"`, `a/"`: `"a/\""`, `a/\`: `"a/\\"`, "a/\x01": `"a/\001"`, "a/\n": `"a/\n"`,
	} {
		if got := quoteName(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// Git applies the patches, and comes to the texts that the proposal shows.
func TestGitAppliesPatches(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	run := func(stdin string, args ...string) {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s\n%s", args, err, out, stdin)
		}
	}
	run("", "init", "-q")
	at := func(name string) string { return filepath.Join(dir, name) }
	check := func(name, want string) {
		t.Helper()
		if got, err := os.ReadFile(at(name)); err != nil || string(got) != want {
			t.Fatalf("%q: git made %q, %v, want %q", name, got, err, want)
		}
	}
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	for _, name := range []string{"plain", "with space", "dash-é", "tab\there", `quote"back\slash`, "line\nbreak"} {
		w := newWorld(t, name, "a\r\nb\nc", "gone "+name, "x\ny\n")
		put(name, "a\r\nb\nc")
		put("gone "+name, "x\ny\n")
		w.edit(name, "c", "c\r\nd")
		w.move(name, "to "+name)
		w.delete("gone " + name)
		w.write("new "+name, "n\n")
		w.write("empty "+name, "")
		for _, f := range w.set.Proposal().Files {
			run(f.Patch(f.Path, f.OldPath), "apply", "-")
		}
		check("to "+name, "a\r\nb\nc\r\nd")
		check("new "+name, "n\n")
		check("empty "+name, "")
		for _, gone := range []string{name, "gone " + name} {
			if _, err := os.Stat(at(gone)); !os.IsNotExist(err) {
				t.Errorf("%q is still there", gone)
			}
		}
	}

	rnd := rand.New(rand.NewPCG(21, 22))
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		base := randomText(rnd, 60)
		w := newWorld(t, "f", base)
		for range 1 + rnd.IntN(4) {
			edits, _ := randomEdits(rnd, w.read("f"))
			w.did(w.set.Edit("f", w.read("f"), edits, Origin{}))
		}
		for _, f := range w.set.Proposal().Files {
			put("f", base)
			run(f.Patch("f", ""), "apply", "--whitespace=nowarn", "-")
			check("f", f.Proposed())
		}
	}
}
