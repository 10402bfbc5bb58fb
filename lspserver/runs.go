package lspserver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/rpc"
)

// runState is a run and what this connection shows of it.
type runState struct {
	run     *agent.Run
	session *conversation
	// token is the client's progress token, nil if one is to be created.
	token json.RawMessage
	// Set when the run begins.
	progress *progress
	// ended closes when all that follows a run's end has been said.
	ended chan struct{}
}

func (s *server) runStart(ctx context.Context, p ext.RunStartParams) (any, error) {
	r, err := s.prepareRun(p)
	if err != nil {
		return nil, err
	}
	rpc.AfterReply(ctx, func() {
		// A request that was cancelled before it was answered gets its ids all
		// the same: the run begins, and ends at once.
		if errors.Is(context.Cause(ctx), rpc.ErrCancelled) {
			r.run.Cancel()
		}
		s.beginRun(r)
	})
	return ext.RunStarted{SessionID: r.session.id(), RunID: r.run.ID()}, nil
}

// prepareRun makes a run that waits to be begun.
func (s *server) prepareRun(p ext.RunStartParams) (*runState, error) {
	req, err := s.runRequest(p)
	if err != nil {
		return nil, err
	}
	c, err := s.conversationFor(p)
	if err != nil {
		return nil, err
	}
	run, err := c.session.Start(req)
	if errors.Is(err, agent.ErrRunActive) {
		return nil, failed(ext.ErrRunActive, "session %s is running: steer or cancel the run first", c.id())
	}
	if err != nil {
		return nil, err
	}
	c.dismissQuestion()
	r := &runState{run: run, session: c, ended: make(chan struct{}), token: s.freeToken(p.WorkDoneToken)}
	s.mu.Lock()
	s.runs[run.ID()] = r
	s.mu.Unlock()
	c.mu.Lock()
	c.active = r
	c.mu.Unlock()
	return r, nil
}

// freeToken is the client's token, or nil where a run under way has it already.
func (s *server) freeToken(token json.RawMessage) json.RawMessage {
	if len(token) == 0 || string(token) == "null" {
		return nil
	}
	if s.runByToken(token) != nil {
		return nil
	}
	return token
}

func (s *server) runByToken(token json.RawMessage) *runState {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runs {
		t := r.token
		if r.progress != nil {
			t = r.progress.token
		}
		if string(t) == string(token) && !r.over() {
			return r
		}
	}
	return nil
}

func (r *runState) over() bool {
	select {
	case <-r.run.Done():
		return true
	default:
		return false
	}
}

// beginRun lets a run go, after its ids have been answered.
func (s *server) beginRun(r *runState) {
	if r.token != nil || s.client.progress {
		p := s.startProgress(r.token, r.run.ID(), r.run.Title())
		s.mu.Lock()
		r.progress = p
		s.mu.Unlock()
	}
	r.session.tellUnkept()
	r.run.Go()
	s.goroutines.Go(func() {
		defer close(r.ended)
		select {
		case <-r.run.Done():
		case <-s.life.Done():
			return
		}
		s.afterRun(r)
	})
}

func (s *server) findRun(id string) (*runState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.runs[id]; ok {
		return r, nil
	}
	return nil, failed(ext.ErrUnknownRun, "no run %q: it never was, or it ended before the server was started", id)
}

func (s *server) runWait(ctx context.Context, p ext.RunParams) (any, error) {
	r, err := s.findRun(p.RunID)
	if err != nil {
		return nil, err
	}
	select {
	case <-r.run.Done():
	case <-ctx.Done():
		if !r.over() {
			return ext.RunRunning{RunID: p.RunID, Running: true}, nil
		}
	}
	return r.result(), nil
}

func (r *runState) result() ext.RunResult {
	res := r.run.Result()
	out := ext.RunResult{
		RunID:      r.run.ID(),
		SessionID:  r.session.id(),
		StopReason: string(res.StopReason),
		Text:       res.Text,
		Usage:      res.Usage,
		Proposal:   r.session.counts(),
	}
	if res.Error != nil {
		out.Error = res.Error
	}
	return out
}

func (s *server) runCancel(_ context.Context, p ext.RunParams) (any, error) {
	r, err := s.findRun(p.RunID)
	if err != nil {
		return nil, err
	}
	if r.over() {
		return ext.RunCancelled{State: "ended"}, nil
	}
	r.run.Cancel()
	return ext.RunCancelled{State: "cancelling"}, nil
}

func (s *server) runSteer(_ context.Context, p ext.RunSteerParams) (any, error) {
	r, err := s.findRun(p.RunID)
	if err != nil {
		return nil, err
	}
	prompt, err := promptText(p.Prompt)
	if err != nil {
		return nil, err
	}
	delivered, err := r.run.Steer(prompt)
	if err != nil {
		return nil, failed(ext.ErrUnknownRun, "run %q has ended: start another one", p.RunID)
	}
	return ext.RunSteered{Delivered: delivered}, nil
}

// progressCancelParams are those of window/workDoneProgress/cancel.
type progressCancelParams struct {
	Token json.RawMessage `json:"token"`
}

func (s *server) progressCancel(_ context.Context, p progressCancelParams) error {
	if r := s.runByToken(p.Token); r != nil {
		r.run.Cancel()
	}
	return nil
}

// afterRun does what a client without our features needs at the end of a run:
// it is told how the run ended, and asked what is to become of its proposal.
func (s *server) afterRun(r *runState) {
	if s.client.plain() {
		s.tellEnd(r.run.Result(), len(r.session.proposal.Proposal().Files) == 0)
	}
	if !s.client.reviews() {
		s.askReview(r.session)
	}
}

// tellEnd says how a run ended. Where its text is all that came of it, the
// text is shown: many editors keep no log of what a server tells them.
func (s *server) tellEnd(res agent.RunResult, answered bool) {
	switch {
	case res.Error != nil:
		s.showMessage(protocol.MessageTypeError, "agentls: "+res.Error.Message)
	case res.StopReason != agent.StopEndTurn:
		s.showMessage(protocol.MessageTypeWarning, "agentls: the run stopped ("+string(res.StopReason)+"); run again to go on")
	case res.Text != "" && answered:
		s.showMessage(protocol.MessageTypeInfo, "agentls: "+strings.TrimSpace(res.Text))
	case res.Text != "":
		s.showMessage(protocol.MessageTypeInfo, "agentls: "+firstLine(res.Text))
	default:
		s.showMessage(protocol.MessageTypeInfo, "agentls: done")
	}
}

// show tells the run's progress of an event.
func (r *runState) show(e agent.Event) {
	if r.progress == nil {
		return
	}
	if end, ok := e.(agent.RunEnded); ok {
		r.progress.end(string(end.StopReason))
	} else if report := doing(e); report != "" {
		r.progress.say(report)
	}
}
