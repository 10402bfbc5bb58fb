package lspserver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/agent/config"
	"github.com/agentls/agentls/agent/llm/openai"
)

// section is the name of our settings in a client's configuration.
const section = "agentls"

func (s *server) initialized(context.Context, struct{}) error {
	s.pullSettings()
	s.registerWatchers()
	s.adoptPending()
	for _, p := range s.configProblems() {
		s.log.Warn("configuration", "problem", p)
	}
	return nil
}

// settingsWithin is how long a run waits for settings that were asked for.
const settingsWithin = time.Second

// pullSettings asks a client that can tell for its section.
func (s *server) pullSettings() {
	if !s.client.configuration {
		return
	}
	told := make(chan struct{})
	s.mu.Lock()
	s.told = told
	s.mu.Unlock()
	s.goroutines.Go(func() {
		defer close(told)
		params := protocol.ConfigurationParams{Items: []protocol.ConfigurationItem{{Section: new(section)}}}
		var got []json.RawMessage
		if err := s.conn.Call(s.life, protocol.MethodWorkspaceConfiguration, params, &got); err != nil {
			s.log.Info("the client's settings were not told", "err", err)
			return
		}
		if len(got) == 1 {
			s.takeSettings(got[0])
		}
	})
}

// awaitSettings waits for the client's settings where they are on their way: a
// run begun right after initialized is to use them, too.
func (s *server) awaitSettings(ctx context.Context) {
	s.mu.Lock()
	told := s.told
	s.mu.Unlock()
	if told == nil {
		return
	}
	late := time.NewTimer(settingsWithin)
	defer late.Stop()
	select {
	case <-told:
	case <-late.C:
	case <-ctx.Done():
	}
}

type didChangeConfigurationParams struct {
	Settings json.RawMessage `json:"settings"`
}

// didChangeConfiguration takes settings that are pushed, and asks where the
// client only says that there are others.
func (s *server) didChangeConfiguration(_ context.Context, p didChangeConfigurationParams) error {
	pushed, _ := parseTree(p.Settings).v.(map[string]any)
	if ours, ok := pushed[section]; ok {
		s.takeSettings(tree{ours}.raw())
	} else {
		s.pullSettings()
	}
	return nil
}

// takeSettings puts the client's section in the place of the one before; null
// is one where nothing is set.
func (s *server) takeSettings(raw json.RawMessage) {
	t := parseTree(raw)
	s.mu.Lock()
	s.settings = raw
	if trusted, ok := t.at("trusted").v.(bool); ok {
		s.trusted = trusted
	}
	s.mu.Unlock()
	s.reloadConfig()
}

// reloadConfig reads all sources anew.
func (s *server) reloadConfig() {
	var roots []string
	for _, r := range s.workspace.Roots() {
		roots = append(roots, r.Abs)
	}
	s.mu.Lock()
	in := config.Inputs{
		Env:       s.opts.Env,
		Workspace: roots,
		Trusted:   s.trusted,
		Client: []config.ClientOptions{
			{Name: "initializationOptions", JSON: withoutTrust(s.initOpts)},
			{Name: "settings", JSON: withoutTrust(s.settings)},
		},
	}
	s.mu.Unlock()
	resolved, problems := config.Load(in)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config, s.problems, s.clients = resolved, problems, map[string]*openai.Client{}
}

// withoutTrust leaves out the one option that is no configuration.
func withoutTrust(raw json.RawMessage) json.RawMessage {
	m, ok := parseTree(raw).v.(map[string]any)
	if !ok {
		return nil
	}
	delete(m, "trusted")
	return tree{m}.raw()
}

func (s *server) resolved() *config.Resolved {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.config
	return &c
}

func (s *server) configProblems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, p := range s.problems {
		out = append(out, p.String())
	}
	return out
}

func (s *server) stateDir() string { return config.StateDir(s.opts.Env) }

// chosen is a model that was found, and the way to it.
type chosen struct {
	config.Endpoint
	client *openai.Client
}

// choose finds the model for a run; "" is the configured one. The client of an
// endpoint lives on, with what it learned of the server.
func (s *server) choose(ctx context.Context, model string) (chosen, error) {
	s.awaitSettings(ctx)
	endpoint, err := s.resolved().Endpoint(ctx, model)
	if err != nil {
		return chosen{}, err
	}
	key := fmt.Sprintf("%s\n%s\n%s", endpoint.Provider, endpoint.BaseURL, endpoint.APIKey.Reveal())
	s.mu.Lock()
	client := s.clients[key]
	s.mu.Unlock()
	if client == nil {
		if client, err = openai.New(openai.Options{
			Provider: endpoint.Provider, BaseURL: endpoint.BaseURL, APIKey: endpoint.APIKey.Reveal(), KeyEnv: endpoint.KeyEnv,
			Headers: endpoint.Headers, CAFile: endpoint.CAFile, IdleTimeout: endpoint.IdleTimeout,
		}); err != nil {
			return chosen{}, err
		}
		s.mu.Lock()
		s.clients[key] = client
		s.mu.Unlock()
	}
	return chosen{endpoint, client}, nil
}

// resolveModel implements agent.Options.Resolve.
func (s *server) resolveModel(ctx context.Context, model string) (agent.ResolvedModel, error) {
	m, err := s.choose(ctx, model)
	if err != nil {
		return agent.ResolvedModel{}, err
	}
	return agent.ResolvedModel{Model: m.client, ID: m.Model, Provider: m.Provider, ContextWindow: m.ContextWindow}, nil
}

// registerWatchers has the client tell of changes on disk: by them a proposal
// follows files that are not open.
func (s *server) registerWatchers() {
	if !s.client.watchFiles {
		return
	}
	s.goroutines.Go(func() {
		params := map[string]any{"registrations": []map[string]any{{
			"id":              "agentls-files",
			"method":          "workspace/didChangeWatchedFiles",
			"registerOptions": map[string]any{"watchers": []map[string]any{{"globPattern": "**/*"}}},
		}}}
		if err := s.conn.Call(s.life, protocol.MethodClientRegisterCapability, params, nil); err != nil {
			s.log.Info("file changes are not watched", "err", err)
		}
	})
}

// instructionFiles are the files whose text the model is given.
func (s *server) instructionFiles() []string {
	return append([]string{}, s.instructions().Files()...)
}
