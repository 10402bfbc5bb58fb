package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentls/agentls/agent/llm/scripted"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"agentls": main})
}

// TestScripts tells what people do on the command line. Beside testscript's
// own commands there are
//
//	model FILE         start a scripted model and make it the configured one
//	reached NAME       wait until the model's reply holds at NAME
//	release NAME       let it go on
//	session FILE       set SESSION from the last line of what --json wrote
//	unused N           N replies of the model were not asked for
//	status N CMD…      run a command that must exit with N
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/.home/config")
			env.Setenv("AGENTLS_STATE_DIR", env.WorkDir+"/.home/state")
			env.Setenv("NO_PROXY", "*")
			env.Setenv("GOBUILDCACHE", goCache())
			env.Values[models{}] = new(*scripted.Server)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"model":   startModel,
			"reached": reached,
			"release": func(ts *testscript.TestScript, _ bool, args []string) { modelOf(ts).Release(args[0]) },
			"session": session,
			"unused":  unused,
			"status":  status,
		},
	})
}

// goCache is where Go keeps what it has built: a script that runs it must not
// build everything anew.
func goCache() string {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "go-build")
}

// models is the key of a script's running model.
type models struct{}

func modelOf(ts *testscript.TestScript) *scripted.Server {
	s := *ts.Value(models{}).(**scripted.Server)
	if s == nil {
		ts.Fatalf("no model was started")
	}
	return s
}

func startModel(ts *testscript.TestScript, _ bool, args []string) {
	script, err := scripted.Parse([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	server, err := scripted.Start(script)
	ts.Check(err)
	ts.Defer(server.Close)
	*ts.Value(models{}).(**scripted.Server) = server
	ts.Setenv("OPENAI_API_KEY", "sk-not-a-key")
	ts.Setenv("OPENAI_BASE_URL", server.URL())
	ts.Setenv("OPENAI_MODEL", "scripted")
}

func reached(ts *testscript.TestScript, _ bool, args []string) {
	select {
	case <-modelOf(ts).Reached(args[0]):
	case <-time.After(20 * time.Second):
		ts.Fatalf("the model has not come to %s", args[0])
	}
}

func unused(ts *testscript.TestScript, _ bool, args []string) {
	if n := strconv.Itoa(modelOf(ts).Unused()); n != args[0] {
		ts.Fatalf("%s replies of the model are left", n)
	}
}

func status(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d", got)
	}
}

func session(ts *testscript.TestScript, _ bool, args []string) {
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	var last struct{ SessionID string }
	ts.Check(json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	ts.Setenv("SESSION", last.SessionID)
}
