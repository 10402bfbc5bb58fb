//go:build unix

package disk

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner of the file that info describes. Who may not do
// that keeps their own, as in any editor.
func keepOwner(f *os.File, info fs.FileInfo) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid))
	}
}
