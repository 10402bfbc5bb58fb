package changeset

import (
	"errors"
	"fmt"
	"strings"
)

// ErrRaced means that a file is not what the caller saw when it made its
// change: read it again. Nothing happened.
var ErrRaced = errors.New("the file changed meanwhile: read it again")

// StaleError means that something decided is not what was seen, or is no
// longer there. Nothing of the call was applied.
type StaleError struct {
	// IDs are the hunks and files concerned.
	IDs    []string
	Reason string
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s %s: look at the proposal again", strings.Join(e.IDs, ", "), e.Reason)
}

// InvalidError means that decisions make no sense, whatever the revision.
// Nothing of the call was applied.
type InvalidError struct {
	// Index is that of the decision, -1 if it is none of them.
	Index  int
	Reason string
}

func (e *InvalidError) Error() string {
	if e.Index < 0 {
		return e.Reason
	}
	return fmt.Sprintf("decisions[%d]: %s", e.Index, e.Reason)
}

// ExistsError refuses to put a file where one is.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string {
	return e.Path + " exists already: delete it first, or choose another path"
}

// MissingError refuses a change of a file that is not there.
type MissingError struct{ Path string }

func (e *MissingError) Error() string { return e.Path + " does not exist" }

// UnsavedError refuses to delete or move what is only a buffer.
type UnsavedError struct{ Path string }

func (e *UnsavedError) Error() string {
	return e.Path + " is a buffer that was never saved: there is no file to delete or move"
}
