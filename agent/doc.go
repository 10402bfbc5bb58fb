// Package agent runs an agent: the loop between a model and its tools, the
// events that tell of it, and the history that makes the next request. It
// knows no editor, file or network: models, tools, the recorder and the sink
// are interfaces, and front ends (the LSP server, a terminal, tests) are
// equals.
//
// # Sessions and runs
//
// A Session is one conversation, a Run one prompt in it. A run is an object
// with one goroutine that owns its state and that of the session's history;
// tools run in goroutines of their own, which the run waits for. Everything
// else that is called on a Session or a Run is safe for concurrent use and
// does not wait for the run.
//
//	s := agent.New(agent.Options{ID: "s1", Tools: tools, Resolve: resolve, Recorder: file, Sink: sink})
//	run, err := s.Start(agent.Request{Prompt: []llm.Part{llm.Text{Text: "fix the test"}}})
//	…answer the client, which then knows run.ID()…
//	run.Go()
//	<-run.Done()
//	fmt.Println(run.Result().StopReason)
//
// # Delivery of events
//
// Events of a session are numbered without gaps, over restarts too. Each is
// given to the Recorder, then to the Sink, one at a time and in order. Nothing
// is dropped. Text and thought deltas of one message may be joined while the
// sink is congested: a joined delta is one event with one number, and any
// other event sends it on its way first. While the sink is full, whoever has
// an event waits, so that a run stops reading its model; a cancel is still
// taken. When the Recorder fails the run goes on, a notice says so, and the
// lines wait in memory, in order, for it to work again.
//
// A run has exactly one RunEnded, its last event: also after a panic in a
// tool or a model, and after a cancel at any moment. The session takes the next
// run before that event is sent. A run that a killed server left behind gets
// its RunEnded when the session is restored.
//
// # The loop
//
// A turn is one request and what its answer asks for. Calls of an answer run
// in segments: neighbours that only read side by side, 8 at most, anything
// else alone, results in the order of the calls. Whether the run goes on is
// decided by calls, not by the reason that the server gives for the end of
// its answer. See Run.take for what the other answers mean, mayRetry for what
// is asked again, loopGuard for runs that go round in circles, and makeRoom
// for histories that grow too long.
//
// The history is always one that a strict server takes: each call has its one
// result, with arguments that are a JSON object and a name and an id that any
// server takes. Each request extends the one before until output has to be
// masked.
package agent
