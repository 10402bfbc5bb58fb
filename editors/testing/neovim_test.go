// Package testing_test drives real editors: what the README tells people to write
// into their configuration is taken from there and tried. An editor that is
// not on this machine is skipped, unless AGENTLS_REQUIRE_TOOLS=1 says that the
// tools have to be there: then it is installed below the user's cache.
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
// open files, leave one unsaved, start a run, answer the question at its end,
// look, save.
const drive = `
local function try(what, f)
  if not vim.wait(20000, f, 20) then
    io.stderr:write('waited in vain for ' .. what .. '\n')
    vim.cmd('cquit 1')
  end
end
local function lines(name)
  return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr(name), 0, -1, true), '|')
end
local asked
vim.lsp.handlers['window/showMessageRequest'] = function(_, params)
  asked = params.message
  for _, a in ipairs(params.actions) do
    if a.title == 'Apply' then return a end
  end
end
vim.o.hidden = true
vim.cmd('filetype on')
vim.cmd('edit list.lua')
vim.api.nvim_buf_set_lines(0, 0, 1, true, { 'one, unsaved' })
vim.cmd('edit greet.lua')
try('the server', function()
  local c = vim.lsp.get_clients({ name = 'agentls' })[1]
  return c and c.initialized
end)
vim.cmd('Agent make it louder')
try('the question', function() return asked end)
try('the change', function() return lines('greet.lua') == "print('HELLO')" end)
try('the line more', function() return lines('list.lua') == 'one, unsaved|two|three' end)
assert(vim.bo.modified, 'the buffer must be modified and not saved')
vim.cmd('undo')
assert(lines('greet.lua') == "print('hello')", 'it must be one step to undo')
vim.cmd('redo')
assert(#vim.lsp.get_clients() == 1, 'one server is enough')
vim.cmd('wall')
vim.cmd('qall')
`

func TestNeovim(t *testing.T) {
	bin := build(t)
	snippets := codeBlocks(t, "lua")
	for _, v := range []struct{ version, snippet string }{{"0.12", snippets[0]}, {"0.10", snippets[1]}} {
		t.Run(v.version, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			nvim := neovim(ctx, t, v.version)
			dir := t.TempDir()
			lay(t, dir, map[string]string{
				"ws/.git/HEAD": "", "ws/greet.lua": "print('hello')\n", "ws/list.lua": "one\ntwo\n", "t.lua": v.snippet + drive,
			})
			cmd := exec.CommandContext(ctx, nvim, "-u", "NONE", "-i", "NONE", "-n", "--headless", "-c", "luafile ../t.lua")
			cmd.Dir = filepath.Join(dir, "ws")
			cmd.Env = append(os.Environ(),
				"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
				"AGENTLS_PROVIDER=custom", "AGENTLS_API_KEY=none", "AGENTLS_MODEL=scripted", "AGENTLS_BASE_URL="+louder(t).URL(),
				"XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "AGENTLS_STATE_DIR="+filepath.Join(dir, "state"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for name, want := range map[string]string{
				"greet.lua":   "print('HELLO')\n",
				"list.lua":    "one, unsaved\ntwo\nthree\n",
				"new/new.lua": "return 1\n",
			} {
				got, err := os.ReadFile(filepath.Join(dir, "ws", filepath.FromSlash(name)))
				if err != nil || string(got) != want {
					t.Errorf("%s holds %q, want %q (%v)", name, got, want, err)
				}
			}
		})
	}
}

// neovim is the program of a version. It is installed only where the tools
// have to be there: a test downloads nothing unasked.
func neovim(ctx context.Context, t *testing.T, version string) string {
	t.Helper()
	if os.Getenv("AGENTLS_REQUIRE_TOOLS") == "1" {
		cmd := exec.CommandContext(ctx, "./neovim.sh", version)
		cmd.Stderr = t.Output()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("Neovim %s cannot be had: %v", version, err)
		}
		return strings.TrimSpace(string(out))
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	nvim := filepath.Join(cache, "agentls", "editors", "nvim-"+version, "usr", "bin", "nvim")
	for _, path := range []string{nvim, "nvim"} {
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if err == nil && strings.HasPrefix(string(out), "NVIM v"+version+".") {
			return path
		}
	}
	t.Skipf("no Neovim %s on this machine: editors/testing/neovim.sh %[1]s gets one", version)
	return ""
}

// louder is a model that changes a word, adds a last line and makes a file.
func louder(t *testing.T) *scripted.Server {
	t.Helper()
	s, err := scripted.Start(scripted.Script{Strict: true, Replies: []scripted.Reply{
		{Steps: []scripted.Step{
			scripted.Call("edit_file", `{"path":"greet.lua","old_text":"hello","new_text":"HELLO"}`),
			scripted.Call("edit_file", `{"path":"list.lua","old_text":"two\n","new_text":"two\nthree\n"}`),
			scripted.Call("write_file", `{"path":"new/new.lua","content":"return 1\n"}`),
		}},
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
