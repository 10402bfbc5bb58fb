package openai

import (
	"bytes"
	"errors"
	"io"
)

// maxEvent bounds one event of a stream.
const maxEvent = 64 << 20

var errEventTooLarge = errors.New("an event of the stream is larger than 64 MiB")

// event is one event of a stream. Its data is valid until the next is read.
type event struct {
	name string // "" is a message
	data []byte
	// lines is how many data lines there were; several are joined by \n.
	lines int
	// last is set for what the end of the stream left without a blank line: it
	// may be cut.
	last bool
}

// sseReader reads server-sent events: all line ends of the standard, comments,
// a byte order mark, several data lines. Beyond the standard it gives out
// what stands at the end of the stream without a blank line, and an event
// named error that has no data.
type sseReader struct {
	r   io.Reader
	err error // of r, once its bytes are taken
	buf []byte
	// buf[start:end] is read and not taken; its first scanned bytes hold no
	// line end.
	start, end, scanned int

	skipLF bool // a \r ended the line before: a \n that follows belongs to it
	begun  bool // the byte order mark is behind us
	copied []byte
}

func newSSEReader(r io.Reader) *sseReader {
	return &sseReader{r: r, buf: make([]byte, 32<<10)}
}

// peek returns the first byte that is no white space, without taking it: it
// tells events from other kinds of answers.
func (s *sseReader) peek() (byte, error) {
	for {
		if s.begin() {
			for _, c := range s.buf[s.start:s.end] {
				if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
					return c, nil
				}
			}
		}
		if s.err != nil {
			return 0, s.err
		}
		s.fill()
	}
}

// rest returns all that is left, for an answer that is no stream of events.
func (s *sseReader) rest() io.Reader {
	unread := bytes.NewReader(s.buf[s.start:s.end])
	if s.err != nil {
		return unread
	}
	return io.MultiReader(unread, s.r)
}

// next reads an event. io.EOF is the end of the stream, any other error is
// its break.
func (s *sseReader) next() (event, error) {
	var e event
	moved := false // e.data is a copy
	move := func() {
		if !moved && e.lines > 0 {
			s.copied = append(s.copied[:0], e.data...)
			e.data, moved = s.copied, true
		}
	}
	for {
		line, ok := s.line()
		if !ok {
			if s.err == nil {
				move() // reading may overwrite it
				s.fill()
				continue
			}
			if s.err == io.EOF && (e.lines > 0 || e.name == "error") {
				e.last = true
				return e, nil
			}
			return event{}, s.err
		}
		if len(line) == 0 {
			if e.lines > 0 || e.name == "error" {
				return e, nil
			}
			e.name = ""
			continue
		}
		if value, ok := field(line, "data"); ok {
			if e.lines == 0 {
				e.data = value
			} else {
				move()
				s.copied = append(append(s.copied, '\n'), value...)
				e.data = s.copied
			}
			e.lines++
		} else if value, ok := field(line, "event"); ok {
			e.name = string(value)
		}
	}
}

// field returns the value of a line if the line is of the field.
func field(line []byte, name string) ([]byte, bool) {
	if len(line) < len(name) || string(line[:len(name)]) != name {
		return nil, false
	}
	switch value := line[len(name):]; {
	case len(value) == 0:
		return value, true
	case value[0] != ':':
		return nil, false
	case len(value) > 1 && value[1] == ' ':
		return value[2:], true
	default:
		return value[1:], true
	}
}

// line takes a line that is in the buffer, without its end. At the end of the
// stream the rest is a line too.
func (s *sseReader) line() ([]byte, bool) {
	if !s.begin() {
		return nil, false
	}
	if s.skipLF && s.start < s.end {
		if s.buf[s.start] == '\n' {
			s.start++
		}
		s.skipLF = false
	}
	region := s.buf[s.start+s.scanned : s.end]
	lf := bytes.IndexByte(region, '\n')
	if lf >= 0 {
		region = region[:lf]
	}
	length, found := s.scanned+len(region), lf >= 0
	if cr := bytes.IndexByte(region, '\r'); cr >= 0 {
		length, found, s.skipLF = s.scanned+cr, true, true
	}
	if !found && (s.err == nil || length == 0) {
		s.scanned = length
		return nil, false
	}
	line := s.buf[s.start : s.start+length]
	s.start = min(s.start+length+1, s.end)
	s.scanned = 0
	return line, true
}

// begin skips a byte order mark; it reports false while it cannot tell yet.
func (s *sseReader) begin() bool {
	if s.begun {
		return true
	}
	const bom = "\xef\xbb\xbf"
	head := s.buf[s.start:s.end]
	if len(head) < len(bom) && string(head) == bom[:len(head)] && s.err == nil {
		return false
	}
	if bytes.HasPrefix(head, []byte(bom)) {
		s.start += len(bom)
	}
	s.begun = true
	return true
}

// fill reads more into the buffer.
func (s *sseReader) fill() {
	if s.start > 0 {
		copy(s.buf, s.buf[s.start:s.end])
		s.start, s.end = 0, s.end-s.start
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= maxEvent {
			s.err = errEventTooLarge
			return
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.err = err
			return
		}
		if n > 0 {
			return
		}
	}
	s.err = io.ErrNoProgress
}
