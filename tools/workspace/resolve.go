package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Path is a place in the workspace, whether something is there or not.
type Path struct {
	Folder string // the name of the folder
	Rel    string // below the folder, slash-separated; "." is the folder itself
	Abs    string // the path, in the sense of the package comment
	// Link says that the spelling named a link, of which Abs is the target:
	// to delete or move Abs would not do that to what was named.
	Link bool
}

// Resolve takes a spelling: relative to its folder, with the folder's name in
// front where several are open, or absolute. With one folder open its name may
// lead too if that finds something and nothing in the folder has it; with
// several a path without a name is taken where only one folder can be meant,
// and in the first where it fits none.
//
// The errors are *OutsideError for whatever leads out, *AmbiguousError,
// *SpellingError for what names no file, and those of the file system.
func (w *Workspace) Resolve(spelling string) (Path, error) {
	if plain, ok := unescape(spelling); ok && plain != spelling && runtime.GOOS != "windows" {
		// Display's spelling of an odd name, unless it is a name as it stands.
		if p, err := w.resolve(plain); err == nil && w.exists(p.Abs) {
			return p, nil
		}
	}
	if err := w.check(spelling); err != nil {
		return Path{}, err
	}
	return w.resolve(spelling)
}

// uri matches spellings that are none: file:///a, untitled:Untitled-1.
var uri = regexp.MustCompile(`^(?i:[a-z][a-z0-9+.-]+://|untitled:|file:|data:|vscode-[a-z-]+:|agentls-proposal:)`)

var drive = regexp.MustCompile(`^[A-Za-z]:([/\\]|$)`)

// check refuses what cannot be a file of the workspace whatever is on disk.
func (w *Workspace) check(s string) error {
	first, _, _ := strings.Cut(s, "/")
	switch {
	case s == "":
		return &SpellingError{s, "is empty: name a file or folder"}
	case strings.ContainsRune(s, 0):
		return &SpellingError{s, "holds a NUL character"}
	case len(w.list()) == 0:
		return &OutsideError{s, "no folder is open"}
	case uri.MatchString(s):
		return &SpellingError{s, "is a URI: give the path of a file in the workspace"}
	case runtime.GOOS == "windows":
		if strings.Contains(s[len(filepath.VolumeName(s)):], ":") || filepath.VolumeName(s) != "" && !filepath.IsAbs(s) {
			return &SpellingError{s, "has a colon where Windows allows none"}
		}
		return nil
	case drive.MatchString(s) && !w.hasEntry(first):
		return &OutsideError{s, "it is a Windows path, and this is not Windows: give a path relative to the workspace folder"}
	case (first == "~" || s == "~") && !w.hasEntry("~"):
		return &OutsideError{s, "~ is not expanded"}
	}
	return nil
}

// hasEntry says whether some folder has an entry of the name.
func (w *Workspace) hasEntry(name string) bool {
	for _, f := range w.list() {
		if _, err := os.Lstat(f.abs(name)); err == nil {
			return true
		}
	}
	return false
}

func (w *Workspace) resolve(s string) (Path, error) {
	if filepath.IsAbs(s) {
		for _, f := range w.list() {
			// Through the root as the editor spells it, link or not.
			if within(s, f.given) {
				return w.in(f, s[len(f.given):], s)
			}
		}
		return w.in(nil, s, s)
	}
	folders := w.list()
	if len(folders) == 0 {
		return Path{}, &OutsideError{s, "no folder is open"}
	}
	name, rest := cutFirst(s)
	named := byName(folders, name)
	if len(folders) == 1 {
		p, err := w.in(folders[0], s, s)
		if err != nil || named == nil || w.exists(p.Abs) || w.hasEntry(name) {
			return p, err
		}
		if inner, err := w.in(named, rest, s); err == nil && w.exists(inner.Abs) {
			return inner, nil
		}
		return p, nil
	}
	if named != nil {
		return w.in(named, rest, s)
	}
	return w.unnamed(folders, s)
}

// unnamed resolves a relative spelling that lacks the name of its folder.
func (w *Workspace) unnamed(folders []*folder, s string) (Path, error) {
	if first, _ := cutFirst(s); first == "" {
		return Path{}, w.ambiguous(s, ".", folders)
	}
	// Where it is; else, for what is to be made, where its folder is.
	top, _ := cutFirst(s)
	for _, probe := range []string{s, top} {
		var found []*folder
		var at Path
		for _, f := range folders {
			if p, err := w.in(f, probe, s); err == nil && w.exists(p.Abs) {
				found, at = append(found, f), p
			}
		}
		switch {
		case len(found) > 1:
			return Path{}, w.ambiguous(s, s, found)
		case len(found) == 1 && probe == s:
			return at, nil
		case len(found) == 1:
			return w.in(found[0], s, s)
		}
	}
	return w.in(folders[0], s, s)
}

func (w *Workspace) ambiguous(spelling, rel string, in []*folder) error {
	err := &AmbiguousError{Spelling: spelling}
	for _, f := range in {
		err.Candidates = append(err.Candidates, quote(strings.TrimSuffix(f.name+"/"+strings.TrimPrefix(rel, "./"), "/.")))
	}
	return err
}

// in resolves a spelling that starts at a folder, or at the top of the file
// system where folder is nil. whole is the spelling for errors.
func (w *Workspace) in(f *folder, s, whole string) (Path, error) {
	dir := ""
	if f != nil {
		dir = f.real
		s = strings.TrimLeft(s, separators)
	}
	real, link, err := follow(dir, s)
	home := w.folderOf(real)
	switch {
	case errors.Is(err, errLinkLoop):
		return Path{}, &OutsideError{whole, err.Error()}
	case home == nil && f != nil && filepath.IsLocal(s):
		return Path{}, &OutsideError{whole, "it leads out through a link"}
	case home == nil:
		return Path{}, &OutsideError{Spelling: whole}
	case isNotDir(err):
		return Path{}, &SpellingError{whole, "leads through a file as if it were a folder"}
	case err != nil:
		return Path{}, fmt.Errorf("cannot look for %s: %w", quote(whole), plainCause(err))
	}
	return Path{Folder: home.name, Rel: home.rel(real), Abs: real, Link: link}, nil
}

// exists says whether the editor or the disk has something at a path.
func (w *Workspace) exists(abs string) bool {
	if _, ok := w.overlay.Buffer(abs); ok {
		return true
	}
	_, err := os.Lstat(abs)
	return err == nil
}

// separators are the bytes that part a spelling on this system.
var separators = func() string {
	if runtime.GOOS == "windows" {
		return `/\`
	}
	return "/"
}()

// cutFirst splits a relative spelling after its first part.
func cutFirst(s string) (first, rest string) {
	for {
		s = strings.TrimLeft(s, separators)
		i := strings.IndexAny(s, separators)
		if i < 0 {
			if s == "." {
				s = ""
			}
			return s, ""
		}
		if s[:i] != "." {
			return s[:i], s[i+1:]
		}
		s = s[i+1:]
	}
}

func byName(list []*folder, name string) *folder {
	for _, f := range list {
		if f.name == name || norm.NFC.String(f.name) == norm.NFC.String(name) {
			return f
		}
	}
	return nil
}

// plainCause is the reason of a file system error without the names in it.
func plainCause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
