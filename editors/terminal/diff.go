package terminal

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/tools/text"
)

// contextLines is how many lines around a hunk are shown.
const contextLines = 3

// patch colours a git-style patch. Carriage returns are hidden where every
// line has one, and shown where only some do: then they are part of the change.
func (s style) patch(patch string) string {
	lines := strings.SplitAfter(patch, "\n")
	hideCR := allCR(lines)
	var b strings.Builder
	inHunk := false
	for _, l := range lines {
		shown, hasEnd := strings.CutSuffix(l, "\n")
		end := ""
		if hasEnd {
			end = "\n"
		}
		if hideCR || !bool(s) {
			var cr bool
			if shown, cr = strings.CutSuffix(shown, "\r"); cr && !bool(s) {
				end = "\r" + end // a patch that is not for a terminal stays one
			}
		}
		shown = exact(shown)
		inHunk = inHunk && !strings.HasPrefix(shown, "diff --git ") || strings.HasPrefix(shown, "@@")
		switch {
		case strings.HasPrefix(shown, "@@"):
			shown = s.cyan(shown)
		case !inHunk:
			shown = s.bold(shown)
		case strings.HasPrefix(shown, "+"):
			shown = s.green(shown)
		case strings.HasPrefix(shown, "-"):
			shown = s.red(shown)
		case strings.HasPrefix(shown, "\\"):
			shown = s.dim(shown)
		}
		b.WriteString(shown + end)
	}
	return b.String()
}

// allCR reports whether each line of the text in a patch ends in a carriage
// return.
func allCR(lines []string) bool {
	inHunk, any := false, false
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "@@"):
			inHunk = true
		case strings.HasPrefix(l, "diff --git "):
			inHunk = false
		case inHunk && l != "" && strings.ContainsRune(" +-", rune(l[0])):
			if !strings.HasSuffix(l, "\r\n") {
				return false
			}
			any = true
		}
	}
	return any
}

// hunk shows one hunk as a patch with some lines around it; base is the
// document that its range is in.
func (s style) hunk(h ext.Hunk, base *text.Document, enc text.Encoding) string {
	start, _ := base.Offset(text.Position(h.Range.Start), enc)
	end, _ := base.Offset(text.Position(h.Range.End), enc)
	before, after := splitLines(base.String()[:start]), splitLines(base.String()[max(start, end):])
	start = len(before)
	before, after = before[max(0, start-contextLines):], after[:min(len(after), contextLines)]
	old, new := splitLines(h.OldText), splitLines(h.NewText)
	var b strings.Builder
	fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", start-len(before)+1, len(before)+len(old)+len(after),
		start-len(before)+1, len(before)+len(new)+len(after))
	for _, part := range []struct {
		sign  string
		lines []string
	}{{" ", before}, {"-", old}, {"+", new}, {" ", after}} {
		for _, l := range part.lines {
			b.WriteString(part.sign + l)
			if !strings.HasSuffix(l, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	return s.patch(b.String())
}

// splitLines cuts a text after each line feed.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
