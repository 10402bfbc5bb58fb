package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agent/llm"
)

// endpointText is what matters of an endpoint.
func endpointText(e Endpoint, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return strings.Join(strings.Fields(fmt.Sprint(e.Provider, " ", e.BaseURL, " ", e.Model, " key=", e.APIKey.Reveal())), " ")
}

func TestEndpoint(t *testing.T) {
	all := map[string]string{}
	for _, p := range Presets {
		if !p.Keyless {
			all[p.KeyEnv[0]] = "key-" + p.Name
		}
	}
	for _, c := range []struct {
		name string
		s    sources
		want string // a part of it where it is an error
	}{
		{"OpenAI before the others", sources{env: all}, "openai https://api.openai.com/v1 gpt-5 key=key-openai"},
		{"the one that is set", sources{env: map[string]string{"DASHSCOPE_API_KEY": "k"}}, "aliyun https://dashscope.aliyuncs.com/compatible-mode/v1 qwen3-coder-plus key=k"},
		{"an empty variable is not set", sources{env: map[string]string{"OPENAI_API_KEY": " ", "GROQ_API_KEY": " k\n"}}, "groq https://api.groq.com/openai/v1 openai/gpt-oss-120b key=k"},
		{"all of a provider's variables", sources{env: map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://h:1", "OPENAI_MODEL": "m"}}, "openai http://h:1/v1 m key=k"},
		{"a base URL without a key", sources{env: map[string]string{"OPENAI_BASE_URL": "http://h:1/v1", "OPENAI_MODEL": "m"}}, "openai http://h:1/v1 m key="},
		{"configured provider", sources{user: `{"provider":"deepseek"}`, env: all}, "deepseek https://api.deepseek.com/v1 deepseek-chat key=key-deepseek"},
		{"Anthropic", sources{env: map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "https://api.anthropic.com"}}, "anthropic https://api.anthropic.com/v1 claude-sonnet-4-5 key=k"},
		{"Ollama by its host", sources{env: map[string]string{"OLLAMA_HOST": "0.0.0.0", "OLLAMA_MODEL": "m"}}, "ollama http://127.0.0.1:11434/v1 m key="},
		{"Ollama by its host with a port", sources{env: map[string]string{"OLLAMA_HOST": "http://box:8000/", "OLLAMA_MODEL": "m"}}, "ollama http://box:8000/v1 m key="},
		{"no key", sources{user: `{"provider":"deepseek"}`}, "deepseek needs a key: set DEEPSEEK_API_KEY"},
		{"over all", sources{user: `{"provider":"deepseek","model":"x"}`, client: []string{`{"model":"y"}`}, env: map[string]string{"AGENTLS_API_KEY": "k", "AGENTLS_BASE_URL": "http://h:1", "AGENTLS_MODEL": "z", "DEEPSEEK_API_KEY": "d"}}, "deepseek http://h:1/v1 z key=k"},
		{"over all, alone", sources{env: map[string]string{"AGENTLS_API_KEY": "k", "AGENTLS_BASE_URL": "http://h:1", "AGENTLS_MODEL": "z"}}, "custom http://h:1/v1 z key=k"},
		{"a key alone", sources{env: map[string]string{"AGENTLS_API_KEY": "k"}}, "openai https://api.openai.com/v1 gpt-5 key=k"},
		{"a model alone, and a provider named later", sources{user: `{"model":"x"}`, env: map[string]string{"AGENTLS_PROVIDER": "deepseek", "DEEPSEEK_API_KEY": "d"}}, "deepseek https://api.deepseek.com/v1 x key=d"},
		{"a base URL alone, and a provider named later", sources{user: `{"model":"x","baseURL":"http://h:1"}`, env: map[string]string{"AGENTLS_PROVIDER": "deepseek", "DEEPSEEK_API_KEY": "d"}}, "deepseek https://api.deepseek.com/v1 deepseek-chat key=d"},
		{"key variable", sources{user: `{"baseURL":"http://h:1","apiKeyEnv":"MY_KEY","model":"m"}`, env: map[string]string{"MY_KEY": "k"}}, "custom http://h:1/v1 m key=k"},
		{"key variable that is not set", sources{user: `{"baseURL":"http://h:1","apiKeyEnv":"MY_KEY","model":"m"}`}, "apiKeyEnv names MY_KEY, which is not set"},
		{"custom without a base URL", sources{user: `{"provider":"custom","model":"m"}`}, "needs a base URL"},
		{"key with a line break", sources{env: map[string]string{"OPENAI_API_KEY": "a\nb"}}, "the key in OPENAI_API_KEY has a blank"},

		{"a base URL of nobody's gets nobody's key", sources{user: `{"baseURL":"http://h:1","model":"m"}`, env: all}, "custom http://h:1/v1 m key="},
		{"a base URL of a provider's is that provider", sources{user: `{"baseURL":"https://api.deepseek.com"}`, env: all}, "deepseek https://api.deepseek.com/v1 deepseek-chat key=key-deepseek"},
		{"a local server by its port", sources{user: `{"baseURL":"localhost:1234","model":"m"}`, env: all}, "lmstudio http://localhost:1234/v1 m key="},
		{"a provider at its proxy", sources{user: `{"provider":"openai","baseURL":"http://proxy:1"}`, env: all}, "openai http://proxy:1/v1 gpt-5 key=key-openai"},
		{"a provider at another's host", sources{user: `{"provider":"openai","baseURL":"https://api.deepseek.com"}`, env: all}, "set provider to deepseek"},
		{"a provider's variable at another's host", sources{user: `{"baseURL":"https://api.deepseek.com","apiKeyEnv":"OPENAI_API_KEY"}`, env: all}, "it is not sent there"},
		{"stronger base URL of another provider", sources{user: `{"provider":"openai"}`, env: map[string]string{"OPENAI_API_KEY": "o", "DEEPSEEK_API_KEY": "d", "AGENTLS_BASE_URL": "https://api.deepseek.com"}}, "deepseek https://api.deepseek.com/v1 deepseek-chat key=d"},
		{"stronger base URL leaves a key variable behind", sources{user: `{"provider":"custom","baseURL":"http://a","apiKeyEnv":"MY_KEY","model":"m"}`, env: map[string]string{"MY_KEY": "k", "AGENTLS_BASE_URL": "http://b"}}, "custom http://b/v1 m key="},
		{"stronger provider leaves all behind", sources{user: `{"provider":"deepseek","baseURL":"http://a","apiKeyEnv":"MY_KEY","model":"x","contextWindow":5}`, env: map[string]string{"MY_KEY": "k", "OPENAI_API_KEY": "o", "AGENTLS_PROVIDER": "openai"}}, "openai https://api.openai.com/v1 gpt-5 key=o"},
		{"stronger provider, file without one", sources{user: `{"baseURL":"http://a","model":"x"}`, env: map[string]string{"OPENAI_API_KEY": "o"}, client: []string{`{"provider":"openai"}`}}, "openai https://api.openai.com/v1 gpt-5 key=o"},
		{"the same provider again", sources{user: `{"provider":"openai","model":"x"}`, env: map[string]string{"OPENAI_API_KEY": "o"}, client: []string{`{"provider":"openai"}`}}, "openai https://api.openai.com/v1 x key=o"},
		{"client's provider, variable's model", sources{client: []string{`{"provider":"openai"}`}, env: map[string]string{"OPENAI_API_KEY": "o", "OPENAI_MODEL": "m", "DEEPSEEK_API_KEY": "d"}}, "openai https://api.openai.com/v1 m key=o"},
		{"a workspace's model", sources{workspace: `{"model":"x"}`, env: map[string]string{"OPENAI_API_KEY": "o"}}, "openai https://api.openai.com/v1 x key=o"},
		{"empty options are none", sources{client: []string{`{"provider":"","model":"","baseURL":"","apiKeyEnv":"","contextWindow":0}`}, env: map[string]string{"OPENAI_API_KEY": "o"}}, "openai https://api.openai.com/v1 gpt-5 key=o"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, problems := load(t, c.s)
			if len(problems) > 0 {
				t.Errorf("problems %q", problems)
			}
			got := endpointText(r.Endpoint(t.Context(), ""))
			if got != c.want && !(strings.HasPrefix(got, "error: ") && strings.Contains(got, c.want)) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestEndpointDetails(t *testing.T) {
	r, _ := load(t, sources{user: `{"provider":"openai","contextWindow":1000,"caFile":"~/ca.pem","headers":{"X-Team":"t"},"timeouts":{"idleSeconds":5}}`,
		env: map[string]string{"OPENAI_API_KEY": "k"}})
	e, err := r.Endpoint(t.Context(), "mine")
	if err != nil {
		t.Fatal(err)
	}
	if e.Model != "mine" || e.KeyEnv != "OPENAI_API_KEY" || e.ModelEnv != "OPENAI_MODEL" || e.ContextWindow != 1000 ||
		!strings.HasSuffix(e.CAFile, "/ca.pem") || strings.HasPrefix(e.CAFile, "~") || e.Headers["X-Team"] != "t" || e.IdleTimeout.Seconds() != 5 {
		t.Errorf("%+v", e)
	}
	if c := r.Configured(); c.Model != "gpt-5" || c.Provider != "openai" {
		t.Errorf("%+v", c)
	}
}

func TestBadVariables(t *testing.T) {
	r, problems := load(t, sources{env: map[string]string{"AGENTLS_PROVIDER": "opnai", "AGENTLS_BASE_URL": "ftp://h", "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "::1"}})
	if len(problems) != 3 || !strings.HasPrefix(problems[0], `AGENTLS_PROVIDER: "opnai" is none of`) {
		t.Errorf("%q", problems)
	}
	if got := endpointText(r.Endpoint(t.Context(), "")); got != "openai https://api.openai.com/v1 gpt-5 key=k" {
		t.Errorf("got %s", got)
	}
}

// A key goes to its provider and to nobody else, whatever is set where.
func TestKeysStayApart(t *testing.T) {
	bases := []string{"", "", "", "http://nobody.example", "http://127.0.0.1:8080", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "https://eu.api.openai.com/v1"}
	names := []string{"", "", "", ""}
	owner := map[string]string{"own": "", "over": ""}
	for _, p := range Presets {
		names = append(names, p.Name)
		if len(p.KeyEnv) > 0 {
			owner["key-"+p.Name] = p.Name
		}
		bases = append(bases, p.BaseURL)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	config := func() string {
		m := map[string]any{"provider": pick(names), "baseURL": pick(bases), "apiKeyEnv": pick([]string{"", "", "OWN_KEY", "OPENAI_API_KEY", "XAI_API_KEY"})}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for range 3000 {
		s := sources{user: config(), client: []string{config()}, env: map[string]string{"OWN_KEY": "own", "AGENTLS_MODEL": "m"}}
		for _, p := range Presets {
			if len(p.KeyEnv) > 0 && rng.IntN(2) == 0 {
				s.env[p.KeyEnv[0]] = "key-" + p.Name
			}
			if len(p.BaseURLEnv) > 0 && rng.IntN(10) == 0 {
				s.env[p.BaseURLEnv[0]] = pick(bases)
			}
		}
		if rng.IntN(3) == 0 {
			s.env["AGENTLS_BASE_URL"] = pick(bases)
		}
		if rng.IntN(3) == 0 {
			s.env["AGENTLS_PROVIDER"] = pick(names)
		}
		r := loadFast(s)
		e, err := r.configured("")
		if err != nil || e.APIKey.IsZero() {
			continue
		}
		of, known := owner[e.APIKey.Reveal()]
		host := providerOfHost(e.BaseURL)
		if !known || of != "" && host != "" && host != of {
			t.Fatalf("the key %q goes to %s, a host of %q: %+v", e.APIKey.Reveal(), e.BaseURL, host, s)
		}
		if of != "" && host == "" && e.Provider != of && r.APIKeyEnv == "" {
			t.Fatalf("the key %q goes to %s of nobody's, unasked: %+v", e.APIKey.Reveal(), e.BaseURL, s)
		}
	}
}

// loadFast is load without files.
func loadFast(s sources) Resolved {
	r, _ := Load(Inputs{Env: func(name string) (string, bool) { v, ok := s.env[name]; return v, ok },
		Client: []ClientOptions{{"user", json.RawMessage(s.user)}, {"client", json.RawMessage(s.client[0])}}})
	return r
}

func TestNoModel(t *testing.T) {
	withLocalServers(t, nil)
	r, _ := load(t, sources{})
	_, err := r.Endpoint(t.Context(), "")
	var e *llm.Error
	if !errors.As(err, &e) || e.Class != llm.NoModel || e.Retryable {
		t.Fatalf("%v", err)
	}
	first := -1
	for _, p := range Presets {
		for _, k := range p.KeyEnv {
			if i := strings.Index(e.Message, k); i >= 0 && (first < 0 || i < first) {
				first = i
			}
		}
	}
	if first < 0 || !strings.HasPrefix(e.Message[first:], "OPENAI_API_KEY") || !strings.Contains(e.Message, "DEEPSEEK_API_KEY") {
		t.Errorf("%s", e.Message)
	}
	if c := r.Configured(); c.Provider != "" || c.Model != "" {
		t.Errorf("%+v", c)
	}
}

// withLocalServers puts test servers, by provider, in the place of the usual
// ports; a provider without one has nothing there.
func withLocalServers(t *testing.T, servers map[string]http.HandlerFunc) {
	t.Helper()
	old := Presets
	t.Cleanup(func() { Presets = old })
	Presets = append([]Preset{}, old...)
	for i, p := range Presets {
		if !p.Local {
			continue
		}
		srv := httptest.NewServer(servers[p.Name])
		if servers[p.Name] == nil {
			srv.Close()
		} else {
			t.Cleanup(srv.Close)
		}
		Presets[i].BaseURL = srv.URL + "/v1"
	}
}

func lists(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(body))
	}
}

func TestLocalServer(t *testing.T) {
	for _, c := range []struct {
		name    string
		servers map[string]http.HandlerFunc
		want    string
		window  int64
	}{
		{"Ollama", map[string]http.HandlerFunc{"ollama": lists(`{"data":[{"id":"qwen"},{"id":"b"}]}`), "llamacpp": lists(`{"data":[{"id":"c"}]}`)}, "ollama qwen", 0},
		{"llama.cpp with its window", map[string]http.HandlerFunc{"llamacpp": lists(`{"data":[{"id":"c","meta":{"n_ctx":4096}}]}`)}, "llamacpp c", 4096},
		{"something else on the port", map[string]http.HandlerFunc{"llamacpp": lists(`<html>my blog</html>`), "lmstudio": lists(`{"data":[{"id":"d"}]}`)}, "lmstudio d", 0},
		{"one without a model", map[string]http.HandlerFunc{"ollama": lists(`{"data":[]}`), "lmstudio": http.NotFound}, "", 0},
		{"one that is silent", map[string]http.HandlerFunc{"ollama": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "lmstudio": lists(`{"data":[{"id":"d"}]}`)}, "lmstudio d", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			withLocalServers(t, c.servers)
			r, _ := load(t, sources{})
			e, err := r.Endpoint(t.Context(), "")
			if got := strings.TrimSpace(e.Provider + " " + e.Model); got != c.want || (err != nil) != (c.want == "") || e.ContextWindow != c.window {
				t.Errorf("got %s, %d, %v", got, e.ContextWindow, err)
			}
		})
	}
}

// A server that was configured without a model tells which it has; the key
// does not follow a redirect.
func TestFirstModel(t *testing.T) {
	var auth []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth = append(auth, r.Header.Get("Authorization")+r.Header.Get("X-Team"))
		lists(`{"data":[{"id":"only","context_length":7}]}`)(w, r)
	}))
	defer srv.Close()
	r, _ := load(t, sources{user: `{"baseURL":"` + srv.URL + `","headers":{"X-Team":"t"}}`, env: map[string]string{"AGENTLS_API_KEY": "k"}})
	e, err := r.Endpoint(t.Context(), "")
	if err != nil || e.Model != "only" || e.ContextWindow != 7 {
		t.Errorf("%+v, %v", e, err)
	}
	redirect := httptest.NewServer(http.RedirectHandler(srv.URL+"/v1/models", http.StatusFound))
	defer redirect.Close()
	r, _ = load(t, sources{user: `{"provider":"vllm","baseURL":"` + redirect.URL + `"}`, env: map[string]string{"AGENTLS_API_KEY": "k"}})
	if _, err = r.Endpoint(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "status 302") || !strings.Contains(err.Error(), "VLLM_MODEL") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff([]string{"Bearer kt"}, auth); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

const secret = "sk-very-secret-1234"

func TestSecretDoesNotPrint(t *testing.T) {
	e := Endpoint{APIKey: NewSecret(secret), Headers: Headers{"Authorization": secret}}
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "endpoint", e, "key", e.APIKey, "headers", e.Headers)
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "endpoint", e, "key", &e.APIKey, "headers", e.Headers)
	encoded, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	all := logged.String() + string(encoded)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		all += fmt.Sprintf(verb+verb+verb+verb, e, &e, e.APIKey, e.Headers)
	}
	if strings.Contains(all, secret) || strings.Contains(all, fmt.Sprintf("%x", secret)) || !strings.Contains(all, masked) {
		t.Errorf("%s", all)
	}
	if e.APIKey.Reveal() != secret || NewSecret("").String() != "" || !NewSecret("").IsZero() {
		t.Error("the key itself is gone")
	}
}

func TestExplain(t *testing.T) {
	r, _ := load(t, sources{
		user: "{\n\"provider\": \"openai\",\n\"baseURL\": \"http://me:" + secret + "@h:1/v1\",\n\"headers\": {\"X-Key\": \"" + secret + "\"},\n" +
			"\"commands\": {\"env\": {\"API_TOKEN\": \"" + secret + "\", \"LANG\": \"C\"}},\n\"mcpServers\": {\"m\": {\"command\": \"x\", \"env\": {\"K\": \"" + secret + "\"}}},\n\"hooks\": {\"after\": [1]}}",
		workspace: `{"permissions": {"deny": ["grep"]}}`,
		env:       map[string]string{"OPENAI_API_KEY": secret, "AGENTLS_MODEL": "m"},
	})
	var b strings.Builder
	if err := r.Explain(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if strings.Contains(got, secret) {
		t.Errorf("the secret is in\n%s", got)
	}
	for _, want := range []string{
		`provider = "openai" # USER:2`, `model = "m" # AGENTLS_MODEL`, `baseURL = "http://me:xxxxx@h:1/v1" # USER:3`, `key = [secret] # OPENAI_API_KEY`,
		`headers.X-Key = [secret] # USER:4`, `commands.env.API_TOKEN = [secret] # USER:5`, `commands.env.LANG = "C" # USER:5`, `permissions.deny[0] = "grep" # WORKSPACE:1`,
		`mcpServers.m = {"command":"x","env":{"K":"[secret]"}} # USER:6`, `hooks.after = [1] # USER:7`, `budget.maxTurns = 100 # built in`, `instructions = ["AGENTS.md"] # built in`,
	} {
		found := false
		for line := range strings.Lines(got) {
			found = found || strings.Join(strings.Fields(line), " ") == want
		}
		if !found {
			t.Errorf("no line %s in\n%s", want, got)
		}
	}
}

func TestExplainNothing(t *testing.T) {
	r, _ := load(t, sources{})
	var b strings.Builder
	if err := r.Explain(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "a local server is looked for") {
		t.Errorf("%s", b.String())
	}
}

func TestKeyVariables(t *testing.T) {
	r, _ := load(t, sources{user: `{"baseURL":"http://h","apiKeyEnv":"MY_KEY"}`})
	got := strings.Join(r.KeyVariables(), " ")
	for _, want := range []string{"AGENTLS_API_KEY", "OPENAI_API_KEY", "DASHSCOPE_API_KEY", "MY_KEY"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}
