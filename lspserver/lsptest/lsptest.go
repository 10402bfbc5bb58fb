// Package lsptest is an editor for tests: it speaks LSP with a server over a
// pair of streams, holds text buffers of its own, and applies edits as real
// editors do, those that lie included. On top of it stands a runner of
// scenarios, txtar archives that tell a story: the files, what the model says,
// what the editor does, what must come of it.
//
// The editor is strict. It refuses edits that are out of range, that overlap
// or are for another version, and takes down every breach of the protocol; a
// breach fails the test in Close. Every frame is kept, and printed when an
// expectation fails. Nothing sleeps: an expectation is awaited until it holds
// or a deadline passes.
//
// An Editor belongs to one test. Its methods are called from the goroutine of
// the test; what the server sends is taken by goroutines of its own, which end
// with Close. It knows no server: whoever tests one hands it over as a Server.
//
//	e := lsptest.Start(t, server, lsptest.Options{Profile: "rich", Folders: []string{dir}})
//	e.Open("a.go")
//	run := e.Run("make it faster", nil)
//	e.AwaitEvent("runEnded")
//	e.Close()
package lsptest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server serves one connection until its input ends or the client says exit;
// an error is an exit status other than 0.
type Server func(ctx context.Context, stdin io.Reader, stdout io.Writer) error

// Options are what an editor is started with.
type Options struct {
	// Profile names the kind of editor; empty is "rich".
	Profile string
	// Change changes the profile, nil leaves it.
	Change func(*Profile)
	// Folders are the workspace folders, absolute. Files are named relative to
	// the first one.
	Folders []string
	// Root tells the folder as old clients do: "uri" by rootUri alone, "path"
	// by rootPath alone; empty is workspaceFolders.
	Root string
	// InitializationOptions go into initialize as they are, and Settings are
	// the answer to workspace/configuration.
	InitializationOptions any
	Settings              any
	// Deadline bounds every wait; 0 is 20 s.
	Deadline time.Duration
	// Raw leaves initialize to the test.
	Raw bool
}

// Editor is a fake editor with one connection.
type Editor struct {
	t        testing.TB
	opts     Options
	profile  Profile
	encoding string
	// Initialized is the server's answer to initialize.
	Initialized json.RawMessage

	out   *writer
	stdin io.Closer
	began time.Time
	ctx   context.Context
	stop  context.CancelFunc
	// served is closed when the server has returned, with exit its error.
	served chan struct{}
	exit   error
	busy   sync.WaitGroup // the reader and the handlers of requests
	closed bool

	record record
	docs   documents
	disk   disk
}

// Start connects an editor to a server and initializes it.
func Start(t testing.TB, server Server, o Options) *Editor {
	t.Helper()
	if o.Profile == "" {
		o.Profile = "rich"
	}
	p, ok := ProfileNamed(o.Profile)
	if !ok {
		t.Fatalf("lsptest: no profile %q, there are %v", o.Profile, Profiles())
	}
	if o.Change != nil {
		o.Change(&p)
	}
	if o.Deadline == 0 {
		o.Deadline = 20 * time.Second
	}
	toServer, stdin := io.Pipe()
	stdout, fromServer := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	e := &Editor{
		t: t, opts: o, profile: p, encoding: "utf-16",
		out: &writer{w: stdin}, stdin: stdin, began: time.Now(),
		ctx: ctx, stop: stop, served: make(chan struct{}),
	}
	e.record.init()
	e.docs.init()
	e.disk.init(t, o.Folders)
	go func() {
		defer close(e.served)
		e.exit = server(ctx, toServer, fromServer)
		// Whoever still writes or reads learns that nobody is there.
		_ = fromServer.Close()
		_ = toServer.Close()
	}()
	e.busy.Go(func() { e.readAll(stdout) })
	t.Cleanup(e.abandon)
	if !o.Raw {
		e.Initialize()
	}
	return e
}

// Initialize does the handshake.
func (e *Editor) Initialize() {
	e.t.Helper()
	params := map[string]any{
		"processId":    os.Getpid(),
		"capabilities": e.profile.capabilities(),
	}
	if e.profile.ClientName != "" {
		params["clientInfo"] = map[string]string{"name": e.profile.ClientName}
	}
	if e.opts.InitializationOptions != nil {
		params["initializationOptions"] = e.opts.InitializationOptions
	}
	var folders []map[string]string
	for _, dir := range e.opts.Folders {
		folders = append(folders, map[string]string{"uri": URI(dir), "name": filepath.Base(dir)})
	}
	switch {
	case folders == nil:
	case e.opts.Root == "path":
		params["rootPath"] = e.opts.Folders[0]
	case e.opts.Root == "uri":
		params["rootUri"] = folders[0]["uri"]
	default:
		params["workspaceFolders"] = folders
		params["rootUri"] = folders[0]["uri"]
	}
	e.Must("initialize", params, &e.Initialized)
	var result struct {
		Capabilities struct {
			PositionEncoding string `json:"positionEncoding"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(e.Initialized, &result); err != nil {
		e.Fatalf("initialize: %v", err)
	}
	if enc := result.Capabilities.PositionEncoding; enc != "" {
		e.encoding = enc
		if enc != "utf-16" && !contains(e.profile.Encodings, enc) {
			e.record.breach("the server chose %s, which was not offered", enc)
		}
	}
	e.Notify("initialized", struct{}{})
}

// Close ends the connection as an editor does, waits for the server to leave,
// and fails the test for every breach of the protocol that was seen.
func (e *Editor) Close() {
	e.t.Helper()
	e.Must("shutdown", nil, nil)
	e.Exit()
	if e.exit != nil {
		e.Errorf("the server left after shutdown and exit with %v", e.exit)
	}
	e.Check()
}

// Exit sends exit and waits for the server to leave; its status is Status.
func (e *Editor) Exit() {
	e.t.Helper()
	e.Notify("exit", nil)
	e.awaitLeft()
}

// HangUp ends the server's input without a word, as an editor that dies.
func (e *Editor) HangUp() {
	e.t.Helper()
	_ = e.stdin.Close()
	e.awaitLeft()
}

// Status is what the server left with; nil is success.
func (e *Editor) Status() error {
	e.t.Helper()
	e.awaitLeft()
	return e.exit
}

func (e *Editor) awaitLeft() {
	e.t.Helper()
	select {
	case <-e.served:
	case <-time.After(e.opts.Deadline):
		e.Fatalf("the server did not leave")
	}
	e.closed = true
	_ = e.stdin.Close()
	e.stop()
	e.busy.Wait()
}

// abandon ends what a failed test left running.
func (e *Editor) abandon() {
	if e.closed {
		return
	}
	_ = e.stdin.Close()
	e.stop()
	select {
	case <-e.served:
		e.busy.Wait()
	case <-time.After(5 * time.Second):
		e.t.Error("lsptest: the server does not end when its input and its context do")
	}
}

// Fatalf fails the test now and prints the wire log.
func (e *Editor) Fatalf(format string, args ...any) {
	e.t.Helper()
	e.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), e.WireLog())
}

// Errorf fails the test and prints the wire log.
func (e *Editor) Errorf(format string, args ...any) {
	e.t.Helper()
	e.t.Errorf("%s\n%s", fmt.Sprintf(format, args...), e.WireLog())
}

// WireLog is every frame so far, a line each.
func (e *Editor) WireLog() string {
	var b strings.Builder
	b.WriteString("wire log:\n")
	for _, f := range e.Frames() {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

// readAll takes what the server sends until it ends.
func (e *Editor) readAll(stdout *io.PipeReader) {
	// A server that goes on writing must not hang on a test that has failed.
	defer stdout.CloseWithError(io.ErrClosedPipe)
	r := bufio.NewReader(stdout)
	for {
		e.record.throttle(e.ctx)
		body, err := readFrame(r)
		if err != nil {
			if !errors.Is(err, io.EOF) && e.ctx.Err() == nil {
				e.record.breach("standard output: %v", err)
			}
			e.record.end()
			return
		}
		f, err := parseFrame(body)
		if err != nil {
			e.record.breach("a frame that is no message: %v: %s", err, body)
		}
		f.FromServer, f.At = true, time.Since(e.began)
		e.take(f)
	}
}

// take handles one frame of the server. Nothing here waits.
func (e *Editor) take(f Frame) {
	e.record.add(f)
	switch {
	case f.isResponse():
		e.record.answer(f)
	case f.isRequest():
		if !e.profile.asked(f.Method) {
			e.record.breach("the server sent %s, which this client did not announce", f.Method)
		}
		e.busy.Go(func() { e.serve(f) })
	case f.Method != "":
		e.notified(f)
	}
}

// send puts a message on the wire and into the record.
func (e *Editor) send(message map[string]any) error {
	message["jsonrpc"] = "2.0"
	body := mustJSON(message)
	f, err := parseFrame(body)
	if err != nil {
		return err
	}
	f.At = time.Since(e.began)
	e.record.add(f)
	return e.out.write(body)
}

// SendRaw puts bytes on the wire as they are, a header is the caller's.
func (e *Editor) SendRaw(b []byte) {
	e.t.Helper()
	if err := e.out.raw(b); err != nil {
		e.Fatalf("write: %v", err)
	}
}

// SendBody frames a body, whatever it is.
func (e *Editor) SendBody(body []byte) {
	e.t.Helper()
	if err := e.out.write(body); err != nil {
		e.Fatalf("write: %v", err)
	}
}

// Notify sends a notification.
func (e *Editor) Notify(method string, params any) {
	e.t.Helper()
	message := map[string]any{"method": method}
	if params != nil {
		message["params"] = params
	}
	if err := e.send(message); err != nil {
		e.Fatalf("%s: %v", method, err)
	}
}

// Call sends a request and does not wait for the answer.
func (e *Editor) Call(method string, params any) *Pending {
	e.t.Helper()
	p := e.record.expect(method)
	message := map[string]any{"id": p.id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if err := e.send(message); err != nil {
		e.Fatalf("%s: %v", method, err)
	}
	p.editor = e
	return p
}

// Request sends a request and waits for its answer. An error of the server is
// a *ResponseError.
func (e *Editor) Request(method string, params, result any) error {
	e.t.Helper()
	return e.Call(method, params).Wait(result)
}

// Must is Request for what has to succeed.
func (e *Editor) Must(method string, params, result any) {
	e.t.Helper()
	if err := e.Request(method, params, result); err != nil {
		e.Fatalf("%s: %v", method, err)
	}
}

// Pending is a request that was sent.
type Pending struct {
	editor *Editor
	id     int
	method string
	done   chan Frame // gets the answer
}

// Cancel sends $/cancelRequest.
func (p *Pending) Cancel() {
	p.editor.t.Helper()
	p.editor.Notify("$/cancelRequest", map[string]any{"id": p.id})
}

// Answered says whether the answer is there.
func (p *Pending) Answered() bool { return len(p.done) > 0 }

// Wait waits for the answer and decodes its result.
func (p *Pending) Wait(result any) error {
	p.editor.t.Helper()
	select {
	case f := <-p.done:
		p.done <- f // for another Wait
		if f.Error != nil {
			return f.Error
		}
		if result == nil {
			return nil
		}
		if raw, ok := result.(*json.RawMessage); ok {
			*raw = f.Result
			return nil
		}
		return json.Unmarshal(f.Result, result)
	case <-time.After(p.editor.opts.Deadline):
		p.editor.Fatalf("no answer to %s (%d)", p.method, p.id)
	case <-p.editor.served:
		if len(p.done) > 0 {
			return p.Wait(result)
		}
		p.editor.Fatalf("the server left (%v) without an answer to %s (%d)", p.editor.exit, p.method, p.id)
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
