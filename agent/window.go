package agent

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/agent/llm"
)

// How much of the context window things may take. Tokens are guessed from
// bytes where no server has counted them.
const (
	// assumedWindow is in tokens, for a model that nobody told us about.
	assumedWindow = 128_000
	bytesPerToken = 4

	oneResult = 0.25 // of the window, for one result
	oneBatch  = 0.5  // for all results of one answer
	highWater = 0.8  // where old output is masked,
	lowWater  = 0.5  // and down to where
	maxResult = 256 << 10
)

// masked stands for output that was left out.
const masked = "[This output was left out to save room. Make the call again if you need it.]"

// window is the size of the model's context, in tokens.
func (r *Run) window() int64 {
	if r.model.ContextWindow > 0 {
		return r.model.ContextWindow
	}
	return assumedWindow
}

// contextSize is what a server last counted, and the history's size then.
type contextSize struct {
	tokens int64 // of the request with its answer, 0 if not known
	bytes  int
}

// measure takes what a request took. before is the history's size in it,
// answer that of what came back.
func (c *contextSize) measure(u *llm.Usage, before, answer int) {
	*c = contextSize{}
	if u == nil || u.Input == nil || *u.Input == 0 {
		return
	}
	c.tokens, c.bytes = *u.Input+int64(answer/bytesPerToken), before+answer
}

// tokens guesses the size of the next request.
func (r *Run) tokens() int64 {
	c, now := r.s.context, r.s.history.bytes
	if c.tokens > 0 {
		return max(0, c.tokens+int64((now-c.bytes)/bytesPerToken))
	}
	return int64((now + r.overhead()) / bytesPerToken)
}

// overhead is the size of what is sent beside the history.
func (r *Run) overhead() int {
	n := len(*r.s.system)
	for _, t := range r.tools.specs {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}

// makeRoom masks old output before the window is full. A compaction by summary
// would come in here too, where that is not enough.
func (r *Run) makeRoom() {
	window, now := r.window(), r.tokens()
	if now <= int64(highWater*float64(window)) {
		return
	}
	excess := now - int64(lowWater*float64(window))
	r.s.history.close()
	messages, n := maskOutput(r.s.history.messages, int(excess)*bytesPerToken)
	r.compact(messages, n)
}

// trim cuts the history after the server refused it as too long: once, to the
// limit that it named. It reports whether there is less to send now.
func (r *Run) trim(e *llm.Error) bool {
	h := &r.s.history
	limit := int64(e.ContextLimit)
	if limit <= 0 {
		limit = min(r.window(), r.tokens())
	}
	// What there is took more than limit: so many bytes go into it at most.
	total := h.bytes + r.overhead()
	target := int(lowWater*float64(min(limit*bytesPerToken, int64(total)))) - r.overhead()
	before := h.bytes
	messages, n := maskOutput(h.messages, before-target)
	if left := weighMessages(messages); left > target {
		dropped := dropOld(messages, h.live, left-target)
		if cut := len(messages) - len(dropped); cut > 0 {
			messages, n = dropped, n+cut
			h.live -= cut
			r.s.o.Instructions.Forget()
		}
		messages = cutResults(messages, weighMessages(messages)-target)
	}
	if weighMessages(messages) >= before {
		return false
	}
	r.compact(messages, max(n, 1))
	return true
}

// compact puts a shorter history in the place of the one there is.
func (r *Run) compact(messages []llm.Message, n int) {
	if n == 0 {
		return
	}
	r.s.history.replace(messages)
	r.s.context = contextSize{}
	r.emit(Notice{Severity: "info", Code: "compaction", Message: fmt.Sprintf("the conversation grew too long for the model: %d old outputs or messages were left out of what it is sent; the session keeps them", n)})
}

func weighMessages(messages []llm.Message) (n int) {
	for _, m := range messages {
		n += weighAll(m.Parts)
	}
	return n
}

// maskOutput returns messages with the oldest tool output masked, about excess
// bytes of it, and how many results that took. What came after the last answer
// stays, since the model has not seen it. The messages given are not changed.
func maskOutput(messages []llm.Message, excess int) (out []llm.Message, n int) {
	out = slices.Clone(messages)
	for i, m := range out {
		if excess <= 0 || i == len(out)-1 {
			break
		}
		for j, p := range m.Parts {
			res, ok := p.(llm.ToolResult)
			if !ok || len(res.Text) <= 2*len(masked) || excess <= 0 {
				continue
			}
			if n == 0 || &out[i].Parts[0] == &messages[i].Parts[0] {
				out[i].Parts = slices.Clone(m.Parts)
			}
			excess -= len(res.Text) - len(masked)
			res.Text = masked
			out[i].Parts[j] = res
			n++
		}
	}
	return out, n
}

// dropOld drops about excess bytes of whole exchanges from the front: up to a
// message in which the user speaks, and at most up to the live request.
func dropOld(messages []llm.Message, live, excess int) []llm.Message {
	cut, size := 0, 0
	for i, m := range messages[:min(live+1, len(messages))] {
		if i > 0 && speaks(m) {
			cut = i
			if size >= excess {
				break
			}
		}
		size += weighAll(m.Parts)
	}
	if cut == 0 {
		return messages
	}
	return messages[cut:]
}

// speaks reports whether a message is a prompt: text of the user and no result.
func speaks(m llm.Message) bool {
	if m.Role != llm.User {
		return false
	}
	for _, p := range m.Parts {
		if _, ok := p.(llm.ToolResult); ok {
			return false
		}
	}
	return true
}

// cutResults shortens the results of the last message.
func cutResults(messages []llm.Message, excess int) []llm.Message {
	if excess <= 0 || len(messages) == 0 {
		return messages
	}
	last := messages[len(messages)-1]
	size := 0
	for _, p := range last.Parts {
		if res, ok := p.(llm.ToolResult); ok {
			size += len(res.Text)
		}
	}
	if size == 0 {
		return messages
	}
	keep := max(0, 1-float64(excess)/float64(size))
	parts := slices.Clone(last.Parts)
	for j, p := range parts {
		if res, ok := p.(llm.ToolResult); ok {
			res.Text = bound(res.Text, max(200, int(keep*float64(len(res.Text)))))
			parts[j] = res
		}
	}
	out := slices.Clone(messages)
	out[len(out)-1].Parts = parts
	return out
}

// boundBatch shortens the results of one answer in place so that none takes
// more than a quarter of the window and all of them no more than half.
func boundBatch(texts []string, window int64) {
	size := float64(window * bytesPerToken)
	level := min(int(oneResult*size), maxResult)
	left := int(oneBatch * size)
	lengths := make([]int, len(texts))
	for i, t := range texts {
		lengths[i] = min(len(t), level)
	}
	slices.Sort(lengths)
	// Short ones leave their part of the room to the long ones.
	for i, n := range lengths {
		share := left / (len(lengths) - i)
		if n > share {
			level = min(level, share)
			break
		}
		left -= n
	}
	for i, t := range texts {
		texts[i] = bound(t, level)
	}
}

// bound cuts a text to about n bytes, out of its middle, and says so. The end
// stays, since that is where a tool says how to go on.
func bound(s string, n int) string {
	if len(s) <= n {
		return s
	}
	tail := min(n/4, 2000)
	head := clip(s, n-tail)
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i+1]
	}
	start := len(s) - tail
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	rest := s[start:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 && i < len(rest)/2 {
		rest = rest[i+1:]
	}
	return fmt.Sprintf("%s\n[… %d of %d bytes left out here: ask for a smaller part …]\n%s", head, len(s)-len(head)-len(rest), len(s), rest)
}
