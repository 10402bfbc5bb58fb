package lspserver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/lsptest"
)

const undoScript = `
strict
reply
call edit_file {"path":"a.txt","old_text":"two","new_text":"TWO"}
call write_file {"path":"new/b.txt","content":"made\n"}
call delete_file {"path":"c.txt"}
reply
say done
reply
say told
`

// TestUndoRun is C062: the run is taken back through the editor, the user's
// line stays, only what the run made is deleted; and all of it again after a
// restart, and forth once more.
func TestUndoRun(t *testing.T) {
	ws := t.TempDir()
	write(t, filepath.Join(ws, "a.txt"), "one\r\ntwo\r\nthree")
	write(t, filepath.Join(ws, "c.txt"), "gone\n")
	model := startModel(t, undoScript)
	env := environment(t, model, nil)
	e := lsptest.Start(t, inProcess(t, env), lsptest.Options{Profile: "rich", Folders: []string{ws}})
	e.Open("a.txt")
	run := e.Run("go", nil)
	e.WaitRun(run)
	p := e.Proposal(run.SessionID)
	if _, err := e.Resolve(run.SessionID, p.Revision, []map[string]any{{"all": true, "verdict": "accept"}}, true); err != nil {
		t.Fatal(err)
	}
	e.Type("a.txt", lsptest.Range{}, "mine\r\n")
	e.Save("a.txt")
	e.Close()

	e = lsptest.Start(t, inProcess(t, env), lsptest.Options{Profile: "rich", Folders: []string{ws}})
	e.Open("a.txt")
	list := func() (out ext.CheckpointList) {
		e.Must(ext.MethodCheckpointList, ext.SessionParams{SessionID: run.SessionID}, &out)
		return out
	}
	points := list().Checkpoints
	if len(points) != 1 || points[0].RunID != run.RunID || len(points[0].Files) != 3 {
		t.Fatalf("checkpoints after a restart: %+v", points)
	}
	restore := func() {
		var res ext.ResolveResult
		e.Must(ext.MethodCheckpointRestore, ext.CheckpointRestoreParams{SessionID: run.SessionID, CheckpointID: points[0].CheckpointID}, &res)
		if len(res.Results) != 3 {
			t.Errorf("results: %+v", res.Results)
		}
		for _, r := range res.Results {
			if r.State != "applied" {
				t.Errorf("%+v", r)
			}
		}
		e.Save("a.txt")
	}
	restore()
	expectFiles(t, ws, map[string]string{"a.txt": "mine\r\none\r\ntwo\r\nthree"})
	if c, _ := e.Text("c.txt"); c != "gone\n" {
		t.Errorf("c.txt is %q", c)
	}
	if _, err := os.Stat(filepath.Join(ws, "new/b.txt")); err == nil {
		t.Error("what the run made is still there")
	}
	if left := list().Checkpoints; len(left) != 0 {
		t.Errorf("checkpoints after the restore: %+v", left)
	}
	restore()
	expectFiles(t, ws, map[string]string{"a.txt": "mine\r\none\r\nTWO\r\nthree"})
	if err := e.Request(ext.MethodCheckpointRestore, ext.CheckpointRestoreParams{SessionID: run.SessionID, CheckpointID: "c99"}, nil); err == nil {
		t.Error("an unknown checkpoint was restored")
	}
	e.Close()
}

func expectFiles(t *testing.T, ws string, want map[string]string) {
	t.Helper()
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(ws, name))
		if err != nil || string(got) != text {
			t.Errorf("%s: %q (%v), want %q", name, got, err, text)
		}
	}
}
