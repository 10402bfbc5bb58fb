package lspserver

import (
	"encoding/json"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/review"
	"github.com/agentls/agentls/tools/text"
)

// client is what initialize told about the other side. It does not change.
type client struct {
	name string
	// agent is nil for a plain client.
	agent    *ext.ClientCapabilities
	encoding text.Encoding
	review   review.Capabilities

	progress      bool // window.workDoneProgress
	configuration bool // workspace.configuration
	watchFiles    bool // workspace.didChangeWatchedFiles.dynamicRegistration
	codeActionLit bool // textDocument.codeAction.codeActionLiteralSupport
	showDocument  bool // window.showDocument
}

func (c client) plain() bool   { return c.agent == nil }
func (c client) reviews() bool { return c.agent != nil && c.agent.Review != nil }
func (c client) asks() bool    { return c.agent != nil && c.agent.Ask != nil }
func (c client) saves() bool   { return c.agent != nil && c.agent.Save != nil }
func (c client) encodingName() string {
	if c.encoding == text.UTF8 {
		return string(protocol.PositionEncodingKindUTF8)
	}
	return string(protocol.PositionEncodingKindUTF16)
}

// tree is a piece of decoded JSON. Clients differ in what they send: a field
// of an unexpected type reads as absent instead of failing the whole request.
type tree struct{ v any }

func parseTree(raw json.RawMessage) tree {
	var v any
	if len(raw) > 0 && json.Unmarshal(raw, &v) != nil {
		return tree{}
	}
	return tree{v}
}

func (t tree) at(path ...string) tree {
	for _, key := range path {
		m, _ := t.v.(map[string]any)
		t = tree{m[key]}
	}
	return t
}

func (t tree) yes() bool          { b, _ := t.v.(bool); return b }
func (t tree) str() string        { s, _ := t.v.(string); return s }
func (t tree) object() bool       { _, ok := t.v.(map[string]any); return ok }
func (t tree) list() []any        { l, _ := t.v.([]any); return l }
func (t tree) num() (int64, bool) { f, ok := t.v.(float64); return int64(f), ok }
func (t tree) strings() (s []string) {
	for _, v := range t.list() {
		if one, ok := v.(string); ok {
			s = append(s, one)
		}
	}
	return s
}

// raw is the piece as JSON, nil where it is absent or null.
func (t tree) raw() json.RawMessage {
	if t.v == nil {
		return nil
	}
	b, err := json.Marshal(t.v)
	if err != nil {
		return nil
	}
	return b
}

// negotiate reads the client's capabilities out of the params of initialize.
func negotiate(params tree) client {
	caps := params.at("capabilities")
	c := client{
		name:          params.at("clientInfo", "name").str(),
		encoding:      text.UTF16,
		review:        review.ParseCapabilities(caps.raw()),
		progress:      caps.at("window", "workDoneProgress").yes(),
		configuration: caps.at("workspace", "configuration").yes(),
		watchFiles:    caps.at("workspace", "didChangeWatchedFiles", "dynamicRegistration").yes(),
		codeActionLit: caps.at("textDocument", "codeAction", "codeActionLiteralSupport").object(),
		showDocument:  caps.at("window", "showDocument", "support").yes(),
	}
	c.review.Neovim = c.name == "Neovim"
	if slices.Contains(caps.at("general", "positionEncodings").strings(), string(protocol.PositionEncodingKindUTF8)) {
		c.encoding = text.UTF8
	}
	if a := caps.at("experimental", "agent"); a.object() {
		feature := func(name string) *ext.Feature {
			// A presence object: anything but null and false announces it.
			if v := a.at(name).v; v == nil || v == false {
				return nil
			}
			return &ext.Feature{}
		}
		c.agent = &ext.ClientCapabilities{
			Protocol:    ext.Version,
			Review:      feature("review"),
			Permission:  feature("permission"),
			Ask:         feature("ask"),
			Save:        feature("save"),
			Diagnostics: feature("diagnostics"),
			LSP:         feature("lsp"),
		}
	}
	return c
}

// events are the types of agent/event that this server can send.
var events = []string{
	"runStarted", "turnStarted", "text", "thought", "message", "toolCall", "toolOutput", "plan",
	"proposal", "permission", "usage", "notice", "steered", "runEnded",
}

// capabilities is what the server offers this client.
func (s *server) capabilities() (*protocol.ServerCapabilities, error) {
	experimental, err := json.Marshal(map[string]ext.ServerCapabilities{"agent": {
		Protocol:      ext.Version,
		Methods:       s.methods(),
		Events:        events,
		PreviewScheme: ext.PreviewScheme,
	}})
	if err != nil {
		return nil, err
	}
	caps := &protocol.ServerCapabilities{
		PositionEncoding: protocol.PositionEncodingKind(s.client.encodingName()),
		TextDocumentSync: &protocol.TextDocumentSyncOptions{
			OpenClose: new(true),
			Change:    new(protocol.TextDocumentSyncKindIncremental),
			Save:      &protocol.SaveOptions{},
		},
		CodeLensProvider: &protocol.CodeLensOptions{},
		Workspace: &protocol.WorkspaceOptions{
			WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
				Supported:           new(true),
				ChangeNotifications: protocol.Boolean(true),
			},
			TextDocumentContent: &protocol.TextDocumentContentOptions{Schemes: []string{ext.PreviewScheme}},
		},
		Experimental: experimental,
	}
	if s.client.codeActionLit {
		caps.CodeActionProvider = &protocol.CodeActionOptions{
			CodeActionKinds: []protocol.CodeActionKind{protocol.CodeActionKindQuickFix, protocol.CodeActionKindRefactor},
		}
	} else {
		caps.CodeActionProvider = protocol.Boolean(true)
	}
	if s.client.plain() {
		caps.ExecuteCommandProvider.Commands = commandNames()
	}
	return caps, nil
}
