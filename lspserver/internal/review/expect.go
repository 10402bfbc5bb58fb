package review

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// An editor may hand over a text that is what it was asked for and yet not
// the same: it gave a new file its own line endings or a last one (VS Code on
// Windows, Neovim), or ran a formatter before it told of the edit. Merged in
// one step that looks like a change of the user's in the same place. So while
// an edit is under way such a text is merged in two: first what was asked
// for, then what else happened to it.

// expect notes what an editor is asked for, until the function that it returns
// is called.
func (r *Rebaser) expect(set *changeset.Set, files []changeset.FileEdit) (done func()) {
	edits := map[string]changeset.FileEdit{}
	for _, f := range files {
		if f.Op != changeset.OpDelete {
			edits[f.Path], edits[f.Document()] = f, f
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expected[set] = edits
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.expected, set)
	}
}

// expecting gives the paths for which set has edits under way.
func (r *Rebaser) expecting(set *changeset.Set) (paths []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.expected[set] {
		paths = append(paths, p)
	}
	return paths
}

// merge takes the document at path into one proposal.
func (r *Rebaser) merge(set *changeset.Set, path string, d changeset.Doc) changeset.Moves {
	r.mu.Lock()
	f, ok := r.expected[set][path]
	r.mu.Unlock()
	moves := changeset.Unmoved
	if ok && shows(d.Text, f) {
		asked := d
		asked.Text = f.Want
		moves = set.Rebase(path, asked)
	}
	return max(moves, set.Rebase(path, d))
}

// shows reports whether s is the text that f wants, given other line endings
// or other white space. Where an edit changes nothing but these, nobody can
// tell.
func shows(s string, f changeset.FileEdit) bool {
	if s == f.Want {
		return false // and no need for this
	}
	for _, plain := range []func(string) string{sameEndings, noSpace} {
		changes := func(old, new string) bool { return plain(old) != plain(new) }
		told := f.Op == changeset.OpCreate && changes("", f.Want)
		if f.Op != changeset.OpCreate {
			told = !slices.ContainsFunc(f.Edits, func(e text.Edit) bool { return !changes(f.Base[e.Start:e.End], e.New) })
		}
		if told && !changes(s, f.Want) {
			return true
		}
	}
	return false
}

var endings = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func sameEndings(s string) string { return strings.TrimRight(endings.Replace(s), "\n") }

func noSpace(s string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			return -1
		}
		return c
	}, s)
}
