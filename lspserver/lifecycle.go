package lspserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/lspserver/internal/review"
	"github.com/agentls/agentls/lspserver/internal/rpc"
	"github.com/agentls/agentls/tools/workspace"
)

// The end of a connection takes 2 s at most (protocol: transport and life
// cycle): first handlers return, then runs are cancelled, sessions stored and
// goroutines waited for.
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

// close ends what the connection began. The editor is gone: nobody waits for
// more than a moment.
func (s *server) close() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
	defer cancel()
	for _, c := range s.conversations() {
		if err := c.session.Close(ctx); err != nil {
			s.log.Warn("session not closed", "session", c.id(), "err", err)
		}
	}
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
	folders := initialFolders(params)
	s.docs = document.NewStore(s.client.encoding, workspace.Canonical)
	ws, err := workspace.Open(folders, s.docs)
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

// initialFolders reads workspaceFolders, else rootUri, else rootPath. Without
// any there is no workspace: the process's own folder is never one.
func initialFolders(params tree) []workspace.Folder {
	var folders []workspace.Folder
	for _, v := range params.at("workspaceFolders").list() {
		f := tree{v}
		folders = append(folders, toFolder(folder{URI: f.at("uri").str(), Name: f.at("name").str()})...)
	}
	if len(folders) > 0 {
		return folders
	}
	if uri := params.at("rootUri").str(); uri != "" {
		return toFolder(folder{URI: uri})
	}
	if path := params.at("rootPath").str(); filepath.IsAbs(path) {
		return []workspace.Folder{{Name: filepath.Base(path), Path: path}}
	}
	return nil
}

// toFolder is none for a folder that is no file on this machine.
func toFolder(f folder) []workspace.Folder {
	path, err := document.PathOf(f.URI)
	if err != nil {
		return nil
	}
	return []workspace.Folder{{Name: cmp.Or(f.Name, filepath.Base(path)), Path: path}}
}

func (s *server) didChangeFolders(_ context.Context, p didChangeFoldersParams) error {
	removed := map[string]bool{}
	for _, f := range p.Event.Removed {
		for _, one := range toFolder(f) {
			removed[workspace.Canonical(one.Path)] = true
		}
	}
	var folders []workspace.Folder
	for _, f := range s.workspace.Folders() {
		if !removed[workspace.Canonical(f.Path)] {
			folders = append(folders, f)
		}
	}
	for _, f := range p.Event.Added {
		folders = append(folders, toFolder(f)...)
	}
	return s.workspace.SetFolders(folders)
}
