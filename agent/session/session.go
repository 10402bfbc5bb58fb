// Package session keeps sessions on disk: one file per session, a line per
// event or record, only ever appended to. The front end opens a Store on the
// state directory and gives its files to agent.New and agent.Restore as
// recorders; who reads the wire and who reads the file sees the same lines.
//
// A file is made with its first line, so a session that did nothing leaves
// nothing. Each line is one write(2) on a file opened for appending: a process
// that is killed tears at most its own last line, which is left out when the
// session is loaded, and the next line begins afresh. There is no fsync per
// event. It would cost a streamed answer a disk round trip per token, and
// guard only against a power cut, after which the file ends some seconds
// early at a whole line, or at one that is left out like any torn one.
//
// A file that is open for appending is locked against other servers. What is
// damaged is skipped, never rewritten; before anything is appended to a file
// with a damaged middle, a copy of it is put beside it.
//
// A Store is safe for concurrent use, and so is a File.
//
//	store := session.Open(dir)
//	s := agent.New(agent.Options{ID: id, Recorder: store.Create(id), …})
package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentls/agentls/agent"
)

// ErrNotFound is returned for a session that is not stored here.
var ErrNotFound = errors.New("no such session")

// ErrLocked is returned for a session that another server has open.
var ErrLocked = errors.New("the session is open in another server: close it there first")

const extension = ".jsonl"

// recordDamage says up to which byte of the file damage was told and copied.
const recordDamage = "_damage"

// Store is a directory of sessions.
type Store struct{ dir string }

// Open returns the store in a directory, which is made when it is needed.
func Open(dir string) *Store { return &Store{dir: dir} }

// path is the file of a session. Ids come from clients: what would leave the
// directory is not found.
func (s *Store) path(id string) (string, error) {
	if id == "" || len(id) > 128 || id[0] == '.' {
		return "", ErrNotFound
	}
	for _, c := range []byte(id) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.') {
			return "", ErrNotFound
		}
	}
	return filepath.Join(s.dir, id+extension), nil
}

// Create returns the file of a new session. Nothing is on disk before its
// first line.
func (s *Store) Create(id string) (*File, error) {
	path, err := s.path(id)
	if err != nil {
		return nil, fmt.Errorf("%q cannot be the name of a session", id)
	}
	return &File{path: path}, nil
}

// Loaded is a session as it was stored.
type Loaded struct {
	// File goes on where Records end. It is locked until it is closed.
	File    *File
	Records []agent.Record
	// Damage says for the user what could not be read; "" if all could, or if
	// it was told before.
	Damage string
}

// Load opens a session to go on with it. It writes nothing.
func (s *Store) Load(id string) (*Loaded, error) {
	path, err := s.path(id)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	unlock, err := lock(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		unlock()
		f.Close()
		return nil, fmt.Errorf("reading session %s: %w", id, err)
	}
	scan := parse(data)
	file := &File{path: path, f: f, unlock: unlock, size: int64(len(data))}
	file.mend = len(data) > 0 && (scan.torn || scan.damaged > 0)
	file.copy = scan.damaged > 0
	file.fresh = len(data) > 0 && data[len(data)-1] != '\n'
	return &Loaded{File: file, Records: scan.records, Damage: scan.tell(path)}, nil
}

// Delete removes a stored session, unless another server has it open.
func (s *Store) Delete(id string) error {
	path, err := s.path(id)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	unlock, err := lock(f)
	if err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	defer unlock()
	return os.Remove(path)
}

// scan is what a file holds.
type scan struct {
	records []agent.Record
	damaged int  // lines in the middle that are not known to be damaged yet
	torn    bool // the last line was cut off
}

func (s scan) tell(path string) string {
	switch {
	case s.damaged > 0:
		return fmt.Sprintf("%d lines of the stored session could not be read and are left out; the file is kept as %s", s.damaged, filepath.Base(path)+copySuffix)
	case s.torn:
		return "the last line of the stored session was cut off and is left out"
	}
	return ""
}

// parse reads the lines of a file. Records refer to data.
func parse(data []byte) (s scan) {
	for len(data) > 0 {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		r, err := parseLine(line)
		switch {
		case err == nil && r.Type == recordDamage:
			s.damaged, s.torn = 0, false // told by an earlier load
		case err == nil && r.Type != "":
			s.records = append(s.records, r)
		case err != nil && whole:
			s.damaged++
		case err != nil:
			s.torn = true
		}
		data = rest
	}
	return s
}

// parseLine reads one line; an empty one is a zero Record. Zero bytes before
// the text are what some file systems leave after a crash.
func parseLine(line []byte) (agent.Record, error) {
	line = bytes.TrimSpace(bytes.Trim(line, "\x00"))
	if len(line) == 0 {
		return agent.Record{}, nil
	}
	return agent.ParseRecord(line)
}
