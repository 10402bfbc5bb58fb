package lsptest

import (
	"encoding/json"
	"maps"
)

// Run is a run that was started.
type Run struct {
	SessionID string `json:"sessionId"`
	RunID     string `json:"runId"`
}

// Result is how a run ended.
type Result struct {
	StopReason string `json:"stopReason"`
	Text       string `json:"text"`
	Proposal   struct {
		Revision int64 `json:"revision"`
		Files    int   `json:"files"`
		Hunks    int   `json:"hunks"`
	} `json:"proposal"`
	Error *struct {
		Class   string `json:"class"`
		Message string `json:"message"`
	} `json:"error"`
	Running bool `json:"running"`
}

// Run starts a run; params are those of agent/run/start beside the prompt.
func (e *Editor) Run(prompt any, params map[string]any) Run {
	e.t.Helper()
	all := map[string]any{"prompt": prompt}
	maps.Copy(all, params)
	if token, ok := all["workDoneToken"]; ok {
		e.record.mu.Lock()
		e.record.follow.progress[string(mustJSON(token))] = "created"
		e.record.mu.Unlock()
	}
	var r Run
	e.Must("agent/run/start", all, &r)
	return r
}

// WaitRun waits for a run to end. Its runEnded is there by then.
func (e *Editor) WaitRun(r Run) Result {
	e.t.Helper()
	var res Result
	e.Must("agent/run/wait", map[string]any{"runId": r.RunID}, &res)
	if e.profile.Agent != nil && !res.Running {
		e.record.mu.Lock()
		if e.record.follow.run(r.RunID).ended != 1 {
			e.record.breachLocked("run/wait was answered before runEnded of %s", r.RunID)
		}
		e.record.mu.Unlock()
	}
	return res
}

// Proposal is a session's proposal as agent/proposal/get gives it.
type Proposal struct {
	SessionID string       `json:"sessionId"`
	Revision  int64        `json:"revision"`
	Files     []FileChange `json:"files"`
}

// FileChange is one file of a proposal.
type FileChange struct {
	FileID string `json:"fileId"`
	Op     string `json:"op"`
	URI    string `json:"uri"`
	OldURI string `json:"oldUri"`
	State  string `json:"state"`
	Added  int    `json:"added"`
	Gone   int    `json:"removed"`
	Patch  string `json:"patch"`
	Hunks  []Hunk `json:"hunks"`
}

// Hunk is one place of a file.
type Hunk struct {
	HunkID  string `json:"hunkId"`
	State   string `json:"state"`
	Range   Range  `json:"range"`
	OldText string `json:"oldText"`
	NewText string `json:"newText"`
}

// Proposal asks for a session's proposal, and holds its hunks against the
// documents: they are valid edits of what the editor has.
func (e *Editor) Proposal(sessionID string) Proposal {
	e.t.Helper()
	var p Proposal
	e.Must("agent/proposal/get", map[string]any{"sessionId": sessionID}, &p)
	for _, f := range p.Files {
		e.checkHunks(f)
	}
	return p
}

func (e *Editor) checkHunks(f FileChange) {
	e.t.Helper()
	uri := f.URI
	if f.Op == "rename" {
		uri = f.OldURI
	}
	text, _ := e.Text(uri)
	if path := pathOf(uri); path != "" {
		text, _ = e.Text(path)
	}
	last := 0
	for _, h := range f.Hunks {
		start, err := offsetOf(text, h.Range.Start, e.encoding)
		if err != nil {
			e.Errorf("%s: hunk %s: %v", uri, h.HunkID, err)
			continue
		}
		end, err := offsetOf(text, h.Range.End, e.encoding)
		switch {
		case err != nil:
			e.Errorf("%s: hunk %s: %v", uri, h.HunkID, err)
		case start < last || end < start:
			e.Errorf("%s: hunk %s overlaps the one before", uri, h.HunkID)
		case text[start:end] != h.OldText && h.State != "conflicted":
			e.Errorf("%s: hunk %s is for %q, the document has %q", uri, h.HunkID, h.OldText, text[start:end])
		}
		last = end
	}
}

// Decided is the answer to agent/proposal/resolve.
type Decided struct {
	Revision int64 `json:"revision"`
	Results  []struct {
		HunkID string `json:"hunkId"`
		FileID string `json:"fileId"`
		State  string `json:"state"`
		Reason string `json:"reason"`
	} `json:"results"`
}

// Resolve decides parts of a proposal.
func (e *Editor) Resolve(sessionID string, revision int64, decisions []map[string]any, save bool) (Decided, error) {
	e.t.Helper()
	return e.resolved(e.CallResolve(sessionID, revision, decisions, save))
}

// CallResolve is Resolve that does not wait.
func (e *Editor) CallResolve(sessionID string, revision int64, decisions []map[string]any, save bool) *Pending {
	e.t.Helper()
	params := map[string]any{"sessionId": sessionID, "revision": revision, "decisions": decisions}
	if save {
		params["save"] = true
	}
	return e.Call("agent/proposal/resolve", params)
}

// resolved waits for a resolve. The proposal event that tells of it is there
// before its answer.
func (e *Editor) resolved(p *Pending) (Decided, error) {
	e.t.Helper()
	var raw json.RawMessage
	var d Decided
	if err := p.Wait(&raw); err != nil {
		return d, err
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		e.Fatalf("agent/proposal/resolve: %v", err)
	}
	return d, nil
}
