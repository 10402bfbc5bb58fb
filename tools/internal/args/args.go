// Package args reads the arguments of a tool call. Models send them nearly
// right: a number as a string, a list as one object or written into a string.
// What can mean one thing only is taken as that; anything else is an error in
// words that tell the model what to send. The tools are its callers; all of
// it is safe for concurrent use.
//
//	a, err := args.Parse(call.Input, "path", "offset")
//	path, err := a.Required("path")
//	offset, err := a.Int("offset", 1)
package args

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Args are the arguments of one call. A null counts as absent.
type Args struct {
	values map[string]json.RawMessage
	known  []string
}

// Parse reads a JSON object, or one written into a JSON string. known are the
// names that the tool takes; others are ignored, and named where one of known
// is missed.
func Parse(input json.RawMessage, known ...string) (Args, error) {
	a := Args{known: known}
	if trimmed := strings.TrimSpace(string(input)); trimmed == "" || trimmed == "null" {
		return a, nil
	}
	if err := json.Unmarshal(unwrap(input), &a.values); err != nil {
		return Args{}, fmt.Errorf("the arguments must be one JSON object with %s: %w", a.names(), err)
	}
	return a, nil
}

// unwrap is the JSON that a JSON string holds, if it is an object or a list;
// else the input itself.
func unwrap(raw json.RawMessage) json.RawMessage {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return raw
	}
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "[") {
		return raw
	}
	for _, candidate := range []string{s, escapeControls(s)} {
		if json.Valid([]byte(candidate)) {
			return json.RawMessage(candidate)
		}
	}
	return raw
}

// escapeControls writes the raw line breaks and tabs inside the strings of a
// JSON text as JSON asks for.
func escapeControls(s string) string {
	var b strings.Builder
	inside := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case inside && c == '\\' && i+1 < len(s):
			b.WriteByte(c)
			i++
			c = s[i]
		case c == '"':
			inside = !inside
		case inside && c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func (a Args) get(name string) (json.RawMessage, bool) {
	raw, ok := a.values[name]
	return raw, ok && string(raw) != "null"
}

// Has says whether an argument was given.
func (a Args) Has(name string) bool {
	_, ok := a.get(name)
	return ok
}

// String is a text argument; given is false where it is absent.
func (a Args) String(name string) (value string, given bool, err error) {
	raw, ok := a.get(name)
	if !ok {
		return "", false, nil
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", true, fmt.Errorf("%s must be a string, not %s", name, kind(raw))
	}
	if strings.ContainsRune(value, utf8.RuneError) && brokenCharacter(string(raw)) {
		return "", true, fmt.Errorf("%s has half of a character in it (a lone surrogate such as \\ud83d): send the whole character", name)
	}
	return value, true, nil
}

// brokenCharacter says whether decoding raw put a U+FFFD where none was sent.
func brokenCharacter(raw string) bool {
	return !strings.ContainsRune(raw, utf8.RuneError) && !strings.Contains(strings.ToLower(raw), `\ufffd`)
}

// Required is a text argument that must be there.
func (a Args) Required(name string) (string, error) {
	value, given, err := a.String(name)
	if err != nil {
		return "", err
	}
	if !given {
		return "", a.Missing(name)
	}
	return value, nil
}

// Missing is the error of an argument that is not there. It names what was
// sent instead, since that is where the model went wrong.
func (a Args) Missing(name string) error {
	var other []string
	for k := range a.values {
		if !slices.Contains(a.known, k) && len(other) < 8 {
			other = append(other, strconv.Quote(k))
		}
	}
	slices.Sort(other)
	if len(other) > 0 {
		return fmt.Errorf("%s is missing; the arguments are %s, not %s", name, a.names(), strings.Join(other, ", "))
	}
	return fmt.Errorf("%s is missing; the arguments are %s", name, a.names())
}

func (a Args) names() string { return strings.Join(a.known, ", ") }

// Int is a whole number, or fallback where it is absent.
func (a Args) Int(name string, fallback int) (int, error) {
	raw, ok := a.get(name)
	if !ok {
		return fallback, nil
	}
	text := string(raw)
	var quoted string
	if json.Unmarshal(raw, &quoted) == nil {
		text = strings.TrimSpace(quoted)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<52 {
		return 0, fmt.Errorf("%s must be a whole number, not %s", name, clip(string(raw)))
	}
	return int(f), nil
}

// Bool is a yes or no, or fallback where it is absent.
func (a Args) Bool(name string, fallback bool) (bool, error) {
	raw, ok := a.get(name)
	if !ok {
		return fallback, nil
	}
	switch strings.ToLower(strings.Trim(string(raw), `"`)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s must be true or false, not %s", name, clip(string(raw)))
}

// Objects is a list of objects. One object alone is a list of one, and lists
// and objects may be written into strings. given is false where it is absent.
func (a Args) Objects(name string, known ...string) (list []Args, given bool, err error) {
	raw, ok := a.get(name)
	if !ok {
		return nil, false, nil
	}
	items, err := elements(raw)
	if err != nil {
		return nil, true, fmt.Errorf("%s must be a list of objects with %s, not %s", name, strings.Join(known, ", "), kind(raw))
	}
	for i, item := range items {
		one, err := Parse(item, known...)
		if err != nil || len(one.values) == 0 {
			return nil, true, fmt.Errorf("%s[%d] must be an object with %s, not %s", name, i, strings.Join(known, ", "), clip(string(item)))
		}
		list = append(list, one)
	}
	return list, true, nil
}

// Strings is a list of texts. One text alone is a list of one, unless it is a
// list written into a string. given is false where it is absent.
func (a Args) Strings(name string) (list []string, given bool, err error) {
	raw, ok := a.get(name)
	if !ok {
		return nil, false, nil
	}
	items, err := elements(raw)
	if err != nil {
		return nil, true, fmt.Errorf("%s must be a list of strings, not %s", name, kind(raw))
	}
	for i, item := range items {
		var s string
		if err := json.Unmarshal(item, &s); err != nil {
			return nil, true, fmt.Errorf("%s[%d] must be a string, not %s", name, i, kind(item))
		}
		list = append(list, s)
	}
	return list, true, nil
}

// elements are those of a list, or the one value that stands in its place.
func elements(raw json.RawMessage) ([]json.RawMessage, error) {
	raw = unwrap(raw)
	var items []json.RawMessage
	switch raw[0] {
	case '[':
		err := json.Unmarshal(raw, &items)
		return items, err
	case '{', '"':
		return []json.RawMessage{raw}, nil
	}
	return nil, fmt.Errorf("not a list")
}

// kind names what a value is, for an error.
func kind(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "a string"
	case '[':
		return "a list"
	case '{':
		return "an object"
	case 't', 'f':
		return "a boolean"
	}
	return "a number"
}

func clip(s string) string {
	const limit = 60
	if len(s) <= limit {
		return s
	}
	n := limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
