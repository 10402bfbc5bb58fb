package rpc

import "syscall"

// watchProcess returns a function that says whether the process lives. The
// open handle keeps the pid from being used again.
func watchProcess(pid int) (alive func() bool, release func()) {
	handle, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		// Access denied means that it is there; then only the end of input tells.
		there := err == syscall.ERROR_ACCESS_DENIED
		return func() bool { return there }, func() {}
	}
	return func() bool {
		event, err := syscall.WaitForSingleObject(handle, 0)
		return err != nil || event == syscall.WAIT_TIMEOUT
	}, func() { _ = syscall.CloseHandle(handle) }
}
