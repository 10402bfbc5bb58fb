package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/agentls/agentls/lspserver/internal/rpc"
)

// pipes are the ways to connect two ends.
var pipes = []struct {
	name string
	make func() (io.ReadCloser, io.WriteCloser, error)
}{
	{"io.Pipe", func() (io.ReadCloser, io.WriteCloser, error) { r, w := io.Pipe(); return r, w, nil }},
	{"os.Pipe", func() (io.ReadCloser, io.WriteCloser, error) { return os.Pipe() }},
}

// over runs f for each kind of pipe with a served connection.
func over(b *testing.B, o rpc.Options, f func(b *testing.B, conn *rpc.Conn, toServer io.Writer, fromServer io.Reader)) {
	for _, pipe := range pipes {
		b.Run(pipe.name, func(b *testing.B) {
			in, toServer, err := pipe.make()
			if err != nil {
				b.Fatal(err)
			}
			fromServer, out, err := pipe.make()
			if err != nil {
				b.Fatal(err)
			}
			conn := rpc.NewConn(in, out, closers{in, out}, o)
			done := make(chan error, 1)
			go func() { done <- conn.Run(context.Background()) }()
			f(b, conn, toServer, fromServer)
			toServer.Close()
			go io.Copy(io.Discard, fromServer)
			<-done
			fromServer.Close()
		})
	}
}

var textDelta = json.RawMessage(`{"sessionId":"s-0123456789","runId":"r-0123456789","seq":123456,"time":"2026-12-01T00:00:00.000Z","type":"text","messageId":"m-0123456789","delta":" and"}`)

// BenchmarkNotify sends text deltas to a client that only reads.
func BenchmarkNotify(b *testing.B) {
	over(b, rpc.Options{Call: echo}, func(b *testing.B, conn *rpc.Conn, _ io.Writer, fromServer io.Reader) {
		go io.Copy(io.Discard, fromServer)
		b.ReportAllocs()
		for b.Loop() {
			if err := conn.NotifyRaw(b.Context(), "agent/event", textDelta); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	})
}

// BenchmarkNotifyIdle is how long a delta is under way when nothing is queued.
func BenchmarkNotifyIdle(b *testing.B) {
	over(b, rpc.Options{Call: echo}, func(b *testing.B, conn *rpc.Conn, _ io.Writer, fromServer io.Reader) {
		r := bufio.NewReader(fromServer)
		b.ReportAllocs()
		for b.Loop() {
			if err := conn.NotifyRaw(b.Context(), "agent/event", textDelta); err != nil {
				b.Fatal(err)
			}
			readRaw(b, r)
		}
	})
}

// BenchmarkRequest asks and waits for the answer, in a goroutine and on the reader.
func BenchmarkRequest(b *testing.B) {
	for _, inline := range []bool{false, true} {
		b.Run(fmt.Sprintf("inline=%t", inline), func(b *testing.B) {
			o := rpc.Options{Call: echo, Inline: map[string]bool{"echo": inline}}
			over(b, o, func(b *testing.B, _ *rpc.Conn, toServer io.Writer, fromServer io.Reader) {
				request := []byte(frame(ask("1", "echo")))
				r := bufio.NewReader(fromServer)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := toServer.Write(request); err != nil {
						b.Fatal(err)
					}
					readRaw(b, r)
				}
			})
		})
	}
}

// BenchmarkDidChange reads notifications that carry a document of a megabyte.
func BenchmarkDidChange(b *testing.B) {
	seen := make(chan struct{})
	o := rpc.Options{Call: echo, Notify: func(context.Context, string, json.RawMessage) error { seen <- struct{}{}; return nil }}
	over(b, o, func(b *testing.B, _ *rpc.Conn, toServer io.Writer, _ io.Reader) {
		change := []byte(frame(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"text":"` + strings.Repeat(`x := f(\"a\")\n`, 1<<20/16) + `"}}`))
		b.SetBytes(int64(len(change)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := toServer.Write(change); err != nil {
				b.Fatal(err)
			}
			<-seen
		}
	})
}

// readRaw reads a frame without looking at it.
func readRaw(b *testing.B, r *bufio.Reader) {
	header, err := r.ReadSlice('\n')
	if err != nil {
		b.Fatal(err)
	}
	length := 0
	for _, c := range header {
		if c >= '0' && c <= '9' {
			length = length*10 + int(c-'0')
		}
	}
	if _, err := r.Discard(len("\r\n") + length); err != nil {
		b.Fatal(err)
	}
}
