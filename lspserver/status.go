package lspserver

import (
	"context"
	"time"

	"github.com/agentls/agentls/lspserver/ext"
)

// modelsTimeout bounds how long the list of models may take to fetch.
const modelsTimeout = 10 * time.Second

func (s *server) status(context.Context, struct{}) (any, error) {
	cfg := s.resolved()
	folders := []string{}
	for _, f := range s.workspace.Folders() {
		folders = append(folders, s.docs.URI(f.Path))
	}
	s.mu.Lock()
	st := ext.Status{
		Version:  s.opts.Version,
		Trusted:  s.trusted,
		Sessions: len(s.sessions),
	}
	for _, r := range s.runs {
		if !r.over() {
			st.Running++
		}
	}
	s.mu.Unlock()
	endpoint := cfg.Configured()
	st.WorkspaceFolders = folders
	st.Provider, st.Model, st.BaseURL = endpoint.Provider, endpoint.Model, endpoint.BaseURL
	st.Problems = s.configProblems()
	st.Sandbox = ext.Sandbox{Kind: "none"}
	st.MCP = []ext.MCPServer{}
	st.Instructions = s.instructionFiles()
	st.ClientSupport = s.support()
	return st, nil
}

// support is what this client will really get.
func (s *server) support() ext.ClientSupport {
	c := s.client
	return ext.ClientSupport{
		Events:           !c.plain(),
		Review:           c.reviews(),
		Ask:              c.asks(),
		Save:             c.saves(),
		ApplyEdit:        c.review.ApplyEdit,
		Create:           c.review.Create,
		Rename:           c.review.Rename,
		Delete:           c.review.Delete,
		Progress:         c.progress,
		Previews:         c.review.RefreshPreviews,
		PositionEncoding: c.encodingName(),
	}
}

func (s *server) models(ctx context.Context, _ struct{}) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	out := ext.Models{Models: []ext.Model{}}
	m, err := s.choose(ctx, "")
	if err != nil {
		// No model is no failure of the request: the list is empty.
		s.log.Info("no model to list", "err", err)
		return out, nil
	}
	out.Current = m.Model
	list, err := m.client.Models(ctx)
	if err != nil {
		s.log.Warn("models not listed", "err", err)
		list = nil
	}
	listed := false
	for _, one := range list {
		listed = listed || one.ID == m.Model
		model := ext.Model{ID: one.ID, Provider: m.Provider}
		if one.ContextWindow > 0 {
			model.ContextWindow = &one.ContextWindow
		}
		out.Models = append(out.Models, model)
	}
	if !listed && m.Model != "" {
		out.Models = append(out.Models, ext.Model{ID: m.Model, Provider: m.Provider})
	}
	return out, nil
}

func (s *server) trust(_ context.Context, p ext.TrustParams) (any, error) {
	s.mu.Lock()
	s.trusted = p.Trusted
	s.mu.Unlock()
	s.reloadConfig()
	return ext.TrustParams{Trusted: p.Trusted}, nil
}
