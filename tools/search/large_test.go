package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/search"
)

// C155: a large ignored folder costs nothing, since it is not entered. The
// benchmark has 150,000 files in it, the test fewer.
func largeFixture(tb testing.TB, ignored int) *fixture {
	tb.Helper()
	f := newFixture(tb, map[string]string{".gitignore": "node_modules/\n"})
	for i := range 200 {
		f.write(fmt.Sprintf("src/m%d/f%d.ts", i%20, i), strings.Repeat("export const answer = compute(\"some\", 42)\n", 100)+fmt.Sprintf("needle%d\n", i))
	}
	for dir := range ignored / 500 {
		name := f.path(fmt.Sprintf("node_modules/p%d/lib", dir))
		if err := os.MkdirAll(name, 0o777); err != nil {
			tb.Fatal(err)
		}
		for i := range 500 {
			if err := os.WriteFile(fmt.Sprintf("%s/f%d.ts", name, i), nil, 0o666); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return f
}

func TestLargeIgnoredFolder(t *testing.T) {
	f := largeFixture(t, 5000)
	start := time.Now()
	if got := f.glob(`{"pattern":"**/*.ts"}`); !strings.HasSuffix(got, "(200 files)") {
		t.Errorf("%s", got)
	}
	if got := f.grep(`{"pattern":"needle\\d+","files_only":true,"limit":1000}`); !strings.HasSuffix(got, "(200 files have a match)") {
		t.Errorf("%s", got)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func BenchmarkLargeTree(b *testing.B) {
	f := largeFixture(b, 150_000)
	for _, c := range []struct {
		name  string
		tool  agent.Tool
		input string
	}{
		{"glob", search.Glob{Workspace: f.ws}, `{"pattern":"**/*.ts"}`},
		{"grep literal", search.Grep{Workspace: f.ws}, `{"pattern":"needle19"}`},
		{"grep expression", search.Grep{Workspace: f.ws}, `{"pattern":"n[a-z]+e1\\d9"}`},
		{"grep ignored", search.Grep{Workspace: f.ws}, `{"pattern":"needle","path":"node_modules"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if res := c.tool.Run(context.Background(), agent.Call{Input: json.RawMessage(c.input)}); res.Status != "" {
					b.Fatal(res.Text)
				}
			}
		})
	}
}

// BenchmarkCancel is how long a search goes on after its context ended.
func BenchmarkCancel(b *testing.B) {
	f := largeFixture(b, 20_000)
	tool := search.Grep{Workspace: f.ws}
	b.ResetTimer()
	var late time.Duration
	for range b.N {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		tool.Run(ctx, agent.Call{Input: json.RawMessage(`{"pattern":"n.*x.*y","path":"node_modules"}`)})
		cancel()
		if deadline, ok := ctx.Deadline(); ok {
			late = max(late, time.Since(deadline))
		}
	}
	b.ReportMetric(float64(late.Microseconds()), "µs-late")
}
