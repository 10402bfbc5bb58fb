package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/editors/terminal/internal/disk"
	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/tools/text"
)

// client is the connection to a server. Its handlers run on goroutines of the
// connection and hand on to the one that owns the console.
type client struct {
	conn jsonrpc2.Conn
	// life ends with the client; handlers and the reader hang on it.
	life   context.Context
	cancel context.CancelFunc

	messages  chan message
	questions chan question

	applying sync.Mutex // held while an edit is applied; guards the two below
	folder   *disk.Folder
	encoding text.Encoding // as initialize agreed
}

// message is something to show: an event, or a text of the server's.
type message struct {
	event *event
	text  string
}

// question waits for the user; Reply is buffered.
type question struct {
	ctx        context.Context // ends when the question is taken back
	permission *permission
	ask        *ext.AskParams
	reply      chan any
}

// connect makes a client of a server's pipes. It owns them from now on.
func connect(ctx context.Context, pipes io.ReadWriteCloser, o Options) (*client, error) {
	dir := o.Dir
	if dir == "" {
		dir = "."
	}
	folder, err := disk.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open the workspace folder: %w", err)
	}
	c := &client{
		conn:      jsonrpc2.NewConn(jsonrpc2.NewStream(pipes), jsonrpc2.WithCodec(codec{})),
		messages:  make(chan message, 256),
		questions: make(chan question),
		folder:    folder,
	}
	c.life, c.cancel = context.WithCancel(ctx)
	handle := protocol.CancelHandler(c.handle)
	c.conn.Go(c.life, func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		isCall := req.IsCall()
		result, err := handle(ctx, req)
		if !isCall {
			err = nil // a broken notification must not end the connection
		}
		return result, err
	})
	return c, nil
}

// close leaves the server, politely unless at once, and waits until it is gone.
func (c *client) close(atOnce bool) {
	if !atOnce {
		ctx, cancel := context.WithTimeout(c.life, leaveTime)
		if _, err := c.conn.Call(ctx, protocol.MethodShutdown, nil, nil); err == nil {
			_ = c.conn.Notify(ctx, protocol.MethodExit, nil)
		}
		cancel()
	}
	c.cancel()
	_ = c.conn.Close()
	_ = c.folder.Close()
}

// done is closed when the connection has ended.
func (c *client) done() <-chan struct{} { return c.conn.Done() }

// goCall asks the server; its answer or error comes on the channel, after all
// that the server sent before it is in messages.
func (c *client) goCall(method string, params, result any) <-chan error {
	answer := make(chan error, 1)
	go func() { answer <- c.call(method, params, result) }()
	return answer
}

func (c *client) call(method string, params, result any) error {
	var raw json.RawMessage
	if _, err := c.conn.Call(c.life, method, params, &raw); err != nil {
		var e *jsonrpc2.Error
		switch {
		case errors.As(err, &e):
			return &serverError{e}
		case c.life.Err() != nil:
			return c.life.Err()
		}
		return errServerGone // all that is left to fail is the connection
	}
	if result == nil {
		return nil
	}
	if err := (codec{}).Unmarshal(raw, result); err != nil {
		return fmt.Errorf("the answer to %s: %w", method, err)
	}
	return nil
}

// serverError is an error that the server answered with.
type serverError struct{ answer *jsonrpc2.Error }

func (e *serverError) Error() string { return e.answer.Message }

// code is the error's data.code, "" if it is none of this protocol's.
func (e *serverError) code() ext.ErrorCode {
	var data ext.ErrorData
	if json.Unmarshal(e.answer.Data, &data) != nil {
		return ""
	}
	return data.Code
}

// initialize opens the conversation: the client has one folder, no open
// documents, and applies edits to the files.
func (c *client) initialize(o Options) <-chan error {
	answer := make(chan error, 1)
	params := c.initializeParams(o)
	var result protocol.InitializeResult
	called := c.goCall(protocol.MethodInitialize, params, &result)
	go func() {
		err := <-called
		if err == nil {
			c.applying.Lock()
			c.encoding = text.UTF16
			if result.Capabilities.PositionEncoding == protocol.PositionEncodingKindUTF8 {
				c.encoding = text.UTF8
			}
			c.applying.Unlock()
			err = c.conn.Notify(c.life, protocol.MethodInitialized, protocol.InitializedParams{})
		}
		answer <- err
	}()
	return answer
}

func (c *client) initializeParams(o Options) protocol.InitializeParams {
	folder := uri.File(c.folder.Path())
	params := protocol.InitializeParams{
		ProcessID:  new(int32(os.Getpid())),
		ClientInfo: protocol.ClientInfo{Name: "agentls run", Version: protocol.NewOptional(o.Version)},
		Capabilities: protocol.ClientCapabilities{
			General: &protocol.GeneralClientCapabilities{
				PositionEncodings: []protocol.PositionEncodingKind{protocol.PositionEncodingKindUTF8, protocol.PositionEncodingKindUTF16},
			},
			Workspace: &protocol.WorkspaceClientCapabilities{
				ApplyEdit:        new(true),
				WorkspaceFolders: new(true),
				WorkspaceEdit: &protocol.WorkspaceEditClientCapabilities{
					DocumentChanges: new(true),
					ResourceOperations: []protocol.ResourceOperationKind{
						protocol.ResourceOperationKindCreate, protocol.ResourceOperationKindRename, protocol.ResourceOperationKindDelete,
					},
					FailureHandling: protocol.FailureHandlingKindUndo,
				},
			},
			Experimental: protocol.LSPAny(encode(map[string]ext.ClientCapabilities{"agent": {
				Protocol: ext.Version, Review: &ext.Feature{}, Permission: &ext.Feature{}, Ask: &ext.Feature{}, Save: &ext.Feature{},
			}})),
		},
	}
	params.WorkspaceFolders = protocol.NewNullable([]protocol.WorkspaceFolder{{URI: folder, Name: filepath.Base(c.folder.Path())}})
	return params
}

// positions is the encoding of the positions on this connection.
func (c *client) positions() text.Encoding {
	c.applying.Lock()
	defer c.applying.Unlock()
	return c.encoding
}

// handle takes what the server sends. Notifications are taken in order; a full
// messages channel holds the reader back, and so the server.
func (c *client) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	if !req.IsCall() {
		c.notified(req)
		return nil, nil
	}
	jsonrpc2.Async(ctx)
	switch req.Method() {
	case protocol.MethodWorkspaceApplyEdit:
		return c.applyEdit(req.Params())
	case ext.MethodEditorSave:
		return c.save(req.Params())
	case ext.MethodPermissionRequest:
		p, err := decode[permission](req.Params())
		if err != nil {
			return nil, err
		}
		return c.ask(ctx, question{permission: &p})
	case ext.MethodAsk:
		p, err := decode[ext.AskParams](req.Params())
		if err != nil {
			return nil, err
		}
		return c.ask(ctx, question{ask: &p})
	case protocol.MethodClientRegisterCapability, protocol.MethodClientUnregisterCapability,
		protocol.MethodWindowWorkDoneProgressCreate, protocol.MethodWindowShowMessageRequest:
		return nil, nil // nothing is promised by the answer, and nobody is asked
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "this client does not know %s", req.Method())
}

func (c *client) notified(req *jsonrpc2.Request) {
	var m message
	switch req.Method() {
	case ext.MethodEvent:
		e := event{raw: bytes.Clone(req.Params())}
		if err := json.Unmarshal(e.raw, &e); err != nil {
			m.text = "an event could not be read: " + err.Error()
			break
		}
		m.event = &e
	case protocol.MethodWindowShowMessage:
		var p struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(req.Params(), &p) != nil || p.Message == "" {
			return
		}
		m.text = p.Message
	default:
		return
	}
	select {
	case c.messages <- m:
	case <-c.life.Done():
	}
}

func (c *client) applyEdit(raw []byte) (any, error) {
	var p protocol.ApplyWorkspaceEditParams
	if err := protocol.Unmarshal(raw, &p); err != nil {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "workspace/applyEdit: %v", err)
	}
	c.applying.Lock()
	defer c.applying.Unlock()
	err := c.folder.Apply(p.Edit, c.encoding)
	if err == nil {
		return protocol.ApplyWorkspaceEditResult{Applied: true}, nil
	}
	result := protocol.ApplyWorkspaceEditResult{FailureReason: new(err.Error())}
	var refusal *disk.Refusal
	if errors.As(err, &refusal) {
		result.FailedChange = new(uint32(refusal.Change))
	}
	return result, nil
}

// save answers that all is saved: this client keeps no text but the files'.
func (c *client) save(raw []byte) (any, error) {
	p, err := decode[ext.SaveParams](raw)
	if err != nil {
		return nil, err
	}
	return ext.SaveResult{Saved: append([]string{}, p.URIs...)}, nil
}

// ask hands a question to whoever owns the console and waits for the answer.
// A question that was taken back is cancelled.
func (c *client) ask(ctx context.Context, q question) (any, error) {
	q.ctx, q.reply = ctx, make(chan any, 1)
	select {
	case c.questions <- q:
	case <-ctx.Done():
		return cancelledAnswer, nil
	case <-c.life.Done():
		return cancelledAnswer, nil
	}
	select {
	case answer := <-q.reply:
		return answer, nil
	case <-c.life.Done():
		return cancelledAnswer, nil
	}
}

// cancelledAnswer answers a question that nobody answers.
var cancelledAnswer = ext.AskResult{Cancelled: true}

func decode[T any](raw []byte) (T, error) {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "params: %v", err)
	}
	return v, nil
}

// codec encodes LSP's own types as their package does, and ours as
// encoding/json does, whose rules their tags are written for.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	switch v.(type) {
	case protocol.InitializeParams, protocol.InitializedParams, protocol.ApplyWorkspaceEditResult:
		return protocol.Marshal(v)
	}
	return json.Marshal(v)
}

func (codec) Unmarshal(data []byte, v any) error {
	if _, ok := v.(*protocol.InitializeResult); ok {
		return protocol.Unmarshal(data, v)
	}
	return json.Unmarshal(data, v)
}
