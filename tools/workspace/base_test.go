package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/workspace"
)

var _ changeset.Source = (*workspace.Workspace)(nil)

// C005, C006, C008, C031, C032, C035, C036: what the user has at a path.
func TestBase(t *testing.T) {
	dir := tempDir(t)
	files(t, dir, map[string]string{
		"disk": "disk\r\n", "bom": "\xEF\xBB\xBFhello\r\n", "empty": "", "lone": "\xEF\xBB\xBF", "real/a": "disk", "link": "-> real/a", "u16": "\xFF\xFEa\x00", "latin": "caf\xE9\n", "png": "\x89PNG\x00\x00", "sub/": "",
	})
	if err := os.Truncate(filepath.Join(dir, "empty"), 0); err != nil {
		t.Fatal(err)
	}
	big, err := os.Create(filepath.Join(dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(big.Truncate(workspace.MaxDocument+1), big.Close()); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	w := open(t, buffers{at("real/a"): "typed", at("u16"): "a", at("unsaved"): "new", at("sub/x/y"): "deep"}, dir)
	for spelling, want := range map[string]changeset.Doc{
		"disk": {Text: "disk\r\n", Exists: true}, "bom": {Text: "hello\r\n", Exists: true}, "empty": {Exists: true}, "lone": {Exists: true}, "none": {}, "none/x": {},
		"real/a": {Text: "typed", Exists: true, Open: true}, "link": {Text: "typed", Exists: true, Open: true}, "u16": {Text: "a", Exists: true, Open: true}, "unsaved": {Text: "new", Open: true}, "sub/x/y": {Text: "deep", Open: true},
	} {
		p, err := w.Resolve(spelling)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.Base(p.Abs); got != want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", spelling, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"latin": "latin is not UTF-8 (probably Latin-1 or Windows-1252), 5 bytes", "png": "png is binary, 6 bytes", "sub": "sub is a folder, not a file", "big": "big is too large", "../x": "outside the workspace",
	} {
		if got, err := w.Base(at(name)); err == nil || !strings.Contains(err.Error(), want) || got != (changeset.Doc{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	var gone *workspace.GoneError
	if _, err := w.Base(at("disk")); !errors.As(err, &gone) {
		t.Errorf("without its folder: %v", err)
	}
}
