package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sources are the inputs of a test, by content.
type sources struct {
	user, workspace string
	untrusted       bool
	client          []string
	env             map[string]string
}

// load puts the files of a test where Load finds them. Paths in problems and
// origins read USER and WORKSPACE.
func load(t testing.TB, s sources) (Resolved, []string) {
	t.Helper()
	home, folder := t.TempDir(), t.TempDir()
	in := Inputs{Workspace: []string{folder}, Trusted: !s.untrusted, Env: func(name string) (string, bool) {
		if name == "HOME" {
			return home, true
		}
		v, ok := s.env[name]
		return v, ok
	}}
	userFile := UserFile(in.Env)
	write(t, userFile, s.user)
	workspaceFile := filepath.Join(folder, WorkspaceFile)
	write(t, workspaceFile, s.workspace)
	for _, c := range s.client {
		in.Client = append(in.Client, ClientOptions{Name: "client", JSON: json.RawMessage(c)})
	}
	r, found := Load(in)
	short := strings.NewReplacer(userFile, "USER", workspaceFile, "WORKSPACE", home, "HOME")
	for k, v := range r.origins {
		r.origins[k] = short.Replace(v)
	}
	var problems []string
	for _, p := range found {
		problems = append(problems, short.Replace(p.String()))
	}
	return r, problems
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if text == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNothing(t *testing.T) {
	r, problems := load(t, sources{})
	if len(problems) > 0 {
		t.Errorf("problems %q", problems)
	}
	if diff := cmp.Diff(Defaults(), r.Config); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if b := r.Budget; b.MaxTurns != 100 || b.MaxTokens != 0 || r.Timeouts.Idle().Seconds() != 120 || r.Timeouts.Tool().Seconds() != 60 {
		t.Errorf("defaults %+v", r.Config)
	}
}

// Later sources win, value by value; the origin of each is kept.
func TestSources(t *testing.T) {
	r, problems := load(t, sources{
		user: "{\n  \"provider\": \"deepseek\",\n  \"model\": \"user\",\n  \"budget\": {\"maxTurns\": 1, \"maxCost\": 1.5},\n" +
			"  \"timeouts\": {\"idleSeconds\": 1, \"toolSeconds\": 1},\n  \"instructions\": [\"a\", \"b\"],\n  \"commands\": {\"env\": {\"A\": \"1\", \"B\": \"1\"}}\n}",
		workspace: `{"model": "workspace", "budget": {"maxTurns": 2}, "commands": {"env": {"B": "2"}}, "mcpServers": {"x": {"command": "x", "args": ["-y"]}}}`,
		env:       map[string]string{"DEEPSEEK_MODEL": "env", "DEEPSEEK_API_KEY": "k", "OPENAI_MODEL": "not mine"},
		client:    []string{`{"budget": {"maxTurns": 3}, "instructions": [], "trusted": true}`, `{"model": "client"}`},
	})
	if len(problems) > 0 {
		t.Errorf("problems %q", problems)
	}
	if r.Model != "client" || r.Budget.MaxTurns != 3 || r.Budget.MaxCost != 1.5 || len(r.Instructions) != 0 || r.Timeouts.IdleSeconds != 1 {
		t.Errorf("got %+v", r.Config)
	}
	if diff := cmp.Diff(map[string]string{"A": "1", "B": "2"}, r.Commands.Env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]MCPServer{"x": {Command: "x", Args: []string{"-y"}}}, r.MCPServers); diff != "" {
		t.Errorf("mcpServers (-want +got):\n%s", diff)
	}
	for key, want := range map[string]string{
		"provider": "USER:2", "model": "client", "budget.maxTurns": "client", "budget.maxCost": "USER:4", "budget.maxTokens": "built in",
		"commands.env.A": "USER:7", "commands.env.B": "WORKSPACE:1", "instructions": "client", "baseURL": "built in",
	} {
		if got := r.Origin(key); got != want {
			t.Errorf("%s comes from %s, want %s", key, got, want)
		}
	}
}

func TestModelSources(t *testing.T) {
	s := sources{user: `{"provider":"openai","model":"user"}`}
	for _, step := range []struct {
		add  func()
		want string
	}{
		{func() {}, "user"},
		{func() { s.workspace = `{"model":"workspace"}` }, "workspace"},
		{func() { s.env = map[string]string{"OPENAI_MODEL": "env"} }, "env"},
		{func() { s.client = []string{`{"model":"client"}`} }, "client"},
		{func() { s.env["AGENTLS_MODEL"] = "over all" }, "over all"},
	} {
		step.add()
		if r, problems := load(t, s); r.Model != step.want || len(problems) > 0 {
			t.Errorf("model %s, want %s; problems %q", r.Model, step.want, problems)
		}
	}
}

// What cannot be taken is reported with its place, and costs nothing else.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name string
		user string
		want []string
	}{
		{"unknown key", "{\n  \"modle\": \"x\"\n}", []string{`USER:2:3: unknown key "modle", did you mean "model"?`}},
		{"unknown key deep down", "{\"budget\": {\"maxTurn\": 1}}", []string{`USER:1:13: unknown key "maxTurn", did you mean "maxTurns"?`}},
		{"unknown key without a guess", `{"colour": "x"}`, []string{`USER:1:2: unknown key "colour"`}},
		{"unknown key of a server", `{"mcpServers": {"a": {"cmd": "x"}}}`, []string{`USER:1:23: unknown key "cmd"`}},
		{"string for a number", "{\n\"budget\": {\n\t\"maxTurns\": \"7\"}}", []string{"USER:3:14: budget.maxTurns has to be a number, not a string"}},
		{"number for a string", `{"model": 7}`, []string{"USER:1:11: model has to be a string, not a number"}},
		{"list for an object", `{"budget": []}`, []string{"USER:1:12: budget has to be an object, not a list"}},
		{"string for a list", `{"instructions": "a"}`, []string{"USER:1:18: instructions has to be a list, not a string"}},
		{"number in a list", `{"skills": ["a", 1]}`, []string{"USER:1:18: skills[1] has to be a string, not a number"}},
		{"string for a truth", `{"commands": {"network": "yes"}}`, []string{"USER:1:26: commands.network has to be true or false, not a string"}},
		{"number in a map", `{"commands": {"env": {"A": 1}}}`, []string{"USER:1:28: commands.env.A has to be a string, not a number"}},
		{"a fraction", `{"budget": {"maxTurns": 1.5}}`, []string{"USER:1:25: budget.maxTurns has to be a whole number, not 1.5"}},
		{"too large", `{"budget": {"maxCost": 1e999}}`, []string{"USER:1:24: budget.maxCost: 1e999 is too large"}},
		{"negative", `{"budget": {"maxTurns": -1}}`, []string{"USER:1:25: budget.maxTurns: must not be negative"}},
		{"unknown provider", `{"provider": "opnai"}`, []string{`USER:1:14: provider: "opnai" is none of openai, aliyun, deepseek, moonshot, zhipu, openrouter, groq, xai, anthropic, ollama, lmstudio, llamacpp, vllm, custom`}},
		{"unknown default", `{"permissions": {"default": "yes"}}`, []string{`USER:1:29: permissions.default: "yes" is none of auto, ask, deny`}},
		{"base URL", `{"baseURL": "ftp://h"}`, []string{`USER:1:13: baseURL: the base URL "ftp://h" has the scheme "ftp": use http or https`}},
		{"a key for its variable", `{"apiKeyEnv": "sk-123-secret"}`, []string{"USER:1:15: apiKeyEnv: this names an environment variable that holds the key, it is not the place for a key"}},
		{"relative CA file", `{"caFile": "ca.pem"}`, []string{"USER:1:12: caFile: has to be an absolute path, or one that begins with ~/"}},
		{"twice", "{\"model\": \"a\",\n\"model\": \"b\"}", []string{`USER:2:1: "model" is there twice, the last one counts`}},
		{"two at once", `{"a": 1, "b": 2}`, []string{`USER:1:2: unknown key "a"`, `USER:1:10: unknown key "b"`}},
		{"column in characters", `{"model": "日本語", "x": 1}`, []string{`USER:1:18: unknown key "x"`}},
		{"a comma is missing", "{\n  \"model\": \"a\"\n  \"x\": 1\n}", []string{"USER:3:3: not valid JSON: invalid character '\"' after object key:value pair"}},
		{"not closed", "{\n  \"model\": \"a\"", []string{"USER:2:15: not valid JSON: the text ends too early: a bracket or a quote is not closed"}},
		{"a word", "{\n  model: 1}", []string{"USER:2:3: not valid JSON: invalid character 'm'"}},
		{"more after it", "{} {}", []string{"USER:1:4: not valid JSON: there is more after the end of the object"}},
		{"a list", "[]", []string{"USER:1:1: has to be an object, not a list"}},
		{"fine", "\ufeff{ // mine\n  \"$schema\": \"x\", /* the\n model */ \"model\": \"a//b\", \"provider\": null, \"skills\": [\"/* s */\",],\n}\n", nil},
		{"empty", " \n", nil},
		{"null", "null", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, got := load(t, sources{user: c.user})
			if len(got) == len(c.want) {
				for i := range got { // the decoder's own words may go on
					if strings.HasPrefix(got[i], c.want[i]) {
						got[i] = c.want[i]
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.name == "fine" && (r.Model != "a//b" || r.Skills[0] != "/* s */") {
				t.Errorf("got %+v", r.Config)
			}
			if c.name == "twice" && r.Model != "b" {
				t.Errorf("got %+v", r.Config)
			}
		})
	}
}

// The rest of a source counts, and so do other sources.
func TestProblemsCostNothingElse(t *testing.T) {
	r, problems := load(t, sources{
		user:   `{"modle": 1, "model": "x", "budget": {"maxTurns": "a", "maxCost": 2}, "commands": {"env": {"A": 1, "B": "b"}}}`,
		client: []string{`{"contextWindow": "big", "skills": ["s"]}`, `{`, `7`},
	})
	want := []string{
		`USER:1:2: unknown key "modle", did you mean "model"?`,
		"USER:1:51: budget.maxTurns has to be a number, not a string",
		"USER:1:97: commands.env.A has to be a string, not a number",
		"client: contextWindow has to be a number, not a string",
		"client: not valid JSON: the text ends too early: a bracket or a quote is not closed",
		"client: has to be an object, not a number",
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Model != "x" || r.Budget != (Budget{MaxTurns: 100, MaxCost: 2}) || r.Commands.Env["B"] != "b" || r.Skills[0] != "s" {
		t.Errorf("got %+v", r.Config)
	}
}

func TestUntrustedWorkspace(t *testing.T) {
	r, problems := load(t, sources{untrusted: true, workspace: `{"model":"evil","nonsense":1`})
	if r.Model != "" || len(problems) > 0 {
		t.Errorf("%+v, %q", r.Config, problems)
	}
}

// A trusted workspace says neither where requests go nor allows more.
func TestWorkspaceLimits(t *testing.T) {
	for _, c := range []struct{ name, user, workspace, problem string }{
		{"provider", "", `{"provider": "custom"}`, "cannot set provider: put it into USER"},
		{"baseURL", "", `{"baseURL": "http://evil/v1"}`, "cannot set baseURL"},
		{"apiKeyEnv", "", `{"apiKeyEnv": "AWS_SECRET"}`, "cannot set apiKeyEnv"},
		{"headers", "", `{"headers": {"X": "y"}}`, "cannot set headers"},
		{"caFile", "", `{"caFile": "/x"}`, "cannot set caFile"},
		{"allow", "", `{"permissions": {"allow": ["run_command(*)"]}}`, "cannot set permissions.allow"},
		{"default", `{"permissions": {"default": "ask"}}`, `{"permissions": {"default": "auto"}}`, "permissions.default stays ask"},
		{"sandbox", "", `{"commands": {"sandbox": "off"}}`, "commands.sandbox stays auto"},
		{"network", "", `{"commands": {"network": true}}`, "commands.network stays false"},
		{"stricter default", "", `{"permissions": {"default": "deny", "ask": ["a"], "deny": ["b"]}}`, ""},
		{"less network", `{"commands": {"network": true}}`, `{"commands": {"network": false}}`, ""},
		{"more sandbox", `{"commands": {"sandbox": "off"}}`, `{"commands": {"sandbox": "auto"}}`, ""},
		{"null", "", `{"provider": null}`, ""},
	} {
		before, _ := load(t, sources{user: c.user})
		r, problems := load(t, sources{user: c.user, workspace: c.workspace})
		if c.problem == "" {
			if len(problems) > 0 {
				t.Errorf("%s: %q", c.name, problems)
			}
			continue
		}
		if len(problems) != 1 || !strings.HasPrefix(problems[0], "WORKSPACE:1:") || !strings.Contains(problems[0], c.problem) {
			t.Errorf("%s: %q, want %q", c.name, problems, c.problem)
		}
		if diff := cmp.Diff(before.Config, r.Config); diff != "" {
			t.Errorf("%s (-before +after):\n%s", c.name, diff)
		}
	}
}

// Rules add up over the sources; a workspace cannot take one away.
func TestRulesAddUp(t *testing.T) {
	r, problems := load(t, sources{
		user:      `{"permissions": {"allow": ["run_command(go test *)"], "deny": ["read_file(.env*)"]}}`,
		workspace: `{"permissions": {"deny": [], "ask": ["run_command(make *)"]}}`,
		client:    []string{`{"permissions": {"deny": ["read_file(.env*)", "grep"], "allow": ["glob"]}}`},
	})
	want := Permissions{Default: "auto", Allow: []string{"run_command(go test *)", "glob"}, Ask: []string{"run_command(make *)"}, Deny: []string{"read_file(.env*)", "grep"}}
	if diff := cmp.Diff(want, r.Permissions); diff != "" || len(problems) > 0 {
		t.Errorf("problems %q (-want +got):\n%s", problems, diff)
	}
	for key, want := range map[string]string{"permissions.deny[0]": "USER:1", "permissions.deny[1]": "client", "permissions.ask[0]": "WORKSPACE:1"} {
		if got := r.Origin(key); got != want {
			t.Errorf("%s comes from %s", key, got)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		env         map[string]string
		user, state string
	}{
		{map[string]string{"HOME": "/h"}, "/h/.config/agentls/config.json", "/h/.local/state/agentls"},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, "/c/agentls/config.json", "/s/agentls"},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "s"}, "/h/.config/agentls/config.json", "/h/.local/state/agentls"},
		{map[string]string{"HOME": "/h", "AGENTLS_STATE_DIR": "/mine", "XDG_STATE_HOME": "/s"}, "/h/.config/agentls/config.json", "/mine"},
		{nil, "", ""},
	} {
		env := func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }
		if got := UserFile(env); got != c.user {
			t.Errorf("%v: user file %s", c.env, got)
		}
		if got := StateDir(env); got != c.state {
			t.Errorf("%v: state %s", c.env, got)
		}
	}
}

// FuzzJSON: what is JSON is taken and says the same; nothing panics.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x",{"b":null}],"c":true}`, "{ // x\n}", `{"a":1,}`, `"\"//"`, "\ufeff{}", `[1,2,]`, `/* { */ {}`, `{"a"`, "/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := parseJSON([]byte(s))
		if err != nil {
			if json.Valid([]byte(s)) {
				t.Fatalf("%q: %v", s, err)
			}
			if line, column := position([]byte(s), err.offset); line < 1 || column < 1 {
				t.Fatalf("%q: %d:%d", s, line, column)
			}
			return
		}
		if json.Valid([]byte(s)) {
			var want, got any
			if json.Unmarshal([]byte(s), &want) == nil && json.Unmarshal(n.raw, &got) == nil {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%q:\n%s", s, diff)
				}
			}
		}
	})
}
