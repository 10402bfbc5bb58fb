package lsptest

import (
	"encoding/json"
)

// follower holds the events against the rules that all of them obey: numbers
// without gaps, nothing about what was not introduced, one end of each run.
type follower struct {
	events []Event
	seq    map[string]int64 // last one by session
	runs   map[string]*runSeen
	known  map[string]bool // ids of sessions and runs that answers named
	// progress is the state of each work-done token.
	progress map[string]string
}

// runSeen is what is known of a run.
type runSeen struct {
	session string
	events  int
	ended   int
	calls   map[string]string // status by tool call
}

func (f *follower) init() {
	f.seq, f.runs, f.known, f.progress = map[string]int64{}, map[string]*runSeen{}, map[string]bool{}, map[string]string{}
}

// event takes one in; breach takes down what is wrong with it.
func (f *follower) event(frame Frame, breach func(string, ...any)) {
	var v Event
	if err := json.Unmarshal(frame.Params, &v); err != nil {
		breach("an event that cannot be read: %v", err)
		return
	}
	v.Raw = frame.Params
	if err := json.Unmarshal(frame.Params, &v.Fields); err != nil {
		breach("an event that is no object: %v", err)
		return
	}
	f.events = append(f.events, v)
	if !f.known[v.SessionID] {
		breach("event %d of session %s before an answer named it", v.Seq, v.SessionID)
	}
	if last, ok := f.seq[v.SessionID]; ok && v.Seq != last+1 || !ok && v.Seq != 1 {
		breach("session %s: event %d after %d", v.SessionID, v.Seq, last)
	}
	f.seq[v.SessionID] = v.Seq
	if v.RunID != "" {
		f.ofRun(v, breach)
	}
}

func (f *follower) ofRun(v Event, breach func(string, ...any)) {
	r := f.run(v.RunID)
	if !f.known[v.RunID] {
		breach("event %d of run %s before an answer named it", v.Seq, v.RunID)
	}
	if r.ended > 0 {
		breach("run %s: %s after runEnded", v.RunID, v.Type)
	}
	if r.events == 0 && v.Type != "runStarted" {
		breach("run %s begins with %s", v.RunID, v.Type)
	}
	r.session = v.SessionID
	r.events++
	switch v.Type {
	case "toolCall":
		r.calls[v.Field("toolCallId")] = v.Field("status")
	case "runEnded":
		r.ended++
		for id, status := range r.calls {
			switch status {
			case "completed", "failed", "denied", "cancelled":
			default:
				breach("run %s ended while tool call %s is %s", v.RunID, id, status)
			}
		}
	}
}

func (f *follower) run(id string) *runSeen {
	r := f.runs[id]
	if r == nil {
		r = &runSeen{calls: map[string]string{}}
		f.runs[id] = r
	}
	return r
}

// answered learns the ids that an answer names.
func (f *follower) answered(method string, frame Frame) {
	var ids struct {
		SessionID string `json:"sessionId"`
		RunID     string `json:"runId"`
		Session   struct {
			SessionID string `json:"sessionId"`
		} `json:"session"`
		Sessions []struct {
			SessionID string `json:"sessionId"`
		} `json:"sessions"`
		NextSeq int64 `json:"nextSeq"`
	}
	if frame.Error != nil || json.Unmarshal(frame.Result, &ids) != nil {
		return
	}
	for _, id := range []string{ids.SessionID, ids.RunID, ids.Session.SessionID} {
		if id != "" {
			f.known[id] = true
		}
	}
	for _, s := range ids.Sessions {
		f.known[s.SessionID] = true
	}
	if ids.RunID != "" {
		f.run(ids.RunID)
	}
	// A session that was loaded goes on where its events ended.
	if id := ids.Session.SessionID; method == "agent/session/load" && id != "" && f.seq[id] == 0 && ids.NextSeq > 1 {
		f.seq[id] = ids.NextSeq - 1
	}
}

// progressed follows a work-done progress.
func (f *follower) progressed(token, kind string, breach func(string, ...any)) {
	state, ok := f.progress[token]
	switch {
	case kind == "begin" && !ok:
		breach("progress %s was never created", token)
	case kind == "begin" && state != "created":
		breach("progress %s begins twice", token)
	case kind != "begin" && state != "begin":
		breach("progress %s: %s, but it is %q", token, kind, state)
	case kind == "end":
		f.progress[token] = "ended"
	case kind == "begin":
		f.progress[token] = "begin"
	}
}
