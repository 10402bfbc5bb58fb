package workspace

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/agentls/agentls/tools/workspace/ignore"
)

const (
	gitFolder  = ".git"
	ignoreFile = ".gitignore"
)

// versionFolders are what version control keeps for itself. They are listed
// as ignored and never walked into unless a walk starts there.
var versionFolders = []string{gitFolder, ".hg", ".svn", ".jj"}

// scope is the ignore rules in force in a folder.
type scope struct {
	list *ignore.List
	top  string // the paths of list are relative to it
	fold bool
	// ignored: the folder itself is, and with it all below.
	ignored bool
}

// decide says whether an entry of the scope's folder is ignored.
func (s scope) decide(path string, dir bool) bool {
	if s.ignored || slices.Contains(versionFolders, filepath.Base(path)) {
		return true
	}
	return s.list.Decide(relSlash(s.top, path), dir) == ignore.Ignored
}

// below is the scope of a folder inside the scope's one. What the folder holds
// that matters is told by the caller, who has read it. A folder with a
// repository of its own is ruled by that one alone, as git has it.
func (s scope) below(dir string, hasIgnoreFile, hasGit bool) scope {
	if hasGit {
		if exclude, ok := repository(dir); ok {
			in := topScope(dir, true)
			in.list = in.list.Add("", exclude.parse(in.fold))
			in.ignored = s.ignored
			return in.read(dir, hasIgnoreFile)
		}
	}
	return s.read(dir, hasIgnoreFile)
}

// read adds the folder's own ignore file.
func (s scope) read(dir string, hasIgnoreFile bool) scope {
	if hasIgnoreFile && !s.ignored {
		base := relSlash(s.top, dir)
		if base == "." {
			base = ""
		}
		s.list = s.list.Add(base, ignoreText(filepath.Join(dir, ignoreFile), false).parse(s.fold))
	}
	return s
}

// topScope is a scope without rules that starts at a folder.
func topScope(dir string, isRepository bool) scope {
	probe := ignoreFile
	if isRepository {
		probe = gitFolder
	}
	return scope{top: dir, fold: foldsCase(dir, probe)}
}

// rules finds the scopes of folders. It remembers them, so that many paths are
// cheap; it is for one goroutine and one piece of work, since files change.
type rules struct {
	w    *Workspace
	memo map[string]scope
}

func (w *Workspace) rules() *rules { return &rules{w, map[string]scope{}} }

// of is the scope of a folder of the workspace.
func (r *rules) of(dir string) scope {
	if s, ok := r.memo[dir]; ok {
		return s
	}
	f := r.w.folderOf(dir)
	var s scope
	switch {
	case f == nil:
		s = scope{top: dir}
	case f.real == dir:
		s = r.ofFolder(dir)
	default:
		outer := r.of(filepath.Dir(dir))
		outer.ignored = outer.decide(dir, true)
		s = outer.below(dir, has(dir, ignoreFile), has(dir, gitFolder))
	}
	r.memo[dir] = s
	return s
}

// ofFolder is the scope of a workspace folder, which may lie inside a
// repository. One that the repository ignores was opened all the same, so its
// rules start anew.
func (r *rules) ofFolder(dir string) scope {
	chain := []string{dir}
	for !has(chain[0], gitFolder) {
		parent := filepath.Dir(chain[0])
		if parent == chain[0] {
			chain = []string{dir} // in no repository
			break
		}
		chain = append([]string{parent}, chain...)
	}
	s := topScope(chain[0], false)
	for i, d := range chain {
		if i > 0 && s.decide(d, true) {
			s = topScope(dir, false)
			d = dir
		}
		s = s.below(d, has(d, ignoreFile), has(d, gitFolder))
		if d == dir {
			break
		}
	}
	return s
}

// named is the scope of a folder that a walk starts at: what ignores the
// folder itself does not count, since it was asked for.
func (r *rules) named(dir string) scope {
	s := r.of(dir)
	if s.ignored || slices.Contains(versionFolders, filepath.Base(dir)) {
		s = topScope(dir, false).read(dir, has(dir, ignoreFile))
	}
	return s
}

// Ignored says whether git would ignore a path, by its own rules or those of a
// folder around it, or keeps it for itself. dir says that it is a folder. The
// index is not read: a file that was added in spite of the rules is ignored.
func (w *Workspace) Ignored(path string, dir bool) bool {
	return w.rules().ignored(path, dir)
}

func (r *rules) ignored(path string, dir bool) bool {
	if f := r.w.folderOf(path); f == nil || f.real == path {
		return false
	}
	return r.of(filepath.Dir(path)).decide(path, dir)
}

// text is what an ignore file holds.
type text []byte

func (t text) parse(fold bool) *ignore.Rules { return ignore.Parse(t, fold) }

// ignoreText reads an ignore file. Like git it takes no link in the work tree
// for one. Such files may lie outside the workspace, above it: their patterns
// act, their text is shown to no one.
func ignoreText(name string, follow bool) text {
	info, err := os.Lstat(name)
	if err == nil && follow {
		info, err = os.Stat(name)
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, ignore.MaxSize+1))
	if err != nil {
		return nil
	}
	return b
}

// repository says whether a folder is the top of a git work tree, and gives
// the text of its info/exclude.
func repository(top string) (exclude text, ok bool) {
	dir := filepath.Join(top, gitFolder)
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, false
	}
	if !info.IsDir() {
		// A worktree or a submodule names the place.
		target, ok := bytes.CutPrefix(ignoreText(dir, true), []byte("gitdir: "))
		if !ok {
			return nil, false
		}
		dir = rooted(top, target)
	}
	if !has(dir, "HEAD") {
		return nil, false
	}
	if common := ignoreText(filepath.Join(dir, "commondir"), true); common != nil {
		dir = rooted(dir, common)
	}
	return ignoreText(filepath.Join(dir, "info", "exclude"), true), true
}

// rooted is a file name from a file of git's, relative to a folder or not.
func rooted(dir string, name []byte) string {
	s := filepath.FromSlash(string(bytes.TrimRight(name, "\r\n")))
	if filepath.IsAbs(s) {
		return s
	}
	return filepath.Join(dir, s)
}

// foldsCase says whether a folder's file system finds an entry in other case.
func foldsCase(dir, name string) bool {
	info, err := os.Lstat(filepath.Join(dir, name))
	if err != nil {
		return false
	}
	other, err := os.Lstat(filepath.Join(dir, swapCase(name)))
	return err == nil && os.SameFile(info, other)
}

func has(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// relSlash is where path lies below dir, which holds it.
func relSlash(dir, path string) string {
	return (&folder{real: dir}).rel(path)
}
