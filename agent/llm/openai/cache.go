package openai

import (
	"slices"
	"sync"

	"github.com/agentls/agentls/agent/llm"
)

// maxConversations bounds the cache; a server of one editor has few at a time.
const maxConversations = 8

// cache keeps the encoded history of the last conversations, so that a turn
// costs what it adds and not what was said before. Messages in a request are
// never changed, so one is known again by where its parts lie. It is safe for
// concurrent use.
type cache struct {
	mu            sync.Mutex
	conversations []*conversation // the latest last
	lists         []toolList
}

// conversation is a history as it was encoded.
type conversation struct {
	quirks quirks
	keys   []messageKey
	ends   []int // where each message ends in text
	text   []byte
}

// messageKey is a message's identity. It holds the parts, so their memory is
// not used for others.
type messageKey struct {
	role  llm.Role
	first *llm.Part
	parts int
}

func keyOf(m llm.Message) messageKey {
	k := messageKey{role: m.Role, parts: len(m.Parts)}
	if len(m.Parts) > 0 {
		k.first = &m.Parts[0]
	}
	return k
}

// messages appends the encoded history to b, which holds the start of the
// list.
func (c *cache) messages(b []byte, history []llm.Message, q quirks) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := c.encode(history, q)
	if len(text) > 0 && b[len(b)-1] == '[' {
		text = text[1:] // the comma
	}
	return append(b, text...)
}

// size guesses how much room the encoded history takes.
func (c *cache) size(history []llm.Message) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, known := range c.conversations {
		if len(known.keys) > 0 && len(history) > 0 && known.keys[0] == keyOf(history[0]) {
			n = max(n, len(known.text))
		}
	}
	return n + n/8
}

func (c *cache) encode(history []llm.Message, q quirks) []byte {
	if len(history) == 0 {
		return nil
	}
	known := c.find(keyOf(history[0]), q)
	same := 0
	for same < len(history) && same < len(known.keys) && known.keys[same] == keyOf(history[same]) {
		same++
	}
	if same < len(known.keys) {
		known.keys, known.ends = known.keys[:same], known.ends[:same]
		known.text = known.text[:endOf(known.ends)]
	}
	for _, m := range history[same:] {
		known.text = appendMessage(known.text, m, q)
		known.keys = append(known.keys, keyOf(m))
		known.ends = append(known.ends, len(known.text))
	}
	return known.text
}

func endOf(ends []int) int {
	if len(ends) == 0 {
		return 0
	}
	return ends[len(ends)-1]
}

// find returns the conversation that begins with a message, a new one if it is
// not known, and makes it the latest.
func (c *cache) find(first messageKey, q quirks) *conversation {
	i := slices.IndexFunc(c.conversations, func(k *conversation) bool {
		return k.quirks == q && len(k.keys) > 0 && k.keys[0] == first
	})
	known := &conversation{quirks: q}
	if i >= 0 {
		known = c.conversations[i]
		c.conversations = slices.Delete(c.conversations, i, i+1)
	} else if len(c.conversations) >= maxConversations {
		c.conversations = slices.Delete(c.conversations, 0, 1)
	}
	c.conversations = append(c.conversations, known)
	return known
}

// toolList is an encoded list of tools.
type toolList struct {
	quirks quirks
	tools  []llm.Tool
	text   []byte
}

// tools returns the encoded tools; most sessions offer the same.
func (c *cache) tools(tools []llm.Tool, q quirks) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lists {
		if l.quirks == q && slices.EqualFunc(l.tools, tools, sameTool) {
			return l.text, nil
		}
	}
	text, err := appendTools(nil, tools, q)
	if err != nil {
		return nil, err
	}
	if len(c.lists) >= maxConversations {
		c.lists = slices.Delete(c.lists, 0, 1)
	}
	c.lists = append(c.lists, toolList{q, slices.Clone(tools), text})
	return text, nil
}

func sameTool(a, b llm.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && string(a.Schema) == string(b.Schema)
}
