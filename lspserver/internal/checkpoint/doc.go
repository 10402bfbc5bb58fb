// Package checkpoint undoes what runs put into the user's documents.
//
// A [Log] belongs to one session. The front end tells it of every edit that an
// editor was asked for and of what came of it; there is one checkpoint for
// each run that had anything applied. Restoring one undoes that run and the
// later ones. The package works out how; it reads documents through a
// changeset.Source, sends nothing and writes to no disk.
//
//	log.Sending(runID, files, now)            // right before the applyEdit
//	log.Applied(runID, files, results, now)   // when it is known what landed
//
//	undo, err := log.Plan(checkpointID)
//	… apply all of undo.Set through the editor: files, results …
//	restored := log.Done(undo, files, results, now)
//
// # Steps
//
// What landed in one file is a step: the operation, the text before it and the
// edits that were made. Steps are undone one by one, the newest first. Each is
// a three-way merge: the text that the step left, the text that is there now,
// and the text that there was before. What the user typed since stays, and so
// does what was applied meanwhile and is not to be undone; where it overlaps
// with what the step changed, that part is conflicted and stays as it is. A
// line of the step's that was only spaced anew, as formatters do, is still the
// step's.
//
// A file that a run created goes only while it holds nothing but what runs put
// there, white space aside. A deleted file is created again, a renamed one
// goes back, unless something stands in that place by now.
//
// # Redo
//
// A restore is kept like a checkpoint, though not listed as one. Restoring the
// same checkpoint again makes again what was undone, and brings the dropped
// checkpoints back; so does restoring [Restored.Redo], even after other runs,
// which it undoes then.
//
// # What is kept
//
// Equal texts are kept once. Above [MaxBytes] the oldest checkpoints are
// dropped, and the caller is told. [Log.Unsaved] gives what is to be stored,
// as increments that [Restore] takes.
//
// # Concurrency
//
// All methods may be called from any goroutine. No lock is held while the
// Source is asked. Of two restores at once each does its part, but what the
// second sees is what the first left half done: let them wait for each other.
package checkpoint
