package changeset

import (
	"sync"

	"github.com/agentls/agentls/tools/text"
)

// Op is what is to become of a file.
type Op string

// The operations.
const (
	OpModify Op = "modify"
	OpCreate Op = "create"
	OpDelete Op = "delete"
	OpRename Op = "rename" // its hunks are in the document at the old path
)

// State is where a hunk or a file stands.
type State string

// The states. The first three are in a proposal, the others have left it.
const (
	Pending    State = "pending"
	NotApplied State = "notApplied" // was accepted, and the document does not show it
	Conflicted State = "conflicted" // the user changed the same place
	Applied    State = "applied"
	Modified   State = "modified" // applied with the user's own text
	Rejected   State = "rejected"
)

// worse orders the states of a proposal.
func (s State) worse(t State) bool {
	rank := map[State]int{NotApplied: 1, Conflicted: 2}
	return rank[s] > rank[t]
}

// Proposal is all that a session wants to change and that is not settled, as
// it was at one revision.
type Proposal struct {
	// Revision grows with every change that Proposal shows.
	Revision int64
	// Files are in the order in which the agent first touched them.
	Files []File
}

// File is the change of one file.
type File struct {
	FileID string
	Op     Op
	// Path is where the file will be; for a delete, where it is.
	Path string
	// OldPath is where a rename comes from, else empty. The editor's document
	// is there as long as the rename is not applied.
	OldPath string
	// State is that of the worst hunk, or of the operation.
	State State
	// Reason says why the operation of a create, delete or rename is
	// conflicted or not applied.
	Reason string
	// Added and Removed count lines of what is pending and notApplied.
	Added, Removed int
	// Base is the document as the editor has it, empty for a create.
	Base string
	// Open says that an editor holds the document.
	Open bool
	// Hunks are sorted and disjoint. A create has one, a delete none.
	Hunks []Hunk
	// ToolCallID and Intent are those of the last call that changed what is to
	// become of the file as a whole.
	ToolCallID, Intent string

	proposed *lazyText
}

// Document is the path of the editor's document that the hunks are in.
func (f File) Document() string {
	if f.Op == OpRename {
		return f.OldPath
	}
	return f.Path
}

// Proposed is the text that the file is to have: Base with what is pending or
// notApplied. It is empty for a delete.
func (f File) Proposed() string {
	if f.proposed == nil { // not made by a Set
		return f.propose()
	}
	f.proposed.once.Do(func() { f.proposed.text = f.propose() })
	return f.proposed.text
}

type lazyText struct {
	once sync.Once
	text string
}

func (f File) propose() string {
	if f.Op == OpDelete {
		return ""
	}
	edits := make([]text.Edit, 0, len(f.Hunks))
	for _, h := range f.Hunks {
		if h.State != Conflicted {
			edits = append(edits, text.Edit{Start: h.Start, End: h.End, New: h.NewText})
		}
	}
	return text.Apply(f.Base, edits)
}

// Hunk is a change of some lines. OldText is Base[Start:End].
type Hunk struct {
	HunkID           string
	State            State
	Start, End       int
	OldText, NewText string
	// ToolCallID and Intent are those of the last call that wrote here.
	ToolCallID, Intent string
	// Reason says why it is conflicted or not applied.
	Reason string

	added, removed int
	core           text.Edit
}

// Core is the edit that an editor is to make: the hunk without what stays of
// its lines.
func (h Hunk) Core() text.Edit { return h.core }
