package checkpoint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/tools/changeset"
)

// Restored is what came of a restore.
type Restored struct {
	// Results are by file, with the FileID that it had in the session's
	// proposal when it was applied last: one of what was undone or was so
	// already, one of what conflicts, one of what the editor did not do.
	Results []changeset.Result
	// Redo is the checkpoint that makes again what was undone; empty where
	// there is none, since an earlier one is back.
	Redo string
	// Dropped are checkpoints that were dropped for want of room.
	Dropped []Checkpoint
}

// Done tells what an editor was asked for of u.Set, in the form in which it
// was sent last, and the results. The checkpoints of what was undone are
// dropped, and so are parts in conflict; what the editor did not do stays.
func (l *Log) Done(u *Undo, files []changeset.FileEdit, results []changeset.Result, t time.Time) Restored {
	found := l.landed(files, results)
	l.mu.Lock()
	defer l.mu.Unlock()
	var r Restored
	for _, unit := range u.units {
		r.Results = append(r.Results, unit.results(results)...)
	}
	d := done{l: l, u: u, t: t}
	all := true
	for _, unit := range u.units {
		landed := unit.landed(results)
		all = all && landed
		d.unit(unit, landed, files, found)
	}
	if all {
		d.swallow()
	}
	if d.entry != nil {
		r.Redo = d.entry.id()
	}
	r.Dropped = l.trim()
	return r
}

// landed tells whether everything of a unit that was to be done is done.
func (u *unit) landed(results []changeset.Result) bool {
	return !slices.ContainsFunc(results, func(r changeset.Result) bool { return u.paths[r.Path] && r.State != changeset.Applied })
}

// done moves the steps of a restore.
type done struct {
	l *Log
	u *Undo
	t time.Time
	// entry is the restore's own checkpoint, once there is something in it.
	entry *entry
}

// unit notes what landed of a unit. The steps that were undone are out of
// force, and with a restore goes what it revived and comes what it had undone.
func (d *done) unit(u *unit, landed bool, files []changeset.FileEdit, found []verdict) {
	var undoes, revives []int64
	for _, s := range u.steps {
		if landed && d.live(s) {
			undoes = append(append(undoes, s.seq), d.those(inForce, s.revives)...)
			revives = append(revives, d.those(out, s.undoes)...)
		}
	}
	if !d.pure() {
		d.record(u, files, found, undoes, revives)
	}
	d.turn(undoes, out)
	d.turn(revives, inForce)
}

// live tells whether a step is what it was when it was planned to be undone.
func (d *done) live(s *step) bool {
	return s.state == inForce && d.l.bySeq(s.seq) == s
}

// those gives the steps of seqs that are in a state.
func (d *done) those(in state, seqs []int64) (out []int64) {
	for _, seq := range seqs {
		if s := d.l.bySeq(seq); s != nil && s.state == in {
			out = append(out, seq)
		}
	}
	return out
}

// pure tells whether nothing but an earlier restore is undone: the checkpoints
// that come back do for undoing that.
func (d *done) pure() bool {
	if !d.u.target.restore || len(d.u.swallowed) > 0 {
		return false
	}
	for _, u := range d.u.units {
		if slices.ContainsFunc(u.steps, func(s *step) bool { return s.entry != d.u.target }) {
			return false
		}
	}
	return true
}

// record takes in, as steps of the restore, what landed of a unit.
func (d *done) record(u *unit, files []changeset.FileEdit, found []verdict, undoes, revives []int64) {
	var own []*step
	for i, f := range files {
		if s := found[i].step; s != nil && (u.paths[f.Path] || u.paths[f.OldPath]) {
			s.fileID = u.fileID(f.Path, f.OldPath)
			own = append(own, s)
		}
	}
	if len(own) == 0 {
		if len(undoes) == 0 {
			return
		}
		own = append(own, d.nothing(u.docs[0].name(), u.fileID()))
	}
	own[0].undoes, own[0].revives = undoes, revives
	for _, s := range own {
		d.add(s)
	}
}

// nothing is a step that changes nothing, to hold on to others.
func (d *done) nothing(path, fileID string) *step {
	return &step{fileID: fileID, op: changeset.OpModify, path: path, before: newBlob("")}
}

func (d *done) add(s *step) {
	if d.entry == nil {
		d.entry = d.l.newEntry(entry{restore: true, of: d.u.target.num, time: d.t})
	}
	d.l.add(d.entry, s)
}

// swallow takes the restores that came after the target out of force.
func (d *done) swallow() {
	var undoes []int64
	var path string
	for _, s := range d.u.swallowed {
		if d.live(s) {
			undoes, path = append(undoes, s.seq), s.path
		}
	}
	if len(undoes) == 0 {
		return
	}
	s := d.nothing(path, "")
	s.undoes = undoes
	d.add(s)
	d.turn(undoes, out)
}

func (d *done) turn(seqs []int64, to state) {
	for _, seq := range seqs {
		if s := d.l.bySeq(seq); s != nil {
			s.state = to
			d.l.unsaved.states[seq] = true
		}
	}
}

// fileID is the newest id of a file that is or was at one of paths; of any
// file of the unit where no path is given.
func (u *unit) fileID(paths ...string) string {
	var newest *step
	for _, s := range u.steps {
		if s.fileID != "" && (newest == nil || s.seq > newest.seq) && (len(paths) == 0 || slices.ContainsFunc(paths, s.touches)) {
			newest = s
		}
	}
	if newest == nil {
		return ""
	}
	return newest.fileID
}

// results are those of a unit, by document.
func (u *unit) results(results []changeset.Result) (out []changeset.Result) {
	for _, d := range u.docs {
		out = append(out, d.results(results)...)
	}
	return out
}

func (d *doc) results(results []changeset.Result) (out []changeset.Result) {
	name, id := d.name(), ""
	for _, s := range d.steps {
		if id = s.fileID; id != "" {
			break
		}
	}
	add := func(state changeset.State, reason string) {
		out = append(out, changeset.Result{FileID: id, Path: name, State: state, Reason: reason})
	}
	undone, refused := false, map[changeset.State]string{}
	for _, r := range results {
		switch {
		case r.Path == "" || r.Path != d.src && r.Path != d.path:
		case r.State == changeset.Applied:
			undone = true
		default:
			refused[r.State] = r.Reason
		}
	}
	conflict := d.conflict()
	if undone || len(refused) == 0 && conflict == "" {
		add(changeset.Applied, "")
	}
	if reason, ok := refused[changeset.NotApplied]; ok {
		add(changeset.NotApplied, reason)
	}
	if reason, ok := refused[changeset.Conflicted]; ok && conflict == "" {
		conflict = reason
	}
	if conflict != "" {
		add(changeset.Conflicted, conflict)
	}
	return out
}

// conflict says what of the document cannot be undone, "" for nothing.
func (d *doc) conflict() string {
	var reasons []string
	var lines []int
	for _, c := range d.conflicts {
		if c.at < 0 {
			reasons = append(reasons, c.reason)
		} else {
			lines = append(lines, d.lineOf(c.at))
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	switch len(lines) {
	case 0:
	case 1:
		reasons = append(reasons, fmt.Sprintf("line %d was changed since: it was left as it is", lines[0]))
	default:
		reasons = append(reasons, fmt.Sprintf("lines %s were changed since: they were left as they are", numbers(lines)))
	}
	return strings.Join(reasons, "; ")
}

// maxLines is how many lines a reason names.
const maxLines = 10

func numbers(lines []int) string {
	var out []string
	for _, n := range lines[:min(len(lines), maxLines)] {
		out = append(out, fmt.Sprint(n))
	}
	if more := len(lines) - maxLines; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), more)
	}
	return strings.Join(out, ", ")
}
