package changeset

import (
	"slices"

	"github.com/agentls/agentls/tools/text"
)

// file is one document of the editor and what is to become of it.
type file struct {
	id string
	// old is where the editor's document is, or for a create where it would
	// be; path is where the agent sees the file, empty if it deleted it.
	old, path string
	// base is the document's text. While gone is set it is the last there was.
	base   string
	exists bool // the document was there when last seen, or is gone
	open   bool
	saved  bool // there is a file on disk
	// born: the agent made the file where nothing was.
	born bool
	// gone: the document that is to change was taken away.
	gone bool
	// blocker is the document at path, if any, where that is not old.
	blocker Doc
	// seen is what the document was when the agent deleted it.
	seen string
	// hunks are sorted by start; pending cores are disjoint.
	hunks  []*hunk
	origin Origin
	// failed and reason are those of a file operation that was not applied.
	failed bool
	reason string
	flight *fileFlight // the operation that is being applied

	// shown is the snapshot of the newest revision; its Op is empty where
	// nothing is shown. changed and added are the revisions of the operation.
	shown          File
	opState        State
	changed, added int64
	indexed        []string
	lines          *text.Document // of base, once a line was asked for
}

// hunk is a change of base[start:end].
type hunk struct {
	id         string
	num        int64 // of the id: the smaller, the earlier
	start, end int
	// old is the text that the change was made on, new what it makes of it.
	// base[start:end] differs from old while the hunk is conflicted.
	old, new string
	failed   bool // notApplied, for reason
	reason   string
	origin   Origin
	// asked is what a person last wanted of the hunk, kept until it shows in
	// the document or something else is wanted.
	asked *asked
	// next is what the agent wrote on base[start:end] while the hunk was in
	// flight.
	next  *string
	homes []home // where it stood before edits that met it, newest last
	slot  int    // once it has landed: its index among those that stay

	changed, added int64
}

// operation is what is to become of a file, by where its document is and
// where the agent sees it. It is empty where that is the same and no text.
func (f *file) operation() Op {
	switch {
	case f.exists && f.path == "":
		return OpDelete
	case f.exists && f.path != f.old:
		return OpRename
	case f.exists:
		return OpModify
	case f.path != "":
		return OpCreate
	}
	return ""
}

// empty tells whether nothing of f is left to decide or to wait for.
func (f *file) empty() bool {
	if f.flight != nil || slices.ContainsFunc(f.hunks, (*hunk).inFlight) {
		return false
	}
	op := f.operation()
	return op == "" || op == OpModify && len(f.hunks) == 0
}

// conflicted tells whether h's place is not what the change was made on.
func (f *file) conflicted(h *hunk) bool {
	return f.gone || f.base[h.start:h.end] != h.old
}

// edit is what the agent wants, as an edit of the base.
func (h *hunk) edit() text.Edit { return text.Edit{Start: h.start, End: h.end, New: h.new} }

func (h *hunk) inFlight() bool { return h.asked != nil && h.asked.flying }

// text is what the agent sees in the place of base[start:end].
func (f *file) text(h *hunk) string {
	if f.conflicted(h) {
		return f.base[h.start:h.end]
	}
	return f.wanted(h)
}

func (f *file) state(h *hunk) State {
	switch {
	case f.conflicted(h):
		return Conflicted
	case h.failed:
		return NotApplied
	}
	return Pending
}

// Reasons of what is conflicted.
const (
	reasonChanged = "the text was changed in the editor"
	reasonGone    = "the file is not there any more"
	reasonTaken   = "there is a file at the new path now"
	reasonBusy    = "is being applied"
)

func (f *file) reasonOf(h *hunk) string {
	switch {
	case f.gone:
		return reasonGone
	case f.conflicted(h):
		return reasonChanged
	}
	return h.reason
}

// operationState is that of a file as a whole, hunks apart.
func (f *file) operationState() (State, string) {
	op := f.operation()
	switch {
	case op == OpModify:
		return Pending, ""
	case f.gone:
		return Conflicted, reasonGone
	case f.old != f.path && f.path != "" && f.blocker.there():
		return Conflicted, reasonTaken
	case op == OpDelete && f.base != f.seen:
		return Conflicted, reasonChanged
	case f.failed:
		return NotApplied, f.reason
	}
	return Pending, ""
}

// show makes the snapshot of f anew and says how it differs from the one
// before. What differs gets the revision next.
func (f *file) show(next int64) Moves {
	was := f.shown
	now := File{FileID: f.id, Op: f.operation(), Path: f.path, Base: f.base, Open: f.open, ToolCallID: f.origin.ToolCallID, Intent: f.origin.Intent, proposed: &lazyText{}}
	if f.gone {
		now.Base = ""
	}
	opState, reason := f.operationState()
	now.State, now.Reason = opState, reason
	effect := Unmoved
	switch now.Op {
	case OpRename:
		now.OldPath = f.old
	case OpDelete:
		now.Path, now.Removed = f.old, countLines(f.base)
	}
	if now.Op != OpDelete {
		effect = f.showHunks(&now, was.Hunks, next)
	}
	if now.Op == "" || now.Op == OpModify && len(now.Hunks) == 0 {
		f.shown = File{}
		if was.Op != "" {
			return Altered
		}
		return Unmoved
	}
	if was.Op != now.Op || was.Path != now.Path || was.OldPath != now.OldPath || f.opState != opState || now.Op == OpDelete && was.Base != now.Base {
		f.changed, effect = next, Altered
	}
	if was.State != now.State || was.Reason != now.Reason {
		effect = Altered
	}
	if f.added == 0 {
		f.added = next
	}
	if effect == Unmoved && was.Base == now.Base {
		now.proposed = was.proposed
	}
	f.opState, f.shown = opState, now
	return effect
}

// showHunks fills in the hunks of now.
func (f *file) showHunks(now *File, was []Hunk, next int64) Moves {
	effect := Unmoved
	now.Hunks = make([]Hunk, 0, len(f.hunks))
	before := finder{hunks: was}
	for i, h := range f.hunks {
		if f.hidden(h) {
			continue
		}
		shown := f.extent(i)
		old := before.find(h.id)
		switch {
		case old == nil:
			h.added, h.changed, effect = next, next, Altered
		case old.State != shown.State || old.OldText != shown.OldText || !f.sameNew(old, &shown, h):
			h.changed, effect = next, Altered
		case old.Reason != shown.Reason || old.ToolCallID != shown.ToolCallID || old.Intent != shown.Intent:
			effect = Altered
		case old.Start != shown.Start:
			effect = max(effect, Shifted)
		}
		if h.changed == next {
			shown.NewText = f.newText(&shown, h)
			if shown.State != Conflicted {
				shown.count()
			}
		} else {
			shown.NewText, shown.added, shown.removed = old.NewText, old.added, old.removed
		}
		now.Hunks = append(now.Hunks, shown)
		now.Added, now.Removed = now.Added+shown.added, now.Removed+shown.removed
		if shown.State.worse(now.State) {
			now.State = shown.State
		}
	}
	if len(was) != len(now.Hunks) {
		effect = Altered
	}
	return effect
}

// hidden tells whether there is nothing to show of h: what is in flight is not
// what the agent wants, who took it back, or is the user's text only.
func (f *file) hidden(h *hunk) bool {
	return f.exists && h.inFlight() && !f.conflicted(h) && f.wanted(h) == f.base[h.start:h.end]
}

// extent draws hunk i out to whole lines, but never over a neighbour: two
// hunks may have come to stand on one line when the user joined theirs.
func (f *file) extent(i int) Hunk {
	h := f.hunks[i]
	shown := Hunk{HunkID: h.id, State: f.state(h), Reason: f.reasonOf(h), ToolCallID: h.origin.ToolCallID, Intent: h.origin.Intent}
	new := f.wanted(h)
	if f.gone {
		shown.core.New = new
		return shown
	}
	start, end := text.WholeLines(f.base, text.Edit{Start: h.start, End: h.end, New: new})
	if i > 0 {
		start = max(start, f.hunks[i-1].end)
	}
	if i+1 < len(f.hunks) && text.StartOfLine(f.base, f.hunks[i+1].start) < end {
		end = h.end
	}
	shown.Start, shown.End, shown.OldText = start, end, f.base[start:end]
	shown.core = text.Edit{Start: h.start, End: h.end, New: new}
	return shown
}

// wanted is the text that the proposal shows in the place of the hunk's core.
func (f *file) wanted(h *hunk) string {
	if h.next != nil {
		return *h.next
	}
	return h.new
}

// newText is the text that is to replace the whole lines of shown.
func (f *file) newText(shown *Hunk, h *hunk) string {
	if f.gone {
		return shown.core.New
	}
	return f.base[shown.Start:h.start] + shown.core.New + f.base[h.end:shown.End]
}

// sameNew tells whether newText would be what old has, without making it.
func (f *file) sameNew(old, shown *Hunk, h *hunk) bool {
	if f.gone {
		return old.NewText == shown.core.New
	}
	pre, post := f.base[shown.Start:h.start], f.base[h.end:shown.End]
	n := len(pre) + len(shown.core.New)
	return len(old.NewText) == n+len(post) && old.NewText[:len(pre)] == pre && old.NewText[len(pre):n] == shown.core.New && old.NewText[n:] == post
}

// finder looks hunks up by id, fastest where they are asked for in order.
type finder struct {
	hunks []Hunk
	at    int
	byID  map[string]int
}

func (f *finder) find(id string) *Hunk {
	if f.at < len(f.hunks) && f.hunks[f.at].HunkID == id {
		f.at++
		return &f.hunks[f.at-1]
	}
	if f.byID == nil {
		f.byID = make(map[string]int, len(f.hunks))
		for i := range f.hunks {
			f.byID[f.hunks[i].HunkID] = i
		}
	}
	i, ok := f.byID[id]
	if !ok {
		return nil
	}
	f.at = i + 1
	return &f.hunks[i]
}
