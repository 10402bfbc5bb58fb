package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Server answers requests from a Script until Close.
type Server struct {
	script Script
	http   *http.Server
	addr   string
	// closing ends replies that hold or wait.
	closing chan struct{}
	serving chan struct{} // closed when Serve has returned

	mu       sync.Mutex
	used     []bool
	requests []Request
	holds    map[string]*hold
	changed  chan struct{} // closed and replaced when requests grows
}

// hold is a named place where a reply waits.
type hold struct {
	reached, released           chan struct{}
	reachedClosed, releasedOnce bool
}

// Start serves a script on a free port of the loopback interface.
func Start(script Script) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	s := &Server{
		script:  script,
		addr:    l.Addr().String(),
		closing: make(chan struct{}),
		serving: make(chan struct{}),
		used:    make([]bool, len(script.Replies)),
		holds:   map[string]*hold{},
		changed: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("GET /v1/models", s.models)
	s.http = &http.Server{Handler: mux}
	go func() {
		defer close(s.serving)
		_ = s.http.Serve(l) // always ends with an error, the one of Close
	}()
	return s, nil
}

// URL is the base URL for clients, with /v1.
func (s *Server) URL() string { return "http://" + s.addr + "/v1" }

// Close ends every reply and the server. It waits for neither the client nor
// a hold.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.closing:
	default:
		close(s.closing)
	}
	s.mu.Unlock()
	_ = s.http.Close()
	<-s.serving
}

// Release lets the reply that holds at a name go on, also one that gets there
// later.
func (s *Server) Release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hold(name)
	if !h.releasedOnce {
		h.releasedOnce = true
		close(h.released)
	}
}

// Reached is closed when a reply has come to a hold: all before it was sent.
func (s *Server) Reached(name string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hold(name).reached
}

// hold finds or makes a hold; s.mu is held.
func (s *Server) hold(name string) *hold {
	h := s.holds[name]
	if h == nil {
		h = &hold{reached: make(chan struct{}), released: make(chan struct{})}
		s.holds[name] = h
	}
	return h
}

// Requests returns the chat requests so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Await returns the requests as soon as there are n of them, or the error of
// ctx.
func (s *Server) Await(ctx context.Context, n int) ([]Request, error) {
	for {
		s.mu.Lock()
		got, changed := slices.Clone(s.requests), s.changed
		s.mu.Unlock()
		if len(got) >= n {
			return got, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return got, fmt.Errorf("scripted model: %d of %d requests: %w", len(got), n, ctx.Err())
		}
	}
}

// Unused counts the replies that nobody asked for.
func (s *Server) Unused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, u := range s.used {
		if !u {
			n++
		}
	}
	return n
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	req := newRequest(body, r.Header)
	reply, problem := s.take(&req)
	switch {
	case problem != "":
		writeError(w, http.StatusBadRequest, problem)
	case reply == nil:
		writeError(w, http.StatusBadRequest, "scripted: no reply is left for this request")
	case reply.Status != 0 && reply.Status != http.StatusOK:
		s.writeStatus(w, reply)
	case !req.Stream:
		writeError(w, http.StatusBadRequest, "scripted: only answers with stream:true")
	default:
		newStream(s, w, r.Context(), &req, reply).run()
	}
}

// take records a request and picks its reply. A request that Strict refuses
// uses no reply up.
func (s *Server) take(req *Request) (*Reply, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.script.Strict {
		req.Problem = req.check(s.requests)
	}
	s.requests = append(s.requests, *req)
	close(s.changed)
	s.changed = make(chan struct{})
	if req.Problem != "" {
		return nil, req.Problem
	}
	last := req.LastUserText()
	for i := range s.script.Replies {
		if r := &s.script.Replies[i]; !s.used[i] && strings.Contains(last, r.When) {
			s.used[i] = true
			return r, ""
		}
	}
	return nil, ""
}

func (s *Server) writeStatus(w http.ResponseWriter, reply *Reply) {
	if json.Valid([]byte(reply.Body)) {
		w.Header().Set("Content-Type", "application/json")
	}
	setHeader(w, reply.Header)
	w.WriteHeader(reply.Status)
	_, _ = io.WriteString(w, reply.Body)
}

func setHeader(w http.ResponseWriter, h http.Header) {
	for k, v := range h {
		w.Header()[http.CanonicalHeaderKey(k)] = v
	}
}

func writeError(w http.ResponseWriter, status int, message string) {
	b, err := json.Marshal(map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "param": nil, "code": nil}})
	if err != nil {
		panic(err) // strings always encode
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Context int    `json:"context_length,omitempty"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []entry `json:"data"`
	}{Object: "list"}
	models := s.script.Models
	if len(models) == 0 {
		models = []Model{{ID: "scripted"}}
	}
	for _, m := range models {
		list.Data = append(list.Data, entry{m.ID, "model", m.Window})
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings always encode
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b)
}
