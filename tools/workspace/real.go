package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxLinks is how many links one path may lead through; the kernel's limit.
const maxLinks = 40

var errLinkLoop = errors.New("it is a link that leads to itself")

// Canonical is the path, in the sense of the package comment, of any absolute
// file name, in the workspace or not, there or not: the one under which its
// open document, its proposal and its contents are known.
func Canonical(abs string) string {
	real, _, err := follow("", filepath.Clean(abs))
	if err != nil {
		return filepath.Clean(abs)
	}
	return real
}

// follow walks a file name from the canonical folder dir, or from the top of
// the file system if it is absolute, and resolves what the kernel would:
// links, and ".." after them. Beyond the kernel it goes on where nothing is,
// so that files to be made have paths; it takes a name for the entry that
// equals it under Unicode normalization; and where the file system does not
// tell names apart it gives the spelling on disk. link says that the last
// part was a link. With an error real is how far it came.
func follow(dir, name string) (real string, link bool, err error) {
	pending := parts(&dir, name)
	links := 0
	for len(pending) > 0 {
		part := pending[0]
		pending = pending[1:]
		if part == ".." {
			dir = filepath.Dir(dir)
			continue
		}
		entry, info, err := lookup(dir, part)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			dir = filepath.Join(dir, part)
			continue
		case err != nil:
			return dir, false, err
		case info.Mode()&fs.ModeSymlink == 0:
			dir = filepath.Join(dir, entry)
			continue
		}
		if links++; links > maxLinks {
			return dir, false, errLinkLoop
		}
		target, err := os.Readlink(filepath.Join(dir, entry))
		if err != nil {
			return dir, false, err
		}
		link = link || len(pending) == 0
		pending = append(parts(&dir, target), pending...)
	}
	return dir, link, nil
}

// parts splits a file name and sets dir to where it starts.
func parts(dir *string, name string) []string {
	volume := filepath.VolumeName(name)
	rest := name[len(volume):]
	if rest != "" && os.IsPathSeparator(rest[0]) {
		if volume == "" {
			volume = filepath.VolumeName(*dir) // \rooted on Windows
		}
		if len(volume) == len("C:") {
			volume = strings.ToUpper(volume)
		}
		*dir = volume + string(filepath.Separator)
	}
	list := strings.FieldsFunc(rest, func(r rune) bool {
		return r <= unicode.MaxASCII && os.IsPathSeparator(uint8(r))
	})
	return slices.DeleteFunc(list, func(part string) bool { return part == "." })
}

// lookup finds an entry of a folder and its name on disk.
func lookup(dir, name string) (string, fs.FileInfo, error) {
	info, err := os.Lstat(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) && !ascii(name) {
		if twin := entryLike(dir, name, norm.NFC.String); twin != "" {
			name = twin
			info, err = os.Lstat(filepath.Join(dir, name))
		}
	}
	if err != nil {
		return "", nil, err
	}
	return spelledOnDisk(dir, name, info), info, nil
}

// spelledOnDisk is the name under which a folder lists an entry that was found
// as name. They differ where the file system does not tell case or Unicode
// normalization apart, which shows when another spelling finds the same file.
func spelledOnDisk(dir, name string, info fs.FileInfo) string {
	for _, other := range []string{swapCase(name), swapForm(name)} {
		if other == name {
			continue
		}
		found, err := os.Lstat(filepath.Join(dir, other))
		if err != nil || !os.SameFile(found, info) {
			continue
		}
		if listed := entryLike(dir, name, foldName); listed != "" {
			return listed
		}
	}
	return name
}

// entryLike is the entry of a folder that equals name, else the first that
// does so under fold, or "".
func entryLike(dir, name string, fold func(string) string) string {
	f, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return ""
	}
	best, want := "", fold(name)
	for _, n := range names {
		if n == name {
			return n
		}
		if fold(n) == want && (best == "" || n < best) {
			best = n
		}
	}
	return best
}

// foldName makes names equal that a file system may not tell apart.
func foldName(s string) string { return strings.ToLower(norm.NFC.String(s)) }

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

func swapForm(s string) string {
	if d := norm.NFD.String(s); d != s {
		return d
	}
	return norm.NFC.String(s)
}
