package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/agentls/agentls/tools/workspace"
)

// The bounds of what is read and shown of a file.
const (
	firstBuffer = 128 << 10
	maxBuffer   = 32 << 20 // the longest line that is searched whole
	keepBuffer  = 4 << 20  // a larger buffer is not kept for the next file
	maxLine     = 400      // bytes shown of a line
	lead        = 120      // of those, before a match
)

var errBinary = errors.New("binary")

// line is a line of a file as it is shown.
type line struct {
	no    int
	text  string
	match bool
}

// found is what a scan found.
type found struct {
	lines   []line
	matches int
	cut     bool // a line is shown in part, or was too long to be searched whole
	foreign bool // a line that is shown is not UTF-8
}

// scan looks for matches in one file.
type scan struct {
	ctx     context.Context
	m       *matcher
	context int // lines shown around a match
	most    int // matches after which it stops

	found
	no     int // of the line at hand
	after  int // how many more lines of context
	before [][]byte
}

// run reads a file and returns the buffer, for the next one.
func (s *scan) run(r io.Reader, buf []byte) ([]byte, error) {
	buf = buf[:0]
	first, skip := true, false // skip: to the end of a line that was too long
	for {
		eof, err := fill(r, &buf)
		if err == nil {
			err = s.ctx.Err()
		}
		if err != nil {
			return buf, err
		}
		if bytes.IndexByte(buf, 0) >= 0 {
			return buf, errBinary
		}
		rest := buf
		if first {
			rest = bytes.TrimPrefix(rest, []byte("\xEF\xBB\xBF"))
			first = false
		}
		if skip {
			n := workspace.LineEnd(rest)
			if skip = n < 0; skip {
				n = len(rest)
			}
			rest = rest[n:]
		}
		end := lastEnd(rest)
		switch {
		case eof:
			end = len(rest)
		case end == 0 && len(buf) >= maxBuffer:
			end, skip, s.cut = len(rest), true, true
		case end == 0 && len(rest) > 0:
			buf = slices.Grow(buf, min(len(buf), maxBuffer-len(buf)))
		}
		s.region(rest[:end])
		if eof || s.matches >= s.most {
			return buf, s.ctx.Err()
		}
		buf = append(buf[:0], rest[end:]...)
	}
}

// fill reads until a buffer is full or the file ends.
func fill(r io.Reader, buf *[]byte) (eof bool, err error) {
	b := *buf
	for len(b) < cap(b) {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		*buf = b
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// lastEnd is where the last line of b ends that ends for sure: a \r at the end
// of b may be half of an ending.
func lastEnd(b []byte) int {
	end := bytes.LastIndexByte(b, '\n') + 1
	if tail := b[end:]; len(tail) > 1 {
		end += bytes.LastIndexByte(tail[:len(tail)-1], '\r') + 1
	}
	return end
}

// region searches whole lines.
func (s *scan) region(b []byte) {
	if len(s.m.must) > 0 && s.context == 0 && !bytes.Contains(b, s.m.must) {
		s.no += countLines(b)
		return
	}
	for len(b) > 0 && s.matches < s.most {
		n := workspace.LineEnd(b)
		if n < 0 {
			n = len(b)
		}
		s.line(bytes.TrimRight(b[:n], "\r\n"))
		b = b[n:]
		if s.no&0x3FF == 0 && s.ctx.Err() != nil {
			return
		}
	}
}

func countLines(b []byte) int {
	if bytes.IndexByte(b, '\r') < 0 {
		return bytes.Count(b, []byte("\n"))
	}
	lines := 0
	for len(b) > 0 {
		n := workspace.LineEnd(b)
		if n < 0 {
			n = len(b)
		}
		b = b[n:]
		lines++
	}
	return lines
}

// line searches a line, without its end.
func (s *scan) line(b []byte) {
	s.no++
	at := s.m.find(s.ctx, b)
	switch {
	case at != nil:
		for i, earlier := range s.before {
			s.show(s.no-len(s.before)+i, earlier, nil)
		}
		s.before = s.before[:0]
		s.show(s.no, b, at)
		s.matches++
		s.after = s.context
	case s.after > 0:
		s.show(s.no, b, nil)
		s.after--
	case s.context > 0:
		s.remember(b)
	}
}

// remember keeps a line that may be the context of the next match. The arrays
// of those that are dropped are used again.
func (s *scan) remember(b []byte) {
	b = b[:min(len(b), maxLine+1)]
	if len(s.before) < s.context {
		s.before = append(s.before, nil)
	} else {
		oldest := s.before[0]
		copy(s.before, s.before[1:])
		s.before[len(s.before)-1] = oldest[:0]
	}
	last := len(s.before) - 1
	s.before[last] = append(s.before[last], b...)
}

// show takes a line into what was found, cut around its match, or at the end
// where at is nil.
func (s *scan) show(no int, b []byte, at []int) {
	text, cut := excerpt(b, at)
	s.cut = s.cut || cut
	s.foreign = s.foreign || !utf8.Valid(b[:min(len(b), maxLine)])
	s.lines = append(s.lines, line{no, text, at != nil})
}

// excerpt is what is shown of a line. It is cut between characters.
func excerpt(b []byte, at []int) (text string, cut bool) {
	if len(b) <= maxLine {
		return workspace.Readable(string(b)), false
	}
	start := 0
	if at != nil {
		start = min(max(at[0]-lead, 0), len(b)-maxLine)
	}
	end := start + maxLine
	for start > 0 && start < end && !utf8.RuneStart(b[start]) {
		start++
	}
	for end < len(b) && end > start && !utf8.RuneStart(b[end]) {
		end--
	}
	text = workspace.Readable(string(b[start:end]))
	if start > 0 {
		text = "…" + text
	}
	if end < len(b) {
		text += "…"
	}
	return text, true
}
