//go:build unix

package rpc

import (
	"errors"
	"syscall"
)

// gone is the start of a process that has ended and was not waited for.
const gone = "gone"

// watchProcess returns a function that says whether the process lives.
func watchProcess(pid int) (alive func() bool, release func()) {
	born := startOf(pid)
	return func() bool {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return false
		}
		now := startOf(pid)
		return now != gone && (born == "" || now == "" || now == born)
	}, func() {}
}
