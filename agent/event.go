package agent

import "encoding/json"

// Event is something that happened in a session: one of the structs below.
// Their JSON is the body of an agent/event notification (protocol.md §5); an
// Envelope adds what all have in common.
type Event interface{ eventType() string }

// The events.
type (
	// RunStarted opens a run.
	RunStarted struct {
		Prompt string `json:"prompt"`
		Model  string `json:"model"`
		Mode   Mode   `json:"mode"`
	}
	// TurnStarted precedes each request to the model; Turn counts from 1.
	TurnStarted struct {
		Turn int `json:"turn"`
	}
	// TextDelta is more of a message. Consecutive ones of one message may be
	// joined while the client is slow.
	TextDelta struct {
		MessageID string `json:"messageId"`
		Delta     string `json:"delta"`
	}
	// ThoughtDelta is more of the model's reasoning.
	ThoughtDelta struct {
		MessageID string `json:"messageId"`
		Delta     string `json:"delta"`
	}
	// MessageDone is the whole text of a message and closes its deltas.
	MessageDone struct {
		MessageID string `json:"messageId"`
		Role      string `json:"role"`
		Text      string `json:"text"`
	}
	// ToolCall tells where a call stands; later ones update by id.
	ToolCall struct {
		ToolCallID string          `json:"toolCallId"`
		Name       string          `json:"name"`
		Kind       Kind            `json:"kind"`
		Title      string          `json:"title"`
		Status     Status          `json:"status"`
		Input      json.RawMessage `json:"input,omitempty"`
		Locations  []EventLocation `json:"locations,omitempty"`
		Output     string          `json:"output,omitempty"`
		Reason     string          `json:"reason,omitempty"`
	}
	// ToolOutput is live output of a command.
	ToolOutput struct {
		ToolCallID string `json:"toolCallId"`
		Delta      string `json:"delta"`
	}
	// PlanUpdated is the whole plan.
	PlanUpdated struct {
		Entries []PlanEntry `json:"entries"`
	}
	// ProposalChanged follows every change of the proposal.
	ProposalChanged struct {
		Revision int64         `json:"revision"`
		Files    []FileSummary `json:"files"`
	}
	// PermissionAsked tells of a question and of its answer.
	PermissionAsked struct {
		RequestID string `json:"requestId"`
		State     string `json:"state"` // requested, resolved
		Outcome   string `json:"outcome,omitempty"`
	}
	// UsageUpdated is the run's usage so far.
	UsageUpdated struct {
		Usage Usage `json:"usage"`
	}
	// Notice is a remark for the user.
	Notice struct {
		Severity string `json:"severity"` // info, warning, error
		Code     string `json:"code"`
		Message  string `json:"message"`
	}
	// Steered tells that the model gets to see a prompt sent in mid-run.
	Steered struct {
		Prompt string `json:"prompt"`
	}
	// RunEnded closes a run; no event of that run follows it.
	RunEnded struct {
		StopReason StopReason `json:"stopReason"`
		Usage      Usage      `json:"usage"`
		Error      *RunError  `json:"error,omitempty"`
	}
)

// EventLocation is a Location for the client: the URI in the editor's spelling.
type EventLocation struct {
	URI  string `json:"uri"`
	Line int    `json:"line,omitempty"`
}

// PlanEntry is one step of a plan.
type PlanEntry struct {
	Text   string `json:"text"`
	Status string `json:"status"` // pending, active, done
}

// FileSummary is one file of a proposal without its hunks.
type FileSummary struct {
	FileID  string `json:"fileId"`
	Op      string `json:"op"`
	URI     string `json:"uri"`
	OldURI  string `json:"oldUri,omitempty"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	State   string `json:"state"`
}

// Usage sums the requests of a run; a nil field is unknown, never 0 by guess.
type Usage struct {
	InputTokens      *int64   `json:"inputTokens,omitempty"`
	OutputTokens     *int64   `json:"outputTokens,omitempty"`
	CacheReadTokens  *int64   `json:"cacheReadTokens,omitempty"`
	CacheWriteTokens *int64   `json:"cacheWriteTokens,omitempty"`
	ReasoningTokens  *int64   `json:"reasoningTokens,omitempty"`
	Turns            int      `json:"turns"`
	ToolCalls        int      `json:"toolCalls"`
	ContextTokens    *int64   `json:"contextTokens,omitempty"`
	ContextWindow    *int64   `json:"contextWindow,omitempty"`
	Cost             *float64 `json:"cost,omitempty"`
}

// StopReason is why a run ended.
type StopReason string

// The stop reasons.
const (
	StopEndTurn    StopReason = "endTurn"
	StopCancelled  StopReason = "cancelled"
	StopMaxTurns   StopReason = "maxTurns"
	StopMaxTokens  StopReason = "maxTokens"
	StopMaxSeconds StopReason = "maxSeconds"
	StopMaxCost    StopReason = "maxCost"
	StopLength     StopReason = "length"
	StopRefusal    StopReason = "refusal"
	StopLoop       StopReason = "loop"
	StopError      StopReason = "error"
)

// RunError is why a run ended in StopError. Message is for the user.
type RunError struct {
	Class     string `json:"class"`
	Message   string `json:"message"`
	Status    int    `json:"status,omitempty"`
	Retryable bool   `json:"retryable"`
}

// Mode limits what a run may do.
type Mode string

// The modes.
const (
	ModeAgent Mode = "agent" // everything
	ModePlan  Mode = "plan"  // reads only, ends with a plan
	ModeAsk   Mode = "ask"   // reads only, answers
)

// Review says when the user decides.
type Review string

// The review modes.
const (
	ReviewEnd  Review = "end"  // the agent works on while hunks wait
	ReviewStep Review = "step" // an edit tool waits for the verdict
	ReviewAuto Review = "auto" // accepted at once
)

func (RunStarted) eventType() string      { return "runStarted" }
func (TurnStarted) eventType() string     { return "turnStarted" }
func (TextDelta) eventType() string       { return "text" }
func (ThoughtDelta) eventType() string    { return "thought" }
func (MessageDone) eventType() string     { return "message" }
func (ToolCall) eventType() string        { return "toolCall" }
func (ToolOutput) eventType() string      { return "toolOutput" }
func (PlanUpdated) eventType() string     { return "plan" }
func (ProposalChanged) eventType() string { return "proposal" }
func (PermissionAsked) eventType() string { return "permission" }
func (UsageUpdated) eventType() string    { return "usage" }
func (Notice) eventType() string          { return "notice" }
func (Steered) eventType() string         { return "steered" }
func (RunEnded) eventType() string        { return "runEnded" }
