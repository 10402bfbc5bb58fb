package file_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestWriteFile(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": "one\ntwo\n"})
	says(t, "new", d.ok("write_file", in{"path": "src/new/deep/a.go", "content": "package a\n"}), "Created src/new/deep/a.go, 1 line", "not on disk yet")
	d.sees("src/new/deep/a.go", "package a\n")
	says(t, "again", d.ok("write_file", in{"path": "src/new/deep/a.go", "content": "package a\n\nvar x int"}), "Rewrote", "3 lines")
	says(t, "old", d.ok("write_file", in{"path": "a.txt", "content": "one\n2\n"}), "Rewrote a.txt")
	d.sees("a.txt", "one\n2\n")
	says(t, "back", d.ok("write_file", in{"path": "a.txt", "content": "one\ntwo\n"}), "nothing is proposed for it any more")
	d.ok("write_file", in{"path": "empty", "content": ""})
	d.sees("empty", "")
}

// What the user typed after the agent read the file is kept, or the write is
// refused (C055).
func TestWriteFileMerges(t *testing.T) {
	d := newDesk(t, map[string]string{"f.py": "def f(self):\n    if x:\n        a()\n\n\nb()\n"})
	path := filepath.Join(d.dir, "f.py")
	d.ok("read_file", in{"path": "f.py"})
	d.buffers[path] = "def f(self):\n    if yy:\n        a()\n\n\nb()\n"
	got := d.ok("write_file", in{"path": "f.py", "content": "def f(self):\n    if x:\n        a()\n\n\nc()\n"})
	says(t, "merged", got, "those changes are kept")
	d.sees("f.py", "def f(self):\n    if yy:\n        a()\n\n\nc()\n")

	d.ok("read_file", in{"path": "f.py"})
	d.buffers[path] = "def f(self):\n    if zzz:\n        a()\n\n\nb()\n"
	d.fails("write_file", in{"path": "f.py", "content": "def f(self):\n    if me:\n        a()\n\n\nc()\n"}, "read it again")
	d.sees("f.py", "def f(self):\n    if zzz:\n        a()\n\n\nc()\n")
}

func TestWriteFileRefusals(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": "one\r\ntwo\r\n", "b.bin": "a\x00b", "l1.php": "// caf\xe9\n", "dir/x": ""})
	d.fails("write_file", in{"path": "a.txt", "content": "one\r\ntwo\r\n"}, "no change")
	d.fails("write_file", in{"path": "a.txt", "content": "one\ntwo\n"}, "no change")
	d.fails("write_file", in{"path": "b.bin", "content": "x"}, "binary, 3 bytes")
	d.fails("write_file", in{"path": "l1.php", "content": "x"}, "not UTF-8")
	d.fails("write_file", in{"path": "dir", "content": "x"}, "folder")
	d.fails("write_file", in{"path": "dir/", "content": "x"}, "folder")
	d.fails("write_file", in{"path": "new/", "content": "x"}, "folder")
	d.fails("write_file", in{"path": "a.txt/b", "content": "x"}, "leads through a file")
	d.ok("write_file", in{"path": "p", "content": "x"})
	d.fails("write_file", in{"path": "p/q", "content": "x"}, "p is a file")
}

// Content is taken as it is (C028, C029).
func TestWriteFileIsVerbatim(t *testing.T) {
	d := newDesk(t, nil)
	for path, content := range map[string]string{
		"a.rs":      "```rust\nfn main(){}\n```",
		"README.md": "```\nx\n```\n",
		"p.py":      "print(\"Hello\\nworld\")\n",
		"x.html":    "&lt;b&gt;\n",
		"two.txt":   "a  \n\n\n",
	} {
		d.ok("write_file", in{"path": path, "content": content})
		d.sees(path, content)
	}
}

// What is left of half a character is not written, unless the file has such.
func TestBrokenCharacters(t *testing.T) {
	d := newDesk(t, map[string]string{"a": "one\n", "b": "one \ufffd\n"})
	d.fails("write_file", in{"path": "new", "content": "\ufffd"}, "U+FFFD")
	d.fails("edit_file", in{"path": "a", "old_text": "one", "new_text": "\ufffd"}, "U+FFFD")
	d.ok("edit_file", in{"path": "b", "old_text": "one \ufffd", "new_text": "two \ufffd"})
	d.sees("b", "two \ufffd\n")
}

// A new file has the line endings of its place, an old one keeps its own.
func TestWriteFileEndings(t *testing.T) {
	d := newDesk(t, map[string]string{
		"crlf/a.bat": "x\r\ny\r\n", "crlf/b.bat": "x\r\n", "crlf/c.txt": "x\n",
		"conf/.editorconfig":      "root = true\n[*]\nend_of_line = lf\n[*.{bat,cmd}]\nend_of_line = crlf\n",
		"attr/.gitattributes":     "# endings\n*.bat text eol=crlf\n*.sh text eol=lf\n",
		"attr/sub/.editorconfig":  "[*.py]\nend_of_line = crlf\n",
		"mixed.txt":               "one\r\ntwo\nthree\r\nfour\n",
		"mac.txt":                 "one\rtwo\r",
		"crlf/neighbour/only.bat": "x\r\ny\n",
	})
	for _, c := range []struct{ path, content, want string }{
		{"crlf/new.bat", "a\nb\n", "a\r\nb\r\n"},
		{"crlf/new.txt", "a\nb\n", "a\nb\n"},
		{"crlf/new.go", "a\nb\n", "a\nb\n"},
		{"crlf/neighbour/new.bat", "a\nb\n", "a\nb\n"},
		{"plain.bat", "a\nb\n", "a\nb\n"},
		{"plain2.bat", "a\r\nb\r\n", "a\r\nb\r\n"},
		{"conf/new.bat", "a\nb\n", "a\r\nb\r\n"},
		{"conf/deep/er/new.cmd", "a\nb\n", "a\r\nb\r\n"},
		{"conf/new.txt", "a\r\nb\r\n", "a\nb\n"},
		{"attr/new.bat", "a\nb\n", "a\r\nb\r\n"},
		{"attr/new.sh", "a\r\nb\n", "a\nb\n"},
		{"attr/sub/new.py", "a\n", "a\r\n"},
		{"mixed.txt", "one\ntwo\nTHREE\nfour\nfive\n", "one\r\ntwo\nTHREE\r\nfour\nfive\n"},
		{"mac.txt", "one\ntwo\nthree\n", "one\rtwo\rthree\r"},
	} {
		d.ok("write_file", in{"path": c.path, "content": c.content})
		d.sees(c.path, c.want)
	}
}
