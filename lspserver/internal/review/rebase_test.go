package review

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentls/agentls/tools/changeset"
)

func (d *desk) sync() {
	d.t.Helper()
	if err := d.rebaser.Sync(d.t.Context(), d.set); err != nil {
		d.t.Fatal(err)
	}
}

func TestTypingWhileHunksWait(t *testing.T) {
	d := openDesk(t)
	d.replace("a.go", "package a\n", "package a\n// mine\n")
	d.sync()
	p := d.set.Proposal()
	want(t, "base", p.Files[0].Base, d.text("a.go"))
	want(t, "proposal", d.pending(), "pending \"func uno() {}\\n\"\npending \"func dos() {}\\n\"")

	d.replace("a.go", "one", "other")
	d.sync()
	want(t, "proposal with a conflict", d.pending(), "conflicted \"func uno() {}\\n\"\npending \"func dos() {}\\n\"")

	d.replace("a.go", "other", "one")
	d.sync()
	want(t, "proposal with the text back", d.pending(), "pending \"func uno() {}\\n\"\npending \"func dos() {}\\n\"")

	d.replace("a.go", "two", "dos")
	d.sync()
	want(t, "proposal with a hunk typed by the user", d.pending(), "pending \"func uno() {}\\n\"")
}

func TestDiskWhileHunksWait(t *testing.T) {
	d := newDesk(t, everything, map[string]string{"a.go": before})
	d.propose("a.go", after)
	d.write("a.go", "// generated\n"+before)
	d.rebaser.Disk(d.path("a.go"))
	d.sync()
	want(t, "base", d.set.Proposal().Files[0].Base, "// generated\n"+before)

	d.open("a.go", 1)
	d.replace("a.go", "one", "other")
	d.sync()
	wantLike(t, "proposal", d.pending(), "conflicted")
	d.close("a.go") // discards what was typed
	d.sync()
	want(t, "proposal", d.pending(), "pending \"func uno() {}\\n\"\npending \"func dos() {}\\n\"")
}

// A notification must not wait for a client that does not read its events.
func TestReaderDoesNotWait(t *testing.T) {
	d := openDesk(t)
	stuck, release := make(chan struct{}), make(chan struct{})
	calls := 0
	d.rebaser.sessions = func() []Session {
		return []Session{{d.set, func() {
			if calls++; calls == 1 {
				close(stuck)
				<-release
			}
		}}}
	}
	d.replace("a.go", "one", "other")
	<-stuck
	for i := range 100 {
		d.replace("a.go", "package a\n", fmt.Sprintf("package a\n// %d\n", i))
	}
	want(t, "base", d.set.Proposal().Files[0].Base, d.text("a.go"))
	close(release)
	d.rebaser.Close()
	if calls > 2 {
		t.Errorf("announced %d times", calls)
	}
}

func TestMovesAreAnnouncedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEditor(t, map[string]string{"a.go": before})
		set := changeset.New(e)
		var announced []time.Duration
		started := time.Now()
		r := NewRebaser(e, func() []Session {
			return []Session{{set, func() { announced = append(announced, time.Since(started)) }}}
		}, nil)
		defer r.Close()
		e.docs.Subscribe(r.Document)
		e.open("a.go", 1)
		if _, err := set.Write(e.path("a.go"), after, changeset.Origin{}); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			e.replace("a.go", "package a\n", "package a\n\n")
			synctest.Wait()
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(announced) != 1 || announced[0] != announceMoved {
			t.Errorf("ten moves were announced at %v, want once after %v", announced, announceMoved)
		}
		// What changes is told at once, and takes a pending announcement along.
		announced, started = nil, time.Now()
		e.replace("a.go", "package a\n", "package a\n\n")
		synctest.Wait()
		e.replace("a.go", "one", "other")
		synctest.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if len(announced) != 1 || announced[0] != 0 {
			t.Errorf("a conflict was announced at %v, want at once", announced)
		}
		e.replace("a.go", "package a\n", "package a\n\n")
		synctest.Wait()
	})
}

func TestSyncAfterClose(t *testing.T) {
	d := openDesk(t)
	d.rebaser.Close()
	d.sync()
	d.replace("a.go", "one", "other")
	d.sync()
	d.rebaser.Close()
}
