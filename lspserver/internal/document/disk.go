package document

import (
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// diskState relates a buffer to its file. A buffer without unsaved edits must
// not give an old text after a command or a checkout changed the file: editors
// take a moment to reload it, and some never do.
type diskState struct {
	// base is the last text that buffer and file are known to have had in
	// common; valid once known. A file in another encoding, or a buffer opened
	// with edits of an earlier sitting, has none and is never stale.
	base  string
	known bool
	// wanted is the text that the editor opened or saved, not compared yet.
	wanted  string
	pending bool
	// at is the file at that moment, or when it was last read.
	at      stamp
	differs bool // the file then held another text than base
}

// stamp tells two states of a file apart without reading it.
type stamp struct {
	info fs.FileInfo // nil: no such file
	seen time.Time
}

func stampOf(path string) stamp {
	now := time.Now()
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return stamp{seen: now}
	}
	return stamp{info, now}
}

// same says that it looks like the same state of the file.
func (a stamp) same(b stamp) bool {
	if a.info == nil || b.info == nil {
		return a.info == nil && b.info == nil
	}
	return os.SameFile(a.info, b.info) && a.info.Size() == b.info.Size() && a.info.ModTime().Equal(b.info.ModTime())
}

// settled says that a later write will show in the stamp: a file written
// within the clock's granularity of the look may be written again unseen.
func (a stamp) settled() bool {
	const granularity = 20 * time.Millisecond
	return a.info == nil || a.seen.Sub(a.info.ModTime()) > granularity
}

// fits says that the file had the size of content, with or without a byte
// order mark.
func (a stamp) fits(content string) bool {
	return a.info != nil && (a.info.Size() == int64(len(content)) || a.info.Size() == int64(len(content)+len(bom)))
}

// sync notes that the editor opened or saved content. Only the file's stamp is
// taken now, on the connection's reader; look compares.
func (d *diskState) sync(path, content string) {
	*d = diskState{wanted: content, pending: true, at: stampOf(path)}
}

// look brings d up to date for a buffer that holds content now. It reads the
// file only where it changed since the last look.
func (d *diskState) look(path, content string) {
	now := stampOf(path)
	if !d.pending && d.at.same(now) && d.at.settled() {
		return
	}
	file, readable := readText(path, now)
	if d.pending {
		// If it was written since, its old size is what is left to tell by.
		d.known = readable && file == d.wanted || !d.at.same(now) && d.at.fits(d.wanted)
		d.base, d.wanted, d.pending = d.wanted, "", false
	}
	if readable && file == content {
		d.base, d.known = content, true // reloaded by the editor, or written by it
	}
	if !d.known {
		d.base = ""
	}
	// A file that cannot be read tells nothing; one that is gone does.
	d.differs = d.known && (now.info == nil || readable && file != d.base)
	d.at = now
}

const bom = "\uFEFF"

// readText is the file's text without its byte order mark.
func readText(path string, st stamp) (string, bool) {
	// A buffer is compared with its file; what no editor opens as text needs
	// no comparison.
	const limit = 64 << 20
	if st.info == nil || st.info.Size() > limit {
		return "", false
	}
	// It may have become a FIFO since, which would block.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	var b strings.Builder
	b.Grow(int(st.info.Size()))
	if _, err := io.Copy(&b, io.LimitReader(f, limit+1)); err != nil {
		return "", false
	}
	return strings.TrimPrefix(b.String(), bom), true
}

// Disk is how a buffer stands to its file.
type Disk int

const (
	// NotOpen: no buffer, the file is the truth.
	NotOpen Disk = iota
	// Clean: the buffer is what the file holds.
	Clean
	// Dirty: the buffer has text of its own, and is the truth.
	Dirty
	// Stale: the buffer has no unsaved edits and the file has another text by
	// now. The file is the truth, and edits must wait until the editor reloads.
	Stale
)

func (d Disk) String() string { return [...]string{"not open", "clean", "dirty", "stale"}[d] }

// Disk looks at the file of an open document.
func (s *Store) Disk(path string) (Snapshot, Disk) {
	// Files are read with the store unlocked, one at a time.
	s.looking.Lock()
	defer s.looking.Unlock()
	for {
		s.mu.RLock()
		d := s.at(path)
		if d == nil {
			s.mu.RUnlock()
			return Snapshot{}, NotOpen
		}
		snap, state, synced := d.Snapshot, d.disk, d.synced
		s.mu.RUnlock()

		state.look(path, snap.Doc.String())
		saved := state.known && snap.Doc.String() == state.base

		s.mu.Lock()
		current := d.synced == synced
		if current {
			d.disk = state
			if d.Doc == snap.Doc {
				d.edited = !saved
			}
		}
		s.mu.Unlock()
		switch {
		case !current: // opened anew or saved meanwhile
			continue
		case !saved:
			return snap, Dirty
		case state.differs:
			return snap, Stale
		}
		return snap, Clean
	}
}

// Buffer is the text of an open document where that is the truth: a stale one
// is as good as closed.
func (s *Store) Buffer(path string) (content string, ok bool) {
	snap, disk := s.Disk(path)
	if disk == NotOpen || disk == Stale {
		return "", false
	}
	return snap.Doc.String(), true
}
