//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no file must not stop the server.
func TestOddFiles(t *testing.T) {
	for name, c := range map[string]struct {
		make func(path string) error
		want string
	}{
		"a pipe":     {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "not a regular file"},
		"a folder":   {func(p string) error { return os.Mkdir(p, 0o700) }, "not a regular file"},
		"a device":   {func(p string) error { return os.Symlink("/dev/zero", p) }, "not a regular file"},
		"very large": {func(p string) error { return os.WriteFile(p, make([]byte, maxFile+1), 0o600) }, "larger than 1024 KiB"},
	} {
		folder := t.TempDir()
		if err := os.Mkdir(filepath.Join(folder, ".agentls"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := c.make(filepath.Join(folder, WorkspaceFile)); err != nil {
			t.Fatal(err)
		}
		_, problems := Load(Inputs{Env: func(string) (string, bool) { return "", false }, Workspace: []string{folder}, Trusted: true})
		if len(problems) != 1 || !strings.Contains(problems[0].Message, c.want) {
			t.Errorf("%s: %v", name, problems)
		}
	}
}
