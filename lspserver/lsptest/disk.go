package lsptest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// disk does all that the editor does to files, and remembers what must be
// there: any other change was made by the server, which may make none.
type disk struct {
	folders []string

	mu   sync.Mutex
	want map[string]string // content by path, what is no file in brackets
}

func (d *disk) init(t testing.TB, folders []string) {
	d.folders = folders
	got, err := snapshot(folders)
	if err != nil {
		t.Fatalf("lsptest: %v", err)
	}
	d.want = got
}

// snapshot reads all that lies in some folders.
func snapshot(folders []string) (map[string]string, error) {
	got := map[string]string{}
	for _, top := range folders {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir():
				got[path] = "[folder]"
			case entry.Type()&fs.ModeSymlink != 0:
				target, err := os.Readlink(path)
				got[path] = "[link to " + target + "]"
				return err
			case entry.Type().IsRegular():
				b, err := os.ReadFile(path)
				got[path] = string(b)
				return err
			default:
				got[path] = "[special]"
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return got, nil
}

// note takes what is on disk now for what must be there.
func (d *disk) note() error {
	got, err := snapshot(d.folders)
	if err == nil {
		d.want = got
	}
	return err
}

// do changes the disk by f and takes the outcome for right. It first looks
// whether somebody else changed something.
func (d *disk) do(f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.compare(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return d.note()
}

func (d *disk) write(path, text string) error {
	return d.do(func() error {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(text), 0o644)
	})
}

func (d *disk) remove(path string) error {
	return d.do(func() error { return os.Remove(path) })
}

func (d *disk) rename(from, to string) error {
	return d.do(func() error {
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.Rename(from, to)
	})
}

// check says what is not as the editor left it.
func (d *disk) check() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.compare()
}

func (d *disk) compare() error {
	got, err := snapshot(d.folders)
	if err != nil {
		return err
	}
	for path, text := range got {
		want, ok := d.want[path]
		if !ok {
			return fmt.Errorf("%s is on disk, and the editor did not make it", path)
		}
		if want != text {
			return fmt.Errorf("%s was changed on disk, not by the editor: %.200q, it was %.200q", path, text, want)
		}
	}
	for path := range d.want {
		if _, ok := got[path]; !ok {
			return fmt.Errorf("%s is gone from disk, and the editor did not delete it", path)
		}
	}
	return nil
}

// WriteOutside changes a file as a program beside the editor does.
func (e *Editor) WriteOutside(name, text string) {
	e.t.Helper()
	if err := e.disk.write(e.Abs(name), text); err != nil {
		e.Fatalf("write %s: %v", name, err)
	}
}
