package agent

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
)

// schema is the part of a tool's JSON Schema that arguments are mended by.
type schema struct {
	Type       schemaTypes        `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	Required   []string           `json:"required"`
}

// schemaTypes is "type": a name or a list of names.
type schemaTypes []string

func (t *schemaTypes) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = schemaTypes{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

func (t schemaTypes) has(names ...string) bool {
	for _, have := range t {
		for _, want := range names {
			if have == want {
				return true
			}
		}
	}
	return false
}

// repairInput mends what models do to arguments of the right meaning and the
// wrong shape: a list or object written as a string of JSON, one object where
// a list of them is wanted, a number or boolean in quotes, null for "absent".
// A string where the schema allows a string is never touched. What is not one
// of these stays as it is, for the tool to refuse.
func repairInput(raw, toolSchema json.RawMessage) json.RawMessage {
	var s schema
	if json.Unmarshal(toolSchema, &s) != nil {
		return raw
	}
	return s.mend(raw)
}

func (s *schema) mend(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if s == nil || len(raw) == 0 {
		return raw
	}
	switch raw[0] {
	case '{':
		return s.mendObject(raw)
	case '[':
		return s.mendList(raw)
	case '"':
		if len(s.Type) > 0 && !s.Type.has("string") {
			return s.mendString(raw)
		}
	}
	return raw
}

func (s *schema) mendObject(raw json.RawMessage) json.RawMessage {
	if s.Type.has("array") && !s.Type.has("object") {
		if s.Items == nil || len(s.Items.Type) > 0 && !s.Items.Type.has("object") {
			return raw
		}
		return s.mendList(append(append(json.RawMessage{'['}, raw...), ']'))
	}
	if len(s.Properties) == 0 {
		return raw
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	changed := false
	for name, value := range fields {
		p, ok := s.Properties[name]
		if !ok {
			continue
		}
		if string(value) == "null" && !p.Type.has("null") && !s.requires(name) {
			delete(fields, name)
			changed = true
			continue
		}
		if mended := p.mend(value); !bytes.Equal(mended, value) {
			fields[name] = mended
			changed = true
		}
	}
	if !changed {
		return raw
	}
	return encode(fields, raw)
}

func (s *schema) requires(name string) bool {
	for _, r := range s.Required {
		if r == name {
			return true
		}
	}
	return false
}

func (s *schema) mendList(raw json.RawMessage) json.RawMessage {
	if s.Items == nil {
		return raw
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return raw
	}
	changed := false
	for i, item := range items {
		if mended := s.Items.mend(item); !bytes.Equal(mended, item) {
			items[i] = mended
			changed = true
		}
	}
	if !changed {
		return raw
	}
	return encode(items, raw)
}

// mendString reads a string where something else is wanted.
func (s *schema) mendString(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return raw
	}
	trimmed := strings.TrimSpace(text)
	switch {
	case s.Type.has("array", "object") && trimmed != "" && strings.ContainsRune("[{", rune(trimmed[0])):
		inner := json.RawMessage(trimmed)
		if !json.Valid(inner) {
			inner = json.RawMessage(escapeControls(trimmed))
		}
		if !json.Valid(inner) {
			return raw
		}
		if inner[0] == '[' && !s.Type.has("array") {
			return raw
		}
		return s.mend(inner)
	case s.Type.has("array") && s.Items != nil && s.Items.Type.has("string"):
		return append(append(json.RawMessage{'['}, raw...), ']')
	case s.Type.has("integer"):
		if n, err := strconv.ParseInt(trimmed, 10, 64); err == nil {
			return strconv.AppendInt(nil, n, 10)
		}
	case s.Type.has("number"):
		if _, err := strconv.ParseFloat(trimmed, 64); err == nil && json.Valid([]byte(trimmed)) {
			return json.RawMessage(trimmed)
		}
	case s.Type.has("boolean"):
		if b := strings.ToLower(trimmed); b == "true" || b == "false" {
			return json.RawMessage(b)
		}
	}
	return raw
}

// encode writes v without escaping for HTML; fallback is for what cannot be.
func encode(v any, fallback json.RawMessage) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return fallback
	}
	return bytes.TrimSpace(buf.Bytes())
}

// escapeControls escapes the line breaks and other control characters that
// stand raw in the strings of a JSON text.
func escapeControls(s string) string {
	var b strings.Builder
	inString := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && inString && i+1 < len(s):
			b.WriteByte(c)
			i++
			c = s[i]
		case c == '"':
			inString = !inString
		case c < ' ' && inString:
			b.Write(appendEscape(nil, c))
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// wholeSurrogates replaces the escape of half a surrogate pair, which strict
// servers refuse a whole conversation for, by that of U+FFFD.
func wholeSurrogates(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	out := make(json.RawMessage, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		unit, ok := escapedUnit(raw[i:])
		switch {
		case !ok:
			n := min(2, len(raw)-i)
			out = append(out, raw[i:i+n]...)
			i += n
		case !utf16.IsSurrogate(unit):
			out = append(out, raw[i:i+6]...)
			i += 6
		default:
			low, _ := escapedUnit(raw[i+6:])
			if utf16.DecodeRune(unit, low) != '\ufffd' {
				out = append(out, raw[i:i+12]...)
				i += 12
				continue
			}
			out = append(out, `\ufffd`...)
			i += 6
		}
	}
	return out
}

// escapedUnit reads \uXXXX at the front of raw.
func escapedUnit(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}
