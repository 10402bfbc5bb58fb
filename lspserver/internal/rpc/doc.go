// Package rpc is the connection to the client: JSON-RPC 2.0 in the frames of
// LSP over a pair of byte streams, and the rules about order, cancelling,
// back-pressure and faults that protocol.md §1 asks for. lspserver is its user.
//
//	conn := rpc.NewConn(in, out, closer, rpc.Options{
//		Lifecycle: true,
//		Notify:    server.notify, // document changes and the like, in order
//		Call:      server.call,   // requests, side by side
//	})
//	err := conn.Run(ctx) // nil: exit status 0
//
// It stands on go.lsp.dev/jsonrpc2, which correlates answers and hands the
// reading on when a handler goes its own way. What that library ends a
// connection for (bad frames, bad JSON, errors of notifications, panics) is
// kept from it by the stream below it and the handler above it.
//
// # Who runs what
//
// The reader is one goroutine at a time. It cuts frames, answers the faulty
// ones, takes $/cancelRequest and exit, and handles notifications and inline
// requests in the order in which they came. It never waits for a handler or
// for room in the queue. Every other request has a goroutine of its own, which
// starts after everything that was sent before the request was handled.
//
// The writer is one goroutine. What the server sends of its own waits for room
// in the queue (8 MiB); answers do not wait. Everything leaves in the order in
// which it was queued, and nothing before the answer to initialize.
//
// All methods of Conn may be used from any goroutine, Call from any but the
// reader. Run waits for every goroutine that it started, within the grace time.
package rpc
