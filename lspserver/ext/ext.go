// Package ext holds the wire types and method names that agentls adds to LSP:
// the `agent/*` methods of protocol version 1. It is the contract between the
// server and its editors and imports nothing of ours, so that clients and
// tests can use it as it is.
//
// Documents are named by URI in the spelling the editor opened them with;
// ranges are LSP ranges in the negotiated position encoding.
package ext

import (
	"encoding/json"
	"time"
)

// Version is the version of the protocol.
const Version = 1

// PreviewScheme is the URI scheme of the documents that show a proposal.
const PreviewScheme = "agentls-proposal"

// Requests that a client sends.
const (
	MethodSessionNew        = "agent/session/new"
	MethodSessionList       = "agent/session/list"
	MethodSessionLoad       = "agent/session/load"
	MethodSessionConfigure  = "agent/session/configure"
	MethodRunStart          = "agent/run/start"
	MethodRunWait           = "agent/run/wait"
	MethodRunCancel         = "agent/run/cancel"
	MethodRunSteer          = "agent/run/steer"
	MethodProposalGet       = "agent/proposal/get"
	MethodProposalResolve   = "agent/proposal/resolve"
	MethodProposalDocument  = "agent/proposal/document"
	MethodCheckpointList    = "agent/checkpoint/list"
	MethodCheckpointRestore = "agent/checkpoint/restore"
	MethodStatus            = "agent/status"
	MethodModels            = "agent/models"
	MethodTrust             = "agent/trust"
)

// Messages that the server sends.
const (
	MethodEvent             = "agent/event"
	MethodPermissionRequest = "agent/permission/request"
	MethodAsk               = "agent/ask"
	MethodEditorSave        = "agent/editor/save"
	MethodEditorDiagnostics = "agent/editor/diagnostics"
	MethodEditorLSP         = "agent/editor/lsp"
)

// Commands of workspace/executeCommand for clients without a plugin.
const (
	CommandRun      = "agentls.run"
	CommandNew      = "agentls.new"
	CommandCancel   = "agentls.cancel"
	CommandAccept   = "agentls.accept"
	CommandReject   = "agentls.reject"
	CommandShowDiff = "agentls.showDiff"
	CommandUndo     = "agentls.undo"
)

// CodeFailed is the code of an error that only this protocol knows (LSP's
// RequestFailed); its data says which.
const CodeFailed = -32803

// ErrorCode is data.code of such an error.
type ErrorCode string

// The error codes.
const (
	ErrNoModel        ErrorCode = "noModel"
	ErrUnknownSession ErrorCode = "unknownSession"
	ErrUnknownRun     ErrorCode = "unknownRun"
	ErrRunActive      ErrorCode = "runActive"
	ErrStaleRevision  ErrorCode = "staleRevision"
	ErrNotTrusted     ErrorCode = "notTrusted"
	ErrUnsupported    ErrorCode = "unsupported"
)

// ErrorData is the data of such an error.
type ErrorData struct {
	Code ErrorCode `json:"code"`
}

// Feature is present where a client has a feature. It has no fields yet.
type Feature struct{}

// ClientCapabilities is `capabilities.experimental.agent` of initialize.
type ClientCapabilities struct {
	Protocol    int      `json:"protocol"`
	Review      *Feature `json:"review,omitempty"`
	Permission  *Feature `json:"permission,omitempty"`
	Ask         *Feature `json:"ask,omitempty"`
	Save        *Feature `json:"save,omitempty"`
	Diagnostics *Feature `json:"diagnostics,omitempty"`
	LSP         *Feature `json:"lsp,omitempty"`
}

// ServerCapabilities is `capabilities.experimental.agent` of the answer.
type ServerCapabilities struct {
	Protocol      int      `json:"protocol"`
	Methods       []string `json:"methods"`
	Events        []string `json:"events"`
	PreviewScheme string   `json:"previewScheme"`
}

// Position and Range are LSP's.
type (
	Position struct {
		Line      uint32 `json:"line"`
		Character uint32 `json:"character"`
	}
	Range struct {
		Start Position `json:"start"`
		End   Position `json:"end"`
	}
)

// Session describes a session.
type Session struct {
	SessionID    string    `json:"sessionId"`
	Title        string    `json:"title"`
	Mode         string    `json:"mode"`
	Model        string    `json:"model"`
	Review       string    `json:"review"`
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
	Runs         int       `json:"runs"`
	Running      bool      `json:"running"`
	Usage        any       `json:"usage"`
	PendingHunks int       `json:"pendingHunks"`
}

type (
	// SessionNewParams begin a session.
	SessionNewParams struct {
		Title     string `json:"title,omitempty"`
		Mode      string `json:"mode,omitempty"`
		Model     string `json:"model,omitempty"`
		Review    string `json:"review,omitempty"`
		Ephemeral bool   `json:"ephemeral,omitempty"`
	}
	// SessionConfigureParams change a session for its later runs.
	SessionConfigureParams struct {
		SessionID string  `json:"sessionId"`
		Title     *string `json:"title,omitempty"`
		Mode      *string `json:"mode,omitempty"`
		Model     *string `json:"model,omitempty"`
		Review    *string `json:"review,omitempty"`
	}
	// SessionList is newest first.
	SessionList struct {
		Sessions []Session `json:"sessions"`
	}
	// SessionLoadParams name a session; FromSeq is inclusive.
	SessionLoadParams struct {
		SessionID string `json:"sessionId"`
		FromSeq   int64  `json:"fromSeq,omitempty"`
	}
	// SessionLoaded has the events in the shapes they were sent in.
	SessionLoaded struct {
		Session Session           `json:"session"`
		Events  []json.RawMessage `json:"events"`
		NextSeq int64             `json:"nextSeq"`
	}
	// SessionParams name a session.
	SessionParams struct {
		SessionID string `json:"sessionId"`
	}
)

type (
	// RunStartParams start a run. Prompt is a string or a list of blocks.
	RunStartParams struct {
		Prompt        json.RawMessage `json:"prompt"`
		SessionID     string          `json:"sessionId,omitempty"`
		Context       *RunContext     `json:"context,omitempty"`
		Mode          string          `json:"mode,omitempty"`
		Model         string          `json:"model,omitempty"`
		Review        string          `json:"review,omitempty"`
		Budget        *Budget         `json:"budget,omitempty"`
		WorkDoneToken json.RawMessage `json:"workDoneToken,omitempty"`
	}
	// Block is a piece of a prompt: text, resource or image by Type.
	Block struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitempty"`
		URI      string `json:"uri,omitempty"`
		Range    *Range `json:"range,omitempty"`
		MIMEType string `json:"mimeType,omitempty"`
		Data     string `json:"data,omitempty"` // base64
	}
	// RunContext is what the user has in front of them.
	RunContext struct {
		Document    *ContextDocument     `json:"document,omitempty"`
		Open        []string             `json:"open,omitempty"`
		Diagnostics []ContextDiagnostics `json:"diagnostics,omitempty"`
	}
	// ContextDocument is the document that has the focus.
	ContextDocument struct {
		URI          string    `json:"uri"`
		Version      *int32    `json:"version,omitempty"`
		Position     *Position `json:"position,omitempty"`
		Selection    *Range    `json:"selection,omitempty"`
		VisibleRange *Range    `json:"visibleRange,omitempty"`
	}
	// ContextDiagnostics are the problems of one document.
	ContextDiagnostics struct {
		URI         string       `json:"uri"`
		Diagnostics []Diagnostic `json:"diagnostics"`
	}
	// Diagnostic is the part of LSP's that a model can use.
	Diagnostic struct {
		Range    Range           `json:"range"`
		Severity int             `json:"severity,omitempty"`
		Code     json.RawMessage `json:"code,omitempty"`
		Source   string          `json:"source,omitempty"`
		Message  string          `json:"message"`
	}
	// Budget limits a run; 0 is no limit, absent the configured default.
	Budget struct {
		MaxTurns   *int64   `json:"maxTurns,omitempty"`
		MaxTokens  *int64   `json:"maxTokens,omitempty"`
		MaxSeconds *float64 `json:"maxSeconds,omitempty"`
		MaxCost    *float64 `json:"maxCost,omitempty"`
	}
	// RunStarted names what was started.
	RunStarted struct {
		SessionID string `json:"sessionId"`
		RunID     string `json:"runId"`
	}
	// RunParams name a run.
	RunParams struct {
		RunID string `json:"runId"`
	}
	// RunSteerParams are more words for a run under way.
	RunSteerParams struct {
		RunID  string          `json:"runId"`
		Prompt json.RawMessage `json:"prompt"`
	}
	// RunCancelled tells how far a cancel is: cancelling or ended.
	RunCancelled struct {
		State string `json:"state"`
	}
	// RunSteered tells when the model sees it: next-turn or queued.
	RunSteered struct {
		Delivered string `json:"delivered"`
	}
	// RunRunning answers a wait that was cancelled.
	RunRunning struct {
		RunID   string `json:"runId"`
		Running bool   `json:"running"`
	}
	// RunResult is how a run ended.
	RunResult struct {
		RunID      string         `json:"runId"`
		SessionID  string         `json:"sessionId"`
		StopReason string         `json:"stopReason"`
		Text       string         `json:"text"`
		Usage      any            `json:"usage"`
		Proposal   ProposalCounts `json:"proposal"`
		Error      any            `json:"error,omitempty"`
	}
	// ProposalCounts counts the files and hunks of a proposal.
	ProposalCounts struct {
		Revision int64 `json:"revision"`
		Files    int   `json:"files"`
		Hunks    int   `json:"hunks"`
	}
)

type (
	// Proposal is all of a session's changes that are not settled.
	Proposal struct {
		SessionID string       `json:"sessionId"`
		Revision  int64        `json:"revision"`
		Files     []FileChange `json:"files"`
	}
	// FileSummary is a FileChange without its patch and hunks.
	FileSummary struct {
		FileID  string `json:"fileId"`
		Op      string `json:"op"` // modify, create, delete, rename
		URI     string `json:"uri"`
		OldURI  string `json:"oldUri,omitempty"`
		Added   int    `json:"added"`
		Removed int    `json:"removed"`
		State   string `json:"state"`
	}
	// FileChange is what is proposed for one file.
	FileChange struct {
		FileSummary
		Patch string `json:"patch"`
		Hunks []Hunk `json:"hunks"`
	}
	// Hunk is one place of a file.
	Hunk struct {
		HunkID     string `json:"hunkId"`
		State      string `json:"state"` // pending, applied, modified, rejected, conflicted, notApplied
		Range      Range  `json:"range"`
		OldText    string `json:"oldText"`
		NewText    string `json:"newText"`
		ToolCallID string `json:"toolCallId"`
		Intent     string `json:"intent,omitempty"`
		Reason     string `json:"reason,omitempty"`
	}
	// ResolveParams decide hunks, files or all.
	ResolveParams struct {
		SessionID string     `json:"sessionId"`
		Revision  *int64     `json:"revision"`
		Decisions []Decision `json:"decisions"`
		Save      bool       `json:"save,omitempty"`
	}
	// Decision is a verdict on one of HunkID, FileID and All.
	Decision struct {
		HunkID  string  `json:"hunkId,omitempty"`
		FileID  string  `json:"fileId,omitempty"`
		All     bool    `json:"all,omitempty"`
		Verdict string  `json:"verdict"` // accept, reject, edit
		NewText *string `json:"newText,omitempty"`
		Comment string  `json:"comment,omitempty"`
	}
	// ResolveResult tells the real state of what was decided.
	ResolveResult struct {
		Revision int64    `json:"revision"`
		Results  []Result `json:"results"`
	}
	// Result is the state of one hunk or file.
	Result struct {
		HunkID string `json:"hunkId,omitempty"`
		FileID string `json:"fileId,omitempty"`
		State  string `json:"state"`
		Reason string `json:"reason,omitempty"`
	}
	// ProposalDocumentParams name one side of a file of a proposal.
	ProposalDocumentParams struct {
		SessionID string `json:"sessionId"`
		URI       string `json:"uri"`
		Side      string `json:"side"` // base, proposed
	}
	// ProposalDocument is its exact text.
	ProposalDocument struct {
		Text       string `json:"text"`
		LanguageID string `json:"languageId,omitempty"`
	}
	// Checkpoint is the state before a run's first apply.
	Checkpoint struct {
		CheckpointID string    `json:"checkpointId"`
		RunID        string    `json:"runId"`
		Time         time.Time `json:"time"`
		Files        []string  `json:"files"`
	}
	// CheckpointList is newest first.
	CheckpointList struct {
		Checkpoints []Checkpoint `json:"checkpoints"`
	}
	// CheckpointRestoreParams name a checkpoint.
	CheckpointRestoreParams struct {
		SessionID    string `json:"sessionId"`
		CheckpointID string `json:"checkpointId"`
	}
)

type (
	// AskParams are a question of the agent.
	AskParams struct {
		SessionID     string   `json:"sessionId"`
		RunID         string   `json:"runId"`
		Question      string   `json:"question"`
		Options       []string `json:"options,omitempty"`
		AllowFreeText bool     `json:"allowFreeText"`
	}
	// AskResult is an answer, or Cancelled.
	AskResult struct {
		Answer    *string `json:"answer,omitempty"`
		Cancelled bool    `json:"cancelled,omitempty"`
	}
	// SaveParams ask the editor to save documents.
	SaveParams struct {
		URIs []string `json:"uris"`
	}
	// SaveResult tells which were saved.
	SaveResult struct {
		Saved  []string     `json:"saved"`
		Failed []SaveFailed `json:"failed,omitempty"`
	}
	// SaveFailed is one that was not.
	SaveFailed struct {
		URI    string `json:"uri"`
		Reason string `json:"reason"`
	}
	// TrustParams tell whether the user trusts the workspace.
	TrustParams struct {
		Trusted bool `json:"trusted"`
	}
)

type (
	// Status is what the server is and has.
	Status struct {
		Version          string        `json:"version"`
		WorkspaceFolders []string      `json:"workspaceFolders"`
		Model            string        `json:"model"`
		Provider         string        `json:"provider"`
		BaseURL          string        `json:"baseURL"`
		Trusted          bool          `json:"trusted"`
		Sandbox          Sandbox       `json:"sandbox"`
		MCP              []MCPServer   `json:"mcp"`
		Instructions     []string      `json:"instructions"`
		Sessions         int           `json:"sessions"`
		Running          int           `json:"running"`
		ClientSupport    ClientSupport `json:"clientSupport"`
		Problems         []string      `json:"problems,omitempty"`
	}
	// Sandbox is how commands are kept apart.
	Sandbox struct {
		Kind    string `json:"kind"`
		Network bool   `json:"network"`
	}
	// MCPServer is the state of one.
	MCPServer struct {
		Name  string `json:"name"`
		State string `json:"state"`
		Tools int    `json:"tools"`
		Error string `json:"error,omitempty"`
	}
	// ClientSupport is what this client will really get.
	ClientSupport struct {
		Events           bool   `json:"events"`
		Review           bool   `json:"review"`
		Permission       bool   `json:"permission"`
		Ask              bool   `json:"ask"`
		Save             bool   `json:"save"`
		Diagnostics      bool   `json:"diagnostics"`
		LSP              bool   `json:"lsp"`
		ApplyEdit        bool   `json:"applyEdit"`
		Create           bool   `json:"create"`
		Rename           bool   `json:"rename"`
		Delete           bool   `json:"delete"`
		Progress         bool   `json:"progress"`
		Previews         bool   `json:"previews"`
		PositionEncoding string `json:"positionEncoding"`
	}
	// Models lists what can be chosen.
	Models struct {
		Models  []Model `json:"models"`
		Current string  `json:"current"`
	}
	// Model is one of them.
	Model struct {
		ID            string `json:"id"`
		Provider      string `json:"provider"`
		ContextWindow *int64 `json:"contextWindow,omitempty"`
	}
)
