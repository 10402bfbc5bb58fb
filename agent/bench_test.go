package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"

	"github.com/agentls/agentls/agent/llm"
)

// null is a recorder and a sink that do nothing, so that what is measured is
// ours.
type null struct{}

func (null) Record([]byte) error                            { return nil }
func (null) Events(int64, int64) ([]json.RawMessage, error) { return nil, nil }
func (null) Close() error                                   { return nil }
func (null) Send(Envelope, []byte)                          {}
func (null) Congested() bool                                { return false }
func (null) Wait(context.Context) error                     { return nil }

// stream is a model that is a function.
type stream func(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error]

func (s stream) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	return s(ctx, r)
}

func benchRun(b *testing.B, m Model, tools ...Tool) *Session {
	s := New(Options{ID: "s", Recorder: null{}, Sink: null{}, Tools: tools, Resolve: func(context.Context, string) (ResolvedModel, error) {
		return ResolvedModel{Model: m, ID: "m", ContextWindow: 1 << 40}, nil
	}})
	b.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func runOnce(b *testing.B, s *Session) {
	r, err := s.Start(ask("go"))
	if err != nil {
		b.Fatal(err)
	}
	r.Go()
	<-r.Done()
	if r.Result().StopReason != StopEndTurn {
		b.Fatal(r.Result())
	}
}

// BenchmarkDelta is what a delta costs from the adapter to the sink.
func BenchmarkDelta(b *testing.B) {
	m := stream(func(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
		return func(yield func(llm.Delta, error) bool) {
			for range b.N {
				if !yield(llm.TextDelta{Text: "some words "}, nil) {
					return
				}
			}
			yield(done(llm.StopEnd, llm.Text{Text: "some words"}), nil)
		}
	})
	s := benchRun(b, m)
	b.ReportAllocs()
	b.ResetTimer()
	runOnce(b, s)
}

// BenchmarkToolTurn is what a turn with a call costs after n others.
func BenchmarkToolTurn(b *testing.B) {
	for _, n := range []int{0, 1000, 10_000} {
		b.Run(fmt.Sprintf("after=%d", n), func(b *testing.B) {
			turns := 0
			m := stream(func(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
				return func(yield func(llm.Delta, error) bool) {
					turns++
					if turns == n {
						b.ResetTimer()
					}
					if turns >= n+b.N {
						yield(done(llm.StopEnd, llm.Text{Text: "ok"}), nil)
						return
					}
					yield(done(llm.StopEnd, llm.ToolUse{ID: "c", Name: "read_file", Input: fmt.Appendf(nil, `{"path":"/%d"}`, turns)}), nil)
				}
			})
			b.ReportAllocs()
			runOnce(b, benchRun(b, m, reader(nil)))
		})
	}
}
