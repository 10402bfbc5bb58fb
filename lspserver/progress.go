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
// One goroutine does the asking and reporting: an editor that does not answer
// the create request holds up nothing but its own progress bar. The end is
// queued by end itself, so that it is ahead of whatever is sent after the run.
type progress struct {
	s     *server
	token json.RawMessage
	title string

	wake chan struct{} // capacity 1: there is something to report
	over chan struct{} // closed by end

	mu     sync.Mutex
	begun  bool
	ended  bool
	final  string
	said   string // the newest report, told or not
	report string // what is still to be told
}

// createWithin is how long after a run's end the client may still answer that
// it takes the run's progress.
const createWithin = 2 * time.Second

// startProgress begins a progress under token, or under one that the client
// is asked to create when token is nil.
func (s *server) startProgress(token json.RawMessage, runID, title string) *progress {
	p := &progress{s: s, token: token, title: title, wake: make(chan struct{}, 1), over: make(chan struct{})}
	if token != nil {
		p.begin()
	} else {
		p.token = mustMarshal("agentls-" + runID)
	}
	s.goroutines.Go(func() {
		if token != nil || p.create() {
			p.begin()
			p.talk()
		}
	})
	return p
}

// create asks the client for the progress and reports whether it may be used.
func (p *progress) create() bool {
	ctx, cancel := context.WithCancel(p.s.life)
	defer cancel()
	created := make(chan error, 1)
	p.s.goroutines.Go(func() {
		created <- p.s.conn.Call(ctx, protocol.MethodWindowWorkDoneProgressCreate, map[string]any{"token": p.token}, nil)
	})
	select {
	case err := <-created:
		return err == nil
	case <-ctx.Done():
		return false
	case <-p.over:
	}
	late := time.NewTimer(createWithin)
	defer late.Stop()
	select {
	case err := <-created:
		return err == nil
	case <-late.C:
	case <-ctx.Done():
	}
	return false
}

// begin is no more than once, and brings the end along where the run has ended.
func (p *progress) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun {
		return
	}
	p.begun = true
	p.send(protocol.WorkDoneProgressBegin{Kind: "begin", Title: "agentls: " + p.title, Cancellable: new(true)})
	if p.ended {
		p.send(protocol.WorkDoneProgressEnd{Kind: "end", Message: &p.final})
	}
}

// talk sends reports, as fast as the client takes them.
func (p *progress) talk() {
	for {
		select {
		case <-p.wake:
		case <-p.over:
			return
		case <-p.s.life.Done():
			return
		}
		if p.s.conn.WaitRoom(p.s.life) != nil {
			return
		}
		p.mu.Lock()
		if report := p.report; report != "" && !p.ended {
			p.send(protocol.WorkDoneProgressReport{Kind: "report", Cancellable: new(true), Message: &report})
		}
		p.report = ""
		p.mu.Unlock()
	}
}

// say replaces what the run is said to be doing.
func (p *progress) say(report string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if report == p.said || p.ended {
		return
	}
	p.said, p.report = report, report
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// end closes the progress.
func (p *progress) end(final string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.ended, p.final = true, final
	close(p.over)
	if p.begun {
		p.send(protocol.WorkDoneProgressEnd{Kind: "end", Message: &final})
	}
}

// send queues a value without waiting.
func (p *progress) send(value any) {
	params := mustMarshal(map[string]any{"token": p.token, "value": value})
	if err := p.s.conn.Push(protocol.MethodProgress, params); err != nil {
		p.s.log.Debug("progress not sent", "err", err)
	}
}
