// Package llm is the neutral vocabulary between the agent's loop and a model
// server: what a request holds, what a stream yields, and how it fails.
//
// Adapters (llm/openai …) translate it to a vendor's wire format; nothing
// here knows one. All values are plain data. A Message that has been put into
// a Request is never changed afterwards: adapters may keep references to it
// for the length of one call, and each request extends the one before.
//
//	for d, err := range model.Stream(ctx, llm.Request{Model: "m", Messages: history}) {
//		switch d := d.(type) {
//		case llm.TextDelta: show(d.Text)
//		case llm.Completed: history = append(history, d.Message)
//		}
//	}
package llm

import (
	"encoding/json"
	"time"
)

// Role says whose words a message holds. Results of tools are parts of a user
// message: roles on the wire are the adapter's business.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one entry of a conversation.
type Message struct {
	Role  Role
	Parts []Part
}

// Part is a piece of a message: Text, Thought, ToolUse, ToolResult or Image.
type Part interface{ part() }

// Text is written language.
type Text struct {
	Text string `json:"text"`
}

// Thought is a model's reasoning. Some servers want it back with the tool
// calls that followed it, others refuse it: the adapter decides.
type Thought struct {
	Text string `json:"text"`
	// Signature proves to the server that made it that the text is unchanged.
	Signature string `json:"signature,omitempty"`
}

// ToolUse is a model's call of a tool.
type ToolUse struct {
	// ID is unique in a conversation, whatever the server sent.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Input is always one valid JSON object; {} where the model sent anything
	// else, and Malformed then says what was wrong.
	Input json.RawMessage `json:"input"`
	// Malformed is why the call must not run: broken or cut arguments.
	Malformed string `json:"malformed,omitempty"`
}

// ToolResult answers the ToolUse with the same id.
type ToolResult struct {
	ToolUseID string `json:"toolUseId"`
	Text      string `json:"text"`
	IsError   bool   `json:"isError,omitempty"`
}

// Image is a picture in a user's message.
type Image struct {
	MIMEType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

func (Text) part()       {}
func (Thought) part()    {}
func (ToolUse) part()    {}
func (ToolResult) part() {}
func (Image) part()      {}

// Tool is a tool as a model sees it. Schema is a JSON Schema object.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Request is one call of a model. System stands outside the history and stays
// the same, byte for byte, within a session; so do Tools and their order.
type Request struct {
	Model    string
	System   string
	Messages []Message
	Tools    []Tool
	// MaxOutputTokens of 0 leaves the limit to the server.
	MaxOutputTokens int
}

// Delta is what a stream yields: TextDelta, ThoughtDelta, ToolUseDelta, Notice, and, last
// and exactly once in a stream without error, Completed.
type Delta interface{ delta() }

// TextDelta is more of the answer.
type TextDelta struct{ Text string }

// ThoughtDelta is more of the reasoning.
type ThoughtDelta struct{ Text string }

// ToolUseDelta tells that a call is being written, so that it can be shown
// early. It is never enough to run one.
type ToolUseDelta struct{ ID, Name string }

// Notice is a remark for the user, such as a parameter the server refused.
type Notice struct{ Severity, Code, Message string }

// Completed is the whole answer.
type Completed struct {
	Message Message
	Stop    StopReason
	// Usage is nil where the server told nothing.
	Usage *Usage
}

func (TextDelta) delta()    {}
func (ThoughtDelta) delta() {}
func (ToolUseDelta) delta() {}
func (Notice) delta()       {}
func (Completed) delta()    {}

// StopReason is why an answer ended. Whether tools were called decides if the
// loop goes on, not this.
type StopReason string

// The stop reasons.
const (
	StopEnd     StopReason = "end"     // the model was done, or called tools
	StopLength  StopReason = "length"  // the output limit; the last call may be cut
	StopRefusal StopReason = "refusal" // the model declined
	StopFilter  StopReason = "filter"  // the server's content filter cut it
)

// Usage counts the tokens of one request. A nil field was not told; it is not 0.
type Usage struct {
	Input      *int64 // includes cache reads and writes
	Output     *int64 // includes reasoning
	CacheRead  *int64
	CacheWrite *int64
	Reasoning  *int64
}

// ErrorClass sorts failures by what the user can do about them. The names are
// those of the protocol's error.class.
type ErrorClass string

// The error classes.
const (
	NoModel         ErrorClass = "noModel"
	Auth            ErrorClass = "auth"
	Quota           ErrorClass = "quota"
	RateLimit       ErrorClass = "rateLimit"
	ContextOverflow ErrorClass = "contextOverflow"
	ContentFilter   ErrorClass = "contentFilter"
	BadRequest      ErrorClass = "badRequest"
	Network         ErrorClass = "network"
	StreamCut       ErrorClass = "streamCut"
	Stalled         ErrorClass = "stalled"
	Internal        ErrorClass = "internal"
)

// Error is a failed request to a model. Message is one line for the user that
// says what to do, and holds no key.
type Error struct {
	Class   ErrorClass
	Message string
	// Status is the HTTP status, 0 if there was none.
	Status    int
	Retryable bool
	// RetryAfter is how long the server asked to wait, 0 if it did not say.
	RetryAfter time.Duration
	// ContextLimit is the window that an overflow reported, 0 if it did not.
	ContextLimit int
	Err          error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }
