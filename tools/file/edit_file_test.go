package file_test

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestEditFile(t *testing.T) {
	d := newDesk(t, map[string]string{"a.go": "one\ntwo\nthree\n"})
	got := d.ok("edit_file", in{"path": "a.go", "old_text": "two", "new_text": "2\n2b"})
	says(t, "result", got, "Edited a.go, lines 2-3", "Pending the user's review", "not on disk yet")
	d.sees("a.go", "one\n2\n2b\nthree\n")
	says(t, "read", d.ok("read_file", in{"path": "a.go"}), "2\t2\n3\t2b\n")
	got = d.ok("edit_file", in{"path": "a.go", "old_text": "2", "new_text": "II", "replace_all": true})
	says(t, "all", got, "2 occurrences replaced")
	d.sees("a.go", "one\nII\nIIb\nthree\n")
	got = d.ok("edit_file", in{"path": "a.go", "edits": []any{in{"old_text": "one", "new_text": "1"}, in{"old_text": "three", "new_text": "3"}}})
	says(t, "several", got, "(2 edits)", "lines 1, 4")
	d.sees("a.go", "1\nII\nIIb\n3\n")
}

func TestEditFileRefusals(t *testing.T) {
	d := newDesk(t, map[string]string{"a.go": "one\ntwo\ntwo\n", "empty": "", "b.bin": "a\x00b", "l1.php": "// caf\xe9\n$a = 1 > 2;\n", "g.ini": "\xc4\xe3\xba\xc3=1\r\n", "u16.txt": "\xff\xfea\x00\n\x00", "dir/": ""})
	for _, c := range []struct {
		path, old string
		want      []string
	}{
		{"a.go", "four", []string{"old_text not found in a.go"}},
		{"a.go", "two", []string{"not unique", "2 matches", "lines 2, 3"}},
		{"a.go", "", []string{"empty"}},
		{"empty", "x", []string{"not found", "the file is empty"}},
		{"aa.go", "x", []string{"aa.go not found", "did you mean a.go?"}},
		{"b.bin", "a", []string{"binary, 3 bytes"}},
		{"l1.php", "1 > 2", []string{"not UTF-8"}},
		{"g.ini", "=1", []string{"not UTF-8"}},
		{"u16.txt", "a", []string{"UTF-16"}},
		{"dir", "a", []string{"folder"}},
		{".", "a", []string{"folder"}},
	} {
		d.fails("edit_file", in{"path": c.path, "old_text": c.old, "new_text": "new"}, c.want...)
	}
	d.fails("edit_file", in{"path": "a.go", "old_text": "one", "new_text": "one"}, "no change")
	if o := d.changes.Overlay(); len(o.Present)+len(o.Modified)+len(o.Gone) > 0 {
		t.Errorf("something was proposed: %+v", o)
	}
}

// A formatter ran after the edit: the refusal says that the file is another
// one, and shows it (C047).
func TestEditOfChangedFile(t *testing.T) {
	d := newDesk(t, map[string]string{"a.go": "func f() {\n\tx()\n}\n"})
	d.ok("read_file", in{"path": "a.go"})
	d.fails("edit_file", in{"path": "a.go", "old_text": "y()", "new_text": "z()"}, "not found")
	if got := d.call("edit_file", in{"path": "a.go", "old_text": "y()", "new_text": "z()"}); strings.Contains(got.Text, "was changed") {
		t.Errorf("it was not: %q", got.Text)
	}
	d.buffers[filepath.Join(d.dir, "a.go")] = "func f() {\n    x()\n}\n"
	d.fails("edit_file", in{"path": "a.go", "old_text": "\tx()", "new_text": "\tz()"},
		"not found", "changed after you last read or edited it", "white space", "It now reads:\n1\tfunc f() {\n2\t    x()\n3\t}")
}

// The unsaved text is the one that is edited (C036).
func TestEditOfBuffer(t *testing.T) {
	d := newDesk(t, map[string]string{"f.txt": "disk\n"})
	d.buffers[filepath.Join(d.dir, "f.txt")] = "typed\n"
	says(t, "read", d.ok("read_file", in{"path": "f.txt"}), "1\ttyped", "unsaved changes")
	d.ok("edit_file", in{"path": "f.txt", "old_text": "typed", "new_text": "done"})
	d.sees("f.txt", "done\n")
}

func TestEditOfByteOrderMark(t *testing.T) {
	d := newDesk(t, map[string]string{"s.ps1": "\xef\xbb\xbfhello\r\nworld\r\n"})
	got := d.ok("read_file", in{"path": "s.ps1"})
	if !strings.HasPrefix(got, "1\thello\n") {
		t.Errorf("%q", got)
	}
	d.ok("edit_file", in{"path": "s.ps1", "old_text": "hello", "new_text": "hello2"})
	d.sees("s.ps1", "hello2\r\nworld\r\n")
	d.ok("write_file", in{"path": "s.ps1", "content": "\ufeffall\nnew\n"})
	d.sees("s.ps1", "all\r\nnew\r\n")
}

func TestExcerptIsBounded(t *testing.T) {
	d := newDesk(t, map[string]string{"a": strings.Repeat(strings.Repeat("阴", 5000)+"\n", 100)})
	res := d.call("edit_file", in{"path": "a", "old_text": strings.Repeat(" "+strings.Repeat("阴", 5000)+"\n", 50), "new_text": "x"})
	if len(res.Text) > 8000 {
		t.Errorf("%d bytes", len(res.Text))
	}
}

func TestReadOnlyFile(t *testing.T) {
	d := newDesk(t, map[string]string{"a": "x\n"})
	chmod(t, filepath.Join(d.dir, "a"), 0o444)
	says(t, "edit", d.ok("edit_file", in{"path": "a", "old_text": "x", "new_text": "y"}), "read-only on disk")
}
