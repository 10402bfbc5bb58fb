package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// Buffer is the text of a path that is open in the editor.
func (w *Workspace) Buffer(path string) (string, bool) { return w.overlay.Buffer(path) }

// Buffers are the paths of all documents that the editor holds and that lie in
// the workspace, in order.
func (w *Workspace) Buffers() []string {
	var list []string
	for _, path := range w.overlay.Buffers() {
		if w.folderOf(path) != nil {
			list = append(list, path)
		}
	}
	slices.SortFunc(list, Compare)
	return list
}

// ReadFile is the bytes of a file on disk, *TooLargeError if they are more
// than limit.
func (w *Workspace) ReadFile(path string, limit int64) (string, error) {
	f, err := w.OpenFile(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", w.Display(path), plainCause(err))
	}
	if info.Size() > limit {
		return "", &TooLargeError{w.Display(path), info.Size(), limit}
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	// It may grow while it is read; files of /proc have no size at all.
	n, err := io.Copy(&b, io.LimitReader(f, limit+1))
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", w.Display(path), plainCause(err))
	}
	if n > limit {
		return "", &TooLargeError{w.Display(path), n, limit}
	}
	return b.String(), nil
}

// OpenFile opens a file on disk for reading, through the jail. Anything but a
// regular file is a *NotFileError and is not opened: a FIFO would block.
func (w *Workspace) OpenFile(path string) (*os.File, error) {
	folder, rel, err := w.locate(path)
	if err != nil {
		return nil, err
	}
	root, err := folder.root()
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(rel)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &NotFileError{w.Display(path), kindOf(info.Mode())}
	}
	var f *os.File
	if err == nil {
		// It may have become a FIFO since.
		f, err = root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err == nil {
		if info, err = f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, nil
		}
		f.Close()
		if err == nil {
			return nil, &NotFileError{w.Display(path), kindOf(info.Mode())}
		}
	}
	return nil, w.accessError(path, err)
}

// accessError tells what went wrong with a path; a link that was put there
// since it was resolved and leads out is outside.
func (w *Workspace) accessError(path string, err error) error {
	if real, _, ferr := follow("", path); ferr == nil && real != path && w.folderOf(real) == nil {
		return &OutsideError{w.Display(path), "it leads out through a link"}
	}
	if errors.Is(err, os.ErrClosed) {
		if _, _, err := w.locate(path); err != nil {
			return err
		}
	}
	return fmt.Errorf("cannot read %s: %w", w.Display(path), plainCause(err))
}

// Stat describes what is on disk at a path. For what is not there the error
// is fs.ErrNotExist.
func (w *Workspace) Stat(path string) (fs.FileInfo, error) {
	folder, rel, err := w.locate(path)
	if err != nil {
		return nil, err
	}
	root, err := folder.root()
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(rel)
	if err != nil {
		return nil, w.accessError(path, err)
	}
	return info, nil
}

// kindOf names what is no file.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeSymlink != 0:
		return "a link"
	}
	return "something special"
}
