package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"go.lsp.dev/jsonrpc2"
)

// Error is an error as it goes over the wire: a code, a message for the user,
// and data that is JSON already. A handler's error that wraps one is answered
// with it; what wraps it is for the log.
type Error = jsonrpc2.Error

// The codes of JSON-RPC and LSP that handlers answer with.
const (
	InvalidRequest   = jsonrpc2.InvalidRequest
	MethodNotFound   = jsonrpc2.MethodNotFound
	InvalidParams    = jsonrpc2.InvalidParams
	InternalError    = jsonrpc2.InternalError
	RequestCancelled = jsonrpc2.Code(-32800) // the client cancelled it and nothing came of it
	RequestFailed    = jsonrpc2.Code(-32803)
)

var (
	// ErrClosed is what calls and notifications fail with once the connection
	// has ended.
	ErrClosed = errors.New("the connection to the client is closed")
	// ErrCancelled is the cause of a handler's context that the client ended
	// with $/cancelRequest.
	ErrCancelled = errors.New("cancelled by the client")
	// ErrMethodNotFound is a handler's answer to a method that it does not know.
	ErrMethodNotFound = jsonrpc2.ErrMethodNotFound
	// ErrNotInitialized is what a call to the client fails with before
	// initialize was answered.
	ErrNotInitialized = errors.New("the client has not initialized the server")
	// ErrEarlyExit is the result of Run after an exit without shutdown.
	ErrEarlyExit = errors.New("exit without shutdown")

	errExit   = errors.New("exit")
	errUnread = errors.New("the client does not read its answers")
)

// wireError returns the error to answer with. What is not meant for the client
// is logged instead.
func (c *Conn) wireError(method string, err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		c.o.Log.Debug("request failed", "method", method, "err", err)
		if len(e.Data) > 0 && !json.Valid(e.Data) {
			c.o.Log.Error("error data is not valid JSON", "method", method)
			e = jsonrpc2.NewError(e.Code, e.Message)
		}
		return &Error{Code: e.Code, Message: strings.ToValidUTF8(e.Message, "\uFFFD"), Data: e.Data}
	case errors.Is(err, context.Canceled):
		return jsonrpc2.Errorf(RequestCancelled, "%s: cancelled", method)
	}
	c.o.Log.Error("request failed", "method", method, "err", err)
	return jsonrpc2.Errorf(jsonrpc2.InternalError, "%s: internal error, see the log of the server", method)
}
