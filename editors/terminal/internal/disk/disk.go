// Package disk applies workspace edits to the files below one folder, as an
// editor does that has none of them open: byte for byte, all of an edit or
// nothing.
//
// The terminal client calls it for each workspace/applyEdit, one at a time. It
// trusts the edit no further than the folder: names are resolved and every
// file is reached through an os.Root. What it cannot do exactly it refuses
// with a reason, such as text edits to a file that is not UTF-8.
//
//	folder, err := disk.Open(dir)
//	…
//	if err := folder.Apply(params.Edit, text.UTF8); err != nil {
//		// *disk.Refusal: nothing was changed
//	}
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/tools/text"
)

// Folder is a folder whose files may be changed. It is not safe for
// concurrent use.
type Folder struct {
	root  *os.Root
	given string // as the caller spelled it, absolute
	real  string // with links resolved
}

// Open opens a folder. Its path may lead through links.
func Open(path string) (*Folder, error) {
	given, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	return &Folder{root: root, given: given, real: real}, nil
}

// Path returns the folder's absolute path, as it was given.
func (f *Folder) Path() string { return f.given }

// Close gives the folder back to the system.
func (f *Folder) Close() error { return f.root.Close() }

// Refusal tells why an edit was not applied. Nothing was changed.
type Refusal struct {
	// Change is the index in documentChanges, or the position of the file in
	// the sorted changes.
	Change int
	Err    error
}

func (r *Refusal) Error() string { return r.Err.Error() }
func (r *Refusal) Unwrap() error { return r.Err }

// Apply makes all changes of an edit, in their order, or none. Positions count
// in enc. The error is a *Refusal, unless undoing failed too: then it says
// what is left changed.
func (f *Folder) Apply(edit protocol.WorkspaceEdit, enc text.Encoding) error {
	p := &plan{folder: f, enc: enc, files: map[string]*file{}}
	for i, change := range documentChanges(edit) {
		if err := p.add(change); err != nil {
			return &Refusal{Change: i, Err: err}
		}
	}
	return p.commit()
}

// documentChanges are the changes of an edit in one form and a fixed order.
func documentChanges(edit protocol.WorkspaceEdit) []protocol.DocumentChange {
	if edit.DocumentChanges != nil {
		return edit.DocumentChanges
	}
	var changes []protocol.DocumentChange
	for _, u := range slices.Sorted(maps.Keys(edit.Changes)) {
		c := &protocol.TextDocumentEdit{}
		c.TextDocument.URI = u
		for _, e := range edit.Changes[u] {
			c.Edits = append(c.Edits, &e)
		}
		changes = append(changes, c)
	}
	return changes
}

// name resolves a URI to a slash-free path relative to the folder, and refuses
// what is not a file below it. A link in the last place is followed only where
// its target is wanted.
func (f *Folder) name(u uri.URI, followLast bool) (string, error) {
	if !u.IsFile() || u.Authority() != "" && u.Authority() != "localhost" {
		return "", fmt.Errorf("%s is not a file of this machine", u)
	}
	if u.Query() != "" || u.Fragment() != "" {
		return "", fmt.Errorf("%s names more than a file", u)
	}
	path := filepath.Clean(uri.URI("file://" + escapedPath(u)).FsPath())
	rel, ok := below(f.given, path)
	if !ok {
		rel, ok = below(f.real, path)
	}
	if !ok {
		return "", fmt.Errorf("%s is outside %s", path, f.given)
	}
	resolved, err := resolve(filepath.Join(f.real, rel), followLast)
	if err != nil {
		return "", err
	}
	rel, ok = below(f.real, resolved)
	if !ok {
		return "", fmt.Errorf("%s leads outside %s", path, f.given)
	}
	return rel, nil
}

// escapedPath is the part of a file URI after its authority.
func escapedPath(u uri.URI) string {
	s := strings.TrimPrefix(string(u), "file://")
	if i := strings.IndexByte(s, '/'); i > 0 {
		return s[i:]
	}
	return s
}

// below returns path relative to dir where it is a name inside it.
func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && rel != "." && filepath.IsLocal(rel)
}

// resolve resolves the links in a path as far as it exists.
func resolve(path string, last bool) (string, error) {
	if last {
		resolved, err := filepath.EvalSymlinks(path)
		if err == nil {
			return resolved, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if _, err := os.Lstat(path); err == nil {
			return "", fmt.Errorf("%s is a link to nothing", path)
		}
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, nil
	}
	dir, err := resolve(dir, true)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}
