package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// folder is an open workspace folder.
type folder struct {
	wanted string // the name the editor gave
	given  string // the path the editor gave
	real   string // the canonical path
	name   string // unique among the open folders; set before it is shared

	// The handle is opened when it is first needed, and again when another
	// folder has taken the path: a checkout that was deleted and made anew.
	mu     sync.Mutex
	handle *os.Root
	id     fs.FileInfo // of the folder behind handle
	closed bool
}

// root is the jail of the folder. It fails when the folder is gone from disk
// or from the workspace.
func (f *folder) root() (*os.Root, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, &GoneError{Folder: f.name, Closed: true}
	}
	now, err := os.Lstat(f.real)
	if err == nil && !now.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &GoneError{Folder: f.name, Err: err}
	}
	if f.handle != nil && os.SameFile(now, f.id) {
		return f.handle, nil
	}
	handle, err := os.OpenRoot(f.real)
	if err != nil {
		return nil, &GoneError{Folder: f.name, Err: err}
	}
	if f.handle != nil {
		f.handle.Close()
	}
	f.handle = handle
	f.id, err = handle.Stat(".")
	if err != nil {
		return nil, &GoneError{Folder: f.name, Err: err}
	}
	return handle, nil
}

func (f *folder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.handle != nil {
		f.handle.Close()
		f.handle = nil
	}
}

// rel is where a path lies in the folder that holds it, slash-separated, "."
// for the folder itself.
func (f *folder) rel(abs string) string {
	rest := strings.TrimLeft(strings.TrimPrefix(abs, f.real), string(filepath.Separator))
	if rest == "" {
		return "."
	}
	return filepath.ToSlash(rest)
}

// abs is the path of something in the folder, of which no part is a link.
func (f *folder) abs(rel string) string {
	return filepath.Join(f.real, filepath.FromSlash(rel))
}

// notThere says whether an error means that nothing is at a path. A folder
// that is gone is another matter: what was in it may be elsewhere.
func notThere(err error) bool {
	var gone *GoneError
	return (errors.Is(err, fs.ErrNotExist) || isNotDir(err)) && !errors.As(err, &gone)
}
