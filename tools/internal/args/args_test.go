package args_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/tools/internal/args"
)

func parse(t *testing.T, input string, known ...string) args.Args {
	t.Helper()
	a, err := args.Parse(json.RawMessage(input), known...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestParse(t *testing.T) {
	for _, input := range []string{"", "null", "{}", `"{}"`, ` {} `} {
		if a := parse(t, input, "path"); a.Has("path") {
			t.Errorf("%q has a path", input)
		}
	}
	for _, input := range []string{"[1]", `"Beijing"`, "1", "{"} {
		if _, err := args.Parse(json.RawMessage(input), "path"); err == nil || !strings.Contains(err.Error(), "path") {
			t.Errorf("%q: %v", input, err)
		}
	}
}

func TestString(t *testing.T) {
	for _, c := range []struct{ input, want, err string }{
		{`{"path":"a"}`, "a", ""},
		{`"{\"path\":\"a\"}"`, "a", ""},
		{`{"path":"\ud83d\ude00"}`, "😀", ""},
		{`{"path":"\ud83d"}`, "", "half of a character"},
		{`{"path":"\ufffd"}`, "\ufffd", ""},
		{`{"path":"` + "\ufffd" + `"}`, "\ufffd", ""},
		{`{"path":["a"]}`, "", "must be a string, not a list"},
		{`{"path":null,"file":"a","z":1}`, "", `path is missing; the arguments are path, limit, not "file", "z"`},
		{`{}`, "", "path is missing; the arguments are path, limit"},
	} {
		got, err := parse(t, c.input, "path", "limit").Required("path")
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", c.input, got, err, c.want, c.err)
		}
	}
}

func TestNumbersAndFlags(t *testing.T) {
	for input, want := range map[string]int{`{}`: 7, `{"n":null}`: 7, `{"n":3}`: 3, `{"n":3.0}`: 3, `{"n":"3"}`: 3, `{"n":-1}`: -1} {
		if got, err := parse(t, input).Int("n", 7); err != nil || got != want {
			t.Errorf("%s: %d, %v", input, got, err)
		}
	}
	for _, input := range []string{`{"n":1.5}`, `{"n":"x"}`, `{"n":[1]}`, `{"n":1e300}`, `{"n":true}`} {
		if _, err := parse(t, input).Int("n", 7); err == nil {
			t.Errorf("%s was taken", input)
		}
	}
	for input, want := range map[string]bool{`{}`: true, `{"b":false}`: false, `{"b":"False"}`: false, `{"b":true}`: true} {
		if got, err := parse(t, input).Bool("b", true); err != nil || got != want {
			t.Errorf("%s: %v, %v", input, got, err)
		}
	}
	if _, err := parse(t, `{"b":1}`).Bool("b", true); err == nil {
		t.Error("1 was taken for a yes")
	}
}

// C077: the shapes in which a nested list arrives.
func TestObjects(t *testing.T) {
	shapes := map[string]string{
		"list":                 `{"edits":[{"old":"a\nb"}]}`,
		"list in a string":     `{"edits":"[{\"old\":\"a\\nb\"}]"}`,
		"raw newline inside":   `{"edits":"[{\"old\":\"a\nb\"}]"}`,
		"one object":           `{"edits":{"old":"a\nb"}}`,
		"one object, a string": `{"edits":"{\"old\":\"a\\nb\"}"}`,
		"list of strings":      `{"edits":["{\"old\":\"a\\nb\"}"]}`,
	}
	for name, input := range shapes {
		list, given, err := parse(t, input).Objects("edits", "old")
		if err != nil || !given || len(list) != 1 {
			t.Errorf("%s: %v, %v, %v", name, list, given, err)
			continue
		}
		if old, err := list[0].Required("old"); err != nil || old != "a\nb" {
			t.Errorf("%s: %q, %v", name, old, err)
		}
	}
	for _, input := range []string{`{"edits":"nonsense"}`, `{"edits":[1]}`, `{"edits":3}`, `{"edits":[{}]}`, `{"edits":["x"]}`} {
		if _, _, err := parse(t, input).Objects("edits", "old"); err == nil || !strings.Contains(err.Error(), "edits") {
			t.Errorf("%s: %v", input, err)
		}
	}
	if _, given, err := parse(t, `{"edits":null}`).Objects("edits"); given || err != nil {
		t.Errorf("null: %v, %v", given, err)
	}
}

func TestStrings(t *testing.T) {
	for input, want := range map[string][]string{
		`{"o":["a","b"]}`:       {"a", "b"},
		`{"o":"a"}`:             {"a"},
		`{"o":"[\"a\",\"b\"]"}`: {"a", "b"},
		`{"o":[]}`:              nil,
	} {
		got, given, err := parse(t, input).Strings("o")
		if err != nil || !given || !cmp.Equal(got, want) {
			t.Errorf("%s: %q, %v", input, got, err)
		}
	}
	if _, _, err := parse(t, `{"o":[1]}`).Strings("o"); err == nil {
		t.Error("a number was taken for a string")
	}
}
