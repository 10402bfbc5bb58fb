package lsptest

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const bom = "\ufeff"

// document is a buffer of the editor.
type document struct {
	uri      string
	path     string // "" for what is no file
	language string
	version  int
	text     string
	// mark: the file begins with a byte order mark, which is no text.
	mark bool
	// hidden: the server was not told of it.
	hidden  bool
	history []string // texts before each change, for undo
}

// documents are the buffers. Their lock is held while a change of one is
// sent, so that versions go out in order; nobody holds the record's lock then.
type documents struct {
	mu  sync.Mutex
	all []*document
}

func (d *documents) init() {}

// byURI finds an open document by the exact URI it was opened with; d.mu is
// held.
func (d *documents) byURI(uri string) *document {
	for _, doc := range d.all {
		if doc.uri == uri {
			return doc
		}
	}
	return nil
}

// URI is the file URI of a path as VS Code spells it, but for drive letters.
func URI(path string) string {
	path = filepath.ToSlash(path)
	var b strings.Builder
	b.WriteString("file://")
	for i := range len(path) {
		c := path[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("/-._~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// pathOf is the file that a URI names; "" for other schemes.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return filepath.FromSlash(u.Path)
}

// Abs is the absolute path of a name relative to the first folder.
func (e *Editor) Abs(name string) string {
	if filepath.IsAbs(name) || len(e.opts.Folders) == 0 {
		return name
	}
	return filepath.Join(e.opts.Folders[0], filepath.FromSlash(name))
}

// find is the open document of a name: a path, or a URI. d.mu is held.
func (e *Editor) find(name string) *document {
	if doc := e.docs.byURI(name); doc != nil {
		return doc
	}
	abs := e.Abs(name)
	for _, doc := range e.docs.all {
		if doc.path == abs {
			return doc
		}
	}
	return nil
}

// change runs f on an open document under the lock; it fails the test if none
// is open.
func (e *Editor) change(name string, f func(*document)) {
	e.t.Helper()
	e.docs.mu.Lock()
	doc := e.find(name)
	if doc != nil {
		f(doc)
	}
	e.docs.mu.Unlock()
	if doc == nil {
		e.Fatalf("%s is not open", name)
	}
	e.record.poke()
}

// Open opens a file as it is on disk.
func (e *Editor) Open(name string) {
	e.t.Helper()
	e.OpenAs(URI(e.Abs(name)), name)
}

// OpenAs opens a file under a URI in a spelling of its own.
func (e *Editor) OpenAs(uri, name string) {
	e.t.Helper()
	b, err := os.ReadFile(e.Abs(name))
	if err != nil {
		e.Fatalf("open: %v", err)
	}
	text, mark := strings.CutPrefix(string(b), bom)
	e.opened(&document{uri: uri, path: e.Abs(name), text: text, mark: mark})
}

// OpenText opens a document with a text that nobody has saved. uri may be of
// any scheme.
func (e *Editor) OpenText(uri, text string) {
	e.t.Helper()
	e.opened(&document{uri: uri, path: pathOf(uri), text: text})
}

func (e *Editor) opened(doc *document) {
	e.t.Helper()
	e.docs.mu.Lock()
	err := e.didOpen(doc)
	e.docs.mu.Unlock()
	if err != nil {
		e.Fatalf("didOpen: %v", err)
	}
	e.record.poke()
}

// didOpen puts a document among the buffers and tells the server; docs.mu is
// held.
func (e *Editor) didOpen(doc *document) error {
	doc.version = 1
	if doc.language == "" {
		doc.language = languageOf(doc.uri)
	}
	e.docs.all = append(e.docs.all, doc)
	if doc.hidden {
		return nil
	}
	return e.send(map[string]any{"method": "textDocument/didOpen", "params": map[string]any{
		"textDocument": map[string]any{"uri": doc.uri, "languageId": doc.language, "version": doc.version, "text": doc.text},
	}})
}

func languageOf(uri string) string {
	switch filepath.Ext(uri) {
	case ".go":
		return "go"
	case ".md":
		return "markdown"
	case ".ts":
		return "typescript"
	case ".py":
		return "python"
	}
	return "plaintext"
}

// didChange changes a document by edits that are all ranges of its present
// text, and tells the server; docs.mu is held.
func (e *Editor) didChange(doc *document, edits []TextEdit) error {
	after, err := applyEdits(doc.text, edits, e.encoding)
	if err != nil {
		return err
	}
	doc.history = append(doc.history, doc.text)
	doc.text = after
	doc.version++
	if doc.hidden {
		return nil
	}
	// The changes of a notification build on each other: from the end they
	// can be sent with their ranges as they are.
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b TextEdit) int {
		if a.Range.Start.Line != b.Range.Start.Line {
			return b.Range.Start.Line - a.Range.Start.Line
		}
		return b.Range.Start.Character - a.Range.Start.Character
	})
	var changes []map[string]any
	for _, edit := range sorted {
		changes = append(changes, map[string]any{"range": edit.Range, "text": edit.NewText})
	}
	return e.sendChange(doc, changes)
}

func (e *Editor) sendChange(doc *document, changes []map[string]any) error {
	return e.send(map[string]any{"method": "textDocument/didChange", "params": map[string]any{
		"textDocument":   map[string]any{"uri": doc.uri, "version": doc.version},
		"contentChanges": changes,
	}})
}

// replace gives a document another text with one change of all of it; docs.mu
// is held.
func (e *Editor) replace(doc *document, text string) error {
	doc.history = append(doc.history, doc.text)
	doc.text = text
	doc.version++
	return e.sendChange(doc, []map[string]any{{"text": text}})
}

// Type replaces a range of an open document, as a person who types.
func (e *Editor) Type(name string, r Range, text string) {
	e.t.Helper()
	var err error
	e.change(name, func(doc *document) { err = e.didChange(doc, []TextEdit{{r, text}}) })
	if err != nil {
		e.Fatalf("type in %s: %v", name, err)
	}
}

// SetText replaces the whole text of an open document.
func (e *Editor) SetText(name, text string) {
	e.t.Helper()
	var err error
	e.change(name, func(doc *document) { err = e.replace(doc, text) })
	if err != nil {
		e.Fatalf("change %s: %v", name, err)
	}
}

// SetVersion makes the next change of a document come with the version after
// n, as in an editor that has counted before.
func (e *Editor) SetVersion(name string, n int) {
	e.t.Helper()
	e.change(name, func(doc *document) { doc.version = n })
}

// Undo takes the last change of a document back.
func (e *Editor) Undo(name string) {
	e.t.Helper()
	var err error
	e.change(name, func(doc *document) {
		if len(doc.history) == 0 {
			err = fmt.Errorf("nothing to undo")
			return
		}
		before := doc.history[len(doc.history)-1]
		err = e.replace(doc, before)
		doc.history = doc.history[:len(doc.history)-2]
	})
	if err != nil {
		e.Fatalf("undo in %s: %v", name, err)
	}
}

// Save writes an open document to disk.
func (e *Editor) Save(name string) {
	e.t.Helper()
	var err error
	e.change(name, func(doc *document) { err = e.save(doc) })
	if err != nil {
		e.Fatalf("save %s: %v", name, err)
	}
}

// save writes a document and tells the server; docs.mu is held.
func (e *Editor) save(doc *document) error {
	text := doc.text
	if doc.mark {
		text = bom + text
	}
	if err := e.disk.write(doc.path, text); err != nil {
		return err
	}
	if doc.hidden {
		return nil
	}
	return e.send(map[string]any{"method": "textDocument/didSave", "params": map[string]any{"textDocument": map[string]any{"uri": doc.uri}}})
}

// CloseFile closes a document; what was not saved is lost.
func (e *Editor) CloseFile(name string) {
	e.t.Helper()
	var err error
	e.change(name, func(doc *document) { err = e.didClose(doc) })
	if err != nil {
		e.Fatalf("close %s: %v", name, err)
	}
}

// didClose takes a document out of the buffers; docs.mu is held.
func (e *Editor) didClose(doc *document) error {
	e.docs.all = slices.DeleteFunc(e.docs.all, func(d *document) bool { return d == doc })
	if doc.hidden {
		return nil
	}
	return e.send(map[string]any{"method": "textDocument/didClose", "params": map[string]any{"textDocument": map[string]any{"uri": doc.uri}}})
}

// Buffer is the text of an open document.
func (e *Editor) Buffer(name string) (string, bool) {
	e.docs.mu.Lock()
	defer e.docs.mu.Unlock()
	doc := e.find(name)
	if doc == nil {
		return "", false
	}
	return doc.text, true
}

// Version is the version of an open document, 0 if it is not open.
func (e *Editor) Version(name string) int {
	e.docs.mu.Lock()
	defer e.docs.mu.Unlock()
	if doc := e.find(name); doc != nil {
		return doc.version
	}
	return 0
}

// Text is what the user has: the buffer, else the file on disk without its
// mark, else "" and false.
func (e *Editor) Text(name string) (string, bool) {
	if text, ok := e.Buffer(name); ok {
		return text, true
	}
	b, err := os.ReadFile(e.Abs(name))
	return strings.TrimPrefix(string(b), bom), err == nil
}
