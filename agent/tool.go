package agent

import (
	"context"
	"encoding/json"

	"github.com/agentls/agentls/agent/llm"
)

// Kind sorts tool calls for display; the names are the protocol's.
type Kind string

// The kinds.
const (
	KindRead    Kind = "read"
	KindSearch  Kind = "search"
	KindEdit    Kind = "edit"
	KindDelete  Kind = "delete"
	KindMove    Kind = "move"
	KindExecute Kind = "execute"
	KindThink   Kind = "think"
	KindOther   Kind = "other"
)

// Tool is something a model can do. Implementations are safe for concurrent
// use; the loop runs calls side by side only when their plans are ReadOnly.
type Tool interface {
	// Spec is what the model is told: the same bytes at every call.
	Spec() llm.Tool
	// Plan says what a call would do, without doing any of it: it reads
	// nothing and is cheap. An error means that the input does not fit, and is
	// told to the model.
	Plan(input json.RawMessage) (Plan, error)
	// Run does it. Errors of the work belong in the Result: they go back to
	// the model. It returns soon after ctx ends.
	Run(ctx context.Context, call Call) Result
}

// Reader is a Tool none of whose calls changes a file or starts a command,
// whatever its input. ModePlan and ModeAsk offer tools that say so and no
// others. (A Plan's ReadOnly is about running side by side: a question to the
// user changes nothing, and still has to be asked alone.)
type Reader interface {
	Tool
	ReadsOnly() bool
}

// Plan is what a call would touch.
type Plan struct {
	Kind Kind
	// Title is one line for the user: "Read src/a.go".
	Title string
	// ReadOnly calls change nothing and may run side by side.
	ReadOnly bool
	// Locations are the files it works on.
	Locations []Location
}

// Location is a place that a tool call works on. Path is absolute.
type Location struct {
	Path string
	Line int // 1-based, 0 if it is the whole file
}

// Call is one run of a tool.
type Call struct {
	ID    string // toolCallId
	RunID string
	Input json.RawMessage
	// Mode and Review are the run's.
	Mode   Mode
	Review Review
	// Emit sends an event of the run: live output, a plan. Never nil. What is
	// sent after the call is over is dropped.
	Emit func(Event)
	// Pause tells that a person is waited for: until resume is called that
	// counts to no budget. Never nil.
	Pause func() (resume func())
}

// Result is the outcome of a call.
type Result struct {
	// Text is for the model: bounded, valid UTF-8.
	Text string
	// Status is StatusCompleted where it is empty.
	Status Status
	// Locations replace those of the plan where a tool learned better.
	Locations []Location
}

// Failed is the result of a call that could not do what was asked; text says
// why, for the model.
func Failed(text string) Result { return Result{Text: text, Status: StatusFailed} }

// Status is where a tool call stands.
type Status string

// The statuses.
const (
	StatusPending   Status = "pending"
	StatusRunning   Status = "running"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusDenied    Status = "denied"
	StatusCancelled Status = "cancelled"
)
