package changeset

import (
	"strings"

	"github.com/agentls/agentls/tools/text"
)

// count fills in how many lines the hunk adds and removes in a patch.
func (h *Hunk) count() {
	h.added, h.removed = 0, 0
	for _, e := range text.Widen(h.OldText, text.Diff(h.OldText, h.NewText)) {
		h.removed += countLines(h.OldText[e.Start:e.End])
		h.added += countLines(e.New)
	}
}

// countLines counts lines as a patch does: by \n, and the rest.
func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && s[len(s)-1] != '\n' {
		n++
	}
	return n
}
