package search_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/tools/search"
)

func TestGlob(t *testing.T) {
	f := newFixture(t, map[string]string{
		"main.go": "", "README.md": "", "src/a.ts": "", "src/b.tsx": "", "src/deep/c.ts": "", "src/deep/testdata/x.txt": "", "testdata/y.txt": "", "[id].tsx": "", "with space/z.ts": "", "ünï/中文.go": "", "src/src/d.ts": "", "A.TS": "",
	})
	f.expect(f.glob, map[string]string{
		`{"pattern":"*.go"}`:                         "main.go\nünï/中文.go\n(2 files)",
		`{"pattern":"./*.go"}`:                       "main.go\n(1 file)",
		`{"pattern":"/*.go"}`:                        "main.go\n(1 file)",
		`{"pattern":"**/*.go"}`:                      "main.go\nünï/中文.go\n(2 files)",
		`{"pattern":"main.go"}`:                      "main.go\n(1 file)",
		`{"pattern":"src/*.ts"}`:                     "src/a.ts\n(1 file)",
		`{"pattern":"src/**/*.{ts,tsx}"}`:            "src/a.ts\nsrc/b.tsx\nsrc/deep/c.ts\nsrc/src/d.ts\n(4 files)",
		`{"pattern":"src/a.ts"}`:                     "src/a.ts\n(1 file)",
		`{"pattern":"./src//a.ts"}`:                  "src/a.ts\n(1 file)",
		`{"pattern":"a.ts/*"}`:                       `(no file fits "a.ts/*")`,
		`{"pattern":"*.ts","path":"src"}`:            "src/a.ts\nsrc/deep/c.ts\nsrc/src/d.ts\n(3 files)",
		`{"pattern":"./*.ts","path":"src"}`:          "src/a.ts\n(1 file)",
		`{"pattern":"src/*.ts","path":"src"}`:        "src/src/d.ts\n(1 file)",
		`{"pattern":"src/deep/*.ts","path":"src"}`:   "src/deep/c.ts\n(1 file)",
		`{"pattern":"deep/*.ts","path":"src"}`:       "src/deep/c.ts\n(1 file)",
		`{"pattern":"**/testdata/"}`:                 "src/deep/testdata/\ntestdata/\n(2 folders)",
		`{"pattern":"testdata/"}`:                    "src/deep/testdata/\ntestdata/\n(2 folders)",
		`{"pattern":"src/*/"}`:                       "src/deep/\nsrc/src/\n(2 folders)",
		`{"pattern":"\\[id].tsx"}`:                   "[id].tsx\n(1 file)",
		`{"pattern":"*space/*.ts"}`:                  "with space/z.ts\n(1 file)",
		`{"pattern":"ünï/中?.go"}`:                    "ünï/中文.go\n(1 file)",
		`{"pattern":"!*.{ts,tsx,txt}"}`:              "A.TS\nREADME.md\nmain.go\nünï/中文.go\n(4 files)",
		`{"pattern":"*.rs"}`:                         `(no file fits "*.rs")`,
		`{"pattern":"*.go","path":"main.go"}`:        "main.go\n(1 file)",
		`{"pattern":"*.ts","limit":2}`:               "src/a.ts\nsrc/deep/c.ts\n(the first 2 files; there are more: narrow the pattern, or go on with offset=2)",
		`{"pattern":"*.ts","limit":2,"offset":2}`:    "src/src/d.ts\nwith space/z.ts\n(2 files)",
		`{"pattern":"*.ts","offset":9}`:              "(no more files after the first 4)",
		`{"pattern":"` + f.path("src") + `/*.ts"}`:   "src/a.ts\n(1 file)",
		`{"pattern":"` + f.path("src") + `/**"}`:     "src/a.ts\nsrc/b.tsx\nsrc/deep/c.ts\nsrc/deep/testdata/x.txt\nsrc/src/d.ts\n(5 files)",
		`{"pattern":"**/**/**/**/*.md"}`:             "README.md\n(1 file)",
		`{"pattern":"{src,testdata}/{*,deep/*}.t*"}`: "src/a.ts\nsrc/b.tsx\nsrc/deep/c.ts\ntestdata/y.txt\n(4 files)",
		`{"pattern":"[[]id?.tsx"}`:                   "[id].tsx\n(1 file)",
		`{"pattern":"**"}`:                           "A.TS\nREADME.md\n[id].tsx\nmain.go\nsrc/a.ts\nsrc/b.tsx\nsrc/deep/c.ts\nsrc/deep/testdata/x.txt\nsrc/src/d.ts\ntestdata/y.txt\nwith space/z.ts\nünï/中文.go\n(12 files)",
	})
	f.refuse(search.Glob{Workspace: f.ws}, map[string]string{
		`{}`: "pattern is missing", `{"pattern":""}`: "pattern is empty", `{"pattern":"../*"}`: "outside", `{"pattern":"src/../../*"}`: "outside", `{"pattern":"/etc/*.conf"}`: "outside the workspace", `{"pattern":"[a"}`: "no valid pattern", `{"pattern":"{a"}`: "no valid pattern",
		`{"pattern":"` + strings.Repeat("{a,b}", 20) + `"}`: "more than 256 patterns", `{"pattern":"*","path":"none"}`: "none: not found", `{"pattern":"*","path":".."}`: "outside the workspace", `{"pattern":"."}`: "names no files", `{"pattern":"*","path":"/etc"}`: "outside the workspace",
	})
}

// C140: no pattern is slow, though braces multiply and stars repeat.
func TestGlobExpensivePatterns(t *testing.T) {
	tree := map[string]string{}
	for i := range 20 {
		tree[fmt.Sprintf("%s/%d/%s.txt", strings.Repeat("a/", 20), i, strings.Repeat("a", 200))] = ""
	}
	f := newFixture(t, tree)
	start := time.Now()
	for _, pattern := range []string{
		strings.Repeat("{a,b}", 8) + "*c", strings.Repeat("{*,?}", 8) + "c", strings.Repeat("**/", 200) + "*", strings.Repeat("**/a/", 50) + "c", strings.Repeat("*a", 100) + "c", strings.Repeat("{*}", 100) + "c", "**/" + strings.Repeat("{a,*}*", 8) + "/c",
	} {
		if got := f.glob(fmt.Sprintf(`{"pattern":%q,"limit":1}`, pattern)); strings.Contains(got, "stopped") {
			t.Errorf("%s: %s", pattern, got)
		}
	}
	t.Logf("%v", time.Since(start))
}

func TestGlobBounds(t *testing.T) {
	tree := map[string]string{}
	for i := range 300 {
		tree[fmt.Sprintf("%s/%03d.txt", strings.Repeat("d", 200), i)] = ""
	}
	f := newFixture(t, tree)
	offset, total := 0, 0
	for page := 0; ; page++ {
		got := f.glob(fmt.Sprintf(`{"pattern":"*.txt","limit":2000,"offset":%d}`, offset))
		total += strings.Count(got, ".txt\n")
		_, tail, more := strings.Cut(got, "go on with offset=")
		if !more {
			break
		}
		if _, err := fmt.Sscan(tail, &offset); err != nil || offset != total || page > 10 {
			t.Fatal(page, offset, total, err)
		}
	}
	if total != 300 {
		t.Errorf("%d names in all pages", total)
	}
}
