package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// step is one thing done to the disk. do leaves everything as it was if it
// fails, and else tells how to undo it.
type step interface {
	do(root *os.Root) (undo func() error, err error)
	// finish removes what was kept for undo.
	finish(root *os.Root)
}

// commit does the steps. If one fails, those before it are undone.
func (p *plan) commit() error {
	var undos []func() error
	for _, s := range p.steps {
		undo, err := s.do(p.folder.root)
		if err != nil {
			for _, undo := range slices.Backward(undos) {
				if lost := undo(); lost != nil {
					return fmt.Errorf("%w; and part of the edit could not be undone: %w", err, lost)
				}
			}
			return &Refusal{Err: err}
		}
		undos = append(undos, undo)
	}
	for _, s := range p.steps {
		s.finish(p.folder.root)
	}
	return nil
}

// write gives a file new content by putting a whole new file in its place, so
// that no reader ever sees half of it. A new file gets the usual mode, an old
// one keeps its own.
type write struct {
	name     string
	content  []byte
	replaces bool
	old      []byte // what it replaces
}

func (w *write) do(root *os.Root) (func() error, error) {
	dirs, err := makeParents(root, w.name)
	if err != nil {
		return nil, err
	}
	undoDirs := func() error { return removeDirs(root, dirs) }
	if !w.replaces {
		if _, err := root.Lstat(w.name); err == nil {
			return nil, errors.Join(fmt.Errorf("%s has appeared meanwhile", w.name), undoDirs())
		}
	}
	if err := replace(root, w.name, w.content, w.replaces); err != nil {
		return nil, errors.Join(err, undoDirs())
	}
	return func() error {
		if w.replaces {
			return replace(root, w.name, w.old, true)
		}
		return errors.Join(root.Remove(w.name), undoDirs())
	}, nil
}

func (w *write) finish(*os.Root) {}

// replace writes a file beside its place and renames it there.
func replace(root *os.Root, name string, content []byte, keep bool) error {
	perm := fs.FileMode(0o666)
	if keep {
		perm = 0o600 // until it has the mode of what it replaces
	}
	f, temp, err := createBeside(root, name, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && keep {
		err = keepMode(root, name, f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// keepMode gives a new file the mode, and the owner where we may, of the old.
func keepMode(root *os.Root, name string, f *os.File) error {
	info, err := root.Stat(name)
	if err != nil {
		return err
	}
	keepOwner(f, info)
	return f.Chmod(info.Mode().Perm())
}

// createBeside creates a file under a name of its own in the folder of name.
func createBeside(root *os.Root, name string, perm fs.FileMode) (*os.File, string, error) {
	for {
		temp := beside(name)
		f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if !errors.Is(err, fs.ErrExist) {
			return f, temp, err
		}
	}
}

// beside is a hidden name in the same folder that nobody has.
func beside(name string) string {
	return filepath.Join(filepath.Dir(name), fmt.Sprintf(".agentls-%08x.tmp", rand.Uint32()))
}

// move renames a file. Nothing is at its target.
type move struct{ from, to string }

func (m *move) do(root *os.Root) (func() error, error) {
	dirs, err := makeParents(root, m.to)
	if err != nil {
		return nil, err
	}
	if _, err := root.Lstat(m.to); err == nil {
		return nil, errors.Join(fmt.Errorf("%s has appeared meanwhile", m.to), removeDirs(root, dirs))
	}
	if err := root.Rename(m.from, m.to); err != nil {
		return nil, errors.Join(err, removeDirs(root, dirs))
	}
	return func() error {
		return errors.Join(root.Rename(m.to, m.from), removeDirs(root, dirs))
	}, nil
}

func (m *move) finish(*os.Root) {}

// remove puts a file aside and, once all went well, deletes it.
type remove struct{ name, aside string }

func (r *remove) do(root *os.Root) (func() error, error) {
	r.aside = beside(r.name)
	if err := root.Rename(r.name, r.aside); err != nil {
		return nil, err
	}
	return func() error { return root.Rename(r.aside, r.name) }, nil
}

// A file that cannot be deleted now stays under its hidden name: the edit is
// done, and nothing is lost.
func (r *remove) finish(root *os.Root) { _ = root.Remove(r.aside) }

// makeParents makes the folders that a name needs and returns those it made,
// outermost first.
func makeParents(root *os.Root, name string) ([]string, error) {
	var missing []string
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if _, err := root.Stat(dir); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	for i, dir := range missing {
		if err := root.Mkdir(dir, 0o777); err != nil {
			return nil, errors.Join(err, removeDirs(root, missing[:i]))
		}
	}
	return missing, nil
}

func removeDirs(root *os.Root, dirs []string) error {
	for _, dir := range slices.Backward(dirs) {
		if err := root.Remove(dir); err != nil {
			return err
		}
	}
	return nil
}
