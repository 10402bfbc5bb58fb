package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/agentls/agentls/agent/llm/baseurl"
)

const (
	// probeTimeout is for servers on this machine that may not be there.
	probeTimeout = 500 * time.Millisecond
	listTimeout  = 5 * time.Second
	maxList      = 4 << 20
)

// listed is an entry of a server's list of models.
type listed struct {
	id     string
	window int64
}

// probe asks all local servers at once and takes the first, in the order of
// Presets, that lists a model.
func probe(ctx context.Context, e Endpoint) (Endpoint, bool) {
	var candidates []Preset
	for _, p := range Presets {
		if p.Local {
			candidates = append(candidates, p)
		}
	}
	found := make([][]listed, len(candidates))
	var group sync.WaitGroup
	for i, p := range candidates {
		group.Go(func() {
			found[i], _ = listModels(ctx, Endpoint{BaseURL: p.BaseURL}, probeTimeout)
		})
	}
	group.Wait()
	for i, p := range candidates {
		if len(found[i]) > 0 {
			e.Provider, e.BaseURL, e.ModelEnv = p.Name, p.BaseURL, p.ModelEnv[0]
			e.APIKey, e.KeyEnv = Secret{}, p.KeyEnv[0]
			return e.with(found[i]), true
		}
	}
	return Endpoint{}, false
}

// errNoModels is an answer that lists none, or that is no list.
var errNoModels = errors.New("it lists no model")

// listModels asks a server for its models; an answer without any is an error.
// It follows no redirect: the key is for this host alone.
func listModels(ctx context.Context, e Endpoint, timeout time.Duration) ([]listed, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	u, err := baseurl.Parse(e.BaseURL)
	if err != nil {
		return nil, err
	}
	u.Path += "/models"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	for k, v := range e.Headers {
		req.Header.Set(k, v)
	}
	if !e.APIKey.IsZero() {
		req.Header.Set("Authorization", "Bearer "+e.APIKey.Reveal())
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return nil, unwrapURL(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	return readModels(io.LimitReader(res.Body, maxList))
}

// unwrapURL takes the request's URL out of an error: the caller names it, and
// it may hold a password.
func unwrapURL(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

func readModels(r io.Reader) ([]listed, error) {
	var list struct {
		Data []struct {
			ID            string `json:"id"`
			ContextLength int64  `json:"context_length"`
			MaxModelLen   int64  `json:"max_model_len"`
			MaxContext    int64  `json:"max_context_length"`
			Meta          struct {
				Context int64 `json:"n_ctx"`
			} `json:"meta"`
		} `json:"data"`
	}
	if err := json.NewDecoder(r).Decode(&list); err != nil {
		return nil, errNoModels
	}
	var models []listed
	for _, m := range list.Data {
		if m.ID != "" {
			models = append(models, listed{m.ID, max(m.ContextLength, m.MaxModelLen, m.MaxContext, m.Meta.Context)})
		}
	}
	if len(models) == 0 {
		return nil, errNoModels
	}
	return models, nil
}
