package agent

import (
	"sync"
	"time"
)

// mailbox holds what the user says while a run is under way. It takes nothing
// more once the run has decided to end, so that no word is lost in between.
type mailbox struct {
	mu      sync.Mutex
	steers  []string
	waiting bool // the run waits to send a request again
	closed  bool
}

// post adds a prompt; ok is false when it is too late.
func (m *mailbox) post(prompt string) (waiting, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false, false
	}
	m.steers = append(m.steers, prompt)
	return m.waiting, true
}

// take empties the mailbox.
func (m *mailbox) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	steers := m.steers
	m.steers = nil
	return steers
}

// closeIfEmpty closes the mailbox unless something is in it.
func (m *mailbox) closeIfEmpty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = len(m.steers) == 0
	return m.closed
}

// close closes the mailbox and returns what was in it.
func (m *mailbox) close() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	steers := m.steers
	m.steers = nil
	return steers
}

func (m *mailbox) setWaiting(w bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = w
}

// stopwatch measures the time in which a run did not wait for a person, and
// fires when that reaches its limit.
type stopwatch struct {
	limit float64 // seconds, 0 is none
	fire  func()

	mu      sync.Mutex
	running bool
	pauses  int
	spent   time.Duration
	since   time.Time // while it runs and is not paused
	timer   *time.Timer
}

func (w *stopwatch) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = true
	if w.pauses == 0 {
		w.goOn()
	}
}

func (w *stopwatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running && w.pauses == 0 {
		w.halt()
	}
	w.running = false
}

func (w *stopwatch) pause() (resume func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pauses++; w.pauses == 1 && w.running {
		w.halt()
	}
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.pauses--; w.pauses == 0 && w.running {
			w.goOn()
		}
	})
}

func (w *stopwatch) paused() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pauses > 0
}

func (w *stopwatch) goOn() {
	w.since = time.Now()
	if w.limit > 0 {
		left := time.Duration(min(w.limit, maxSeconds)*float64(time.Second)) - w.spent
		w.timer = time.AfterFunc(left, w.fire)
	}
}

func (w *stopwatch) halt() {
	w.spent += time.Since(w.since)
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// maxSeconds keeps a limit within a time.Duration.
const maxSeconds = 1e9
