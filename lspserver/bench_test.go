package lspserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentls/agentls/agent/llm/scripted"
)

// wire is a client that does as little as it can, so that the server is what
// is measured.
type wire struct {
	t   testing.TB
	w   io.Writer
	r   *bufio.Reader
	seq int
	// serve answers the server's requests; nil answers null.
	serve func(method string, params json.RawMessage) any
	// mayDie makes the end of the server no failure: calls return nil.
	mayDie bool
}

func (c *wire) send(method string, id int, params any) {
	m := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if id > 0 {
		m["id"] = id
	}
	b, err := json.Marshal(m)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(b)
}

func (c *wire) write(body []byte) {
	if _, err := fmt.Fprintf(c.w, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil && !c.mayDie {
		c.t.Fatal(err)
	}
}

// frame reads one message; nil is the end of a server that may die.
func (c *wire) frame() []byte {
	n := 0
	for {
		line, err := c.r.ReadString('\n')
		if err != nil && c.mayDie {
			return nil
		}
		if err != nil {
			c.t.Fatalf("reading: %v", err)
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			n, _ = strconv.Atoi(v)
		}
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(c.r, body); err != nil {
		if c.mayDie {
			return nil
		}
		c.t.Fatalf("reading: %v", err)
	}
	return body
}

// call sends a request and returns its answer; what comes before it is dropped.
func (c *wire) call(method string, params any) json.RawMessage {
	c.seq++
	c.send(method, c.seq, params)
	for {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		body := c.frame()
		if body == nil {
			return nil
		}
		if err := json.Unmarshal(body, &m); err != nil {
			c.t.Fatal(err)
		}
		if m.Method != "" && m.ID != nil {
			var result any
			if c.serve != nil {
				result = c.serve(m.Method, m.Params)
			}
			b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
			if err != nil {
				c.t.Fatal(err)
			}
			c.write(b)
			continue
		}
		if m.Method == "" && string(m.ID) == strconv.Itoa(c.seq) {
			if m.Error != nil {
				c.t.Fatalf("%s: %s", method, m.Error)
			}
			return m.Result
		}
	}
}

// run starts a run and waits for its end.
func (c *wire) run(params map[string]any) {
	var started struct {
		RunID string `json:"runId"`
	}
	if err := json.Unmarshal(c.call("agent/run/start", params), &started); err != nil {
		c.t.Fatal(err)
	}
	c.call("agent/run/wait", started)
}

// connect serves a wire client in this process.
func connect(t testing.TB, model *scripted.Server) *wire {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() { Serve(t.Context(), inR, outW, Options{Env: environment(t, model, nil)}) })
	t.Cleanup(func() { inW.Close(); outR.Close(); wg.Wait() })
	c := &wire{t: t, w: inW, r: bufio.NewReaderSize(outR, 1<<20)}
	c.call("initialize", map[string]any{
		"capabilities":     map[string]any{"experimental": map[string]any{"agent": map[string]any{"protocol": 1, "review": map[string]any{}}}},
		"workspaceFolders": []map[string]string{{"uri": "file://" + t.TempDir(), "name": "ws"}},
	})
	c.send("initialized", 0, map[string]any{})
	return c
}

// BenchmarkInitialize is from the start of the process to the answer.
func BenchmarkInitialize(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	state := b.TempDir()
	for b.Loop() {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), asServer+"=1", "AGENTLS_STATE_DIR="+state)
		in, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		c := &wire{t: b, w: in, r: bufio.NewReader(out)}
		c.call("initialize", map[string]any{"capabilities": map[string]any{}, "rootUri": "file://" + state})
		b.StopTimer()
		in.Close()
		cmd.Wait()
		b.StartTimer()
	}
}

// BenchmarkDeltas is a run of 20,000 text deltas, from the model's socket to
// the client's pipe.
func BenchmarkDeltas(b *testing.B) {
	const deltas = 20_000
	var stream strings.Builder
	for i := range deltas {
		fmt.Fprintf(&stream, "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word%d \"}}]}\n\n", i)
	}
	stream.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	var took time.Duration
	runs := 0
	for b.Loop() {
		b.StopTimer()
		model, err := scripted.Start(scripted.Script{Replies: []scripted.Reply{{Steps: []scripted.Step{scripted.Raw(stream.String())}}}})
		if err != nil {
			b.Fatal(err)
		}
		c := connect(b, model)
		var peak uint64
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			var m runtime.MemStats
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					runtime.ReadMemStats(&m)
					peak = max(peak, m.HeapInuse)
				case <-stop:
					return
				}
			}
		})
		began := time.Now()
		b.StartTimer()
		c.run(map[string]any{"prompt": "go"})
		b.StopTimer()
		took, runs = took+time.Since(began), runs+1
		close(stop)
		wg.Wait()
		b.ReportMetric(float64(deltas*runs)/took.Seconds(), "deltas/s")
		b.ReportMetric(float64(peak)/(1<<20), "MB-heap")
		model.Close()
		b.StartTimer()
	}
}

// BenchmarkToolTurn is one turn of a run that calls a tool, with and without a
// long history behind it; the model's side is in it.
func BenchmarkToolTurn(b *testing.B) {
	for _, turns := range []int{10, 200} {
		b.Run(fmt.Sprintf("turns=%d", turns), func(b *testing.B) {
			var took time.Duration
			runs := 0
			for b.Loop() {
				b.StopTimer()
				var replies []scripted.Reply
				for i := range turns {
					replies = append(replies, scripted.Reply{Steps: []scripted.Step{scripted.Call("list_dir", fmt.Sprintf(`{"path":"./%s"}`, strings.Repeat("./", i)))}})
				}
				replies = append(replies, scripted.Reply{Steps: []scripted.Step{scripted.Say("done")}})
				model, err := scripted.Start(scripted.Script{Replies: replies})
				if err != nil {
					b.Fatal(err)
				}
				c := connect(b, model)
				began := time.Now()
				b.StartTimer()
				c.run(map[string]any{"prompt": "go", "budget": map[string]any{"maxTurns": 0}})
				b.StopTimer()
				took, runs = took+time.Since(began), runs+1
				b.ReportMetric(float64(took.Microseconds())/float64(runs*turns), "µs/turn")
				model.Close()
				b.StartTimer()
			}
		})
	}
}
