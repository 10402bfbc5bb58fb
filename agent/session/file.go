package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// copySuffix names the copy of a damaged file.
const copySuffix = ".damaged"

// File is the file of one session. It implements agent.Recorder.
type File struct {
	path string

	mu     sync.Mutex
	f      *os.File // nil before the first line
	unlock func()
	closed bool
	size   int64  // bytes of whole lines, and what was there when it was loaded
	fresh  bool   // the last line has no end: the next one begins with it
	mend   bool   // damage has to be marked as told before the next line
	copy   bool   // a copy has to be made before the next line
	buf    []byte // of the last write
	write  func([]byte) (int, error)
}

// Record appends a line.
func (f *File) Record(line []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.open(); err != nil {
		return err
	}
	if f.copy {
		if err := f.keepDamaged(); err != nil {
			return fmt.Errorf("keeping a copy of the damaged session: %w", err)
		}
		f.copy = false
	}
	f.buf = f.buf[:0]
	if f.fresh {
		f.buf = append(f.buf, '\n')
	}
	if f.mend {
		f.buf = append(f.buf, `{"type":"`+recordDamage+`"}`+"\n"...)
	}
	f.buf = append(append(f.buf, line...), '\n')
	if err := f.append(f.buf); err != nil {
		return err
	}
	f.fresh, f.mend = false, false
	if cap(f.buf) > 1<<20 {
		f.buf = nil
	}
	return nil
}

// open makes the file where there is none yet.
func (f *File) open() error {
	if f.closed {
		return fmt.Errorf("session file: %w", fs.ErrClosed)
	}
	if f.f != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	unlock, err := lock(file)
	if err != nil {
		file.Close()
		return err
	}
	f.f, f.unlock = file, unlock
	return nil
}

// append writes in one call. What a full disk took of a line is taken back, so
// that the file ends at a whole one.
func (f *File) append(data []byte) error {
	write := f.write
	if write == nil {
		write = f.f.Write
	}
	n, err := write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err == nil {
		f.size += int64(n)
		return nil
	}
	if n > 0 && f.f.Truncate(f.size) != nil {
		f.size += int64(n)
		f.fresh = true
	}
	return err
}

// keepDamaged copies the file as it is beside itself.
func (f *File) keepDamaged() error {
	var to *os.File
	var err error
	for i := 1; i <= 100; i++ {
		name := f.path + copySuffix
		if i > 1 {
			name = fmt.Sprintf("%s-%d", name, i)
		}
		to, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.NewSectionReader(f.f, 0, f.size))
	return errors.Join(err, to.Close())
}

// Events returns the stored events with from <= seq < before.
func (f *File) Events(from, before int64) ([]json.RawMessage, error) {
	f.mu.Lock()
	file, size := f.f, f.size
	f.mu.Unlock()
	if file == nil || from >= before {
		return nil, nil
	}
	data, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	if err != nil {
		return nil, err
	}
	var events []json.RawMessage
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, recordPrefix) {
			continue
		}
		if r, err := parseLine(line); err == nil && r.Seq > 0 && r.Seq >= from && r.Seq < before {
			events = append(events, r.Line)
		}
	}
	return slices.Clip(events), nil
}

// recordPrefix is how the records begin that are no events.
var recordPrefix = []byte(`{"type":"_`)

// Close gives the file free for other servers.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if f.f == nil {
		return nil
	}
	f.unlock()
	return f.f.Close()
}
