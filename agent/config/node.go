package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// node is a JSON value that knows where it stands in its text.
type node struct {
	offset  int // of its first byte
	raw     json.RawMessage
	kind    nodeKind
	str     string // kindString; the literal of a kindNumber
	truth   bool
	members []member
	items   []node
}

type member struct {
	key    string
	offset int // of the key
	value  node
}

type nodeKind int

const (
	kindNull nodeKind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

func (k nodeKind) String() string {
	return [...]string{"null", "true or false", "a number", "a string", "a list", "an object"}[k]
}

// syntaxError is a fault in JSON text at a byte offset.
type syntaxError struct {
	offset int
	msg    string
}

func (e *syntaxError) Error() string { return e.msg }

// parseJSON reads one JSON value. Comments and a comma before a closing
// bracket are taken, as editors take them in their settings.
func parseJSON(text []byte) (node, *syntaxError) {
	text = blankComments(text)
	p := nodeParser{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	n, err := p.value()
	if err == nil {
		if at := p.start(); at < len(text) {
			err = &syntaxError{at, "there is more after the end of the object"}
		}
	}
	return n, err
}

type nodeParser struct {
	text []byte
	dec  *json.Decoder
}

// start is the offset of the token that comes next.
func (p *nodeParser) start() int {
	i := int(p.dec.InputOffset())
	for i < len(p.text) && bytes.IndexByte([]byte(" \t\r\n,:"), p.text[i]) >= 0 {
		i++
	}
	return i
}

func (p *nodeParser) token() (json.Token, int, *syntaxError) {
	at := p.start()
	t, err := p.dec.Token()
	if err == nil {
		return t, at, nil
	}
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, at, &syntaxError{p.fault(syntax), syntax.Error()}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, at, &syntaxError{len(p.text), "the text ends too early: a bracket or a quote is not closed"}
	}
	return nil, at, &syntaxError{at, err.Error()}
}

// fault is the offset of the byte that an error is about: the decoder counts
// it in for some errors and not for others.
func (p *nodeParser) fault(err *json.SyntaxError) int {
	at := int(err.Offset)
	if at < len(p.text) && strings.Contains(err.Error(), "'"+string(p.text[at])+"'") {
		return at
	}
	return min(max(at-1, 0), len(p.text))
}

func (p *nodeParser) value() (node, *syntaxError) {
	t, at, err := p.token()
	if err != nil {
		return node{}, err
	}
	n := node{offset: at}
	switch t := t.(type) {
	case nil:
	case bool:
		n.kind, n.truth = kindBool, t
	case json.Number:
		n.kind, n.str = kindNumber, t.String()
	case string:
		n.kind, n.str = kindString, t
	case json.Delim:
		if t == '[' {
			n.kind = kindArray
			err = p.array(&n)
		} else {
			n.kind = kindObject
			err = p.object(&n)
		}
	}
	n.raw = p.text[at:p.dec.InputOffset()]
	return n, err
}

func (p *nodeParser) array(n *node) *syntaxError {
	for p.dec.More() {
		item, err := p.value()
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, _, err := p.token()
	return err
}

func (p *nodeParser) object(n *node) *syntaxError {
	for p.dec.More() {
		key, at, err := p.token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return &syntaxError{at, fmt.Sprintf("a name in quotes is missing before %v", key)}
		}
		value, err := p.value()
		if err != nil {
			return err
		}
		n.members = append(n.members, member{name, at, value})
	}
	_, _, err := p.token()
	return err
}

// blankComments returns text with comments, a byte order mark and superfluous
// commas overwritten by spaces, so that offsets stay what they are.
func blankComments(text []byte) []byte {
	out := bytes.Clone(text)
	if bytes.HasPrefix(out, []byte("\xef\xbb\xbf")) {
		copy(out, "   ")
	}
	comma := -1 // of a comma that nothing has followed yet
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			comma = -1
			i = stringEnd(out, i)
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			i = blankComment(out, i)
		case c == ',':
			comma = i
		case (c == ']' || c == '}') && comma >= 0:
			out[comma] = ' '
			comma = -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
	}
	return out
}

// stringEnd returns the index of the quote that closes the string at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"', '\n':
			return i
		}
	}
	return i
}

// blankComment overwrites the comment at i and returns the index of its last byte.
func blankComment(text []byte, i int) int {
	end := "\n"
	if text[i+1] == '*' {
		end = "*/"
	}
	stop := len(text)
	if j := bytes.Index(text[i+2:], []byte(end)); j >= 0 {
		stop = i + 2 + j
		if end == "*/" {
			stop += 2
		}
	}
	for ; i < stop; i++ {
		if text[i] != '\n' && text[i] != '\r' {
			text[i] = ' '
		}
	}
	return stop - 1
}

// position turns a byte offset into a line and a column, both from 1; the
// column counts characters.
func position(text []byte, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	line = bytes.Count(before, []byte("\n")) + 1
	column = len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) + 1
	return line, column
}
