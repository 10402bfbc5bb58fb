package lspserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/agent/session"
	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/document"
)

// openStore makes the state directory private before anything is put there.
func (s *server) openStore() (*session.Store, error) {
	if err := os.MkdirAll(s.stateDir(), 0o700); err != nil {
		return nil, err
	}
	return session.Open(filepath.Join(s.stateDir(), "sessions")), nil
}

// recorder is where a new session is kept.
func (s *server) recorder(id string) (agent.Recorder, error) {
	store, err := s.openStore()
	if err != nil {
		return nil, err
	}
	return store.Create(id)
}

// tellUnkept tells the user, once, that a session lives in memory alone.
func (c *conversation) tellUnkept() {
	c.mu.Lock()
	why := c.unkept
	c.unkept = nil
	c.mu.Unlock()
	if why != nil {
		c.session.Emit(agent.Notice{Severity: "warning", Code: "storage", Message: fmt.Sprintf("this session is not stored and ends with the editor: %v; name a directory that can be written in AGENTLS_STATE_DIR", why)})
	}
}

// restore loads a session that another process left.
func (s *server) restore(id string) (*conversation, error) {
	s.restoring.Lock()
	defer s.restoring.Unlock()
	s.mu.Lock()
	c := s.sessions[id]
	s.mu.Unlock()
	if c != nil {
		return c, nil
	}
	store, err := s.openStore()
	if err != nil {
		return nil, err
	}
	loaded, err := store.Load(id)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return nil, failed(ext.ErrUnknownSession, "no session %q", id)
	case err != nil:
		return nil, failed(ext.ErrUnknownSession, "session %q: %v", id, err)
	}
	c, err = s.revive(id, loaded)
	if err != nil {
		return nil, errors.Join(err, loaded.File.Close())
	}
	s.mu.Lock()
	s.sessions[id] = c
	s.mu.Unlock()
	if loaded.Damage != "" {
		c.session.Emit(agent.Notice{Severity: "warning", Code: "damaged", Message: loaded.Damage})
	}
	return c, nil
}

// revive makes a conversation of what was stored of it.
func (s *server) revive(id string, loaded *session.Loaded) (*conversation, error) {
	c := &conversation{server: s}
	texts, err := c.keeper.texts(loaded.Records)
	if err != nil {
		return nil, fmt.Errorf("session %s: its texts: %w", id, err)
	}
	if c.proposal, err = reviveProposal(s.workspace, loaded.Records, texts); err != nil {
		return nil, fmt.Errorf("session %s: its proposal: %w", id, err)
	}
	recovered := false
	if c.undo, recovered, err = reviveCheckpoints(loaded.Records, texts, s.workspace); err != nil {
		return nil, fmt.Errorf("session %s: its checkpoints: %w", id, err)
	}
	c.calls = reviveCalls(loaded.Records)
	c.announced = c.proposal.Proposal().Revision
	opts := s.sessionOptions(c)
	opts.ID, opts.Recorder = id, loaded.File
	restored, err := agent.Restore(opts, loaded.Records)
	if err != nil {
		return nil, err
	}
	c.session = restored
	if recovered {
		s.keepCheckpoints(c)
	}
	return c, nil
}

// storedSessions are those of this workspace that are on disk.
func (s *server) storedSessions() []ext.Session {
	store, err := s.openStore()
	if err != nil {
		s.log.Error("no state directory", "err", err)
		return nil
	}
	var roots []string
	for _, r := range s.workspace.Roots() {
		roots = append(roots, r.Abs)
	}
	infos, err := store.List(roots)
	if err != nil {
		s.log.Error("stored sessions not listed", "err", err)
	}
	var out []ext.Session
	for _, info := range infos {
		// Without a folder the store lists what is in any.
		if len(roots) == 0 && len(info.Workspace) > 0 {
			continue
		}
		out = append(out, wireSession(info))
	}
	return out
}

func wireSession(info agent.Info) ext.Session {
	return ext.Session{
		SessionID:    info.ID,
		Title:        info.Title,
		Mode:         string(info.Mode),
		Model:        info.Model,
		Review:       string(info.Review),
		CreatedAt:    info.Created,
		UpdatedAt:    info.Updated,
		Runs:         info.Runs,
		Running:      info.Running,
		Usage:        info.Usage,
		PendingHunks: info.PendingHunks,
	}
}

// writePatch puts a diff into the state directory, never into the workspace.
func (s *server) writePatch(c *conversation, patch string) (uri string, err error) {
	dir := filepath.Join(s.stateDir(), "diffs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, c.id()+".diff")
	if err := os.WriteFile(path, []byte(patch), 0o600); err != nil {
		return "", err
	}
	return document.URIOf(path), nil
}
