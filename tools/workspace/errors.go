package workspace

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// OutsideError refuses a spelling that leads out of the workspace, or to
// nowhere. Its text is one line for the model.
type OutsideError struct {
	Spelling string
	Reason   string // may be empty
}

func (e *OutsideError) Error() string {
	text := quote(e.Spelling) + " is outside the workspace"
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// SpellingError refuses what cannot name a file of a workspace at all.
type SpellingError struct {
	Spelling string
	Reason   string
}

func (e *SpellingError) Error() string { return quote(e.Spelling) + " " + e.Reason }

// AmbiguousError refuses a spelling that lacks the name of its folder.
type AmbiguousError struct {
	Spelling   string
	Candidates []string // full spellings
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("several folders are open, and %s could be in more than one: say which, %s",
		quote(e.Spelling), strings.Join(e.Candidates, " or "))
}

// GoneError says that a folder cannot be read any more.
type GoneError struct {
	Folder string
	Closed bool // it left the workspace; else it is gone from disk
	Err    error
}

func (e *GoneError) Error() string {
	if e.Closed {
		return fmt.Sprintf("the folder %s is no longer open: its files are outside the workspace", quote(e.Folder))
	}
	return fmt.Sprintf("the workspace folder %s cannot be read: %v", quote(e.Folder), e.Err)
}

func (e *GoneError) Unwrap() error { return e.Err }

// NotTextError refuses to take a file for plain UTF-8 text.
type NotTextError struct {
	Path     string // as Display spells it
	Encoding Encoding
	Size     int64
}

// Reason is the error without the path: "binary, 12 bytes".
func (e *NotTextError) Reason() string {
	if e.Encoding == Binary {
		return fmt.Sprintf("binary, %d bytes", e.Size)
	}
	return fmt.Sprintf("not UTF-8 (%s), %d bytes", e.Encoding, e.Size)
}

func (e *NotTextError) Error() string { return e.Path + " is " + e.Reason() }

// TooLargeError refuses to take the whole of a file into memory.
type TooLargeError struct {
	Path  string // as Display spells it
	Size  int64
	Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s is too large to be edited: %d bytes, %d at most", e.Path, e.Size, e.Limit)
}

// NotFileError says that a path is something else than a file, which is never
// opened: a device or a FIFO could block or do things.
type NotFileError struct {
	Path string // as Display spells it
	Kind string // "a folder", "a FIFO"
}

func (e *NotFileError) Error() string { return e.Path + " is " + e.Kind + ", not a file" }

// IsOutside says whether an error means that something is not in the
// workspace, or no longer.
func IsOutside(err error) bool {
	var outside *OutsideError
	var gone *GoneError
	return errors.As(err, &outside) || errors.As(err, &gone) && gone.Closed
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// quote shows a spelling in an error: in quotes, safe to print, and not long.
func quote(s string) string {
	const limit = 200
	if len(s) > limit {
		n := limit
		for n > 0 && s[n]&0xC0 == 0x80 {
			n--
		}
		s = s[:n] + "…"
	}
	return `"` + escape(s) + `"`
}
