package review

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/tools/changeset"
)

const (
	// announceMoved is how long hunks that only moved wait to be announced: a
	// person types ten characters a second, and an event for each is noise.
	announceMoved = 150 * time.Millisecond
	// backlog is how many texts may wait to be merged. Beyond it the newer text
	// of a file takes the place of the one before.
	backlog = 64
)

// Session is a proposal that follows the documents.
type Session struct {
	Set *changeset.Set
	// Announce tells the client of the proposal as it is now.
	Announce func()
}

// Rebaser keeps proposals in step with the documents while hunks wait. Texts
// are merged in order on a goroutine of its own, which lives as long as there
// is something to do, so that reading never waits for a merge; who needs the
// proposal as it is after everything that was told calls Sync.
type Rebaser struct {
	source   changeset.Source
	sessions func() []Session
	log      *slog.Logger

	mu      sync.Mutex
	queue   []step
	working bool
	closed  bool
	moved   map[*changeset.Set]*time.Timer // announcements to come

	wg sync.WaitGroup // the worker and the timers
}

// step is one text of one file, or a call between two of them.
type step struct {
	path string
	text *string // nil: look it up
	then func()
}

// NewRebaser returns a Rebaser for the proposals that sessions gives at any
// time. source is what their documents come from.
func NewRebaser(source changeset.Source, sessions func() []Session, log *slog.Logger) *Rebaser {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Rebaser{source: source, sessions: sessions, log: log, moved: map[*changeset.Set]*time.Timer{}}
}

// Document takes a change of an open document; it is what document.Store's
// Subscribe wants.
func (r *Rebaser) Document(e document.Event) {
	switch {
	case e.Path == "":
	case !e.Hidden && (e.Kind == document.Opened || e.Kind == document.Changed):
		s := e.Doc.String()
		r.enqueue(step{path: e.Path, text: &s})
	default:
		r.Disk(e.Path)
	}
}

// Disk tells that a file may have changed on disk, or that the disk counts
// from now on.
func (r *Rebaser) Disk(path string) { r.enqueue(step{path: path}) }

// Sync returns when everything that was told before is in the proposals and
// the documents of set have been looked at.
func (r *Rebaser) Sync(ctx context.Context, set *changeset.Set) error {
	done := make(chan struct{})
	r.enqueue(step{then: func() {
		defer close(done)
		r.look(set)
	}})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close drops what waits and returns when nothing is under way any more. A
// Sync that waits returns.
func (r *Rebaser) Close() {
	r.mu.Lock()
	r.closed = true
	for set, t := range r.moved {
		if t.Stop() {
			r.wg.Done()
		}
		delete(r.moved, set)
	}
	r.mu.Unlock()
	r.wg.Wait()
}

func (r *Rebaser) enqueue(s step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.queue); n >= backlog && s.then == nil && r.queue[n-1].then == nil && r.queue[n-1].path == s.path {
		r.queue[n-1] = s
		return
	}
	r.queue = append(r.queue, s)
	if !r.working {
		r.working = true
		r.wg.Go(r.work)
	}
}

func (r *Rebaser) work() {
	for {
		r.mu.Lock()
		if len(r.queue) == 0 {
			r.queue, r.working = nil, false
			r.mu.Unlock()
			return
		}
		s := r.queue[0]
		r.queue[0] = step{}
		r.queue = r.queue[1:]
		closed := r.closed
		r.mu.Unlock()
		switch {
		case s.then != nil:
			s.then()
		case !closed:
			r.rebase(s)
		}
	}
}

// rebase merges one text into all proposals.
func (r *Rebaser) rebase(s step) {
	var d changeset.Doc
	if s.text != nil {
		info, err := os.Stat(s.path)
		d = changeset.Doc{Text: *s.text, Exists: err == nil && info.Mode().IsRegular(), Open: true}
	} else {
		var err error
		if d, err = r.source.Base(s.path); err != nil {
			// It is no text any more: what waits for it stays as it was, and
			// applying it will say why it cannot be.
			r.log.Debug("document not looked at", "path", s.path, "err", err)
			return
		}
	}
	for _, session := range r.sessions() {
		switch session.Set.Rebase(s.path, d) {
		case changeset.Altered:
			r.announce(session)
		case changeset.Shifted:
			r.announceSoon(session)
		}
	}
}

// look asks the source about all documents of one proposal.
func (r *Rebaser) look(set *changeset.Set) {
	r.mu.Lock()
	closed := r.closed
	r.mu.Unlock()
	if closed {
		return
	}
	before := set.Proposal().Revision
	set.Sync()
	if set.Proposal().Revision == before {
		return
	}
	for _, session := range r.sessions() {
		if session.Set == set {
			r.announce(session)
		}
	}
}

func (r *Rebaser) announce(s Session) {
	r.mu.Lock()
	if t := r.moved[s.Set]; t != nil && t.Stop() {
		r.wg.Done()
	}
	delete(r.moved, s.Set)
	r.mu.Unlock()
	s.Announce()
}

func (r *Rebaser) announceSoon(s Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.moved[s.Set] != nil {
		return
	}
	r.wg.Add(1)
	r.moved[s.Set] = time.AfterFunc(announceMoved, func() {
		defer r.wg.Done()
		r.mu.Lock()
		delete(r.moved, s.Set)
		r.mu.Unlock()
		s.Announce()
	})
}
