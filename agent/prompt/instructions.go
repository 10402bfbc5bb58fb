package prompt

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// maxInstructions bounds one instruction file.
const maxInstructions = 32 << 10

// Sources says where instruction files are.
type Sources struct {
	// Folders are the workspace's, as absolute paths. A file above them is
	// never asked for.
	Folders []string
	// Names are looked for in each directory; AGENTS.md if there are none.
	Names []string
	// Read returns the text of a file as the agent sees it: an open buffer
	// first. It is false for what is not there, and for links that lead out of
	// the workspace.
	Read func(path string) (text string, ok bool)
	// Display is how the model spells a path.
	Display func(path string) string
}

// Instructions are the AGENTS.md files of a workspace: those of its folders
// go into the system prompt, one further down is told once, when the agent
// first works below it. All methods of a nil *Instructions say that there are
// none.
type Instructions struct {
	src Sources

	mu   sync.Mutex
	told map[string]bool // by path
}

// NewInstructions finds nothing yet; files are read when they are asked for.
func NewInstructions(src Sources) *Instructions {
	if len(src.Names) == 0 {
		src.Names = []string{"AGENTS.md"}
	}
	if src.Display == nil {
		src.Display = func(path string) string { return path }
	}
	return &Instructions{src: src, told: map[string]bool{}}
}

// Root is what the folders' own files say, "" if there are none.
func (i *Instructions) Root() string {
	if i == nil {
		return ""
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	_, text := i.tell(i.src.Folders, true)
	return text
}

// For is what the files between the folders and paths say that the model has
// not been told, outer ones first, and which files those are.
func (i *Instructions) For(paths []string) (files []string, text string) {
	if i == nil {
		return nil, ""
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	var dirs []string
	for _, p := range paths {
		for _, d := range i.below(p) {
			if !slices.Contains(dirs, d) {
				dirs = append(dirs, d)
			}
		}
	}
	return i.tell(dirs, false)
}

// Files lists the files of the folders themselves, for display.
func (i *Instructions) Files() (paths []string) {
	if i == nil {
		return nil
	}
	for _, dir := range i.src.Folders {
		for _, name := range i.src.Names {
			if path, _, ok := i.find(dir, name); ok {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// MarkTold takes files as told, after a restart.
func (i *Instructions) MarkTold(files []string) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, f := range files {
		i.told[f] = true
	}
}

// Forget has the files further down told again when they matter next, since
// the messages that held them were dropped.
func (i *Instructions) Forget() {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.told)
}

// below lists the directories under a folder that lead to path, outer ones
// first, path itself included: it may be a directory.
func (i *Instructions) below(path string) (dirs []string) {
	for _, folder := range i.src.Folders {
		rel, err := filepath.Rel(folder, path)
		if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			continue
		}
		dir := folder
		for _, part := range strings.Split(rel, string(filepath.Separator)) {
			dir = filepath.Join(dir, part)
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// tell renders what is new in dirs. The folders' own files may be asked for
// again, and are never told by For.
func (i *Instructions) tell(dirs []string, again bool) (files []string, text string) {
	var b strings.Builder
	for _, dir := range dirs {
		if !again && slices.Contains(i.src.Folders, dir) {
			continue
		}
		for _, name := range i.src.Names {
			path, body, ok := i.find(dir, name)
			if !ok || i.told[path] && !again {
				continue
			}
			if !again {
				i.told[path] = true
			}
			files = append(files, path)
			b.WriteString(i.render(dir, path, body))
		}
	}
	return files, strings.TrimSuffix(b.String(), "\n")
}

// find reads a file, also where its name is in lower case.
func (i *Instructions) find(dir, name string) (path, text string, ok bool) {
	for _, n := range []string{name, strings.ToLower(name)} {
		path = filepath.Join(dir, filepath.FromSlash(n))
		if text, ok = i.src.Read(path); ok && strings.TrimSpace(text) != "" {
			return path, text, true
		}
	}
	return "", "", false
}

func (i *Instructions) render(dir, path, text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ToValidUTF8(text, "\ufffd")
	text, note := cut(text, maxInstructions)
	where := "the whole workspace"
	if !slices.Contains(i.src.Folders, dir) {
		where = "files under " + line(i.src.Display(dir)) + "; where it differs from one further up, this one counts"
	} else if len(i.src.Folders) > 1 {
		where = "files under " + line(i.src.Display(dir))
	}
	return fmt.Sprintf("[How to work in this project, from %s%s. It applies to %s.]\n%s", line(i.src.Display(path)), spaced(note), where, Fence(text))
}
