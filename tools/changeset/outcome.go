package changeset

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/tools/text"
)

// Outcome is something that became of a hunk or a file operation and that the
// model has not heard.
type Outcome struct {
	Path    string `json:"path"`
	OldPath string `json:"oldPath,omitempty"`
	FileID  string `json:"fileId"`
	HunkID  string `json:"hunkId,omitempty"`
	Op      Op     `json:"op"`
	// Origin is the call that wrote the hunk.
	Origin Origin `json:"origin"`
	// Line is the 1-based line of the hunk, 0 for a file operation; Text is
	// the first line that it makes, or else that it removes.
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
	// Verdict is empty where nobody decided: the user made the change.
	Verdict Verdict `json:"verdict,omitempty"`
	State   State   `json:"state"`
	Reason  string  `json:"reason,omitempty"`
	Comment string  `json:"comment,omitempty"`
	// UserText is the user's own text where the verdict was `edit`.
	UserText string `json:"userText,omitempty"`
}

// TakeOutcomes gives what the model has not heard, and forgets it. With ids it
// is only that of these hunks, and of the operations of these files.
func (s *Set) TakeOutcomes(ids ...string) []Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(ids) == 0 {
		out := s.outcomes
		s.outcomes = nil
		return out
	}
	var taken, left []Outcome
	for _, o := range s.outcomes {
		id := o.HunkID
		if id == "" {
			id = o.FileID
		}
		if slices.Contains(ids, id) {
			taken = append(taken, o)
		} else {
			left = append(left, o)
		}
	}
	s.outcomes = left
	return taken
}

// tellMade notes that the user made the change of h, or the operation of f
// where h is nil.
func (s *Set) tellMade(f *file, h *hunk) {
	o := f.describe(h)
	o.State = Applied
	s.outcomes = append(s.outcomes, o)
}

// maxOutcomeText is how much of a line an outcome quotes, in bytes.
const maxOutcomeText = 120

// describe begins the outcome of h, or of the operation of f.
func (f *file) describe(h *hunk) Outcome {
	o := Outcome{Path: f.path, FileID: f.id, Op: f.operation(), Origin: f.origin}
	switch o.Op {
	case OpDelete:
		o.Path = f.old
	case OpRename:
		o.OldPath = f.old
	}
	if h == nil {
		return o
	}
	o.HunkID, o.Origin, o.Line = h.id, h.origin, f.lineOf(h.start)
	// The whole line says more than the words that change.
	start, end := text.WholeLines(f.base, h.edit())
	o.Text = firstLine(f.base[start:h.start] + h.new + f.base[h.end:end])
	if o.Text == "" {
		o.Text = strings.TrimSpace(firstLine(h.old) + " (removed)")
	}
	return o
}

// firstLine is the first line of s that is not blank, cut to what is quoted.
func firstLine(s string) string {
	for s != "" {
		var line string
		line, s, _ = strings.Cut(s, "\n")
		if line = strings.TrimSpace(line); line != "" {
			return text.ClampRune(line, maxOutcomeText)
		}
	}
	return ""
}

// lineOf is the 1-based line of an offset of the base.
func (f *file) lineOf(offset int) int {
	if f.lines == nil || f.lines.String() != f.base {
		f.lines = text.New(f.base)
	}
	return f.lines.LineAt(offset) + 1
}
