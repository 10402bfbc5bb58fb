package config

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agent/llm/baseurl"
)

// Endpoint is a model and how to reach it.
type Endpoint struct {
	Provider string
	BaseURL  string // normalised
	Model    string
	APIKey   Secret
	// KeyEnv is the variable that holds the key, or should, for messages.
	KeyEnv string
	// ModelEnv is the variable that names the model, for messages.
	ModelEnv      string
	ContextWindow int64 // 0 is unknown
	Headers       Headers
	CAFile        string
	IdleTimeout   time.Duration
}

// Endpoint says which model a run uses. model, where it is not "", goes before
// what was configured. Where nothing is configured it looks for a local
// server, which takes a moment; the error is an *llm.Error of class NoModel
// that says what to set.
func (r *Resolved) Endpoint(ctx context.Context, model string) (Endpoint, error) {
	e, err := r.configured(model)
	if err != nil {
		return Endpoint{}, err
	}
	if e.Provider == "" {
		return r.local(ctx, e)
	}
	if e.Model != "" {
		return e, nil
	}
	models, err := listModels(ctx, e, listTimeout)
	if err != nil {
		return Endpoint{}, noModel("no model is set and %s at %s did not tell which it has (%v): %s or set %s", e.Provider, redacted(e.BaseURL), err, startHint(e.Provider), e.ModelEnv)
	}
	return e.with(models), nil
}

// Configured is Endpoint without looking at anything: its Provider is "" where
// a local server would be looked for, its Model "" where the server would be
// asked.
func (r *Resolved) Configured() Endpoint {
	e, err := r.configured("")
	if err != nil {
		return Endpoint{Provider: r.Provider, Model: r.Model, BaseURL: e.BaseURL}
	}
	return e
}

func (r *Resolved) configured(model string) (Endpoint, error) {
	c := r.conn
	e := Endpoint{
		Provider: r.Provider, Model: firstOf(model, r.Model, c.preset.Model), APIKey: c.key, KeyEnv: c.keyEnv,
		ModelEnv: "AGENTLS_MODEL", ContextWindow: r.ContextWindow, Headers: r.Headers, CAFile: r.CAFile,
		IdleTimeout: r.Timeouts.Idle(),
	}
	if len(c.preset.ModelEnv) > 0 {
		e.ModelEnv = c.preset.ModelEnv[0]
	}
	if base := firstOf(r.BaseURL, c.preset.BaseURL); base != "" {
		u, err := baseurl.Parse(base)
		if err != nil {
			return e, noModel("%v", err)
		}
		e.BaseURL = u.String()
	}
	return e, c.err
}

// with fills in what the server told: its first model, or the window of the
// one that is set.
func (e Endpoint) with(models []listed) Endpoint {
	if e.Model == "" {
		e.Model = models[0].id
	}
	for _, m := range models {
		if m.id == e.Model && e.ContextWindow == 0 {
			e.ContextWindow = m.window
		}
	}
	return e
}

// local finds a local server that answers.
func (r *Resolved) local(ctx context.Context, e Endpoint) (Endpoint, error) {
	found, ok := probe(ctx, e)
	if ok {
		return found, nil
	}
	if err := ctx.Err(); err != nil {
		return Endpoint{}, err
	}
	return Endpoint{}, noModel("no model is configured and no local server answers: set %s, or start Ollama, LM Studio or llama.cpp; AGENTLS_BASE_URL, AGENTLS_API_KEY and AGENTLS_MODEL reach any other OpenAI-compatible server", keyVariables())
}

// keyVariables lists the variables that choose a provider, for a message.
func keyVariables() string {
	var names []string
	for _, p := range Presets {
		if !p.Keyless {
			names = append(names, p.KeyEnv[0])
		}
	}
	return names[0] + fmt.Sprintf(" (or %s)", strings.Join(names[1:], ", "))
}

func startHint(provider string) string {
	switch provider {
	case "ollama":
		return "start it and pull a model (ollama pull …)"
	case "lmstudio":
		return "start its server and load a model"
	}
	return "start it with a model"
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
