package changeset_test

import (
	"fmt"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// disk is the simplest Source.
type disk map[string]string

func (d disk) Base(path string) (changeset.Doc, error) {
	s, ok := d[path]
	return changeset.Doc{Text: s, Exists: ok}, nil
}

// From the agent's call to what it hears of it.
func Example() {
	files := disk{"main.go": "package main\nfunc main() {}\n"}
	set := changeset.New(files)
	if _, err := set.Write("main.go", "package main\nfunc main() { run() }\n", changeset.Origin{ToolCallID: "call_1"}); err != nil {
		panic(err)
	}
	p := set.Proposal()
	fmt.Print(p.Files[0].Patch("main.go", ""))

	batch, err := set.Resolve(p.Revision, []changeset.Decision{{All: true, Verdict: changeset.Accept, Comment: "nice"}})
	if err != nil {
		panic(err)
	}
	for _, e := range batch.Files { // what an editor does
		files[e.Path] = text.Apply(files[e.Path], e.Edits)
		set.Rebase(e.Path, changeset.Doc{Text: files[e.Path], Exists: true})
	}
	for _, r := range set.Settle(batch, files.Base, "") {
		fmt.Println(r.HunkID, r.State)
	}
	fmt.Println(changeset.Summarise(set.TakeOutcomes(), func(path string) string { return path }))

	// Output:
	// diff --git a/main.go b/main.go
	// --- a/main.go
	// +++ b/main.go
	// @@ -1,2 +1,2 @@
	//  package main
	// -func main() {}
	// +func main() { run() }
	// h2 applied
	// What became of your proposed changes:
	// - main.go: accepted and applied. The user says: nice
	//     line 2: func main() { run() }
}
