package review

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/lspserver/internal/rpc"
	"github.com/agentls/agentls/tools/changeset"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is an editor, one session's proposal and the review between them.
type desk struct {
	*editor
	set     *changeset.Set
	rebaser *Rebaser
	applier *Applier

	mu        sync.Mutex
	announced []int64 // revisions
}

func newDesk(t testing.TB, caps Capabilities, files map[string]string) *desk {
	d := &desk{editor: newEditor(t, files)}
	d.set = changeset.New(d.editor)
	d.rebaser = NewRebaser(d.editor, func() []Session { return []Session{{d.set, d.announce}} }, nil)
	t.Cleanup(d.rebaser.Close)
	d.docs.Subscribe(d.rebaser.Document)
	d.applier = NewApplier(Options{
		Client: d.editor, Docs: d.docs, Rebaser: d.rebaser, Capabilities: caps,
		Display: func(path string) string {
			return filepath.ToSlash(strings.TrimPrefix(path, d.dir+string(filepath.Separator)))
		},
	})
	return d
}

func (d *desk) announce() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.announced = append(d.announced, d.set.Proposal().Revision)
}

// propose has the agent write a file.
func (d *desk) propose(name, content string) {
	d.t.Helper()
	seen, err := d.set.Read(d.path(name))
	if err != nil {
		d.t.Fatal(err)
	}
	d.set.Saw(d.path(name), seen.Text)
	if _, err := d.set.Write(d.path(name), content, changeset.Origin{ToolCallID: "c1"}); err != nil {
		d.t.Fatal(err)
	}
}

// resolve decides, and describes the results: a line each, `state reason`.
func (d *desk) resolve(ctx context.Context, r Request) string {
	d.t.Helper()
	r.Announce = d.announce
	r.Revision = d.set.Proposal().Revision
	results, err := d.applier.Resolve(ctx, d.set, r)
	if err != nil {
		d.t.Fatal(err)
	}
	var lines []string
	for _, res := range results {
		lines = append(lines, strings.TrimSpace(string(res.State)+" "+res.Reason))
	}
	return strings.Join(lines, "\n")
}

func (d *desk) accept(ctx context.Context) string {
	d.t.Helper()
	return d.resolve(ctx, Request{Decisions: []changeset.Decision{{All: true, Verdict: changeset.Accept}}})
}

// pending describes the proposal: a line for each hunk, `state new text`.
func (d *desk) pending() string {
	var lines []string
	for _, f := range d.set.Proposal().Files {
		for _, h := range f.Hunks {
			lines = append(lines, fmt.Sprintf("%s %q", h.State, h.NewText))
		}
		if len(f.Hunks) == 0 {
			lines = append(lines, fmt.Sprintf("%s %s", f.State, f.Op))
		}
	}
	return strings.Join(lines, "\n")
}

// want compares and says which.
func want(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.ReplaceAll(got, "\n", "\n     "), strings.ReplaceAll(want, "\n", "\n     "))
	}
}

func wantLike(t testing.TB, what, got, like string) {
	t.Helper()
	if !strings.Contains(got, like) {
		t.Errorf("%s: %q does not say %q", what, got, like)
	}
}

const (
	before = "package a\n\nfunc one() {}\n\n\n\nfunc two() {}\n"
	after  = "package a\n\nfunc uno() {}\n\n\n\nfunc dos() {}\n"
	half   = "package a\n\nfunc uno() {}\n\n\n\nfunc two() {}\n"
)

// openDesk has a.go open at version 7 and two hunks proposed for it.
func openDesk(t *testing.T) *desk {
	d := newDesk(t, everything, map[string]string{"a.go": before})
	d.open("a.go", 7)
	d.propose("a.go", after)
	return d
}

func TestAccept(t *testing.T) {
	d := openDesk(t)
	want(t, "results", d.accept(t.Context()), "applied\napplied")
	want(t, "buffer", d.text("a.go"), after)
	want(t, "disk", d.onDisk("a.go"), before)
	want(t, "proposal", d.pending(), "")
	if len(d.asked) != 1 {
		t.Fatalf("asked %d times", len(d.asked))
	}
	edit := d.asked[0].Edit.DocumentChanges[0].(textDocumentEdit)
	if edit.TextDocument.URI != d.uri("a.go") || *edit.TextDocument.Version != 7 || len(edit.Edits) != 2 {
		t.Errorf("asked for %+v", edit)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.announced, d.set.Proposal().Revision) {
		t.Errorf("announced %v, the proposal is at %d", d.announced, d.set.Proposal().Revision)
	}
}

// What an editor may do with an applyEdit but apply it, and what must be said.
func TestEditorsThatLie(t *testing.T) {
	answers := func(v any) func(d *desk, p applyEditParams) (any, error) {
		return func(*desk, applyEditParams) (any, error) { return v, nil }
	}
	type state struct{ result, reason, pending, text string }
	nothing := func(reason string) state {
		return state{"notApplied\nnotApplied", reason, "notApplied \"func uno() {}\\n\"\nnotApplied \"func dos() {}\\n\"", before}
	}
	all := state{result: "applied\napplied", text: after}
	first := func(reason string) state {
		return state{"applied\nnotApplied", reason, `notApplied "func dos() {}\n"`, half}
	}
	tests := []struct {
		name   string
		answer func(d *desk, p applyEditParams) (any, error)
		want   state
		asked  int // 1 if 0
	}{
		{name: "refuses", answer: answers(applyEditResult{FailureReason: "user\n declined"}), want: nothing("the editor refused the edit: user declined")},
		{name: "refuses without a reason", answer: answers(applyEditResult{}), want: nothing("gave no reason")},
		{name: "says it applied", answer: answers(applyEditResult{Applied: true}), want: nothing("nor the disk show it")},
		{name: "answers null", answer: answers(nil), want: nothing("did not say")},
		{name: "answers {}", answer: answers(struct{}{}), want: nothing("did not say")},
		{name: "answers a list", answer: answers([]int{1}), want: nothing("did not say")},
		{name: "knows no applyEdit",
			answer: func(*desk, applyEditParams) (any, error) {
				return nil, &rpc.Error{Code: rpc.MethodNotFound, Message: "no such method"}
			},
			want: nothing("knows no workspace/applyEdit")},
		{name: "fails",
			answer: func(*desk, applyEditParams) (any, error) { return nil, &rpc.Error{Code: -32603, Message: "boom"} },
			want:   nothing("boom")},
		{name: "applies and fails",
			answer: func(d *desk, p applyEditParams) (any, error) {
				d.apply(p)
				return nil, &rpc.Error{Code: -32603, Message: "boom"}
			},
			want: all},
		{name: "applies and denies it",
			answer: func(d *desk, p applyEditParams) (any, error) { d.apply(p); return applyEditResult{}, nil },
			want:   all},
		{name: "denies it and applies",
			answer: func(d *desk, p applyEditParams) (any, error) {
				time.AfterFunc(20*time.Millisecond, func() { d.apply(p) })
				return applyEditResult{}, nil
			},
			want: all},
		{name: "applies after the answer",
			answer: func(d *desk, p applyEditParams) (any, error) {
				time.AfterFunc(100*time.Millisecond, func() { d.apply(p) })
				return applyEditResult{Applied: true}, nil
			},
			want: all},
		{name: "applies half and says all",
			answer: func(d *desk, p applyEditParams) (any, error) {
				d.replace("a.go", "one", "uno")
				return applyEditResult{Applied: true}, nil
			},
			want: first("nor the disk show it")},
		{name: "applies half and says none",
			answer: func(d *desk, p applyEditParams) (any, error) {
				d.replace("a.go", "one", "uno")
				return map[string]any{"applied": false, "failedChange": 1}, nil
			},
			want: first("refused")},
		{name: "applies twice", // an undo and a redo of the user, say
			answer: func(d *desk, p applyEditParams) (any, error) {
				d.typeAll("a.go", after)
				d.typeAll("a.go", before)
				d.typeAll("a.go", after)
				return applyEditResult{Applied: true}, nil
			},
			want: all},
		{name: "formats another place",
			answer: func(d *desk, p applyEditParams) (any, error) {
				d.apply(p)
				d.replace("a.go", "\n\n\n\n", "\n\n")
				return applyEditResult{Applied: true}, nil
			},
			want: state{result: "applied\napplied", text: strings.Replace(after, "\n\n\n\n", "\n\n", 1)}},
		{name: "saves and closes",
			answer: func(d *desk, p applyEditParams) (any, error) {
				d.apply(p)
				d.save("a.go")
				d.close("a.go")
				return applyEditResult{Applied: true}, nil
			},
			want: all},
		{name: "closes and discards",
			answer: func(d *desk, p applyEditParams) (any, error) {
				d.close("a.go")
				return applyEditResult{Applied: true}, nil
			},
			want: nothing("nor the disk show it")},
		{name: "user typed above, refuses once",
			answer: func(d *desk, p applyEditParams) (any, error) {
				if len(d.asked) == 1 {
					d.replace("a.go", "package a\n", "package a\n// mine\n")
				}
				return d.apply(p), nil
			},
			want:  state{result: "applied\napplied", text: strings.Replace(after, "package a\n", "package a\n// mine\n", 1)},
			asked: 2},
		{name: "user typed above, says it applied", // as Neovim does
			answer: func(d *desk, p applyEditParams) (any, error) {
				if len(d.asked) == 1 {
					time.AfterFunc(50*time.Millisecond, func() { d.replace("a.go", "package a\n", "package a\n// mine\n") })
					return applyEditResult{Applied: true}, nil
				}
				return d.apply(p), nil
			},
			want:  state{result: "applied\napplied", text: strings.Replace(after, "package a\n", "package a\n// mine\n", 1)},
			asked: 2},
		{name: "user types all the time",
			answer: func(d *desk, p applyEditParams) (any, error) {
				d.replace("a.go", "package a\n", "package a\n//\n")
				return d.apply(p), nil
			},
			want: state{"notApplied\nnotApplied", "changed meanwhile", "notApplied \"func uno() {}\\n\"\nnotApplied \"func dos() {}\\n\"",
				strings.Replace(before, "package a\n", "package a\n//\n//\n", 1)},
			asked: 2},
		{name: "user typed over a hunk, refuses",
			answer: func(d *desk, p applyEditParams) (any, error) {
				d.replace("a.go", "one", "mine")
				return d.apply(p), nil
			},
			want: state{"conflicted\nnotApplied", "", "conflicted \"func uno() {}\\n\"\nnotApplied \"func dos() {}\\n\"",
				strings.Replace(before, "one", "mine", 1)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := openDesk(t)
			d.answer = func(_ context.Context, p applyEditParams) (any, error) { return tt.answer(d, p) }
			started := time.Now()
			got := d.accept(t.Context())
			if took := time.Since(started); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
			var states []string
			for line := range strings.SplitSeq(got, "\n") {
				state, _, _ := strings.Cut(line, " ")
				states = append(states, state)
			}
			want(t, "results", strings.Join(states, "\n"), tt.want.result)
			wantLike(t, "reason", got, tt.want.reason)
			want(t, "proposal", d.pending(), tt.want.pending)
			want(t, "text", d.text("a.go"), tt.want.text)
			if n := max(tt.asked, 1); len(d.asked) != n {
				t.Errorf("asked %d times, want %d", len(d.asked), n)
			}
			// Whatever it was, what is left can be accepted later.
			d.answer = nil
			if tt.want.pending != "" && !strings.Contains(tt.want.pending, "conflicted") {
				got := d.accept(t.Context())
				want(t, "results of another accept", strings.Trim(strings.ReplaceAll(got, "applied", ""), "\n"), "")
				want(t, "proposal after it", d.pending(), "")
			}
		})
	}
}

// An editor that does not answer holds its own resolve, and can be left.
func TestEditorThatHangs(t *testing.T) {
	hang := make(chan struct{})
	d := openDesk(t)
	asked := make(chan applyEditParams, 1)
	d.answer = func(ctx context.Context, p applyEditParams) (any, error) {
		asked <- p
		select {
		case <-ctx.Done(): // $/cancelRequest
			close(hang)
			return nil, ctx.Err()
		case <-t.Context().Done():
			return nil, nil
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan string, 1)
	go func() { first <- d.accept(ctx) }()
	late := <-asked

	// Another one waits for its turn, and can be left, too.
	other := changeset.New(d.editor)
	if _, err := other.Write(d.path("b.txt"), "b\n", changeset.Origin{}); err != nil {
		t.Fatal(err)
	}
	waiting, leave := context.WithCancel(t.Context())
	second := make(chan []changeset.Result, 1)
	go func() {
		rs, err := d.applier.Resolve(waiting, other, Request{Revision: other.Proposal().Revision, Decisions: []changeset.Decision{{All: true, Verdict: changeset.Accept}}})
		if err != nil {
			t.Error(err)
		}
		second <- rs
	}()
	leave()
	if rs := <-second; len(rs) != 1 || rs[0].State != changeset.NotApplied || !strings.Contains(rs[0].Reason, "cancelled") {
		t.Errorf("the one that waited got %+v", rs)
	}

	cancel()
	got := <-first
	wantLike(t, "results", got, "notApplied cancelled while the editor was applying it")
	<-hang

	// The user lets it through after all.
	d.answer = nil
	d.apply(late)
	if err := d.rebaser.Sync(t.Context(), d.set); err != nil {
		t.Fatal(err)
	}
	want(t, "proposal after a late apply", d.pending(), "")
	want(t, "text", d.text("a.go"), after)

	// And the queue is free.
	d.propose("a.go", before)
	want(t, "results of the next", d.accept(t.Context()), "applied\napplied")
}

func TestEditorThatNeverAnswers(t *testing.T) {
	d := openDesk(t)
	d.applier.answerWithin = 20 * time.Millisecond
	d.answer = func(ctx context.Context, _ applyEditParams) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
	wantLike(t, "results", d.accept(t.Context()), "notApplied the editor did not answer within 20ms")
}

func TestOneEditAtATime(t *testing.T) {
	d := newDesk(t, everything, nil)
	var mu sync.Mutex
	under := 0
	d.answer = func(_ context.Context, p applyEditParams) (any, error) {
		mu.Lock()
		under++
		if under > 1 {
			t.Error("two edits at a time")
		}
		mu.Unlock()
		res := d.apply(p)
		mu.Lock()
		under--
		mu.Unlock()
		return res, nil
	}
	var wg sync.WaitGroup
	for i := range 8 {
		set := changeset.New(d.editor)
		if _, err := set.Write(d.path(fmt.Sprintf("f%d", i)), "x\n", changeset.Origin{}); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			rs, err := d.applier.Resolve(t.Context(), set, Request{Revision: set.Proposal().Revision, Decisions: []changeset.Decision{{All: true, Verdict: changeset.Accept}}})
			if err != nil || len(rs) != 1 || rs[0].State != changeset.Applied {
				t.Errorf("got %+v, %v", rs, err)
			}
		})
	}
	wg.Wait()
}

func TestTextsOfEveryKind(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{"columns in UTF-16", "const 🍋 = \"中文😀\"; foo(1);\n", "const 🍋 = \"中文😀\"; bar(1);\n"}, // C009
		{"no last line end", "a\nb", "a\nc"}, // C011
		{"a line after a last line without end", "a\nb", "a\nb\nd"},
		{"a last line end", "a\nb", "a\nb\n"},
		{"the last line end goes", "a\nb\n", "a\nb"},
		{"windows", "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\nd\r\n"},
		{"old mac", "a\rb\rc", "a\rB\rc\rd"},
		{"all goes", "a\nb\n", ""},
		{"from nothing", "", "a\nb\n"},
		{"literally", "PID=old\n", "PID=$$ $& $` $' $1 ${x} \\1 \\\\n %s\n"}, // C013
		{"top and bottom", "x\n1\n2\n3\n4\n5\ny", "X\n1\n2\n3\n4\n5\nY"},
	} {
		for _, open := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, open %v", tt.name, open), func(t *testing.T) {
				d := newDesk(t, everything, map[string]string{"f": tt.before})
				if open {
					d.open("f", 3)
				}
				d.propose("f", tt.after)
				got := d.accept(t.Context())
				want(t, "results", strings.Trim(strings.ReplaceAll(got, "applied", ""), "\n"), "")
				want(t, "text", d.text("f"), tt.after)
				want(t, "proposal", d.pending(), "")
			})
		}
	}
}

func TestVersions(t *testing.T) { // C037
	d := newDesk(t, everything, map[string]string{"a": "1\n", "b": "1\n"})
	d.open("a", 7)
	d.typeAll("a", "2\n")
	d.typeAll("a", "3\n")
	d.propose("a", "4\n")
	d.propose("b", "2\n")
	want(t, "results", d.accept(t.Context()), "applied\napplied")
	var versions []string
	for _, c := range d.asked[0].Edit.DocumentChanges {
		v, _ := json.Marshal(c.(textDocumentEdit).TextDocument.Version)
		versions = append(versions, string(v))
	}
	slices.Sort(versions)
	want(t, "versions", strings.Join(versions, " "), "9 null")
	d.close("a")
	d.open("a", 1)
	d.propose("a", "5\n")
	want(t, "results after opening again", d.accept(t.Context()), "applied")
	if v := d.asked[1].Edit.DocumentChanges[0].(textDocumentEdit).TextDocument.Version; *v != 1 {
		t.Errorf("version %d after opening again at 1", *v)
	}
}

func TestEditorWithoutVersions(t *testing.T) {
	d := newDesk(t, Capabilities{ApplyEdit: true}, map[string]string{"a.go": before})
	d.open("a.go", 1)
	d.propose("a.go", after)
	d.propose("new.go", "package a\n")
	got := d.accept(t.Context())
	wantLike(t, "results", got, "notApplied this editor does not create files")
	want(t, "text", d.text("a.go"), after)
	want(t, "new file", d.onDisk("new.go"), "(none)")
	if d.asked[0].Edit.DocumentChanges != nil || len(d.asked[0].Edit.Changes) != 1 {
		t.Errorf("asked for %+v", d.asked[0].Edit)
	}
}

func TestEditorWithoutApplyEdit(t *testing.T) {
	d := newDesk(t, Capabilities{}, map[string]string{"a": "1\n"})
	d.propose("a", "2\n")
	wantLike(t, "results", d.accept(t.Context()), "notApplied this editor does not take edits")
	if len(d.asked) != 0 {
		t.Error("asked anyway")
	}
	want(t, "proposal", d.pending(), `notApplied "2\n"`)
}
