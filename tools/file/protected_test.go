package file

import "testing"

func TestProtected(t *testing.T) {
	for path, want := range map[string]struct{ protected, git bool }{
		"a.go":                         {},
		".git/config":                  {true, true},
		".git":                         {true, true},
		"sub/.git/hooks/pre-commit":    {true, true},
		".GIT/config":                  {true, true},
		".git/./config":                {true, true},
		`sub\.git\config`:              {true, true},
		".git::$INDEX_ALLOCATION/x":    {true, true},
		".git./config":                 {true, true},
		".git /config":                 {true, true},
		".g\u200cit/config":            {true, true},
		"git~1/config":                 {false, true},
		".gitignore":                   {},
		".github/workflows/x.yml":      {true, false},
		".VSCODE/settings.json":        {true, false},
		"deep/.idea/workspace.xml":     {true, false},
		".agentls/config.json":         {true, false},
		".mcp.json":                    {true, false},
		"sub/.MCP.json":                {true, false},
		".envrc":                       {true, false},
		".mcp.json/x":                  {},
		".husky/pre-commit":            {true, false},
		".nvim.lua":                    {true, false},
		"docs/git/intro.md":            {},
		"vscode/settings.json":         {},
		"":                             {},
		"a/.github2/x":                 {},
		".vscode:stream/settings.json": {true, false},
	} {
		if got := Protected(path); got != want.protected {
			t.Errorf("Protected(%q) = %v", path, got)
		}
		if got := InGit(path); got != want.git {
			t.Errorf("InGit(%q) = %v", path, got)
		}
	}
}
