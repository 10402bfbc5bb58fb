package terminal

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"go.lsp.dev/uri"

	"github.com/agentls/agentls/lspserver/ext"
)

// textView shows a run to a person: the model's words as they come, a line for
// each finished tool call, and on a terminal a last line that says what is
// going on now.
type textView struct {
	out, err io.Writer
	style    style
	dir      string // what names are shown relative to

	// message is the one whose line the cursor is on. shown is what was streamed
	// of the text of shownID, which other lines may have interrupted.
	message string
	shownID string
	shown   strings.Builder
	stream  stream
	thought bool // what was written last is reasoning
	midLine bool // the cursor is not at the start of a line
	status  bool // the last line is the passing one

	titles map[string]string // of tool calls under way
	plan   string            // as shown last
}

func newTextView(o Options) *textView {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		dir = o.Dir
	}
	return &textView{
		out: o.Console.Out, err: o.Console.Err, style: style(o.Console.Color), dir: dir,
		titles: map[string]string{},
	}
}

// write puts safe text on the output, after taking the passing line away.
func (v *textView) write(text string) {
	if text == "" {
		return
	}
	if v.status {
		v.status = false
		text = "\r\x1b[K" + text
	}
	_, _ = io.WriteString(v.out, text)
	v.midLine = !strings.HasSuffix(strings.TrimSuffix(text, reset), "\n")
}

// print begins on a line of its own.
func (v *textView) print(format string, args ...any) {
	v.breakLine()
	v.write(fmt.Sprintf(format, args...))
}

// breakLine ends a line that streaming left open.
func (v *textView) breakLine() {
	if v.midLine && !v.status {
		v.write("\n")
	}
	v.message, v.thought = "", false
}

// passing shows a line that the next output replaces. It is cut where the
// terminal's line ends.
func (v *textView) passing(text string) {
	if !bool(v.style) || v.midLine && !v.status {
		return
	}
	_, _ = io.WriteString(v.out, "\r\x1b[K\x1b[?7l"+v.style.dim(text)+"\x1b[?7h")
	v.status = true
}

func (v *textView) event(e event) {
	switch e.Type {
	case "runStarted":
		if e.Model != "" { // else the run is going to end with the reason
			v.print("%s\n", v.style.dim("agentls · "+safeLine(e.Model)))
		}
	case "turnStarted":
		v.passing("  … thinking")
	case "text", "thought":
		v.delta(e)
	case "message":
		v.whole(e)
	case "toolCall":
		v.toolCall(e)
	case "toolOutput":
		v.write(v.style.dim(v.stream.next(e.Delta)))
	case "plan":
		v.showPlan(e)
	case "notice":
		v.notice(e)
	case "steered":
		v.print("%s\n", v.style.dim("> "+safe(e.Prompt)))
	}
}

// delta streams text, and reasoning dimmed.
func (v *textView) delta(e event) {
	thought := e.Type == "thought"
	if e.MessageID != v.message || thought != v.thought {
		v.breakLine()
		v.message, v.thought, v.stream = e.MessageID, thought, stream{}
		if thought && !bool(v.style) {
			v.write("(thinking) ")
		}
	}
	text := v.stream.next(e.Delta)
	if thought {
		v.write(v.style.dim(text))
		return
	}
	if e.MessageID != v.shownID {
		v.shownID = e.MessageID
		v.shown.Reset()
	}
	v.shown.WriteString(e.Delta)
	v.write(text)
}

// whole ends a message: its text replaces what was streamed, which is the same
// unless the model was asked again.
func (v *textView) whole(e event) {
	if e.Role != "assistant" {
		return
	}
	streamed := e.MessageID == v.shownID
	if streamed && v.shown.String() == e.Text {
		v.breakLine()
		return
	}
	if streamed {
		v.print("%s\n", v.style.dim("(answered again)"))
	}
	if e.Text != "" {
		v.print("%s", safe(strings.ReplaceAll(e.Text, "\r\n", "\n")))
		v.breakLine()
	}
}

// marks are how a tool call that ended is shown.
var marks = map[string]string{"completed": "✓", "failed": "✗", "denied": "⊘", "cancelled": "–"}

func (v *textView) toolCall(e event) {
	if e.Title != "" {
		v.titles[e.ToolCallID] = e.Title
	}
	title := safeLine(v.titles[e.ToolCallID])
	if title == "" {
		title = safeLine(e.Name)
	}
	mark, ended := marks[e.Status]
	if !ended {
		v.breakLine()
		v.passing("  … " + title)
		return
	}
	delete(v.titles, e.ToolCallID)
	line := "  " + mark + " " + title
	if e.Status == "completed" {
		v.print("%s\n", v.style.cyan(line))
		return
	}
	reason := e.Reason
	if reason == "" {
		reason, _, _ = strings.Cut(strings.TrimSpace(e.Output), "\n")
	}
	if reason != "" {
		line += ": " + safeLine(reason)
	}
	v.print("%s\n", v.style.red(line))
}

func (v *textView) showPlan(e event) {
	var b strings.Builder
	for _, entry := range e.Entries {
		line := map[string]string{"done": "✓", "active": "▸"}[entry.Status]
		if line == "" {
			line = "·"
		}
		line += " " + safeLine(entry.Text)
		if entry.Status == "active" {
			line = v.style.bold(line)
		}
		b.WriteString("    " + line + "\n")
	}
	if b.String() != v.plan {
		v.plan = b.String()
		v.print("  plan\n%s", v.plan)
	}
}

func (v *textView) notice(e event) {
	switch e.Severity {
	case "error":
		v.print("%s\n", v.style.red("! "+safe(e.Message)))
	case "warning":
		v.print("%s\n", v.style.yellow("! "+safe(e.Message)))
	default:
		v.print("%s\n", v.style.dim("· "+safe(e.Message)))
	}
}

func (v *textView) remark(format string, args ...any) {
	v.complain(v.style.dim(safe(fmt.Sprintf(format, args...))))
}

// complain writes a line to standard error.
func (v *textView) complain(text string) {
	if v.status {
		v.status, v.midLine = false, false
		_, _ = io.WriteString(v.out, "\r\x1b[K")
	}
	v.breakLine()
	_, _ = fmt.Fprintln(v.err, text)
}

func (v *textView) ended(res ext.RunResult) {
	u := as[usage](res.Usage)
	var parts []string
	if u.InputTokens != nil && u.OutputTokens != nil {
		cached := ""
		if u.CacheReadTokens != nil {
			cached = fmt.Sprintf(" (%d cached)", *u.CacheReadTokens)
		}
		parts = append(parts, fmt.Sprintf("%d tokens in%s, %d out", *u.InputTokens, cached, *u.OutputTokens))
	}
	parts = append(parts, count(u.Turns, "turn"), count(u.ToolCalls, "tool call"))
	if u.Cost != nil {
		parts = append(parts, fmt.Sprintf("cost %.4g", *u.Cost))
	}
	if u.Turns > 0 {
		v.print("%s\n", v.style.dim(strings.Join(parts, " · ")))
	}
	switch {
	case res.Error != nil:
		v.complain(v.style.red("error: " + safe(as[runError](res.Error).Message)))
	case res.StopReason == "cancelled":
		v.complain("stopped")
	case res.StopReason != "endTurn":
		v.complain(v.style.yellow("stopped by " + safeLine(res.StopReason) +
			"; go on with: agentls run --session " + safeLine(res.SessionID) + " \"go on\""))
	}
}

func (v *textView) proposed(p ext.Proposal) {
	for _, f := range p.Files {
		v.print("\n%s", v.style.patch(f.Patch))
	}
	v.breakLine()
}

func (v *textView) pending(p ext.Proposal) {
	v.complain(fmt.Sprintf("%s left pending. Decide with:\n  agentls run --dir %s --session %s\nor apply all with:\n  agentls run --dir %[2]s --session %[3]s --accept all",
		files(p), quoted(v.dir), safeLine(p.SessionID)))
}

// files counts what a proposal changes.
func files(p ext.Proposal) string {
	hunks := 0
	for _, f := range p.Files {
		hunks += len(f.Hunks)
	}
	return fmt.Sprintf("%s in %s", count(hunks, "change"), count(len(p.Files), "file"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// quoted makes a path one word of a shell's.
func quoted(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !strings.ContainsRune("/._-+:@%", r) && !isWordRune(r) }) {
		return "'" + strings.ReplaceAll(safeLine(path), "'", `'\''`) + "'"
	}
	return path
}

func isWordRune(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

func (v *textView) settled(p ext.Proposal, results []ext.Result) {
	for _, f := range p.Files {
		states, reasons := tally(f, results)
		if len(states) == 0 {
			continue
		}
		line := "  " + v.name(f.FileSummary) + ": " + strings.Join(states, ", ")
		if len(reasons) > 0 {
			v.print("%s\n", v.style.red(line+" ("+safeLine(strings.Join(reasons, "; "))+")"))
		} else {
			v.print("%s\n", v.style.green(line))
		}
	}
}

// stateNames are the states of the protocol in words.
var stateNames = []struct{ state, name string }{
	{"applied", "applied"}, {"modified", "applied as edited"}, {"rejected", "rejected"},
	{"pending", "pending"}, {"conflicted", "conflicted"}, {"notApplied", "not applied"},
}

// tally counts the results for one file by state, with the reasons given.
func tally(f ext.FileChange, results []ext.Result) (states, reasons []string) {
	hunks := map[string]bool{}
	for _, h := range f.Hunks {
		hunks[h.HunkID] = true
	}
	counts := map[string]int{}
	seen := map[string]bool{}
	for _, res := range results {
		if !hunks[res.HunkID] && (res.FileID == "" || res.FileID != f.FileID) {
			continue
		}
		counts[res.State]++
		if res.Reason != "" && !seen[res.Reason] && !landed(res.State) {
			seen[res.Reason] = true
			reasons = append(reasons, res.Reason)
		}
	}
	for _, s := range stateNames {
		switch n := counts[s.state]; {
		case n == 1:
			states = append(states, s.name)
		case n > 1:
			states = append(states, fmt.Sprintf("%d %s", n, s.name))
		}
	}
	return states, reasons
}

// landed reports whether a state is what was decided.
func landed(state string) bool {
	return state == "applied" || state == "modified" || state == "rejected"
}

// name is a file as people name it.
func (v *textView) name(f ext.FileSummary) string {
	if f.Op == "rename" && f.OldURI != "" {
		return v.path(f.OldURI) + " → " + v.path(f.URI)
	}
	return v.path(f.URI)
}

func (v *textView) path(u string) string {
	parsed, err := uri.Parse(u)
	if err != nil || !parsed.IsFile() {
		return safeLine(u)
	}
	path := parsed.FsPath()
	for _, dir := range []string{v.dir, realPath(v.dir)} {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return safeLine(rel)
		}
	}
	return safeLine(path)
}

func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func (v *textView) end(code int, err error) {
	v.breakLine()
	switch {
	case err != nil:
		v.complain(v.style.red("agentls run: " + safe(err.Error())))
	case code == ExitInterrupted:
		v.complain("interrupted")
	}
}
