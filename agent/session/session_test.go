package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agent"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("SESSION_TEST_WRITER"); dir != "" {
		writeForEver(dir)
	}
	goleak.VerifyTestMain(m)
}

// event is a line as the session would write it.
func event(seq int, text string) []byte {
	line, err := agent.Envelope{
		SessionID: "s1", RunID: "r1", Seq: int64(seq), Time: time.Date(2026, 1, 2, 3, 4, seq, 0, time.UTC),
		Event: agent.TextDelta{MessageID: "m", Delta: text},
	}.AppendJSON(nil)
	if err != nil {
		panic(err)
	}
	return line
}

func header(folders ...string) []byte {
	raw, _ := json.Marshal(folders)
	return fmt.Appendf(nil, `{"type":"_session","sessionId":"s1","title":"first","mode":"agent","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z","usage":{"turns":0,"toolCalls":0},"workspace":%s}`, raw)
}

func record(t testing.TB, f *File, lines ...[]byte) {
	t.Helper()
	for _, l := range lines {
		if err := f.Record(l); err != nil {
			t.Fatal(err)
		}
	}
}

func create(t testing.TB, s *Store, id string) *File {
	t.Helper()
	f, err := s.Create(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func load(t testing.TB, s *Store, id string) *Loaded {
	t.Helper()
	l, err := s.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.File.Close() })
	return l
}

func seqs(records []agent.Record) string {
	var out []string
	for _, r := range records {
		if r.Seq > 0 {
			out = append(out, fmt.Sprint(r.Seq))
		} else {
			out = append(out, r.Type)
		}
	}
	return strings.Join(out, " ")
}

func same[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "agentls")
	s := Open(dir)
	if list, err := s.List(nil); err != nil || len(list) > 0 {
		t.Errorf("list of nothing: %v, %v", list, err)
	}
	f := create(t, s, "s1")
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a session that did nothing left something: %v", err)
	}
	none, err := f.Events(0, 10)
	if err != nil || len(none) > 0 {
		t.Errorf("events of nothing: %v, %v", none, err)
	}
	record(t, f, header("/w"), event(1, "a"), []byte(`{"type":"_message","seq":0}`), event(2, "b"))
	if runtime.GOOS != "windows" {
		for path, mode := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "s1.jsonl"): 0o600} {
			st, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			same(t, path, st.Mode().Perm(), mode)
		}
	}
	events, err := f.Events(2, 3)
	if err != nil || len(events) != 1 || string(events[0]) != string(event(2, "b")) {
		t.Errorf("events: %s, %v", events, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Record(event(3, "c")); err == nil {
		t.Error("a closed file took a line")
	}
	l := load(t, s, "s1")
	same(t, "records", seqs(l.Records), "_session 1 _message 2")
	same(t, "damage", l.Damage, "")
	record(t, l.File, event(3, "c"))
	events, _ = l.File.Events(1, 4)
	same(t, "events", len(events), 3)
	if err := create(t, s, "s1").Record(header()); err == nil {
		t.Error("a session was created over another one")
	}
}

func TestNames(t *testing.T) {
	s := Open(t.TempDir())
	for _, id := range []string{"", "..", "../x", "a/b", `a\b`, ".hidden", "a b", "a\x00", strings.Repeat("x", 200), "c:d"} {
		if _, err := s.Load(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("load %q: %v", id, err)
		}
		if _, err := s.Create(id); err == nil {
			t.Errorf("%q was created", id)
		}
		if err := s.Delete(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("delete %q: %v", id, err)
		}
	}
	if _, err := s.Load("unknown"); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
}

// C158: whatever happened to a file, what is valid is loaded, the user is told
// once, what is there is never rewritten, and the next line is a whole one.
func TestDamage(t *testing.T) {
	lines := [][]byte{header("/w"), event(1, "a"), event(2, "b"), event(3, "c")}
	whole := append(bytes.Join(lines, []byte("\n")), '\n')
	start := bytes.Index(whole, lines[2])
	nulls := bytes.Repeat([]byte{0}, 40)
	for _, c := range []struct {
		name, want string
		data       []byte
		copied     bool
		silent     bool
	}{
		{"whole", "_session 1 2 3", whole, false, true},
		{"no last newline", "_session 1 2 3", whole[:len(whole)-1], false, true},
		{"torn last line", "_session 1 2", whole[:len(whole)-20], false, false},
		{"zeros in a line", "_session 1 3", bytes.Join([][]byte{whole[:start+10], whole[start+10:]}, nulls), true, false},
		{"zeros before a line", "_session 1 2 3", bytes.Join([][]byte{whole[:start], whole[start:]}, nulls), false, true},
		{"zeros at the end", "_session 1 2 3", append(bytes.Clone(whole), nulls...), false, true},
		{"broken first line", "1 2 3", append([]byte("{"), whole...), true, false},
		{"two lines in one", "_session 1", bytes.Join([][]byte{lines[0], lines[1], append(bytes.Clone(lines[2]), lines[3]...), nil}, []byte("\n")), true, false},
		{"blank lines", "_session 1 2 3", bytes.ReplaceAll(whole, []byte("\n"), []byte("\n\n\r\n")), false, true},
		{"not ours", "", []byte("hello\n[1]\n\"x\"\n{}\n{\"type\":\"text\"}\n"), true, false},
		{"empty", "", nil, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s, path := Open(dir), filepath.Join(dir, "s1.jsonl")
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			l := load(t, s, "s1")
			same(t, "records", seqs(l.Records), c.want)
			same(t, "silent", l.Damage == "", c.silent)
			files, _ := os.ReadDir(dir)
			same(t, "files after the load", len(files), 1)
			record(t, l.File, event(4, "d"))
			l.File.Close()
			now, err := os.ReadFile(path)
			if err != nil || !bytes.HasPrefix(now, c.data) || !bytes.HasSuffix(now, append(append([]byte("\n"), event(4, "d")...), '\n')) && len(c.data) > 0 {
				t.Errorf("the file is now %q", now)
			}
			kept, err := os.ReadFile(path + ".damaged")
			same(t, "copied", err == nil, c.copied)
			if c.copied && !bytes.Equal(kept, c.data) {
				t.Errorf("the copy is %q", kept)
			}
			again := load(t, s, "s1")
			same(t, "records, again", seqs(again.Records), strings.TrimSpace(c.want+" 4"))
			same(t, "told again", again.Damage, "")
			record(t, again.File, event(5, "e"))
			again.File.Close()
			files, _ = os.ReadDir(dir)
			same(t, "files", len(files), 1+btoi(c.copied))
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A second damage has a second copy.
func TestDamageAgain(t *testing.T) {
	dir := t.TempDir()
	s, path := Open(dir), filepath.Join(dir, "s1.jsonl")
	f := create(t, s, "s1")
	record(t, f, header())
	f.Close()
	for i := 1; i <= 2; i++ {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(file, "garbage")
		file.Close()
		l := load(t, s, "s1")
		if !strings.Contains(l.Damage, "1 lines") {
			t.Errorf("damage %d: %q", i, l.Damage)
		}
		record(t, l.File, event(i, "x"))
		l.File.Close()
	}
	for _, name := range []string{"s1.jsonl.damaged", "s1.jsonl.damaged-2"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// C158 d: a process that is killed while it writes leaves whole lines, and at
// most one that is torn, which is left out.
func TestKillWhileWriting(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGKILL")
	}
	dir := t.TempDir()
	s := Open(dir)
	for i := range 100 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SESSION_TEST_WRITER="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// It says that it has begun; then it is killed at some moment.
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		for range i % 7 {
			runtime.Gosched()
		}
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		l, err := s.Load("s1") // the lock went with the process
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(l.Damage, "lines") {
			t.Fatalf("kill %d: %s", i, l.Damage)
		}
		for n, r := range l.Records {
			if r.Seq != int64(n+1) {
				t.Fatalf("kill %d: record %d has seq %d", i, n+1, r.Seq)
			}
		}
		l.File.Close()
	}
	l := load(t, s, "s1")
	if len(l.Records) < 100 {
		t.Errorf("only %d lines", len(l.Records))
	}
}

// writeForEver is the process that TestKillWhileWriting kills.
func writeForEver(dir string) {
	s := Open(dir)
	seq := 0
	l, err := s.Load("s1")
	var f *File
	if err == nil {
		f, seq = l.File, len(l.Records)
	} else if f, err = s.Create("s1"); err != nil {
		panic(err)
	}
	text := strings.Repeat("text of some length ", 100)
	for n := 0; n < 12; n++ {
		seq++
		if err := f.Record(event(seq, text)); err != nil {
			panic(err)
		}
		if n == 0 {
			fmt.Print("x")
		}
	}
	select {}
}

// C158 e: what a full disk took of a line is taken back.
func TestFullDisk(t *testing.T) {
	s := Open(t.TempDir())
	f := create(t, s, "s1")
	record(t, f, header("/w"), event(1, "a"))
	full := errors.New("no space left on device")
	f.write = func(b []byte) (int, error) {
		n, _ := f.f.Write(b[:len(b)/2])
		return n, full
	}
	if err := f.Record(event(2, "b")); !errors.Is(err, full) {
		t.Errorf("error: %v", err)
	}
	f.write = func(b []byte) (int, error) { n, _ := f.f.Write(b[:3]); return n, nil }
	if err := f.Record(event(2, "b")); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error: %v", err)
	}
	f.write = nil
	record(t, f, event(2, "b"))
	f.Close()
	l := load(t, s, "s1")
	same(t, "records", seqs(l.Records), "_session 1 2")
	same(t, "damage", l.Damage, "")
}

// C158 g: a session that another server has open is refused.
func TestLock(t *testing.T) {
	s := Open(t.TempDir())
	f := create(t, s, "s1")
	record(t, f, header("/w"), event(1, "a"))
	if _, err := Open(s.dir).Load("s1"); !errors.Is(err, ErrLocked) {
		t.Errorf("a second load: %v", err)
	}
	if err := s.Delete("s1"); !errors.Is(err, ErrLocked) {
		t.Errorf("delete: %v", err)
	}
	list, err := Open(s.dir).List(nil)
	if err != nil || len(list) != 1 {
		t.Errorf("the list shows it all the same: %v, %v", list, err)
	}
	f.Close()
	l := load(t, s, "s1")
	if _, err := s.Load("s1"); !errors.Is(err, ErrLocked) {
		t.Errorf("a second load: %v", err)
	}
	l.File.Close()
	if err := s.Delete("s1"); err != nil {
		t.Error(err)
	}
	if _, err := s.Load("s1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("after the delete: %v", err)
	}
}

func info(title string, folder string, updated time.Time, usage int64) []byte {
	raw, _ := json.Marshal(agent.Info{ID: "x", Title: title, Runs: 2, Updated: updated, Usage: agent.Usage{InputTokens: &usage}, Workspace: []string{folder}, PendingHunks: 4})
	return append([]byte(`{"type":"_info",`), raw[1:]...)
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir)
	at := func(sec int) time.Time { return time.Date(2026, 1, 2, 3, 4, sec, 0, time.UTC) }
	record(t, create(t, s, "only-head"), header("/w"), event(5, "x"))
	record(t, create(t, s, "described"), header("/w"), event(1, "x"), info("renamed", "/w", at(7), 10), info("renamed again", "/w", at(9), 20))
	record(t, create(t, s, "elsewhere"), header("/other"), event(1, "x"))
	long := create(t, s, "long")
	record(t, long, header("/w"), info("long ago", "/w", at(1), 30))
	for i := range 40 {
		record(t, long, event(i+1, strings.Repeat("{\"type\":\"_info\" ", 1000)))
	}
	broken := create(t, s, "broken-head")
	record(t, broken, []byte("{"), event(1, "x"), info("still here", "/w", at(2), 1))
	for name, text := range map[string]string{"notes.txt": "x", "nothing.jsonl": "", "garbage.jsonl": "x\ny", "s.jsonl.damaged": "{"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.List([]string{"/w", "/v"})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, i := range list {
		got += fmt.Sprintf("%s %q %s; ", i.ID, i.Title, i.Updated.Format("05"))
	}
	same(t, "list", got, `long "long ago" 40; described "renamed again" 09; only-head "first" 05; broken-head "still here" 02; `)
	same(t, "usage", *list[1].Usage.InputTokens, 20)
	same(t, "pending", list[1].PendingHunks, 4)
	all, _ := s.List(nil)
	same(t, "all", len(all), 5)
}

func BenchmarkRecord(b *testing.B) {
	f := create(b, Open(b.TempDir()), "s1")
	line := event(1, "some words ")
	for b.Loop() {
		if err := f.Record(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	s := Open(b.TempDir())
	for i := range 500 {
		f := create(b, s, fmt.Sprint("s", i))
		record(b, f, header("/w"))
		for n := range 100 {
			record(b, f, event(n+1, strings.Repeat("words ", 100)))
		}
		record(b, f, info("t", "/w", time.Now(), 1))
		f.Close()
	}
	for b.Loop() {
		list, err := s.List([]string{"/w"})
		if err != nil || len(list) != 500 {
			b.Fatal(len(list), err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	s := Open(b.TempDir())
	f := create(b, s, "s1")
	record(b, f, header("/w"))
	for n := range 50_000 {
		record(b, f, event(n+1, "some words of an answer "))
	}
	f.Close()
	for b.Loop() {
		l, err := s.Load("s1")
		if err != nil || len(l.Records) != 50_001 {
			b.Fatal(err)
		}
		l.File.Close()
	}
}
