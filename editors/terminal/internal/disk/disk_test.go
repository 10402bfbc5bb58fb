package disk

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/tools/text"
)

// files are the contents of a folder by slash-separated name.
type files map[string]string

func lay(t *testing.T, dir string, fs files) {
	t.Helper()
	for name, content := range fs {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir string) files {
	t.Helper()
	got := files{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(p)
		got[filepath.ToSlash(rel)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// parse reads an edit as it comes over the wire; DIR stands for the folder.
func parse(t *testing.T, dir, edit string) protocol.WorkspaceEdit {
	t.Helper()
	var p protocol.ApplyWorkspaceEditParams
	wire := `{"edit":` + strings.ReplaceAll(edit, "DIR", string(uri.File(dir))) + `}`
	if err := protocol.Unmarshal([]byte(wire), &p); err != nil {
		t.Fatalf("%v in %s", err, wire)
	}
	return p.Edit
}

func apply(t *testing.T, dir, edit string, enc text.Encoding) error {
	t.Helper()
	folder, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	return folder.Apply(parse(t, dir, edit), enc)
}

// change is one TextDocumentEdit that replaces a range.
func change(name string, l1, c1, l2, c2 int, newText string) string {
	quoted, err := json.Marshal(newText)
	if err != nil {
		panic(err)
	}
	pos := func(l, c int) string {
		b, _ := json.Marshal(map[string]int{"line": l, "character": c})
		return string(b)
	}
	return `{"textDocument":{"uri":"DIR/` + name + `","version":null},"edits":[{"range":{"start":` +
		pos(l1, c1) + `,"end":` + pos(l2, c2) + `},"newText":` + string(quoted) + `}]}`
}

func changes(cs ...string) string { return `{"documentChanges":[` + strings.Join(cs, ",") + `]}` }

func TestApply(t *testing.T) {
	tests := []struct {
		name string
		dir  files
		edit string
		enc  text.Encoding
		want files
		err  string // a part of the reason; then nothing changes
	}{
		{
			name: "bytes elsewhere stay",
			dir:  files{"m.txt": "one\r\ntwo\nthree\r\nfour"},
			edit: changes(change("m.txt", 2, 0, 2, 5, "THREE")),
			want: files{"m.txt": "one\r\ntwo\nTHREE\r\nfour"},
		},
		{
			name: "byte order mark is no character and stays",
			dir:  files{"s.ps1": "\xef\xbb\xbfhello\r\nworld\r\n"},
			edit: changes(change("s.ps1", 0, 5, 0, 5, "2")),
			want: files{"s.ps1": "\xef\xbb\xbfhello2\r\nworld\r\n"},
		},
		{
			name: "UTF-16 columns",
			dir:  files{"e.ts": "const 🍋 = \"中文😀\"; foo(1);\n"},
			edit: changes(change("e.ts", 0, 19, 0, 22, "bar")),
			want: files{"e.ts": "const 🍋 = \"中文😀\"; bar(1);\n"},
		},
		{
			name: "UTF-8 columns",
			dir:  files{"e.ts": "const 🍋 = \"中文😀\"; foo(1);\n"},
			edit: changes(change("e.ts", 0, 27, 0, 30, "bar")),
			enc:  text.UTF8,
			want: files{"e.ts": "const 🍋 = \"中文😀\"; bar(1);\n"},
		},
		{
			name: "several edits count in the old text",
			dir:  files{"a": "1\n2\n3\n"},
			edit: `{"documentChanges":[{"textDocument":{"uri":"DIR/a","version":null},"edits":[
				{"range":{"start":{"line":2,"character":0},"end":{"line":3,"character":0}},"newText":""},
				{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":1}},"newText":"!"},
				{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":1}},"newText":"?"}]}]}`,
			want: files{"a": "1!?\n2\n"},
		},
		{
			name: "changes",
			dir:  files{"a": "a", "b": "b"},
			edit: `{"changes":{"DIR/b":[{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":1}},"newText":"2"}],
				"DIR/a":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"1"}]}}`,
			want: files{"a": "1a", "b": "b2"},
		},
		{
			name: "create in a new folder and fill",
			dir:  files{"a": "a"},
			edit: changes(`{"kind":"create","uri":"DIR/src/deep/n.go","options":{"overwrite":false,"ignoreIfExists":false}}`,
				change("src/deep/n.go", 0, 0, 0, 0, "package n\n")),
			want: files{"a": "a", "src/deep/n.go": "package n\n"},
		},
		{
			name: "create what exists",
			dir:  files{"a": "a"},
			edit: changes(`{"kind":"create","uri":"DIR/a"}`),
			err:  "a exists already",
		},
		{
			name: "create what exists, ignored",
			dir:  files{"a": "a"},
			edit: changes(`{"kind":"create","uri":"DIR/a","options":{"ignoreIfExists":true}}`),
			want: files{"a": "a"},
		},
		{
			name: "create over what exists; overwrite wins",
			dir:  files{"a": "a"},
			edit: changes(`{"kind":"create","uri":"DIR/a","options":{"overwrite":true,"ignoreIfExists":true}}`, change("a", 0, 0, 0, 0, "new")),
			want: files{"a": "new"},
		},
		{
			name: "text edits, then rename",
			dir:  files{"old.go": "package old\n"},
			edit: changes(change("old.go", 0, 8, 0, 11, "new"),
				`{"kind":"rename","oldUri":"DIR/old.go","newUri":"DIR/pkg/new.go","options":{"overwrite":false}}`),
			want: files{"pkg/new.go": "package new\n"},
		},
		{
			name: "rename, then text edits, then create in its place",
			dir:  files{"a": "a"},
			edit: changes(`{"kind":"rename","oldUri":"DIR/a","newUri":"DIR/b"}`, change("b", 0, 1, 0, 1, "!"),
				`{"kind":"create","uri":"DIR/a"}`, change("a", 0, 0, 0, 0, "fresh")),
			want: files{"a": "fresh", "b": "a!"},
		},
		{
			name: "swap by renames",
			dir:  files{"a": "A", "b": "B"},
			edit: changes(`{"kind":"rename","oldUri":"DIR/a","newUri":"DIR/t"}`, `{"kind":"rename","oldUri":"DIR/b","newUri":"DIR/a"}`,
				`{"kind":"rename","oldUri":"DIR/t","newUri":"DIR/b"}`),
			want: files{"a": "B", "b": "A"},
		},
		{
			name: "rename onto a file",
			dir:  files{"a": "A", "b": "B"},
			edit: changes(`{"kind":"rename","oldUri":"DIR/a","newUri":"DIR/b"}`),
			err:  "b exists already",
		},
		{
			name: "rename onto a file, overwriting",
			dir:  files{"a": "A", "b": "B"},
			edit: changes(`{"kind":"rename","oldUri":"DIR/a","newUri":"DIR/b","options":{"overwrite":true}}`),
			want: files{"b": "A"},
		},
		{
			name: "delete and create anew",
			dir:  files{"a": "A"},
			edit: changes(`{"kind":"delete","uri":"DIR/a"}`, `{"kind":"create","uri":"DIR/a"}`, change("a", 0, 0, 0, 0, "x")),
			want: files{"a": "x"},
		},
		{
			name: "delete a file of any bytes",
			dir:  files{"a": "\x00\xff", "b": "B"},
			edit: changes(`{"kind":"delete","uri":"DIR/a"}`),
			want: files{"b": "B"},
		},
		{
			name: "delete what is not there",
			dir:  files{"b": "B"},
			edit: changes(`{"kind":"delete","uri":"DIR/a"}`),
			err:  "a does not exist",
		},
		{
			name: "a fault in the last change leaves all as it was",
			dir:  files{"a": "A", "b": "B"},
			edit: changes(change("a", 0, 0, 0, 1, "x"), `{"kind":"create","uri":"DIR/n/new"}`, `{"kind":"delete","uri":"DIR/b"}`, change("gone", 0, 0, 0, 0, "x")),
			err:  "gone does not exist",
		},
		{
			name: "names with every sort of character",
			dir:  files{"a#b/100%/q?x [id] ü+.tsx": "x"},
			edit: changes(change("a%23b/100%25/q%3Fx%20%5Bid%5D%20%C3%BC+.tsx", 0, 0, 0, 1, "y")),
			want: files{"a#b/100%/q?x [id] ü+.tsx": "y"},
		},
		{
			name: "a line that is not there",
			dir:  files{"a": "1\n"},
			edit: changes(change("a", 2, 0, 2, 0, "x")),
			err:  "no position 2:0",
		},
		{
			name: "a column that is not there",
			dir:  files{"a": "1\r\n"},
			edit: changes(change("a", 0, 2, 0, 2, "x")),
			err:  "no position 0:2",
		},
		{
			name: "a column inside a surrogate pair",
			dir:  files{"a": "😀"},
			edit: changes(change("a", 0, 1, 0, 2, "x")),
			err:  "no position 0:1",
		},
		{
			name: "backwards",
			dir:  files{"a": "12"},
			edit: changes(change("a", 0, 1, 0, 0, "x")),
			err:  "ends before it starts",
		},
		{
			name: "overlapping",
			dir:  files{"a": "123"},
			edit: `{"documentChanges":[{"textDocument":{"uri":"DIR/a","version":null},"edits":[
				{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":2}},"newText":""},
				{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":3}},"newText":""}]}]}`,
			err: "overlap",
		},
		{
			name: "a version of what is not open",
			dir:  files{"a": "1"},
			edit: `{"documentChanges":[{"textDocument":{"uri":"DIR/a","version":3},"edits":[]}]}`,
			err:  "version 3 is not known",
		},
		{
			name: "not UTF-8",
			dir:  files{"l1.php": "// caf\xe9\n$a = 1 > 2;\n"},
			edit: changes(change("l1.php", 1, 7, 1, 8, "<")),
			err:  "not UTF-8",
		},
		{
			name: "outside by dots",
			dir:  files{"a": "1"},
			edit: changes(change("../x", 0, 0, 0, 0, "x")),
			err:  "outside",
		},
		{
			name: "the folder itself",
			dir:  files{"a": "1"},
			edit: `{"documentChanges":[{"kind":"delete","uri":"DIR","options":{"recursive":true}}]}`,
			err:  "outside",
		},
		{
			name: "a folder",
			dir:  files{"d/a": "1"},
			edit: changes(`{"kind":"delete","uri":"DIR/d","options":{"recursive":true}}`),
			err:  "no plain file",
		},
		{
			name: "another scheme",
			dir:  files{"a": "1"},
			edit: `{"documentChanges":[{"kind":"delete","uri":"git:/proj/a?ref"}]}`,
			err:  "not a file of this machine",
		},
		{
			name: "a fragment is not part of a name",
			dir:  files{"a": "1"},
			edit: changes(`{"kind":"delete","uri":"DIR/a#b"}`),
			err:  "more than a file",
		},
		{
			name: "annotated edits were not announced",
			dir:  files{"a": "1"},
			edit: `{"documentChanges":[{"textDocument":{"uri":"DIR/a","version":null},"edits":[
				{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"","annotationId":"x"}]}],
				"changeAnnotations":{"x":{"label":"x"}}}`,
			err: "not announced",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, tt.dir)
			err := apply(t, dir, tt.edit, tt.enc)
			want := tt.want
			if tt.err != "" {
				want = tt.dir
				var refusal *Refusal
				if !errors.As(err, &refusal) || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error is %v, want a refusal with %q", err, tt.err)
				}
			} else if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(want, read(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusalNamesTheChange(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, files{"a": "1"})
	err := apply(t, dir, changes(change("a", 0, 0, 0, 0, "x"), change("b", 0, 0, 0, 0, "x")), text.UTF16)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Change != 1 {
		t.Errorf("got %#v, want a refusal of change 1", err)
	}
}

func TestModeIsKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes here")
	}
	dir := t.TempDir()
	lay(t, dir, files{"run.sh": "echo a\n", "ro": "x"})
	chmod(t, filepath.Join(dir, "run.sh"), 0o751)
	chmod(t, filepath.Join(dir, "ro"), 0o444)
	if err := apply(t, dir, changes(change("run.sh", 0, 5, 0, 6, "b")), text.UTF16); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "run.sh"))
	if err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := apply(t, dir, changes(change("ro", 0, 0, 0, 1, "y")), text.UTF16); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a read-only file: %v", err)
	}
}

func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestLinks(t *testing.T) {
	base := t.TempDir()
	dir, outside := filepath.Join(base, "ws"), filepath.Join(base, "out")
	lay(t, dir, files{"real/a.txt": "a"})
	lay(t, outside, files{"secret": "s"})
	for link, target := range map[string]string{
		"ws/link.txt": "real/a.txt", "ws/dangling": "nowhere", "ws/out": "../out", "ws/secret": "../out/secret", "alias": "ws",
	} {
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}

	if err := apply(t, dir, changes(change("link.txt", 0, 0, 0, 1, "b")), text.UTF16); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(filepath.Join(dir, "link.txt")); err != nil || target != "real/a.txt" {
		t.Errorf("the link is %q, %v", target, err)
	}
	if got := read(t, filepath.Join(dir, "real"))["a.txt"]; got != "b" {
		t.Errorf("its target holds %q", got)
	}
	for name, edit := range map[string]string{
		"file link out":  changes(change("secret", 0, 0, 0, 1, "x")),
		"folder link":    changes(`{"kind":"create","uri":"DIR/out/new"}`),
		"dangling":       changes(change("dangling", 0, 0, 0, 0, "x")),
		"create at link": changes(`{"kind":"create","uri":"DIR/dangling"}`),
	} {
		if err := apply(t, dir, edit, text.UTF16); err == nil {
			t.Errorf("%s: applied", name)
		}
	}
	if diff := cmp.Diff(files{"secret": "s"}, read(t, outside)); diff != "" {
		t.Error(diff)
	}
	// The folder under another name: both its spellings are understood.
	alias := filepath.Join(base, "alias")
	if err := apply(t, alias, changes(change("real/a.txt", 0, 0, 0, 1, "c")), text.UTF16); err != nil {
		t.Error(err)
	}
	folder, err := Open(alias)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := folder.Apply(parse(t, dir, changes(change("real/a.txt", 0, 0, 0, 1, "d"))), text.UTF16); err != nil {
		t.Error(err)
	}
	if got := read(t, filepath.Join(dir, "real"))["a.txt"]; got != "d" {
		t.Errorf("got %q", got)
	}
}

// A step that fails on the disk takes back those before it.
func TestUndo(t *testing.T) {
	dir := t.TempDir()
	before := files{"a": "A", "b": "B", "c": "C", "d": "D"}
	lay(t, dir, before)
	folder, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	edit := parse(t, dir, changes(
		change("a", 0, 0, 0, 1, "x"),
		`{"kind":"create","uri":"DIR/n/e/w"}`,
		`{"kind":"rename","oldUri":"DIR/b","newUri":"DIR/m/b"}`,
		`{"kind":"delete","uri":"DIR/c"}`,
	))
	p := &plan{folder: folder, enc: text.UTF16, files: map[string]*file{}}
	for _, c := range edit.DocumentChanges {
		if err := p.add(c); err != nil {
			t.Fatal(err)
		}
	}
	p.steps = append(p.steps, &move{from: "gone", to: "x/y"})
	var refusal *Refusal
	if err := p.commit(); !errors.As(err, &refusal) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, read(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(before) {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// What appears between the look and the deed is not overwritten.
func TestRaces(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, files{"a": "A"})
	folder, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for name, edit := range map[string]string{
		"create": changes(`{"kind":"create","uri":"DIR/n"}`),
		"rename": changes(`{"kind":"rename","oldUri":"DIR/a","newUri":"DIR/n"}`),
	} {
		p := &plan{folder: folder, files: map[string]*file{}}
		if err := p.add(parse(t, dir, edit).DocumentChanges[0]); err != nil {
			t.Fatal(err)
		}
		lay(t, dir, files{"n": "theirs"})
		if err := p.commit(); err == nil {
			t.Errorf("%s: done over a file that appeared", name)
		}
		if diff := cmp.Diff(files{"a": "A", "n": "theirs"}, read(t, dir)); diff != "" {
			t.Error(name, diff)
		}
		if err := os.Remove(filepath.Join(dir, "n")); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzApply checks that text edits come out as replacing the same spans of the
// text would, whatever the text, and that nothing but that file changes.
func FuzzApply(f *testing.F) {
	f.Add("one\r\ntwo\rthree\n", uint32(0), uint32(1), uint32(1), uint32(2), "x", true)
	f.Add("\ufeff😀a\n", uint32(0), uint32(2), uint32(0), uint32(3), "\r\n", false)
	f.Fuzz(func(t *testing.T, content string, l1, c1, l2, c2 uint32, newText string, utf8 bool) {
		enc := text.UTF16
		if utf8 {
			enc = text.UTF8
		}
		dir := t.TempDir()
		before := files{"f": content, "other": "o"}
		lay(t, dir, before)
		folder, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		edit := &protocol.TextEdit{NewText: newText}
		edit.Range.Start = protocol.Position{Line: l1, Character: c1}
		edit.Range.End = protocol.Position{Line: l2, Character: c2}
		c := &protocol.TextDocumentEdit{Edits: []protocol.TextDocumentEditElement{edit}}
		c.TextDocument.URI = uri.File(filepath.Join(dir, "f"))
		err = folder.Apply(protocol.WorkspaceEdit{DocumentChanges: []protocol.DocumentChange{c}}, enc)

		want := maps.Clone(before)
		if err == nil {
			rest, hasBOM := strings.CutPrefix(content, bom)
			d := text.New(rest)
			start, _ := d.Offset(text.Position{Line: l1, Character: c1}, enc)
			end, _ := d.Offset(text.Position{Line: l2, Character: c2}, enc)
			want["f"] = rest[:start] + newText + rest[end:]
			if hasBOM {
				want["f"] = bom + want["f"]
			}
		}
		if got := read(t, dir); !maps.Equal(got, want) {
			t.Errorf("after %v: %q, want %q", err, got, want)
		}
	})
}

func TestDocumentChangesAreSorted(t *testing.T) {
	edit := protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{"file:///b": nil, "file:///a": nil}}
	var got []string
	for _, c := range documentChanges(edit) {
		got = append(got, string(c.(*protocol.TextDocumentEdit).TextDocument.URI))
	}
	if !slices.Equal(got, []string{"file:///a", "file:///b"}) {
		t.Errorf("got %v", got)
	}
}
