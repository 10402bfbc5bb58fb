package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/openai/openai-go/v3/option"

	"github.com/agentls/agentls/agent/llm"
)

// Info is a model that a server lists.
type Info struct {
	ID string
	// ContextWindow is in tokens, 0 where the server does not tell.
	ContextWindow int64
}

// Models lists the server's models in the server's order.
func (c *Client) Models(ctx context.Context) ([]Info, error) {
	x := c.exchange(ctx)
	defer x.close()
	_, err := c.list.List(x.ctx, option.WithResponseBodyInto(&x.res))
	if err := x.outcome(err); err != nil {
		return nil, err
	}
	if x.res.StatusCode != http.StatusOK {
		return nil, x.failed(x.refusal())
	}
	body, err := io.ReadAll(io.LimitReader(x.res.Body, maxEvent))
	if err != nil {
		return nil, x.networkError(err)
	}
	list, err := readModels(body)
	if err != nil {
		e := readServerError(x.res.StatusCode, x.res.Header, body)
		return nil, &llm.Error{Class: llm.BadRequest, Status: x.res.StatusCode, Err: err,
			Message: "there is no list of models at " + c.display() + ": check baseURL, it usually ends in /v1" + c.said(e)}
	}
	return list, nil
}

// readModels reads a list in the forms that servers give it, of which OpenAI's
// is {"data": [{"id": …}]}.
func readModels(body []byte) ([]Info, error) {
	type entry struct {
		ID            string `json:"id"`
		ContextLength int64  `json:"context_length"`
		ContextWindow int64  `json:"context_window"`
		MaxModelLen   int64  `json:"max_model_len"`
		MaxContext    int64  `json:"max_context_length"`
		Loaded        int64  `json:"loaded_context_length"`
		Meta          struct {
			Context  int64 `json:"n_ctx"`
			Training int64 `json:"n_ctx_train"`
		} `json:"meta"`
	}
	var entries []entry
	if err := json.Unmarshal(body, &entries); err != nil {
		var list struct {
			Data *[]entry `json:"data"`
		}
		if err := json.Unmarshal(body, &list); err != nil {
			return nil, err
		}
		if list.Data == nil {
			return nil, errors.New("no list of models")
		}
		entries = *list.Data
	}
	var models []Info
	for _, e := range entries {
		if e.ID == "" {
			continue
		}
		// What the server runs with goes before what the model could do.
		window := cmp.Or(e.Loaded, e.Meta.Context, e.ContextLength, e.ContextWindow, e.MaxModelLen, e.MaxContext, e.Meta.Training)
		models = append(models, Info{e.ID, window})
	}
	return models, nil
}
