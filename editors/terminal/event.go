package terminal

import (
	"encoding/json"

	"github.com/agentls/agentls/lspserver/ext"
)

// event is an agent/event with the fields of all types side by side, and as it
// came.
type event struct {
	raw json.RawMessage

	Type string `json:"type"`

	MessageID string `json:"messageId"` // text, thought, message
	Role      string `json:"role"`
	Delta     string `json:"delta"` // text, thought, toolOutput
	Text      string `json:"text"`

	ToolCallID string `json:"toolCallId"` // toolCall, toolOutput
	Name       string `json:"name"`
	Title      string `json:"title"`
	Status     string `json:"status"`
	Output     string `json:"output"`
	Reason     string `json:"reason"`

	Entries []struct { // plan
		Text   string `json:"text"`
		Status string `json:"status"`
	} `json:"entries"`

	Files []ext.FileSummary `json:"files"` // proposal

	Severity string `json:"severity"` // notice
	Message  string `json:"message"`

	Prompt string `json:"prompt"` // runStarted, steered
	Model  string `json:"model"`
}

// usage is the part of a run's usage that is shown.
type usage struct {
	InputTokens     *int64   `json:"inputTokens"`
	OutputTokens    *int64   `json:"outputTokens"`
	CacheReadTokens *int64   `json:"cacheReadTokens"`
	Turns           int      `json:"turns"`
	ToolCalls       int      `json:"toolCalls"`
	Cost            *float64 `json:"cost"`
}

// runError is why a run failed.
type runError struct {
	Class   string `json:"class"`
	Message string `json:"message"`
}

// as reads what ext leaves open into one of the types above. What does not fit
// is left at zero: it is only shown.
func as[T any](v any) (out T) {
	if v == nil {
		return out
	}
	if b, err := json.Marshal(v); err == nil {
		_ = json.Unmarshal(b, &out)
	}
	return out
}

// encode makes JSON of a value that always has one.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only our own structs and strings get here
	}
	return b
}
