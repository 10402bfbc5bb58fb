package lspserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/lspserver/internal/review"
	"github.com/agentls/agentls/lspserver/internal/rpc"
	"github.com/agentls/agentls/tools/workspace"
)

// The end of a connection takes 2 s at most: runs are cancelled and sessions
// stored, then handlers and other goroutines are waited for.
const (
	handlersGrace = 400 * time.Millisecond
	leaveWithin   = time.Second
)

// parentEvery is how often it is looked whether the editor still lives.
const parentEvery = 2 * time.Second

func newServer(o Options) *server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	return &server{
		opts:     o,
		log:      o.Log,
		asking:   make(chan struct{}, 1),
		sessions: map[string]*conversation{},
		runs:     map[string]*runState{},
	}
}

// pipes closes both streams of the connection.
type pipes struct {
	in  io.Reader
	out io.Writer
}

func (p pipes) Close() error {
	var errs []error
	for _, end := range []any{p.in, p.out} {
		if c, ok := end.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) int {
	requests, notifications := s.requests(), s.notifications()
	requests["initialize"] = handle(s.initialize)
	requests["shutdown"] = func(context.Context, string, json.RawMessage) (any, error) { return nil, nil }
	life, end := context.WithCancelCause(ctx)
	defer end(nil)
	s.life, s.leave = life, end
	s.conn = rpc.NewConn(in, out, pipes{in, out}, rpc.Options{
		Lifecycle: true,
		Grace:     handlersGrace,
		Ending:    s.closeSessions,
		Log:       s.log,
		Call: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			h, ok := requests[method]
			if !ok {
				return nil, rpc.ErrMethodNotFound
			}
			return h(ctx, method, params)
		},
		Notify: func(ctx context.Context, method string, params json.RawMessage) error {
			h, ok := notifications[method]
			if !ok {
				return nil // an unknown notification is no error (LSP 3.18 § $ Notifications)
			}
			_, err := h(ctx, method, params)
			return err
		},
	})
	s.conn.OnDrain(func() {
		for _, c := range s.conversations() {
			c.session.Drained()
		}
	})
	err := s.conn.Run(life)
	end(errors.New("the connection has ended"))
	s.close()
	if err != nil {
		s.log.Info("left", "cause", err)
		return 1
	}
	return 0
}

// closeSessions cancels every run and stores every session, side by side.
func (s *server) closeSessions() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
	defer cancel()
	var all sync.WaitGroup
	for _, c := range s.conversations() {
		all.Go(func() {
			if err := c.session.Close(ctx); err != nil {
				s.log.Warn("session not closed", "session", c.id(), "err", err)
			}
		})
	}
	// A disk that hangs holds up whoever writes to it, whatever their context.
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		all.Wait()
	}()
	select {
	case <-closed:
	case <-ctx.Done():
		s.log.Error("sessions are not stored in time")
	}
}

// close waits for what the connection began, for no more than a moment: the
// editor is gone.
func (s *server) close() {
	ctx, cancel := context.WithTimeout(context.Background(), handlersGrace)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.goroutines.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.log.Error("goroutines are left at the end")
	}
	if s.workspace != nil {
		s.rebaser.Close()
		s.workspace.Close()
	}
}

// initialize negotiates. It asks nobody and scans nothing: the editor waits.
func (s *server) initialize(_ context.Context, raw json.RawMessage) (any, error) {
	params := parseTree(raw)
	s.client = negotiate(params)
	s.folders = initialFolders(params)
	s.docs = document.NewStore(s.client.encoding, workspace.Canonical)
	s.docs.SetFolders(s.folders.uris())
	ws, err := workspace.Open(s.folders.places(), s.docs)
	if err != nil {
		return nil, &rpc.Error{Code: rpc.InvalidParams, Message: "workspace folders: " + err.Error()}
	}
	s.workspace = ws
	s.rebaser = review.NewRebaser(ws, s.proposals, s.log)
	s.docs.Subscribe(s.rebaser.Document)
	s.applier = review.NewApplier(review.Options{
		Client:       s.conn,
		Docs:         s.docs,
		Rebaser:      s.rebaser,
		Capabilities: s.client.review,
		Save:         s.client.saves(),
		Display:      ws.Display,
		Log:          s.log,
	})
	opts := params.at("initializationOptions")
	s.initOpts = opts.raw()
	s.trusted = opts.at("trusted").yes()
	s.reloadConfig()
	caps, err := s.capabilities()
	if err != nil {
		return nil, err
	}
	if pid, ok := params.at("processId").num(); ok && pid > 0 {
		s.watchParent(int(pid))
	}
	return protocol.InitializeResult{
		Capabilities: *caps,
		ServerInfo:   protocol.ServerInfo{Name: "agentls", Version: protocol.NewOptional(s.opts.Version)},
	}, nil
}

// watchParent leaves when the editor has died without closing our input, as
// where another process holds the other end.
func (s *server) watchParent(pid int) {
	s.goroutines.Go(func() {
		select {
		case <-rpc.WatchParent(s.life, pid, parentEvery):
			s.leave(errors.New("the editor has died"))
		case <-s.life.Done():
		}
	})
}
