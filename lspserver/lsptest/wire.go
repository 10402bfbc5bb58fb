package lsptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Frame is a message as it went over the wire.
type Frame struct {
	// FromServer tells the direction.
	FromServer bool
	// At is the time since the start.
	At   time.Duration
	Body json.RawMessage

	// What the body says, empty where it does not.
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *ResponseError
}

// ResponseError is a JSON-RPC error.
type ResponseError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *ResponseError) Error() string {
	if len(e.Data) > 0 {
		return fmt.Sprintf("%d %s %s", e.Code, e.Message, e.Data)
	}
	return fmt.Sprintf("%d %s", e.Code, e.Message)
}

// DataCode is data.code, the name of an error of the agentls protocol.
func (e *ResponseError) DataCode() string {
	var data struct {
		Code string `json:"code"`
	}
	if json.Unmarshal(e.Data, &data) != nil {
		return ""
	}
	return data.Code
}

func (f Frame) isRequest() bool  { return f.Method != "" && len(f.ID) > 0 }
func (f Frame) isResponse() bool { return f.Method == "" && len(f.ID) > 0 }

// parseFrame reads a body as strictly as JSON-RPC 2.0 is written.
func parseFrame(body []byte) (Frame, error) {
	f := Frame{Body: body}
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   *ResponseError  `json:"error"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return f, err
	}
	f.ID, f.Method, f.Params, f.Result, f.Error = m.ID, m.Method, m.Params, m.Result, m.Error
	switch {
	case m.JSONRPC != "2.0":
		return f, fmt.Errorf("jsonrpc is %q", m.JSONRPC)
	case m.Method == "" && len(m.ID) == 0:
		return f, errors.New("neither a method nor an id")
	case m.Method == "" && (len(m.Result) > 0) == (m.Error != nil):
		return f, errors.New("a response has either a result or an error")
	}
	return f, nil
}

// readFrame reads one body. Whatever is no header of LSP's is an error: only
// frames may stand on a server's standard output.
func readFrame(r *bufio.Reader) ([]byte, error) {
	length := -1
	for first := true; ; first = false {
		line, err := r.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) && first && line == "" {
				return nil, io.EOF
			}
			return nil, fmt.Errorf("in a header %q: %w", line, err)
		}
		line, ok := strings.CutSuffix(line, "\r\n")
		if !ok {
			return nil, fmt.Errorf("no header: %q", line)
		}
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "Content-Length":
			if length, err = strconv.Atoi(value); err != nil || length < 0 {
				return nil, fmt.Errorf("header %q", line)
			}
		case "Content-Type":
		default:
			return nil, fmt.Errorf("header %q", line)
		}
	}
	if length < 0 {
		return nil, errors.New("a header without Content-Length")
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, fmt.Errorf("in a body of %d bytes: %w", length, err)
	}
	return body, nil
}

// writer puts frames on the wire, each in one write.
type writer struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *writer) write(body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b bytes.Buffer
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
	b.Write(body)
	_, err := w.w.Write(b.Bytes())
	return err
}

// raw puts bytes on the wire as they are.
func (w *writer) raw(b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.w.Write(b)
	return err
}

// String is a line of the wire log.
func (f Frame) String() string {
	arrow := "→"
	if f.FromServer {
		arrow = "←"
	}
	body := string(f.Body)
	const limit = 1200
	if len(body) > limit {
		body = strings.ToValidUTF8(body[:limit], "") + fmt.Sprintf("… (%d bytes)", len(f.Body))
	}
	return fmt.Sprintf("%8.3fs %s %s", f.At.Seconds(), arrow, body)
}
