package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// step is one change of one file that is in the documents, or may be. All but
// its state is immutable.
type step struct {
	seq    int64 // the order in which they were made
	entry  *entry
	fileID string
	op     changeset.Op
	// path and oldPath are as in changeset.FileEdit.
	path, oldPath string
	// before is the document before it, edits what was made of that. A create
	// has one edit of nothing, a delete none.
	before *blob
	edits  []text.Edit
	// undoes are the steps that a restore took out of force, revives those
	// that it put in force again.
	undoes, revives []int64

	state state // guarded by Log.mu
}

// state says what a step counts for.
type state string

const (
	inForce state = ""     // it is in the documents
	out     state = "out"  // it was undone, and a restore in force may bring it back
	open    state = "open" // the editor was asked for it, and it is not known to have landed
)

// entry is a checkpoint: the steps of a run, or of a restore.
type entry struct {
	num     int64 // orders them by their first step
	runID   string
	restore bool
	of      int64 // what a restore restored
	time    time.Time
}

// document is the path at which the document was before the step.
func (s *step) document() string {
	if s.op == changeset.OpRename {
		return s.oldPath
	}
	return s.path
}

// touches tells whether the step is about the file at path.
func (s *step) touches(path string) bool { return s.path == path || s.oldPath == path && path != "" }

// after is the text that the step left.
func (s *step) after() string { return text.Apply(s.before.text, s.edits) }

// leaves tells whether after is t.
func (s *step) leaves(t string) bool {
	n := len(s.before.text)
	for _, e := range s.edits {
		n += e.Delta()
	}
	return n == len(t) && s.after() == t
}

// size is what the step takes, its text before apart.
func (s *step) size() int {
	n := 0
	for _, e := range s.edits {
		n += len(e.New)
	}
	return n
}

// extend gives s with edits of the text that it left made in it, too.
func (s *step) extend(edits []text.Edit) *step {
	e := *s
	if s.op == changeset.OpCreate {
		e.edits = whole(text.Apply(s.after(), edits))
	} else {
		e.edits = composed(s.before.text, s.edits, edits)
	}
	return &e
}

// whole are the edits that put content into an empty file.
func whole(content string) []text.Edit {
	if content == "" {
		return nil
	}
	return []text.Edit{{New: content}}
}

// blob is a text that steps share.
type blob struct {
	hash, text string
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// sameButSpace tells whether two texts differ in white space at most.
func sameButSpace(a, b string) bool {
	for {
		ra, na := nextInk(a)
		rb, nb := nextInk(b)
		if ra != rb || na < 0 || nb < 0 {
			return na < 0 && nb < 0
		}
		a, b = a[na:], b[nb:]
	}
}

// nextInk is the first rune of s that is no white space, and where the next
// one begins; -1 where there is none.
func nextInk(s string) (rune, int) {
	i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) })
	if i < 0 {
		return 0, -1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return r, i + n
}
