package file_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/file"
	"github.com/agentls/agentls/tools/workspace"
)

// open is a buffer that the editor holds.
type open map[string]string

func (o open) Buffer(path string) (string, bool) { text, ok := o[path]; return text, ok }
func (o open) Buffers() []string                 { return nil }

// bench runs a tool on a buffer of some lines, with new arguments each time.
func bench(b *testing.B, name string, lines int, eol string, input func(i int) map[string]any) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "\tresult[%d] = compute(%d)%s", i, i, eol)
	}
	ws, err := workspace.Open([]workspace.Folder{{Name: "app", Path: dir}}, open{filepath.Join(dir, "a.go"): text.String()})
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	f := file.New(ws, changeset.New(ws))
	for _, tool := range append(f.Reading(), f.Changing()...) {
		if tool.Spec().Name != name {
			continue
		}
		i := 0
		for b.Loop() {
			raw, err := json.Marshal(input(i))
			if err != nil {
				b.Fatal(err)
			}
			if res := tool.Run(b.Context(), agent.Call{ID: "c", Input: raw}); res.Status != "" {
				b.Fatal(res.Text)
			}
			i++
		}
	}
}

func BenchmarkEditFile(b *testing.B) {
	for _, lines := range []int{1_000, 30_000} {
		for name, eol := range map[string]string{"LF": "\n", "CRLF": "\r\n"} {
			b.Run(fmt.Sprintf("%d lines %s", lines, name), func(b *testing.B) {
				bench(b, "edit_file", lines, eol, func(i int) map[string]any {
					old, changed := "compute(500)", "recompute(500)"
					if i%2 == 1 {
						old, changed = changed, old
					}
					return map[string]any{"path": "a.go", "old_text": "result[500] = " + old, "new_text": "result[500] = " + changed}
				})
			})
		}
	}
}

func BenchmarkReadFile(b *testing.B) {
	bench(b, "read_file", 30_000, "\n", func(int) map[string]any { return map[string]any{"path": "a.go", "offset": 15_000} })
}

func BenchmarkNotFound(b *testing.B) {
	dir := b.TempDir()
	ws, err := workspace.Open([]workspace.Folder{{Name: "app", Path: dir}}, open{filepath.Join(dir, "a.go"): strings.Repeat("\tresult = compute(it)\n", 30_000)})
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	f := file.New(ws, changeset.New(ws))
	edit := f.Changing()[0]
	for b.Loop() {
		res := edit.Run(b.Context(), agent.Call{ID: "c", Input: json.RawMessage(`{"path":"a.go","old_text":"results = compute(them)\nand more","new_text":"x"}`)})
		if res.Status != agent.StatusFailed {
			b.Fatal(res.Text)
		}
	}
}
