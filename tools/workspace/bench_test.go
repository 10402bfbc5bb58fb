package workspace_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/agentls/agentls/tools/workspace"
)

func BenchmarkResolve(b *testing.B) {
	dir := tempDir(b)
	files(b, dir, map[string]string{"src/deep/er/a.go": "", "link": "-> src/deep"})
	w := open(b, nil, dir)
	for name, spelling := range map[string]string{"relative": "src/deep/er/a.go", "through a link": "link/er/a.go", "new": "src/new.go", "absolute": dir + "/src/deep/er/a.go"} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := w.Resolve(spelling); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWalk meets 20,000 files in 420 folders.
func BenchmarkWalk(b *testing.B) {
	dir := tempDir(b)
	tree := map[string]string{".gitignore": "node_modules/\ndist/\n*.log\n/build\n.env*\n*.swp\n**/generated/**\n!keep.log\n__pycache__/\n*.py[co]\n"}
	for i := range 20_000 {
		tree[fmt.Sprintf("d%d/e%d/f%d.go", i%20, i%400, i)] = ""
	}
	files(b, dir, tree)
	w := open(b, nil, dir)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		_, err := w.Walk(context.Background(), []string{dir}, func(workspace.Entry) error {
			n++
			return nil
		})
		if err != nil || n < 20_000 {
			b.Fatal(n, err)
		}
	}
}
