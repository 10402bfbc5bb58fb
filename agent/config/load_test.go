package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLoadSmoke(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{
  // mine
  "modle": "x",
  "provider": "deepseek",
  "budget": {"maxTurns": "7", "maxCost": 2},
  "permissions": {"deny": ["read_file(.env*)"],},
}`), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"DEEPSEEK_API_KEY": "sk-secret"}
	r, problems := Load(Inputs{UserFile: filepath.Join(dir, "config.json"), Env: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
	for _, p := range problems {
		t.Log(p)
	}
	_ = r.Explain(os.Stdout)
	e, err := r.Endpoint(t.Context(), "")
	t.Logf("%+v %v", e, err)
}
