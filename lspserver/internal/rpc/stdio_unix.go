//go:build unix

package rpc

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Stdio takes standard input and output for the connection alone, once in a
// process. What anything else prints to standard output afterwards, C code
// too, comes out on standard error, and standard input is empty; child
// processes inherit neither. Closing the files ends a read or a write that
// blocks (not on a terminal), and a client that is gone is a write error and no
// SIGPIPE.
func Stdio() (in, out *os.File, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	if in, err = takeOver(0, int(null.Fd()), "stdin"); err != nil {
		return nil, nil, err
	}
	if out, err = takeOver(1, 2, "stdout"); err != nil {
		in.Close()
		return nil, nil, err
	}
	return in, out, nil
}

// takeOver moves fd to a new place and puts instead where it was.
func takeOver(fd, instead int, name string) (*os.File, error) {
	moved, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("taking %s: %w", name, err)
	}
	if err := unix.Dup2(instead, fd); err != nil {
		unix.Close(moved)
		return nil, fmt.Errorf("redirecting %s: %w", name, err)
	}
	// A terminal is shared with the shell, which must not find it non-blocking.
	var st unix.Stat_t
	if unix.Fstat(moved, &st) == nil && (st.Mode&unix.S_IFMT == unix.S_IFIFO || st.Mode&unix.S_IFMT == unix.S_IFSOCK) {
		if err := unix.SetNonblock(moved, true); err != nil {
			unix.Close(moved)
			return nil, fmt.Errorf("preparing %s: %w", name, err)
		}
	}
	return os.NewFile(uintptr(moved), name), nil
}
