package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// editor is the other side of a connection: buffers over a folder, and an
// applyEdit that is as strict as LSP lets one be. It loads closed files into
// hidden buffers as Neovim does, unless it is told to write them.
type editor struct {
	t    testing.TB
	dir  string
	docs *document.Store

	mu      sync.Mutex
	buffers map[string]*buffer // by URI
	asked   []applyEditParams  // each workspace/applyEdit
	saves   [][]string         // each agent/editor/save

	// answer stands in for what the editor does with an applyEdit; nil applies.
	answer func(ctx context.Context, p applyEditParams) (any, error)
	// saved stands in for agent/editor/save.
	saved func(p ext.SaveParams) (any, error)
	// writeClosed changes files that are not open on disk.
	writeClosed bool
}

type buffer struct {
	text    string
	version int32
}

func newEditor(t testing.TB, files map[string]string) *editor {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := &editor{t: t, dir: dir, buffers: map[string]*buffer{}}
	for name, content := range files {
		e.write(name, content)
	}
	e.docs = document.NewStore(text.UTF16, nil)
	return e
}

func (e *editor) path(name string) string { return filepath.Join(e.dir, filepath.FromSlash(name)) }
func (e *editor) uri(name string) string  { return document.URIOf(e.path(name)) }

// name is the file of a URI, relative to the folder.
func (e *editor) name(uri string) string {
	p, err := document.PathOf(uri)
	if err != nil {
		e.t.Errorf("the server names %s: %v", uri, err)
	}
	return filepath.ToSlash(strings.TrimPrefix(p, e.dir+string(filepath.Separator)))
}

func (e *editor) write(name, content string) {
	e.t.Helper()
	p := e.path(name)
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// onDisk is a file's content, "(none)" if there is no such file.
func (e *editor) onDisk(name string) string {
	b, err := os.ReadFile(e.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return "(none)"
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return string(b)
}

// text is what the user sees under a name.
func (e *editor) text(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.buffers[e.uri(name)]; b != nil {
		return b.text
	}
	return e.onDisk(name)
}

func (e *editor) open(name string, version int32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	content := e.onDisk(name)
	if content == "(none)" {
		content = ""
	}
	e.openLocked(e.uri(name), version, content)
}

func (e *editor) openLocked(uri string, version int32, content string) {
	e.buffers[uri] = &buffer{content, version}
	e.check(e.docs.Open(uri, "plain", version, content))
}

// typeAll types a whole new text into an open buffer.
func (e *editor) typeAll(name, content string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.typeLocked(e.uri(name), content)
}

func (e *editor) typeLocked(uri, content string) {
	b := e.buffers[uri]
	b.text, b.version = content, b.version+1
	e.check(e.docs.Change(uri, b.version, []document.Change{{Text: content}}))
}

// replace is one keystroke: it types over the first old.
func (e *editor) replace(name, old, new string) {
	e.typeAll(name, strings.Replace(e.text(name), old, new, 1))
}

func (e *editor) save(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	uri := e.uri(name)
	e.write(name, e.buffers[uri].text)
	e.check(e.docs.Save(uri, nil))
}

func (e *editor) close(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.buffers, e.uri(name))
	e.check(e.docs.Close(e.uri(name)))
}

func (e *editor) check(err error) {
	if err != nil {
		e.t.Errorf("the mirror complains: %v", err)
	}
}

// Base is the changeset's source: the buffer, else the disk.
func (e *editor) Base(path string) (changeset.Doc, error) {
	if s, ok := e.docs.Buffer(path); ok {
		_, err := os.Stat(path)
		return changeset.Doc{Text: s, Exists: err == nil, Open: true}, nil
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return changeset.Doc{}, nil
	}
	return changeset.Doc{Text: strings.TrimPrefix(string(b), "\uFEFF"), Exists: err == nil}, err
}

// Call implements Client.
func (e *editor) Call(ctx context.Context, method string, params, result any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	var answer any
	switch method {
	case "workspace/applyEdit":
		var p applyEditParams
		e.decode(raw, &p)
		e.mu.Lock()
		e.asked = append(e.asked, p)
		do := e.answer
		e.mu.Unlock()
		if do == nil {
			do = func(_ context.Context, p applyEditParams) (any, error) { return e.apply(p), nil }
		}
		if answer, err = do(ctx, p); err != nil {
			return err
		}
	case ext.MethodEditorSave:
		var p ext.SaveParams
		e.decode(raw, &p)
		e.saves = append(e.saves, p.URIs)
		if e.saved != nil {
			if answer, err = e.saved(p); err != nil {
				return err
			}
			break
		}
		for _, uri := range p.URIs {
			e.save(e.name(uri))
		}
		answer = ext.SaveResult{Saved: p.URIs}
	default:
		return fmt.Errorf("no such method: %s", method)
	}
	raw, err = json.Marshal(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

func (e *editor) decode(raw []byte, v any) {
	if err := json.Unmarshal(raw, v); err != nil {
		e.t.Errorf("the server sends %s: %v", raw, err)
	}
}

// UnmarshalJSON reads documentChanges back into the types they were made of.
func (w *workspaceEdit) UnmarshalJSON(b []byte) error {
	var raw struct {
		DocumentChanges []json.RawMessage
		Changes         map[string][]textEdit
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	w.Changes = raw.Changes
	for _, c := range raw.DocumentChanges {
		var kind struct{ Kind string }
		if err := json.Unmarshal(c, &kind); err != nil {
			return err
		}
		v, err := func() (any, error) {
			switch kind.Kind {
			case "create":
				return into[createFile](c)
			case "rename":
				return into[renameFile](c)
			case "delete":
				return into[deleteFile](c)
			}
			return into[textDocumentEdit](c)
		}()
		if err != nil {
			return err
		}
		w.DocumentChanges = append(w.DocumentChanges, v)
	}
	return nil
}

func into[T any](raw json.RawMessage) (v T, err error) {
	err = json.Unmarshal(raw, &v)
	return v, err
}

// apply does an edit as the user lets it through: all of it or, where a part is
// not right, nothing.
func (e *editor) apply(p applyEditParams) applyEditResult {
	if err := e.applyAll(p); err != nil {
		return applyEditResult{FailureReason: err.Error()}
	}
	return applyEditResult{Applied: true}
}

func (e *editor) applyAll(p applyEditParams) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range p.Edit.DocumentChanges {
		if d, ok := c.(textDocumentEdit); ok {
			b := e.buffers[d.TextDocument.URI]
			if b != nil && (d.TextDocument.Version == nil || *d.TextDocument.Version != b.version) {
				return fmt.Errorf("%s is at version %d", e.name(d.TextDocument.URI), b.version)
			}
			if b == nil && d.TextDocument.Version != nil {
				return fmt.Errorf("%s is not open", e.name(d.TextDocument.URI))
			}
		}
	}
	for _, c := range p.Edit.DocumentChanges {
		if err := e.step(c); err != nil {
			return err
		}
	}
	for uri, edits := range p.Edit.Changes {
		if err := e.edit(uri, edits); err != nil {
			return err
		}
	}
	return nil
}

func (e *editor) step(c any) error {
	switch c := c.(type) {
	case createFile:
		if e.exists(c.URI) {
			return fmt.Errorf("%s exists", e.name(c.URI))
		}
		e.write(e.name(c.URI), "")
	case renameFile:
		if !e.exists(c.OldURI) || e.exists(c.NewURI) {
			return fmt.Errorf("cannot rename %s to %s", e.name(c.OldURI), e.name(c.NewURI))
		}
		e.write(e.name(c.NewURI), "")
		if err := os.Rename(e.path(e.name(c.OldURI)), e.path(e.name(c.NewURI))); err != nil {
			return err
		}
		if b := e.buffers[c.OldURI]; b != nil {
			delete(e.buffers, c.OldURI)
			e.check(e.docs.Close(c.OldURI))
			e.openLocked(c.NewURI, 1, b.text)
		}
	case deleteFile:
		if !e.exists(c.URI) {
			return fmt.Errorf("%s does not exist", e.name(c.URI))
		}
		if e.buffers[c.URI] != nil {
			delete(e.buffers, c.URI)
			e.check(e.docs.Close(c.URI))
		}
		return os.Remove(e.path(e.name(c.URI)))
	case textDocumentEdit:
		return e.edit(c.TextDocument.URI, c.Edits)
	}
	return nil
}

func (e *editor) exists(uri string) bool { return e.onDisk(e.name(uri)) != "(none)" }

// edit refuses what LSP leaves undefined: ranges beyond the text, reversed or
// overlapping ones.
func (e *editor) edit(uri string, edits []textEdit) error {
	b := e.buffers[uri]
	name := e.name(uri)
	content := ""
	if b != nil {
		content = b.text
	} else if content = e.onDisk(name); content == "(none)" {
		return fmt.Errorf("%s does not exist", name)
	}
	d := text.New(content)
	var plain []text.Edit
	for _, one := range edits {
		start, ok1 := d.Offset(text.Position(one.Range.Start), text.UTF16)
		end, ok2 := d.Offset(text.Position(one.Range.End), text.UTF16)
		exact := rangeOf(d, start, end, text.UTF16) == one.Range
		if !ok1 || !ok2 || !exact || end < start {
			return fmt.Errorf("range %v does not fit %s", one.Range, name)
		}
		plain = append(plain, text.Edit{Start: start, End: end, New: one.NewText})
	}
	slices.SortStableFunc(plain, func(a, b text.Edit) int { return a.Start - b.Start })
	for i := 1; i < len(plain); i++ {
		if plain[i].Start < plain[i-1].End {
			return fmt.Errorf("edits of %s overlap", name)
		}
	}
	after := text.Apply(content, plain)
	switch {
	case b != nil:
		e.typeLocked(uri, after)
	case e.writeClosed:
		e.write(name, after)
	default:
		e.openLocked(uri, 0, content)
		e.typeLocked(uri, after)
	}
	return nil
}
