package search

import (
	"context"
	"runtime"
	"sync"
)

// workers is how many files are read at a time. More than a few only makes the
// disk seek.
var workers = min(max(runtime.GOMAXPROCS(0), 2), 8)

// ordered works on several inputs at a time and hands the results on in the
// order of the inputs, so that what comes of it does not depend on timing.
// produce and work run on other goroutines, which have ended when ordered
// returns; work makes a worker, which is used by one goroutine. consume runs
// on the caller's and says whether to go on.
func ordered[In, Out any](ctx context.Context, produce func(ctx context.Context, emit func(In) error) error, work func(ctx context.Context) func(In) Out, consume func(Out) bool) error {
	inner, cancel := context.WithCancel(ctx)
	type job struct {
		in  In
		out chan Out // holds one
	}
	jobs := make(chan job)
	queue := make(chan job, 4*workers)
	var failure error
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	for range workers {
		group.Go(func() {
			do := work(inner)
			for j := range jobs {
				j.out <- do(j.in)
			}
		})
	}
	group.Go(func() {
		defer close(queue) // publishes failure
		defer close(jobs)
		failure = produce(inner, func(in In) error {
			j := job{in, make(chan Out, 1)}
			for _, to := range []chan<- job{queue, jobs} {
				select {
				case to <- j:
				case <-inner.Done():
					return inner.Err()
				}
			}
			return nil
		})
	})
	for j := range queue {
		select {
		case out := <-j.out:
			if !consume(out) {
				return nil
			}
		case <-inner.Done():
			return ctx.Err()
		}
	}
	return failure
}
