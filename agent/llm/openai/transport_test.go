package openai

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentls/agentls/agent/llm"
)

// streaming answers with what f writes; each write is flushed.
func streaming(f func(ctx context.Context, write func(string))) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		f(r.Context(), func(s string) {
			_, _ = io.WriteString(w, s)
			_ = http.NewResponseController(w).Flush()
		})
	}
}

func request() llm.Request { return llm.Request{Model: "m", Messages: user("x")} }

// C088: silence ends a request, before the headers as in the middle; the
// caller's work on a delta does not count.
func TestIdle(t *testing.T) {
	const idle = 60 * time.Millisecond
	for name, h := range map[string]http.HandlerFunc{
		"before the headers": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
		"before the first byte": streaming(func(ctx context.Context, write func(string)) {
			write("")
			<-ctx.Done()
		}),
		"in the middle": streaming(func(ctx context.Context, write func(string)) {
			write(sse(delta(`"content":"hi"`)))
			<-ctx.Done()
		}),
		"in the body of a refusal": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(500)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClientTo(t, Options{BaseURL: serve(t, h), IdleTimeout: idle})
			a := collect(t, c, t.Context(), request())
			w := want{class: llm.Stalled, says: "sent nothing for 60ms", retry: true}
			if name == "in the body of a refusal" {
				w = want{class: llm.Network, says: "500", retry: true}
			}
			checkError(t, a.err, w)
		})
	}
}

// C088: a slow stream lives as long as it gives a sign of life.
func TestSlowIsNotStalled(t *testing.T) {
	const idle = 200 * time.Millisecond
	tick := time.NewTicker(idle / 4)
	defer tick.Stop()
	c := newClientTo(t, Options{IdleTimeout: idle, BaseURL: serve(t, streaming(func(_ context.Context, write func(string)) {
		for i := range 10 {
			<-tick.C
			if i%2 == 0 {
				write(": ping\n")
			} else {
				write(sse(delta(`"content":"x"`)))
			}
		}
		write(sse(finish(`"stop"`), done))
	}))})
	n := 0
	for d, err := range c.Stream(t.Context(), request()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := d.(llm.TextDelta); ok && n == 0 {
			<-time.After(2 * idle) // the caller is slow, not the server
		}
		n++
	}
	if n != 6 {
		t.Errorf("%d deltas", n)
	}
}

func TestCancel(t *testing.T) {
	gone := make(chan struct{})
	for name, h := range map[string]http.HandlerFunc{
		"before the headers": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			gone <- struct{}{}
		},
		"in the middle": streaming(func(ctx context.Context, write func(string)) {
			write(sse(delta(`"content":"hi"`)))
			<-ctx.Done()
			gone <- struct{}{}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			arrived := make(chan struct{}, 1)
			c := newClientTo(t, Options{BaseURL: serve(t, func(w http.ResponseWriter, r *http.Request) {
				arrived <- struct{}{}
				h(w, r)
			})})
			go func() {
				<-arrived
				cancel()
			}()
			a := collect(t, c, ctx, request())
			if !errors.Is(a.err, context.Canceled) {
				t.Errorf("error %v", a.err)
			}
			<-gone // the connection was closed
		})
	}
}

// Leaving the loop closes the connection.
func TestBreak(t *testing.T) {
	gone := make(chan struct{})
	c := newClientTo(t, Options{BaseURL: serve(t, streaming(func(ctx context.Context, write func(string)) {
		write(sse(delta(`"content":"hi"`)))
		<-ctx.Done()
		close(gone)
	}))})
	for range c.Stream(t.Context(), request()) {
		break
	}
	<-gone
}

// A connection is used again for the next turn.
func TestReuse(t *testing.T) {
	var connections atomic.Int32
	srv := httptest.NewUnstartedServer(say("text/event-stream", sse(delta(`"content":"hi"`), finish(`"stop"`), done)))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	c := newClientTo(t, Options{BaseURL: srv.URL})
	for range 5 {
		if a := collect(t, c, t.Context(), request()); a.err != nil {
			t.Fatal(a.err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// A server that does not close after [DONE] does not hold us up.
func TestOpenAfterDone(t *testing.T) {
	c := newClientTo(t, Options{BaseURL: serve(t, streaming(func(ctx context.Context, write func(string)) {
		write(sse(delta(`"content":"hi"`), finish(`"stop"`), done))
		<-ctx.Done()
	}))})
	start := time.Now()
	if a := collect(t, c, t.Context(), request()); a.err != nil || a.text != "hi" {
		t.Errorf("%+v", a)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %s", d)
	}
}

// C103.
func TestTransports(t *testing.T) {
	body := sse(delta(`"content":"hi"`), finish(`"stop"`), done)
	for name, h := range map[string]http.HandlerFunc{
		"gzip": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for event := range strings.SplitAfterSeq(body, "\n\n") {
				_, _ = io.WriteString(z, event)
				_ = z.Flush()
				_ = http.NewResponseController(w).Flush()
			}
			_ = z.Close()
		},
		"tiny chunks": streaming(func(_ context.Context, write func(string)) {
			for i := range len(body) {
				write(body[i : i+1])
			}
		}),
		"Connection: close": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			_, _ = io.WriteString(w, body)
		},
		"no content type": func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, body)
		},
		"redirect on the same host": func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/v1") {
				http.Redirect(w, r, "/v2/chat/completions", http.StatusTemporaryRedirect)
				return
			}
			_, _ = io.WriteString(w, body)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClientTo(t, Options{BaseURL: serve(t, h)})
			if a := collect(t, c, t.Context(), request()); a.err != nil || a.text != "hi" {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestHTTP2(t *testing.T) {
	var breaks atomic.Bool
	srv := httptest.NewUnstartedServer(streaming(func(_ context.Context, write func(string)) {
		write(sse(delta(`"content":"hi"`)))
		if breaks.Load() {
			panic(http.ErrAbortHandler)
		}
		write(sse(finish(`"stop"`), done))
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	c := newClientTo(t, Options{BaseURL: srv.URL, CAFile: certificateFile(t, srv)})
	if a := collect(t, c, t.Context(), request()); a.err != nil || a.text != "hi" {
		t.Errorf("%+v", a)
	}
	breaks.Store(true)
	check(t, collect(t, c, t.Context(), request()), want{text: "hi", class: llm.Network, retry: true})
}

// C103: neither key nor prompt go to another host.
func TestRedirectElsewhere(t *testing.T) {
	var elsewhere atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := newClientTo(t, Options{APIKey: testKey, BaseURL: serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other+"/v1/chat/completions", status)
		})})
		a := collect(t, c, t.Context(), request())
		checkError(t, a.err, want{class: llm.BadRequest, says: "sends on to " + other})
	}
	if n := elsewhere.Load(); n > 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

func certificateFile(t *testing.T, srv *httptest.Server) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(name, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// C104.
func TestCertificates(t *testing.T) {
	srv := httptest.NewUnstartedServer(say("text/event-stream", sse(delta(`"content":"hi"`), finish(`"stop"`), done)))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail
	srv.StartTLS()
	defer srv.Close()
	a := collect(t, newClientTo(t, Options{BaseURL: srv.URL}), t.Context(), request())
	checkError(t, a.err, want{class: llm.Network, says: "SSL_CERT_FILE, or caFile"})

	a = collect(t, newClientTo(t, Options{BaseURL: srv.URL, CAFile: certificateFile(t, srv)}), t.Context(), request())
	if a.err != nil || a.text != "hi" {
		t.Errorf("with its certificate: %+v", a)
	}

	a = collect(t, newClientTo(t, Options{BaseURL: strings.Replace(serve(t, http.NotFound), "http:", "https:", 1)}), t.Context(), request())
	checkError(t, a.err, want{class: llm.Network, says: "write baseURL with http://", retry: false})

	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{empty, empty + ".missing"} {
		if _, err := New(Options{BaseURL: srv.URL, CAFile: name}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// C104: a proxy that asks for a login, for plain and for tunnelled requests.
func TestProxy(t *testing.T) {
	proxy, err := url.Parse(serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusProxyAuthRequired) }))
	if err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{"http://model.example/v1", "https://model.example/v1"} {
		c := newClientTo(t, Options{BaseURL: base, Proxy: http.ProxyURL(proxy)})
		checkError(t, collect(t, c, t.Context(), request()).err, want{class: llm.Network, says: "the proxy asks for a login"})
	}
}

// C104: HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE, which a process reads once:
// the test runs itself anew.
func TestProxyAndCertificateOfTheEnvironment(t *testing.T) {
	if base := os.Getenv("TEST_BASE_URL"); base != "" {
		a := collect(t, newClientTo(t, Options{BaseURL: base}), t.Context(), request())
		fmt.Printf("said %q %v\n", a.text, a.err)
		return
	}
	var proxied atomic.Int32
	answer := say("text/event-stream", sse(delta(`"content":"hi"`), finish(`"stop"`), done))
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		proxied.Add(1)
		answer(w, r)
	})
	secure := httptest.NewTLSServer(answer)
	defer secure.Close()
	for _, c := range []struct {
		base, noProxy string
		proxied       int32
	}{
		{"http://model.example/v1", "", 1},
		{strings.Replace(serve(t, answer), "127.0.0.1", "localhost", 1), "", 0},
		{secure.URL, "", 0},
		{serve(t, answer), "127.0.0.1", 0},
	} {
		proxied.Store(0)
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyAndCertificateOfTheEnvironment$")
		child.Env = append(os.Environ(), "TEST_BASE_URL="+c.base, "HTTP_PROXY="+proxy, "HTTPS_PROXY="+proxy, "http_proxy=", "https_proxy=",
			"NO_PROXY="+c.noProxy, "no_proxy=", "SSL_CERT_FILE="+certificateFile(t, secure))
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), `said "hi" <nil>`) || proxied.Load() != c.proxied {
			t.Errorf("%s: %s, %v, %d through the proxy", c.base, out, err, proxied.Load())
		}
	}
}

func TestAnthropicHeaders(t *testing.T) {
	var got http.Header
	c := newClientTo(t, Options{Provider: "anthropic", APIKey: testKey, BaseURL: serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		_, _ = io.WriteString(w, `{"data":[{"id":"claude"}]}`)
	})})
	if _, err := c.Models(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got.Get("X-Api-Key") != testKey || got.Get("Anthropic-Version") != "2023-06-01" || got.Get("Authorization") != "Bearer "+testKey {
		t.Errorf("%v", got)
	}
}

// A server cannot fill our memory.
func TestEndlessAnswer(t *testing.T) {
	c := newClientTo(t, Options{BaseURL: "http://localhost:1"})
	s := newStream(exchangeOf(t, c, strings.NewReader(sse(delta(`"content":"x"`)))), request(), quirksOf("custom"), func(llm.Delta, error) bool { return true })
	s.answer.text.WriteString(strings.Repeat("x", maxAnswer))
	checkError(t, s.run(), want{class: llm.Internal, says: "larger than 64 MiB"})
}

func TestNoConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	c := newClientTo(t, Options{BaseURL: addr})
	checkError(t, collect(t, c, t.Context(), request()).err, want{class: llm.Network, says: "nothing answers at " + addr})
}

// A connection that breaks: before, in and after the answer.
func TestReset(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want want
	}{
		"at once":       {"", want{class: llm.Network, retry: true}},
		"in the middle": {sse(delta(`"content":"hi"`)), want{text: "hi", class: llm.Network, retry: true}},
		"in a call":     {sse(opens(0, "a", "list", `{"a`)), want{class: llm.Network, retry: true}},
		"at the end":    {sse(delta(`"content":"hi"`), finish(`"stop"`)), want{text: "hi"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newClientTo(t, Options{BaseURL: serve(t, streaming(func(_ context.Context, write func(string)) {
				write(c.body)
				panic(http.ErrAbortHandler)
			}))})
			check(t, collect(t, m, t.Context(), request()), c.want)
		})
	}
}

// Nothing of the user's OpenAI account goes to another server.
func TestEnvironmentStaysHere(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET"} {
		t.Setenv(name, "leak-"+name)
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/leak")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: leak-header")
	var got http.Header
	var query url.Values
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got, query = r.Header, r.URL.Query()
		_, _ = io.WriteString(w, sse(finish(`"stop"`), done))
	})
	c := newClientTo(t, Options{Provider: "custom", BaseURL: url + "/v1?api-version=1", Headers: map[string]string{"X-Mine": "yes"}})
	if a := collect(t, c, t.Context(), request()); a.err != nil {
		t.Fatal(a.err)
	}
	if s := fmt.Sprint(got); strings.Contains(s, "leak") || strings.Contains(strings.ToLower(s), "stainless") || got.Get("Authorization") != "" {
		t.Errorf("headers %v", got)
	}
	if got.Get("X-Mine") != "yes" || got.Get("User-Agent") != "agentls" || query.Get("api-version") != "1" {
		t.Errorf("headers %v, query %v", got, query)
	}
}

func TestModels(t *testing.T) {
	for _, c := range []struct {
		body string
		want string
	}{
		{`{"object":"list","data":[{"id":"gpt-5","object":"model"},{"id":"o","object":"model"}]}`, "[{gpt-5 0} {o 0}]"},
		{`{"data":[{"id":"a","context_length":65536}]}`, "[{a 65536}]"},
		{`{"data":[{"id":"a","max_model_len":4096}]}`, "[{a 4096}]"},
		{`{"data":[{"id":"a","context_window":131072}]}`, "[{a 131072}]"},
		{`{"data":[{"id":"a","max_context_length":8192,"loaded_context_length":4096}]}`, "[{a 4096}]"},
		{`{"models":[{"name":"x"}],"data":[{"id":"a","meta":{"n_ctx":2048,"n_ctx_train":32768}}]}`, "[{a 2048}]"},
		{`[{"id":"a","context_length":1}]`, "[{a 1}]"},
		{`{"data":[]}`, "[]"},
	} {
		var path string
		m := newClientTo(t, Options{BaseURL: serve(t, func(w http.ResponseWriter, r *http.Request) {
			path = r.Method + " " + r.URL.Path
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, c.body)
		})})
		got, err := m.Models(t.Context())
		if err != nil || fmt.Sprint(got) != c.want || path != "GET /v1/models" {
			t.Errorf("%s: %v, %v by %s", c.body, got, err, path)
		}
	}
	for body, says := range map[string]string{"<html></html>": "check baseURL", `{"ok":true}`: "check baseURL"} {
		_, err := newClientTo(t, Options{BaseURL: serve(t, say("text/html", body))}).Models(t.Context())
		checkError(t, err, want{class: llm.BadRequest, says: says})
	}
	_, err := newClientTo(t, Options{BaseURL: serve(t, fails(401, nil, "{}"))}).Models(t.Context())
	checkError(t, err, want{class: llm.Auth})
}
