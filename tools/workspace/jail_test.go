package workspace_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/tools/workspace"
)

// farm is a workspace full of links, beside a folder with secrets in it.
type farm struct {
	top, dir string
	ws       *workspace.Workspace
}

var farmNames = []string{"a", "b", "c", "é"}

// newFarm plants a farm that rnd decides on.
func newFarm(t testing.TB, rnd *rand.Rand) *farm {
	t.Helper()
	top := tempDir(t)
	f := &farm{top: top, dir: filepath.Join(top, "ws")}
	files(t, top, map[string]string{"ws/a/b/c": "mine", "ws/f": "mine", "outside/a/b/c": "SECRET", "outside/f": "SECRET", "ws-secret/f": "SECRET"})
	for range 5 + rnd.IntN(15) {
		name := filepath.Join(f.dir, f.spelling(rnd, false))
		_ = os.MkdirAll(filepath.Dir(name), 0o777) // it may lead anywhere, or nowhere
		switch rnd.IntN(3) {
		case 0:
			if real, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil && strings.HasPrefix(real+"/", f.dir+"/") {
				_ = os.WriteFile(filepath.Join(real, filepath.Base(name)), []byte("mine"), 0o666)
			}
		case 1:
			_ = os.Symlink(f.spelling(rnd, true), name)
		case 2:
			target := []string{f.dir, top, top + "/outside", top + "/outside/f", top + "/nowhere", f.dir + "/" + f.spelling(rnd, true), "/"}[rnd.IntN(7)]
			_ = os.Symlink(target, name)
		}
	}
	f.ws = open(t, nil, f.dir)
	return f
}

// spelling is a relative path, with climbing where that is wanted.
func (f *farm) spelling(rnd *rand.Rand, climb bool) string {
	var parts []string
	for range 1 + rnd.IntN(5) {
		part := farmNames[rnd.IntN(len(farmNames))]
		if climb && rnd.IntN(3) == 0 {
			part = []string{"..", "..", ".", "", "ws", "outside", "f", "e\u0301"}[rnd.IntN(8)]
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "/")
}

// check resolves a spelling and compares with what the kernel makes of it.
func (f *farm) check(t *testing.T, spelling string) {
	t.Helper()
	name := f.dir + "/" + spelling
	if filepath.IsAbs(spelling) {
		name = spelling
	}
	p, err := f.ws.Resolve(spelling)
	real, realErr := filepath.EvalSymlinks(name)
	inside := realErr == nil && (real == f.dir || strings.HasPrefix(real, f.dir+"/"))
	switch {
	case err == nil && p.Abs != f.dir && !strings.HasPrefix(p.Abs, f.dir+"/"):
		t.Errorf("%q resolves to %s, outside", spelling, p.Abs)
	case realErr == nil && !inside && err == nil:
		t.Errorf("%q is %s and resolves to %s", spelling, real, p.Abs)
	case inside && err != nil && spelling != "":
		t.Errorf("%q is %s and does not resolve: %v", spelling, real, err)
	case inside && err == nil && p.Abs != real && !strings.HasPrefix(spelling, "ws/"):
		t.Errorf("%q is %s and resolves to %s", spelling, real, p.Abs)
	case err == nil:
		if text, err := f.ws.ReadFile(p.Abs, 100); err == nil && text != "mine" {
			t.Errorf("%q was read: %q", spelling, text)
		}
		// What is not there may be taken for a path that leads with ws/.
		if again, err := f.ws.Resolve(f.ws.Display(p.Abs)); realErr == nil && (err != nil || again.Abs != p.Abs) {
			t.Errorf("%s is shown as %q, which is %s, %v", p.Abs, f.ws.Display(p.Abs), again.Abs, err)
		}
	}
}

// C125: nothing resolves to what is outside, and everything inside does.
func TestJail(t *testing.T) {
	seed := uint64(os.Getpid())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 2))
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	for round := range rounds {
		f := newFarm(t, rnd)
		for range 100 {
			f.check(t, f.spelling(rnd, true))
			f.check(t, f.dir+"/"+f.spelling(rnd, true))
		}
		for _, p := range f.everything(t) {
			if strings.Contains(p, "SECRET") {
				t.Errorf("a walk read %s", p)
			}
		}
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

// everything is all that a walk can read.
func (f *farm) everything(t *testing.T) []string {
	t.Helper()
	var list []string
	_, err := f.ws.Walk(t.Context(), []string{f.dir}, func(e workspace.Entry) error {
		if text, err := f.ws.ReadFile(e.Path, 100); err == nil {
			list = append(list, fmt.Sprintf("%s: %s", e.Rel, text))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return list
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"a/b/c", "../outside/f", "a/../../ws-secret/f", "/etc/passwd", "ws/a", "./a//b/", `a\x2fb`, "~/x", `C:\a`, "file:///a", "a/\x00", "e\u0301/a", "..", "a/./../é"} {
		f.Add(s, uint64(1))
	}
	var farms []*farm
	for seed := range uint64(16) {
		farms = append(farms, newFarm(f, rand.New(rand.NewPCG(seed, 3))))
	}
	f.Fuzz(func(t *testing.T, spelling string, seed uint64) {
		if strings.ContainsRune(spelling, 0) {
			return
		}
		farm := farms[seed%uint64(len(farms))]
		p, err := farm.ws.Resolve(spelling)
		if err != nil {
			return
		}
		if p.Abs != farm.dir && !strings.HasPrefix(p.Abs, farm.dir+"/") {
			t.Errorf("%q resolves to %s, outside", spelling, p.Abs)
		}
		if text, err := farm.ws.ReadFile(p.Abs, 100); err == nil && text != "mine" {
			t.Errorf("%q was read: %q", spelling, text)
		}
	})
}
