package file

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/agentls/agentls/tools/workspace"
)

// endingsForNew gives a new file the line endings that its place asks for:
// .editorconfig, else .gitattributes, else what the files beside it have.
// Where nothing tells, or the content has endings other than \n already and
// only neighbours speak against it, it stays as it is.
func (f *Files) endingsForNew(ctx context.Context, p workspace.Path, content string) string {
	if !strings.Contains(content, "\n") {
		return content
	}
	if end := f.configured(p); end != "" {
		return strings.ReplaceAll(fold(content, false).text, "\n", end)
	}
	if !strings.Contains(content, "\r") && f.neighboursUseCRLF(ctx, p) {
		return strings.ReplaceAll(content, "\n", "\r\n")
	}
	return content
}

// configLimit bounds a configuration file that is read for this.
const configLimit = 256 << 10

// configured is the ending that a configuration names for a file, or "".
func (f *Files) configured(p workspace.Path) string {
	for _, source := range []struct {
		name string
		read func(config, rel string) (ending string, stop bool)
	}{{".editorconfig", editorconfigEnding}, {".gitattributes", attributesEnding}} {
		for dir := path.Dir(p.Rel); ; dir = path.Dir(dir) {
			config, err := f.ws.ReadFile(f.beside(p, dir, source.name), configLimit)
			if err == nil {
				rel := strings.TrimPrefix(strings.TrimPrefix(p.Rel, dir), "/")
				if end, stop := source.read(config, rel); end != "" || stop {
					if end != "" {
						return end
					}
					break
				}
			}
			if dir == "." {
				break
			}
		}
	}
	return ""
}

// beside is the path of a file in dir, which is relative to the folder of p.
func (f *Files) beside(p workspace.Path, dir, name string) string {
	folder := strings.TrimSuffix(p.Abs, filepath.FromSlash(p.Rel))
	return filepath.Join(folder, filepath.FromSlash(dir), name)
}

// editorconfigEnding reads end_of_line out of an .editorconfig; rel is the
// file relative to its folder. Later sections win; a root file stops the
// search above it.
func editorconfigEnding(config, rel string) (ending string, stop bool) {
	matches := false
	inSection := false
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(strings.TrimPrefix(line, bom))
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			inSection = true
			matches = editorconfigMatch(line[1:len(line)-1], rel)
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.ToLower(strings.TrimSpace(value))
		switch {
		case !inSection && key == "root":
			stop = value == "true"
		case inSection && matches && key == "end_of_line":
			ending = map[string]string{"lf": "\n", "crlf": "\r\n", "cr": "\r"}[value]
		}
	}
	return ending, stop
}

// editorconfigMatch reads a section's glob: without a slash it is about the
// name at any depth.
func editorconfigMatch(glob, rel string) bool {
	if !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	ok, err := doublestar.Match(strings.TrimPrefix(glob, "/"), rel)
	return err == nil && ok
}

// attributesEnding reads eol out of a .gitattributes. Later lines win.
func attributesEnding(config, rel string) (ending string, stop bool) {
	for line := range strings.Lines(config) {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if !editorconfigMatch(fields[0], rel) {
			continue
		}
		for _, attribute := range fields[1:] {
			switch attribute {
			case "eol=crlf":
				ending = "\r\n"
			case "eol=lf":
				ending = "\n"
			case "-text", "binary", "!eol":
				ending = ""
			}
		}
	}
	return ending, false
}

// The bounds of a look at the files beside a new one.
const (
	neighbours     = 8
	neighbourBytes = 64 << 10
)

// neighboursUseCRLF says whether the files of the same kind in the folder of p
// all end their lines with \r\n.
func (f *Files) neighboursUseCRLF(ctx context.Context, p workspace.Path) bool {
	entries, err := f.ws.ReadDir(ctx, filepath.Dir(p.Abs))
	if err != nil {
		return false
	}
	looked := 0
	for _, e := range entries {
		if looked == neighbours {
			break
		}
		if !e.Type.IsRegular() || e.Path == p.Abs || !strings.EqualFold(filepath.Ext(e.Path), filepath.Ext(p.Abs)) {
			continue
		}
		text, err := f.ws.ReadFile(e.Path, neighbourBytes)
		if err != nil || !strings.Contains(text, "\n") {
			continue
		}
		if strings.Count(text, "\n") != strings.Count(text, "\r\n") {
			return false
		}
		looked++
	}
	return looked > 0
}
