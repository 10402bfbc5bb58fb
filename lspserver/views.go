package lspserver

import (
	"maps"
	"slices"
	"sync"
)

// views are what the editor shows of a proposal and has to fetch again when it
// changes: lenses, and the previews that it has asked for.
//
// One goroutine at a time asks the editor to do so; changes that come
// meanwhile make it ask once more, not once each.
type views struct {
	mu       sync.Mutex
	previews map[string]bool // by URI, as the editor asked for them
	busy     bool
	again    bool
}

// shown remembers a preview that the editor has open.
func (v *views) shown(uri string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.previews == nil {
		v.previews = map[string]bool{}
	}
	v.previews[uri] = true
}

// begin reports whether the caller is to ask the editor.
func (v *views) begin() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.again = v.busy
	if v.busy {
		return false
	}
	v.busy = true
	return true
}

// next returns what to refresh, and ends the work when nothing came meanwhile.
func (v *views) next(first bool) (uris []string, more bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !first && !v.again {
		v.busy = false
		return nil, false
	}
	v.again = false
	return slices.Sorted(maps.Keys(v.previews)), true
}

// refreshViews has the editor fetch again what it shows of a proposal.
func (s *server) refreshViews(c *conversation) {
	if !s.client.review.RefreshLenses && !s.client.review.RefreshPreviews || !c.views.begin() {
		return
	}
	s.goroutines.Go(func() {
		for first := true; ; first = false {
			uris, more := c.views.next(first)
			if !more {
				return
			}
			if s.client.review.RefreshLenses {
				s.refreshRequest("workspace/codeLens/refresh", nil)
			}
			if !s.client.review.RefreshPreviews {
				continue
			}
			for _, uri := range uris {
				s.refreshRequest("workspace/textDocumentContent/refresh", map[string]string{"uri": uri})
			}
		}
	})
}

func (s *server) refreshRequest(method string, params any) {
	if err := s.conn.Call(s.life, method, params, nil); err != nil {
		s.log.Debug("not refreshed", "method", method, "err", err)
	}
}
