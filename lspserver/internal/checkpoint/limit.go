package checkpoint

import "slices"

// MaxBytes is how much text a log keeps, in bytes.
const MaxBytes = 128 << 20

// trim makes room: what may land yet is forgotten first, then go the oldest
// checkpoints, which it tells. l.mu is held.
func (l *Log) trim() (dropped []Checkpoint) {
	l.sweep()
	for l.bytes() > l.maxBytes {
		if i := slices.IndexFunc(l.steps, func(s *step) bool { return s.state == open }); i >= 0 {
			l.remove(l.steps[i])
		} else if len(l.entries) > 0 {
			dropped = append(dropped, l.drop(l.entries[0])...)
		}
		l.sweep()
	}
	return dropped
}

// drop takes out an entry, whether it is there for others or not.
func (l *Log) drop(e *entry) (dropped []Checkpoint) {
	if c, there := l.checkpoint(e); there && !e.restore {
		dropped = append(dropped, c)
	}
	if !e.restore {
		l.lost[e.runID] = true
		l.unsaved.lost[e.runID] = true
	}
	for _, s := range slices.Clone(l.steps) {
		if s.entry == e {
			l.remove(s)
		}
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
