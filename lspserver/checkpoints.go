package lspserver

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/review"
	"github.com/agentls/agentls/lspserver/internal/undo"
	"github.com/agentls/agentls/tools/changeset"
)

// The records of a session's checkpoints, their texts apart (recordText).
const (
	// recordCheckpoints holds all of them.
	recordCheckpoints = "_checkpoints"
	// recordSending holds what the editor is about to be asked for: should the
	// server not live to see what came of it, it looks when it is restored.
	recordSending = "_sending"
)

type sendingRecord struct {
	Runs map[string][]undo.Step `json:"runs"`
}

func (s *server) checkpointList(_ context.Context, p ext.SessionParams) (any, error) {
	c, err := s.findConversation(p.SessionID)
	if err != nil {
		return nil, err
	}
	out := ext.CheckpointList{Checkpoints: []ext.Checkpoint{}}
	for _, point := range c.undo.List() {
		uris := []string{}
		for _, path := range point.Files() {
			uris = append(uris, s.docs.URI(path))
		}
		out.Checkpoints = append(out.Checkpoints, ext.Checkpoint{CheckpointID: point.ID, RunID: point.RunID, Time: point.Time, Files: uris})
	}
	return out, nil
}

func (s *server) checkpointRestore(ctx context.Context, p ext.CheckpointRestoreParams) (any, error) {
	c, err := s.findConversation(p.SessionID)
	if err != nil {
		return nil, err
	}
	return s.restoreCheckpoint(ctx, c, p.CheckpointID)
}

// restoreCheckpoint undoes a run and the later ones through the editor. The
// checkpoint of a restore that is asked for again is done again.
func (s *server) restoreCheckpoint(ctx context.Context, c *conversation, id string) (ext.ResolveResult, error) {
	if c.activeRun() != nil {
		return ext.ResolveResult{}, failed(ext.ErrRunActive, "session %s is running: cancel the run before you undo", c.id())
	}
	c.restoring.Lock()
	defer c.restoring.Unlock()
	plan, err := c.undo.Plan(id, s.workspace)
	if errors.Is(err, undo.ErrUnknown) {
		return ext.ResolveResult{}, invalidParams("checkpoint %q: there is none of that name in session %s", id, c.id())
	}
	if err != nil {
		return ext.ResolveResult{}, err
	}
	out := ext.ResolveResult{Results: []ext.Result{}}
	if proposal := plan.Set.Proposal(); len(proposal.Files) > 0 {
		if out.Results, err = s.carryOut(ctx, c, plan, proposal.Revision); err != nil {
			return out, err
		}
	} else {
		c.undo.Restored(plan, nil, nil, s.workspace.Base)
	}
	for _, r := range plan.Conflicts {
		out.Results = append(out.Results, ext.Result{FileID: s.docs.URI(r.Path), State: string(r.State), Reason: r.Reason})
	}
	s.keepCheckpoints(c)
	s.sync(ctx, c)
	c.announce(c.session.Emit)
	out.Revision = c.proposal.Proposal().Revision
	return out, nil
}

// carryOut has the editor make the plan. Its results are by file, and name the
// file by its URI: the plan is no part of the session's proposal.
func (s *server) carryOut(ctx context.Context, c *conversation, plan *undo.Plan, revision int64) ([]ext.Result, error) {
	results, err := s.applier.Resolve(ctx, plan.Set, review.Request{
		Revision:  revision,
		Decisions: []changeset.Decision{{All: true, Verdict: changeset.Accept}},
		Label:     "agentls: undo",
		Applied: func(files []changeset.FileEdit, results []changeset.Result) {
			c.undo.Restored(plan, files, results, s.workspace.Base)
		},
	})
	if err != nil {
		return nil, err
	}
	var out []ext.Result
	at := map[string]int{}
	for _, r := range results {
		uri := s.docs.URI(r.Path)
		i, ok := at[uri]
		if !ok {
			at[uri] = len(out)
			out = append(out, ext.Result{FileID: uri, State: string(r.State), Reason: r.Reason})
			continue
		}
		if r.State != changeset.Applied {
			out[i].State, out[i].Reason = string(r.State), r.Reason
		}
	}
	return out, nil
}

// landed notes what an accept brought into the documents, under the run that
// wrote it.
func (c *conversation) landed(before changeset.Proposal, files []changeset.FileEdit, results []changeset.Result) {
	byRun := c.byRun(before, files)
	some := false
	for _, run := range slices.Sorted(maps.Keys(byRun)) {
		some = c.undo.Applied(run, byRun[run], results, c.server.workspace.Base, time.Now().UTC()) || some
	}
	if some {
		c.server.keepCheckpoints(c)
	}
}

// sending stores what the editor is about to be asked for.
func (c *conversation) sending(before changeset.Proposal, files []changeset.FileEdit) {
	rec := sendingRecord{Runs: map[string][]undo.Step{}}
	for run, fs := range c.byRun(before, files) {
		rec.Runs[run] = undo.Intended(fs)
	}
	c.announcing.Lock()
	defer c.announcing.Unlock()
	if err := c.keeper.keepSending(c.session, rec); err != nil {
		c.server.log.Error("what is sent is not stored", "session", c.id(), "err", err)
	}
}

func (c *conversation) byRun(p changeset.Proposal, files []changeset.FileEdit) map[string][]changeset.FileEdit {
	byRun := map[string][]changeset.FileEdit{}
	for _, f := range files {
		run := c.runOf(p, f.FileID)
		byRun[run] = append(byRun[run], f)
	}
	return byRun
}

// runOf is the run whose call changed a file last.
func (c *conversation) runOf(p changeset.Proposal, fileID string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range p.Files {
		if f.FileID != fileID {
			continue
		}
		run := c.calls[f.ToolCallID]
		for _, h := range f.Hunks {
			if r := c.calls[h.ToolCallID]; r != "" {
				run = r
			}
		}
		if run != "" {
			return run
		}
	}
	if c.active != nil {
		return c.active.run.ID()
	}
	return ""
}

// keepCheckpoints stores the checkpoints, for after a restart.
func (s *server) keepCheckpoints(c *conversation) {
	c.announcing.Lock()
	defer c.announcing.Unlock()
	if err := c.keeper.keepCheckpoints(c.session, c.undo.State()); err != nil {
		s.log.Error("checkpoints not stored", "session", c.id(), "err", err)
	}
}

func (k *keeper) keepCheckpoints(s *agent.Session, st undo.State) error {
	err := eachText(&st, func(t *string) error {
		hash, err := k.text(s, *t)
		*t = hash
		return err
	})
	if err != nil {
		return err
	}
	return s.Record(recordCheckpoints, st)
}

func (k *keeper) keepSending(s *agent.Session, rec sendingRecord) error {
	for run, steps := range rec.Runs {
		named, err := stepTexts(steps, func(t *string) error {
			hash, err := k.text(s, *t)
			*t = hash
			return err
		})
		if err != nil {
			return err
		}
		rec.Runs[run] = named
	}
	return s.Record(recordSending, rec)
}

// stepTexts visits the texts of steps, in copies of them.
func stepTexts(in []undo.Step, visit func(*string) error) ([]undo.Step, error) {
	out := append([]undo.Step(nil), in...)
	for i := range out {
		for _, t := range []*string{&out[i].Before, &out[i].After} {
			if *t == "" {
				continue
			}
			if err := visit(t); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// eachText visits the texts of a state, in copies of its steps.
func eachText(st *undo.State, visit func(*string) error) error {
	steps := func(in []undo.Step) ([]undo.Step, error) { return stepTexts(in, visit) }
	points := func(in []undo.Point) (out []undo.Point, err error) {
		for _, p := range in {
			if p.Steps, err = steps(p.Steps); err != nil {
				return nil, err
			}
			out = append(out, p)
		}
		return out, nil
	}
	var err error
	if st.Points, err = points(st.Points); err != nil {
		return err
	}
	for i := range st.Undone {
		u := &st.Undone[i]
		if u.Points, err = points(u.Points); err != nil {
			return err
		}
		if u.Steps, err = steps(u.Steps); err != nil {
			return err
		}
	}
	return nil
}

// reviveCheckpoints is the newest state in a session's records, and what was
// being sent after it as far as the documents show it.
func reviveCheckpoints(records []agent.Record, texts map[string]string, src changeset.Source) (log *undo.Log, recovered bool, err error) {
	var st undo.State
	var unseen []sendingRecord
	for _, r := range records {
		var sent sendingRecord
		var err error
		switch r.Type {
		case recordCheckpoints:
			st, unseen = undo.State{}, nil
			err = json.Unmarshal(r.Line, &st)
		case recordSending:
			err = json.Unmarshal(r.Line, &sent)
			unseen = append(unseen, sent)
		}
		if err != nil {
			return nil, false, err
		}
	}
	named := func(t *string) error {
		*t = texts[*t]
		return nil
	}
	if err := eachText(&st, named); err != nil {
		return nil, false, err
	}
	log = undo.NewLog(st)
	for _, sent := range unseen {
		for run, steps := range sent.Runs {
			steps, err := stepTexts(steps, named)
			if err != nil {
				return nil, false, err
			}
			recovered = log.Recover(run, steps, src.Base, time.Now().UTC()) || recovered
		}
	}
	return log, recovered, nil
}

// reviveCalls finds out which run each call of a tool belonged to.
func reviveCalls(records []agent.Record) map[string]string {
	calls := map[string]string{}
	for _, r := range records {
		if r.Type != "toolCall" {
			continue
		}
		var e struct {
			RunID      string `json:"runId"`
			ToolCallID string `json:"toolCallId"`
		}
		if json.Unmarshal(r.Line, &e) == nil {
			calls[e.ToolCallID] = e.RunID
		}
	}
	return calls
}

// commandUndo undoes the newest run of the current session that had anything
// applied.
func (s *server) commandUndo(ctx context.Context, _ executeCommandParams) (any, error) {
	c := s.currentConversation()
	if c == nil {
		return nil, invalidParams("there is no session whose run could be undone")
	}
	points := c.undo.List()
	if len(points) == 0 {
		return nil, invalidParams("nothing that this session proposed has been applied")
	}
	res, err := s.restoreCheckpoint(ctx, c, points[0].ID)
	if err != nil {
		return nil, err
	}
	s.tellTrouble(res)
	return res, nil
}
