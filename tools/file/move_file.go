package file

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/internal/args"
)

//go:embed move_file.md
var moveFileDescription string

const moveFileSchema = `{"type":"object","properties":{"from":{"type":"string","description":"The file, relative to the workspace folder."},"to":{"type":"string","description":"Where it is to be: the whole new path, not a folder."}},"required":["from","to"],"additionalProperties":false}`

type moveFileArgs struct{ from, to string }

func moveFile(f *Files) agent.Tool {
	return tool[moveFileArgs]{
		name: "move_file", description: moveFileDescription, schema: moveFileSchema,
		decode: func(input json.RawMessage) (m moveFileArgs, err error) {
			a, err := args.Parse(input, "from", "to")
			if err != nil {
				return m, err
			}
			if m.from, err = pathArg(a, "from"); err != nil {
				return m, err
			}
			m.to, err = pathArg(a, "to")
			return m, err
		},
		plan: func(a moveFileArgs) (agent.Plan, error) {
			plan, err := f.planFor(agent.KindMove, "Move", a.from, 0)
			if err != nil {
				return plan, err
			}
			to, err := f.ws.Resolve(a.to)
			if err != nil {
				return agent.Plan{}, err
			}
			plan.Title += " to " + f.ws.Display(to.Abs)
			plan.Locations = append(plan.Locations, agent.Location{Path: to.Abs})
			return plan, nil
		},
		run: f.move,
	}
}

func (f *Files) move(ctx context.Context, call agent.Call, a moveFileArgs) (agent.Result, error) {
	from, err := f.toRemove(ctx, a.from)
	if err != nil {
		return agent.Result{}, err
	}
	to, err := f.toChange(a.to)
	if err != nil {
		return agent.Result{}, err
	}
	if from.Abs == to.Abs {
		return agent.Result{}, fmt.Errorf("no change: %s is there already", f.ws.Display(to.Abs))
	}
	if err := f.free(to); err != nil {
		return agent.Result{}, err
	}
	change, err := f.changes.Move(from.Abs, to.Abs, changeset.Origin{ToolCallID: call.ID})
	if err != nil {
		return agent.Result{}, f.named(err)
	}
	f.seen.rename(from.Abs, to.Abs)
	if change.Kind == changeset.Withdrawn {
		return agent.Result{Text: fmt.Sprintf("%s is back where the user has it: no move is proposed any more.", f.ws.Display(to.Abs))}, nil
	}
	return agent.Result{
		Text:      fmt.Sprintf("Proposed to move %s to %s. %s", f.ws.Display(from.Abs), f.ws.Display(to.Abs), waits),
		Locations: []agent.Location{{Path: to.Abs}},
	}, nil
}
