package document

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/tools/text"
)

// must fails the test on an error of a notification that is in order.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func whole(s string) []Change { return []Change{{Text: s}} }

func (s *Store) textOf(path string) string {
	d, ok := s.Get(path)
	if !ok {
		return "(not open)"
	}
	return d.Doc.String()
}

func TestVersionsAreTheEditors(t *testing.T) { // C037
	s := NewStore(text.UTF16, nil)
	must(t, s.Open("file:///t/a", "go", 7, "x"))
	must(t, s.Change("file:///t/a", 8, whole("y")))
	must(t, s.Change("file:///t/a", 9, whole("z")))
	if d, _ := s.Get("/t/a"); d.Version != 9 || d.LanguageID != "go" {
		t.Errorf("got %+v", d)
	}
	must(t, s.Close("file:///t/a"))
	must(t, s.Open("file:///t/a", "go", 1, "x"))
	if d, _ := s.Get("/t/a"); d.Version != 1 {
		t.Errorf("version %d after opening again at 1", d.Version)
	}
}

func TestOneDocumentInEverySpelling(t *testing.T) { // C034, C153
	s := NewStore(text.UTF16, nil)
	const asOpened = "file:///t/%5Bid%5D%20x.tsx"
	must(t, s.Open(asOpened, "tsx", 1, "a"))
	must(t, s.Change("file://localhost/t/[id] x.tsx", 2, whole("b")))
	must(t, s.Save("file:///t/./[id]%20x.tsx", nil))
	if got := s.textOf("/t/[id] x.tsx"); got != "b" {
		t.Errorf("text %q", got)
	}
	if got := s.URI("/t/[id] x.tsx"); got != asOpened {
		t.Errorf("answers with %s", got)
	}
	must(t, s.Close("file:///t/%5bid%5d%20x.tsx"))
	if got := s.URI("/t/[id] x.tsx"); got != asOpened {
		t.Errorf("answers with %s once it is closed", got)
	}
}

func TestFaultyNotifications(t *testing.T) {
	s := NewStore(text.UTF16, nil)
	for name, err := range map[string]error{
		"change": s.Change("file:///t/a", 2, whole("x")),
		"save":   s.Save("file:///t/a", nil),
		"close":  s.Close("file:///t/a"),
	} {
		if err == nil || !strings.Contains(err.Error(), "not open") {
			t.Errorf("%s of what is not open: %v", name, err)
		}
	}
	must(t, s.Open("file:///t/a", "go", 5, "one"))
	if err := s.Open("file:///t/a", "go", 1, "two"); err == nil {
		t.Error("opening twice passes without a word")
	}
	if d, _ := s.Get("/t/a"); d.Doc.String() != "two" || d.Version != 1 || len(s.Buffers()) != 1 {
		t.Errorf("after opening twice: %+v, %v", d, s.Buffers())
	}
	if err := s.Change("file:///t/a", 0, whole("three")); err == nil {
		t.Error("a version that goes back passes without a word")
	}
	if d, _ := s.Get("/t/a"); d.Doc.String() != "three" || d.Version != 0 {
		t.Errorf("after a version that went back: %+v", d)
	}
	saved := "other"
	if err := s.Save("file:///t/a", &saved); err == nil || s.textOf("/t/a") != saved {
		t.Errorf("saving another text: %v, %q", err, s.textOf("/t/a"))
	}
}

func TestDocumentsThatAreNoFiles(t *testing.T) { // C053
	s := NewStore(text.UTF16, nil)
	uris := []string{"untitled:Untitled-1", "vscode-remote://ssh-remote+h/t/a.go", "git:/t/a.go?ref", "file:///t/a.go?ref=1", "nonsense", ""}
	for _, uri := range uris {
		must(t, s.Open(uri, "go", 1, uri))
		must(t, s.Save(uri, nil))
	}
	if got := s.Buffers(); len(got) != 0 {
		t.Errorf("taken for files: %v", got)
	}
	for _, uri := range uris {
		if d, ok := s.GetURI(uri); !ok || d.Path != "" || d.Doc.String() != uri {
			t.Errorf("%q: %v, %+v", uri, ok, d)
		}
	}
	if _, ok := s.Get(""); ok {
		t.Error("a document is found under no path")
	}
}

func TestLinkedFile(t *testing.T) { // C035
	real := map[string]string{"/t/link.txt": "/t/real/a.txt"}
	s := NewStore(text.UTF16, func(p string) string {
		if to, ok := real[p]; ok {
			return to
		}
		return p
	})
	var heard []string
	s.Subscribe(func(e Event) { heard = append(heard, fmt.Sprint(e.Kind, " ", e.Doc, " ", e.Hidden)) })
	must(t, s.Open("file:///t/real/a.txt", "", 1, "one"))
	must(t, s.Change("file:///t/real/a.txt", 2, whole("dirty")))
	must(t, s.Open("file:///t/link.txt", "", 1, "one"))
	if want := []string{"opened one false", "changed dirty false", "opened one true"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	if got := s.textOf("/t/real/a.txt"); got != "dirty" {
		t.Errorf("the link's clean buffer hides the dirty one: %q", got)
	}
	must(t, s.Close("file:///t/real/a.txt"))
	if d, _ := s.Get("/t/real/a.txt"); d.URI != "file:///t/link.txt" {
		t.Errorf("got %+v", d)
	}
}

func TestURIBelowFolders(t *testing.T) {
	s := NewStore(text.UTF16, func(p string) string { return strings.Replace(p, "/link", "/real", 1) })
	s.SetFolders([]string{"file:///link/ws/", "file:///link/ws/in%6Eer", "untitled:x", "file:///c%3A/w"})
	for path, want := range map[string]string{
		"/real/ws/a b.go":     "file:///link/ws/a%20b.go",
		"/real/ws":            "file:///link/ws",
		"/real/ws/inner/x#":   "file:///link/ws/in%6Eer/x%23",
		"/real/wsx":           "file:///real/wsx",
		"/C:/w/a":             "file:///c%3A/w/a",
		"/elsewhere/100%?.go": "file:///elsewhere/100%25%3F.go",
	} {
		if got := s.URI(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestRename(t *testing.T) {
	told := map[string]func(s *Store) error{
		"close and open": func(s *Store) error {
			must(t, s.Close("file:///t/old/a.go"))
			return s.Open("file:///t/new/a.go", "go", 1, "x2")
		},
		"told, then close and open": func(s *Store) error {
			s.Rename("file:///t/old", "file:///t/new")
			if got := s.textOf("/t/new/a.go"); got != "x" {
				t.Errorf("between: %q", got)
			}
			must(t, s.Change("file:///t/old/a.go", 2, whole("x1"))) // still by its old name
			must(t, s.Close("file:///t/old/a.go"))
			return s.Open("file:///t/new/a.go", "go", 1, "x2")
		},
		"told, then open and close": func(s *Store) error {
			s.Rename("file:///t/old/a.go", "file:///t/new/a.go")
			must(t, s.Open("file:///t/new/a.go", "go", 1, "x2"))
			_ = s.Close("file:///t/old/a.go")
			return nil
		},
		"open, told, close": func(s *Store) error {
			must(t, s.Open("file:///t/new/a.go", "go", 1, "x2"))
			s.Rename("file:///t/old", "file:///t/new")
			return s.Close("file:///t/old/a.go")
		},
		"told only": func(s *Store) error {
			s.Rename("file:///t/old/", "file:///t/new/")
			return s.Change("file:///t/new/a.go", 2, whole("x2"))
		},
	}
	for name, f := range told {
		t.Run(name, func(t *testing.T) {
			s := NewStore(text.UTF16, nil)
			must(t, s.Open("file:///t/old/a.go", "go", 1, "x"))
			must(t, s.Open("file:///t/older/b.go", "go", 1, "b"))
			must(t, f(s))
			if got := s.textOf("/t/new/a.go"); got != "x2" {
				t.Errorf("new name has %q", got)
			}
			if got, want := s.Buffers(), []string{"/t/new/a.go", "/t/older/b.go"}; !slices.Equal(got, want) {
				t.Errorf("open: %v, want %v", got, want)
			}
		})
	}
}

func TestSubscribersHearInOrder(t *testing.T) {
	s := NewStore(text.UTF16, nil)
	var heard []string
	cancel := s.Subscribe(func(e Event) {
		heard = append(heard, e.Kind.String()+" "+e.Doc.String())
		if now := s.textOf(e.Path); e.Kind != Closed && now != e.Doc.String() {
			t.Errorf("%s: the store still has %q", heard[len(heard)-1], now)
		}
	})
	must(t, s.Open("file:///t/a", "", 1, "1"))
	must(t, s.Change("file:///t/a", 2, whole("2")))
	must(t, s.Save("file:///t/a", nil))
	must(t, s.Close("file:///t/a"))
	cancel()
	must(t, s.Open("file:///t/a", "", 1, "3"))
	if want := []string{"opened 1", "changed 2", "saved 2", "closed 2"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

func TestBufferAgainstDisk(t *testing.T) { // C036, C054
	tests := []struct {
		name, disk, opened string
		do                 func(t *testing.T, s *Store, uri, path string)
		want               Disk
		text               string // of Buffer
	}{
		{name: "just opened", disk: "a\n", opened: "a\n", want: Clean, text: "a\n"},
		{name: "byte order mark", disk: "\uFEFFa\n", opened: "a\n", want: Clean, text: "a\n"},
		{name: "typed", disk: "a\n", opened: "a\n", want: Dirty, text: "b\n",
			do: func(t *testing.T, s *Store, uri, path string) { must(t, s.Change(uri, 2, whole("b\n"))) }},
		{name: "typed and undone", disk: "a\n", opened: "a\n", want: Clean, text: "a\n",
			do: func(t *testing.T, s *Store, uri, path string) {
				must(t, s.Change(uri, 2, whole("b\n")))
				must(t, s.Change(uri, 3, whole("a\n")))
			}},
		{name: "opened with earlier edits", disk: "a\n", opened: "longer\n", want: Dirty, text: "longer\n"},
		{name: "opened with earlier edits, then the file changed", disk: "a\n", opened: "longer\n", want: Dirty, text: "longer\n",
			do: func(t *testing.T, s *Store, uri, path string) { write(t, path, "other\n") }},
		{name: "new file", opened: "a\n", want: Dirty, text: "a\n"},
		{name: "written by a command", disk: "a\n", opened: "a\n", want: Stale,
			do: func(t *testing.T, s *Store, uri, path string) { write(t, path, "command\n") }},
		{name: "written by a command after a look", disk: "a\n", opened: "a\n", want: Stale,
			do: func(t *testing.T, s *Store, uri, path string) { s.Disk(path); write(t, path, "b\n") }},
		{name: "written, then reloaded", disk: "a\n", opened: "a\n", want: Clean, text: "command\n",
			do: func(t *testing.T, s *Store, uri, path string) {
				write(t, path, "command\n")
				must(t, s.Change(uri, 2, whole("command\n")))
			}},
		{name: "written, reloaded, written again", disk: "a\n", opened: "a\n", want: Stale,
			do: func(t *testing.T, s *Store, uri, path string) {
				write(t, path, "command\n")
				must(t, s.Change(uri, 2, whole("command\n")))
				s.Disk(path)
				write(t, path, "again\n")
			}},
		{name: "written and typed", disk: "a\n", opened: "a\n", want: Dirty, text: "typed\n",
			do: func(t *testing.T, s *Store, uri, path string) {
				write(t, path, "command\n")
				must(t, s.Change(uri, 2, whole("typed\n")))
			}},
		{name: "written with the same text", disk: "a\n", opened: "a\n", want: Clean, text: "a\n",
			do: func(t *testing.T, s *Store, uri, path string) { write(t, path, "a\n") }},
		{name: "saved", disk: "a\n", opened: "a\n", want: Clean, text: "b\n",
			do: func(t *testing.T, s *Store, uri, path string) {
				must(t, s.Change(uri, 2, whole("b\n")))
				write(t, path, "b\n")
				must(t, s.Save(uri, nil))
			}},
		{name: "saved in another encoding", disk: "\xe9\n", opened: "é\n", want: Dirty, text: "éé\n",
			do: func(t *testing.T, s *Store, uri, path string) {
				must(t, s.Change(uri, 2, whole("éé\n")))
				write(t, path, "\xe9\xe9\n")
				must(t, s.Save(uri, nil))
			}},
		{name: "deleted by a command", disk: "a\n", opened: "a\n", want: Stale,
			do: func(t *testing.T, s *Store, uri, path string) { must(t, os.Remove(path)) }},
		{name: "deleted and typed", disk: "a\n", opened: "a\n", want: Dirty, text: "b\n",
			do: func(t *testing.T, s *Store, uri, path string) {
				must(t, os.Remove(path))
				must(t, s.Change(uri, 2, whole("b\n")))
			}},
		{name: "closed", disk: "a\n", opened: "a\n", want: NotOpen,
			do: func(t *testing.T, s *Store, uri, path string) { must(t, s.Close(uri)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.txt")
			if tt.disk != "" {
				write(t, path, tt.disk)
			}
			uri := URIOf(path)
			s := NewStore(text.UTF16, nil)
			must(t, s.Open(uri, "", 1, tt.opened))
			if tt.do != nil {
				tt.do(t, s, uri, path)
			}
			if _, got := s.Disk(path); got != tt.want {
				t.Errorf("is %v, want %v", got, tt.want)
			}
			if got, ok := s.Buffer(path); got != tt.text || ok != (tt.want == Clean || tt.want == Dirty) {
				t.Errorf("buffer %q, %v", got, ok)
			}
			if _, got := s.Disk(path); got != tt.want {
				t.Errorf("is %v at the second look, want %v", got, tt.want)
			}
		})
	}
}

func write(t *testing.T, path, s string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(s), 0o600))
}
