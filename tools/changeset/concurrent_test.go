package changeset

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agentls/agentls/tools/text"
)

// Everybody at once: the agent writes, the user types, reviews look and
// decide. The race detector watches; in the end the proposal is sound.
func TestConcurrentUse(t *testing.T) {
	w := newWorld(t, "f", tenLines, "g", tenLines)
	const rounds = 200
	var wg sync.WaitGroup
	for _, work := range []func(i int){
		func(i int) {
			d, _ := w.set.Read("f")
			at := strings.Index(d.Text, "5")
			if at >= 0 {
				_, _ = w.set.Edit("f", d.Text, []text.Edit{{Start: at, End: at + 1, New: fmt.Sprint("5 ", i)}}, Origin{})
			}
		},
		func(i int) { _, _ = w.set.Write("g", fmt.Sprintf("%s%d\n", tenLines, i), Origin{}) },
		func(i int) { _, _ = w.set.Move("g", "h", Origin{}); _, _ = w.set.Move("h", "g", Origin{}) },
		func(i int) {
			d := Doc{Text: strings.Repeat("line\n", i%3) + tenLines, Exists: true, Open: true}
			w.put("f", d)
			w.set.Rebase("f", d)
		},
		func(i int) {
			for _, f := range w.set.Proposal().Files {
				_, _ = f.Proposed(), f.Patch(f.Path, f.OldPath)
			}
			w.set.Overlay()
			_ = w.set.Save()
			_ = w.set.TakeOutcomes()
		},
		func(i int) {
			b, err := w.set.Resolve(w.set.Proposal().Revision, []Decision{{All: true, Verdict: Reject}})
			if err == nil {
				w.set.Settle(b, w.Base, "")
			}
			<-w.set.Changed()
		},
	} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range rounds {
				work(i)
			}
		}()
	}
	// The last one waits for changes: keep them coming until all are done.
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for i := 0; ; i++ {
		select {
		case <-done:
			w.set.Sync()
			w.check()
			return
		default:
			_, _ = w.set.Write("k", fmt.Sprint(i), Origin{})
		}
	}
}

// A text that the Source read before a keystroke does not take the keystroke
// back.
func TestSlowSource(t *testing.T) {
	w := newWorld(t, "f", "a\nb\n")
	src := &slowSource{world: w}
	w.set = New(src)
	w.edit("f", "a", "A")
	src.before = func() { // between the read of the document and its use
		src.before = nil
		w.user("f", "a\nb\nc\n")
	}
	if got := w.read("f"); got != "A\nb\nc\n" {
		t.Errorf("the agent sees %q", got)
	}
	w.check()
}

type slowSource struct {
	*world
	before func()
}

func (s *slowSource) Base(path string) (Doc, error) {
	d, err := s.world.Base(path)
	if s.before != nil {
		s.before()
	}
	return d, err
}
