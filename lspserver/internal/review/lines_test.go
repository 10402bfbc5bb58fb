package review

import (
	"testing"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/tools/text"
)

func TestBeforeLastEnding(t *testing.T) {
	for _, c := range []struct {
		name, base string
		edits      []text.Edit
		last       text.Edit
	}{
		{"a line more", "a\n", []text.Edit{{Start: 2, End: 2, New: "b\n"}}, text.Edit{Start: 1, End: 1, New: "\nb"}},
		{"CRLF", "a\r\n", []text.Edit{{Start: 3, End: 3, New: "b\r\n"}}, text.Edit{Start: 1, End: 1, New: "\r\nb"}},
		{"the line before changed", "a\n", []text.Edit{{Start: 2, End: 2, New: "b\n"}, {Start: 0, End: 1, New: "c"}}, text.Edit{Start: 1, End: 1, New: "\nb"}},
		{"the ending changed", "a\n", []text.Edit{{Start: 1, End: 2}, {Start: 2, End: 2, New: "b\n"}}, text.Edit{Start: 2, End: 2, New: "b\n"}},
		{"other endings", "a\r\n", []text.Edit{{Start: 3, End: 3, New: "b\n"}}, text.Edit{Start: 3, End: 3, New: "b\n"}},
		{"no ending", "a", []text.Edit{{Start: 1, End: 1, New: "\nb\n"}}, text.Edit{Start: 1, End: 1, New: "\nb\n"}},
		{"no ending any more", "a\n", []text.Edit{{Start: 2, End: 2, New: "b"}}, text.Edit{Start: 2, End: 2, New: "b"}},
		{"nothing", "", []text.Edit{{New: "b\n"}}, text.Edit{New: "b\n"}},
	} {
		got := beforeLastEnding(c.base, c.edits)
		if last := got[len(got)-1]; last != c.last {
			t.Errorf("%s: %+v, want %+v", c.name, last, c.last)
		}
	}
}

func TestOverLastLine(t *testing.T) {
	for _, c := range []struct {
		name, base string
		edit       text.Edit
		end        ext.Position
	}{
		{"new file", "", text.Edit{New: "a\n"}, ext.Position{Character: 1}},
		{"line added", "é", text.Edit{Start: 2, End: 2, New: "\nb\n"}, ext.Position{Character: 2}},
		{"ending alone", "a", text.Edit{Start: 1, End: 1, New: "\n"}, ext.Position{Character: 1}},
		{"has an ending", "a\n", text.Edit{Start: 1, End: 2, New: "b\n"}, ext.Position{Line: 1}},
		{"further up", "a\nb", text.Edit{Start: 0, End: 0, New: "c\n"}, ext.Position{}},
	} {
		d := text.New(c.base)
		edits := textEdits(d, []text.Edit{c.edit}, text.UTF16)
		overLastLine(d, edits, text.UTF16)
		if got := edits[0].Range.End; got != c.end {
			t.Errorf("%s: ends at %+v, want %+v", c.name, got, c.end)
		}
	}
}

// Neovim looks at the version of the first document of an edit, and not where
// that is 0: an edit that it may have made is not sent again.
func TestWhatNeovimMayHaveMadeIsNotSentAgain(t *testing.T) {
	d := openDesk(t)
	d.typeAll("a.go", "typed\n")
	now, _ := d.docs.Get(d.path("a.go"))
	before, zero := now.Version-1, int32(0)
	stale := planned{path: d.path("a.go"), fileEdit: fileEdit{version: &before}}
	unversioned := planned{path: d.path("a.go"), fileEdit: fileEdit{version: &zero}}
	for _, c := range []struct {
		name          string
		plan          []planned
		neovim, other bool
	}{
		{name: "one document", plan: []planned{stale}, neovim: true, other: true},
		{name: "version 0", plan: []planned{unversioned}, neovim: false, other: true},
		{name: "a second document", plan: []planned{stale, stale}, neovim: false, other: true},
	} {
		d.applier.Capabilities.Neovim = true
		if got := d.applier.outdated(c.plan); got != c.neovim {
			t.Errorf("%s, in Neovim: %v", c.name, got)
		}
		d.applier.Capabilities.Neovim = false
		if got := d.applier.outdated(c.plan); got != c.other {
			t.Errorf("%s, elsewhere: %v", c.name, got)
		}
	}
}
