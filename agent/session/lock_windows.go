package session

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock keeps other servers from appending to a file. Locks of Windows keep
// readers out as well: the byte that is locked lies far behind the end, where
// nobody reads.
func lock(f *os.File) (unlock func(), err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at)
	switch {
	case err == nil:
		return func() { _ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, at) }, nil // closing unlocks too
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return nil, ErrLocked
	}
	return func() {}, nil
}
