// Package scripted is a model that says what a script tells it to, behind a
// real HTTP endpoint: Chat Completions with streaming, and the list of models.
// The demo and the tests use it in the place of a vendor's server.
//
// A Server answers each request with the next Reply of its Script, in small
// flushed chunks as real servers do, and keeps every request for inspection.
// With Strict set it refuses what strict servers refuse, so that a history
// that went bad shows at once. Nothing in it sleeps unless the script says
// so: a Hold stops a reply until Release lets it go on.
//
//	srv, err := scripted.Start(scripted.Script{Replies: []scripted.Reply{
//		{Steps: []scripted.Step{scripted.Call("read_file", `{"path":"a.go"}`)}},
//		{Steps: []scripted.Step{scripted.Say("It prints hello.")}},
//	}})
//	defer srv.Close()
//	// point a client at srv.URL()
//
// # Text format
//
// Parse reads the same from text, one directive a line; empty lines and lines
// that begin with # are skipped. "reply" begins a reply; what follows it is
// sent in that order.
//
//	strict                           refuse a request that strict servers refuse
//	chunk 4                          characters in a delta; default 8
//	wire 3                           bytes in a write, cutting runes apart; default whole events
//	model NAME [window=N]            an entry of the list of models; default "scripted"
//
//	reply [when SUBSTRING]           only for a request whose last user text holds it
//	say Looking at it.               text
//	think hm                         reasoning (reasoning_content)
//	call edit_file {"path":"a.go"}   a tool call, its arguments streamed in pieces
//	usage in=10 out=5 cached=3 reasoning=2
//	finish length                    instead of tool_calls or stop
//	hold NAME                        wait for Release(NAME)
//	delay 10ms                       wait
//	raw data: {"choices":[]}         one line of the stream, as it is
//	cut                              break the connection off
//	end                              end the stream without finish reason or [DONE]
//	status 429 {"error":{…}}         an HTTP status, and the body
//	header Retry-After: 1
//
// An argument of say, think, raw, call's JSON or status's body that reads
// <<WORD is the lines that follow, up to one that is WORD; one in double
// quotes is a Go string.
//
// A Server is safe for concurrent use.
package scripted

import (
	"encoding/json"
	"net/http"
	"time"
)

// Script is what a Server does.
type Script struct {
	Replies []Reply
	// Strict refuses requests as strict servers do; see Request.Problem.
	Strict bool
	// Chunk is how many characters of text a delta holds; 0 is 8.
	Chunk int
	// Wire is how many bytes are written at once; 0 writes whole events.
	Wire int
	// Models are listed; none is one called "scripted".
	Models []Model
}

// Model is an entry of the list of models.
type Model struct {
	ID     string
	Window int // in tokens, 0 if it is not told
}

// Reply is the answer to one request. A request takes the first Reply that is
// not used up and whose When matches.
type Reply struct {
	// When restricts a reply to requests whose last user text contains it.
	When string
	// Status other than 0 and 200 answers with Body instead of a stream.
	Status int
	Header http.Header
	Body   string
	// Steps are sent in order.
	Steps []Step
	// Finish is the finish reason; "" is tool_calls after a call, else stop.
	Finish string
	// Usage is sent when the request asked for it.
	Usage *Usage
}

// Usage counts tokens as a vendor does: Input includes Cached, Output includes
// Reasoning.
type Usage struct{ Input, Output, Cached, Reasoning int }

// Step is a piece of a reply, made by Say, Think, Call and so on.
type Step struct {
	kind stepKind
	text string // text, name of a tool or a hold
	args string
	wait time.Duration
}

type stepKind int

const (
	stepSay stepKind = iota
	stepThink
	stepCall
	stepHold
	stepDelay
	stepRaw
	stepCut
	stepEnd
)

// Say streams text.
func Say(text string) Step { return Step{kind: stepSay, text: text} }

// Think streams reasoning.
func Think(text string) Step { return Step{kind: stepThink, text: text} }

// Call streams a tool call. The arguments are sent as they are, valid or not.
func Call(name, arguments string) Step { return Step{kind: stepCall, text: name, args: arguments} }

// CallWith is Call with arguments that are encoded first.
func CallWith(name string, arguments any) Step {
	b, err := json.Marshal(arguments)
	if err != nil {
		panic("scripted: " + err.Error()) // a mistake in the script
	}
	return Call(name, string(b))
}

// Hold stops the reply until Release is called with the name.
func Hold(name string) Step { return Step{kind: stepHold, text: name} }

// Delay stops the reply for a while.
func Delay(d time.Duration) Step { return Step{kind: stepDelay, wait: d} }

// Raw sends bytes of the stream as they are. The blank line that ends an event
// is the caller's to add.
func Raw(b string) Step { return Step{kind: stepRaw, text: b} }

// Cut breaks the connection off in the middle of the stream.
func Cut() Step { return Step{kind: stepCut} }

// End ends the stream cleanly, but without finish reason and [DONE].
func End() Step { return Step{kind: stepEnd} }
