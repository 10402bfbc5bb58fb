package lspserver

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"go.lsp.dev/protocol"
)

// progress is the work-done progress of one run (LSP 3.18 § Work Done
// Progress). Reports say what the run is doing now; while the client is slow
// only the newest is kept.
//
// One goroutine, started by startProgress and ended by end, does the talking:
// an editor that does not answer the create request holds up nothing but its
// own progress bar.
type progress struct {
	token json.RawMessage

	wake chan struct{} // capacity 1: there is something to say
	done chan struct{} // closed when the goroutine has left

	mu     sync.Mutex
	said   string // the newest report, told or not
	report string // what is still to be told
	ended  bool
	final  string
}

// progressGrace is how long a run's end waits for a client that still owes the
// answer to the create request.
const progressGrace = 2 * time.Second

// startProgress begins a progress under token, or under one that the client
// is asked to create when token is nil.
func (s *server) startProgress(ctx context.Context, token json.RawMessage, runID, title string) *progress {
	p := &progress{token: token, wake: make(chan struct{}, 1), done: make(chan struct{})}
	create := token == nil
	if create {
		p.token, _ = json.Marshal("agentls-" + runID) // a string always marshals
	}
	s.goroutines.Go(func() {
		defer close(p.done)
		if create && !s.createProgress(ctx, p) {
			return
		}
		p.talk(ctx, s, title)
	})
	return p
}

// createProgress asks the client for a progress and reports whether it may be used.
func (s *server) createProgress(ctx context.Context, p *progress) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	created := make(chan error, 1)
	s.goroutines.Go(func() {
		created <- s.conn.Call(ctx, protocol.MethodWindowWorkDoneProgressCreate, map[string]any{"token": p.token}, nil)
	})
	var overdue <-chan time.Time
	for {
		select {
		case err := <-created:
			return err == nil
		case <-overdue:
			return false
		case <-ctx.Done():
			return false
		case <-p.wake:
			if p.over() && overdue == nil {
				overdue = time.After(progressGrace)
			}
		}
	}
}

func (p *progress) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

func (p *progress) talk(ctx context.Context, s *server, title string) {
	send := func(value any) {
		err := s.conn.Notify(ctx, protocol.MethodProgress, map[string]any{"token": p.token, "value": value})
		if err != nil {
			s.log.Debug("progress not sent", "err", err)
		}
	}
	send(protocol.WorkDoneProgressBegin{Kind: "begin", Title: "agentls: " + title, Cancellable: new(true)})
	for {
		p.mu.Lock()
		report, ended, final := p.report, p.ended, p.final
		p.report = ""
		p.mu.Unlock()
		if report != "" && !ended {
			send(protocol.WorkDoneProgressReport{Kind: "report", Cancellable: new(true), Message: &report})
		}
		if ended {
			send(protocol.WorkDoneProgressEnd{Kind: "end", Message: &final})
			return
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
			return
		}
	}
}

// say replaces what the run is said to be doing.
func (p *progress) say(report string) {
	p.mu.Lock()
	news := report != p.said
	if news {
		p.said, p.report = report, report
	}
	p.mu.Unlock()
	if news {
		p.signal()
	}
}

// end closes the progress; it does not wait.
func (p *progress) end(final string) {
	p.mu.Lock()
	p.ended, p.final = true, final
	p.mu.Unlock()
	p.signal()
}

func (p *progress) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}
