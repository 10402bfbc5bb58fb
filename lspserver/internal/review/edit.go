package review

import (
	"cmp"
	"slices"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// The wire types of workspace/applyEdit. They are our own because a version
// that is not known must be written as null and options as false: editors
// refuse the one (VS Code, Neovim 0.12) and guess at the other.
type (
	applyEditParams struct {
		Label string        `json:"label"`
		Edit  workspaceEdit `json:"edit"`
	}
	applyEditResult struct {
		Applied       bool   `json:"applied"`
		FailureReason string `json:"failureReason"`
	}
	workspaceEdit struct {
		DocumentChanges []any                 `json:"documentChanges,omitempty"`
		Changes         map[string][]textEdit `json:"changes,omitempty"`
	}
	textDocumentEdit struct {
		TextDocument versionedID `json:"textDocument"`
		Edits        []textEdit  `json:"edits"`
	}
	versionedID struct {
		URI     string `json:"uri"`
		Version *int32 `json:"version"`
	}
	textEdit struct {
		Range   ext.Range `json:"range"`
		NewText string    `json:"newText"`
	}
	createFile struct {
		Kind    string         `json:"kind"` // create
		URI     string         `json:"uri"`
		Options overwriteFlags `json:"options"`
	}
	renameFile struct {
		Kind    string         `json:"kind"` // rename
		OldURI  string         `json:"oldUri"`
		NewURI  string         `json:"newUri"`
		Options overwriteFlags `json:"options"`
	}
	overwriteFlags struct {
		Overwrite      bool `json:"overwrite"`
		IgnoreIfExists bool `json:"ignoreIfExists"`
	}
	deleteFile struct {
		Kind    string      `json:"kind"` // delete
		URI     string      `json:"uri"`
		Options deleteFlags `json:"options"`
	}
	deleteFlags struct {
		Recursive         bool `json:"recursive"`
		IgnoreIfNotExists bool `json:"ignoreIfNotExists"`
	}
)

// fileEdit is what one file of a batch comes to in the editor, worked out
// against the documents at one moment.
type fileEdit struct {
	uri     string // the file as it is now
	newURI  string // where a rename takes it
	version *int32 // nil where the editor does not hold it
	edits   []textEdit
	// operation is the file operation that is sent, OpModify if none.
	operation changeset.Op
}

// textEdits turns byte edits of d into LSP's, sorted.
func textEdits(d *text.Document, edits []text.Edit, enc text.Encoding) []textEdit {
	out := make([]textEdit, 0, len(edits))
	for _, e := range edits {
		out = append(out, textEdit{rangeOf(d, e.Start, e.End, enc), e.New})
	}
	slices.SortStableFunc(out, func(a, b textEdit) int {
		return cmp.Or(cmp.Compare(a.Range.Start.Line, b.Range.Start.Line), cmp.Compare(a.Range.Start.Character, b.Range.Start.Character))
	})
	return out
}

func rangeOf(d *text.Document, start, end int, enc text.Encoding) ext.Range {
	return ext.Range{Start: ext.Position(d.Position(start, enc)), End: ext.Position(d.Position(end, enc))}
}

// assemble makes one workspace edit of files: creates, text edits, renames,
// deletes. No file needs a name that another one frees: a changeset makes such
// moves modifications.
func assemble(files []fileEdit, caps Capabilities) workspaceEdit {
	if !caps.DocumentChanges {
		changes := map[string][]textEdit{}
		for _, f := range files {
			changes[f.uri] = f.edits
		}
		return workspaceEdit{Changes: changes}
	}
	var creates, texts, renames, deletes []any
	for _, f := range files {
		if len(f.edits) > 0 {
			texts = append(texts, textDocumentEdit{versionedID{f.uri, f.version}, f.edits})
		}
		switch f.operation {
		case changeset.OpCreate:
			creates = append(creates, createFile{Kind: "create", URI: f.uri})
		case changeset.OpRename:
			renames = append(renames, renameFile{Kind: "rename", OldURI: f.uri, NewURI: f.newURI})
		case changeset.OpDelete:
			deletes = append(deletes, deleteFile{Kind: "delete", URI: f.uri})
		}
	}
	return workspaceEdit{DocumentChanges: slices.Concat(creates, texts, renames, deletes)}
}
