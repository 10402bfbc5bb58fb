// Package terminal is the terminal as an editor: a client of `agentls serve`
// that starts one run, shows it as it goes, asks about what it proposes and
// applies what was accepted. `agentls run` and the demo call it.
//
// It speaks the same protocol as any editor, over the pipes of a child
// process, and knows nothing of the server but lspserver/ext. One goroutine
// owns the console: it shows events, asks, and decides; the connection's
// goroutines hand it what they get and wait for its answers.
//
//	os.Exit(terminal.Run(ctx, terminal.Options{
//		Prompt: "fix the failing test", Dir: ".", Console: terminal.Standard(),
//	}))
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/agentls/agentls/lspserver/ext"
)

// Accept says what becomes of the changes that a run proposes.
type Accept string

// The ways to accept.
const (
	Ask  Accept = "ask"  // ask about each file; without a terminal they stay pending
	All  Accept = "all"  // apply all of a run that came to its end
	None Accept = "none" // show them and leave them pending
)

// Exit statuses of the command line.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitLimit       = 3
	ExitInterrupted = 130
)

// Options are what a run is started with.
type Options struct {
	// Prompt may be empty where Session is not: then what the session left
	// pending is reviewed.
	Prompt string
	// Dir is the workspace folder.
	Dir string
	// Model and Session are the server's choice where empty.
	Model, Session string
	Accept         Accept
	// JSON writes every event as a line of JSON, and a last line of type
	// result, instead of text. It asks nothing.
	JSON    bool
	Version string
	Console *Console
	// Server is the command that starts the server and Env its environment;
	// nil means this program's own `serve --stdio`, and this process's.
	Server []string
	Env    []string
}

var (
	errInterrupted = errors.New("interrupted")
	errServerGone  = errors.New("the server ended before the run did")
)

// Run does a whole run and returns the exit status.
func Run(ctx context.Context, o Options) int {
	r := &runner{o: o, console: o.Console, view: newView(o)}
	return r.finish(r.run(ctx))
}

// finish makes an exit status of how a run came out, and shows it.
func (r *runner) finish(code int, err error) int {
	if errors.Is(err, errInterrupted) {
		code, err = ExitInterrupted, nil
	} else if err != nil {
		code = ExitFailed
	}
	r.view.end(code, err)
	return code
}

// runner is one run of the command; its methods run on one goroutine.
type runner struct {
	o       Options
	console *Console
	view    view
	client  *client

	session string
	// cancelled is set once the user has asked the run to stop.
	cancelled bool
}

// view shows what happens: as text for people, or as lines of JSON.
type view interface {
	// event shows one agent/event.
	event(e event)
	// remark is a line about the client itself.
	remark(format string, args ...any)
	// ended shows how a run ended.
	ended(res ext.RunResult)
	// proposed shows changes that nobody is asked about.
	proposed(p ext.Proposal)
	// pending tells how to come back to what was not decided.
	pending(p ext.Proposal)
	// settled shows what became of decisions on a proposal.
	settled(p ext.Proposal, results []ext.Result)
	// end closes the output.
	end(code int, err error)
}

func newView(o Options) view {
	if o.JSON {
		return &jsonView{out: o.Console.Out, err: o.Console.Err}
	}
	return newTextView(o)
}

func (r *runner) run(ctx context.Context) (int, error) {
	process, err := startServer(r.o)
	if err != nil {
		return 0, err
	}
	code, err := r.serve(ctx, process)
	if errors.Is(err, errServerGone) {
		err = process.failed(err)
	}
	return code, err
}

// serve does the run over a server's pipes, and leaves the server.
func (r *runner) serve(ctx context.Context, pipes io.ReadWriteCloser) (code int, err error) {
	r.client, err = connect(ctx, pipes, r.o)
	if err != nil {
		return 0, errors.Join(err, pipes.Close())
	}
	defer func() { r.client.close(err != nil) }()
	if err := r.pump(r.client.initialize(r.o)); err != nil {
		return 0, err
	}
	r.session = r.o.Session
	if r.o.Prompt == "" {
		outcome, err := r.review(ctx, true)
		return outcome.status(ExitDone), err
	}
	return r.converse(ctx, r.o.Prompt)
}

// converse runs a prompt and reviews what came of it, and again while the user
// wants the agent to try once more.
func (r *runner) converse(ctx context.Context, prompt string) (int, error) {
	for {
		res, err := r.runPrompt(prompt)
		if err != nil {
			return 0, err
		}
		r.view.ended(res)
		code := exitStatus(res.StopReason)
		outcome, err := r.review(ctx, code == ExitDone)
		if err != nil {
			return 0, err
		}
		if !outcome.again {
			return outcome.status(code), nil
		}
		r.cancelled = false
		prompt = "I have reviewed your changes and left comments. Take them into account and try again."
	}
}

// exitStatus is the status that a stop reason stands for.
func exitStatus(stopReason string) int {
	switch stopReason {
	case "endTurn":
		return ExitDone
	case "cancelled":
		return ExitInterrupted
	case "maxTurns", "maxTokens", "maxSeconds", "maxCost", "length", "loop":
		return ExitLimit
	}
	return ExitFailed
}

// runPrompt starts a run and shows it until it has ended.
func (r *runner) runPrompt(prompt string) (ext.RunResult, error) {
	params := ext.RunStartParams{Prompt: encode(prompt), SessionID: r.session, Model: r.o.Model}
	var started ext.RunStarted
	if err := r.call(ext.MethodRunStart, params, &started); err != nil {
		return ext.RunResult{}, fmt.Errorf("the run could not start: %w", err)
	}
	r.session = started.SessionID
	var res ext.RunResult
	stop := func() error {
		if r.cancelled {
			return errInterrupted
		}
		r.cancelled = true
		r.view.remark("stopping; once more leaves at once")
		r.client.goCall(ext.MethodRunCancel, ext.RunParams{RunID: started.RunID}, nil)
		return nil
	}
	if err := r.pumpUntil(r.client.goCall(ext.MethodRunWait, ext.RunParams{RunID: started.RunID}, &res), stop); err != nil {
		return ext.RunResult{}, err // an answer may still be written to res
	}
	return res, nil
}

// call asks the server and waits, showing what happens meanwhile. After an
// error result is not to be read: the answer may still come.
func (r *runner) call(method string, params, result any) error {
	return r.pump(r.client.goCall(method, params, result))
}

// pump shows what the connection brings until an answer is there.
func (r *runner) pump(answer <-chan error) error {
	return r.pumpUntil(answer, func() error { return errInterrupted })
}

// pumpUntil is pump with an interrupt of its own: it goes on if that is nil.
func (r *runner) pumpUntil(answer <-chan error, interrupt func() error) error {
	for {
		select {
		case m := <-r.client.messages:
			r.show(m)
		case q := <-r.client.questions:
			r.drain() // what was said before the question was asked
			if err := r.answer(q); errors.Is(err, errInterrupted) {
				if err := interrupt(); err != nil {
					return err
				}
			}
		case err := <-answer:
			r.drain()
			return err
		case <-r.console.Interrupts:
			if err := interrupt(); err != nil {
				return err
			}
		case <-r.client.done():
			r.drain()
			// The answer may have been the last thing that came.
			select {
			case err := <-answer:
				return err
			default:
				return errServerGone
			}
		}
	}
}

// drain shows what has come already: everything that the server sent before
// the answer that was just taken.
func (r *runner) drain() {
	for {
		select {
		case m := <-r.client.messages:
			r.show(m)
		default:
			return
		}
	}
}

func (r *runner) show(m message) {
	if m.event != nil {
		r.view.event(*m.event)
		return
	}
	r.view.remark("%s", m.text)
}
