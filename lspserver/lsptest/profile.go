package lsptest

import (
	"encoding/json"
	"maps"
	"slices"
)

// Profile is what a kind of editor announces and how it takes edits. The
// values are those measured on the real editors.
type Profile struct {
	Name       string
	ClientName string
	// Encodings are offered in this order; none leaves utf-16.
	Encodings []string
	// Agent are the features of experimental.agent; nil is a plain client.
	Agent []string

	ApplyEdit       bool
	DocumentChanges bool
	// Operations are the resource operations that are announced.
	Operations []string
	Progress   bool
	Configures bool // workspace.configuration
	Refreshes  bool // code lens refresh
	ShowsDocs  bool // window.showDocument
	Actions    bool // code action literals
	Previews   bool // workspace.textDocumentContent

	// Stale is what becomes of an edit whose version is not the document's.
	Stale Staleness
	// NoVersion is the answer to an edit without the key "version".
	NoVersion Answer
	// Unopened is how an edit of a file that is not open is made.
	Unopened Unopened
	// Lines: buffers are lines with endings and not text, see lineEdits;
	// LinesStrict as in Neovim 0.10.
	Lines, LinesStrict bool
	// CreateOnDisk: a create operation makes an empty file at once.
	CreateOnDisk bool
	// HalfOnCreate: an edit with a create operation is applied up to it, and
	// then is an error, since the editor does not know such operations.
	HalfOnCreate bool
}

// Staleness is how an editor takes an edit for another version.
type Staleness int

// What editors do with one: nothing is applied, and they say so or not.
const (
	StaleRefused Staleness = iota // applied:false, no reason
	StaleClaimed                  // applied:true
)

// Answer is how an editor answers what it cannot take.
type Answer int

// The answers.
const (
	AnswerError Answer = iota // -32603
	AnswerFalse               // applied:false
)

// Unopened is where an edit of a file that is not open goes.
type Unopened int

// Most editors open it, hidden and modified; some tell the server, some write
// it to disk.
const (
	UnopenedOpens  Unopened = iota // didOpen, then didChange; disk unchanged
	UnopenedHidden                 // loaded and changed, the server hears nothing
	UnopenedDisk                   // written to disk
)

var allFeatures = []string{"review", "permission", "ask", "save"}

// profiles by name.
var profiles = map[string]Profile{
	// The measured editors, without a plugin of ours.
	"vscode": {
		ClientName: "Visual Studio Code", Encodings: []string{"utf-16"},
		ApplyEdit: true, DocumentChanges: true, Operations: []string{"create", "rename", "delete"},
		Progress: true, Configures: true, Refreshes: true, ShowsDocs: true, Actions: true,
		Stale: StaleRefused, NoVersion: AnswerError, CreateOnDisk: true,
	},
	"nvim-0.10": {
		ClientName: "Neovim", Encodings: []string{"utf-16"},
		ApplyEdit: true, Operations: []string{"rename", "create", "delete"},
		Progress: true, Configures: true, Refreshes: true, ShowsDocs: true, Actions: true,
		Stale: StaleClaimed, NoVersion: AnswerFalse, CreateOnDisk: true, Lines: true, LinesStrict: true,
	},
	"nvim-0.12": {
		ClientName: "Neovim", Encodings: []string{"utf-8", "utf-16", "utf-32"},
		ApplyEdit: true, Operations: []string{"rename", "create", "delete"},
		Progress: true, Configures: true, Refreshes: true, ShowsDocs: true, Actions: true,
		Stale: StaleClaimed, NoVersion: AnswerFalse, CreateOnDisk: true, Lines: true,
	},
	"eglot": {
		ClientName: "Eglot", Encodings: []string{"utf-32", "utf-8", "utf-16"},
		ApplyEdit: true, DocumentChanges: true, Progress: true, Configures: true, ShowsDocs: true, Actions: true,
		Stale: StaleRefused, NoVersion: AnswerFalse, HalfOnCreate: true,
	},
	"helix": {
		ClientName: "helix", Encodings: []string{"utf-8", "utf-32", "utf-16"},
		ApplyEdit: true, DocumentChanges: true, Operations: []string{"create", "rename", "delete"},
		Progress: true, Configures: true, ShowsDocs: true, Actions: true,
		Stale: StaleRefused, NoVersion: AnswerFalse, CreateOnDisk: true,
	},
	// Nothing is announced at all.
	"minimal": {},
	// The least that can apply edits: only the map of changes.
	"changes": {ApplyEdit: true},
	// A client with everything, as our own plugins are.
	"rich": {
		ClientName: "lsptest", Encodings: []string{"utf-16"}, Agent: allFeatures,
		ApplyEdit: true, DocumentChanges: true, Operations: []string{"create", "rename", "delete"},
		Progress: true, Configures: true, Refreshes: true, ShowsDocs: true, Actions: true, Previews: true,
		Stale: StaleRefused, NoVersion: AnswerError, CreateOnDisk: true,
	},
	// One that applies to the disk, as the terminal does.
	"disk": {
		ClientName: "lsptest", Encodings: []string{"utf-8"}, Agent: allFeatures,
		ApplyEdit: true, DocumentChanges: true, Operations: []string{"create", "rename", "delete"},
		Progress: true, Unopened: UnopenedDisk, CreateOnDisk: true,
	},
}

// ProfileNamed is a profile by its name: vscode, nvim-0.10, nvim-0.12, eglot,
// helix, minimal, changes, rich or disk.
func ProfileNamed(name string) (Profile, bool) {
	p, ok := profiles[name]
	p.Name = name
	return p, ok
}

// Profiles are the names of all profiles.
func Profiles() []string { return slices.Sorted(maps.Keys(profiles)) }

func (p Profile) has(feature string) bool { return slices.Contains(p.Agent, feature) }

// capabilities is what the editor announces.
func (p Profile) capabilities() map[string]any {
	workspace, window, text, general := map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}
	if p.ApplyEdit {
		workspace["applyEdit"] = true
	}
	edit := map[string]any{}
	if p.DocumentChanges {
		edit["documentChanges"] = true
	}
	if len(p.Operations) > 0 {
		edit["resourceOperations"] = p.Operations
	}
	if len(edit) > 0 {
		workspace["workspaceEdit"] = edit
	}
	if p.Name != "minimal" && p.Name != "changes" {
		workspace["workspaceFolders"] = true
	}
	if p.Configures {
		workspace["configuration"] = true
	}
	if p.Refreshes {
		workspace["codeLens"] = map[string]any{"refreshSupport": true}
	}
	if p.Previews {
		workspace["textDocumentContent"] = map[string]any{"dynamicRegistration": true}
	}
	if p.Progress {
		window["workDoneProgress"] = true
	}
	if p.ShowsDocs {
		window["showDocument"] = map[string]any{"support": true}
	}
	if p.Actions {
		text["codeAction"] = map[string]any{"codeActionLiteralSupport": map[string]any{"codeActionKind": map[string]any{"valueSet": []string{"", "quickfix", "refactor"}}}}
	}
	if len(p.Encodings) > 0 {
		general["positionEncodings"] = p.Encodings
	}
	caps := map[string]any{}
	for name, part := range map[string]map[string]any{"workspace": workspace, "window": window, "textDocument": text, "general": general} {
		if len(part) > 0 {
			caps[name] = part
		}
	}
	if p.Agent != nil {
		agent := map[string]any{"protocol": 1}
		for _, f := range p.Agent {
			agent[f] = struct{}{}
		}
		caps["experimental"] = map[string]any{"agent": agent}
	}
	return caps
}

// asked says whether the server may send a request of a method to this editor.
func (p Profile) asked(method string) bool {
	switch method {
	case "workspace/applyEdit":
		return p.ApplyEdit
	case "workspace/configuration":
		return p.Configures
	case "workspace/codeLens/refresh":
		return p.Refreshes
	case "workspace/textDocumentContent/refresh":
		return p.Previews
	case "window/workDoneProgress/create":
		return p.Progress
	case "window/showDocument":
		return p.ShowsDocs
	case "window/showMessageRequest":
		return true
	case "agent/permission/request":
		return p.has("permission")
	case "agent/ask":
		return p.has("ask")
	case "agent/editor/save":
		return p.has("save")
	}
	return false
}

// Behaviour is how the editor takes the next workspace/applyEdit.
type Behaviour struct {
	Kind BehaviourKind
	// Text is a failureReason, what is typed first, or a result sent as it is.
	Text string
	// Path and At are where it is typed.
	Path string
	At   Position
}

// BehaviourKind names one.
type BehaviourKind string

// The behaviours: one honest, some liars, and those with bad timing.
const (
	Accepts BehaviourKind = "accept" // applies and says so
	Refuses BehaviourKind = "refuse" // applied:false, Text the reason
	Lies    BehaviourKind = "lie"    // applied:true, nothing done
	Halves  BehaviourKind = "half"   // applies the first edit only, applied:true
	Errors  BehaviourKind = "error"  // a JSON-RPC error
	Answers BehaviourKind = "answer" // does nothing, answers Text as it is
	Silent  BehaviourKind = "silent" // does nothing, never answers
	Late    BehaviourKind = "late"   // applies, answers when released
	Later   BehaviourKind = "later"  // applies and answers when released
	Formats BehaviourKind = "format" // applies, then turns tabs into spaces
	Types   BehaviourKind = "type"   // types Text at first, then applies as it would
	Blurts  BehaviourKind = "blurt"  // answers first, then applies
	Blind   BehaviourKind = "blind"  // applies without looking at versions
)

// mustJSON encodes what cannot fail.
func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("lsptest: " + err.Error())
	}
	return b
}
