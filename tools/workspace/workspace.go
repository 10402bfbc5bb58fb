// Package workspace is the user's files as the agent may see them: the open
// folders, a jail around them, the editor's unsaved text over the disk, and
// git's ignore rules. It reads and never writes.
//
// A file is known by its path: absolute, cleaned, free of links, spelled as
// on disk. Models and users write spellings ("./src//a.go", "app/src/a.go",
// "/home/me/app/src/a.go"); Resolve makes a path of a spelling and Display a
// spelling of a path. Everything else takes paths. A path is opened through
// the os.Root of its folder, so that a file swapped for a link after it was
// resolved still cannot lead out.
//
// The tools and the review of proposals are its callers. All methods may be
// called concurrently; none keeps a lock while it touches the disk for long.
//
//	ws, err := workspace.Open([]workspace.Folder{{Name: "app", Path: "/home/me/app"}}, buffers)
//	p, err := ws.Resolve("./src/a.go")
//	doc, err := ws.Base(p.Abs) // what the editor holds, else what is on disk
package workspace

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Folder is a folder that the user opened.
type Folder struct {
	// Name leads the spelling of its files where several folders are open.
	Name string
	// Path is absolute, as the editor spells it; it may be or hold a link.
	Path string
}

// Overlay is what the editor holds. Buffers are known by their files' paths,
// in the sense of the package comment; Canonical makes one.
type Overlay interface {
	// Buffer is the text of an open document, saved or not.
	Buffer(path string) (text string, ok bool)
	// Buffers are the paths of all open documents.
	Buffers() []string
}

// Workspace is the open folders. The zero value is not usable; see Open.
type Workspace struct {
	overlay Overlay

	mu      sync.RWMutex
	folders []*folder // in the editor's order; replaced, never changed
}

// Open makes a workspace of the folders, none or some. A folder that is not
// there yet, or is gone later, costs an error when it is used, not here.
// Overlay may be nil: no buffers then.
func Open(folders []Folder, o Overlay) (*Workspace, error) {
	if o == nil {
		o = noOverlay{}
	}
	w := &Workspace{overlay: o}
	if err := w.SetFolders(folders); err != nil {
		return nil, err
	}
	return w, nil
}

// SetFolders puts other folders in the place of those open now. One that stays
// keeps its name, whatever goes or comes before it; one that goes cannot be
// read any more, by calls under way either.
func (w *Workspace) SetFolders(folders []Folder) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var next []*folder
	taken := map[string]bool{}
	kept := map[*folder]bool{}
	for _, f := range folders {
		if !filepath.IsAbs(f.Path) || strings.ContainsRune(f.Path, 0) {
			return fmt.Errorf("workspace folder %s: its path is not absolute", quote(f.Path))
		}
		given := filepath.Clean(f.Path)
		real := Canonical(given)
		if byReal(next, real) != nil {
			continue // the same folder under two names
		}
		n := byReal(w.folders, real)
		if n == nil || n.wanted != f.Name {
			n = &folder{wanted: f.Name, given: given, real: real}
		} else {
			kept[n] = true
			taken[n.name] = true
		}
		next = append(next, n)
	}
	for _, n := range next {
		if n.name == "" {
			n.name = freeName(plainName(n.wanted, n.given), taken)
			taken[n.name] = true
		}
	}
	for _, f := range w.folders {
		if !kept[f] {
			f.close()
		}
	}
	w.folders = next
	return nil
}

// Folders are the open folders in the editor's order, with the names by which
// Resolve knows them and their paths as the editor spells them.
func (w *Workspace) Folders() []Folder {
	var list []Folder
	for _, f := range w.list() {
		list = append(list, Folder{f.name, f.given})
	}
	return list
}

// Roots are the open folders as paths, in the editor's order.
func (w *Workspace) Roots() []Path {
	var list []Path
	for _, f := range w.list() {
		list = append(list, Path{Folder: f.name, Rel: ".", Abs: f.real})
	}
	return list
}

// Close lets go of the folders.
func (w *Workspace) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.folders {
		f.close()
	}
	w.folders = nil
}

func (w *Workspace) list() []*folder {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.folders
}

// folderOf is the innermost open folder that holds a path, or nil.
func (w *Workspace) folderOf(abs string) *folder {
	var best *folder
	for _, f := range w.list() {
		if within(abs, f.real) && (best == nil || len(f.real) > len(best.real)) {
			best = f
		}
	}
	return best
}

// locate is the folder of a path and where the path lies in it.
func (w *Workspace) locate(abs string) (*folder, string, error) {
	f := w.folderOf(abs)
	if f == nil {
		return nil, "", &OutsideError{Spelling: abs}
	}
	return f, f.rel(abs), nil
}

func byReal(list []*folder, real string) *folder {
	for _, f := range list {
		if f.real == real {
			return f
		}
	}
	return nil
}

// plainName is a folder's name as one part of a path.
func plainName(name, given string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || hidden(r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(strings.TrimSpace(name), "-"))
	if name != "" && strings.Trim(name, ".-") != "" {
		return name
	}
	if base := path.Base(filepath.ToSlash(given)); base != "/" && base != "." && name == "" {
		return plainName(base, "")
	}
	return "root"
}

func freeName(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}

// within says whether abs is dir or lies below it. Both are canonical.
func within(abs, dir string) bool {
	rest, ok := strings.CutPrefix(abs, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || dir[len(dir)-1] == filepath.Separator)
}

type noOverlay struct{}

func (noOverlay) Buffer(string) (string, bool) { return "", false }
func (noOverlay) Buffers() []string            { return nil }
