// Package changeset is the proposal of one session: what an agent wants to
// change, kept apart from the user's files until it is decided.
//
// A [Set] holds for each file that the agent touched the document as the
// editor has it (the base) and the agent's changes as hunks over it. It does
// no I/O but through its [Source] and writes nothing. Three parties talk to it:
//
//	the agent's tools   Read Saw Write Edit Delete Move Overlay   the files as if everything were made
//	the editor          Rebase Sync                               the documents as they are now
//	the review          Proposal Sides Resolve Settle             what is shown, decided, and really applied
//
// # Hunks
//
// Inside, a hunk is a core: the span of the base that changes, cut to whole
// words, and its new text. Shown it is drawn out to whole lines, so that it
// reads as a diff does; sent to an editor it is the core, so that typing
// elsewhere on the line does no harm. Both make the same text. All offsets are
// bytes of File.Base.
//
// When a document changes, its hunks are merged three-way: cores that the
// change does not touch move, cores it overlaps become conflicted until the
// text under them is back, and a core whose new text is in place has been
// applied, by whomever, and leaves.
//
// # Files
//
// A File is one document of the editor and what is to become of it; a path
// belongs to at most one. Create, modify, delete and rename are not recorded
// but follow from where the document is and where the agent sees it, so that
// any sequence of operations folds into one. Where the agent puts something
// at a path that it moved or deleted a file from, the file that the editor
// has there is modified, and what was moved away is created at its new place:
// every File can be decided alone, in any order.
//
// # Applying
//
//	batch, err := set.Resolve(revision, decisions)    // nothing happened if err != nil
//	… send batch.Files to the editor, let its changes arrive through Rebase …
//	results := set.Settle(batch, documentNow, "the editor refused the edit")
//
// Between the two the hunks of the batch are in flight. Rebase finds their
// text in place; Settle only reads what became of it, and Refresh makes the
// batch anew for another try. What the agent writes on hunks in flight is kept
// and becomes pending again on what was applied. TakeOutcomes and Summarise
// tell the model what became of its work.
//
// # Survival
//
// Save gives everything as plain data, also what is in flight; Restore merges
// it with the documents as they are then. Hunks keep their ids.
//
// # Concurrency
//
// All methods may be called from any goroutine. The set's lock is never held
// while the Source is asked, so a slow disk does not hold up typing; a text
// that Rebase brought is never taken back by an older one from the Source.
// Snapshots (Proposal, File, Hunk) are immutable and shared: read them freely,
// change nothing in them.
package changeset
