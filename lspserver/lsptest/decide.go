package lsptest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// decisions reads WHAT VERDICT ["text"] [, …].
func (s *scenario) decisions(a []string) (ds []map[string]any, revision int64, save bool, err error) {
	p := s.editor.Proposal(s.session)
	revision = p.Revision
	a = slices.DeleteFunc(slices.Clone(a), func(w string) bool {
		if n, ok := strings.CutPrefix(w, "revision="); ok {
			revision, err = strconv.ParseInt(n, 10, 64)
			return true
		}
		save = save || w == "save"
		return w == "save"
	})
	for len(a) > 0 && err == nil {
		end := slices.Index(a, ",")
		if end < 0 {
			end = len(a)
		}
		var d map[string]any
		if d, err = s.decision(p, a[:end]); err == nil {
			ds = append(ds, d)
		}
		a = a[min(end+1, len(a)):]
	}
	return ds, revision, save, err
}

func (s *scenario) decision(p Proposal, a []string) (map[string]any, error) {
	d := map[string]any{}
	switch a[0] {
	case "all":
		d["all"], a = true, a[1:]
	case "file":
		f, err := s.fileOf(p, a[1])
		if err != nil {
			return nil, err
		}
		d["fileId"], a = f.FileID, a[2:]
	case "hunk":
		files := p.Files
		if _, err := strconv.Atoi(a[1]); err != nil {
			f, err := s.fileOf(p, a[1])
			if err != nil {
				return nil, err
			}
			files, a = []FileChange{f}, a[1:]
		}
		h, err := hunkAt(files, a[1])
		if err != nil {
			return nil, err
		}
		d["hunkId"], a = h.HunkID, a[2:]
	case "id": // whatever it is
		d["hunkId"], a = a[1], a[2:]
	default:
		return nil, fmt.Errorf("%q is nothing to decide", a[0])
	}
	d["verdict"] = a[0]
	if len(a) > 1 && a[0] == "edit" {
		d["newText"] = a[1]
	} else if len(a) > 1 {
		d["comment"] = a[1]
	}
	return d, nil
}

func (s *scenario) fileOf(p Proposal, name string) (FileChange, error) {
	for _, f := range p.Files {
		if path := pathOf(f.URI); f.URI == name || path == s.editor.Abs(name) {
			return f, nil
		}
	}
	return FileChange{}, fmt.Errorf("%s is not in the proposal", name)
}

func hunkAt(files []FileChange, number string) (Hunk, error) {
	n, err := strconv.Atoi(number)
	if err != nil {
		return Hunk{}, err
	}
	for _, f := range files {
		if n <= len(f.Hunks) && n > 0 {
			return f.Hunks[n-1], nil
		}
		n -= len(f.Hunks)
	}
	return Hunk{}, fmt.Errorf("there is no hunk %s", number)
}

func (s *scenario) stepResolve(a []string) error {
	ds, revision, save, err := s.decisions(a)
	if err != nil {
		return err
	}
	s.decided, err = s.editor.Resolve(s.session, revision, ds, save)
	return err
}
