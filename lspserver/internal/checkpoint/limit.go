package checkpoint

import "slices"

// MaxBytes is how much text a log keeps.
const MaxBytes = 128 << 20

// trim drops the oldest checkpoints until what is left has room, and tells
// which. l.mu is held.
func (l *Log) trim() (dropped []Checkpoint) {
	l.sweep()
	for l.bytes() > l.maxBytes && len(l.entries) > 0 {
		e := l.entries[0]
		if c, listed := l.checkpoint(e); listed {
			dropped = append(dropped, c)
		}
		if !e.restore {
			l.lost[e.runID] = true
			l.unsaved.lost[e.runID] = true
		}
		for _, s := range slices.Clone(l.steps) {
			if s.entry == e || s.state == open && l.lost[s.entry.runID] {
				l.remove(s)
			}
		}
		l.sweep()
	}
	return dropped
}

// bytes is how much text is kept.
func (l *Log) bytes() int {
	n := 0
	for _, b := range l.texts {
		n += len(b.text)
	}
	for _, s := range l.steps {
		n += s.size()
	}
	return n
}

// sweep removes what can come in force no more, and what nothing needs.
func (l *Log) sweep() {
	needed := map[int64]bool{}
	var need func(s *step)
	need = func(s *step) {
		if s == nil || needed[s.seq] {
			return
		}
		needed[s.seq] = true
		for _, seq := range slices.Concat(s.undoes, s.revives) {
			need(l.bySeq(seq))
		}
	}
	for _, s := range l.steps {
		if s.state != out {
			need(s)
		}
	}
	texts, entries := map[*blob]bool{}, map[*entry]bool{}
	l.steps = slices.DeleteFunc(l.steps, func(s *step) bool {
		if !needed[s.seq] {
			l.unsaved.forget(s.seq)
			return true
		}
		texts[s.before], entries[s.entry] = true, true
		return false
	})
	l.entries = slices.DeleteFunc(l.entries, func(e *entry) bool { return !entries[e] })
	for hash, b := range l.texts {
		if !texts[b] {
			delete(l.texts, hash)
		}
	}
}
