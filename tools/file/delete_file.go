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

//go:embed delete_file.md
var deleteFileDescription string

const deleteFileSchema = `{"type":"object","properties":{"path":{"type":"string","description":"The file, relative to the workspace folder."}},"required":["path"],"additionalProperties":false}`

func deleteFile(f *Files) agent.Tool {
	return tool[string]{
		name: "delete_file", description: deleteFileDescription, schema: deleteFileSchema,
		decode: func(input json.RawMessage) (string, error) {
			a, err := args.Parse(input, "path")
			if err != nil {
				return "", err
			}
			return pathArg(a, "path")
		},
		plan: func(path string) (agent.Plan, error) {
			return f.planFor(agent.KindDelete, "Delete", path, 0)
		},
		run: func(ctx context.Context, call agent.Call, path string) (agent.Result, error) {
			p, err := f.toRemove(ctx, path)
			if err != nil {
				return agent.Result{}, err
			}
			change, err := f.changes.Delete(p.Abs, changeset.Origin{ToolCallID: call.ID})
			if err != nil {
				return agent.Result{}, f.named(err)
			}
			f.seen.forget(p.Abs)
			if change.Kind == changeset.Withdrawn {
				return agent.Result{Text: fmt.Sprintf("Withdrew %s, which was only proposed.", f.ws.Display(p.Abs))}, nil
			}
			return agent.Result{Text: fmt.Sprintf("Proposed to delete %s. %s", f.ws.Display(p.Abs), waits)}, nil
		},
	}
}
