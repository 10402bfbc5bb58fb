package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agent"
)

// call runs the tool and returns its result and the plan it showed.
func call(t *testing.T, input string) (agent.Result, []agent.PlanEntry) {
	t.Helper()
	var shown []agent.PlanEntry
	res := Tool{}.Run(t.Context(), agent.Call{Input: json.RawMessage(input), Emit: func(e agent.Event) {
		shown = e.(agent.PlanUpdated).Entries
	}})
	return res, shown
}

func TestUpdatePlan(t *testing.T) {
	want := []agent.PlanEntry{{Text: "read it", Status: "done"}, {Text: "change it", Status: "active"}, {Text: "test it", Status: "pending"}}
	for name, input := range map[string]string{
		"as asked":      `{"entries":[{"text":"read it","status":"done"},{"text":"change it","status":"active"},{"text":"test it","status":"pending"}]}`,
		"other words":   `{"entries":[{"text":" read\nit ","status":"completed"},{"text":"change it","status":"in_progress"},{"text":"test it"}]}`,
		"double coding": `{"entries":"[{\"text\":\"read it\",\"status\":\"done\"},{\"text\":\"change it\",\"status\":\"active\"},{\"text\":\"test it\",\"status\":\"todo\"}]"}`,
	} {
		res, shown := call(t, input)
		if diff := cmp.Diff(want, shown); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if res.Status != "" || !strings.Contains(res.Text, "1 done, 1 active, 1 pending") {
			t.Errorf("%s: %+v", name, res)
		}
	}
}

func TestTextsAlone(t *testing.T) {
	_, shown := call(t, `{"entries":["a","b"]}`)
	if diff := cmp.Diff([]agent.PlanEntry{{Text: "a", Status: "pending"}, {Text: "b", Status: "pending"}}, shown); diff != "" {
		t.Error(diff)
	}
}

// An empty list is sent as [], not as null: clients read entries as a list.
func TestEmptyPlan(t *testing.T) {
	res, shown := call(t, `{"entries":[]}`)
	if shown == nil || len(shown) != 0 || res.Status != "" {
		t.Errorf("%v, %+v", shown, res)
	}
}

func TestRefusals(t *testing.T) {
	for input, want := range map[string]string{
		`{}`:                              "entries is missing",
		`{"steps":[]}`:                    `not "steps"`,
		`{"entries":[{"status":"done"}]}`: "entries[0]: text is missing",
		`{"entries":[{"text":"a","status":"odd"}]}`: `status "odd"`,
		`{"entries":[{"text":" "}]}`:                "text is empty",
		`{"entries":7}`:                             "must be a list",
	} {
		if res, shown := call(t, input); res.Status != agent.StatusFailed || !strings.Contains(res.Text, want) || shown != nil {
			t.Errorf("%s: %+v, %v", input, res, shown)
		}
	}
}

func TestBounds(t *testing.T) {
	long, err := json.Marshal(strings.Repeat("阴", 1000))
	if err != nil {
		t.Fatal(err)
	}
	_, shown := call(t, fmt.Sprintf(`{"entries":[%s]}`, long))
	if len(shown) != 1 || len(shown[0].Text) > maxText || !utf8.ValidString(shown[0].Text) {
		t.Errorf("not cut: %d bytes", len(shown[0].Text))
	}
	if res, _ := call(t, `{"entries":[`+strings.Repeat(`"a",`, maxEntries)+`"a"]}`); res.Status != agent.StatusFailed {
		t.Errorf("%+v", res)
	}
}

func TestPlanOfTheCall(t *testing.T) {
	p, err := Tool{}.Plan(json.RawMessage(`{"entries":[{"text":"a","status":"done"},{"text":"b","status":"active"}]}`))
	if err != nil || p.Title != "Plan: b" || p.ReadOnly {
		t.Errorf("%+v, %v", p, err)
	}
	if !json.Valid([]byte(schema)) {
		t.Error("schema is no JSON")
	}
}
