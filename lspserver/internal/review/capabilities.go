package review

import (
	"encoding/json"
	"slices"
)

// Capabilities is what a client said in initialize about applying edits. What
// it did not say is not used.
type Capabilities struct {
	ApplyEdit bool
	// DocumentChanges: versioned edits and file operations can be sent. A
	// client that names file operations takes them in documentChanges, whether
	// it says so or not (Neovim does not).
	DocumentChanges        bool
	Create, Rename, Delete bool
	// FailureHandling is abort, transactional, textOnlyTransactional, undo, or
	// empty where it is not told.
	FailureHandling string
	// NormalizesLineEndings: the client gives inserted text the line endings
	// of the document.
	NormalizesLineEndings bool
	// Neovim: no capability tells of these, so it is known by its name. Its
	// buffers are lines, which all get an ending when they are saved. And of
	// an edit it looks at the version of the first document alone, and only
	// where that is not 0.
	Neovim bool
	// RefreshPreviews: it takes workspace/textDocumentContent/refresh.
	RefreshPreviews bool
	// RefreshLenses: it takes workspace/codeLens/refresh.
	RefreshLenses bool
}

// ParseCapabilities reads the `capabilities` of initialize. A field of an
// unexpected type counts as absent.
func ParseCapabilities(raw json.RawMessage) Capabilities {
	workspace := object(raw)["workspace"]
	edit := object(object(workspace)["workspaceEdit"])
	operations := get[[]string](edit["resourceOperations"])
	return Capabilities{
		ApplyEdit:             get[bool](object(workspace)["applyEdit"]),
		DocumentChanges:       get[bool](edit["documentChanges"]) || len(operations) > 0,
		Create:                slices.Contains(operations, "create"),
		Rename:                slices.Contains(operations, "rename"),
		Delete:                slices.Contains(operations, "delete"),
		FailureHandling:       get[string](edit["failureHandling"]),
		NormalizesLineEndings: get[bool](edit["normalizesLineEndings"]),
		RefreshPreviews:       object(object(workspace)["textDocumentContent"]) != nil,
		RefreshLenses:         get[bool](object(object(workspace)["codeLens"])["refreshSupport"]),
	}
}

func object(raw json.RawMessage) map[string]json.RawMessage {
	return get[map[string]json.RawMessage](raw)
}

func get[T any](raw json.RawMessage) (v T) {
	if json.Unmarshal(raw, &v) != nil {
		var none T
		return none
	}
	return v
}
