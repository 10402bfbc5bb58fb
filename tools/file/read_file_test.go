package file_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestReadFile(t *testing.T) {
	d := newDesk(t, map[string]string{
		"a.txt": "one\n\ntwo", "crlf.txt": "one\r\ntwo\r\n", "empty": "", "long.txt": lines(1, 5000), "log": "1%\r2%\nend\n", "dir/x": "",
	})
	for _, c := range []struct {
		input in
		want  string
	}{
		{in{"path": "a.txt"}, "1\tone\n2\t\n3\ttwo\n(no newline at the end of the file)"},
		{in{"path": "crlf.txt"}, "1\tone\n2\ttwo"},
		{in{"path": "log"}, "1\t1%\n2\t2%\n3\tend"},
		{in{"path": "empty"}, "(empty is empty)"},
		{in{"path": "long.txt", "offset": 10, "limit": 2}, "10\tline 10\n11\tline 11\n(4989 more lines; continue with offset=12)"},
		{in{"path": "long.txt", "offset": "4999"}, "4999\tline 4999\n5000\tline 5000"},
		{in{"path": "long.txt", "offset": 4999, "limit": 1}, "4999\tline 4999\n(1 more line; continue with offset=5000)"},
	} {
		if got := d.ok("read_file", c.input); got != c.want {
			t.Errorf("%v: %q, want %q", c.input, got, c.want)
		}
	}
	got := d.ok("read_file", in{"path": "long.txt"})
	if n := strings.Count(got, "\n"); n != 2000 || !strings.HasSuffix(got, "(3000 more lines; continue with offset=2001)") {
		t.Errorf("%d lines, ends %q", n, got[len(got)-60:])
	}
	d.fails("read_file", in{"path": "long.txt", "offset": 5001}, "5000 lines, offset 5001 is past its end")
	d.fails("read_file", in{"path": "a.txt", "offset": -1}, "negative")
	d.fails("read_file", in{"path": "dir"}, "use list_dir")
	d.fails("read_file", in{"path": "."}, "use list_dir")
}

func TestReadFileNotFound(t *testing.T) {
	d := newDesk(t, map[string]string{"src/parser.go": "x\n", "lib/Main.go": "x\n", "src/other.go": "x\n"})
	d.fails("read_file", in{"path": "src/parsr.go"}, "src/parsr.go not found", "did you mean src/parser.go?")
	d.fails("read_file", in{"path": "src/main.go"}, "lib/Main.go")
	d.fails("read_file", in{"path": "nowhere/quite-else.txt"}, "nothing with a name like it")
	d.fails("read_file", in{"path": "src/parser.go/x"}, "leads through a file")
	d.ok("write_file", in{"path": "src/fresh.go", "content": "x\n"})
	d.fails("read_file", in{"path": "src/frsh.go"}, "src/fresh.go")
}

// What is no text is said to be none (C006 to C008, C032).
func TestReadOtherEncodings(t *testing.T) {
	d := newDesk(t, map[string]string{
		"p.png": "\x89PNG\x00\x01\x02\x03", "l1.php": "// caf\xe9\n$a = 1;\n// na\xefve\n", "u16.txt": "\xff\xfea\x00\n\x00", "g.ini": "\xc4\xe3\xba\xc3=1\r\n",
	})
	says(t, "binary", d.ok("read_file", in{"path": "p.png"}), "p.png is binary, 8 bytes")
	says(t, "latin", d.ok("read_file", in{"path": "l1.php"}), "warning", "not UTF-8", "cannot be edited", "2\t$a = 1;")
	says(t, "utf-16", d.ok("read_file", in{"path": "u16.txt"}), "not UTF-8 (UTF-16 LE)", "1\ta")
	says(t, "gbk", d.ok("read_file", in{"path": "g.ini"}), "not UTF-8")
	// The editor's text of the same file is text (C008).
	d.buffers[filepath.Join(d.dir, "u16.txt")] = "a\n"
	says(t, "open", d.ok("read_file", in{"path": "u16.txt"}), "1\ta")
}

// A long line is cut between characters, a large file is paged (C031, C098).
func TestReadLarge(t *testing.T) {
	d := newDesk(t, map[string]string{"min.js": strings.Repeat("é", 1_500_000), "wide": strings.Repeat(strings.Repeat("😀", 300)+"\n", 200)})
	got := d.ok("read_file", in{"path": "min.js"})
	if len(got) > 3000 || !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) {
		t.Errorf("%d bytes", len(got))
	}
	says(t, "cut", got, "(line cut, it has 3000000 bytes)")
	got = d.ok("read_file", in{"path": "wide"})
	if len(got) > 50<<10 || strings.ContainsRune(got, utf8.RuneError) {
		t.Errorf("%d bytes", len(got))
	}
	says(t, "paged", got, "more lines; continue with offset=")

	d.put("big.log", strings.Repeat(lines(1, 100), 48_000))
	began := time.Now()
	got = d.ok("read_file", in{"path": "big.log", "offset": 10, "limit": 20})
	says(t, "big", got, "10\tline 10\n", "continue with offset=30", "38016000 bytes", "too large to be edited")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	d.fails("edit_file", in{"path": "big.log", "old_text": "line 10\n", "new_text": "x"}, "too large")
}

func TestListDir(t *testing.T) {
	d := newDesk(t, map[string]string{
		"b.go": "", "a.go": "", "sub/x": "", "node_modules/y": "", ".gitignore": "node_modules/\n", ".git/HEAD": "ref: refs/heads/main\n", "gone.go": "",
		"odd/a\x1b]52;c\x07.txt": "", "odd/b\n2\tfake": "", "vide/": "",
	})
	d.ok("write_file", in{"path": "new.go", "content": "x\n"})
	d.ok("write_file", in{"path": "fresh/deep/z.go", "content": "x\n"})
	d.ok("delete_file", in{"path": "gone.go"})
	d.buffers[filepath.Join(d.dir, "tab.py")] = "x\n"
	want := `.gitignore
a.go
b.go
fresh/  (pending: new folder)
gone.go  (pending: proposed to be deleted or moved)
new.go  (pending: proposed, not on disk)
odd/
sub/
tab.py  (open in the editor, not on disk)
vide/
(ignored by git: .git/, node_modules/)`
	for _, input := range []in{{}, {"path": "."}, {"path": ""}, {"path": d.dir}, {"path": nil}} {
		if got := d.ok("list_dir", input); got != want {
			t.Errorf("%v: %s", input, got)
		}
	}
	if got := d.ok("list_dir", in{"path": "fresh"}); got != "deep/  (pending: new folder)" {
		t.Errorf("%q", got)
	}
	if got := d.ok("list_dir", in{"path": "vide"}); got != "(vide is empty)" {
		t.Errorf("%q", got)
	}
	// Names that could act on a terminal are escaped (C139).
	got := d.ok("list_dir", in{"path": "odd"})
	if strings.ContainsAny(got, "\x1b\x07") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
	d.fails("list_dir", in{"path": "a.go"}, "is a file")
	d.fails("list_dir", in{"path": "nowhere"}, "nowhere not found")
	says(t, "ignored", d.ok("list_dir", in{"path": "node_modules"}), "y")
}

func TestListDirIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 1200 {
		files[fmt.Sprintf("f%04d", i)] = ""
	}
	got := newDesk(t, files).ok("list_dir", in{})
	if strings.Count(got, "\n") != 1000 || !strings.HasSuffix(got, "(200 more entries, not shown: find them with glob)") {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}
