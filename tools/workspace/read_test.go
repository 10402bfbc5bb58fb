package workspace_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/agentls/agentls/tools/workspace"
)

// C006, C007, C008, C032: what files are, by their bytes.
func TestDetect(t *testing.T) {
	encode := func(s string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const japaneseText = "これは設定ファイルです。\nカタカナも含む。\n"
	for _, c := range []struct {
		name, bytes string
		want        workspace.Encoding
		shown       string
	}{
		{"empty", "", workspace.UTF8, ""},
		{"plain", "a\n", workspace.UTF8, "a\n"},
		{"mark", "\xEF\xBB\xBFa\n", workspace.UTF8, "a\n"},
		{"two marks", "\xEF\xBB\xBF\xEF\xBB\xBFa\n", workspace.UTF8, "\uFEFFa\n"},
		{"controls", "10%\r50%\x0c\u2028\u0085\x1b[1m\n", workspace.UTF8, "10%\r50%\x0c\u2028\u0085\x1b[1m\n"},
		{"latin-1", "// caf\xE9\n$a = 1 > 2;\n// na\xEFve\n", workspace.LikeLatin, "// café\n$a = 1 > 2;\n// naïve\n"},
		{"windows-1252", "\x93quoted\x94 \x80 5\n", workspace.LikeLatin, "“quoted” € 5\n"},
		{"gbk", "\xC4\xE3\xBA\xC3=1\r\n", workspace.LikeGBK, "你好=1\r\n"},
		{"long gbk", encode(simplifiedchinese.GBK.NewEncoder().String("; 中文配置文件，包含很多汉字。\r\n[设置]\r\n语言=简体中文\r\n")), workspace.LikeGBK, "; 中文配置文件，包含很多汉字。\r\n[设置]\r\n语言=简体中文\r\n"},
		{"shift-jis", encode(japanese.ShiftJIS.NewEncoder().String(japaneseText)), workspace.LikeSJIS, japaneseText},
		{"euc-jp", encode(japanese.EUCJP.NewEncoder().String(japaneseText)), workspace.LikeEUCJP, japaneseText},
		{"euc-kr", encode(korean.EUCKR.NewEncoder().String("설정 파일입니다. 한국어 주석이 있습니다.\n")), workspace.LikeEUCKR, "설정 파일입니다. 한국어 주석이 있습니다.\n"},
		{"utf-16 le", "\xFF\xFEa\x00\n\x00", workspace.UTF16LE, "a\n"},
		{"utf-16 be", "\xFE\xFF\x00a\x00\n", workspace.UTF16BE, "a\n"},
		{"utf-16, astral", encode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("😀é\n")), workspace.UTF16LE, "😀é\n"},
		{"utf-16, broken", "\xFF\xFE\x3D\xD8a\x00\x00\x00", workspace.UTF16LE, "\uFFFDa\\x00"},
		{"utf-32 le", "\xFF\xFE\x00\x00a\x00\x00\x00", workspace.UTF32LE, "a"},
		{"utf-32 be", "\x00\x00\xFE\xFF\x00\x00\x00a", workspace.UTF32BE, "a"},
		{"utf-16 le, no mark", "h\x00e\x00l\x00l\x00o\x00\n\x00", workspace.LikeUTF16LE, "hello\n"},
		{"utf-16 be, no mark", "\x00h\x00e\x00l\x00l\x00o\x00\n", workspace.LikeUTF16BE, "hello\n"},
		{"png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", workspace.Binary, ""},
		{"one NUL", "text with\x00a NUL", workspace.Binary, ""},
		{"noise", "\x01\x02\x03\xfe\xff\x9a\x12\x05\x06\x07", workspace.Binary, ""},
	} {
		got := workspace.Detect([]byte(c.bytes), true)
		if got != c.want {
			t.Errorf("%s is %q, want %q", c.name, got, c.want)
		}
		if shown := workspace.Decode([]byte(c.bytes), got); shown != c.shown {
			t.Errorf("%s is shown as %q, want %q", c.name, shown, c.shown)
		}
	}
	big5 := encode(traditionalchinese.Big5.NewEncoder().String("設定檔案，繁體中文說明。\n"))
	if got := workspace.Detect([]byte(big5), true); got == workspace.UTF8 || got == workspace.Binary {
		t.Errorf("Big5 is %q", got)
	}
}

func TestDetectHead(t *testing.T) {
	head := []byte("日本語")
	for n := range head {
		if got := workspace.Detect(head[:n], false); got != workspace.UTF8 {
			t.Errorf("%d bytes of UTF-8 are %q", n, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"a", "caf\xE9", "\xC4\xE3\xBA\xC3=1", "\xFF\xFEa\x00", "\x00\x00\xFE\xFF", "\x82\xA0\x83\x41"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		enc := workspace.Detect(b, true)
		s := workspace.Decode(b, enc)
		if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
			t.Errorf("%q as %s is shown as %q", b, enc, s)
		}
		if enc == workspace.UTF8 && strings.TrimPrefix(string(b), "\xEF\xBB\xBF") != s {
			t.Errorf("%q is UTF-8 and changed to %q", b, s)
		}
	})
}

func TestReadFile(t *testing.T) {
	dir := tempDir(t)
	files(t, dir, map[string]string{"a.txt": "text", "sub/": "", "big": strings.Repeat("x", 101)})
	w := open(t, nil, dir)
	var tooLarge *workspace.TooLargeError
	if _, err := w.ReadFile(filepath.Join(dir, "big"), 100); !errors.As(err, &tooLarge) || tooLarge.Size != 101 {
		t.Errorf("a large file: %v", err)
	}
	var notFile *workspace.NotFileError
	if _, err := w.ReadFile(filepath.Join(dir, "sub"), 100); !errors.As(err, &notFile) || err.Error() != "sub is a folder, not a file" {
		t.Errorf("a folder: %v", err)
	}
	if _, err := w.ReadFile(filepath.Join(dir, "none"), 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
	if _, err := w.ReadFile(filepath.Join(dir, "a.txt", "x"), 100); err == nil {
		t.Error("a file in a file was read")
	}
	if got, err := w.ReadFile(filepath.Join(dir, "a.txt"), 4); got != "text" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := w.ReadFile(dir+"-sibling/x", 100); !workspace.IsOutside(err) {
		t.Errorf("outside: %v", err)
	}
}

// What was resolved is swapped for a link before it is opened.
func TestSwappedForLink(t *testing.T) {
	top := tempDir(t)
	files(t, top, map[string]string{"ws/a": "mine", "ws/d/b": "mine", "secret/a": "SECRET", "secret/b": "SECRET"})
	w := open(t, nil, filepath.Join(top, "ws"))
	for spelling, link := range map[string]string{"a": "ws/a", "d/b": "ws/d"} {
		p, err := w.Resolve(spelling)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(top, link)
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		for _, target := range []string{filepath.Join(top, "secret", filepath.Base(p.Abs)), "../secret/a", "../secret"} {
			if err := os.Symlink(target, name); err != nil {
				t.Fatal(err)
			}
			if got, err := w.ReadFile(p.Abs, 100); err == nil || got != "" {
				t.Errorf("%s -> %s was read: %q", spelling, target, got)
			}
			if _, err := w.Stat(p.Abs); err == nil {
				t.Errorf("%s -> %s was looked at", spelling, target)
			}
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func lines(t *testing.T, w *workspace.Workspace, path string, first, limit, maxBytes int) workspace.Page {
	t.Helper()
	p, err := w.Lines(context.Background(), path, first, limit, maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLines(t *testing.T) {
	dir := tempDir(t)
	const mixed = "one\r\ntwo\nthree\rfour\n\n"
	files(t, dir, map[string]string{
		"mixed": "\xEF\xBB\xBF" + mixed, "none": "", "open": "disk\n", "last": "a\nb", "wide": "x" + strings.Repeat("é", 100) + "\nnext\n",
		"u16": "\xFF\xFEa\x00\n\x00b\x00\n\x00", "latin": "caf\xE9\nna\xEFve\n", "png": "\x89PNG\x00", "late": strings.Repeat("text\n", 20000) + "\x00\n", "sub/": "",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	w := open(t, buffers{at("open"): "typed\nmore\n"}, dir)
	for _, c := range []struct {
		name                   string
		first, limit, maxBytes int
		want                   workspace.Page
	}{
		{"mixed", 1, 100, 1000, workspace.Page{Text: mixed, First: 1, Lines: 5, Total: 5, Size: 24, Encoding: workspace.UTF8}},
		{"mixed", 2, 2, 1000, workspace.Page{Text: "two\nthree\r", First: 2, Lines: 2, Next: 4, Total: 5, Size: 24, Encoding: workspace.UTF8}},
		{"mixed", 1, 100, 10, workspace.Page{Text: "one\r\ntwo\n", First: 1, Lines: 2, Next: 3, Total: 5, Size: 24, Encoding: workspace.UTF8}},
		{"mixed", 5, 1, 10, workspace.Page{Text: "\n", First: 5, Lines: 1, Total: 5, Size: 24, Encoding: workspace.UTF8}},
		{"mixed", 6, 1, 10, workspace.Page{First: 6, Total: 5, Size: 24, Encoding: workspace.UTF8}},
		{"mixed", 0, 1, 10, workspace.Page{Text: "one\r\n", First: 1, Lines: 1, Next: 2, Total: 5, Size: 24, Encoding: workspace.UTF8}},
		{"none", 1, 10, 10, workspace.Page{First: 1, Encoding: workspace.UTF8}},
		{"last", 2, 10, 10, workspace.Page{Text: "b", First: 2, Lines: 1, Total: 2, Size: 3, Encoding: workspace.UTF8}},
		{"open", 1, 1, 10, workspace.Page{Text: "typed\n", First: 1, Lines: 1, Next: 2, Total: 2, Size: 11, Encoding: workspace.UTF8}},
		{"wide", 1, 9, 10, workspace.Page{Text: "xéééé", First: 1, Lines: 1, Cut: true, Next: 2, Total: 2, Size: 207, Encoding: workspace.UTF8}},
		{"wide", 2, 9, 10, workspace.Page{Text: "next\n", First: 2, Lines: 1, Total: 2, Size: 207, Encoding: workspace.UTF8}},
		{"u16", 2, 9, 10, workspace.Page{Text: "b\n", First: 2, Lines: 1, Total: 2, Size: 10, Encoding: workspace.UTF16LE}},
		{"latin", 2, 9, 10, workspace.Page{Text: "naïve\n", First: 2, Lines: 1, Total: 2, Size: 11, Encoding: workspace.LikeLatin}},
		{"late", 2, 1, 10, workspace.Page{Text: "text\n", First: 2, Lines: 1, Next: 3, Total: 20001, Size: 100002, Encoding: workspace.UTF8}},
	} {
		if got := lines(t, w, at(c.name), c.first, c.limit, c.maxBytes); got != c.want {
			t.Errorf("%s from %d, %d lines, %d bytes:\n got %+v\nwant %+v", c.name, c.first, c.limit, c.maxBytes, got, c.want)
		}
	}
	for name, want := range map[string]string{"png": "png is binary, 5 bytes", "sub": "sub is a folder", "gone": "no such file"} {
		if _, err := w.Lines(context.Background(), at(name), 1, 1, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Lines(context.Background(), at("late"), 20001, 1, 100); err == nil || !strings.Contains(err.Error(), "binary") {
		t.Errorf("a NUL far in: %v", err)
	}
}

// FuzzLines puts a file together from its pages, of any size.
func FuzzLines(f *testing.F) {
	f.Add("a\r\nb\rc\n\nd", 1, 3)
	f.Add(strings.Repeat("é", 300)+"\r\n"+strings.Repeat("x\r", 300), 7, 40)
	f.Add(strings.Repeat("x", 255)+"\r\n"+strings.Repeat("y", 254)+"\r\ny", 1, 1000)
	f.Fuzz(func(t *testing.T, text string, limit, maxBytes int) {
		if limit < 1 || maxBytes < utf8.UTFMax || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\uFEFF") {
			return
		}
		dir := tempDir(t)
		path := filepath.Join(dir, "f")
		w := open(t, buffers{path: text}, dir)
		whole := lines(t, w, path, 1, 1<<30, 1<<30)
		if whole.Text != text || whole.Next != 0 || whole.Cut || whole.Lines != whole.Total {
			t.Fatalf("the whole: %+v", whole)
		}
		var b strings.Builder
		cut := false
		for next, n := 1, 0; next != 0; n++ {
			p := lines(t, w, path, next, limit, maxBytes)
			if p.First != next || p.Total != whole.Total || p.Lines > limit || len(p.Text) > maxBytes || n > whole.Total {
				t.Fatalf("page from %d: %+v", next, p)
			}
			cut = cut || p.Cut
			b.WriteString(p.Text)
			next = p.Next
		}
		if !cut && b.String() != text {
			t.Errorf("pages of %d lines, %d bytes make %q of %q", limit, maxBytes, b.String(), text)
		}
	})
}

// C031: a slice of a large file is cheap, in time and memory.
func BenchmarkLines(b *testing.B) {
	dir := tempDir(b)
	path := filepath.Join(dir, "big.log")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	chunk := strings.Repeat("2024-05-06 12:00:00 something happened again, as it does\n", 1<<14)
	size := 0
	for size < 200<<20 {
		n, err := f.WriteString(chunk)
		if err != nil {
			b.Fatal(err)
		}
		size += n
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	w := open(b, nil, dir)
	for name, first := range map[string]int{"first": 1, "last": size/57 - 10} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				p, err := w.Lines(context.Background(), path, first, 100, 32<<10)
				if err != nil || p.Lines == 0 {
					b.Fatal(p, err)
				}
			}
		})
	}
}
