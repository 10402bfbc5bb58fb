package changeset

import "github.com/agentls/agentls/tools/text"

// Doc is a document as the editor has it: the open buffer, else the file on
// disk without byte order mark.
type Doc struct {
	Text string
	// Exists says that there is a file on disk.
	Exists bool
	// Open says that an editor holds a buffer for it, saved or not.
	Open bool
}

// there says that an edit of the document has something to edit.
func (d Doc) there() bool { return d.Exists || d.Open }

// Source gives documents by path. A path where there is nothing is a zero Doc
// and no error. The Source must not call the Set, and who calls Rebase must
// not hold a lock that the Source needs.
type Source interface {
	Base(path string) (Doc, error)
}

// Origin says which call of the agent a change comes from.
type Origin struct {
	ToolCallID string `json:"toolCallId,omitempty"`
	Intent     string `json:"intent,omitempty"`
}

// ChangeKind is what came of a call of the agent.
type ChangeKind string

// The kinds.
const (
	NoChange  ChangeKind = "noChange"  // everything was so already; nothing happened
	Created   ChangeKind = "created"   // a new file is proposed
	Edited    ChangeKind = "edited"    // hunks of a file, new or rewritten
	Deleted   ChangeKind = "deleted"   // a file is proposed to go
	Moved     ChangeKind = "moved"     // a file is proposed to have another path
	Withdrawn ChangeKind = "withdrawn" // back to what the user has: the file left the proposal
)

// Change tells what came of a call of the agent.
type Change struct {
	Kind   ChangeKind
	FileID string
	// HunkIDs are the hunks that the call made or rewrote, in order.
	HunkIDs []string
	// Merged says that the user changed the file after the agent had seen it,
	// and that a Write was merged with that: the result is not the text given.
	Merged bool
}

// Decision is a verdict on a hunk, on a file or on all.
type Decision struct {
	// One of the three is set.
	HunkID string
	FileID string
	All    bool

	Verdict Verdict
	// NewText is what `edit` puts in the place of the hunk's NewText.
	NewText *string
	Comment string
}

// Verdict is what a person decided.
type Verdict string

// The verdicts.
const (
	Accept Verdict = "accept"
	Reject Verdict = "reject"
	Edit   Verdict = "edit"
)

// Result is what became of a decided hunk, or of the operation of a decided
// file.
type Result struct {
	FileID string
	HunkID string // empty for the operation of a delete or rename
	Path   string
	State  State
	Reason string
}

// FileEdit is what an editor is asked to do with one file.
type FileEdit struct {
	FileID string
	Op     Op
	// Path and OldPath are as in File: a rename goes from OldPath to Path, and
	// its edits are in the document at OldPath.
	Path, OldPath string
	// Base is the text that the edits are for, Want what they make of it.
	Base, Want string
	// Edits are sorted and disjoint; offsets are bytes of Base. A create has
	// none: its whole content is Want.
	Edits []text.Edit
}

// Document is the path of the document that the edits are in.
func (f FileEdit) Document() string {
	if f.Op == OpRename {
		return f.OldPath
	}
	return f.Path
}

// Moves tells what a changed document did to a proposal.
type Moves int

// The effects, in order.
const (
	Unmoved Moves = iota // nothing that Proposal shows
	Shifted              // hunks stand elsewhere, and are the same
	Altered              // hunks changed, came or left
)
