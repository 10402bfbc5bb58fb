package search_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/search"
)

func TestGrep(t *testing.T) {
	f := newFixture(t, map[string]string{
		"a.go": "package a\n\nfunc Needle() {}\n// needle\n", "src/b.go": "needle\r\nx\r\nneedle\r\n", "src/b-c.md": "needle (md)\n", "src.txt": "no end needle",
		"mac": "one\rneedle\rthree", "bom": "\xEF\xBB\xBFneedle first\n", "empty": "", ".hidden": "needle\n",
	})
	f.expect(f.grep, map[string]string{
		`{"pattern":"needle"}`:                                                  ".hidden:1:needle\na.go:4:// needle\nbom:1:needle first\nmac:2:needle\nsrc/b-c.md:1:needle (md)\nsrc/b.go:1:needle\nsrc/b.go:3:needle\nsrc.txt:1:no end needle\n(8 matches in 7 files)",
		`{"pattern":"(?i)^FUNC needle","path":"."}`:                             "a.go:3:func Needle() {}\n(1 match in 1 file)",
		`{"pattern":"NEEDLE","case_insensitive":true,"path":"a.go"}`:            "a.go:3:func Needle() {}\na.go:4:// needle\n(2 matches in 1 file)",
		`{"pattern":"needle$","path":"src"}`:                                    "src/b.go:1:needle\nsrc/b.go:3:needle\n(2 matches in 1 file)",
		`{"pattern":"^needle","path":"bom"}`:                                    "bom:1:needle first\n(1 match in 1 file)",
		`{"pattern":"needle","glob":"*.go"}`:                                    "a.go:4:// needle\nsrc/b.go:1:needle\nsrc/b.go:3:needle\n(3 matches in 2 files)",
		`{"pattern":"needle","glob":"src/*.{go,md}"}`:                           "src/b-c.md:1:needle (md)\nsrc/b.go:1:needle\nsrc/b.go:3:needle\n(3 matches in 2 files)",
		`{"pattern":"needle","path":"src","glob":"!*.go"}`:                      "src/b-c.md:1:needle (md)\n(1 match in 1 file)",
		`{"pattern":"needle","path":"src","glob":"src/*.md"}`:                   "src/b-c.md:1:needle (md)\n(1 match in 1 file)",
		`{"pattern":"needle","files_only":true}`:                                ".hidden\na.go\nbom\nmac\nsrc/b-c.md\nsrc/b.go\nsrc.txt\n(7 files have a match)",
		`{"pattern":"needle","files_only":true,"limit":2}`:                      ".hidden\na.go\n(the first 2 files have a match; there are more: narrow the search with path, glob or pattern, or go on with offset=2)",
		`{"pattern":"needle","limit":3}`:                                        ".hidden:1:needle\na.go:4:// needle\nbom:1:needle first\n(the first 3 matches in 3 files; there are more: narrow the search with path, glob or pattern, or go on with offset=3)",
		`{"pattern":"needle","limit":"3","offset":3}`:                           "mac:2:needle\nsrc/b-c.md:1:needle (md)\nsrc/b.go:1:needle\n(the first 3 matches in 3 files; there are more: narrow the search with path, glob or pattern, or go on with offset=6)",
		`{"pattern":"needle","offset":6}`:                                       "src/b.go:3:needle\nsrc.txt:1:no end needle\n(2 matches in 2 files)",
		`{"pattern":"needle","offset":8}`:                                       "(no more matches after the first 8)",
		`{"pattern":"needle","offset":50}`:                                      "(no more matches after the first 8)",
		`{"pattern":"absent"}`:                                                  `(no match for "absent" in the workspace, 8 files searched)`,
		`{"pattern":"needle","glob":"*.rs"}`:                                    `(no match for "needle" in the workspace, 0 files searched)`,
		`{"pattern":"a\\nb","path":"src"}`:                                      "(no match for \"a\\\\nb\" in src, 2 files searched)\n(each line is matched alone: a pattern with \\n finds nothing)",
		`{"pattern":"x","path":"src","context":1}`:                              "src/b.go-1-needle\nsrc/b.go:2:x\nsrc/b.go-3-needle\n(1 match in 1 file)",
		`{"pattern":"needle","context":1,"glob":"*.go"}`:                        "a.go-3-func Needle() {}\na.go:4:// needle\n--\nsrc/b.go:1:needle\nsrc/b.go-2-x\nsrc/b.go:3:needle\n(3 matches in 2 files)",
		`{"pattern":"needle","context":1,"path":"src/b.go","offset":1}`:         "src/b.go-2-x\nsrc/b.go:3:needle\n(1 match in 1 file)",
		`{"pattern":"needle","context":1,"path":"src/b.go","limit":1}`:          "src/b.go:1:needle\nsrc/b.go-2-x\n(the first 1 match in 1 file; there are more: narrow the search with path, glob or pattern, or go on with offset=1)",
		`{"pattern":"^$","path":"a.go"}`:                                        "a.go:2:\n(1 match in 1 file)",
		`{"pattern":"needle","path":"empty"}`:                                   `(no match for "needle" in empty, 1 file searched)`,
		`"{\"pattern\":\"first\"}"`:                                             "bom:1:needle first\n(1 match in 1 file)",
		`{"pattern":"needle","path":"` + f.path("src/b.go") + `","limit":1000}`: "src/b.go:1:needle\nsrc/b.go:3:needle\n(2 matches in 1 file)",
	})
}

func TestGrepRefusals(t *testing.T) {
	f := newFixture(t, map[string]string{"ws/a.go": "x", "ws/p.png": "\x89PNG\x00", "secret": "x", "ws/out": "-> ../secret", "ws/fifo": ""}, "ws")
	f.refuse(search.Grep{Workspace: f.ws}, map[string]string{
		`{}`: "pattern is missing", `{"pattern":""}`: "pattern is empty", `{"pattern":"a\u0000"}`: "NUL", `{"pattern":7}`: "must be a string", `[]`: "JSON object", `{"pattern":"` + strings.Repeat("x", 5000) + `"}`: "4096 at most",
		`{"pattern":"a\nfoo("}`: "missing closing )", `{"pattern":"foo("}`: `missing closing ): "foo(" (to find these very characters search for foo\()`, `{"pattern":"(?=x)"}`: "no look-around", `{"pattern":"(a)\\1"}`: "no back references", `{"pattern":"a{5000}"}`: "invalid repeat count", `{"pattern":"*a"}`: "missing argument",
		`{"pattern":"x","glob":"[a"}`: "no valid pattern", `{"pattern":"x","glob":"../*"}`: "outside", `{"pattern":"x","glob":"` + strings.Repeat("{a,b}", 20) + `"}`: "more than 256 patterns",
		`{"pattern":"x","limit":-1}`: "limit is negative", `{"pattern":"x","context":"many"}`: "whole number", `{"pattern":"x","case_insensitive":"maybe"}`: "true or false",
		`{"pattern":"x","path":"none.go"}`: "none.go: not found", `{"pattern":"x","path":"../secret"}`: "outside the workspace", `{"pattern":"x","path":"out"}`: "outside the workspace", `{"pattern":"x","path":"` + f.path("secret") + `"}`: "outside the workspace",
		`{"pattern":"x","path":"p.png"}`: "p.png is binary", `{"pattern":"x","path":"a.go/x"}`: "leads through a file",
	})
}

// C036: what the editor holds and what the agent proposed is searched, and
// nothing that is gone.
func TestGrepSeesTheAgentsView(t *testing.T) {
	f := newFixture(t, map[string]string{
		".gitignore": "ignored/\n", "dirty.txt": "disk\n", "edited.txt": "disk\n", "deleted.txt": "disk\n", "moved.txt": "disk\n", "plain.txt": "disk\n", "both.txt": "disk\n",
	})
	f.buffers[f.path("dirty.txt")] = "typed\n"
	f.buffers[f.path("both.txt")] = "typed\n"
	f.buffers[f.path("new-buffer.txt")] = "typed in a new file\n"
	f.buffers[f.path("ignored/buffer.txt")] = "typed\n"
	f.pending = pending{
		Present:  map[string]string{f.path("created/deep/new.txt"): "typed by the agent\n", f.path("moved-here.txt"): "typed after the move\n", f.path("ignored/new.txt"): "typed\n", f.path("aa.txt"): "typed\n"},
		Modified: map[string]string{f.path("edited.txt"): "typed by the agent, too\n", f.path("both.txt"): "typed, then changed\n"},
		Gone:     []string{f.path("deleted.txt"), f.path("moved.txt")},
	}
	f.expect(f.grep, map[string]string{
		`{"pattern":"typed"}`:                                "aa.txt:1:typed\nboth.txt:1:typed, then changed\ncreated/deep/new.txt:1:typed by the agent\ndirty.txt:1:typed\nedited.txt:1:typed by the agent, too\nmoved-here.txt:1:typed after the move\nnew-buffer.txt:1:typed in a new file\n(7 matches in 7 files)",
		`{"pattern":"disk"}`:                                 "plain.txt:1:disk\n(1 match in 1 file)",
		`{"pattern":"typed","path":"created"}`:               "created/deep/new.txt:1:typed by the agent\n(1 match in 1 file)",
		`{"pattern":"typed","path":"created/deep/new.txt"}`:  "created/deep/new.txt:1:typed by the agent\n(1 match in 1 file)",
		`{"pattern":"typed","path":"new-buffer.txt"}`:        "new-buffer.txt:1:typed in a new file\n(1 match in 1 file)",
		`{"pattern":"typed","path":"ignored","glob":"new*"}`: "ignored/new.txt:1:typed\n(1 match in 1 file)",
		`{"pattern":"disk","path":"deleted.txt"}`:            "deleted.txt: not found",
		`{"pattern":"typed","path":"dirty.txt"}`:             "dirty.txt:1:typed\n(1 match in 1 file)",
	})
	f.expect(f.glob, map[string]string{
		`{"pattern":"*.txt"}`:              "aa.txt\nboth.txt\ncreated/deep/new.txt\ndirty.txt\nedited.txt\nmoved-here.txt\nnew-buffer.txt\nplain.txt\n(8 files)",
		`{"pattern":"created/**/*.txt"}`:   "created/deep/new.txt\n(1 file)",
		`{"pattern":"created/deep/*.txt"}`: "created/deep/new.txt\n(1 file)",
		`{"pattern":"ignored/*"}`:          "ignored/buffer.txt\nignored/new.txt\n(2 files)",
		`{"pattern":"deleted.txt"}`:        `(no file fits "deleted.txt")`,
	})
}

// C134: an ignored file, or one that usually holds secrets, is searched only
// if it is named. C125: no link is followed.
func TestGrepLeavesOut(t *testing.T) {
	f := newFixture(t, map[string]string{
		"ws/.gitignore": ".env\nnode_modules\n*.log\n", "ws/.env": "KEY=secret\n", "ws/sub/.env.local": "KEY=local\n", "ws/.env.example": "KEY=\n", "ws/deploy/id_rsa": "KEY\n", "ws/node_modules/m/i.js": "KEY\n", "ws/a.log": "KEY\n",
		"ws/main.go": "const KEY = 1\n", "ws/out": "-> ../outside", "ws/k": "-> ../outside/key", "ws/loop": "-> .", "ws/in.go": "-> main.go", "outside/key": "KEY\n", "ws/p.png": "KEY\x00\n", "ws/.git/HEAD": "KEY\n", "ws/.git/config": "KEY\n",
	}, "ws")
	f.expect(f.grep, map[string]string{
		`{"pattern":"KEY"}`:                               ".env.example:1:KEY=\nmain.go:1:const KEY = 1\n(2 matches in 2 files)\n(not searched, since they usually hold secrets: deploy/id_rsa, sub/.env.local)\n(not searched: 1 binary file)",
		`{"pattern":"KEY","path":".env"}`:                 ".env:1:KEY=secret\n(1 match in 1 file)",
		`{"pattern":"KEY","path":"deploy/id_rsa"}`:        "deploy/id_rsa:1:KEY\n(1 match in 1 file)",
		`{"pattern":"KEY","path":"node_modules"}`:         "node_modules/m/i.js:1:KEY\n(1 match in 1 file)",
		`{"pattern":"KEY","path":"a.log"}`:                "a.log:1:KEY\n(1 match in 1 file)",
		`{"pattern":"KEY","path":"in.go"}`:                "main.go:1:const KEY = 1\n(1 match in 1 file)",
		`{"pattern":"KEY","path":"deploy"}`:               "(no match for \"KEY\" in deploy, 0 files searched)\n(not searched, since they usually hold secrets: deploy/id_rsa)",
		`{"pattern":"KEY","glob":"*.log"}`:                "(no match for \"KEY\" in the workspace, 0 files searched)\n(what git ignores is not searched unless path names it)",
		`{"pattern":"KEY","path":"loop","glob":"*.go"}`:   "main.go:1:const KEY = 1\n(1 match in 1 file)",
		`{"pattern":"KEY","path":"loop/loop/loop/in.go"}`: "main.go:1:const KEY = 1\n(1 match in 1 file)",
	})
	f.expect(f.glob, map[string]string{
		`{"pattern":"**/*"}`:                 ".env.example\n.gitignore\ndeploy/id_rsa\nin.go  (link)\nk  (link)\nloop  (link)\nmain.go\nout  (link)\np.png\nsub/.env.local\n(10 files)",
		`{"pattern":"node_modules/**/*.js"}`: "node_modules/m/i.js\n(1 file)",
		`{"pattern":"*.log"}`:                `(no file fits "*.log"; what git ignores is not listed unless path or the beginning of the pattern names it)`,
		`{"pattern":"out/*"}`:                `"out" is outside the workspace: it leads out through a link`,
	})
}

// C139: a file's name cannot pretend to be more than a name.
func TestOddNames(t *testing.T) {
	f := newFixture(t, map[string]string{"a\x1b]52;c;ZXZpbA==\x07.txt": "needle\n", "b\n2\tfake line": "needle\n", "\xff.txt": "needle\n"})
	want := `a\x1b]52;c;ZXZpbA==\x07.txt:1:needle` + "\n" + `b\n2\tfake line:1:needle` + "\n" + `\xff.txt:1:needle` + "\n(3 matches in 3 files)"
	f.expect(f.grep, map[string]string{
		`{"pattern":"needle"}`:                                    want,
		`{"pattern":"needle","path":"\\xff.txt"}`:                 `\xff.txt:1:needle` + "\n(1 match in 1 file)",
		`{"pattern":"needle","path":"b\\n2\\tfake line"}`:         `b\n2\tfake line:1:needle` + "\n(1 match in 1 file)",
		`{"pattern":"needle","path":"b\n2\tfake line"}`:           `b\n2\tfake line:1:needle` + "\n(1 match in 1 file)",
		`{"pattern":"needle","glob":"a*.txt","files_only":false}`: `a\x1b]52;c;ZXZpbA==\x07.txt:1:needle` + "\n(1 match in 1 file)",
	})
	f.expect(f.glob, map[string]string{`{"pattern":"*.txt"}`: `a\x1b]52;c;ZXZpbA==\x07.txt` + "\n" + `\xff.txt` + "\n(2 files)"})
}

// C154: two folders.
func TestSeveralFolders(t *testing.T) {
	f := newFixture(t, map[string]string{"one/app/main.go": "needle\n", "two/app/main.go": "needle\n", "two/app/src/x.go": "needle\n", "three/lib/y.go": "needle\n", "one/app/inner/z.go": "needle\n"}, "one/app", "two/app", "three/lib", "one/app/inner")
	all := "app/main.go:1:needle\napp-2/main.go:1:needle\napp-2/src/x.go:1:needle\nlib/y.go:1:needle\ninner/z.go:1:needle\n(5 matches in 5 files)"
	f.expect(f.grep, map[string]string{
		`{"pattern":"needle"}`: all, `{"pattern":"needle","path":"."}`: all, `{"pattern":"needle","path":"/"}`: all,
		`{"pattern":"needle","path":"app"}`:                        "inner/z.go:1:needle\napp/main.go:1:needle\n(2 matches in 2 files)",
		`{"pattern":"needle","path":"app-2/src"}`:                  "app-2/src/x.go:1:needle\n(1 match in 1 file)",
		`{"pattern":"needle","glob":"app-2/**/*.go"}`:              "app-2/main.go:1:needle\napp-2/src/x.go:1:needle\n(2 matches in 2 files)",
		`{"pattern":"needle","glob":"src/*.go"}`:                   "app-2/src/x.go:1:needle\n(1 match in 1 file)",
		`{"pattern":"needle","path":"main.go"}`:                    `several folders are open, and "main.go" could be in more than one: say which, "app/main.go" or "app-2/main.go"`,
		`{"pattern":"needle","path":"app","glob":"inner/**/*.go"}`: "inner/z.go:1:needle\n(1 match in 1 file)",
	})
	f.expect(f.glob, map[string]string{
		`{"pattern":"main.go"}`: "app/main.go\napp-2/main.go\n(2 files)", `{"pattern":"app-2/**"}`: "app-2/main.go\napp-2/src/x.go\n(2 files)", `{"pattern":"src/*.go"}`: "app-2/src/x.go\n(1 file)", `{"pattern":"*.go","path":"lib"}`: "lib/y.go\n(1 file)",
	})
	none := newFixture(t, nil)
	if err := none.ws.SetFolders(nil); err != nil {
		t.Fatal(err)
	}
	none.refuse(search.Grep{Workspace: none.ws}, map[string]string{`{"pattern":"x"}`: "no folder is open", `{"pattern":"x","path":"a"}`: "no folder is open"})
}

// C006, C007: bytes that are no UTF-8 are searched around and shown escaped.
func TestGrepNotUTF8(t *testing.T) {
	f := newFixture(t, map[string]string{"l1.php": "// caf\xE9\n$a = 1 > 2;\n", "g.ini": "\xC4\xE3\xBA\xC3=1\r\n", "u16.txt": "\xFF\xFEa\x00=\x00"})
	f.expect(f.grep, map[string]string{
		`{"pattern":"caf|=1"}`: `g.ini:1:\xC4\xE3\xBA\xC3=1` + "\n" + `l1.php:1:// caf\xE9` + "\n(2 matches in 2 files)\n(some lines are not UTF-8; their bytes are shown as \\xE9 and cannot be edited)\n(not searched: 1 binary file)",
		`{"pattern":"1 > 2"}`:  "l1.php:2:$a = 1 > 2;\n(1 match in 1 file)\n(not searched: 1 binary file)",
	})
}

// C031, C098, C176: what is long is cut between characters, what is much is cut off.
func TestGrepBounds(t *testing.T) {
	f := newFixture(t, map[string]string{"min.js": strings.Repeat("é", 1_000_000) + "needle" + strings.Repeat("😀", 250_000), "many.txt": strings.Repeat("needle in a line that is some bytes long\n", 10_000), "wide.txt": strings.Repeat(strings.Repeat("阴", 200)+"needle\n", 200)})
	got := f.grep(`{"pattern":"needle","path":"min.js"}`)
	if line, rest, _ := strings.Cut(got, "\n"); len(line) > 500 || !strings.HasPrefix(line, "min.js:1:…é") || !strings.Contains(line, "éneedle😀") || !strings.HasSuffix(line, "😀…") || !strings.Contains(rest, "long lines are cut") {
		t.Errorf("%s", got)
	}
	for _, path := range []string{"many.txt", "wide.txt"} {
		total, offset := 0, 0
		for page := 0; ; page++ {
			got := f.grep(fmt.Sprintf(`{"pattern":"needle","path":%q,"limit":1000,"offset":%d}`, path, offset))
			n := strings.Count(got, path+":")
			total += n
			_, tail, more := strings.Cut(got, "go on with offset=")
			if !more {
				break
			}
			if _, err := fmt.Sscan(tail, &offset); err != nil || offset != total || n == 0 || page > 100 {
				t.Fatalf("page %d: %d of %s, next %d, %v", page, n, path, offset, err)
			}
		}
		if want := map[string]int{"many.txt": 10_000, "wide.txt": 200}[path]; total != want {
			t.Errorf("%s: %d matches in all pages, want %d", path, total, want)
		}
	}
}

// Lines that lie across the ends of what is read at a time, with every kind of
// ending, are found with the same numbers as in a small file.
func TestGrepAcrossBuffers(t *testing.T) {
	var text strings.Builder
	var want []string
	endings := []string{"\n", "\r\n", "\r"}
	for i := 1; text.Len() < 600<<10; i++ {
		line := strings.Repeat("x", i%97+1)
		if i%1000 == 0 {
			line = strings.Repeat("y", i%50_000) + "needle"
			want = append(want, fmt.Sprint(i))
		}
		text.WriteString(line + endings[i%3])
	}
	f := newFixture(t, map[string]string{"big": text.String()})
	for _, input := range []string{`{"pattern":"needle","limit":1000}`, `{"pattern":"n[e]+dle","limit":1000}`, `{"pattern":"needle","limit":1000,"context":2}`} {
		var got []string
		for line := range strings.Lines(f.grep(input)) {
			if rest, ok := strings.CutPrefix(line, "big:"); ok {
				no, _, _ := strings.Cut(rest, ":")
				got = append(got, no)
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s\n got %v\nwant %v", input, got, want)
		}
	}
}

// C140: no pattern is slow.
func TestGrepExpensivePatterns(t *testing.T) {
	f := newFixture(t, map[string]string{"a": strings.Repeat("a", 100<<10) + "b", "b": strings.Repeat("a", 1<<20+1) + "b\n"})
	for _, pattern := range []string{"(a+)+$", "(a|aa)+$", "(.*)(.*)(.*)(.*)c", "([a-z]+)*!"} {
		if got := f.grep(fmt.Sprintf(`{"pattern":%q}`, pattern)); !strings.Contains(got, "no match") && !strings.Contains(got, "stopped") {
			t.Errorf("%s: %.200s", pattern, got)
		}
	}
}

// A search that takes too long ends with what it found, in the middle of a
// line if need be.
func TestGrepTimeLimit(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "aab\n", "long": strings.Repeat("a", 30<<20)})
	search.SetMaxTime(t, 50*time.Millisecond)
	start := time.Now()
	res := search.Grep{Workspace: f.ws}.Run(t.Context(), agent.Call{Input: json.RawMessage(`{"pattern":"(a|aa)+b"}`)})
	if !strings.Contains(res.Text, "The search was stopped after 50ms") || !strings.HasPrefix(res.Text, "a:1:aab\n") || res.Status != "" {
		t.Errorf("%s", res.Text)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestGrepLocations(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "x\nneedle\nneedle\n", "b": "needle\n"})
	res := f.call(search.Grep{Workspace: f.ws}, `{"pattern":"needle"}`)
	if len(res.Locations) != 2 || res.Locations[0].Line != 2 || res.Locations[1].Path != f.path("b") {
		t.Errorf("%+v", res.Locations)
	}
}

// Files that cannot be read are told of, and the rest is searched.
func TestGrepUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	f := newFixture(t, map[string]string{"a": "needle\n", "closed": "needle\n", "dir/x": "needle\n"})
	for _, name := range []string{"closed", "dir"} {
		if err := os.Chmod(f.path(name), 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(f.path(name), 0o777) })
	}
	f.expect(f.grep, map[string]string{`{"pattern":"needle"}`: "a:1:needle\n(1 match in 1 file)\n(2 could not be read)"})
}

// The real proposal, over a buffer.
func TestWithChangeset(t *testing.T) {
	f := newFixture(t, map[string]string{"edited.go": "one\n", "deleted.go": "one\n", "moved.go": "one\n", "swapped.go": "one\n", "open.go": "disk\n"})
	f.buffers[f.path("open.go")] = "one\ntyped\n"
	set := changeset.New(f.ws)
	var o changeset.Origin
	for _, step := range []func() (changeset.Change, error){
		func() (changeset.Change, error) { return set.Write(f.path("edited.go"), "two\n", o) },
		func() (changeset.Change, error) { return set.Write(f.path("new/file.go"), "two\n", o) },
		func() (changeset.Change, error) { return set.Write(f.path("open.go"), "two\ntyped\n", o) },
		func() (changeset.Change, error) { return set.Delete(f.path("deleted.go"), o) },
		func() (changeset.Change, error) { return set.Move(f.path("moved.go"), f.path("new/place.go"), o) },
		func() (changeset.Change, error) { return set.Move(f.path("swapped.go"), f.path("swapped-2.go"), o) },
		func() (changeset.Change, error) { return set.Write(f.path("swapped.go"), "two\n", o) },
	} {
		if _, err := step(); err != nil {
			t.Fatal(err)
		}
	}
	grep := func(input string) string { return f.call(search.Grep{Workspace: f.ws, Pending: set}, input).Text }
	f.expect(grep, map[string]string{
		`{"pattern":"two"}`:      "edited.go:1:two\nnew/file.go:1:two\nopen.go:1:two\nswapped.go:1:two\n(4 matches in 4 files)",
		`{"pattern":"one|disk"}`: "new/place.go:1:one\nswapped-2.go:1:one\n(2 matches in 2 files)",
		`{"pattern":"typed"}`:    "open.go:2:typed\n(1 match in 1 file)",
	})
	glob := func(input string) string { return f.call(search.Glob{Workspace: f.ws, Pending: set}, input).Text }
	f.expect(glob, map[string]string{`{"pattern":"*.go"}`: "edited.go\nnew/file.go\nnew/place.go\nopen.go\nswapped-2.go\nswapped.go\n(6 files)"})
}
