package review

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/tools/changeset"
)

func (d *desk) move(from, to string) {
	d.t.Helper()
	if _, err := d.set.Move(d.path(from), d.path(to), changeset.Origin{}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) remove(name string) {
	d.t.Helper()
	if _, err := d.set.Delete(d.path(name), changeset.Origin{}); err != nil {
		d.t.Fatal(err)
	}
}

// sent is the outline of the n-th applyEdit, with file names.
func (d *desk) sent(n int) string {
	d.t.Helper()
	if len(d.asked) <= n {
		return "(nothing)"
	}
	return strings.ReplaceAll(outline(d.t, d.asked[n].Edit), d.uri("")+"/", "")
}

func TestFileOperations(t *testing.T) { // C025, C026
	d := newDesk(t, everything, map[string]string{"m.txt": "1\n2\n3\n", "d.txt": "gone\n", "r.txt": "r\n"})
	d.propose("src/new/deep/a.go", "package deep\n")
	d.propose("empty", "")
	d.propose("m.txt", "1\n2\nthree\n")
	d.remove("d.txt")
	d.move("r.txt", "s.txt")
	d.propose("s.txt", "R\n")
	got := d.accept(t.Context())
	want(t, "results", strings.Trim(strings.ReplaceAll(got, "applied", ""), "\n"), "")
	want(t, "sent", d.sent(0), "+src/new/deep/a.go +empty src/new/deep/a.go m.txt r.txt r.txt>s.txt -d.txt")
	want(t, "proposal", d.pending(), "")
	for name, text := range map[string]string{
		"src/new/deep/a.go": "package deep\n", "empty": "", "m.txt": "1\n2\nthree\n", "d.txt": "(none)", "r.txt": "(none)", "s.txt": "R\n",
	} {
		want(t, name, d.text(name), text)
	}
}

func TestOperationsNotDeclared(t *testing.T) { // C026
	d := newDesk(t, Capabilities{ApplyEdit: true, DocumentChanges: true}, map[string]string{"m": "1\n", "d": "x\n", "r": "a\nb\n"})
	d.propose("new", "n\n")
	d.propose("m", "2\n")
	d.remove("d")
	d.move("r", "s")
	d.propose("s", "a\nB\n")
	got := d.accept(t.Context())
	want(t, "sent", d.sent(0), "m r")
	for _, like := range []string{"does not create files", "does not delete files", "does not rename files"} {
		wantLike(t, "results", got, like)
	}
	for name, text := range map[string]string{"new": "(none)", "m": "2\n", "d": "x\n", "r": "a\nB\n", "s": "(none)"} {
		want(t, name, d.text(name), text)
	}
	// Nothing that was not sent is dropped, and all of it can be done later.
	d.applier.Capabilities = everything
	got = d.accept(t.Context())
	want(t, "results of another accept", strings.Trim(strings.ReplaceAll(got, "applied", ""), "\n"), "")
	want(t, "sent then", d.sent(1), "+new new r>s -d")
}

func TestCreateUnderAnEmptyBuffer(t *testing.T) { // C058
	d := newDesk(t, everything, nil)
	d.propose("n.txt", "one\n")
	d.answer = func(context.Context, applyEditParams) (any, error) {
		d.open("n.txt", 1)
		return applyEditResult{FailureReason: "user declined"}, nil
	}
	wantLike(t, "results", d.accept(t.Context()), "user declined")
	d.answer = nil
	want(t, "results", d.accept(t.Context()), "applied")
	want(t, "sent", d.sent(1), "n.txt")
	if v := d.asked[1].Edit.DocumentChanges[0].(textDocumentEdit).TextDocument.Version; v == nil || *v != 1 {
		t.Errorf("sent for version %v", v)
	}
	want(t, "text", d.text("n.txt"), "one\n")
}

func TestCreateUnderAnUnsavedBuffer(t *testing.T) { // C025
	d := newDesk(t, everything, nil)
	d.propose("n.txt", "agent\n")
	d.open("n.txt", 1)
	d.typeAll("n.txt", "user's own\n")
	got := d.accept(t.Context())
	if strings.Contains(d.text("n.txt"), "agent") && !strings.Contains(d.text("n.txt"), "user's own") {
		t.Errorf("the user's text was overwritten: %q", d.text("n.txt"))
	}
	if strings.Contains(got, "applied\n") || got == "applied" {
		t.Errorf("said %q with %q", got, d.text("n.txt"))
	}
}

func TestCreateThatAppeared(t *testing.T) {
	d := newDesk(t, everything, nil)
	d.propose("n.txt", "agent\n")
	d.write("n.txt", "somebody\n")
	got := d.accept(t.Context())
	want(t, "text", d.text("n.txt"), "somebody\n")
	if strings.HasPrefix(got, "applied") {
		t.Errorf("said %q", got)
	}
}

func TestRenameOntoAFile(t *testing.T) { // C026
	d := newDesk(t, everything, map[string]string{"r": "r\n"})
	d.move("r", "s")
	d.write("s", "in the way\n")
	got := d.accept(t.Context())
	if strings.HasPrefix(got, "applied") {
		t.Errorf("said %q", got)
	}
	want(t, "s", d.onDisk("s"), "in the way\n")
	want(t, "r", d.onDisk("r"), "r\n")
}

func TestCreatedAndNotFilled(t *testing.T) {
	d := newDesk(t, everything, nil)
	d.propose("n.txt", "content\n")
	d.answer = func(_ context.Context, p applyEditParams) (any, error) {
		d.write("n.txt", "")
		return applyEditResult{FailureReason: "no edits"}, nil
	}
	wantLike(t, "results", d.accept(t.Context()), "notApplied")
	d.answer = nil
	want(t, "results of another accept", d.accept(t.Context()), "applied")
	want(t, "text", d.text("n.txt"), "content\n")
}

func TestClosedFileIsWritten(t *testing.T) { // C056
	d := newDesk(t, everything, map[string]string{"a": before})
	d.writeClosed = true
	d.answer = func(_ context.Context, p applyEditParams) (any, error) {
		time.AfterFunc(30*time.Millisecond, func() { d.apply(p) })
		return applyEditResult{Applied: true}, nil
	}
	d.propose("a", after)
	want(t, "results", d.accept(t.Context()), "applied\napplied")
	want(t, "disk", d.onDisk("a"), after)
}

// A command changed a file under a buffer that has no unsaved edits.
func TestStaleBuffer(t *testing.T) { // C054
	t.Run("the editor reloads", func(t *testing.T) {
		d := newDesk(t, everything, map[string]string{"s": "old\n"})
		d.open("s", 1)
		d.write("s", "new\n")
		d.propose("s", "newer\n")
		time.AfterFunc(100*time.Millisecond, func() { d.typeAll("s", "new\n") })
		want(t, "results", d.accept(t.Context()), "applied")
		want(t, "text", d.text("s"), "newer\n")
		if v := d.asked[0].Edit.DocumentChanges[0].(textDocumentEdit).TextDocument.Version; *v != 2 {
			t.Errorf("sent for version %d", *v)
		}
	})
	t.Run("the editor does not", func(t *testing.T) {
		d := newDesk(t, everything, map[string]string{"s": "old\n"})
		d.applier.settleWithin = 20 * time.Millisecond
		d.open("s", 1)
		d.write("s", "new\n")
		d.propose("s", "newer\n")
		wantLike(t, "results", d.accept(t.Context()), "notApplied s changed on disk and the editor still has the old text")
		want(t, "text", d.text("s"), "old\n")
		if len(d.asked) != 0 {
			t.Error("asked anyway")
		}
	})
}

func TestSave(t *testing.T) {
	accept := Request{Save: true, Decisions: []changeset.Decision{{All: true, Verdict: changeset.Accept}}}
	setUp := func(t *testing.T) *desk {
		d := newDesk(t, everything, map[string]string{"a": before, "b": "1\n"})
		d.applier.Options.Save = true
		d.open("a", 1)
		d.propose("a", after)
		return d
	}
	t.Run("saves what was applied", func(t *testing.T) {
		d := setUp(t)
		want(t, "results", d.resolve(t.Context(), accept), "applied\napplied")
		want(t, "disk", d.onDisk("a"), after)
		if len(d.saves) != 1 || len(d.saves[0]) != 1 || d.saves[0][0] != d.uri("a") {
			t.Errorf("asked to save %v", d.saves)
		}
	})
	t.Run("not what was refused", func(t *testing.T) {
		d := setUp(t)
		d.answer = func(context.Context, applyEditParams) (any, error) { return applyEditResult{}, nil }
		wantLike(t, "results", d.resolve(t.Context(), accept), "notApplied")
		if len(d.saves) != 0 {
			t.Errorf("asked to save %v", d.saves)
		}
	})
	t.Run("a client that cannot", func(t *testing.T) {
		d := setUp(t)
		d.applier.Options.Save = false
		wantLike(t, "results", d.resolve(t.Context(), accept), "applied applied, but not saved: this editor does not save")
		want(t, "disk", d.onDisk("a"), before)
	})
	t.Run("a hidden buffer that nobody told of", func(t *testing.T) {
		d := setUp(t)
		d.propose("a", before) // nothing
		d.propose("b", "2\n")
		d.answer = func(context.Context, applyEditParams) (any, error) { return applyEditResult{Applied: true}, nil }
		d.saved = func(p ext.SaveParams) (any, error) {
			d.write("b", "2\n")
			return ext.SaveResult{Saved: p.URIs}, nil
		}
		want(t, "results", d.resolve(t.Context(), accept), "applied")
		if len(d.saves) != 1 || len(d.saves[0]) != 1 || d.saves[0][0] != d.uri("b") {
			t.Errorf("asked to save %v", d.saves)
		}
	})
	t.Run("an editor that fails", func(t *testing.T) {
		d := setUp(t)
		d.saved = func(p ext.SaveParams) (any, error) {
			return ext.SaveResult{Failed: []ext.SaveFailed{{URI: p.URIs[0], Reason: "read-only"}}}, nil
		}
		wantLike(t, "results", d.resolve(t.Context(), accept), "applied applied, but not saved: read-only")
	})
}

// Nothing of ours writes below the folder, whatever is accepted.
func TestServerWritesNothing(t *testing.T) {
	d := newDesk(t, everything, map[string]string{"a": "1\n", "d": "x\n"})
	d.answer = func(context.Context, applyEditParams) (any, error) { return applyEditResult{Applied: true}, nil }
	d.applier.settleWithin = 20 * time.Millisecond
	d.propose("a", "2\n")
	d.propose("new/b", "3\n")
	d.remove("d")
	d.accept(t.Context())
	if entries, err := os.ReadDir(d.dir); err != nil || len(entries) != 2 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	want(t, "a", d.onDisk("a"), "1\n")
}
