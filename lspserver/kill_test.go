package lspserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agent/llm/scripted"
	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/tools/text"
)

// TestKill kills the server at random moments, a hundred times, while a run
// proposes and the user accepts. What the client was told of is there after
// each restart: in the proposal under the same id, or in the file.
func TestKill(t *testing.T) {
	const kills = 100
	ws, state := t.TempDir(), t.TempDir()
	file := filepath.Join(ws, "f.txt")
	var lines strings.Builder
	for i := range kills {
		fmt.Fprintf(&lines, "line %03d\nkept %03d\n", i, i)
	}
	write(t, file, lines.String())
	var script scripted.Script
	for i := range kills {
		when := fmt.Sprintf("edit %03d;", i)
		edit := fmt.Sprintf(`{"path":"f.txt","old_text":"line %03d\n","new_text":"LINE %03d\n"}`, i, i)
		script.Replies = append(script.Replies,
			scripted.Reply{When: when, Steps: []scripted.Step{scripted.Say("on it"), scripted.Call("edit_file", edit)}},
			scripted.Reply{When: when, Steps: []scripted.Step{scripted.Say("done")}})
	}
	model, err := scripted.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	k := &killed{t: t, file: file, ids: map[string]string{}, env: append(os.Environ(), asServer+"=1",
		"AGENTLS_STATE_DIR="+state, "XDG_CONFIG_HOME="+state, "AGENTLS_PROVIDER=openai",
		"AGENTLS_BASE_URL="+model.URL(), "AGENTLS_API_KEY=k", "AGENTLS_MODEL=scripted")}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range kills {
		k.start(ws)
		k.check()
		k.disturb(fmt.Sprintf("edit %03d;", i), time.Duration(r.IntN(40))*time.Millisecond)
	}
	k.start(ws)
	k.check()
	k.accept(k.proposal(), func(ext.Proposal) []map[string]any { return []map[string]any{{"all": true, "verdict": "accept"}} })
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range k.told {
		if !strings.Contains(string(after), line) {
			t.Errorf("%q was proposed, and is not in the file at the end", line)
		}
	}
	if got, want := strings.ToLower(string(after)), lines.String(); got != want {
		t.Errorf("the file has other lines than it had")
	}
	t.Logf("%d edits were told of in %d lives", len(k.told), kills)
	if len(k.told) == 0 {
		t.Error("no edit was ever told of")
	}
	k.kill()
}

// killed is a client whose server dies on it. It keeps its files on disk.
type killed struct {
	t       *testing.T
	env     []string
	file    string
	session string

	cmd *exec.Cmd
	w   *wire
	in  io.WriteCloser

	told []string          // lines that were proposed to us
	ids  map[string]string // hunk ids by the line they make
}

func (k *killed) start(ws string) {
	self, err := os.Executable()
	if err != nil {
		k.t.Fatal(err)
	}
	k.cmd = exec.Command(self)
	k.cmd.Env, k.cmd.Stderr = k.env, testWriter{k.t}
	k.in, err = k.cmd.StdinPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := k.cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.w = &wire{t: k.t, w: k.in, r: bufio.NewReader(out), serve: k.serve}
	k.w.call("initialize", map[string]any{
		"capabilities": map[string]any{
			"workspace":    map[string]any{"applyEdit": true, "workspaceEdit": map[string]any{"documentChanges": true}},
			"experimental": map[string]any{"agent": map[string]any{"protocol": 1, "review": map[string]any{}}},
		},
		"workspaceFolders": []map[string]string{{"uri": document.URIOf(ws), "name": "ws"}},
	})
	k.w.send("initialized", 0, map[string]any{})
}

func (k *killed) kill() {
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait()
	_ = k.in.Close()
}

// serve applies edits to the file, as an editor that saves does.
func (k *killed) serve(method string, params json.RawMessage) any {
	if method != "workspace/applyEdit" {
		return nil
	}
	var p struct {
		Edit struct {
			DocumentChanges []struct {
				Edits []struct {
					Range   ext.Range `json:"range"`
					NewText string    `json:"newText"`
				} `json:"edits"`
			} `json:"documentChanges"`
		} `json:"edit"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		k.t.Fatal(err)
	}
	before, err := os.ReadFile(k.file)
	if err != nil {
		k.t.Fatal(err)
	}
	doc := text.New(string(before))
	var edits []text.Edit
	for _, change := range p.Edit.DocumentChanges {
		for _, e := range change.Edits {
			start, _ := doc.Offset(text.Position(e.Range.Start), text.UTF16)
			end, _ := doc.Offset(text.Position(e.Range.End), text.UTF16)
			edits = append(edits, text.Edit{Start: start, End: end, New: e.NewText})
		}
	}
	slices.SortFunc(edits, func(a, b text.Edit) int { return a.Start - b.Start })
	write(k.t, k.file, doc.Apply(edits))
	return map[string]bool{"applied": true}
}

func (k *killed) proposal() ext.Proposal {
	var p ext.Proposal
	if k.session == "" {
		return p
	}
	if err := json.Unmarshal(k.w.call(ext.MethodProposalGet, map[string]string{"sessionId": k.session}), &p); err != nil {
		k.t.Fatal(err)
	}
	return p
}

// note remembers what a proposal tells.
func (k *killed) note(p ext.Proposal) {
	for _, f := range p.Files {
		for _, h := range f.Hunks {
			if id, ok := k.ids[h.NewText]; ok && id != h.HunkID {
				k.t.Errorf("%q was hunk %s and is %s", h.NewText, id, h.HunkID)
			}
			if k.ids[h.NewText] == "" {
				k.told = append(k.told, h.NewText)
			}
			k.ids[h.NewText] = h.HunkID
		}
	}
}

// check looks whether all that was told is still there.
func (k *killed) check() {
	if k.session == "" {
		return
	}
	var loaded ext.SessionLoaded
	if err := json.Unmarshal(k.w.call(ext.MethodSessionLoad, map[string]any{"sessionId": k.session}), &loaded); err != nil {
		k.t.Fatal(err)
	}
	started, ended := 0, 0
	for i, raw := range loaded.Events {
		var e struct {
			Seq  int64  `json:"seq"`
			Type string `json:"type"`
		}
		if err := json.Unmarshal(raw, &e); err != nil || e.Seq != int64(i+1) {
			k.t.Errorf("event %d: %s (%v)", i+1, raw, err)
		}
		switch e.Type {
		case "runStarted":
			started++
		case "runEnded":
			ended++
		}
	}
	if started != ended {
		k.t.Errorf("%d runs were started and %d ended", started, ended)
	}
	p := k.proposal()
	k.note(p)
	onDisk, err := os.ReadFile(k.file)
	if err != nil {
		k.t.Fatal(err)
	}
	pending := map[string]bool{}
	for _, f := range p.Files {
		for _, h := range f.Hunks {
			pending[h.NewText] = true
		}
	}
	for _, line := range k.told {
		if !pending[line] && !strings.Contains(string(onDisk), line) {
			k.t.Errorf("%q was proposed and is lost", line)
		}
	}
}

// disturb has a run edit and the first hunk accepted, and kills the server
// after a while, wherever it is then.
func (k *killed) disturb(prompt string, after time.Duration) {
	params := map[string]any{"prompt": prompt}
	if k.session != "" {
		params["sessionId"] = k.session
	}
	var started ext.RunStarted
	if err := json.Unmarshal(k.w.call(ext.MethodRunStart, params), &started); err != nil {
		k.t.Fatal(err)
	}
	k.session = started.SessionID
	dead := time.AfterFunc(after, func() { _ = k.cmd.Process.Kill() })
	defer k.kill()
	defer dead.Stop()
	k.w.mayDie = true
	if k.w.call(ext.MethodRunWait, ext.RunParams{RunID: started.RunID}) == nil {
		return
	}
	raw := k.w.call(ext.MethodProposalGet, map[string]string{"sessionId": k.session})
	var p ext.Proposal
	if raw == nil || json.Unmarshal(raw, &p) != nil {
		return
	}
	k.note(p)
	k.accept(p, func(p ext.Proposal) []map[string]any {
		if len(p.Files) == 0 || len(p.Files[0].Hunks) == 0 {
			return nil
		}
		return []map[string]any{{"hunkId": p.Files[0].Hunks[0].HunkID, "verdict": "accept"}}
	})
}

func (k *killed) accept(p ext.Proposal, which func(ext.Proposal) []map[string]any) {
	decisions := which(p)
	if decisions == nil {
		return
	}
	k.w.call(ext.MethodProposalResolve, map[string]any{"sessionId": k.session, "revision": p.Revision, "decisions": decisions})
}
