package checkpoint

import (
	"cmp"
	"errors"
	"slices"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

// propose makes a proposal of what became of the documents, in an order in
// which one after the other can be done. It is changeset.ErrRaced where a
// document is another by now.
func (p *planner) propose() (*changeset.Set, error) {
	set := changeset.New(p.src)
	for _, part := range []func(*changeset.Set) error{p.proposeDeletes, p.proposeMoves, p.proposeTexts} {
		switch err := part(set); {
		case errors.As(err, new(*changeset.MissingError)):
			return nil, changeset.ErrRaced
		case err != nil:
			return nil, err
		}
	}
	for _, f := range set.Proposal().Files {
		if d := p.from(f.Document()); f.Op != changeset.OpCreate && (d == nil || d.real.Text != f.Base) {
			return nil, changeset.ErrRaced
		}
	}
	return set, nil
}

// from is the document that is really at path.
func (p *planner) from(path string) *doc {
	i := slices.IndexFunc(p.docs, func(d *doc) bool { return d.src == path && path != "" })
	if i < 0 {
		return nil
	}
	return p.docs[i]
}

func (p *planner) proposeDeletes(set *changeset.Set) error {
	for _, d := range p.docs {
		switch {
		case d.src == "" || d.path != "":
		case !d.real.Exists: // only a buffer: there is no file to delete
			d.path, d.edits = d.src, inverse("", whole(d.real.Text))
		default:
			if _, err := set.Delete(d.src, changeset.Origin{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// proposeMoves moves documents in the order of their last moves, and again
// where a path becomes free only by a later one.
func (p *planner) proposeMoves(set *changeset.Set) error {
	var moves []*doc
	for _, d := range p.docs {
		if d.src != "" && d.path != "" && d.path != d.src {
			moves = append(moves, d)
		}
	}
	slices.SortFunc(moves, func(a, b *doc) int { return cmp.Compare(a.move, b.move) })
	for done := true; done && len(moves) > 0; {
		done = false
		var left []*doc
		for _, d := range moves {
			_, err := set.Move(d.src, d.path, changeset.Origin{})
			switch {
			case errors.As(err, new(*changeset.ExistsError)):
				left = append(left, d)
			case err != nil:
				return err
			default:
				done = true
			}
		}
		moves = left
	}
	p.exchange(moves)
	return nil
}

// exchange has files that are to change places keep them and change their
// texts: no order of moves would do.
func (p *planner) exchange(moves []*doc) {
	content := map[string]string{}
	for _, d := range moves {
		content[d.path] = d.text
	}
	for _, d := range moves {
		d.path, d.text = d.src, content[d.src]
		d.edits = text.Diff(d.real.Text, d.text)
	}
}

func (p *planner) proposeTexts(set *changeset.Set) error {
	for _, d := range p.docs {
		switch {
		case d.path == "":
		case d.src == "":
			c, err := set.Write(d.path, d.text, changeset.Origin{})
			if err != nil {
				return err
			}
			if c.Kind != changeset.Created && p.from(d.path) == nil {
				return changeset.ErrRaced
			}
		case len(d.edits) > 0:
			if _, err := set.Edit(d.path, d.real.Text, d.edits, changeset.Origin{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// units puts documents together that have to do with each other.
func (p *planner) units() []*unit {
	var units []*unit
	for _, d := range p.docs {
		if len(d.steps) == 0 {
			continue
		}
		u := &unit{docs: []*doc{d}, steps: slices.Clone(d.steps), paths: map[string]bool{}}
		for _, path := range d.paths() {
			u.paths[path] = true
		}
		apart := units[:0]
		for _, o := range units {
			if !u.meets(o) {
				apart = append(apart, o)
				continue
			}
			u.docs, u.steps = append(o.docs, u.docs...), append(o.steps, u.steps...)
			for path := range o.paths {
				u.paths[path] = true
			}
		}
		units = append(apart, u)
	}
	return units
}

func (u *unit) meets(o *unit) bool {
	for path := range o.paths {
		if u.paths[path] {
			return true
		}
	}
	return false
}

// paths are all that the document has to do with.
func (d *doc) paths() (out []string) {
	if d.src != "" {
		out = append(out, d.src)
	}
	if d.path != "" {
		out = append(out, d.path)
	}
	for _, s := range d.steps {
		out = append(out, s.path)
		if s.oldPath != "" {
			out = append(out, s.oldPath)
		}
	}
	return out
}

// name is the path by which the document is known best.
func (d *doc) name() string { return cmp.Or(d.path, d.src, d.steps[0].path) }

// lineOf is the 1-based line of an offset of the text as it will be.
func (d *doc) lineOf(at int) int { return text.New(d.text).LineAt(at) + 1 }
