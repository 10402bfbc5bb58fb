package lspserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agent/llm/scripted"
	"github.com/agentls/agentls/lspserver/lsptest"
)

// asServer has the test binary be the server, for tests that need a process.
const asServer = "AGENTLS_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		in, out, err := Stdio()
		if err != nil {
			slog.Error("no standard streams", "err", err)
			os.Exit(1)
		}
		os.Exit(Serve(context.Background(), in, out, Options{Version: "test", Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}))
	}
	goleak.VerifyTestMain(m)
}

// errStatus is an exit status other than 0.
var errStatus = errors.New("the server left with a status other than 0")

// environment is that of a server that knows one scripted model.
func environment(t testing.TB, model *scripted.Server, extra map[string]string) func(string) (string, bool) {
	env := map[string]string{
		"AGENTLS_STATE_DIR": t.TempDir(),
		"XDG_CONFIG_HOME":   t.TempDir(),
		"HOME":              t.TempDir(),
		"OPENAI_API_KEY":    "sk-canary-4711",
		"OPENAI_MODEL":      "scripted",
	}
	if model != nil {
		env["OPENAI_BASE_URL"] = model.URL()
	}
	for k, v := range extra {
		env[k] = v
	}
	return func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
}

// inProcess is a server in the test's own process.
func inProcess(t testing.TB, env func(string) (string, bool)) lsptest.Server {
	return func(ctx context.Context, in io.Reader, out io.Writer) error {
		log := slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelInfo}))
		if Serve(ctx, in, out, Options{Version: "test", Log: log, Env: env}) != 0 {
			return errStatus
		}
		return nil
	}
}

// testWriter logs to the test.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Logf("server: %s", b)
	return len(b), nil
}

func startModel(t testing.TB, script string) *scripted.Server {
	t.Helper()
	parsed, err := scripted.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	srv, err := scripted.Start(parsed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return srv
}
