package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/agentls/agentls"

// mayImport says which of our own packages a folder may import; the longest
// matching folder decides, and every package may import below itself. A name
// ending in /... covers the packages below it too. Imports point down:
// cmd, editors, lspserver, tools, agent, agent/llm.
var mayImport = map[string][]string{
	"agent/llm":    {"agent/llm/..."},
	"agent":        {"agent/llm", "agent/prompt"},
	"agent/prompt": {"agent/llm"},
	// Beside the loop: what they hand each other are its types.
	"agent/session": {"agent", "agent/llm"},
	"agent/config":  {"agent", "agent/llm/..."},
	"agent/policy":  {"agent", "agent/llm"},
	"agent/acp":     {"agent/..."},

	"tools":           {"agent", "agent/llm", "tools/..."},
	"tools/text":      {},
	"tools/changeset": {"tools/text"},
	"tools/workspace": {"tools/text", "tools/changeset"},

	"lspserver/ext":               {},
	"lspserver/internal/rpc":      {},
	"lspserver/internal/document": {"tools/text", "tools/changeset"},
	"lspserver/internal/undo":     {"tools/changeset"},
	"lspserver/internal/review":   {"tools/...", "lspserver/ext", "lspserver/internal/...", "agent"},
	"lspserver":                   {"agent/...", "tools/...", "lspserver/..."},

	"editors": {"lspserver/ext", "tools/text", "agent/llm/scripted", "editors/..."},
	"docs":    {"agent/config"},
	"cmd":     {"agent/...", "tools/...", "lspserver/...", "editors/..."},
}

// onlyIn lists who may import a module that the rest must not know.
var onlyIn = map[string][]string{
	"github.com/openai/openai-go":     {"agent/llm/openai"},
	"github.com/anthropics":           {"agent/llm/anthropic"},
	"github.com/coder/acp-go-sdk":     {"agent/acp"},
	"github.com/modelcontextprotocol": {"tools/mcp"},
	"go.lsp.dev/protocol":             {"lspserver", "editors"},
	"go.lsp.dev/jsonrpc2":             {"lspserver/internal/rpc", "lspserver/lsptest", "editors"},
	"go.lsp.dev/uri":                  {"lspserver", "editors"},
}

// mayWrite lists the files that may call what changes a file system, and why.
// Nothing else may: the server never changes the user's files. An entry names
// a file or a folder.
var mayWrite = map[string]string{
	"agent/session":             "the state directory",
	"editors/terminal/edit.go":  "a temporary file for the user's editor",
	"editors/terminal/internal": "applies what the user accepted, as an editor does",
	"editors/terminal/demo":     "a temporary folder of its own",
	"docs/gen":                  "the page that it generates",
	"cmd/agentls/serve.go":      "the log file that the user named",
	"lspserver/stored.go":       "the state directory",
	"lspserver/lsptest":         "test support",
	"editors/testing":           "test support",
}

// mayExec lists who may start a process.
var mayExec = map[string]string{
	"editors/terminal": "the server, as an editor starts it",
}

func TestImports(t *testing.T) {
	for _, f := range sources(t) {
		for _, spec := range f.ast.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := forbidden(f.dir, imported, f.test); why != "" {
				t.Errorf("%s imports %s: %s", f.name, imported, why)
			}
		}
	}
}

// forbidden says why a package in dir must not import another, or "".
func forbidden(dir, imported string, test bool) string {
	for m, users := range onlyIn {
		if within(imported, m) && !slices.ContainsFunc(users, func(u string) bool { return within(dir, u) }) {
			return "only " + strings.Join(users, ", ") + " may"
		}
	}
	own, isOwn := strings.CutPrefix(imported, module+"/")
	if !isOwn || within(own, dir) {
		return ""
	}
	rule, ok := longest(mayImport, dir)
	if !ok {
		return "no rule for " + dir + ", add one"
	}
	allowed := mayImport[rule]
	if test && rule != "agent/llm" {
		// A test may use a scripted model and the fake editor of its own side.
		allowed = append(slices.Clone(allowed), "agent/llm/scripted")
	}
	for _, a := range allowed {
		tree, deep := strings.CutSuffix(a, "/...")
		if own == tree || deep && within(own, tree) {
			return ""
		}
	}
	return "imports point down, and " + rule + " may import " + strings.Join(append(allowed, "what is below it"), ", ")
}

func TestNothingWritesButWhereItMay(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		if _, ok := longest(mayWrite, f.name); !ok {
			for _, call := range writes(f.ast) {
				t.Errorf("%s calls %s: the server changes no file but in its state directory", f.name, call)
			}
		}
		if _, ok := longest(mayExec, f.name); !ok && imports(f.ast, "os/exec") != "" {
			t.Errorf("%s imports os/exec: only %v may start a process", f.name, mayExec)
		}
	}
}

// writers are the functions of package os, and the methods of os.Root and
// os.File, that change a file system.
var writers = map[string]bool{
	"WriteFile": true, "Create": true, "CreateTemp": true, "OpenFile": true, "Mkdir": true, "MkdirAll": true,
	"MkdirTemp": true, "Rename": true, "Remove": true, "RemoveAll": true, "Link": true, "Symlink": true,
	"Truncate": true, "Chmod": true, "Chown": true, "Lchown": true, "Chtimes": true, "CopyFS": true,
}

// writes lists the calls in a file that change a file system: those of package
// os, and in a file that works with an os.Root its methods of the same names.
func writes(f *ast.File) []string {
	pkg := imports(f, "os")
	if pkg == "" {
		return nil
	}
	usesRoot := false
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && isName(s.X, pkg) && (s.Sel.Name == "Root" || s.Sel.Name == "OpenRoot") {
			usesRoot = true
		}
		return !usesRoot
	})
	var found []string
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		s, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !writers[s.Sel.Name] || s.Sel.Name == "OpenFile" && readsOnly(call) {
			return true
		}
		if isName(s.X, pkg) || usesRoot {
			found = append(found, callName(s))
		}
		return true
	})
	return found
}

// readsOnly reports whether an OpenFile names no flag that writes.
func readsOnly(call *ast.CallExpr) bool {
	if len(call.Args) < 2 {
		return false
	}
	only := true
	ast.Inspect(call.Args[1], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			only = only && (n.Sel.Name == "O_RDONLY" || n.Sel.Name == "O_NOFOLLOW" || n.Sel.Name == "O_NONBLOCK")
			return false
		case *ast.Ident:
			only = false // a variable may hold anything
		}
		return true
	})
	return only
}

func TestWritesFindsThem(t *testing.T) {
	const src = `package p
import sys "os"
func f(r *sys.Root, s fmt.Stringer) {
	sys.WriteFile("a", nil, 0)
	r.Rename("a", "b")
	sys.OpenFile("a", sys.O_RDONLY|sys.O_NOFOLLOW, 0)
	sys.OpenFile("a", sys.O_WRONLY, 0)
	r.OpenFile("a", flags, 0)
	sys.ReadFile("a")
}`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"sys.WriteFile", "r.Rename", "sys.OpenFile", "r.OpenFile"}
	if got := writes(f); !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

func TestForbiddenFindsThem(t *testing.T) {
	for _, bad := range [][2]string{
		{"agent", module + "/tools/text"},
		{"agent/session", module + "/lspserver/ext"},
		{"agent/llm", module + "/agent"},
		{"agent", "github.com/openai/openai-go/v3/option"},
		{"tools/file", module + "/lspserver"},
		{"tools/file", "go.lsp.dev/protocol"},
		{"lspserver/ext", module + "/agent"},
		{"lspserver", "go.lsp.dev/jsonrpc2"},
		{"lspserver", module + "/cmd/agentls"},
	} {
		if forbidden(bad[0], bad[1], false) == "" {
			t.Errorf("%s may import %s", bad[0], bad[1])
		}
	}
}

// source is a parsed file; dir and name are slash-separated and relative to
// the top of the module.
type source struct {
	dir, name string
	test      bool
	ast       *ast.File
}

func sources(t *testing.T) []source {
	t.Helper()
	top := filepath.Join("..", "..")
	fset := token.NewFileSet()
	var files []source
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); p != top && (n[0] == '.' && n != ".." || n[0] == '_' || n == "testdata" || n == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		rel, err := filepath.Rel(top, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		f, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, source{path.Dir(rel), rel, strings.HasSuffix(rel, "_test.go"), f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(top, "go.mod")); err != nil || len(files) < 10 {
		t.Fatalf("not at the top of the module (%d files): %v", len(files), err)
	}
	return files
}

// imports returns the name under which a file imports a package, or "".
func imports(f *ast.File, pkg string) string {
	for _, spec := range f.Imports {
		if spec.Path.Value == strconv.Quote(pkg) {
			if spec.Name != nil {
				return spec.Name.Name
			}
			return path.Base(pkg)
		}
	}
	return ""
}

func isName(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

func callName(s *ast.SelectorExpr) string {
	if id, ok := s.X.(*ast.Ident); ok {
		return id.Name + "." + s.Sel.Name
	}
	return "(…)." + s.Sel.Name
}

// within reports whether a slash-separated name is tree or lies below it.
func within(name, tree string) bool {
	return name == tree || strings.HasPrefix(name, tree+"/")
}

// longest returns the longest key that name is within.
func longest[V any](m map[string]V, name string) (string, bool) {
	best, ok := "", false
	for k := range m {
		if within(name, k) && len(k) >= len(best) {
			best, ok = k, true
		}
	}
	return best, ok
}
