package agent_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/agent/llm"
)

// polite is a model that says one thing.
type polite struct{}

func (polite) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if !yield(llm.TextDelta{Text: "Good morning."}, nil) {
			return
		}
		yield(llm.Completed{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{Text: "Good morning."}}}}, nil)
	}
}

// printer is a sink that never waits.
type printer struct{}

func (printer) Congested() bool            { return false }
func (printer) Wait(context.Context) error { return nil }

func (printer) Send(e agent.Envelope, _ []byte) { fmt.Printf("%d %T\n", e.Seq, e.Event) }

func Example() {
	s := agent.New(agent.Options{
		ID:   "s1",
		Sink: printer{},
		Resolve: func(context.Context, string) (agent.ResolvedModel, error) {
			return agent.ResolvedModel{Model: polite{}, ID: "polite-1"}, nil
		},
	})
	defer s.Close(context.Background())
	run, err := s.Start(agent.Request{Prompt: []llm.Part{llm.Text{Text: "Say good morning."}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	run.Go()
	<-run.Done()
	fmt.Println(run.Result().StopReason, run.Result().Text)
	// Output:
	// 1 agent.RunStarted
	// 2 agent.TurnStarted
	// 3 agent.TextDelta
	// 4 agent.MessageDone
	// 5 agent.UsageUpdated
	// 6 agent.RunEnded
	// endTurn Good morning.
}
