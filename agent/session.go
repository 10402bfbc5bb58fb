package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/agent/prompt"
)

// ErrRunActive is what Start returns while the session runs.
var ErrRunActive = errors.New("the session has a run under way: steer or cancel it")

// ErrClosed is what Start returns on a session that was closed.
var ErrClosed = errors.New("the session is closed")

// Model answers requests. Stream's error, at most one and the last, is an
// *llm.Error wherever the cause is known; it ends soon after ctx does.
type Model interface {
	Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error]
}

// ResolvedModel is a model that can be asked.
type ResolvedModel struct {
	Model    Model
	ID       string // as it is sent in requests
	Provider string
	// ContextWindow is in tokens, 0 if it is not known.
	ContextWindow int64
	// MaxOutputTokens limits each answer; 0 leaves it to the server.
	MaxOutputTokens int
	// Cost is the price of one request; nil or false where it is not known.
	Cost func(llm.Usage) (float64, bool)
}

// Options make a session. Only ID and Resolve must be set.
type Options struct {
	ID        string
	Title     string // the first prompt's first line if empty
	Mode      Mode   // ModeAgent if empty
	Model     string // "" is the default of Resolve
	Review    Review // ReviewEnd if empty
	Created   time.Time
	Workspace []string // the folders, by which stored sessions are listed
	Ephemeral bool     // not to be stored: Recorder is not used

	// Tools are offered in this order.
	Tools []Tool
	// Resolve finds a run's model; it may ask the network. Its error is an
	// *llm.Error that says what to do.
	Resolve func(ctx context.Context, model string) (ResolvedModel, error)
	// System is the system prompt, asked for once in a session's life.
	System func() string
	// Instructions are the AGENTS.md files; nil is none.
	Instructions *prompt.Instructions
	// Feedback is what the review says and the model has not heard; each word
	// once. Asked before each request.
	Feedback func() string
	// Locate names places as the client does. nil leaves them out of events.
	Locate func([]Location) []EventLocation
	// PendingHunks counts what waits for the user, for the list of sessions.
	PendingHunks func() int

	Recorder Recorder
	Sink     Sink
	Limits   Limits
	// Log is for what is wrong in the program itself. nil discards it.
	Log *slog.Logger
}

// Limits are how patient a session is; zero fields have the values named.
type Limits struct {
	Attempts    int           // requests for one answer, 5
	RetryBase   time.Duration // the first wait, doubled each time, 1s
	RetryMax    time.Duration // the longest wait that a server may ask for, 2m
	CancelGrace time.Duration // for tools to return after a cancel, 1s
}

func (l Limits) withDefaults() Limits {
	l.Attempts = cmp.Or(l.Attempts, 5)
	l.RetryBase = cmp.Or(l.RetryBase, time.Second)
	l.RetryMax = cmp.Or(l.RetryMax, 2*time.Minute)
	l.CancelGrace = cmp.Or(l.CancelGrace, time.Second)
	return l
}

// Info describes a session.
type Info struct {
	ID           string    `json:"sessionId"`
	Title        string    `json:"title"`
	Mode         Mode      `json:"mode"`
	Model        string    `json:"model"`
	Review       Review    `json:"review"`
	Created      time.Time `json:"createdAt"`
	Updated      time.Time `json:"updatedAt"`
	Runs         int       `json:"runs"`
	Running      bool      `json:"running,omitempty"`
	Usage        Usage     `json:"usage"`        // of the runs that ended
	PendingHunks int       `json:"pendingHunks"` // as it was stored
	Workspace    []string  `json:"workspace,omitempty"`
}

// Session is one conversation. Its methods are safe for concurrent use; it has
// one run at a time.
type Session struct {
	o      Options
	log    *eventLog
	logger *slog.Logger
	// life ends when the session is closed.
	life  context.Context
	leave context.CancelFunc

	// Owned by the run under way, or by Restore.
	history history
	ids     callIDs
	system  *string  // nil until the first run
	carried []string // steers that no request took yet
	context contextSize

	mu     sync.Mutex
	info   Info
	active *Run
	closed bool
	// strays are calls whose tools did not return after a cancel; each channel
	// closes when one does.
	strays []<-chan struct{}
}

// New makes a session that has no history yet. Close it.
func New(o Options) *Session {
	if o.Ephemeral {
		o.Recorder = nil
	}
	o.Limits = o.Limits.withDefaults()
	now := time.Now().UTC()
	if o.Created.IsZero() {
		o.Created = now
	}
	s := &Session{o: o, logger: o.Log}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.life, s.leave = context.WithCancel(context.Background())
	s.info = Info{
		ID:        o.ID,
		Title:     title(o.Title),
		Mode:      cmp.Or(o.Mode, ModeAgent),
		Model:     o.Model,
		Review:    cmp.Or(o.Review, ReviewEnd),
		Created:   o.Created.UTC(),
		Updated:   o.Created.UTC(),
		Workspace: o.Workspace,
	}
	s.log = &eventLog{sessionID: o.ID, recorder: o.Recorder, sink: o.Sink, next: 1}
	s.log.header = s.header
	s.history.record = s.keep
	return s
}

// ID names the session.
func (s *Session) ID() string { return s.o.ID }

// Info describes the session as it is, but for PendingHunks, which the front
// end knows.
func (s *Session) Info() Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := s.info
	info.Running = s.active != nil
	return info
}

// header is the first line of the session's file.
func (s *Session) header() []byte {
	s.mu.Lock()
	info := s.info
	s.mu.Unlock()
	raw, err := encodeRecord(RecordSession, info)
	if err != nil {
		s.logger.Error("session not described", "err", err)
	}
	return raw
}

// Configuration changes a session; nil fields stay as they are.
type Configuration struct {
	Title  *string
	Mode   *Mode
	Model  *string
	Review *Review
}

// Configure changes what later runs begin with; a run under way keeps what it
// has.
func (s *Session) Configure(c Configuration) {
	s.mu.Lock()
	if c.Title != nil {
		s.info.Title = title(*c.Title)
	}
	if c.Mode != nil {
		s.info.Mode = *c.Mode
	}
	if c.Model != nil {
		s.info.Model = *c.Model
	}
	if c.Review != nil {
		s.info.Review = *c.Review
	}
	s.info.Updated = time.Now().UTC()
	s.mu.Unlock()
	s.describe()
}

// describe stores how the session is described now.
func (s *Session) describe() {
	info := s.Info()
	info.Running = false
	if s.o.PendingHunks != nil {
		info.PendingHunks = s.o.PendingHunks()
	}
	raw, err := encodeRecord(RecordInfo, info)
	if err != nil {
		s.logger.Error("session not described", "err", err)
		return
	}
	s.log.describe(raw)
}

// Emit sends an event that belongs to no run: what a review did.
func (s *Session) Emit(ev Event) {
	if err := s.log.tell(s.life, nil, ev); err != nil {
		s.logger.Debug("event of a closed session", "err", err)
		return
	}
	if _, ok := ev.(ProposalChanged); ok {
		s.describe() // the list of sessions tells how many hunks wait
	}
}

// Record stores something that a front end wants back from Restore's records,
// such as the state of a proposal. typ begins with "_" and the name of who
// keeps it; v encodes as a JSON object.
func (s *Session) Record(typ string, v any) error {
	if !strings.HasPrefix(typ, "_") {
		return errors.New("the type of a record begins with _")
	}
	return s.log.record(typ, v)
}

// keep is Record for what the session itself wants back.
func (s *Session) keep(typ string, v any) {
	if err := s.log.record(typ, v); err != nil {
		s.logger.Error("record not stored", "type", typ, "err", err)
	}
}

// Events returns the events with seq >= from, as they were sent, and the seq
// of the next one to come.
func (s *Session) Events(from int64) (events []json.RawMessage, next int64, err error) {
	return s.log.events(from)
}

// Drained tells that the sink is no longer congested: text that was held back
// goes out. It must not be called from within the sink.
func (s *Session) Drained() { s.log.drained() }

// Start prepares a run: it has its id, and nothing is sent before Go.
func (s *Session) Start(req Request) (*Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.active != nil {
		return nil, ErrRunActive
	}
	r := newRun(s, req)
	s.active = r
	return r, nil
}

// Close cancels the run under way and waits for it, and for tools that did not
// return in time, as long as ctx allows; it does not wait for the client. Then
// it closes the recorder.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	run := s.active
	s.closed = true
	s.mu.Unlock()
	if run != nil {
		run.Cancel()
		run.Go() // one that was never begun has its end too
	}
	s.leave()
	return errors.Join(s.settle(ctx, run), s.log.shut())
}

// settle waits for what runs.
func (s *Session) settle(ctx context.Context, run *Run) error {
	var waits []<-chan struct{}
	if run != nil {
		waits = append(waits, run.Done())
	}
	for {
		for _, done := range waits {
			select {
			case <-done:
			case <-ctx.Done():
				return fmt.Errorf("closing session %s: %w", s.o.ID, ctx.Err())
			}
		}
		s.mu.Lock()
		waits, s.strays = s.strays, nil
		s.mu.Unlock()
		if len(waits) == 0 {
			return nil
		}
	}
}

// title is one line of at most 80 runes.
func title(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.Join(strings.Fields(strings.ToValidUTF8(line, "\ufffd")), " ")
	if utf8.RuneCountInString(line) <= 80 {
		return line
	}
	return string([]rune(line)[:79]) + "…"
}
