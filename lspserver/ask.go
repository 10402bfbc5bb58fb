package lspserver

import (
	"context"
	"errors"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/tools/ask"
)

// Ask implements ask.Asker: the client's own dialogue where it has one, else
// the editor's message box, which can only offer answers.
func (c *conversation) Ask(ctx context.Context, q string, options []string, allowFreeText bool) (string, error) {
	s := c.server
	if s.client.asks() {
		return s.askClient(ctx, c, q, options, allowFreeText)
	}
	if len(options) == 0 {
		return "", errors.New("this editor can show questions only with a choice of answers: ask again with options, or decide and say what you assumed")
	}
	answer := s.ask(ctx, protocol.MessageTypeInfo, "agentls asks: "+q, options...)
	if answer == "" {
		return "", cancelledOr(ctx, ask.ErrNoAnswer)
	}
	return answer, nil
}

func (s *server) askClient(ctx context.Context, c *conversation, q string, options []string, allowFreeText bool) (string, error) {
	params := ext.AskParams{SessionID: c.id(), Question: q, Options: options, AllowFreeText: allowFreeText}
	if r := c.activeRun(); r != nil {
		params.RunID = r.run.ID()
	}
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	var res ext.AskResult
	if err := s.conn.Call(ctx, ext.MethodAsk, params, &res); err != nil {
		s.log.Info("question not answered", "err", err)
		return "", cancelledOr(ctx, ask.ErrNoAnswer)
	}
	if res.Cancelled || res.Answer == nil || strings.TrimSpace(*res.Answer) == "" {
		return "", ask.ErrNoAnswer
	}
	return *res.Answer, nil
}

// cancelledOr is the error of ctx if it has one.
func cancelledOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
