package rpc

import (
	"fmt"

	"go.lsp.dev/jsonrpc2"
)

// The methods that this package knows the meaning of.
const (
	methodInitialize = "initialize"
	methodShutdown   = "shutdown"
	methodExit       = "exit"
	methodCancel     = "$/cancelRequest"
)

// phase is where a connection stands in the life cycle of LSP (3.18
// § Lifecycle Messages). It only ever moves down this list, except that a
// failed initialize may be sent again.
type phase int

const (
	// uninitialized: nothing is taken but initialize and exit.
	uninitialized phase = iota
	// initializing: initialize is being handled; its answer goes out before
	// anything else. It is handled on the reader, so nothing is read meanwhile.
	initializing
	// running: everything is taken, before initialized too.
	running
	// shutDown: nothing is taken but exit and answers.
	shutDown
)

func (p phase) String() string {
	return [...]string{"uninitialized", "initializing", "running", "shut down"}[p]
}

// request returns the phase that a request leads to, or how it is refused.
func (p phase) request(method string) (phase, *jsonrpc2.Error) {
	switch {
	case p == shutDown:
		return p, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the server was shut down: only exit may follow")
	case p == uninitialized && method == methodInitialize:
		return initializing, nil
	case p == uninitialized:
		return p, jsonrpc2.Errorf(jsonrpc2.ServerNotInitialized, "%s before initialize", method)
	case method == methodInitialize:
		return p, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "initialize may be sent once")
	case method == methodShutdown:
		return shutDown, nil
	}
	return p, nil
}

// notification reports whether a notification is taken; exit always is.
func (p phase) notification(method string) bool {
	return method == methodExit || p == running
}

// initialized returns the phase after the answer to initialize.
func (p phase) initialized(failed bool) phase {
	switch {
	case p != initializing:
		panic(fmt.Sprintf("rpc: initialize answered while %v", p))
	case failed:
		return uninitialized
	}
	return running
}
