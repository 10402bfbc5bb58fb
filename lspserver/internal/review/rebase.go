package review

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/tools/changeset"
)

// announceMoved is how long hunks that only moved wait to be announced: a
// person types ten characters a second, and an event for each is noise.
const announceMoved = 150 * time.Millisecond

// Session is a proposal that follows the documents.
type Session struct {
	Set *changeset.Set
	// Announce tells the client of the proposal as it is now. It may wait for
	// a client that does not read.
	Announce func()
}

// Rebaser keeps proposals in step with the documents while hunks wait. A text
// that the editor sends is merged as it is read: proposal and document are
// never apart, and no older text can come after a newer one. What may take
// time, files and announcements, is done on a goroutine of its own, which
// lives as long as there is something to do.
type Rebaser struct {
	sessions func() []Session
	source   changeset.Source
	log      *slog.Logger

	mu      sync.Mutex
	files   map[string]bool                // to be looked at on disk
	due     []Session                      // to be announced
	moved   map[*changeset.Set]*time.Timer // to be announced later
	working bool
	closed  bool
	// expected has the edits that an editor is being asked for, by path.
	expected map[*changeset.Set]map[string]changeset.FileEdit

	wg sync.WaitGroup // the worker and the timers
}

// NewRebaser returns a Rebaser for the proposals that sessions gives at any
// time. source is what their documents come from.
func NewRebaser(source changeset.Source, sessions func() []Session, log *slog.Logger) *Rebaser {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Rebaser{
		sessions: sessions,
		source:   source,
		log:      log,
		files:    map[string]bool{},
		moved:    map[*changeset.Set]*time.Timer{},
		expected: map[*changeset.Set]map[string]changeset.FileEdit{},
	}
}

// Document takes a change of an open document; it is what document.Store's
// Subscribe wants.
func (r *Rebaser) Document(e document.Event) {
	switch {
	case e.Path == "":
	case !e.Hidden && (e.Kind == document.Opened || e.Kind == document.Changed):
		info, err := os.Stat(e.Path)
		d := changeset.Doc{Text: e.Doc.String(), Exists: err == nil && info.Mode().IsRegular(), Open: true}
		for _, s := range r.sessions() {
			switch r.merge(s.Set, e.Path, d) {
			case changeset.Altered:
				r.log.Debug("a document altered a proposal", "path", e.Path, "version", e.Version)
				r.announce(s)
			case changeset.Shifted:
				r.announceSoon(s)
			}
		}
	default:
		r.Disk(e.Path)
	}
}

// Disk tells that a file may have changed on disk, or that the disk counts
// from now on.
func (r *Rebaser) Disk(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[path] = true
	r.wake()
}

// Sync looks at the documents of one proposal: after it, the proposal is that
// of the buffers and the disk as they are now. It must not be called on the
// connection's reader.
func (r *Rebaser) Sync(ctx context.Context, set *changeset.Set) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.sync(set)
	return nil
}

func (r *Rebaser) sync(set *changeset.Set) {
	if !r.look(set) {
		return
	}
	for _, s := range r.sessions() {
		if s.Set == set {
			r.announce(s)
		}
	}
}

// look reports whether it changed the proposal.
func (r *Rebaser) look(set *changeset.Set) bool {
	before := set.Proposal().Revision
	for _, path := range r.expecting(set) {
		if d, err := r.source.Base(path); err == nil && !d.Open {
			r.merge(set, path, d)
		}
	}
	set.Sync()
	return set.Proposal().Revision != before
}

// Close drops what waits and returns when nothing is under way any more.
func (r *Rebaser) Close() {
	r.mu.Lock()
	r.closed = true
	for set := range r.moved {
		r.drop(set)
	}
	r.mu.Unlock()
	r.wg.Wait()
}

// wake has the worker run. r.mu is held.
func (r *Rebaser) wake() {
	if !r.working && !r.closed {
		r.working = true
		r.wg.Go(r.work)
	}
}

func (r *Rebaser) work() {
	for {
		r.mu.Lock()
		files, due := r.files, r.due
		if r.closed || len(files) == 0 && len(due) == 0 {
			r.working = false
			r.mu.Unlock()
			return
		}
		r.files, r.due = map[string]bool{}, nil
		r.mu.Unlock()
		if len(files) > 0 {
			for _, s := range r.sessions() {
				if concerns(s.Set, files) && r.look(s.Set) {
					due = append(due, s)
				}
			}
		}
		for _, s := range due {
			s.Announce()
		}
	}
}

// concerns reports whether a proposal is about one of the files.
func concerns(set *changeset.Set, files map[string]bool) bool {
	return slices.ContainsFunc(set.Proposal().Files, func(f changeset.File) bool { return files[f.Path] || files[f.OldPath] })
}

func (r *Rebaser) announce(s Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(s.Set)
	if !slices.ContainsFunc(r.due, func(d Session) bool { return d.Set == s.Set }) {
		r.due = append(r.due, s)
	}
	r.wake()
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
		r.announce(s)
	})
}

// drop takes back an announcement to come. r.mu is held.
func (r *Rebaser) drop(set *changeset.Set) {
	if t := r.moved[set]; t != nil && t.Stop() {
		r.wg.Done()
	}
	delete(r.moved, set)
}
