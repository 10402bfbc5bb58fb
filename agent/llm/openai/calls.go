package openai

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strings"

	"github.com/agentls/agentls/agent/llm"
)

// callDelta is one entry of a chunk's tool_calls; empty fields were absent,
// null or empty, which some servers send for "as before".
type callDelta struct {
	index    int
	hasIndex bool
	id, name string
	args     []byte
	// sibling is set for the second and later entries of one chunk.
	sibling bool
}

// call is a tool call on its way.
type call struct {
	index    int
	hasIndex bool
	rawID    string // the server's
	id       string // ours, once it is announced
	name     string
	args     strings.Builder
	join     joiner
	progress progress
	// again is set when the name was repeated after the arguments were whole:
	// another object that follows begins another call.
	again bool
}

// open reports whether arguments are still missing.
func (c *call) open() bool { return !c.progress.done }

// calls puts tool calls together from deltas, whatever a server makes of
// index, id and name. A delta belongs to the call with its index; without one
// to that with its id; without either to the last one. It begins another call
// when its id is another one, or when it names a tool while the arguments are
// whole. Empty fields never overwrite.
type calls struct {
	list []*call
	last *call // the one that grew last
	// tools are the names on offer; they tell a name in pieces from two calls.
	tools []llm.Tool
	// used returns the ids of the conversation so far.
	used func() map[string]bool
	ids  map[string]bool
	size int // of all names and arguments
}

// callOverhead is what a call costs beside its text.
const callOverhead = 256

// add takes a delta. The call is returned when it can be announced.
func (s *calls) add(d callDelta) *call {
	c := s.candidate(d)
	if c == nil || s.another(c, d) {
		c = s.begin(d, c)
	}
	s.last = c
	s.size += len(d.id) + len(d.name) + len(d.args)
	if c.rawID == "" && c.id == "" {
		c.rawID = d.id
	}
	s.addName(c, d)
	if len(d.args) > 0 && !repeats(c, d) {
		piece := c.join.push(d.args)
		c.args.WriteString(piece)
		c.progress.feed(piece)
	}
	if c.id == "" && c.name != "" && (c.args.Len() > 0 || c.rawID != "" && s.offered(c.name)) {
		c.id = s.newID(c.rawID)
		return c
	}
	return nil
}

// begin opens a call. When the name was announced by the call before, it is
// that call's.
func (s *calls) begin(d callDelta, before *call) *call {
	c := &call{index: d.index, hasIndex: d.hasIndex}
	if d.name == "" && before != nil && before.again {
		c.name = before.name
	}
	s.list = append(s.list, c)
	s.size += callOverhead
	return c
}

func (s *calls) addName(c *call, d callDelta) {
	switch {
	case d.name == "":
	case c.name == "":
		c.name = d.name
	case c.name == d.name:
		c.again = c.progress.done
	case c.args.Len() == 0:
		c.name += d.name
	}
}

// candidate is the call that a delta goes on with, if it goes on with one.
func (s *calls) candidate(d callDelta) *call {
	if !d.hasIndex {
		if c := s.byID(d.id); c != nil {
			return c
		}
		return s.last
	}
	for i := len(s.list) - 1; i >= 0; i-- {
		if c := s.list[i]; c.hasIndex && c.index == d.index {
			return c
		}
	}
	if d.name != "" {
		return nil
	}
	if d.id != "" {
		return s.byID(d.id)
	}
	// An index that nothing opened: the one call that waits, if it is one.
	var open *call
	for _, c := range s.list {
		if c.open() && open != nil {
			return nil
		}
		if c.open() {
			open = c
		}
	}
	return open
}

func (s *calls) byID(id string) *call {
	if id == "" {
		return nil
	}
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i].rawID == id {
			return s.list[i]
		}
	}
	return nil
}

// another reports whether a delta begins another call than c.
func (s *calls) another(c *call, d callDelta) bool {
	if d.sibling && d.name != "" && c == s.last {
		return true
	}
	if d.id != "" && c.rawID != "" && d.id != c.rawID {
		// Some servers give each delta an id of its own.
		return d.name != "" || c.progress.done || !c.progress.begun
	}
	if d.name == "" {
		return c.again && startsObject(d.args)
	}
	if c.name == "" {
		return false
	}
	if d.name != c.name {
		return c.args.Len() > 0 || !s.continues(c.name, d.name)
	}
	return c.progress.done && startsObject(d.args) && !repeats(c, d)
}

// repeats reports whether a delta says once more what is known: some servers
// end with the whole call.
func repeats(c *call, d callDelta) bool {
	return d.id != "" && d.id == c.rawID && d.name == c.name && c.progress.done && string(d.args) == c.args.String()
}

func startsObject(args []byte) bool {
	return strings.HasPrefix(strings.TrimLeft(string(args), " \t\r\n"), "{")
}

// continues reports whether a name that differs is the next piece of a name.
func (s *calls) continues(name, more string) bool {
	if s.offered(name) {
		return false
	}
	for _, t := range s.tools {
		if strings.HasPrefix(t.Name, name+more) {
			return true
		}
	}
	return false
}

func (s *calls) offered(name string) bool {
	for _, t := range s.tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// newID makes an id that is unique in the conversation: the server's where it
// can be kept.
func (s *calls) newID(raw string) string {
	if s.ids == nil {
		s.ids = s.used()
	}
	id := raw
	for id == "" || !isSafeID(id) || s.ids[id] {
		id = "call_" + strings.ToLower(rand.Text()[:20])
	}
	s.ids[id] = true
	return id
}

// finish makes the parts of the message. cut is why the answer ended: at a
// limit the last call is not whole, whatever it looks like. dropped counts
// calls that nobody can run for want of a name.
func (s *calls) finish(cut llm.StopReason) (uses []llm.Part, dropped int) {
	s.sort()
	orphans := false // arguments that may be missing in any call that waits
	for _, c := range s.list {
		if c.name == "" {
			dropped++
			orphans = orphans || c.args.Len() > 0
		}
	}
	for _, c := range s.list {
		if c.name == "" {
			continue
		}
		c.args.WriteString(c.join.flush())
		if c.id == "" {
			c.id = s.newID(c.rawID)
		}
		use := llm.ToolUse{ID: c.id, Name: c.name}
		use.Input, use.Malformed = parseArguments(c.args.String())
		if why := c.incomplete(c == s.last, orphans, cut); why != "" {
			use.Malformed = why
		} else if use.Malformed != "" && c.progress.begun && c.open() {
			use.Malformed += "; they end in the middle, as if an output limit had been reached: do it in smaller pieces"
		}
		if use.Malformed != "" {
			use.Input = emptyObject
		}
		uses = append(uses, use)
	}
	return uses, dropped
}

// sort puts calls in the order of their index, where all have one.
func (s *calls) sort() {
	if !slices.ContainsFunc(s.list, func(c *call) bool { return !c.hasIndex }) {
		slices.SortStableFunc(s.list, func(a, b *call) int { return cmp.Compare(a.index, b.index) })
	}
}

// incomplete says why a call is not to be trusted even if its arguments parse,
// or "".
func (c *call) incomplete(last, orphans bool, cut llm.StopReason) string {
	switch {
	case last && cut == llm.StopLength:
		return "the answer reached the output limit inside this call: it was cut off and not run; do it in smaller pieces"
	case last && cut == llm.StopFilter:
		return "the server's content filter cut the answer off inside this call: it was not run"
	case orphans && c.open():
		return "the server sent arguments without saying which call they belong to: call the tools one at a time"
	}
	return ""
}
