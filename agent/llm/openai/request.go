package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/agentls/agentls/agent/llm"
)

// encode writes the body of a request. The same request gives the same bytes,
// and one that extends another gives messages that extend the other's.
func (c *Client) encode(r llm.Request, q quirks) ([]byte, error) {
	tools, err := c.cache.tools(r.Tools, q)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, 4096+len(tools)+c.cache.size(r.Messages))
	b = append(b, `{"model":`...)
	b = appendString(b, r.Model)
	b = append(b, `,"messages":[`...)
	if r.System != "" {
		b = append(b, `{"role":`...)
		b = appendString(b, q.systemRole)
		b = append(b, `,"content":`...)
		b = appendString(b, r.System)
		b = append(b, '}')
	}
	b = c.cache.messages(b, r.Messages, q)
	b = append(b, ']')
	b = append(b, tools...)
	b = append(b, `,"stream":true`...)
	if q.includeUsage {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	if q.parallelCalls && len(tools) > 0 {
		b = append(b, `,"parallel_tool_calls":true`...)
	}
	if n := r.MaxOutputTokens; n > 0 && q.maxTokens != "" {
		if q.maxTokensCap > 0 {
			n = min(n, q.maxTokensCap)
		}
		b = append(b, ',')
		b = appendString(b, q.maxTokens)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, '}'), nil
}

// appendTools writes the tools with a comma before, or nothing.
func appendTools(b []byte, tools []llm.Tool, q quirks) ([]byte, error) {
	if len(tools) == 0 {
		return b, nil
	}
	b = append(b, `,"tools":[`...)
	for i, t := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","function":{"name":`...)
		b = appendString(b, t.Name)
		if t.Description != "" {
			b = append(b, `,"description":`...)
			b = appendString(b, t.Description)
		}
		b = append(b, `,"parameters":`...)
		schema, err := schemaOf(t, q)
		if err != nil {
			return nil, err
		}
		b = append(append(b, schema...), "}}"...)
	}
	return append(b, ']'), nil
}

func schemaOf(t llm.Tool, q quirks) ([]byte, error) {
	if len(t.Schema) == 0 {
		return []byte(`{"type":"object","properties":{}}`), nil
	}
	schema := []byte(t.Schema)
	if q.plainSchemas {
		plain, err := plainSchema(schema)
		if err != nil {
			return nil, fmt.Errorf("the schema of the tool %s: %w", t.Name, err)
		}
		schema = plain
	}
	var b bytes.Buffer
	if err := json.Compact(&b, schema); err != nil {
		return nil, fmt.Errorf("the schema of the tool %s: %w", t.Name, err)
	}
	return b.Bytes(), nil
}

// notPlain are keywords that some servers refuse in a tool's schema.
var notPlain = []string{"$schema", "$id", "additionalProperties", "default", "examples", "format", "pattern", "title",
	"minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "uniqueItems"}

// plainSchema leaves out the keywords of notPlain, at every level; a property
// of such a name stays.
func plainSchema(schema []byte) ([]byte, error) {
	var value any
	if err := json.Unmarshal(schema, &value); err != nil {
		return nil, err
	}
	var clean func(v any, properties bool)
	clean = func(v any, properties bool) {
		switch v := v.(type) {
		case map[string]any:
			if !properties {
				for _, k := range notPlain {
					delete(v, k)
				}
			}
			for k, inner := range v {
				clean(inner, !properties && k == "properties")
			}
		case []any:
			for _, inner := range v {
				clean(inner, false)
			}
		}
	}
	clean(value, false)
	return json.Marshal(value) // map keys in one order
}

const hexDigits = "0123456789abcdef"

// plain marks the bytes that stand for themselves in a JSON string.
var plain = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\' && c != 0x7f
	}
	return t
}()

// appendString writes a JSON string; what is not UTF-8 in s becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[start:i]...), `\ufffd`...)
				start = i + 1
			}
			i += size
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}
