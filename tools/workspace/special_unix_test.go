//go:build unix

package workspace_test

import (
	"errors"
	"net"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agentls/agentls/tools/workspace"
)

// What is no file is never opened: a FIFO would block for ever.
func TestSpecialFiles(t *testing.T) {
	dir := tempDir(t)
	files(t, dir, map[string]string{"link": "-> fifo"})
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w := open(t, nil, dir)
	for spelling, want := range map[string]string{"fifo": "fifo is a FIFO, not a file", "sock": "sock is a socket, not a file", "link": "fifo is a FIFO, not a file"} {
		p, err := w.Resolve(spelling)
		if err != nil {
			t.Fatal(err)
		}
		var notFile *workspace.NotFileError
		if _, err := w.OpenFile(p.Abs); !errors.As(err, &notFile) || err.Error() != want {
			t.Errorf("%s: %v", spelling, err)
		}
	}
	top := open(t, nil, "/")
	if _, err := top.OpenFile("/dev/zero"); err == nil || err.Error() != "dev/zero is a device, not a file" {
		t.Errorf("/dev/zero: %v", err)
	}
}
