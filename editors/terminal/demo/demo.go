// Package demo does a whole run on a sample project with nothing but this
// program: a scripted model behind a real HTTP endpoint, the real server as a
// child, and the terminal as its client. `agentls demo` calls it, to show what
// agentls does and to prove that all its parts work here.
package demo

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agent/llm/scripted"
	"github.com/agentls/agentls/editors/terminal"
)

//go:embed testdata
var testdata embed.FS

// prompt is what the model is asked.
const prompt = "10 / 2 prints 8. Find out why and fix it."

// after is what the project's files hold when all went well.
var after = map[string]string{
	"arithmetic.go": `package main

// add returns a and b taken together.
func add(a, b int) int {
	return a + b
}

// divide returns how often b goes into a.
func divide(a, b int) int {
	return a / b
}
`,
	"arithmetic_test.go": `package main

import "testing"

func TestDivide(t *testing.T) {
	if got := divide(10, 2); got != 5 {
		t.Errorf("divide(10, 2) = %d, want 5", got)
	}
}
`,
}

// Run does the demo on a console and returns the exit status: 1 if anything
// was not as it has to be.
func Run(ctx context.Context, console *terminal.Console, version string) int {
	code, err := run(ctx, console, version)
	if err != nil {
		fmt.Fprintln(console.Err, "agentls demo:", err)
		if code == terminal.ExitDone {
			code = terminal.ExitFailed
		}
	}
	return code
}

func run(ctx context.Context, console *terminal.Console, version string) (code int, err error) {
	temp, err := os.MkdirTemp("", "agentls-demo-")
	if err != nil {
		return terminal.ExitFailed, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	project := filepath.Join(temp, "calc")
	if err := layOut(project); err != nil {
		return terminal.ExitFailed, err
	}
	model, err := startModel()
	if err != nil {
		return terminal.ExitFailed, err
	}
	defer model.Close()

	say := func(format string, args ...any) { fmt.Fprintf(console.Out, format, args...) }
	say("A sample project lies in %s. Its fault:\n\n", project)
	if err := goRun(ctx, console, project, "10 / 2 = 8"); err != nil {
		return terminal.ExitFailed, err
	}
	say("\n$ agentls run --accept all %q\n", prompt)
	code = terminal.Run(ctx, terminal.Options{
		Prompt: prompt, Dir: project, Accept: terminal.All, Version: version,
		Console: console, Env: environment(temp, model.URL()),
	})
	if code != terminal.ExitDone {
		return code, errors.New("the run did not come to its end")
	}
	if err := check(project, model); err != nil {
		return terminal.ExitFailed, err
	}
	say("\narithmetic.go is now:\n\n%s\n\n", indent(after["arithmetic.go"]))
	if err := goRun(ctx, console, project, "10 / 2 = 5"); err != nil {
		return terminal.ExitFailed, err
	}
	say("\nThat was a whole run, with a script in the place of a model. To use a real one,\nset OPENAI_API_KEY, or start Ollama, and try `agentls run` in a project of\nyours.\n")
	return code, nil
}

// layOut copies the sample project. Its go.mod has another name here, or it
// would be a module inside this one.
func layOut(project string) error {
	sample, err := fs.Sub(testdata, "testdata/calc")
	if err != nil {
		return err
	}
	if err := os.CopyFS(project, sample); err != nil {
		return fmt.Errorf("copy the sample project: %w", err)
	}
	return os.Rename(filepath.Join(project, "go.mod.txt"), filepath.Join(project, "go.mod"))
}

func startModel() (*scripted.Server, error) {
	text, err := testdata.ReadFile("testdata/script")
	if err != nil {
		return nil, err
	}
	script, err := scripted.Parse(text)
	if err != nil {
		return nil, err
	}
	return scripted.Start(script)
}

// environment is the server's: the scripted model as the only one, and nothing
// of the user's, no key above all.
func environment(temp, url string) []string {
	env := []string{
		"HOME=" + temp, "USERPROFILE=" + temp,
		"XDG_CONFIG_HOME=" + filepath.Join(temp, "config"),
		"AGENTLS_STATE_DIR=" + filepath.Join(temp, "state"),
		"OPENAI_API_KEY=none-is-needed", "OPENAI_BASE_URL=" + url, "OPENAI_MODEL=scripted",
	}
	for _, name := range []string{"PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot", "GOCOVERDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// check looks at what the run left behind.
func check(project string, model *scripted.Server) error {
	for name, want := range after {
		got, err := os.ReadFile(filepath.Join(project, name))
		if err != nil {
			return err
		}
		if string(got) != want {
			return fmt.Errorf("%s is not what was accepted:\n%s", name, got)
		}
	}
	if n := model.Unused(); n > 0 {
		return fmt.Errorf("the run ended before the model had said all: %d answers are left", n)
	}
	for i, r := range model.Requests() {
		if r.Problem != "" {
			return fmt.Errorf("request %d to the model: %s", i+1, r.Problem)
		}
	}
	return nil
}

// goRun runs the project where there is a Go to do it, and holds its output
// against what it must contain.
func goRun(ctx context.Context, console *terminal.Console, project, want string) error {
	if _, err := exec.LookPath("go"); err != nil {
		fmt.Fprintf(console.Out, "(go is not installed: the program, which prints %q, is not run)\n", want)
		return nil
	}
	cmd := exec.CommandContext(ctx, "go", "run", ".")
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go run: %w\n%s", err, out)
	}
	fmt.Fprintf(console.Out, "$ go run .\n%s", out)
	if !bytes.Contains(out, []byte(want)) {
		return fmt.Errorf("the program does not print %q", want)
	}
	return nil
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n    ")
}
