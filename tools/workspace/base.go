package workspace

import (
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/tools/changeset"
)

// MaxDocument is the largest file that Base takes, in bytes. Editors stop
// synchronizing documents well before, and a proposal holds several copies.
const MaxDocument = 32 << 20

// Base is the text of a path as the user has it: what the editor holds, else
// what is on disk, without the byte order mark. Nothing there is a zero Doc
// and no error. It implements changeset.Source.
//
// The errors are *NotTextError, *TooLargeError, *NotFileError, *OutsideError,
// *GoneError, and those of the file system.
func (w *Workspace) Base(path string) (changeset.Doc, error) {
	if _, _, err := w.locate(path); err != nil {
		return changeset.Doc{}, err
	}
	if text, ok := w.overlay.Buffer(path); ok {
		info, err := w.Stat(path)
		return changeset.Doc{Text: text, Exists: err == nil && info.Mode().IsRegular(), Open: true}, nil
	}
	b, err := w.ReadFile(path, MaxDocument)
	if notThere(err) {
		return changeset.Doc{}, nil
	}
	if err != nil {
		return changeset.Doc{}, err
	}
	if strings.IndexByte(b, 0) >= 0 || !utf8.ValidString(b) {
		return changeset.Doc{}, &NotTextError{w.Display(path), Detect([]byte(b), true), int64(len(b))}
	}
	return changeset.Doc{Text: strings.TrimPrefix(b, bom), Exists: true}, nil
}
