package lspserver

// adoptPending loads the sessions of this workspace whose proposals wait since
// before a restart, for a client that has no view of its own to load them in:
// their lenses show again, and the newest is the one that commands act on. One
// that another server holds stays with that.
func (s *server) adoptPending() {
	if s.client.reviews() || len(s.workspace.Folders()) == 0 {
		return
	}
	s.goroutines.Go(func() {
		for _, stored := range s.storedSessions() { // the newest first
			if stored.PendingHunks == 0 || s.life.Err() != nil {
				continue
			}
			c, err := s.findConversation(stored.SessionID)
			if err != nil {
				s.log.Info("a session with a proposal was not loaded", "session", stored.SessionID, "err", err)
				continue
			}
			s.mu.Lock()
			if s.current == nil {
				s.current = c
			}
			s.mu.Unlock()
			s.refreshViews(c)
		}
	})
}
