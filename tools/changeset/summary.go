package changeset

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/tools/text"
)

// Bounds of what a model is told of outcomes.
const (
	maxUserText   = 2000
	maxComment    = 2000
	maxSummary    = 16 << 10
	maxGroupLines = 12 // hunks of one kind in a file that are named one by one
)

// Summarise puts outcomes into one compact message for the model; it is empty
// where there are none. display spells a path for it.
func Summarise(outcomes []Outcome, display func(path string) string) string {
	if len(outcomes) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("What became of your proposed changes:\n")
	for i := 0; i < len(outcomes); {
		j := i + 1
		for j < len(outcomes) && outcomes[i].alike(outcomes[j]) {
			j++
		}
		group := outcomes[i:j]
		i = j
		if b.Len() > maxSummary {
			fmt.Fprintf(&b, "- and %d more: read the files to see them\n", len(outcomes)-i+len(group))
			break
		}
		group[0].write(&b, group, display)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// alike tells whether o and p can be told in one line.
func (o Outcome) alike(p Outcome) bool {
	return o.FileID == p.FileID && o.Path == p.Path && o.Op == p.Op && o.Verdict == p.Verdict && o.State == p.State &&
		o.Reason == p.Reason && o.Comment == p.Comment && o.UserText == "" && p.UserText == ""
}

func (o Outcome) write(b *strings.Builder, group []Outcome, display func(string) string) {
	fmt.Fprintf(b, "- %s: %s%s", o.name(display), o.what(), o.said())
	if comment := strings.TrimSpace(o.Comment); comment != "" {
		fmt.Fprintf(b, " The user says:%s", quoteBlock(comment, maxComment))
	}
	if o.State == Modified {
		if o.UserText == "" {
			b.WriteString(" The user took the lines out.")
		} else {
			fmt.Fprintf(b, " The user's text is:%s", quoteBlock(o.UserText, maxUserText))
		}
	}
	b.WriteByte('\n')
	if len(group) == 1 && o.HunkID == "" || o.Op == OpCreate {
		return
	}
	for i, g := range group {
		if i == maxGroupLines {
			fmt.Fprintf(b, "    and %d more\n", len(group)-i)
			break
		}
		if g.HunkID != "" {
			fmt.Fprintf(b, "    line %d: %s\n", g.Line, g.Text)
		}
	}
}

// name is the file, and both names of one that moves.
func (o Outcome) name(display func(string) string) string {
	if o.Op == OpRename && o.HunkID == "" {
		return display(o.OldPath) + " -> " + display(o.Path)
	}
	if o.Op == OpRename {
		return display(o.OldPath)
	}
	return display(o.Path)
}

// what is the kind of change that the outcome is about.
func (o Outcome) what() string {
	switch {
	case o.Op == OpCreate:
		return "the new file "
	case o.HunkID != "":
		return ""
	case o.Op == OpDelete:
		return "its deletion "
	case o.Op == OpRename:
		return "the move "
	}
	return ""
}

// said is what became of it.
func (o Outcome) said() string {
	why := ""
	if o.Reason != "" {
		why = " (" + o.Reason + ")"
	}
	switch o.State {
	case Applied:
		if o.Verdict == "" {
			return "the user already made this change."
		}
		return "accepted and applied."
	case Modified:
		return "applied with the user's own text instead of yours."
	case Rejected:
		return "rejected; it is out of your view of the file."
	case Conflicted:
		return "accepted, but not applied: it is in conflict" + why + "."
	}
	return "accepted, but not applied" + why + "; it still waits."
}

// quoteBlock puts a short text into the line and a long one below it.
func quoteBlock(s string, limit int) string {
	cut := text.ClampRune(s, limit)
	if cut != s {
		cut += " …"
	}
	if !strings.Contains(strings.TrimSuffix(cut, "\n"), "\n") {
		return " " + strings.TrimSuffix(cut, "\n")
	}
	return "\n    " + strings.ReplaceAll(strings.TrimSuffix(cut, "\n"), "\n", "\n    ")
}
