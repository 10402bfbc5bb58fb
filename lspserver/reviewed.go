package lspserver

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/file"
)

// reviewedTool is a tool that changes the proposal. It tells the client of the
// change, and has it decided at once where the run is reviewed so.
type reviewedTool struct {
	agent.Tool
	c *conversation
}

func (t reviewedTool) Run(ctx context.Context, call agent.Call) agent.Result {
	t.c.called(call)
	res := t.Tool.Run(ctx, call)
	t.c.announce(call.Emit)
	if res.Status != "" && res.Status != agent.StatusCompleted {
		return res
	}
	var news string
	switch call.Review {
	case agent.ReviewStep:
		news = t.c.awaitVerdict(ctx, call)
	case agent.ReviewAuto:
		news = t.c.acceptCall(ctx, call)
	}
	if news != "" {
		res.Text = strings.TrimRight(res.Text, "\n") + "\n\n" + news
	}
	return res
}

// called remembers which run a call belongs to, for its checkpoint.
func (c *conversation) called(call agent.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call.ID] = call.RunID
}

// touched is what a call of the agent left in the proposal.
type touched struct {
	ids       []string             // hunks and files
	waiting   bool                 // some wait for a decision
	accept    []changeset.Decision // what auto review may accept
	protected []string             // paths that wait for the user all the same
}

func (c *conversation) touchedBy(callID string, p changeset.Proposal) touched {
	var t touched
	for _, f := range p.Files {
		whole := f.ToolCallID == callID && f.Op != changeset.OpModify
		var hunks []changeset.Hunk
		for _, h := range f.Hunks {
			if h.ToolCallID == callID {
				hunks = append(hunks, h)
				t.ids = append(t.ids, h.HunkID)
				t.waiting = t.waiting || waits(h.State)
			}
		}
		if !whole && len(hunks) == 0 {
			continue
		}
		if whole {
			t.ids = append(t.ids, f.FileID)
			t.waiting = t.waiting || waits(f.State)
		}
		switch {
		case file.Protected(f.Path) || f.OldPath != "" && file.Protected(f.OldPath):
			t.protected = append(t.protected, c.server.workspace.Display(f.Path))
		case whole || f.Op != changeset.OpModify && len(f.Hunks) == len(hunks):
			t.accept = append(t.accept, changeset.Decision{FileID: f.FileID, Verdict: changeset.Accept})
		default:
			for _, h := range hunks {
				if h.State != changeset.Conflicted {
					t.accept = append(t.accept, changeset.Decision{HunkID: h.HunkID, Verdict: changeset.Accept})
				}
			}
		}
	}
	return t
}

// waits reports whether a person has to say something yet. What they accepted
// and the editor did not do is told to the model instead.
func waits(s changeset.State) bool { return s == changeset.Pending || s == changeset.Conflicted }

// awaitVerdict waits until nothing of a call is undecided and says what came of
// it. A cancel leaves the hunks pending.
func (c *conversation) awaitVerdict(ctx context.Context, call agent.Call) string {
	resume := call.Pause()
	defer resume()
	if !c.server.client.reviews() {
		c.server.askReview(c)
		defer c.dismissQuestion()
	}
	var ids []string
	for {
		changed := c.proposal.Changed()
		t := c.touchedBy(call.ID, c.proposal.Proposal())
		for _, id := range t.ids {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		if !t.waiting {
			return c.outcomes(ids)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "The run was cancelled before the user decided: the change is still proposed."
		}
	}
}

// acceptCall accepts what a call proposed, but for what is protected, and says
// what came of it. Nothing is tried twice.
func (c *conversation) acceptCall(ctx context.Context, call agent.Call) string {
	p := c.proposal.Proposal()
	t := c.touchedBy(call.ID, p)
	var news []string
	if len(t.accept) > 0 {
		_, err := c.server.resolve(ctx, c, p.Revision, t.accept, false)
		var stale *changeset.StaleError
		switch {
		case errors.As(err, &stale):
			news = append(news, "The user changed the same place at this moment: the change waits for their decision.")
		case err != nil:
			news = append(news, "Not applied, it stays proposed: "+err.Error())
		}
		if said := c.outcomes(t.ids); said != "" {
			news = append(news, said)
		}
	}
	if len(t.protected) > 0 {
		news = append(news, strings.Join(t.protected, ", ")+" is protected: the change waits for the user's decision.")
	}
	return strings.Join(news, "\n")
}

// outcomes is what the model is to hear of some hunks and files, once.
func (c *conversation) outcomes(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return changeset.Summarise(c.proposal.TakeOutcomes(ids...), c.server.workspace.Display)
}
