package review

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

var everything = Capabilities{ApplyEdit: true, DocumentChanges: true, Create: true, Rename: true, Delete: true}

// outline is the order of a workspace edit in a line: `+a` creates, `a` edits,
// `a>b` renames, `-a` deletes.
func outline(t testing.TB, w workspaceEdit) string {
	t.Helper()
	var s []string
	for _, c := range w.DocumentChanges {
		switch c := c.(type) {
		case createFile:
			s = append(s, "+"+c.URI)
		case textDocumentEdit:
			s = append(s, c.TextDocument.URI)
		case renameFile:
			s = append(s, c.OldURI+">"+c.NewURI)
		case deleteFile:
			s = append(s, "-"+c.URI)
		default:
			t.Fatalf("change of type %T", c)
		}
	}
	return strings.Join(s, " ")
}

func TestOrderOfOperations(t *testing.T) {
	edits := []textEdit{{NewText: "x"}}
	files := []fileEdit{
		{uri: "d", operation: changeset.OpDelete},
		{uri: "m", newURI: "n", operation: changeset.OpRename, edits: edits},
		{uri: "e", operation: changeset.OpModify, edits: edits},
		{uri: "c", operation: changeset.OpCreate, edits: edits},
		{uri: "empty", operation: changeset.OpCreate},
	}
	if got, want := outline(t, assemble(files, everything)), "+c +empty m e c m>n -d"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestEditOnTheWire(t *testing.T) {
	version := int32(9)
	files := []fileEdit{
		{uri: "file:///n", operation: changeset.OpCreate, edits: []textEdit{{NewText: "new\n"}}},
		{uri: "file:///o", version: &version, edits: textEdits(text.New("a\n😀 b\n"), []text.Edit{{Start: 7, End: 8, New: "c"}}, text.UTF16)},
		{uri: "file:///r", newURI: "file:///s", operation: changeset.OpRename},
		{uri: "file:///d", operation: changeset.OpDelete},
	}
	edit := assemble(files, everything)
	const zero = `{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}`
	check(t, applyEditParams{"L", edit}, `{"label":"L","edit":{"documentChanges":[`+
		`{"kind":"create","uri":"file:///n","options":{"overwrite":false,"ignoreIfExists":false}},`+
		`{"textDocument":{"uri":"file:///n","version":null},"edits":[{"range":`+zero+`,"newText":"new\n"}]},`+
		`{"textDocument":{"uri":"file:///o","version":9},"edits":[{"range":{"start":{"line":1,"character":3},"end":{"line":1,"character":4}},"newText":"c"}]},`+
		`{"kind":"rename","oldUri":"file:///r","newUri":"file:///s","options":{"overwrite":false,"ignoreIfExists":false}},`+
		`{"kind":"delete","uri":"file:///d","options":{"recursive":false,"ignoreIfNotExists":false}}]}}`)

	edit = assemble(files[1:2], Capabilities{ApplyEdit: true})
	check(t, edit, `{"changes":{"file:///o":[{"range":{"start":{"line":1,"character":3},"end":{"line":1,"character":4}},"newText":"c"}]}}`)
}

func check(t *testing.T, v any, want string) {
	t.Helper()
	got, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestParseCapabilities(t *testing.T) {
	for _, tt := range []struct {
		json string
		want Capabilities
	}{
		{``, Capabilities{}},
		{`{}`, Capabilities{}},
		{`{"workspace":null}`, Capabilities{}},
		{`{"workspace":{"applyEdit":"yes","workspaceEdit":7,"textDocumentContent":null}}`, Capabilities{}},
		{ // VS Code
			`{"workspace":{"applyEdit":true,"workspaceEdit":{"documentChanges":true,"resourceOperations":["create","rename","delete"],` +
				`"failureHandling":"textOnlyTransactional","normalizesLineEndings":true},"codeLens":{"refreshSupport":true},"textDocumentContent":{"dynamicRegistration":true}}}`,
			Capabilities{ApplyEdit: true, DocumentChanges: true, Create: true, Rename: true, Delete: true,
				FailureHandling: "textOnlyTransactional", NormalizesLineEndings: true, RefreshPreviews: true, RefreshLenses: true},
		},
		{ // Neovim
			`{"workspace":{"applyEdit":true,"workspaceEdit":{"resourceOperations":["rename","create","delete"]}}}`,
			Capabilities{ApplyEdit: true, DocumentChanges: true, Create: true, Rename: true, Delete: true},
		},
		{ // eglot
			`{"workspace":{"applyEdit":true,"workspaceEdit":{"documentChanges":true}}}`,
			Capabilities{ApplyEdit: true, DocumentChanges: true},
		},
	} {
		if got := ParseCapabilities(json.RawMessage(tt.json)); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.json, got, tt.want)
		}
	}
}

func TestPreviewURI(t *testing.T) {
	for _, file := range []string{"file:///w/a%26b%23%25/main.go", "file:///c%3A/w/x.go", "file:///w/[id] ü.tsx", "file://server/share/x"} {
		p := Preview{SessionID: "20260101T000000-abc", URI: file, Side: "proposed"}
		uri := PreviewURI(p)
		path, query, _ := strings.Cut(uri, "?")
		if !strings.HasSuffix(path, file[strings.LastIndexByte(file, '/'):]) {
			t.Errorf("%s does not end in the name of %s", path, file)
		}
		for client, back := range map[string]string{
			"as it is": uri,
			"VS Code":  path + "?" + strings.NewReplacer("=", "%3D", "&", "%26").Replace(query),
		} {
			got, err := ParsePreview(back)
			if err != nil || got != p {
				t.Errorf("%s: %s reads as %+v, %v", client, back, got, err)
			}
		}
	}
	for _, uri := range []string{
		"", "file:///w/a.go?session=1&side=base", "agentls-proposal:", "agentls-proposal:///w/a", "agentls-proposal:///w/a?side=base",
		"agentls-proposal:///w/a?session=1&side=both", "agentls-proposal:///?session=1&side=base", "agentls-proposal:///a?%zz",
	} {
		if p, err := ParsePreview(uri); err == nil {
			t.Errorf("%s reads as %+v", uri, p)
		}
	}
}
