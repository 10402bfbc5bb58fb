package openai

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/agentls/agentls/agent/llm"
)

// appendMessage writes a message of the history in the shape that strict
// servers accept, each wire message with a comma before it: the results of
// tools first, each a message of its own, then what the user says.
func appendMessage(b []byte, m llm.Message, q quirks) []byte {
	if m.Role == llm.Assistant {
		return appendAssistant(b, m, q)
	}
	for _, p := range m.Parts {
		if r, ok := p.(llm.ToolResult); ok {
			b = append(b, `,{"role":"tool","tool_call_id":`...)
			b = appendString(b, wireID(r.ToolUseID, q))
			b = append(b, `,"content":`...)
			b = appendString(b, orElse(r.Text, "(no output)"))
			b = append(b, '}')
		}
	}
	text := textOf(m)
	images := imagesOf(m)
	if text == "" && len(images) == 0 {
		return b
	}
	b = append(b, `,{"role":"user","content":`...)
	if len(images) == 0 {
		return append(appendString(b, text), '}')
	}
	b = append(b, '[')
	if text != "" {
		b = append(b, `{"type":"text","text":`...)
		b = append(appendString(b, text), `},`...)
	}
	for i, image := range images {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
		b = appendString(b, "data:"+image.MIMEType+";base64,"+base64.StdEncoding.EncodeToString(image.Data))
		b = append(b, `}}`...)
	}
	return append(b, `]}`...)
}

// appendAssistant writes an answer. One without text and calls is left out:
// servers refuse it.
func appendAssistant(b []byte, m llm.Message, q quirks) []byte {
	var thoughts []string
	calls := false
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Thought:
			thoughts = append(thoughts, p.Text)
		case llm.ToolUse:
			calls = true
		}
	}
	text := textOf(m)
	if text == "" && !calls {
		return b
	}
	b = append(b, `,{"role":"assistant","content":`...)
	if text == "" && q.nullContent {
		b = append(b, "null"...)
	} else {
		b = appendString(b, text)
	}
	if calls {
		if q.reasoningField != "" {
			b = append(b, ',')
			b = appendString(b, q.reasoningField)
			b = append(b, ':')
			b = appendString(b, strings.Join(thoughts, ""))
		}
		b = appendCalls(b, m, q)
	}
	return append(b, '}')
}

func appendCalls(b []byte, m llm.Message, q quirks) []byte {
	separator := `,"tool_calls":[`
	for _, p := range m.Parts {
		use, ok := p.(llm.ToolUse)
		if !ok {
			continue
		}
		b = append(append(b, separator...), `{"id":`...)
		b = appendString(b, wireID(use.ID, q))
		b = append(b, `,"type":"function","function":{"name":`...)
		b = appendString(b, wireName(use.Name))
		b = append(b, `,"arguments":`...)
		b = appendString(b, orElse(string(use.Input), "{}"))
		b = append(b, `}}`...)
		separator = ","
	}
	return append(b, ']')
}

// textOf joins the texts of a message.
func textOf(m llm.Message) string {
	var texts []string
	for _, p := range m.Parts {
		if t, ok := p.(llm.Text); ok && t.Text != "" {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func imagesOf(m llm.Message) []llm.Image {
	var images []llm.Image
	for _, p := range m.Parts {
		if i, ok := p.(llm.Image); ok {
			images = append(images, i)
		}
	}
	return images
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

const (
	maxID   = 40
	maxName = 64
)

// isSafeID reports whether every server takes an id as it is.
func isSafeID(id string) bool {
	return id != "" && len(id) <= maxID && safe(id) == id
}

// wireID is the id under which a call is known to the server. It depends on
// nothing but the id, so that a call and its result agree.
func wireID(id string, q quirks) string {
	if q.shortIDs {
		sum := sha256.Sum256([]byte(id))
		return hex.EncodeToString(sum[:])[:9]
	}
	if isSafeID(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return cut(safe(id), 27) + "_" + hex.EncodeToString(sum[:6])
}

// wireName is the name of a tool in the history: models make names up that
// servers refuse to be told again.
func wireName(name string) string {
	return orElse(cut(safe(name), maxName), "unknown")
}

// safe replaces what is no ASCII letter, digit, _ or -.
func safe(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
