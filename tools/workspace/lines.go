package workspace

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/transform"
)

// Page is a run of lines.
type Page struct {
	// Text is the lines with their own ends: valid UTF-8, no NUL, no byte
	// order mark. Where Encoding is not UTF8 it is for showing only.
	Text string
	// First is the number of the first line, from 1; Lines is how many there
	// are, none where the file ends before.
	First, Lines int
	// Cut: the last line is longer than what Text has of it.
	Cut bool
	// Next is the line to go on with, 0 at the end of the file.
	Next int
	// Total is how many lines there are, 0 where that was not worth counting.
	Total int
	// Size is that of the file, in bytes.
	Size     int64
	Encoding Encoding
}

// sniffed is how much of a file is looked at to tell its encoding.
const sniffed = 64 << 10

// Lines reads some lines of what Base would give, and of files too large for
// it or in other encodings. It begins at line first, counting from 1 and every
// \n, \r\n and lone \r as the Language Server Protocol does, and ends after
// limit lines or maxBytes bytes. Memory does not grow with the file, and time
// only as far as lines must be counted.
//
// The errors are those of Base, *NotTextError for binary files alone, and
// fs.ErrNotExist.
func (w *Workspace) Lines(ctx context.Context, path string, first, limit, maxBytes int) (Page, error) {
	if _, _, err := w.locate(path); err != nil {
		return Page{}, err
	}
	first = max(first, 1)
	if text, ok := w.overlay.Buffer(path); ok {
		s := &scanner{ctx: ctx, r: bufio.NewReader(strings.NewReader(text))}
		return s.page(Page{First: first, Size: int64(len(text)), Encoding: UTF8}, limit, maxBytes)
	}
	f, err := w.OpenFile(path)
	if err != nil {
		return Page{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Page{}, w.accessError(path, err)
	}
	r := bufio.NewReaderSize(f, sniffed)
	head, err := r.Peek(sniffed)
	if err != nil && err != io.EOF {
		return Page{}, w.accessError(path, err)
	}
	p := Page{First: first, Size: info.Size(), Encoding: Detect(head, err == io.EOF)}
	switch p.Encoding {
	case Binary:
		return Page{}, &NotTextError{w.Display(path), Binary, p.Size}
	case UTF16LE, UTF16BE, UTF32LE, UTF32BE, LikeUTF16LE, LikeUTF16BE:
		r = bufio.NewReaderSize(transform.NewReader(r, decoders[p.Encoding].NewDecoder()), sniffed)
	case UTF8:
		if bytes.HasPrefix(head, []byte(bom)) {
			r.Discard(len(bom)) // it has been peeked at: this cannot fail
		}
	}
	s := &scanner{ctx: ctx, r: r}
	p, err = s.page(p, limit, maxBytes)
	if err != nil {
		return Page{}, fmt.Errorf("cannot read %s: %w", w.Display(path), plainCause(err))
	}
	return w.shown(path, p)
}

// shown makes a page's text fit for reading. Only now it is known whether what
// the head of the file promised holds here.
func (w *Workspace) shown(path string, p Page) (Page, error) {
	switch p.Encoding {
	case UTF16LE, UTF16BE, UTF32LE, UTF32BE, LikeUTF16LE, LikeUTF16BE:
		p.Text = Readable(p.Text)
		return p, nil
	case UTF8:
		if p.Encoding = Detect([]byte(p.Text), !p.Cut); p.Encoding == Binary {
			return Page{}, &NotTextError{w.Display(path), Binary, p.Size}
		}
	}
	p.Text = Decode([]byte(p.Text), p.Encoding)
	return p, nil
}

// scanner reads lines without ever holding one.
type scanner struct {
	ctx context.Context
	r   *bufio.Reader
}

// page fills in a page from its first line on.
func (s *scanner) page(p Page, limit, maxBytes int) (Page, error) {
	line := 1
	for ; line < p.First; line++ {
		more, err := s.line(nil, 0)
		if err != nil {
			return p, err
		}
		if !more {
			p.Total = line - 1
			return p, nil
		}
	}
	var b bytes.Buffer
	for p.Lines < limit && !p.Cut {
		before := b.Len()
		more, err := s.line(&b, maxBytes+1)
		if err != nil {
			return p, err
		}
		if !more {
			break
		}
		if b.Len() > maxBytes {
			if p.Lines > 0 {
				b.Truncate(before) // for the next page, whole
				p.Text, p.Next = b.String(), line
				return s.count(p, line)
			}
			b.Truncate(maxBytes - cutRune(b.Bytes()[:maxBytes]))
			p.Cut = true
		}
		p.Lines++
		line++
	}
	p.Text = b.String()
	return s.rest(p, line)
}

// rest finds out whether there is a line after those read, which is next.
func (s *scanner) rest(p Page, next int) (Page, error) {
	more, err := s.line(nil, 0)
	if err != nil {
		return p, err
	}
	if !more {
		p.Total = next - 1
		return p, nil
	}
	p.Next = next
	return s.count(p, next)
}

// count counts on from a line that was read, where the file is small.
func (s *scanner) count(p Page, line int) (Page, error) {
	if p.Size > MaxDocument {
		return p, nil
	}
	for {
		more, err := s.line(nil, 0)
		if err != nil {
			return p, err
		}
		if !more {
			p.Total = line
			return p, nil
		}
		line++
	}
}

// line reads a line with its end and puts it into b, as long as b is no larger
// than limit. more is false when there was none.
func (s *scanner) line(b *bytes.Buffer, limit int) (more bool, err error) {
	for {
		if s.r.Buffered() == 0 {
			if err := s.ctx.Err(); err != nil {
				return more, err
			}
			if _, err := s.r.Peek(1); err == io.EOF {
				return more, nil
			} else if err != nil {
				return more, err
			}
		}
		more = true
		chunk, err := s.r.Peek(s.r.Buffered())
		if err != nil {
			return more, err
		}
		n := LineEnd(chunk)
		take := n
		if n < 0 {
			take = len(chunk)
		}
		if b != nil {
			b.Write(chunk[:min(take, max(limit-b.Len(), 0))])
		}
		cr := chunk[take-1] == '\r'
		if _, err := s.r.Discard(take); err != nil {
			return more, err
		}
		if n < 0 {
			continue
		}
		if cr && n == len(chunk) {
			// The other half of \r\n may be in the next chunk.
			if lf, err := s.r.Peek(1); err == nil && lf[0] == '\n' {
				if b != nil && b.Len() < limit {
					b.WriteByte('\n')
				}
				_, err = s.r.Discard(1)
				return more, err
			}
		}
		return more, nil
	}
}

// LineEnd is the length of the first line of b with its end, -1 if it has
// none. It looks at little more than the line: b may hold many.
func LineEnd(b []byte) int {
	for window := 256; ; window *= 4 {
		seen := b[:min(window, len(b))]
		lf := bytes.IndexByte(seen, '\n')
		line := seen
		if lf >= 0 {
			line = seen[:lf]
		}
		// A \r that ends what is seen may belong to the \n behind it.
		cr := bytes.IndexByte(line, '\r')
		switch {
		case cr >= 0 && (cr+1 < len(line) || len(seen) == len(b) && lf < 0):
			return cr + 1
		case lf >= 0:
			return lf + 1
		case len(seen) == len(b):
			return -1
		}
	}
}
