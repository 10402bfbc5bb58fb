package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Entry is something in a folder.
type Entry struct {
	// Path is where it is. For a link that is the link itself, not its target.
	Path string
	// Rel is Path below where the walk or the listing started, slash-separated;
	// "." is the start itself.
	Rel string
	// Type holds the type bits: fs.ModeDir, fs.ModeSymlink, 0 for a file.
	Type fs.FileMode
	// Ignored: git ignores it. A walk meets none but what it starts at.
	Ignored bool
}

// WalkStats counts what a walk left out.
type WalkStats struct {
	Ignored    int // files and folders; one ignored folder counts once
	Unreadable int // folders that could not be read, or were too deep
}

// maxDepth bounds how deep a walk goes below its start.
const maxDepth = 256

// readChunk is how many entries are read before a walk looks at its context.
const readChunk = 2048

// Walk calls fn for what lies at and below each of the starts, which are paths
// of files or folders, in their order; below each in the order of Compare.
// Ignored folders are not even opened, unless they are a start; links are
// reported and not followed. A start that lies below another one is walked
// once, as itself. fn may return fs.SkipDir and fs.SkipAll; another error of
// its ends the walk and is returned, as is the end of ctx.
func (w *Workspace) Walk(ctx context.Context, starts []string, fn func(Entry) error) (WalkStats, error) {
	k := &walk{w: w, ctx: ctx, fn: fn, starts: starts}
	rules := w.rules()
	for _, start := range starts {
		err := k.from(start, rules)
		if errors.Is(err, fs.SkipAll) {
			break
		}
		if err != nil {
			return k.stats, err
		}
	}
	return k.stats, nil
}

type walk struct {
	w      *Workspace
	ctx    context.Context
	fn     func(Entry) error
	starts []string
	stats  WalkStats

	root  *os.Root // of the folder that the current start lies in
	home  *folder
	start string
}

func (k *walk) from(start string, rules *rules) error {
	home, rel, err := k.w.locate(start)
	if err != nil {
		return err
	}
	if k.root, err = home.root(); err != nil {
		return err
	}
	k.home, k.start = home, start
	info, err := k.root.Lstat(rel)
	if err != nil {
		return k.w.accessError(start, err)
	}
	err = k.fn(Entry{start, ".", info.Mode().Type(), rules.ignored(start, info.IsDir())})
	if err != nil || !info.IsDir() {
		if errors.Is(err, fs.SkipDir) {
			return nil
		}
		return err
	}
	list, err := k.read(start)
	if err != nil {
		return k.w.accessError(start, err)
	}
	return k.entries(start, list, rules.named(start), 0)
}

// read lists a folder, sorted.
func (k *walk) read(dir string) ([]fs.DirEntry, error) {
	f, err := k.root.Open(k.home.rel(dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []fs.DirEntry
	for {
		if err := k.ctx.Err(); err != nil {
			return nil, err
		}
		chunk, err := f.ReadDir(readChunk)
		list = append(list, chunk...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// entries reports what a folder holds. s is the scope of the folder, which
// has its own ignore file in it.
func (k *walk) entries(dir string, list []fs.DirEntry, s scope, depth int) error {
	for _, d := range list {
		if err := k.ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, d.Name())
		if s.decide(path, d.IsDir()) {
			k.stats.Ignored++
			continue
		}
		if d.IsDir() && (slices.Contains(k.starts, path) || pseudo(path)) {
			continue
		}
		err := k.fn(Entry{path, relSlash(k.start, path), d.Type(), false})
		if err == nil && d.IsDir() {
			err = k.descend(path, s, depth+1)
		}
		if err != nil && !errors.Is(err, fs.SkipDir) {
			return err
		}
		if err != nil && !d.IsDir() {
			return nil // SkipDir for a file: the rest of its folder
		}
	}
	return nil
}

func (k *walk) descend(dir string, s scope, depth int) error {
	if depth > maxDepth {
		k.stats.Unreadable++
		return nil
	}
	list, err := k.read(dir)
	if err := k.ctx.Err(); err != nil {
		return err
	}
	if err != nil {
		k.stats.Unreadable++
		return nil
	}
	return k.entries(dir, list, s.below(dir, holds(list, ignoreFile), holds(list, gitFolder)), depth)
}

// ReadDir lists a folder, sorted by name, with what git ignores marked.
func (w *Workspace) ReadDir(ctx context.Context, path string) ([]Entry, error) {
	home, _, err := w.locate(path)
	if err != nil {
		return nil, err
	}
	k := &walk{w: w, ctx: ctx, home: home}
	if k.root, err = home.root(); err != nil {
		return nil, err
	}
	info, err := w.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &SpellingError{w.Display(path), "is a file, not a folder"}
	}
	list, err := k.read(path)
	if err != nil {
		return nil, w.accessError(path, err)
	}
	s := w.rules().of(path)
	entries := make([]Entry, 0, len(list))
	for _, d := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := filepath.Join(path, d.Name())
		entries = append(entries, Entry{p, d.Name(), d.Type(), s.decide(p, d.IsDir())})
	}
	return entries, nil
}

// holds says whether a sorted listing has a name.
func holds(list []fs.DirEntry, name string) bool {
	_, ok := slices.BinarySearchFunc(list, name, func(d fs.DirEntry, name string) int { return strings.Compare(d.Name(), name) })
	return ok
}

// pseudo says whether a folder holds a view of the running system.
func pseudo(path string) bool {
	return runtime.GOOS != "windows" && (path == "/proc" || path == "/sys" || path == "/dev" || path == "/run")
}

// Rel is where a path lies at or below another, slash-separated, "." at it; ok
// is false where it lies elsewhere.
func Rel(dir, path string) (rel string, ok bool) {
	if !within(path, dir) {
		return "", false
	}
	return relSlash(dir, path), true
}

// Compare orders paths, or relative ones, as a walk meets them: part by part.
func Compare(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		x, y := a[i], b[i]
		switch {
		case os.IsPathSeparator(x):
			return -1
		case os.IsPathSeparator(y):
			return 1
		case x < y:
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}
