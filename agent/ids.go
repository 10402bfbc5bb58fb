package agent

import (
	"crypto/rand"
	"strconv"
	"strings"
)

// newRunID names a run; runs are asked for without their session, so the name
// is unique in the world.
func newRunID() string { return "run_" + strings.ToLower(rand.Text()[:16]) }

// callIDs are the ids of a session's tool calls. Servers reuse theirs.
type callIDs struct {
	used map[string]bool
	n    int
}

// take returns an id that no other call of the session has: id itself where it
// is free and fit for every server.
func (c *callIDs) take(id string) string {
	for !fitID(id) || c.used[id] {
		c.n++
		id = "call_" + strconv.Itoa(c.n)
	}
	c.mark(id)
	return id
}

// mark says that an id is taken.
func (c *callIDs) mark(id string) {
	if c.used == nil {
		c.used = map[string]bool{}
	}
	c.used[id] = true
}

// fitID reports whether every server takes id back: some refuse more than 40
// bytes, some anything but these.
func fitID(id string) bool { return len(id) <= 40 && fitName(id) }

// fitName reports whether a name may stand in a request.
func fitName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, c := range []byte(name) {
		if !isNameByte(c) {
			return false
		}
	}
	return true
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// cleanName makes a name that may stand in a request out of whatever a model
// wrote.
func cleanName(name string) string {
	if fitName(name) {
		return name
	}
	b := []byte(clip(name, 64))
	for i, c := range b {
		if !isNameByte(c) {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return "unnamed"
	}
	return string(b)
}
