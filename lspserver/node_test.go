package lspserver

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestNodeClient has Microsoft's LSP client library do the main job: a client
// that we did not write.
func TestNodeClient(t *testing.T) {
	if testing.Short() {
		t.Skip("fetches packages from npm")
	}
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("AGENTLS_REQUIRE_TOOLS") != "" {
				t.Fatalf("%s is needed: %v", tool, err)
			}
			t.Skipf("no %s: the client written with vscode-languageserver-protocol is not tried", tool)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("lsptest/node")); err != nil {
		t.Fatal(err)
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	ws := t.TempDir()
	write(t, filepath.Join(ws, "calc.go"), "package calc\n\n// 🍋 lemon\nfunc Divide(a, b int) int { return a - b }\n")
	write(t, filepath.Join(ws, "notes.txt"), "one\r\ntwo\r\n")
	model := startModel(t, `
strict
reply
say Looking at it.
call read_file {"path":"calc.go"}
reply
call edit_file {"path":"calc.go","old_text":"a - b","new_text":"a / b"}
call edit_file {"path":"notes.txt","old_text":"two","new_text":"TWO"}
call write_file {"path":"new/doc.md","content":"# New\n"}
reply
say Divide divides now.
`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	client := exec.CommandContext(t.Context(), "node", "client.mjs", "--workspace", ws, "--open", "calc.go", "--prompt", "fix divide", "--", self)
	client.Dir = dir
	client.Env = append(os.Environ(), asServer+"=1",
		"AGENTLS_STATE_DIR="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(),
		"AGENTLS_PROVIDER=openai", "AGENTLS_BASE_URL="+model.URL(), "AGENTLS_API_KEY=sk-canary-4711", "AGENTLS_MODEL=scripted")
	client.Stderr = testWriter{t}
	out, err := client.Output()
	if err != nil {
		t.Fatalf("client: %v\n%s", err, out)
	}
	var summary struct {
		Documents map[string]string `json:"documents"`
		Disk      map[string]string `json:"disk"`
	}
	if err := json.Unmarshal(out, &summary); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
