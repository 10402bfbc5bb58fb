package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// On a file system that does not tell case or form apart, the name that a
// folder lists is the one that counts. Hard links stand in for one here.
func TestSpelledOnDisk(t *testing.T) {
	dir := t.TempDir()
	for name, twin := range map[string]string{"Read.md": "rEAD.MD", "\u00e9.txt": "e\u0301.txt"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(path, filepath.Join(dir, twin)); err != nil {
			t.Skip("needs hard links:", err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range []string{name, twin} {
			if got := spelledOnDisk(dir, found, info); got != found {
				t.Errorf("%q, which is listed, is taken for %q", found, got)
			}
		}
		// Found under a name that is not listed: as if it had been folded.
		if err := os.Remove(filepath.Join(dir, twin)); err != nil {
			t.Fatal(err)
		}
		if got := entryLike(dir, twin, foldName); got != name {
			t.Errorf("%q is listed as %q, want %q", twin, got, name)
		}
	}
	if got := entryLike(dir, "other", foldName); got != "" {
		t.Errorf("found %q", got)
	}
}
