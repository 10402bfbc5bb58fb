package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/tools/text"
)

const bom = "\ufeff"

// plan is an edit worked out on paper: the files as they will be after the
// changes added so far, and the steps that get there. Adding reads the disk
// and changes nothing.
type plan struct {
	folder *Folder
	enc    text.Encoding
	files  map[string]*file
	steps  []step
}

// file is a name as the plan will have made it.
type file struct {
	exists bool
	mode   fs.FileMode
	// disk is where its content lies now, "" for a file that the plan creates.
	disk string
	// content is what it will hold; nil if it has not been needed.
	content []byte
	// write is the step that writes it, while no later step depends on that.
	write *write
}

// add works out one change.
func (p *plan) add(change protocol.DocumentChange) error {
	switch c := change.(type) {
	case *protocol.TextDocumentEdit:
		return p.edit(c)
	case *protocol.CreateFile:
		return p.create(c)
	case *protocol.RenameFile:
		return p.rename(c)
	case *protocol.DeleteFile:
		return p.delete(c)
	}
	return fmt.Errorf("a change of kind %T is not understood", change)
}

func (p *plan) edit(c *protocol.TextDocumentEdit) error {
	if v := c.TextDocument.Version; v != nil {
		return fmt.Errorf("%s is not open here, version %d is not known", c.TextDocument.URI, *v)
	}
	name, f, err := p.lookup(c.TextDocument.URI, true)
	if err != nil {
		return err
	}
	switch {
	case !f.exists:
		return fmt.Errorf("%s does not exist", name)
	case f.mode.Type() != 0:
		return fmt.Errorf("%s is a link that the same edit moves", name)
	case f.mode&0o200 == 0:
		return fmt.Errorf("%s is read-only", name)
	}
	old, err := p.read(name, f)
	if err != nil {
		return err
	}
	rest, hasBOM := strings.CutPrefix(old, bom)
	edits, err := offsets(text.New(rest), c.Edits, p.enc)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	changed := text.Apply(rest, edits)
	if hasBOM {
		changed = bom + changed
	}
	p.put(name, f, []byte(changed))
	return nil
}

// offsets checks edits against a document and turns them into sorted byte
// ranges. Positions are taken literally: one that the document does not have
// means that the sender sees another text.
func offsets(d *text.Document, elements []protocol.TextDocumentEditElement, enc text.Encoding) ([]text.Edit, error) {
	edits := make([]text.Edit, len(elements))
	for i, el := range elements {
		e, ok := el.(*protocol.TextEdit)
		if !ok {
			return nil, fmt.Errorf("edit %d is of kind %T, which was not announced", i, el)
		}
		for _, end := range []struct {
			p  protocol.Position
			to *int
		}{{e.Range.Start, &edits[i].Start}, {e.Range.End, &edits[i].End}} {
			p := text.Position{Line: end.p.Line, Character: end.p.Character}
			offset, ok := d.Offset(p, enc)
			if !ok || d.Position(offset, enc) != p {
				return nil, fmt.Errorf("edit %d: there is no position %d:%d", i, p.Line, p.Character)
			}
			*end.to = offset
		}
		if edits[i].End < edits[i].Start {
			return nil, fmt.Errorf("edit %d ends before it starts", i)
		}
		edits[i].New = e.NewText
	}
	slices.SortStableFunc(edits, func(a, b text.Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	for i := 1; i < len(edits); i++ {
		if edits[i].Start < edits[i-1].End {
			return nil, errors.New("edits overlap")
		}
	}
	return edits, nil
}

func (p *plan) create(c *protocol.CreateFile) error {
	overwrite, ignore := false, false
	if o := c.Options; o != nil {
		overwrite, ignore = isTrue(o.Overwrite), isTrue(o.IgnoreIfExists)
	}
	name, f, err := p.lookup(c.URI, false)
	if err != nil {
		return err
	}
	if f.exists && !overwrite {
		if ignore {
			return nil
		}
		return fmt.Errorf("%s exists already", name)
	}
	if f.exists {
		p.remove(name, f)
	}
	p.put(name, f, nil)
	return nil
}

func (p *plan) rename(c *protocol.RenameFile) error {
	overwrite, ignore := false, false
	if o := c.Options; o != nil {
		overwrite, ignore = isTrue(o.Overwrite), isTrue(o.IgnoreIfExists)
	}
	from, src, err := p.lookup(c.OldURI, false)
	if err != nil {
		return err
	}
	to, dst, err := p.lookup(c.NewURI, false)
	if err != nil {
		return err
	}
	switch {
	case !src.exists:
		return fmt.Errorf("%s does not exist", from)
	case from == to:
		return nil
	case dst.exists && !overwrite && ignore:
		return nil
	case dst.exists && !overwrite:
		return fmt.Errorf("%s exists already", to)
	case dst.exists:
		p.remove(to, dst)
	}
	src.write = nil
	p.files[to], p.files[from] = src, &file{}
	p.steps = append(p.steps, &move{from: from, to: to})
	return nil
}

func (p *plan) delete(c *protocol.DeleteFile) error {
	name, f, err := p.lookup(c.URI, false)
	if err != nil {
		return err
	}
	if !f.exists {
		if c.Options != nil && isTrue(c.Options.IgnoreIfNotExists) {
			return nil
		}
		return fmt.Errorf("%s does not exist", name)
	}
	p.remove(name, f)
	return nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// lookup finds a name in the plan, else on the disk. Folders and other things
// that are no plain files are refused.
func (p *plan) lookup(u uri.URI, followLast bool) (string, *file, error) {
	name, err := p.folder.name(u, followLast)
	if err != nil {
		return "", nil, err
	}
	if f, ok := p.files[name]; ok {
		return name, f, nil
	}
	f := &file{}
	info, err := p.folder.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", nil, err
	case !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink:
		return "", nil, fmt.Errorf("%s is no plain file", name)
	default:
		f.exists, f.mode, f.disk = true, info.Mode(), name
	}
	p.files[name] = f
	return name, f, nil
}

// read returns the text of a file, with its byte order mark.
func (p *plan) read(name string, f *file) (string, error) {
	if f.content == nil && f.disk != "" {
		content, err := p.folder.root.ReadFile(f.disk)
		if err != nil {
			return "", err
		}
		f.content = content
	}
	if !utf8.Valid(f.content) {
		return "", fmt.Errorf("%s is not UTF-8: its bytes could not be kept", name)
	}
	return string(f.content), nil
}

// put plans that a file holds content. A file written twice is written once.
func (p *plan) put(name string, f *file, content []byte) {
	if f.write == nil {
		f.write = &write{name: name, old: f.content, replaces: f.exists}
		p.steps = append(p.steps, f.write)
	}
	f.write.content = content
	f.exists, f.content = true, content
	if f.mode == 0 {
		f.mode = 0o666
	}
}

// remove plans that a file goes.
func (p *plan) remove(name string, f *file) {
	p.steps = append(p.steps, &remove{name: name})
	*f = file{}
}
