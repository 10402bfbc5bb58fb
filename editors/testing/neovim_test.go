// Package testing_test drives real editors: what the README tells people to write
// into their configuration is taken from there and tried. An editor that is
// not on this machine is skipped.
package testing_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agent/llm/scripted"
)

// drive does in Neovim what a person would, after the README's configuration:
// open a file, start a run, answer the question at its end, look, save.
const drive = `
local function try(what, f)
  if not vim.wait(20000, f, 20) then
    io.stderr:write('waited in vain for ' .. what .. '\n')
    vim.cmd('cquit 1')
  end
end
local asked
vim.lsp.handlers['window/showMessageRequest'] = function(_, params)
  asked = params.message
  for _, a in ipairs(params.actions) do
    if a.title == 'Apply' then return a end
  end
end
vim.cmd('filetype on')
vim.cmd('edit greet.lua')
try('the server', function()
  local c = vim.lsp.get_clients({ name = 'agentls' })[1]
  return c and c.initialized
end)
vim.cmd('Agent make it louder')
try('the question', function() return asked end)
try('the change', function() return vim.api.nvim_buf_get_lines(0, 0, 1, true)[1] == "print('HELLO')" end)
assert(vim.bo.modified, 'the buffer must be modified and not saved')
vim.cmd('write')
vim.cmd('qall')
`

func TestNeovim(t *testing.T) {
	editors := neovims()
	if len(editors) == 0 {
		t.Skip("no Neovim 0.10 or newer on this machine")
	}
	bin := build(t)
	snippets := codeBlocks(t, "lua")
	for _, e := range editors {
		t.Run(e.version, func(t *testing.T) {
			snippet := snippets[0]
			if strings.HasPrefix(e.version, "0.10.") {
				snippet = snippets[1]
			}
			model := louder(t)
			dir := t.TempDir()
			lay(t, dir, map[string]string{"ws/.git/HEAD": "", "ws/greet.lua": "print('hello')\n", "t.lua": snippet + drive})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, e.path, "-u", "NONE", "-i", "NONE", "-n", "--headless", "-c", "luafile ../t.lua")
			cmd.Dir = filepath.Join(dir, "ws")
			cmd.Env = append(os.Environ(),
				"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
				"OPENAI_API_KEY=none", "OPENAI_MODEL=scripted", "OPENAI_BASE_URL="+model.URL(),
				"XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "AGENTLS_STATE_DIR="+filepath.Join(dir, "state"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got, err := os.ReadFile(filepath.Join(dir, "ws", "greet.lua"))
			if err != nil || string(got) != "print('HELLO')\n" {
				t.Errorf("the file holds %q, %v", got, err)
			}
		})
	}
}

type neovim struct{ path, version string }

// neovims are those on the path and where the recipes install them.
func neovims() []neovim {
	candidates := []string{"nvim"}
	if cache, err := os.UserCacheDir(); err == nil {
		more, _ := filepath.Glob(filepath.Join(cache, "agentls", "editors", "nvim*", "usr", "bin", "nvim"))
		candidates = append(candidates, more...)
	}
	var found []neovim
	for _, c := range candidates {
		out, err := exec.Command(c, "--version").Output()
		if err != nil {
			continue
		}
		m := regexp.MustCompile(`^NVIM v(\d+\.(\d+)\.\d+)`).FindSubmatch(out)
		if m == nil || len(m[2]) < 2 { // 0.9 and older
			continue
		}
		found = append(found, neovim{c, string(m[1])})
	}
	return found
}

// louder is a model that changes one word.
func louder(t *testing.T) *scripted.Server {
	t.Helper()
	s, err := scripted.Start(scripted.Script{Strict: true, Replies: []scripted.Reply{
		{Steps: []scripted.Step{scripted.Call("edit_file", `{"path":"greet.lua","old_text":"hello","new_text":"HELLO"}`)}},
		{Steps: []scripted.Step{scripted.Say("Done.")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// build builds the program and returns the folder it is in.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-o", dir, "../../cmd/agentls")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return dir
}

// codeBlocks are the README's blocks of a language.
func codeBlocks(t *testing.T, language string) []string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(readme, -1) {
		blocks = append(blocks, string(m[1]))
	}
	if len(blocks) == 0 {
		t.Fatalf("the README has no %s", language)
	}
	return blocks
}

func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
