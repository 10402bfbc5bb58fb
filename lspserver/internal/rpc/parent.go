package rpc

import (
	"context"
	"time"
)

// WatchParent looks every so often whether the process pid lives and closes the
// channel when it does not, which may be at the first look (LSP 3.18
// § initialize: the server exits when processId is not alive). The channel never
// closes once ctx has ended, nor for a pid that is none.
//
// A pid that another process has taken over counts as dead where the system
// tells cheaply (Linux, Windows); so does a zombie on Linux.
func WatchParent(ctx context.Context, pid int, every time.Duration) <-chan struct{} {
	dead := make(chan struct{})
	if pid <= 0 {
		return dead
	}
	alive, release := watchProcess(pid)
	go func() {
		defer release()
		tick := time.NewTicker(every)
		defer tick.Stop()
		for alive() {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		close(dead)
	}()
	return dead
}
