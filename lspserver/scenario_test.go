package lspserver

import (
	"testing"

	"github.com/agentls/agentls/lspserver/lsptest"
)

func TestScenarios(t *testing.T) {
	lsptest.RunScenarios(t, "testdata/scenarios/*.txtar", func(t testing.TB, env map[string]string) lsptest.Server {
		return inProcess(t, func(name string) (string, bool) {
			v, ok := env[name]
			return v, ok
		})
	})
}
