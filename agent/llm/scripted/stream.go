package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"
)

const defaultChunk = 8

// errStop ends a reply early; why is nobody's concern any more.
var errStop = errors.New("stop")

// stream writes one reply. It lives in the handler's goroutine.
type stream struct {
	server *Server
	w      http.ResponseWriter
	flush  func() error
	ctx    context.Context // the client's
	reply  *Reply
	usage  bool // the client asked for it
	id     string
	model  string
	calls  int
}

func newStream(s *Server, w http.ResponseWriter, ctx context.Context, req *Request, reply *Reply) *stream {
	s.mu.Lock()
	n := len(s.requests)
	s.mu.Unlock()
	return &stream{server: s, w: w, flush: http.NewResponseController(w).Flush, ctx: ctx, reply: reply,
		usage: req.IncludeUsage, id: fmt.Sprintf("chatcmpl-%d", n), model: req.Model}
}

func (t *stream) run() {
	t.w.Header().Set("Content-Type", "text/event-stream")
	setHeader(t.w, t.reply.Header)
	if t.event(delta{Role: "assistant"}, nil) != nil {
		return
	}
	for _, s := range t.reply.Steps {
		if err := t.step(s); err != nil {
			return
		}
	}
	finish := t.reply.Finish
	if finish == "" {
		finish = "stop"
		if t.calls > 0 {
			finish = "tool_calls"
		}
	}
	if t.event(delta{}, &finish) == nil && t.writeUsage() == nil {
		_ = t.write([]byte("data: [DONE]\n\n"))
	}
}

func (t *stream) step(s Step) error {
	switch s.kind {
	case stepSay:
		return t.pieces(s.text, func(p string) delta { return delta{Content: &p} })
	case stepThink:
		return t.pieces(s.text, func(p string) delta { return delta{Reasoning: &p} })
	case stepCall:
		return t.call(s)
	case stepHold:
		return t.hold(s.text)
	case stepDelay:
		return t.wait(s.wait)
	case stepRaw:
		return t.write([]byte(s.text))
	case stepCut:
		panic(http.ErrAbortHandler) // net/http's way to break a connection off
	case stepEnd:
		return errStop
	}
	panic(fmt.Sprintf("scripted: step of kind %d", s.kind))
}

// call announces a call and streams its arguments, as OpenAI's servers do.
func (t *stream) call(s Step) error {
	index := t.calls
	t.calls++
	first := toolCall{Index: index, ID: fmt.Sprintf("call_%s_%d", t.id[len("chatcmpl-"):], index), Type: "function"}
	first.Function.Name = s.text
	if err := t.event(delta{ToolCalls: []toolCall{first}}, nil); err != nil {
		return err
	}
	return t.pieces(s.args, func(p string) delta {
		c := toolCall{Index: index}
		c.Function.Arguments = p
		return delta{ToolCalls: []toolCall{c}}
	})
}

// pieces sends text in deltas of a few characters.
func (t *stream) pieces(text string, wrap func(string) delta) error {
	chunk := t.server.script.Chunk
	if chunk <= 0 {
		chunk = defaultChunk
	}
	for len(text) > 0 {
		end := 0
		for n := 0; n < chunk && end < len(text); n++ {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		if err := t.event(wrap(text[:end]), nil); err != nil {
			return err
		}
		text = text[end:]
	}
	return nil
}

func (t *stream) hold(name string) error {
	t.server.mu.Lock()
	h := t.server.hold(name)
	if !h.reachedClosed {
		h.reachedClosed = true
		close(h.reached)
	}
	t.server.mu.Unlock()
	select {
	case <-h.released:
		return nil
	case <-t.ctx.Done():
	case <-t.server.closing:
	}
	return errStop
}

func (t *stream) wait(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-t.ctx.Done():
	case <-t.server.closing:
	}
	return errStop
}

func (t *stream) writeUsage() error {
	u := t.reply.Usage
	if u == nil || !t.usage {
		return nil
	}
	c := chunk{ID: t.id, Object: "chat.completion.chunk", Model: t.model, Choices: []choice{},
		Usage: &usage{Prompt: u.Input, Completion: u.Output, Total: u.Input + u.Output}}
	if u.Cached > 0 {
		c.Usage.PromptDetails = &promptDetails{u.Cached}
	}
	if u.Reasoning > 0 {
		c.Usage.CompletionDetails = &completionDetails{u.Reasoning}
	}
	return t.send(c)
}

func (t *stream) event(d delta, finish *string) error {
	return t.send(chunk{ID: t.id, Object: "chat.completion.chunk", Model: t.model,
		Choices: []choice{{Delta: d, Finish: finish}}})
}

func (t *stream) send(c chunk) error {
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // plain structs always encode
	}
	return t.write(append(append([]byte("data: "), b...), "\n\n"...))
}

// write sends bytes, in one piece or in the small ones that Wire asks for.
func (t *stream) write(b []byte) error {
	n := t.server.script.Wire
	if n <= 0 {
		n = len(b)
	}
	for len(b) > 0 {
		n = min(n, len(b))
		if _, err := t.w.Write(b[:n]); err != nil {
			return err
		}
		if err := t.flush(); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// The wire types of a streamed chunk.
type (
	chunk struct {
		ID      string   `json:"id"`
		Object  string   `json:"object"`
		Model   string   `json:"model"`
		Choices []choice `json:"choices"`
		Usage   *usage   `json:"usage,omitempty"`
	}
	choice struct {
		Index  int     `json:"index"`
		Delta  delta   `json:"delta"`
		Finish *string `json:"finish_reason"`
	}
	delta struct {
		Role      string     `json:"role,omitempty"`
		Content   *string    `json:"content,omitempty"`
		Reasoning *string    `json:"reasoning_content,omitempty"`
		ToolCalls []toolCall `json:"tool_calls,omitempty"`
	}
	toolCall struct {
		Index    int    `json:"index"`
		ID       string `json:"id,omitempty"`
		Type     string `json:"type,omitempty"`
		Function struct {
			Name      string `json:"name,omitempty"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	usage struct {
		Prompt            int                `json:"prompt_tokens"`
		Completion        int                `json:"completion_tokens"`
		Total             int                `json:"total_tokens"`
		PromptDetails     *promptDetails     `json:"prompt_tokens_details,omitempty"`
		CompletionDetails *completionDetails `json:"completion_tokens_details,omitempty"`
	}
	promptDetails struct {
		Cached int `json:"cached_tokens"`
	}
	completionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	}
)
