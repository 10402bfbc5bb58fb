package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// operation is one entry of a workspace edit: a file operation by its kind, or
// edits of one document.
type operation struct {
	Kind    string     `json:"kind"`
	URI     string     `json:"uri"`
	OldURI  string     `json:"oldUri"`
	NewURI  string     `json:"newUri"`
	Edits   []TextEdit `json:"edits"`
	Options struct {
		Overwrite         *bool `json:"overwrite"`
		IgnoreIfExists    *bool `json:"ignoreIfExists"`
		IgnoreIfNotExists *bool `json:"ignoreIfNotExists"`
		Recursive         *bool `json:"recursive"`
	} `json:"options"`
	TextDocument struct {
		URI string `json:"uri"`
		// Version is nil for null, which is not the same as a key that is
		// missing: see versioned.
		Version *int `json:"version"`
	} `json:"textDocument"`
	AnnotationID string `json:"annotationId"`
	versioned    bool
}

// workspaceEdit is what workspace/applyEdit asks for.
type workspaceEdit struct {
	operations []operation
	// changesOnly: it came as the map of changes, which has no versions.
	changesOnly bool
}

// parseEdit reads the params of workspace/applyEdit and takes down what no
// server may send.
func (e *Editor) parseEdit(raw json.RawMessage) (workspaceEdit, error) {
	var p struct {
		Metadata json.RawMessage `json:"metadata"`
		Edit     struct {
			Changes           map[string][]TextEdit `json:"changes"`
			DocumentChanges   []json.RawMessage     `json:"documentChanges"`
			ChangeAnnotations map[string]struct {
				NeedsConfirmation bool `json:"needsConfirmation"`
			} `json:"changeAnnotations"`
		} `json:"edit"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return workspaceEdit{}, err
	}
	if strings.Contains(string(p.Metadata), "isRefactoring") {
		e.record.breach("applyEdit with metadata.isRefactoring: VS Code saves such edits unasked")
	}
	for _, a := range p.Edit.ChangeAnnotations {
		if a.NeedsConfirmation {
			e.record.breach("applyEdit with needsConfirmation: editors may never answer it, or lie")
		}
	}
	var w workspaceEdit
	if len(p.Edit.DocumentChanges) == 0 {
		w.changesOnly = true
		for _, uri := range slices.Sorted(maps.Keys(p.Edit.Changes)) {
			var op operation
			op.TextDocument.URI, op.Edits, op.versioned = uri, p.Edit.Changes[uri], true
			w.operations = append(w.operations, op)
		}
		return w, nil
	}
	if !e.profile.DocumentChanges && len(e.profile.Operations) == 0 {
		e.record.breach("applyEdit with documentChanges, which this client did not announce")
	}
	for _, item := range p.Edit.DocumentChanges {
		var op operation
		if err := json.Unmarshal(item, &op); err != nil {
			return w, err
		}
		var keys struct {
			TextDocument map[string]json.RawMessage `json:"textDocument"`
		}
		if err := json.Unmarshal(item, &keys); err != nil {
			return w, err
		}
		_, op.versioned = keys.TextDocument["version"]
		if op.Kind != "" && !slices.Contains(e.profile.Operations, op.Kind) {
			e.record.breach("applyEdit with the operation %s, which this client did not announce", op.Kind)
		}
		w.operations = append(w.operations, op)
	}
	return w, nil
}

// applyResult is the answer to workspace/applyEdit.
type applyResult struct {
	Applied       bool   `json:"applied"`
	FailureReason string `json:"failureReason,omitempty"`
}

// Behave sets how the next edits are taken, one after the other; when all are
// used, edits are accepted.
func (e *Editor) Behave(bs ...Behaviour) {
	e.record.mu.Lock()
	defer e.record.mu.Unlock()
	e.record.behaviours = append(e.record.behaviours, bs...)
}

// ReleaseEdits lets the edits go on that wait because of Late and Later. There
// must be one, or be one soon: its frame may have come just now.
func (e *Editor) ReleaseEdits() {
	e.t.Helper()
	e.Await("an edit that waits", func() bool {
		e.record.mu.Lock()
		defer e.record.mu.Unlock()
		return len(e.record.gates) > 0
	})
	e.record.mu.Lock()
	defer e.record.mu.Unlock()
	for _, gate := range e.record.gates {
		close(gate)
	}
	e.record.gates = nil
}

func (e *Editor) nextBehaviour() Behaviour {
	e.record.mu.Lock()
	defer e.record.mu.Unlock()
	if len(e.record.behaviours) == 0 {
		return Behaviour{Kind: Accepts}
	}
	b := e.record.behaviours[0]
	e.record.behaviours = e.record.behaviours[1:]
	return b
}

// gate waits for ReleaseEdits.
func (e *Editor) gate() {
	gate := make(chan struct{})
	e.record.mu.Lock()
	e.record.gates = append(e.record.gates, gate)
	e.record.touch()
	e.record.mu.Unlock()
	select {
	case <-gate:
	case <-e.ctx.Done():
	}
}

// serveEdit takes workspace/applyEdit as the next behaviour says.
func (e *Editor) serveEdit(f Frame) {
	defer e.record.poke()
	w, err := e.parseEdit(f.Params)
	if err != nil {
		e.record.breach("applyEdit: %v", err)
		e.replyError(f, -32602, err.Error())
		return
	}
	switch b := e.nextBehaviour(); b.Kind {
	case Refuses:
		e.reply(f, applyResult{FailureReason: b.Text})
	case Lies:
		e.reply(f, applyResult{Applied: true})
	case Errors:
		e.replyError(f, -32601, "method not found")
	case Answers:
		e.reply(f, json.RawMessage(b.Text))
	case Silent:
	case Later:
		e.gate()
		e.applyAndReply(f, w, true)
	case Late:
		result, err := e.apply(w, true)
		e.gate()
		e.replyApplied(f, result, err)
	case Blurts:
		e.reply(f, applyResult{Applied: true})
		if _, err := e.apply(w, true); err != nil {
			e.record.breach("applyEdit: %v", err)
		}
	case Halves:
		w.operations = w.operations[:1]
		if edits := w.operations[0].Edits; len(edits) > 1 {
			w.operations[0].Edits = edits[:1]
		}
		e.applyAndReply(f, w, true)
	case Types:
		e.typeFirst(b)
		e.applyAndReply(f, w, true)
	case Blind:
		e.typeFirst(b)
		e.applyAndReply(f, w, false)
	case Formats:
		result, err := e.apply(w, true)
		e.format(w)
		e.replyApplied(f, result, err)
	default:
		e.applyAndReply(f, w, true)
	}
}

func (e *Editor) applyAndReply(f Frame, w workspaceEdit, versions bool) {
	result, err := e.apply(w, versions)
	e.replyApplied(f, result, err)
}

func (e *Editor) replyApplied(f Frame, result applyResult, err error) {
	if err != nil {
		e.replyError(f, -32603, err.Error())
		return
	}
	e.reply(f, result)
}

// typeFirst is the user, who types while an edit is on its way.
func (e *Editor) typeFirst(b Behaviour) {
	if b.Path == "" {
		return
	}
	e.docs.mu.Lock()
	defer e.docs.mu.Unlock()
	doc := e.find(b.Path)
	if doc == nil {
		e.record.breach("test: %s is not open", b.Path)
		return
	}
	if err := e.didChange(doc, []TextEdit{{Range{b.At, b.At}, b.Text}}); err != nil {
		e.record.breach("test: %v", err)
	}
}

// format turns the tabs of what was edited into spaces, as a formatter would.
func (e *Editor) format(w workspaceEdit) {
	e.docs.mu.Lock()
	defer e.docs.mu.Unlock()
	for _, op := range w.operations {
		if doc := e.docs.byURI(op.TextDocument.URI); doc != nil {
			if err := e.replace(doc, strings.ReplaceAll(doc.text, "\t", "    ")); err != nil {
				e.record.breach("test: %v", err)
			}
		}
	}
}

// apply makes a workspace edit the way the profile's editor does. An error is
// what the editor answers with one.
func (e *Editor) apply(w workspaceEdit, versions bool) (applyResult, error) {
	e.docs.mu.Lock()
	defer e.docs.mu.Unlock()
	if versions {
		if result, err, ok := e.refuse(w); ok {
			return result, err
		}
	}
	if err := e.checkRanges(w); err != nil {
		e.record.breach("an edit that cannot be applied: %v", err)
		return applyResult{FailureReason: err.Error()}, nil
	}
	for i, op := range w.operations {
		if err := e.operate(op); err != nil {
			return applyResult{FailureReason: fmt.Sprintf("change %d: %v", i, err)}, nil
		}
		if e.profile.HalfOnCreate && op.Kind != "" {
			return applyResult{}, errors.New("unknown operation " + op.Kind)
		}
	}
	return applyResult{Applied: true}, nil
}

// refuse looks for what the editor does not take: another version than the
// document's, or none; docs.mu is held.
func (e *Editor) refuse(w workspaceEdit) (applyResult, error, bool) {
	for _, op := range w.operations {
		if op.Kind != "" {
			continue
		}
		doc := e.docs.byURI(op.TextDocument.URI)
		switch {
		case !op.versioned:
			e.record.breach("an edit of %s without the key version", op.TextDocument.URI)
			if e.profile.NoVersion == AnswerError {
				return applyResult{}, errors.New("version is missing"), true
			}
			return applyResult{}, nil, true
		case op.TextDocument.Version != nil && doc == nil:
			e.record.breach("an edit of %s, which is not open, for version %d", op.TextDocument.URI, *op.TextDocument.Version)
			return applyResult{}, nil, true
		case op.TextDocument.Version == nil && doc != nil && !w.changesOnly && !doc.hidden:
			e.record.breach("an edit of %s without its version, %d", op.TextDocument.URI, doc.version)
		case op.TextDocument.Version != nil && *op.TextDocument.Version != doc.version:
			return applyResult{Applied: e.profile.Stale == StaleClaimed}, nil, true
		}
	}
	return applyResult{}, nil, false
}

// checkRanges holds all edits against the texts they are for, before any of
// them is made; docs.mu is held.
func (e *Editor) checkRanges(w workspaceEdit) error {
	created := map[string]bool{}
	for _, op := range w.operations {
		switch op.Kind {
		case "create":
			created[op.URI] = true
		case "":
			uri := op.TextDocument.URI
			text, there := "", created[uri]
			if doc := e.docs.byURI(uri); doc != nil {
				text, there = doc.text, true
			} else if b, err := os.ReadFile(pathOf(uri)); err == nil {
				text, there = strings.TrimPrefix(string(b), bom), true
			}
			if !there && !w.changesOnly {
				continue // VS Code says applied:false, which is no breach
			}
			if _, err := e.edited(text, op.Edits); err != nil {
				return fmt.Errorf("%s: %w", uri, err)
			}
		}
	}
	return nil
}

// operate makes one operation; docs.mu is held.
func (e *Editor) operate(op operation) error {
	yes := func(b *bool) bool { return b != nil && *b }
	switch op.Kind {
	case "create":
		return e.create(pathOf(op.URI), yes(op.Options.Overwrite), yes(op.Options.IgnoreIfExists))
	case "rename":
		return e.rename(op, yes(op.Options.Overwrite))
	case "delete":
		if doc := e.docs.byURI(op.URI); doc != nil {
			if err := e.didClose(doc); err != nil {
				return err
			}
		}
		return e.disk.remove(pathOf(op.URI))
	case "":
		return e.editDocument(op)
	}
	return fmt.Errorf("unknown operation %q", op.Kind)
}

func (e *Editor) create(path string, overwrite, ignore bool) error {
	if _, err := os.Stat(path); err == nil && !overwrite {
		if ignore {
			return nil
		}
		return errors.New("file exists")
	}
	return e.disk.write(path, "")
}

func (e *Editor) rename(op operation, overwrite bool) error {
	from, to := pathOf(op.OldURI), pathOf(op.NewURI)
	if _, err := os.Stat(to); err == nil && !overwrite {
		return errors.New("target exists")
	}
	if err := e.disk.rename(from, to); err != nil {
		return err
	}
	doc := e.docs.byURI(op.OldURI)
	if doc == nil {
		return nil
	}
	if err := e.didClose(doc); err != nil {
		return err
	}
	return e.didOpen(&document{uri: op.NewURI, path: to, language: doc.language, text: doc.text, mark: doc.mark, hidden: doc.hidden})
}

// editDocument makes the edits of one document, open or not; docs.mu is held.
func (e *Editor) editDocument(op operation) error {
	doc := e.docs.byURI(op.TextDocument.URI)
	if doc != nil {
		return e.takeEdits(doc, op.Edits)
	}
	path := pathOf(op.TextDocument.URI)
	if path == "" {
		return errors.New("no file")
	}
	b, err := os.ReadFile(path)
	if err != nil && (e.profile.Name == "vscode" || e.profile.Name == "rich") {
		return errors.New("no such file")
	}
	text, mark := strings.CutPrefix(string(b), bom)
	if e.profile.Lines && text == "" {
		text = "\n" // a buffer has at least one line
	}
	doc = &document{uri: op.TextDocument.URI, path: path, text: text, mark: mark, hidden: e.profile.Unopened == UnopenedHidden}
	if e.profile.Unopened == UnopenedDisk {
		after, err := applyEdits(text, op.Edits, e.encoding)
		if err != nil {
			return err
		}
		if mark {
			after = bom + after
		}
		return e.disk.write(path, after)
	}
	if err := e.didOpen(doc); err != nil {
		return err
	}
	return e.takeEdits(doc, op.Edits)
}

// takeEdits makes the server's edits in a buffer; docs.mu is held.
func (e *Editor) takeEdits(doc *document, edits []TextEdit) error {
	if !e.profile.Lines || doc.hidden {
		return e.didChange(doc, edits)
	}
	after, err := e.edited(doc.text, edits)
	if err != nil {
		return err
	}
	return e.replace(doc, after)
}

// edited is a text with edits, as this editor understands them.
func (e *Editor) edited(text string, edits []TextEdit) (string, error) {
	if e.profile.Lines {
		return lineEdits(text, edits, e.encoding, e.profile.LinesStrict)
	}
	return applyEdits(text, edits, e.encoding)
}

// describeEdit writes a workspace edit down, a line an operation:
//
//	create src/a.go
//	edit a.go@3 0:0-0:5 "text"    the version, - for null
//	rename a.go b.go
func (e *Editor) describeEdit(raw json.RawMessage) (string, error) {
	w, err := e.parseEdit(raw)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, op := range w.operations {
		switch op.Kind {
		case "create", "delete":
			fmt.Fprintf(&b, "%s %s\n", op.Kind, e.shorten(op.URI))
		case "rename":
			fmt.Fprintf(&b, "rename %s %s\n", e.shorten(op.OldURI), e.shorten(op.NewURI))
		default:
			name := e.shorten(op.TextDocument.URI)
			switch v := op.TextDocument.Version; {
			case w.changesOnly:
			case v == nil:
				name += "@-"
			default:
				name += "@" + strconv.Itoa(*v)
			}
			for _, edit := range op.Edits {
				fmt.Fprintf(&b, "edit %s %s %q\n", name, edit.Range, edit.NewText)
			}
		}
	}
	return b.String(), nil
}

// shorten names a file relative to the first folder.
func (e *Editor) shorten(uri string) string {
	path := pathOf(uri)
	if rel, err := filepath.Rel(e.opts.Folders[0], path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return uri
}
