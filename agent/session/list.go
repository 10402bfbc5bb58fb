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
// description of the session, its tail a later one. Parts overlap, so that a
// description that two of them share is found whole.
const (
	chunk   = 32 << 10
	overlap = 16 << 10
)

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
	buf := make([]byte, chunk+overlap)
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), extension)
		if !ok || !e.Type().IsRegular() {
			continue
		}
		info, err := describe(filepath.Join(s.dir, e.Name()), buf)
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

// describe finds the newest description of a session in its file. buf holds a
// chunk and what it overlaps the next with.
func describe(path string, buf []byte) (agent.Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return agent.Info{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return agent.Info{}, err
	}
	size := st.Size()
	tail := read(f, buf, max(0, size-chunk), size)
	newest := lastTime(tail)
	info, found := lastInfo(tail)
	for end := size - chunk; end > 0 && !found; end -= chunk {
		info, found = lastInfo(read(f, buf, max(0, end-chunk), min(end+overlap, size)))
	}
	if !found {
		line, _, _ := bytes.Cut(read(f, buf, 0, min(chunk, size)), []byte("\n"))
		info, found = infoOf(line, agent.RecordSession)
	}
	if !found {
		return agent.Info{}, errors.New("no description of a session")
	}
	if newest.After(info.Updated) {
		info.Updated = newest
	}
	return info, nil
}

// read reads a part of a file; what is missing at its end is no matter here.
func read(f io.ReaderAt, buf []byte, start, end int64) []byte {
	n, _ := f.ReadAt(buf[:end-start], start)
	return buf[:n]
}

// lastInfo looks for the last description in a part of a file.
func lastInfo(text []byte) (agent.Info, bool) {
	for {
		i := bytes.LastIndex(text, infoMark)
		if i < 0 {
			return agent.Info{}, false
		}
		line, _, whole := bytes.Cut(text[i+1:], []byte("\n"))
		if info, ok := infoOf(line, agent.RecordInfo); ok && whole {
			return info, true
		}
		text = text[:i]
	}
}

var infoMark = []byte("\n" + `{"type":"` + agent.RecordInfo + `"`)

func infoOf(line []byte, typ string) (info agent.Info, ok bool) {
	r, err := parseLine(line)
	if err != nil || r.Type != typ {
		return info, false
	}
	return info, json.Unmarshal(r.Line, &info) == nil
}

// lastTime is when the newest event happened that the tail of a file holds.
func lastTime(text []byte) time.Time {
	for len(text) > 0 {
		i := bytes.LastIndexByte(text[:len(text)-1], '\n')
		var at struct {
			Time time.Time `json:"time"`
		}
		if line := text[i+1:]; !bytes.HasPrefix(line, recordPrefix) && json.Unmarshal(line, &at) == nil && !at.Time.IsZero() {
			return at.Time
		}
		text = text[:i+1]
	}
	return time.Time{}
}
