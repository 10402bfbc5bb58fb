package agent

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agentls/agentls/agent/llm"
)

// Record is one line of a stored session: an event in the form in which it was
// sent, or, with a Type that begins with "_" and no Seq, something that the
// session itself wants back. A front end may keep records of its own there
// (Session.Record); unknown ones are passed over.
type Record struct {
	Type string
	Seq  int64
	Line json.RawMessage
}

// The types of the records that are no events.
const (
	// RecordSession is the first line of a session, and RecordInfo comes after
	// each run: both are an Info, so that the head or the tail of a file is
	// enough to list it.
	RecordSession = "_session"
	RecordInfo    = "_info"

	recordMessage      = "_message"      // one message of the model's history
	recordHistory      = "_history"      // the history was replaced by this
	recordSystem       = "_system"       // the system prompt, as it is sent
	recordInstructions = "_instructions" // instruction files that the model got
)

// ParseRecord reads the head of a line and makes sure that the rest is JSON.
func ParseRecord(data []byte) (Record, error) {
	var head struct {
		Type string `json:"type"`
		Seq  int64  `json:"seq"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Record{}, err
	}
	if head.Type == "" || head.Seq < 0 || (head.Seq > 0) == (head.Type[0] == '_') {
		return Record{}, errors.New("neither an event nor a record")
	}
	return Record{Type: head.Type, Seq: head.Seq, Line: data}, nil
}

// encodeRecord makes the line of a record out of its type and the fields of v.
func encodeRecord(typ string, v any) ([]byte, error) {
	dst := append([]byte(nil), `{"type":`...)
	dst = appendString(dst, typ)
	return appendFields(dst, v)
}

// The bodies of the records.
type (
	messageRecord struct {
		Role  llm.Role     `json:"role"`
		Parts []partRecord `json:"parts"`
	}
	historyRecord struct {
		Messages []messageRecord `json:"messages"`
	}
	textRecord struct {
		Text string `json:"text"`
	}
	pathsRecord struct {
		Paths []string `json:"paths"`
	}
	// partRecord is any part of a message; exactly one field is set.
	partRecord struct {
		Text    *llm.Text       `json:"text,omitempty"`
		Thought *llm.Thought    `json:"thought,omitempty"`
		Use     *llm.ToolUse    `json:"toolUse,omitempty"`
		Result  *llm.ToolResult `json:"toolResult,omitempty"`
		Image   *llm.Image      `json:"image,omitempty"`
	}
)

func recordOf(m llm.Message) messageRecord {
	r := messageRecord{Role: m.Role, Parts: make([]partRecord, len(m.Parts))}
	for i, p := range m.Parts {
		switch p := p.(type) {
		case llm.Text:
			r.Parts[i].Text = &p
		case llm.Thought:
			r.Parts[i].Thought = &p
		case llm.ToolUse:
			r.Parts[i].Use = &p
		case llm.ToolResult:
			r.Parts[i].Result = &p
		case llm.Image:
			r.Parts[i].Image = &p
		}
	}
	return r
}

func (r messageRecord) message() (llm.Message, error) {
	m := llm.Message{Role: r.Role}
	if r.Role != llm.User && r.Role != llm.Assistant {
		return m, fmt.Errorf("a message of role %q", r.Role)
	}
	for _, p := range r.Parts {
		switch {
		case p.Text != nil:
			m.Parts = append(m.Parts, *p.Text)
		case p.Thought != nil:
			m.Parts = append(m.Parts, *p.Thought)
		case p.Use != nil:
			m.Parts = append(m.Parts, *p.Use)
		case p.Result != nil:
			m.Parts = append(m.Parts, *p.Result)
		case p.Image != nil:
			m.Parts = append(m.Parts, *p.Image)
		}
	}
	return m, nil
}
