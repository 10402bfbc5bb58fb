package lsptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agentls/agentls/agent/llm/scripted"
)

// Serve makes a server whose environment is env and nothing else.
type Serve func(t testing.TB, env map[string]string) Server

// secret is the key of the scripted model: it must not be found anywhere.
const secret = "sk-canary-scenario-4711"

// RunScenarios runs each archive that matches a pattern as a subtest, by its
// name. The parts of an archive:
//
//	-- ws/a.go --                 a file of the workspace, before the start
//	-- ws/b.txt (escaped) --      the same as a Go string: \r\n, \xEF; line breaks mean nothing
//	-- ws/c.txt (link) --         a link, to what the part says
//	-- model --                   what the model says, in the format of agent/llm/scripted
//	-- script --                  what happens, a step a line; see the steps in steps.go and expect.go
//	-- want/a.go --               what `expect buffer a.go` and `expect disk a.go` compare with
//
// In all of them but the files, $WS stands for the first workspace folder and
// $WORK for the folder above it. The comment at the head of an archive tells
// what it is about.
//
// Whatever the script is about, at its end the connection is closed in order
// and these hold: only frames came on standard output, each run ended exactly
// once and nothing came after, events have no gaps, the server changed no file,
// and every request to the model is one that a strict server takes.
func RunScenarios(t *testing.T, pattern string, serve Serve) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios match %s: %v", pattern, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			newScenario(t, archive, serve).run()
		})
	}
}

// scenario is one archive under way.
type scenario struct {
	t     *testing.T
	serve Serve
	work  string // above the workspace folders
	// folder is the name of the first one.
	folder string
	parts  map[string]string // decoded, by name
	env    map[string]string
	lines  []line
	opts   Options
	model  *scripted.Server

	editor  *Editor
	session string
	current Run
	result  Result
	decided Decided
	pending *Pending
	answer  json.RawMessage // of the last request
	err     error           // of the last step that had to fail
	// unused: replies may be left over.
	unused bool
	// over: the script has ended the connection itself.
	over bool
}

func newScenario(t *testing.T, archive *txtar.Archive, serve Serve) *scenario {
	t.Helper()
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{t: t, serve: serve, work: work, folder: "ws", parts: map[string]string{}}
	s.opts.Folders = []string{filepath.Join(work, "ws")}
	if err := os.Mkdir(s.opts.Folders[0], 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		s.part(f)
	}
	parsed, err := scripted.Parse([]byte(s.expand(s.parts["model"])))
	if err != nil {
		t.Fatalf("model: %v", err)
	}
	// A history that went bad shows at once.
	parsed.Strict = true
	if s.model, err = scripted.Start(parsed); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.model.Close)
	s.env = map[string]string{
		"AGENTLS_PROVIDER": "custom", "AGENTLS_BASE_URL": s.model.URL(), "AGENTLS_MODEL": "scripted", "AGENTLS_API_KEY": secret,
		"AGENTLS_STATE_DIR": filepath.Join(work, "state"), "XDG_CONFIG_HOME": filepath.Join(work, "config"), "HOME": filepath.Join(work, "home"),
	}
	return s
}

// part takes in one file of the archive.
func (s *scenario) part(f txtar.File) {
	s.t.Helper()
	name, text := f.Name, string(f.Data)
	kind := ""
	if i := strings.LastIndex(name, " ("); i >= 0 && strings.HasSuffix(name, ")") {
		name, kind = name[:i], name[i+2:len(name)-1]
	}
	switch kind {
	case "", "link":
	case "escaped":
		var err error
		if text, err = unescape(text); err != nil {
			s.t.Fatalf("%s: %v", f.Name, err)
		}
	default:
		s.t.Fatalf("%s: no kind %q of part", f.Name, kind)
	}
	if name == "script" {
		lines, err := parseScript(text, 1)
		if err != nil {
			s.t.Fatalf("script: %v", err)
		}
		s.lines = lines
		return
	}
	s.parts[name] = text
	if name == "model" || strings.HasPrefix(name, "want") {
		return
	}
	// Everything else is a file, in a workspace folder or beside it.
	path := filepath.Join(s.work, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	switch {
	case err != nil:
	case kind == "link":
		err = os.Symlink(strings.TrimSpace(s.expand(text)), path)
	case strings.HasSuffix(name, "/"):
		err = os.MkdirAll(path, 0o755)
	default:
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		s.t.Fatalf("%s: %v", f.Name, err)
	}
}

// expand puts in what a script can only name.
func (s *scenario) expand(text string) string {
	return strings.NewReplacer("$WS", filepath.Join(s.work, s.folder), "$WORK", s.work, "$SESSION", s.session, "$RUN", s.current.RunID).Replace(text)
}

func (s *scenario) run() {
	for _, l := range s.lines {
		s.step(l)
	}
	if s.editor == nil {
		s.t.Fatal("the script does nothing")
	}
	s.finish()
}

// start connects the editor, once the script does something with it.
func (s *scenario) start() {
	s.t.Helper()
	if s.editor == nil {
		s.editor = Start(s.t, s.serve(s.t, s.env), s.opts)
	}
}

// finish ends the connection and looks for what must never be.
func (s *scenario) finish() {
	s.t.Helper()
	if !s.over {
		s.editor.Close()
	} else {
		s.editor.Check()
	}
	var bodies [][]byte
	for i, r := range s.model.Requests() {
		bodies = append(bodies, r.Body)
		if r.Problem != "" {
			s.editor.Errorf("request %d was refused: %s", i+1, r.Problem)
		}
	}
	if err := CheckRequests(bodies); err != nil {
		s.editor.Errorf("%v\n%s", err, bodies[len(bodies)-1])
	}
	if n := s.model.Unused(); n > 0 && !s.unused {
		s.editor.Errorf("%d replies of the model were not asked for", n)
	}
	s.editor.CheckNowhere(secret)
	s.checkState()
}

// checkState looks for the key in what the server stored.
func (s *scenario) checkState() {
	s.t.Helper()
	files, err := snapshot([]string{s.work})
	if err != nil {
		s.t.Fatal(err)
	}
	for path, text := range files {
		if strings.Contains(text, secret) {
			s.t.Errorf("%s holds the key", path)
		}
	}
}

// failf fails the test for a line of the script.
func (s *scenario) failf(l line, format string, args ...any) {
	s.t.Helper()
	args = append([]any{l.number, strings.Join(l.words, " ")}, args...)
	if s.editor == nil {
		s.t.Fatalf("line %d of the script: %s: "+format, args...)
	}
	s.editor.Fatalf("line %d of the script: %s: "+format, args...)
}
