//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package session

import (
	"errors"
	"io/fs"
	"os"
)

// lock keeps other servers from appending to a file by a second file beside
// it. One that a killed server left has to be removed by hand.
func lock(f *os.File) (unlock func(), err error) {
	name := f.Name() + ".lock"
	l, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	l.Close()
	return func() { os.Remove(name) }, nil
}
