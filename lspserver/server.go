// Package lspserver is the front end that editors talk to: LSP 3.18 plus the
// agent/* methods of lspserver/ext, over one pair of streams.
//
// It owns what belongs to a connection: its life cycle, the open documents,
// the sessions and the queue of edits that the editor applies. It decides
// nothing that an agent or a proposal is about: package agent runs the loop,
// tools/changeset keeps what is proposed.
//
// Notifications are taken in order on the reading goroutine and never wait;
// every request runs in a goroutine of its own. There is a file for each
// group of methods; a handler decodes, calls, converts, and is done.
//
//	os.Exit(lspserver.Serve(ctx, os.Stdin, os.Stdout, lspserver.Options{Version: "1.0"}))
package lspserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/agentls/agentls/agent/config"
	"github.com/agentls/agentls/agent/llm/openai"
	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/lspserver/internal/review"
	"github.com/agentls/agentls/lspserver/internal/rpc"
	"github.com/agentls/agentls/tools/workspace"
)

// Options are what the process gives to the server.
type Options struct {
	Version string
	// Log is for what goes to standard error or a file; nil discards it.
	Log *slog.Logger
	// Env looks a variable up; nil is the process's environment.
	Env func(string) (string, bool)
}

// server is one connection.
type server struct {
	opts Options
	log  *slog.Logger
	conn *rpc.Conn
	// life ends when the connection does; runs and questions hang on it.
	life  context.Context
	leave context.CancelCauseFunc
	// asking is the place before the user: one question at a time.
	asking chan struct{}

	// Set by initialize, before any other handler runs, and not changed after.
	client    client
	docs      *document.Store
	workspace *workspace.Workspace
	rebaser   *review.Rebaser
	applier   *review.Applier
	initOpts  json.RawMessage

	// folders belong to the reading goroutine.
	folders folders

	// goroutines are the background ones that outlive a handler.
	goroutines sync.WaitGroup

	// restoring is held while a stored session is loaded, so that it is loaded
	// once.
	restoring sync.Mutex

	mu       sync.Mutex
	trusted  bool
	told     chan struct{}   // closed when the settings asked for last have come; nil before
	settings json.RawMessage // the client's section "agentls", over initializationOptions
	config   config.Resolved
	problems []config.Problem
	clients  map[string]*openai.Client // by endpoint
	sessions map[string]*conversation
	runs     map[string]*runState
	current  *conversation // a plain client's session
}

// Stdio takes standard input and output for the connection alone: what else is
// printed there comes out on standard error, and children inherit neither.
func Stdio() (in, out *os.File, err error) { return rpc.Stdio() }

// Serve answers one editor over in and out until it leaves, and returns the
// exit status that LSP asks for: 0 after shutdown and exit, else 1.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) int {
	s := newServer(o)
	return s.serve(ctx, in, out)
}

// handle makes a handler out of a function with typed params. Absent params
// are as good as an empty object.
func handle[P any](f func(ctx context.Context, p P) (any, error)) rpc.Handler {
	return func(ctx context.Context, _ string, raw json.RawMessage) (any, error) {
		p, err := decode[P](raw)
		if err != nil {
			return nil, err
		}
		return f(ctx, p)
	}
}

// notified is handle for a notification.
func notified[P any](f func(ctx context.Context, p P) error) rpc.Handler {
	return func(ctx context.Context, _ string, raw json.RawMessage) (any, error) {
		p, err := decode[P](raw)
		if err != nil {
			return nil, err
		}
		return nil, f(ctx, p)
	}
}

func decode[P any](raw json.RawMessage) (P, error) {
	var p P
	if len(raw) == 0 || string(raw) == "null" {
		return p, nil
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, invalidParams("params: %v", err)
	}
	return p, nil
}

func invalidParams(format string, args ...any) error {
	return &rpc.Error{Code: rpc.InvalidParams, Message: fmt.Sprintf(format, args...)}
}

// failed is an error that only this protocol knows.
func failed(code ext.ErrorCode, format string, args ...any) error {
	data, err := json.Marshal(ext.ErrorData{Code: code})
	if err != nil {
		return err
	}
	return &rpc.Error{Code: ext.CodeFailed, Message: fmt.Sprintf(format, args...), Data: data}
}

// requests and notifications are all methods that the server takes.
func (s *server) requests() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		"workspace/executeCommand":      handle(s.executeCommand),
		"workspace/textDocumentContent": handle(s.textDocumentContent),
		"textDocument/codeLens":         handle(s.codeLens),
		"textDocument/codeAction":       handle(s.codeAction),

		ext.MethodSessionNew:        handle(s.sessionNew),
		ext.MethodSessionList:       handle(s.sessionList),
		ext.MethodSessionLoad:       handle(s.sessionLoad),
		ext.MethodSessionConfigure:  handle(s.sessionConfigure),
		ext.MethodRunStart:          handle(s.runStart),
		ext.MethodRunWait:           handle(s.runWait),
		ext.MethodRunCancel:         handle(s.runCancel),
		ext.MethodRunSteer:          handle(s.runSteer),
		ext.MethodProposalGet:       handle(s.proposalGet),
		ext.MethodProposalResolve:   handle(s.proposalResolve),
		ext.MethodProposalDocument:  handle(s.proposalDocument),
		ext.MethodCheckpointList:    handle(s.checkpointList),
		ext.MethodCheckpointRestore: handle(s.checkpointRestore),
		ext.MethodStatus:            handle(s.status),
		ext.MethodModels:            handle(s.models),
		ext.MethodTrust:             handle(s.trust),
	}
}

func (s *server) notifications() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		"initialized":                         notified(s.initialized),
		"textDocument/didOpen":                notified(s.didOpen),
		"textDocument/didChange":              notified(s.didChange),
		"textDocument/didSave":                notified(s.didSave),
		"textDocument/didClose":               notified(s.didClose),
		"workspace/didChangeWorkspaceFolders": notified(s.didChangeFolders),
		"workspace/didChangeConfiguration":    notified(s.didChangeConfiguration),
		"workspace/didChangeWatchedFiles":     notified(s.didChangeWatchedFiles),
		"workspace/didRenameFiles":            notified(s.didRenameFiles),
		"window/workDoneProgress/cancel":      notified(s.progressCancel),
		"$/setTrace":                          func(context.Context, string, json.RawMessage) (any, error) { return nil, nil },
	}
}

// methods are the agent/* requests, in a fixed order.
func (s *server) methods() []string {
	var names []string
	for name := range s.requests() {
		if len(name) > 6 && name[:6] == "agent/" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
