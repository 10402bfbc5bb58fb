package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentls/agentls/agent/llm"
)

// benchDelta is a chunk as OpenAI sends them.
const benchDelta = `{"id":"chatcmpl-9xA1b2C3d4E5f6G7h8I9j0","object":"chat.completion.chunk","created":1730000000,"model":"gpt-5-2025-08-07","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}],"obfuscation":"a1b2c3"}`

const benchDeltas = 20000

func benchBody() []byte {
	var b bytes.Buffer
	for range benchDeltas {
		b.WriteString("data: " + benchDelta + "\n\n")
	}
	b.WriteString(sse(finish(`"stop"`), done))
	return b.Bytes()
}

func benchServer(b *testing.B) string {
	body := benchBody()
	return serve(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body)
	})
}

func perDelta(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchDeltas), "ns/delta")
	b.ReportMetric(float64(b.N*benchDeltas)/b.Elapsed().Seconds(), "deltas/s")
}

// BenchmarkStream is an answer of 20,000 deltas over HTTP.
func BenchmarkStream(b *testing.B) {
	m := newClientTo(b, Options{Provider: "openai", BaseURL: benchServer(b)})
	r := llm.Request{Model: "m", Messages: user("x")}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for d, err := range m.Stream(b.Context(), r) {
			if err != nil {
				b.Fatal(err)
			}
			if _, ok := d.(llm.TextDelta); ok {
				n++
			}
		}
		if n != benchDeltas {
			b.Fatalf("%d deltas", n)
		}
	}
	perDelta(b)
}

// BenchmarkPlain is the same with net/http and encoding/json alone.
func BenchmarkPlain(b *testing.B) {
	url := benchServer(b)
	b.ReportAllocs()
	for b.Loop() {
		res, err := http.Post(url, "application/json", strings.NewReader("{}"))
		if err != nil {
			b.Fatal(err)
		}
		var text strings.Builder
		n := 0
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() {
			data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
			if !ok || string(data) == done {
				continue
			}
			var chunk struct {
				Choices []struct {
					Delta struct {
						Content string `json:"content"`
					} `json:"delta"`
				} `json:"choices"`
			}
			if err := json.Unmarshal(data, &chunk); err != nil {
				b.Fatal(err)
			}
			for _, c := range chunk.Choices {
				if c.Delta.Content != "" {
					text.WriteString(c.Delta.Content)
					n++
				}
			}
		}
		_ = res.Body.Close()
		if n != benchDeltas {
			b.Fatalf("%d deltas", n)
		}
	}
	perDelta(b)
}

// BenchmarkChunk is the decoder alone.
func BenchmarkChunk(b *testing.B) {
	a := newAnswer(llm.Request{}, quirksOf("custom"))
	data := []byte(benchDelta)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if !a.chunk(data) {
			b.Fatal("not taken")
		}
		a.out = a.out[:0]
		if a.text.Len() > 1<<20 {
			a.text.Reset()
		}
	}
}

// BenchmarkEncode is a turn in a conversation of 400 messages: it costs what
// it adds.
func BenchmarkEncode(b *testing.B) {
	m := newClientTo(b, Options{Provider: "openai", BaseURL: "http://localhost:1"})
	r := llm.Request{Model: "m", System: strings.Repeat("s", 4000), Tools: offered}
	long := strings.Repeat("func main() {\n\tprintln(\"hello\")\n}\n", 60)
	for range 400 {
		r.Messages = append(r.Messages, llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{Text: long}}})
	}
	q := quirksOf("openai")
	b.Run("known", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.encode(r, q); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.cache.conversations = nil
			if _, err := m.encode(r, q); err != nil {
				b.Fatal(err)
			}
		}
	})
}
