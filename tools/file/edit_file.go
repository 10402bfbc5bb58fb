package file

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/internal/args"
	"github.com/agentls/agentls/tools/text"
	"github.com/agentls/agentls/tools/workspace"
)

//go:embed edit_file.md
var editFileDescription string

const editFileSchema = `{"type":"object","properties":{"path":{"type":"string","description":"The file, relative to the workspace folder."},"old_text":{"type":"string","description":"The exact text to replace."},"new_text":{"type":"string","description":"What takes its place."},"replace_all":{"type":"boolean","description":"Replace every occurrence. Default false."},"edits":{"type":"array","description":"Several changes at once, instead of old_text and new_text.","items":{"type":"object","properties":{"old_text":{"type":"string"},"new_text":{"type":"string"},"replace_all":{"type":"boolean"}},"required":["old_text","new_text"],"additionalProperties":false}}},"required":["path"],"additionalProperties":false}`

type editFileArgs struct {
	path         string
	replacements []replacement
}

func editFile(f *Files) agent.Tool {
	return tool[editFileArgs]{
		name: "edit_file", description: editFileDescription, schema: editFileSchema,
		decode: decodeEditFile,
		plan: func(a editFileArgs) (agent.Plan, error) {
			return f.planFor(agent.KindEdit, "Edit", a.path, 0)
		},
		run: func(ctx context.Context, call agent.Call, a editFileArgs) (agent.Result, error) {
			p, err := f.toChange(a.path)
			if err != nil {
				return agent.Result{}, err
			}
			return retry(func() (agent.Result, error) { return f.edit(ctx, p, a.replacements, call) })
		},
	}
}

func decodeEditFile(input json.RawMessage) (editFileArgs, error) {
	a, err := args.Parse(input, "path", "old_text", "new_text", "replace_all", "edits")
	if err != nil {
		return editFileArgs{}, err
	}
	var e editFileArgs
	if e.path, err = pathArg(a, "path"); err != nil {
		return e, err
	}
	list, _, err := a.Objects("edits", "old_text", "new_text", "replace_all")
	if err != nil {
		return e, err
	}
	old, _, err := a.String("old_text")
	if err != nil {
		return e, err
	}
	switch {
	case len(list) > 0 && old != "":
		return e, errors.New("give old_text and new_text, or edits, not both")
	case len(list) == 0:
		// An empty list beside old_text is a model filling in what it has no use for.
		list = []args.Args{a}
	}
	for i, item := range list {
		r, err := decodeReplacement(item)
		if err != nil && len(list) > 1 {
			err = fmt.Errorf("edits[%d]: %w", i, err)
		}
		if err != nil {
			return e, err
		}
		e.replacements = append(e.replacements, r)
	}
	return e, nil
}

func decodeReplacement(a args.Args) (r replacement, err error) {
	if r.Old, err = a.Required("old_text"); err != nil {
		return r, err
	}
	if r.New, err = a.Required("new_text"); err != nil {
		return r, err
	}
	if strings.Contains(r.New, "\x00") {
		return r, errors.New("new_text has a NUL character in it: only text can be written")
	}
	r.All, err = a.Bool("replace_all", false)
	return r, err
}

// edit makes replacements in the text as it is now.
func (f *Files) edit(ctx context.Context, p workspace.Path, rs []replacement, call agent.Call) (agent.Result, error) {
	doc, err := f.read(ctx, p)
	if err != nil {
		return agent.Result{}, err
	}
	display := f.ws.Display(p.Abs)
	for _, r := range rs {
		if broken(r.New, doc.Text) {
			return agent.Result{}, errors.New("new_text " + brokenCharacter)
		}
	}
	c, err := compose(display, doc.Text, rs)
	if err != nil {
		return agent.Result{}, f.refuse(p, doc.Text, err)
	}
	change, err := f.changes.Edit(p.Abs, doc.Text, c.edits, changeset.Origin{ToolCallID: call.ID})
	if err != nil {
		return agent.Result{}, f.named(err)
	}
	switch change.Kind {
	case changeset.NoChange:
		return agent.Result{}, noChange(display, rs)
	case changeset.Withdrawn:
		f.seen.note(p.Abs, text.Apply(doc.Text, c.edits))
		return agent.Result{Text: fmt.Sprintf("%s is back to what the user has: nothing is proposed for it any more.", display)}, nil
	}
	f.seen.note(p.Abs, text.Apply(doc.Text, c.edits))
	first := lineOf(doc.Text, c.edits[0].Start)
	return agent.Result{
		Text:      fmt.Sprintf("Edited %s, %s%s. %s%s", display, ranges(doc.Text, c.edits), c.counted(), waits, f.readOnlyNote(p)),
		Locations: []agent.Location{{Path: p.Abs, Line: first}},
	}, nil
}

// brokenCharacter is what to say of text that broken holds of.
const brokenCharacter = "has U+FFFD in it, which is what is left of half a character: send the whole one"

// broken says whether a text to be written holds what is left of a character
// that was broken on its way here, and the file does not.
func broken(written, file string) bool {
	const mark = "\ufffd"
	return strings.Contains(written, mark) && !strings.Contains(file, mark)
}

// counted tells how often a text was replaced, where that is not once.
func (c composed) counted() string {
	if len(c.counts) != 1 {
		return fmt.Sprintf(" (%d edits)", len(c.counts))
	}
	switch n := c.counts[0]; {
	case n.matching > n.made:
		return fmt.Sprintf(" (%d replaced, left to right; %d places match and overlap)", n.made, n.matching)
	case n.made > 1:
		return fmt.Sprintf(" (%d occurrences replaced)", n.made)
	}
	return ""
}

// refuse adds to a refusal what the agent needs to do better: that the file is
// another one than it knew, and the lines in question as they are now.
func (f *Files) refuse(p workspace.Path, now string, err error) error {
	var r *refusal
	if !errors.As(err, &r) {
		return err
	}
	told := r.line
	if f.seen.changed(p.Abs, now) {
		told += ". The file was changed after you last read or edited it"
	}
	if r.from == 0 {
		return errors.New(told)
	}
	f.show(p.Abs, now)
	return fmt.Errorf("%s. It now reads:\n%s", told, excerpt(now, r.from, r.to))
}

// The bounds of an excerpt.
const (
	excerptLines = 12
	excerptLine  = 200 // bytes
)

// excerpt shows some lines of s, and one before and after, as read_file does.
func excerpt(s string, from, to int) string {
	lines := strings.Split(fold(s, true).text, "\n")
	from, to = max(from-1, 1), min(to+1, len(lines), from+excerptLines-2)
	var b strings.Builder
	for i := from; i <= to; i++ {
		if i == len(lines) && lines[i-1] == "" {
			break // what follows the last line ending is no line
		}
		line := lines[i-1]
		if len(line) > excerptLine {
			line = clip(line, excerptLine) + "…"
		}
		fmt.Fprintf(&b, "%d\t%s\n", i, line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
