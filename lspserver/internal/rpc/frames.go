package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"go.lsp.dev/jsonrpc2"
)

const (
	readBuffer = 64 << 10
	// lineKept bounds what is kept of a header line: its end, where the header
	// of a frame stands after the remains of a body of the wrong length.
	lineKept = 1 << 10
	// headerLines bounds a header.
	headerLines = 64
	// swallowed bounds how far from the end of a broken body a frame that it
	// swallowed is looked for.
	swallowed = 64 << 10
)

// fault is a flaw in what the client sent that says nothing about the rest: it
// is answered with id null and reading goes on.
type fault struct {
	code    jsonrpc2.Code
	message string
}

func (f *fault) Error() string { return f.message }

// frames cuts a byte stream into the bodies of frames (LSP 3.18 § Base
// Protocol) and finds the next frame after a broken one. A raw line break
// never stands inside a JSON string, so in any JSON body a line that ends with
// "Content-Length: <value>" is the header of a frame: that is what it looks for
// when it is lost.
//
// It is used by one goroutine.
type frames struct {
	src   *source
	in    *bufio.Reader
	limit int
	kept  []byte // the line read last

	// lost: nobody knows where the next frame begins.
	lost bool
	// suspect: the last body was no JSON, perhaps because its length was wrong,
	// and that was answered already.
	suspect bool
}

// source is the stream with bytes put back in front of it.
type source struct {
	back []byte
	r    io.Reader
}

func (s *source) Read(p []byte) (int, error) {
	if len(s.back) > 0 {
		n := copy(p, s.back)
		s.back = s.back[n:]
		return n, nil
	}
	return s.r.Read(p)
}

func newFrames(r io.Reader, limit int) *frames {
	src := &source{r: r}
	return &frames{src: src, in: bufio.NewReaderSize(src, readBuffer), limit: limit}
}

// next returns the next body, which the caller owns. A *fault does not end the
// stream; any other error does.
func (f *frames) next() ([]byte, error) {
	n, err := f.header()
	if err != nil {
		return nil, err
	}
	return f.body(n)
}

// broken tells that body is not JSON: its length may have been wrong. When it
// was too large the body ends with the start of the next frame, which is put
// back; when it was too small the rest stands before the next header, which
// header finds.
func (f *frames) broken(body []byte) {
	f.suspect = true
	if tail := body[max(0, len(body)-swallowed):]; len(tail) > 0 {
		if i := frameStart(tail); i >= 0 {
			f.unread(tail[i:])
		}
	}
}

// unread puts p in front of what is read next.
func (f *frames) unread(p []byte) {
	buffered, _ := f.in.Peek(f.in.Buffered())
	f.src.back = bytes.Join([][]byte{p, buffered, f.src.back}, nil)
	f.in.Reset(f.src)
}

// header reads a header and returns the length it declares, which is positive
// and within the limit.
func (f *frames) header() (int, error) {
	suspect := f.suspect
	f.suspect = false
	length := ""
	for lines := 0; ; {
		line, err := f.line()
		if err != nil {
			return 0, err
		}
		at := lengthField(line)
		switch {
		case at > 0: // what stands before it is the rest of something broken
			quiet := f.lost || suspect && lines == 0
			f.lost, f.suspect = false, false
			f.unread(append(bytes.Clone(line[at:]), '\n'))
			if !quiet {
				return 0, &fault{jsonrpc2.ParseError, "bytes that belong to no frame before a Content-Length header"}
			}
			lines, length, suspect = 0, "", false
			continue
		case at == 0:
			value := string(bytes.TrimSpace(line[len(lengthName):]))
			if length != "" && length != value { // the header that began before was cut short
				f.unread(append(bytes.Clone(line), '\n'))
				return 0, &fault{jsonrpc2.ParseError, "a header with two lengths"}
			}
			f.lost, length = false, value
		case f.lost:
			continue
		case len(line) == 0:
			if lines == 0 {
				continue // a line break after the body: some clients end it with one
			}
			return f.length(length)
		case !isField(line):
			return 0, f.lose("a header line that is no \"Name: value\"")
		}
		if lines++; lines > headerLines {
			return 0, f.lose(fmt.Sprintf("a header of more than %d lines", headerLines))
		}
	}
}

// length judges the value of a Content-Length field; empty means absent.
func (f *frames) length(value string) (int, error) {
	n, err := strconv.ParseUint(value, 10, 63)
	switch {
	case value == "":
		return 0, f.lose("a header without Content-Length")
	case errors.Is(err, strconv.ErrRange) || err == nil && n > uint64(f.limit):
		f.lost = true
		return 0, &fault{jsonrpc2.InvalidRequest, fmt.Sprintf("a message of %s bytes; the limit is %d", value, f.limit)}
	case err != nil:
		return 0, f.lose("a Content-Length that is no number: " + strconv.Quote(value))
	case n == 0:
		return 0, &fault{jsonrpc2.ParseError, "an empty message"}
	}
	return int(n), nil
}

func (f *frames) lose(message string) error {
	f.lost = true
	return &fault{jsonrpc2.ParseError, message}
}

// body reads n bytes. Memory grows with what arrives, not with what was
// announced.
func (f *frames) body(n int) ([]byte, error) {
	const step = 1 << 20
	body := make([]byte, min(n, step))
	for read := 0; ; {
		m, err := io.ReadFull(f.in, body[read:])
		if read += m; err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if read == n {
			return body, nil
		}
		grown := make([]byte, min(n, 2*read))
		copy(grown, body)
		body = grown
	}
}

// line returns the next line without its end. Of a long one only the last
// bytes are returned. The slice is good until the next call.
func (f *frames) line() ([]byte, error) {
	f.kept = f.kept[:0]
	for {
		part, err := f.in.ReadSlice('\n')
		if over := len(f.kept) + len(part) - lineKept; over >= len(f.kept) {
			f.kept = append(f.kept[:0], part[max(0, len(part)-lineKept):]...)
		} else {
			f.kept = append(f.kept[:copy(f.kept, f.kept[max(0, over):])], part...)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(bytes.TrimSuffix(f.kept, []byte("\n")), []byte("\r")), nil
		case err == io.EOF && len(f.kept) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}

// lengthName begins the field that every header has, in lower case.
const lengthName = "content-length:"

// lengthField returns where the Content-Length field begins that line ends
// with, or -1. The value need not be right, only look like one.
func lengthField(line []byte) int {
	for i := len(line) - len(lengthName); i >= 0; i-- {
		if !bytes.EqualFold(line[i:i+len(lengthName)], []byte(lengthName)) {
			continue
		}
		if i > 0 && line[i-1] == '-' { // the end of another field's name
			return -1
		}
		if i > 0 && !isValue(line[i+len(lengthName):]) {
			return -1
		}
		return i
	}
	return -1
}

// isValue reports whether b may be meant as a length.
func isValue(b []byte) bool {
	b = bytes.TrimSpace(b)
	for _, c := range b {
		if c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(b) > 0 && len(b) < 40
}

// frameStart returns where in the end of a broken body a frame begins, whole
// or cut off by the body's end, or -1.
func frameStart(body []byte) int {
	for i := range body {
		if body[i]|0x20 != 'c' {
			continue
		}
		name := body[i:min(len(body), i+len(lengthName))]
		if !bytes.EqualFold(name, []byte(lengthName[:len(name)])) {
			continue
		}
		value, _, whole := bytes.Cut(body[i+len(name):], []byte("\n"))
		if len(name) < len(lengthName) || !whole && len(bytes.Trim(value, " \t\r0123456789")) == 0 || whole && isValue(value) {
			return i
		}
	}
	return -1
}

// isField reports whether line is a header field: a name, a colon, a value.
func isField(line []byte) bool {
	name, _, ok := bytes.Cut(line, []byte(":"))
	for _, c := range name {
		if c <= ' ' || c >= 0x7f || bytes.IndexByte([]byte(`"(),/:;<=>?@[\]{}`), c) >= 0 {
			return false
		}
	}
	return ok && len(name) > 0
}
