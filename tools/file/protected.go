package file

import (
	"slices"
	"strings"
)

// gitFolder is never proposed to be changed, not even for review: what lies
// in it is run by git.
const gitFolder = ".git"

// protectedFolders and protectedFiles hold what programs run or obey when a
// folder is opened. A change of one is never accepted without being looked at.
var (
	protectedFolders = []string{gitFolder, ".vscode", ".idea", ".github", ".agentls", ".husky"}
	protectedFiles   = []string{".mcp.json", ".envrc", ".nvim.lua", ".nvimrc", ".exrc"}
)

// Protected says whether a change of the file at path, relative to its
// workspace folder, waits for a person even where changes are accepted by
// themselves (protocol.md §6). Names count in any case and at any depth, and
// as the file systems of Windows and macOS read them.
func Protected(path string) bool {
	names := plainNames(path)
	if len(names) == 0 {
		return false
	}
	for _, name := range names {
		if slices.Contains(protectedFolders, name) {
			return true
		}
	}
	return slices.Contains(protectedFiles, names[len(names)-1])
}

// InGit says whether path, relative to its workspace folder, is git's own.
func InGit(path string) bool {
	for _, name := range plainNames(path) {
		if name == gitFolder || name == "git~1" {
			return true
		}
	}
	return false
}

// plainNames are the parts of a path the way the most forgiving file system
// reads them: `.GIT`, `.git::$INDEX_ALLOCATION`, `.git. ` and `.g\u200cit` all
// name the same folder somewhere.
func plainNames(path string) []string {
	var names []string
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		name, _, _ = strings.Cut(name, ":")
		name = strings.Map(func(r rune) rune {
			if ignorable(r) {
				return -1
			}
			return r
		}, name)
		if name = strings.TrimRight(name, ". "); name != "" {
			names = append(names, strings.ToLower(name))
		}
	}
	return names
}

// ignorable characters do not count in the names of HFS+; the list is git's.
func ignorable(r rune) bool {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return true
	}
	return false
}
