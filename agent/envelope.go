package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Envelope is an event as it is stored and sent. Seq starts at 1 in a session
// and has no gaps.
//
// Its JSON is flat: {"sessionId", "runId"?, "seq", "time", "type", and the
// fields of the event}. Decoding leaves Event nil for a type that this version
// does not know, and takes no notice of fields that it does not know.
type Envelope struct {
	SessionID string
	RunID     string // empty for events that come from a review
	Seq       int64
	Time      time.Time
	Event     Event
}

// MarshalJSON implements json.Marshaler.
func (e Envelope) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil) }

// AppendJSON appends the envelope's JSON to dst: one line, valid UTF-8. The
// deltas of a message, which are nearly all events, go without reflection.
func (e Envelope) AppendJSON(dst []byte) ([]byte, error) {
	if e.Event == nil {
		return dst, errors.New("an envelope without an event")
	}
	dst = append(dst, `{"sessionId":`...)
	dst = appendString(dst, e.SessionID)
	if e.RunID != "" {
		dst = append(dst, `,"runId":`...)
		dst = appendString(dst, e.RunID)
	}
	dst = append(dst, `,"seq":`...)
	dst = appendInt(dst, e.Seq)
	dst = append(dst, `,"time":"`...)
	dst = e.Time.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, `","type":"`...)
	dst = append(dst, e.Event.eventType()...)
	dst = append(dst, '"')
	switch ev := e.Event.(type) {
	case TextDelta:
		return appendDelta(dst, ev.MessageID, ev.Delta), nil
	case ThoughtDelta:
		return appendDelta(dst, ev.MessageID, ev.Delta), nil
	}
	return appendFields(dst, e.Event)
}

func appendDelta(dst []byte, messageID, delta string) []byte {
	dst = append(dst, `,"messageId":`...)
	dst = appendString(dst, messageID)
	dst = append(dst, `,"delta":`...)
	dst = appendString(dst, delta)
	return append(dst, '}')
}

// appendFields appends the fields of v to an object that has some already,
// and closes it.
func appendFields(dst []byte, v any) ([]byte, error) {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false) // code is full of < and &
	if err := enc.Encode(v); err != nil {
		return dst, fmt.Errorf("encoding %T: %w", v, err)
	}
	body := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if len(body) == len("{}") {
		return append(dst, '}'), nil
	}
	dst = append(dst, ',')
	return append(dst, body[1:]...), nil
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Envelope) UnmarshalJSON(data []byte) error {
	var head struct {
		SessionID string    `json:"sessionId"`
		RunID     string    `json:"runId"`
		Seq       int64     `json:"seq"`
		Time      time.Time `json:"time"`
		Type      string    `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	*e = Envelope{SessionID: head.SessionID, RunID: head.RunID, Seq: head.Seq, Time: head.Time}
	decode, known := decoders[head.Type]
	if !known {
		return nil
	}
	var err error
	e.Event, err = decode(data)
	return err
}

// decoders read an event out of its envelope, by type.
var decoders = map[string]func([]byte) (Event, error){
	"runStarted":  decodeAs[RunStarted],
	"turnStarted": decodeAs[TurnStarted],
	"text":        decodeAs[TextDelta],
	"thought":     decodeAs[ThoughtDelta],
	"message":     decodeAs[MessageDone],
	"toolCall":    decodeAs[ToolCall],
	"toolOutput":  decodeAs[ToolOutput],
	"plan":        decodeAs[PlanUpdated],
	"proposal":    decodeAs[ProposalChanged],
	"permission":  decodeAs[PermissionAsked],
	"usage":       decodeAs[UsageUpdated],
	"notice":      decodeAs[Notice],
	"steered":     decodeAs[Steered],
	"runEnded":    decodeAs[RunEnded],
}

func decodeAs[E Event](data []byte) (Event, error) {
	var ev E
	err := json.Unmarshal(data, &ev)
	return ev, err
}
