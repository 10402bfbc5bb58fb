package lspserver

import (
	"slices"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/lspserver/internal/review"
	"github.com/agentls/agentls/lspserver/internal/undo"
	"github.com/agentls/agentls/tools/ask"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/file"
	"github.com/agentls/agentls/tools/plan"
	"github.com/agentls/agentls/tools/search"
)

// assemble makes a conversation that has its proposal and no session yet.
func (s *server) assemble() *conversation {
	return &conversation{server: s, proposal: changeset.New(s.workspace), undo: undo.NewLog(undo.State{}), calls: map[string]string{}}
}

// tools are what a session's model gets, always in this order: a provider's
// prompt cache keys on it.
func (s *server) tools(c *conversation) []agent.Tool {
	files := file.New(s.workspace, c.proposal)
	tools := slices.Concat(
		files.Reading(),
		[]agent.Tool{search.Glob{Workspace: s.workspace, Pending: c.proposal}, search.Grep{Workspace: s.workspace, Pending: c.proposal}},
	)
	for _, t := range files.Changing() {
		tools = append(tools, reviewedTool{Tool: t, c: c})
	}
	return append(tools, plan.New(), ask.New(c))
}

// sessionOptions are those that every session has.
func (s *server) sessionOptions(c *conversation) agent.Options {
	var roots []string
	for _, r := range s.workspace.Roots() {
		roots = append(roots, r.Abs)
	}
	return agent.Options{
		Workspace:    roots,
		Tools:        s.tools(c),
		Resolve:      s.resolveModel,
		System:       s.systemPrompt,
		Instructions: s.instructions(),
		Feedback:     func() string { return changeset.Summarise(c.proposal.TakeOutcomes(), s.workspace.Display) },
		Locate:       s.locate,
		PendingHunks: func() int { return c.counts().Hunks },
		Sink:         sink{s, c},
		Log:          s.log,
	}
}

// locate names the places of a tool call as the editor does.
func (s *server) locate(places []agent.Location) []agent.EventLocation {
	var out []agent.EventLocation
	for _, l := range places {
		out = append(out, agent.EventLocation{URI: s.docs.URI(l.Path), Line: l.Line})
	}
	return out
}

// proposals are those that follow the documents.
func (s *server) proposals() []review.Session {
	var out []review.Session
	for _, c := range s.conversations() {
		out = append(out, review.Session{Set: c.proposal, Announce: func() { c.announce(c.session.Emit) }})
	}
	return out
}

// diskChanged is told of a file that changed outside of the editor.
func (s *server) diskChanged(uri string) {
	if path, err := s.pathOf(uri); err == nil {
		s.rebaser.Disk(path)
	}
}
