package rpc

import (
	"fmt"
	"os"
	"strings"
)

// startOf returns when the process started, in the kernel's words: a pid that
// is used again has another start. Empty means unknown,
// gone that it has ended and only waits to be waited for.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// proc_pid_stat(5): the name stands in parentheses and may hold anything;
	// after it field 3 is the state, field 22 the start.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest)
	switch {
	case len(fields) < 20:
		return ""
	case fields[0] == "Z" || fields[0] == "X":
		return gone
	}
	return fields[19]
}
