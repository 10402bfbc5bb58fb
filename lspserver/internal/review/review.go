// Package review is everything between a proposal and the editor of one
// connection: it keeps proposals in step with the documents, sends what was
// accepted as workspace/applyEdit, finds out what became of it, and words
// proposals for clients with and without a review of their own.
//
// The front end makes one [Rebaser] and one [Applier] for a connection, tells
// the first of every document notification and has the second carry out
// verdicts. Neither writes to a file: what changes a document is the editor,
// after the user let it.
//
// An editor is not believed. `applied: true` may be a lie, a refusal may have
// done half, an answer may never come: a hunk is applied when the synchronized
// text, or the disk where the editor holds none, shows it. See [Applier].
//
// Everything here may be called from any goroutine; Rebaser.Document and
// Rebaser.Disk, for the connection's reader, do not block.
//
//	rebaser := review.NewRebaser(workspace, sessions, log)
//	docs.Subscribe(rebaser.Document)
//	applier := review.NewApplier(review.Options{Client: conn, Docs: docs, Rebaser: rebaser, …})
//	results, err := applier.Resolve(ctx, set, review.Request{Revision: 7, Decisions: ds})
package review

import "context"

// Client is the connection to the editor. Call sends a request and waits for
// its answer; when ctx ends first it takes the request back
// ($/cancelRequest).
type Client interface {
	Call(ctx context.Context, method string, params, result any) error
}
