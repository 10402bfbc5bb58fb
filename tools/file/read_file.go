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
	"github.com/agentls/agentls/tools/workspace"
)

//go:embed read_file.md
var readFileDescription string

const readFileSchema = `{"type":"object","properties":{"path":{"type":"string","description":"The file, relative to the workspace folder."},"offset":{"type":"integer","description":"The first line to show, from 1. Default 1."},"limit":{"type":"integer","description":"How many lines to show. Default 2000."}},"required":["path"],"additionalProperties":false}`

// The bounds of one result.
const (
	defaultLines = 2000
	maxBytes     = 48 << 10
	maxLine      = 2000 // bytes of one line
)

type readFileArgs struct {
	path          string
	offset, limit int
}

func readFile(f *Files) agent.Tool {
	return reader[readFileArgs]{tool[readFileArgs]{
		name: "read_file", description: readFileDescription, schema: readFileSchema,
		decode: decodeReadFile,
		plan: func(a readFileArgs) (agent.Plan, error) {
			return f.planFor(agent.KindRead, "Read", a.path, a.offset)
		},
		run: func(ctx context.Context, _ agent.Call, a readFileArgs) (agent.Result, error) {
			p, err := f.ws.Resolve(a.path)
			if err != nil {
				return agent.Result{}, err
			}
			text, err := f.text(ctx, p, a)
			return agent.Result{Text: text}, err
		},
	}}
}

func decodeReadFile(input json.RawMessage) (r readFileArgs, err error) {
	a, err := args.Parse(input, "path", "offset", "limit")
	if err != nil {
		return r, err
	}
	if r.path, err = pathArg(a, "path"); err != nil {
		return r, err
	}
	if r.offset, err = a.Int("offset", 1); err != nil {
		return r, err
	}
	if r.limit, err = a.Int("limit", defaultLines); err != nil {
		return r, err
	}
	if r.offset < 0 || r.limit < 0 {
		return r, errors.New("offset and limit count lines, offset from 1: neither is negative")
	}
	if r.limit == 0 {
		r.limit = defaultLines
	}
	r.offset = max(r.offset, 1)
	return r, nil
}

// text is a file for the model, whatever kind of file it is.
func (f *Files) text(ctx context.Context, p workspace.Path, a readFileArgs) (string, error) {
	doc, err := f.read(ctx, p)
	var notText *workspace.NotTextError
	var tooLarge *workspace.TooLargeError
	var notFile *workspace.NotFileError
	switch {
	case err == nil:
		f.show(p.Abs, doc.Text)
		return f.showText(p, doc, a)
	case errors.As(err, &notText), errors.As(err, &tooLarge):
		return f.showPaged(ctx, p, a)
	case errors.As(err, &notFile) && notFile.Kind == "a folder":
		return "", fmt.Errorf("%s is a folder: use list_dir", f.ws.Display(p.Abs))
	}
	return "", err
}

func (f *Files) showText(p workspace.Path, doc changeset.Doc, a readFileArgs) (string, error) {
	if doc.Text == "" {
		return fmt.Sprintf("(%s is empty)", f.ws.Display(p.Abs)), nil
	}
	page, err := pageOf(fold(doc.Text, true).text, a)
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.ws.Display(p.Abs), err)
	}
	return page + f.unsavedNote(p, doc), nil
}

// unsavedNote tells that a file on disk is not what was shown, since that is
// what commands and compilers read.
func (f *Files) unsavedNote(p workspace.Path, doc changeset.Doc) string {
	if !doc.Open {
		return ""
	}
	buffer, ok := f.ws.Buffer(p.Abs)
	disk, err := f.ws.ReadFile(p.Abs, workspace.MaxDocument)
	if !ok || err == nil && strings.TrimPrefix(disk, bom) == buffer {
		return ""
	}
	return "\n(the user has this file open with unsaved changes, which are shown; the disk has an older text)"
}

// showPaged shows a file that Read does not take as a document: too large, or
// no UTF-8. It is never held in memory as a whole.
func (f *Files) showPaged(ctx context.Context, p workspace.Path, a readFileArgs) (string, error) {
	display := f.ws.Display(p.Abs)
	lines, err := f.ws.Lines(ctx, p.Abs, a.offset, a.limit, maxBytes)
	var notText *workspace.NotTextError
	if errors.As(err, &notText) {
		return fmt.Sprintf("(%s)", notText), nil
	}
	if err != nil {
		return "", err
	}
	pg := newPage(a)
	pg.next = lines.First
	shown := fold(lines.Text, true).text
	for rest := shown; rest != "" && pg.wants(); {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		pg.add(line, len(line), lines.Cut && rest == "")
	}
	body, err := pg.text(lines.Total)
	if err != nil {
		return "", fmt.Errorf("%s: %w", display, err)
	}
	next := lines.Next
	if pg.full {
		next = pg.next
	}
	switch {
	case next > 0 && lines.Total > 0:
		body += fmt.Sprintf("(%d more lines; continue with offset=%d)\n", lines.Total-next+1, next)
	case next > 0:
		body += fmt.Sprintf("(more lines follow; continue with offset=%d)\n", next)
	}
	if lines.Encoding != workspace.UTF8 {
		return fmt.Sprintf("(warning: %s is not UTF-8 (%s): it is shown decoded, what could not be decoded as \\xNN, and cannot be edited as text)\n%s",
			display, lines.Encoding, strings.TrimSuffix(body, "\n")), nil
	}
	return body + fmt.Sprintf("(%s has %d bytes, too large to be edited as text; grep finds places in it)", display, lines.Size), nil
}

// pageOf is a page of a whole text, with what follows it counted.
func pageOf(s string, a readFileArgs) (string, error) {
	pg := newPage(a)
	rest := s
	for rest != "" && pg.wants() {
		line, after, _ := strings.Cut(rest, "\n")
		pg.add(line, len(line), false)
		rest = after
	}
	text, err := pg.text(strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1)
	if err != nil {
		return "", err
	}
	switch more := strings.Count(strings.TrimSuffix(rest, "\n"), "\n") + 1; {
	case rest != "" && more == 1:
		text += fmt.Sprintf("(1 more line; continue with offset=%d)", pg.next)
	case rest != "":
		text += fmt.Sprintf("(%d more lines; continue with offset=%d)", more, pg.next)
	case !strings.HasSuffix(s, "\n"):
		text += "(no newline at the end of the file)"
	default:
		text = strings.TrimSuffix(text, "\n")
	}
	return text, nil
}

// page collects the lines of one result.
type page struct {
	first, last int // the lines asked for, 1-based
	next        int // the line that add gets next
	full        bool
	b           strings.Builder
}

func newPage(a readFileArgs) *page {
	return &page{first: a.offset, last: a.offset + a.limit - 1, next: 1}
}

// wants says whether another line is of use.
func (p *page) wants() bool { return !p.full && p.next <= p.last }

// add takes the next line. cut says that it is longer than what is given.
func (p *page) add(line string, length int, cut bool) {
	if p.next < p.first {
		p.next++
		return
	}
	note := ""
	switch {
	case cut:
		note = "… (line cut, it is longer)"
	case length > maxLine:
		note = fmt.Sprintf("… (line cut, it has %d bytes)", length)
	}
	line = clip(line, maxLine)
	// The first line is shown whatever the bound: a page is never empty.
	if p.b.Len() > 0 && p.b.Len()+len(line)+len(note)+16 > maxBytes {
		p.full = true
		return
	}
	fmt.Fprintf(&p.b, "%d\t%s%s\n", p.next, line, note)
	p.next++
}

// text is the page; an error if the file, of total lines, ends before it.
func (p *page) text(total int) (string, error) {
	if p.b.Len() == 0 {
		return "", fmt.Errorf("it has %d lines, offset %d is past its end", total, p.first)
	}
	return p.b.String(), nil
}
