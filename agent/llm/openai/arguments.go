package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// progress follows the arguments of a call as they arrive and knows whether
// they are a whole JSON value yet, without parsing them again and again.
type progress struct {
	depth            int
	inString, escape bool
	begun, done      bool
}

func (p *progress) feed(s string) {
	for i := range len(s) {
		c := s[i]
		switch {
		case p.escape:
			p.escape = false
		case p.inString:
			p.escape = c == '\\'
			p.inString = c != '"'
		case c == '"':
			p.inString, p.begun = true, true
		case c == '{' || c == '[':
			p.depth++
			p.begun = true
		case c == '}' || c == ']':
			p.depth--
		}
		p.done = p.begun && p.depth <= 0 && !p.inString
	}
}

var emptyObject = json.RawMessage("{}")

// parseArguments makes one JSON object of what a model wrote. Nothing at all is
// no arguments; an object within a string is taken out of it. Anything else is
// not repaired: why says what is wrong, for the model.
func parseArguments(args string) (input json.RawMessage, why string) {
	b := bytes.TrimSpace([]byte(args))
	if len(b) == 0 || string(b) == "null" {
		return emptyObject, ""
	}
	if b[0] == '"' {
		var inner string
		if json.Unmarshal(b, &inner) == nil {
			if in := bytes.TrimSpace([]byte(inner)); len(in) > 0 && in[0] == '{' && json.Valid(in) {
				b = in
			}
		}
	}
	var value json.RawMessage
	if err := json.Unmarshal(b, &value); err != nil {
		return emptyObject, "the arguments are not valid JSON: " + describe(b, err)
	}
	if b[0] != '{' {
		return emptyObject, "the arguments are " + kindOf(b[0]) + ", they have to be one JSON object"
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, replaceSurrogates(b)); err != nil {
		return emptyObject, "the arguments are not valid JSON: " + err.Error()
	}
	return compact.Bytes(), ""
}

// describe says where a fault is, with what stands around it.
func describe(b []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err.Error()
	}
	at := max(int(syntax.Offset)-1, 0)
	from, to := max(at-20, 0), min(at+20, len(b))
	for from > 0 && !utf8.RuneStart(b[from]) {
		from--
	}
	for to < len(b) && !utf8.RuneStart(b[to]) {
		to++
	}
	return fmt.Sprintf("%s at byte %d, near %s", syntax, at, strings.ReplaceAll(string(b[from:to]), "\n", "⏎"))
}

func kindOf(c byte) string {
	switch c {
	case '"':
		return "a string"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}

// escapes finds pairs of surrogates, and halves of them; \\ is in it so that a
// backslash which is escaped itself is stepped over.
var escapes = regexp.MustCompile(`\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)

// replaceSurrogates replaces what escapes half a surrogate pair in JSON text:
// strict servers refuse it in every later request.
func replaceSurrogates(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\ud`)) && !bytes.Contains(b, []byte(`\uD`)) {
		return b
	}
	return escapes.ReplaceAllFunc(b, func(m []byte) []byte {
		if len(m) == len(`\ud83d`) {
			return []byte(`\ufffd`)
		}
		return m
	})
}
