package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agent"
)

// chunk is how much of a file is read at a time to list it: its head has one
// description of the session, its tail a later one.
const chunk = 64 << 10

// List describes the sessions of a workspace, newest first: those that have a
// folder in common with it. Without folders it describes all. Files are not
// read as a whole, and those that describe nothing are left out.
func (s *Store) List(folders []string) ([]agent.Info, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []agent.Info
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), extension)
		if !ok || !e.Type().IsRegular() {
			continue
		}
		info, err := describe(filepath.Join(s.dir, e.Name()))
		if err != nil || len(folders) > 0 && !share(folders, info.Workspace) {
			continue // removed meanwhile, or nothing that we wrote
		}
		info.ID = id
		list = append(list, info)
	}
	slices.SortFunc(list, func(a, b agent.Info) int {
		return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(b.ID, a.ID))
	})
	return list, nil
}

func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(f string) bool { return slices.Contains(b, f) })
}

// describe finds the newest description of a session in its file.
func describe(path string) (agent.Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return agent.Info{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return agent.Info{}, err
	}
	info, found := tailInfo(f, st.Size())
	if !found {
		info, found = headInfo(f)
	}
	if !found {
		return agent.Info{}, errors.New("no description of a session")
	}
	if t := lastTime(f, st.Size()); t.After(info.Updated) {
		info.Updated = t
	}
	return info, nil
}

// headInfo reads the first line.
func headInfo(f io.ReaderAt) (agent.Info, bool) {
	buf := make([]byte, chunk)
	n, _ := f.ReadAt(buf, 0) // short of chunk is an error, and no matter
	line, _, _ := bytes.Cut(buf[:n], []byte("\n"))
	return infoOf(line, agent.RecordSession)
}

// tailInfo looks for the last description, from the end of the file.
func tailInfo(f io.ReaderAt, size int64) (agent.Info, bool) {
	mark := []byte("\n" + `{"type":"` + agent.RecordInfo + `"`)
	buf := make([]byte, chunk)
	// A chunk reaches over what comes after it, so that a line that begins in
	// one is found whole: descriptions are short.
	var after []byte
	for end := size; end > 0; {
		start := max(0, end-chunk)
		n, err := f.ReadAt(buf[:end-start], start)
		if err != nil && err != io.EOF {
			return agent.Info{}, false
		}
		text := append(slices.Clone(buf[:n]), after...)
		for {
			i := bytes.LastIndex(text, mark)
			if i < 0 {
				break
			}
			line, _, whole := bytes.Cut(text[i+1:], []byte("\n"))
			if info, ok := infoOf(line, agent.RecordInfo); ok && whole {
				return info, true
			}
			text = text[:i]
		}
		after = slices.Clone(buf[:min(n, chunk/4)])
		end = start
	}
	return agent.Info{}, false
}

func infoOf(line []byte, typ string) (info agent.Info, ok bool) {
	r, err := parseLine(line)
	if err != nil || r.Type != typ {
		return info, false
	}
	return info, json.Unmarshal(r.Line, &info) == nil
}

// lastTime is when the newest event near the end of the file happened.
func lastTime(f io.ReaderAt, size int64) time.Time {
	start := max(0, size-chunk)
	buf := make([]byte, size-start)
	n, _ := f.ReadAt(buf, start) // a shorter tail will do
	var newest time.Time
	for line := range bytes.Lines(buf[:n]) {
		if bytes.HasPrefix(line, recordPrefix) {
			continue
		}
		var at struct {
			Time time.Time `json:"time"`
		}
		if json.Unmarshal(line, &at) == nil && at.Time.After(newest) {
			newest = at.Time
		}
	}
	return newest
}
