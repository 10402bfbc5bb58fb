package lspserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/undo"
	"github.com/agentls/agentls/tools/changeset"
)

// conversation is a session with what only an editor's server has: its
// proposal and the questions about it.
type conversation struct {
	server   *server
	session  *agent.Session
	proposal *changeset.Set
	undo     *undo.Log

	// restoring is held while a checkpoint is restored: one at a time.
	restoring sync.Mutex

	// announcing orders the proposal events; announced is the newest revision
	// that was told.
	announcing sync.Mutex
	announced  int64
	keeper     keeper

	views views

	mu     sync.Mutex
	unkept error              // why it is not stored, until the user is told
	active *runState          // the newest run
	calls  map[string]string  // runs by the calls of tools that changed something
	cancel context.CancelFunc // takes back the question about the proposal
}

func (c *conversation) id() string { return c.session.Info().ID }

// activeRun is the run under way, or nil.
func (c *conversation) activeRun() *runState {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active == nil || c.active.over() {
		return nil
	}
	return c.active
}

// latestRun is the newest run, over or not; nil before the first.
func (c *conversation) latestRun() *runState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active
}

// beginQuestion makes the context of a question about the proposal; it takes
// the place of an earlier one.
func (c *conversation) beginQuestion(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
	c.cancel = cancel
	return ctx, cancel
}

// dismissQuestion takes back a question that was answered in another way.
func (c *conversation) dismissQuestion() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
		c.cancel = nil
	}
}

// announce tells the client of the proposal as it is, if that is news. emit
// sends the event: a run's, or the session's own for what a review did.
func (c *conversation) announce(emit func(agent.Event)) {
	c.announcing.Lock()
	defer c.announcing.Unlock()
	p := c.proposal.Proposal()
	if p.Revision <= c.announced {
		return
	}
	c.announced = p.Revision
	if err := c.keeper.keep(c.session, c.proposal, p); err != nil {
		c.server.log.Error("proposal not stored", "session", c.id(), "err", err)
	}
	emit(agent.ProposalChanged{Revision: p.Revision, Files: c.server.summaries(p)})
	c.server.refreshViews(c)
}

func (c *conversation) counts() ext.ProposalCounts {
	p := c.proposal.Proposal()
	n := ext.ProposalCounts{Revision: p.Revision, Files: len(p.Files)}
	for _, f := range p.Files {
		n.Hunks += len(f.Hunks)
	}
	return n
}

func (c *conversation) wire() ext.Session { return wireSession(c.session.Info()) }

// newID is a name for a session: sortable by the time it was made, and unique.
func newID() string {
	return time.Now().UTC().Format("20060102T150405") + "-" + strings.ToLower(rand.Text()[:10])
}

func (s *server) newConversation(p ext.SessionNewParams) (*conversation, error) {
	mode, err := oneOf("mode", p.Mode, agent.ModeAgent, agent.ModePlan, agent.ModeAsk)
	if err != nil {
		return nil, err
	}
	rev, err := oneOf("review", p.Review, agent.ReviewEnd, agent.ReviewStep, agent.ReviewAuto)
	if err != nil {
		return nil, err
	}
	c := s.assemble()
	opts := s.sessionOptions(c)
	opts.ID, opts.Title, opts.Mode, opts.Review, opts.Ephemeral = newID(), p.Title, mode, rev, p.Ephemeral
	opts.Model = cmp.Or(p.Model, s.resolved().Configured().Model)
	opts.Created = time.Now().UTC()
	if !p.Ephemeral {
		if r, err := s.recorder(opts.ID); err == nil {
			opts.Recorder = r
		} else {
			s.log.Error("the session will not be kept", "session", opts.ID, "err", err)
			c.unkept = err
		}
	}
	c.session = agent.New(opts)
	s.mu.Lock()
	s.sessions[opts.ID] = c
	s.mu.Unlock()
	return c, nil
}

// oneOf reads an optional name out of a closed set; absent is the first.
func oneOf[T ~string](what, got string, names ...T) (T, error) {
	if got == "" {
		return names[0], nil
	}
	for _, n := range names {
		if string(n) == got {
			return n, nil
		}
	}
	return "", invalidParams("%s %q: one of %v", what, got, names)
}

// conversationFor is the session that a run is to be in.
func (s *server) conversationFor(p ext.RunStartParams) (*conversation, error) {
	if p.SessionID != "" {
		return s.findConversation(p.SessionID)
	}
	return s.newConversation(ext.SessionNewParams{Mode: p.Mode, Model: p.Model, Review: p.Review})
}

// findConversation is a session by its id, from the store where this process
// has not loaded it yet.
func (s *server) findConversation(id string) (*conversation, error) {
	s.mu.Lock()
	c := s.sessions[id]
	s.mu.Unlock()
	if c != nil {
		return c, nil
	}
	return s.restore(id)
}

func (s *server) sessionNew(_ context.Context, p ext.SessionNewParams) (any, error) {
	c, err := s.newConversation(p)
	if err != nil {
		return nil, err
	}
	return c.wire(), nil
}

func (s *server) sessionConfigure(_ context.Context, p ext.SessionConfigureParams) (any, error) {
	c, err := s.findConversation(p.SessionID)
	if err != nil {
		return nil, err
	}
	var change agent.Configuration
	if p.Mode != nil {
		m, err := oneOf("mode", *p.Mode, agent.ModeAgent, agent.ModePlan, agent.ModeAsk)
		if err != nil {
			return nil, err
		}
		change.Mode = &m
	}
	if p.Review != nil {
		r, err := oneOf("review", *p.Review, agent.ReviewEnd, agent.ReviewStep, agent.ReviewAuto)
		if err != nil {
			return nil, err
		}
		change.Review = &r
	}
	change.Model, change.Title = p.Model, p.Title
	c.session.Configure(change)
	return c.wire(), nil
}

func (s *server) sessionList(context.Context, struct{}) (any, error) {
	out := ext.SessionList{Sessions: []ext.Session{}}
	live := map[string]bool{}
	for _, c := range s.conversations() {
		live[c.id()] = true
		out.Sessions = append(out.Sessions, c.wire())
	}
	for _, stored := range s.storedSessions() {
		if !live[stored.SessionID] {
			out.Sessions = append(out.Sessions, stored)
		}
	}
	slices.SortFunc(out.Sessions, func(a, b ext.Session) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), strings.Compare(b.SessionID, a.SessionID))
	})
	return out, nil
}

func (s *server) sessionLoad(_ context.Context, p ext.SessionLoadParams) (any, error) {
	c, err := s.findConversation(p.SessionID)
	if err != nil {
		return nil, err
	}
	out := ext.SessionLoaded{Session: c.wire(), Events: []json.RawMessage{}}
	all, next, err := c.session.Events(max(p.FromSeq, 1))
	if err != nil {
		return nil, err
	}
	out.Events, out.NextSeq = append(out.Events, all...), next
	return out, nil
}

// conversations are the loaded sessions. The lock is not held over what is done
// with them: a session's own locks come before the server's.
func (s *server) conversations() []*conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.sessions))
}

func (s *server) currentConversation() *conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

func (s *server) setCurrent(c *conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = c
}

// conversationWith is the current session if it has what id names, else any
// other that has. "all" means the current one.
func (s *server) conversationWith(id string) *conversation {
	for _, c := range append([]*conversation{s.currentConversation()}, s.conversations()...) {
		if c != nil && (id == "all" || c.has(id)) {
			return c
		}
	}
	return nil
}

// has reports whether id names a hunk or file that waits for a decision.
func (c *conversation) has(id string) bool {
	for _, f := range c.proposal.Proposal().Files {
		if f.FileID == id || slices.ContainsFunc(f.Hunks, func(h changeset.Hunk) bool { return h.HunkID == id }) {
			return true
		}
	}
	return false
}
