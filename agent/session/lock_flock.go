//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package session

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps other servers from appending to a file. The kernel gives it free
// when the process ends, however that comes. A file system without locks is
// used without.
func lock(f *os.File) (unlock func(), err error) {
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	switch {
	case err == nil:
		return func() { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }, nil // closing unlocks too
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, ErrLocked
	}
	return func() {}, nil
}
