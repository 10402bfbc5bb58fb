// Package document mirrors what the editor holds open: the text of each
// buffer as the editor's user sees it, its version, and the spelling of its
// URI. While a document is open this text is the truth and the file on disk
// is not (LSP 3.18, "Text Document Synchronization").
//
// The connection's reader calls Open, Change, Save, Close and Rename, in the
// order in which the notifications came; subscribers are called in that order,
// too, before the call returns. Everything else is for any goroutine. Texts
// are immutable: a Snapshot stays as it was while the editor goes on.
//
// A faulty notification never leaves the mirror undefined: it is taken as far
// as it makes sense, and the error is for the log.
//
//	docs := document.NewStore(text.UTF16, canonical)
//	docs.Open("file:///w/a.go", "go", 1, "package a\n")
//	snap, ok := docs.Get("/w/a.go")
package document

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agentls/agentls/tools/text"
)

// Snapshot is an open document at one moment.
type Snapshot struct {
	// URI is in the editor's spelling.
	URI string
	// Path is the canonical path of a file, empty for other documents.
	Path       string
	LanguageID string
	// Version is the editor's number; it starts over when a document is opened
	// again.
	Version int32
	Doc     *text.Document
}

// Kind is what happened to a document.
type Kind int

// The kinds of an Event.
const (
	Opened Kind = iota
	Changed
	Saved
	Closed
)

func (k Kind) String() string { return [...]string{"opened", "changed", "saved", "closed"}[k] }

// Event tells subscribers of one change. Snapshot is the document after it,
// of a closed one the last.
type Event struct {
	Kind Kind
	Snapshot
	// Hidden: the editor holds the file in another document, too, and that is
	// the one that Get gives.
	Hidden bool
}

// Store holds the open documents of one connection.
type Store struct {
	enc       text.Encoding
	canonical func(string) string

	looking sync.Mutex // held while Disk reads a file; taken before mu

	mu sync.RWMutex
	// byID has each open document under its identity, and one whose rename was
	// announced but not yet followed by close and open under both names.
	byID map[string]*open
	// byPath has the documents of a file: more than one where the editor
	// opened it through a link, too.
	byPath map[string][]*open
	// spelled remembers how the editor wrote the URI of a file it closed.
	spelled map[string]string
	folders []folder
	clock   uint64
	subs    []*subscriber
}

type folder struct{ uri, path string }

type subscriber struct{ f func(Event) }

// open is a document in the editor. The fields are guarded by Store.mu.
type open struct {
	Snapshot
	touched uint64 // Store.clock of the last notification
	edited  bool   // it has text that the file has not, as far as is known
	renamed bool   // and the editor has not opened it under its new name yet
	synced  uint64 // Store.clock when disk was last started over
	disk    diskState
}

// NewStore returns an empty store. canonical names a file the same whatever
// links lead to it, and must work for files that do not exist; nil only cleans
// the path.
func NewStore(enc text.Encoding, canonical func(path string) string) *Store {
	if canonical == nil {
		canonical = filepath.Clean
	}
	return &Store{
		enc:       enc,
		canonical: canonical,
		byID:      map[string]*open{},
		byPath:    map[string][]*open{},
		spelled:   map[string]string{},
	}
}

// Encoding is the connection's position encoding.
func (s *Store) Encoding() text.Encoding { return s.enc }

// SetFolders tells how the editor spells the workspace folders, for the URIs
// of files that it has not opened: a folder may be a link, or have an escaped
// drive letter.
func (s *Store) SetFolders(uris []string) {
	var fs []folder
	for _, uri := range uris {
		if p, err := PathOf(uri); err == nil {
			fs = append(fs, folder{strings.TrimRight(uri, "/"), s.canonical(p)})
		}
	}
	// The innermost folder of a file decides.
	slices.SortStableFunc(fs, func(a, b folder) int { return len(b.path) - len(a.path) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.folders = fs
}

// Subscribe calls f after every change, on the goroutine that notified; f must
// not wait for anything that the editor sends. The returned function ends it.
func (s *Store) Subscribe(f func(Event)) (cancel func()) {
	sub := &subscriber{f}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs = append(slices.Clip(s.subs), sub)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.subs = slices.DeleteFunc(slices.Clone(s.subs), func(x *subscriber) bool { return x == sub })
	}
}

// Open takes a didOpen. Opening what is open replaces it.
func (s *Store) Open(uri, languageID string, version int32, content string) error {
	id := identity(uri)
	d := &open{Snapshot: Snapshot{URI: uri, LanguageID: languageID, Version: version, Doc: text.New(content)}}
	var err error
	s.mu.Lock()
	if old := s.byID[id]; old != nil {
		if !old.renamed {
			err = fmt.Errorf("%s is opened while it is open", uri)
		}
		s.forget(old)
	}
	d.synced = s.clock + 1
	s.byID[id] = d
	s.list(d)
	s.publish(Opened, d)
	return err
}

// Change takes a didChange.
func (s *Store) Change(uri string, version int32, changes []Change) error {
	s.mu.Lock()
	d := s.byID[identity(uri)]
	if d == nil {
		s.mu.Unlock()
		return fmt.Errorf("%s is changed but not open", uri)
	}
	doc, err := apply(d.Doc, changes, s.enc)
	if version < d.Version {
		err = errors.Join(err, fmt.Errorf("version goes back from %d", d.Version))
	}
	d.Doc, d.Version, d.edited = doc, version, true
	s.publish(Changed, d)
	if err != nil {
		return fmt.Errorf("change of %s to version %d: %w", uri, version, err)
	}
	return nil
}

// Save takes a didSave. A text that comes with it is what was saved; it should
// be what the mirror has.
func (s *Store) Save(uri string, content *string) error {
	s.mu.Lock()
	d := s.byID[identity(uri)]
	if d == nil {
		s.mu.Unlock()
		return fmt.Errorf("%s is saved but not open", uri)
	}
	var err error
	if content != nil && *content != d.Doc.String() {
		err = fmt.Errorf("%s is saved with a text that its changes do not lead to", uri)
		d.Doc = text.New(*content)
	}
	d.edited = false
	if d.Path != "" {
		d.disk.sync(d.Path, d.Doc.String())
	}
	d.synced = s.clock + 1
	s.publish(Saved, d)
	return err
}

// Close takes a didClose: the disk is the truth again.
func (s *Store) Close(uri string) error {
	s.mu.Lock()
	d := s.byID[identity(uri)]
	if d == nil {
		s.mu.Unlock()
		return fmt.Errorf("%s is closed but not open", uri)
	}
	s.forget(d)
	s.publish(Closed, d)
	return nil
}

// Rename takes a rename of a file or folder that the editor did or is about to
// do. Editors close the old name and open the new one, before or after they
// tell of the rename; until then both names reach the document.
func (s *Store) Rename(oldURI, newURI string) {
	from, to := identity(oldURI), identity(newURI)
	s.mu.Lock()
	moving := map[string]*open{}
	for id, d := range s.byID {
		rest, ok := strings.CutPrefix(id, from)
		if ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) && s.byID[to+rest] == nil {
			moving[rest] = d
		}
	}
	var events []Event
	for rest, d := range moving {
		events = append(events, Event{Kind: Closed, Snapshot: d.Snapshot})
		s.unlist(d)
		d.URI = strings.TrimRight(newURI, "/") + escape(filepath.ToSlash(rest))
		s.list(d)
		s.byID[to+rest] = d
		s.clock++
		d.touched, d.synced, d.renamed = s.clock, s.clock, true
		events = append(events, Event{Kind: Opened, Snapshot: d.Snapshot, Hidden: s.hidden(d)})
	}
	subs := s.subs
	s.mu.Unlock()
	for _, e := range events {
		for _, sub := range subs {
			sub.f(e)
		}
	}
}

// forget drops d under all its names.
func (s *Store) forget(d *open) {
	for id, x := range s.byID {
		if x == d {
			delete(s.byID, id)
		}
	}
	s.unlist(d)
}

// list puts d under the path that its URI names, if any.
func (s *Store) list(d *open) {
	p, err := PathOf(d.URI)
	if err != nil {
		d.Path = ""
		return
	}
	d.Path = s.canonical(p)
	s.byPath[d.Path] = append(s.byPath[d.Path], d)
	s.spelled[d.Path] = d.URI
	d.disk.sync(d.Path, d.Doc.String())
}

func (s *Store) unlist(d *open) {
	rest := slices.DeleteFunc(s.byPath[d.Path], func(x *open) bool { return x == d })
	if len(rest) == 0 {
		delete(s.byPath, d.Path)
		return
	}
	s.byPath[d.Path] = rest
}

// publish ends a change of d: it releases the lock and tells the subscribers.
func (s *Store) publish(k Kind, d *open) {
	s.clock++
	d.touched = s.clock
	e, subs := Event{Kind: k, Snapshot: d.Snapshot, Hidden: s.hidden(d)}, s.subs
	s.mu.Unlock()
	for _, sub := range subs {
		sub.f(e)
	}
}

// Get is the open document of a canonical path. Where the editor holds the
// file in several documents it is the one with unsaved edits, else the one
// that it touched last.
func (s *Store) Get(path string) (Snapshot, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if d := s.at(path); d != nil {
		return d.Snapshot, true
	}
	return Snapshot{}, false
}

func (s *Store) at(path string) (best *open) {
	for _, d := range s.byPath[path] {
		if best == nil || d.edited && !best.edited || d.edited == best.edited && d.touched > best.touched {
			best = d
		}
	}
	return best
}

func (s *Store) hidden(d *open) bool {
	best := s.at(d.Path)
	return best != nil && best != d
}

// GetURI is the open document of a URI in any spelling.
func (s *Store) GetURI(uri string) (Snapshot, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if d := s.byID[identity(uri)]; d != nil {
		return d.Snapshot, true
	}
	return Snapshot{}, false
}

// Path is the canonical path of a file URI.
func (s *Store) Path(uri string) (string, error) {
	p, err := PathOf(uri)
	if err != nil {
		return "", err
	}
	return s.canonical(p), nil
}

// URI is how the editor spells the file of a canonical path: as it opened it,
// else below its spelling of the workspace folder.
func (s *Store) URI(path string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if d := s.at(path); d != nil {
		return d.URI
	}
	if uri, ok := s.spelled[path]; ok {
		return uri
	}
	for _, f := range s.folders {
		rest, ok := strings.CutPrefix(path, f.path)
		if ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(f.path, string(filepath.Separator))) {
			rest = strings.TrimLeft(filepath.ToSlash(rest), "/")
			if rest == "" {
				return f.uri
			}
			return f.uri + "/" + escape(rest)
		}
	}
	return URIOf(path)
}

// Buffers are the paths of the open files, sorted.
func (s *Store) Buffers() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	paths := make([]string, 0, len(s.byPath))
	for p := range s.byPath {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}
