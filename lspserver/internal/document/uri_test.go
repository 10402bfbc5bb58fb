package document

import (
	"errors"
	"testing"
)

func TestPathOf(t *testing.T) {
	for _, tt := range []struct{ uri, unix, windows string }{
		{"file:///t/with%20space/a%23b/100%25/q%3Fx", "/t/with space/a#b/100%/q?x", ""},
		{"FILE:///t/a", "/t/a", ""},
		{"file:/t/a", "/t/a", ""},
		{"file://localhost/t/x", "/t/x", `\t\x`},
		{"file:///t/./a//b/../c", "/t/a/c", ""},
		{"file:///t/%C3%BCn%C3%AF/中文.go", "/t/ünï/中文.go", ""},
		{"file:///t/[id].tsx", "/t/[id].tsx", ""},
		{"file:///t/%5Bid%5D.tsx", "/t/[id].tsx", ""},
		{"file:///t/a+b", "/t/a+b", ""},
		{"file:///t/a%2Bb", "/t/a+b", ""},
		{"file:///t/c%253A", "/t/c%3A", ""},
		{"file:///t/100%", "/t/100%", ""},
		{"file:///t/100%zz%4", "/t/100%zz%4", ""},
		{"file:///", "/", ""},
		{"file:///c%3A/W/x", "/C:/W/x", `C:\W\x`},
		{"file:///C:/W/x", "/C:/W/x", `C:\W\x`},
		{"file://c:/W/x", "/C:/W/x", `C:\W\x`},
		{"file:///c:", "/C:", `C:\`},
		{"file:///c:/a%5Cb", `/C:/a\b`, `C:\a\b`},
		{"file://server/share/x", "", `\\server\share\x`},
		{"file:////server/share/x", "/server/share/x", `\\server\share\x`},
	} {
		got, err := pathOf(tt.uri, false)
		if got != tt.unix || (err != nil) != (tt.unix == "") {
			t.Errorf("%s: %q, %v; want %q", tt.uri, got, err, tt.unix)
		}
		if tt.windows == "" {
			continue
		}
		if got, err := pathOf(tt.uri, true); got != tt.windows || err != nil {
			t.Errorf("%s on Windows: %q, %v; want %q", tt.uri, got, err, tt.windows)
		}
	}
	for _, uri := range []string{
		"", "a.go", "/t/a.go", "file:a.go", "file:", "untitled:Untitled-1", "vscode-remote://ssh-remote+h/proj/a.go",
		"git:/proj/a.go?ref", "file:///t/a.go?ref=HEAD", "file:///t/a#b", "file:///t/a%00b", `C:\t\a.go`,
	} {
		if p, err := pathOf(uri, false); !errors.Is(err, ErrNotFile) {
			t.Errorf("%s: %q, %v; want ErrNotFile", uri, p, err)
		}
	}
}

func TestURIOf(t *testing.T) {
	for _, tt := range []struct {
		path    string
		windows bool
		want    string
	}{
		{"/t/with space/a#b/100%/q?x", false, "file:///t/with%20space/a%23b/100%25/q%3Fx"},
		{"/t/c%3A", false, "file:///t/c%253A"},
		{"/t/[id].tsx", false, "file:///t/%5Bid%5D.tsx"},
		{"/t/a+b", false, "file:///t/a+b"},
		{"/t/中\xff", false, "file:///t/%E4%B8%AD%FF"},
		{`C:\W\x y`, true, "file:///C:/W/x%20y"},
		{`\\server\share\x`, true, "file://server/share/x"},
	} {
		got := uriOf(tt.path, tt.windows)
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.path, got, tt.want)
		}
		if back, err := pathOf(got, tt.windows); back != tt.path || err != nil {
			t.Errorf("%s: reads back as %q, %v", tt.path, back, err)
		}
	}
}

func TestIdentity(t *testing.T) {
	same := [][]string{
		{"file:///t/a%20b", "file:///t/a b", "file://localhost/t/a%20b", "file:///t//./a%20b"},
		{"file:///t/%5bid%5D.tsx", "file:///t/[id].tsx"},
		{"file:///c%3A/x", "file:///C:/x", "file:///C%3a/x"},
		{"untitled:Untitled-1", "untitled:Untitled%2D1", "Untitled:Untitled-1"},
		{"vscode-remote://ssh-remote+h/a", "vscode-remote://ssh-remote%2Bh/a"},
	}
	for _, uris := range same {
		for _, u := range uris[1:] {
			if identity(u) != identity(uris[0]) {
				t.Errorf("%s and %s differ", u, uris[0])
			}
		}
	}
	for _, pair := range [][2]string{
		{"file:///t/a", "file:///t/A"},
		{"file:///t/a%2520b", "file:///t/a%20b"},
		{"file:///t/a", "git:/t/a"},
		{"file:///t/a", "file:///t/a?ref"},
		{"git:/a?x%26y", "git:/a?x&y"},
		{"x:/a%2Fb", "x:/a/b"},
	} {
		if identity(pair[0]) == identity(pair[1]) {
			t.Errorf("%s and %s are taken for one", pair[0], pair[1])
		}
	}
}

func FuzzPathOf(f *testing.F) {
	f.Add("/t/a b#c%?d")
	f.Add("/c%3A/x")
	f.Add("/\xff")
	f.Add("c:")
	f.Fuzz(func(t *testing.T, path string) {
		p, err := pathOf("file:///"+escape(path), false)
		if err != nil {
			return // a NUL
		}
		if back, err := pathOf(uriOf(p, false), false); back != p || err != nil {
			t.Fatalf("%q reads back as %q, %v (by %s)", p, back, err, uriOf(p, false))
		}
	})
}
