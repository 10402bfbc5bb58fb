package lspserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agent/llm/scripted"
	"github.com/agentls/agentls/lspserver/lsptest"
)

// TestRealModule runs over a module as people have them: some hundred files,
// read-only in the module cache, copied to a folder of their own.
func TestRealModule(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "go.lsp.dev/protocol")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	ws := t.TempDir()
	if err := os.CopyFS(ws, os.DirFS(strings.TrimSpace(string(out)))); err != nil {
		t.Fatal(err)
	}
	model := startModel(t, `
strict
reply
say I look for the place.
call grep {"pattern":"func CancelHandler","glob":"*.go"}
call glob {"pattern":"**/*_test.go"}
call list_dir {}
reply
call read_file {"path":"handler.go","offset":10,"limit":30}
reply
call edit_file {"path":"handler.go","old_text":"func CancelHandler(handler jsonrpc2.Handler) jsonrpc2.Handler {\n","new_text":"func CancelHandler(handler jsonrpc2.Handler) jsonrpc2.Handler { // observed\n"}
call write_file {"path":"internal/observed/observed.go","content":"// Package observed is new.\npackage observed\n"}
call delete_file {"path":"version.go"}
call move_file {"from":"log.go","to":"logging.go"}
reply
call grep {"pattern":"Package observed is new"}
call read_file {"path":"version.go"}
call read_file {"path":"logging.go","limit":5}
reply
say Done.
`)
	before, err := os.ReadFile(filepath.Join(ws, "handler.go"))
	if err != nil {
		t.Fatal(err)
	}
	e := lsptest.Start(t, inProcess(t, environment(t, model, nil)), lsptest.Options{Profile: "rich", Folders: []string{ws}})
	e.Open("handler.go")
	run := e.Run("observe cancels", nil)
	if res := e.WaitRun(run); res.StopReason != "endTurn" {
		t.Fatalf("the run stopped: %+v", res)
	}
	results := toolResults(t, model)
	for i, want := range []string{"handler.go", "_test.go", "handler.go", "CancelHandler", "", "", "", "", "observed.go", "not found", "package protocol"} {
		if !strings.Contains(results[i], want) {
			t.Errorf("result %d: %q is not in\n%s", i, want, results[i])
		}
	}
	p := e.Proposal(run.SessionID)
	if len(p.Files) != 4 {
		t.Fatalf("%d files are proposed, want 4: %+v", len(p.Files), p.Files)
	}
	decided, err := e.Resolve(run.SessionID, p.Revision, []map[string]any{{"all": true, "verdict": "accept"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range decided.Results {
		if r.State != "applied" {
			t.Errorf("%+v is not applied", r)
		}
	}
	after, err := os.ReadFile(filepath.Join(ws, "handler.go"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(string(before), "jsonrpc2.Handler) jsonrpc2.Handler {\n\thandler, canceller", "jsonrpc2.Handler) jsonrpc2.Handler { // observed\n\thandler, canceller", 1)
	if string(after) != want {
		t.Errorf("handler.go has other bytes than the edit says")
	}
	for path, there := range map[string]bool{"version.go": false, "log.go": false, "logging.go": true, "internal/observed/observed.go": true} {
		if _, err := os.Stat(filepath.Join(ws, path)); (err == nil) != there {
			t.Errorf("%s on disk: %v, want %v", path, err == nil, there)
		}
	}
	e.Close()
}

// toolResults are the results that the model got, in order.
func toolResults(t testing.TB, model *scripted.Server) (results []string) {
	t.Helper()
	requests := model.Requests()
	for _, m := range requests[len(requests)-1].Messages {
		if m.Role == "tool" {
			results = append(results, m.Content)
		}
	}
	return results
}
