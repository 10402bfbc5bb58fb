package lspserver

import (
	"context"
	"strings"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/lspserver/ext"
)

// sink shows a session's events to this connection: as agent/event to a client
// that knows it, as progress to all, as log messages to a plain one.
type sink struct {
	s *server
	c *conversation
}

// Send implements agent.Sink. The queue was waited for (Wait), so that this
// does not hold the session up.
func (k sink) Send(e agent.Envelope, line []byte) {
	if k.s.client.plain() {
		k.log(e)
	} else if err := k.s.conn.Push(ext.MethodEvent, line); err != nil {
		k.s.log.Debug("event not sent", "seq", e.Seq, "err", err)
	}
	if r := k.c.latestRun(); r != nil && r.run.ID() == e.RunID {
		r.show(e.Event)
	}
}

// Congested implements agent.Sink.
func (k sink) Congested() bool { return !k.s.client.plain() && k.s.conn.Congested() }

// Wait implements agent.Sink.
func (k sink) Wait(ctx context.Context) error { return k.s.conn.WaitRoom(ctx) }

// log gives a plain client the text in its log.
func (k sink) log(e agent.Envelope) {
	switch ev := e.Event.(type) {
	case agent.MessageDone:
		if ev.Role == "assistant" && strings.TrimSpace(ev.Text) != "" {
			k.s.logMessage(ev.Text)
		}
	case agent.ToolCall:
		if ev.Status == agent.StatusFailed || ev.Status == agent.StatusCompleted {
			k.s.logMessage(ev.Title + ": " + string(ev.Status))
		}
	case agent.Notice:
		k.s.logMessage(ev.Severity + ": " + ev.Message)
	}
}

// doing is what an event says of what a run does now, "" for nothing new.
func doing(e agent.Event) string {
	switch ev := e.(type) {
	case agent.TurnStarted:
		return "thinking"
	case agent.ToolCall:
		if ev.Status == agent.StatusRunning {
			return ev.Title
		}
	case agent.Notice:
		return ev.Message
	case agent.TextDelta:
		return "writing"
	}
	return ""
}
