package agent

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/agent/llm"
)

// toolset is what a run may use. Specs and order are the same in each request.
type toolset struct {
	all     map[string]Tool
	offered map[string]bool
	specs   []llm.Tool
	byName  map[string]llm.Tool
	mode    Mode
}

// offer picks the tools of a mode: all, or those that only read.
func offer(tools []Tool, mode Mode) *toolset {
	t := &toolset{all: map[string]Tool{}, offered: map[string]bool{}, byName: map[string]llm.Tool{}, mode: mode}
	for _, tool := range tools {
		spec := tool.Spec()
		t.all[spec.Name] = tool
		t.byName[spec.Name] = spec
		if mode != ModeAgent && !readsOnly(tool) {
			continue
		}
		t.offered[spec.Name] = true
		t.specs = append(t.specs, spec)
	}
	return t
}

func readsOnly(t Tool) bool {
	r, ok := t.(Reader)
	return ok && r.ReadsOnly()
}

// find returns the tool that a call means, or why it cannot run. A tool that
// was not offered is refused here: that it is not in the list holds nobody
// back.
func (t *toolset) find(name string) (Tool, string) {
	known := t.canonical(name)
	tool, ok := t.all[known]
	if !ok {
		return nil, fmt.Sprintf("unknown tool %q; available: %s", shorten(name, 64), t.list())
	}
	if !t.offered[known] {
		return nil, fmt.Sprintf("%s is not available in %s mode, in which nothing is changed; available: %s", known, t.mode, t.list())
	}
	return tool, ""
}

func (t *toolset) list() string {
	names := make([]string, len(t.specs))
	for i, s := range t.specs {
		names[i] = s.Name
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// canonical undoes what models do to names, where it is clear which tool is
// meant: a namespace in front ("functions.read_file"), the tokens of a chat
// template behind ("read_file<|channel|>json"), and other letter case or
// hyphens ("Read-File"). Other names stay as they are.
func (t *toolset) canonical(name string) string {
	if _, ok := t.all[name]; ok {
		return name
	}
	core, _, _ := strings.Cut(name, "<|")
	core = strings.TrimSpace(core)
	if i := strings.LastIndexAny(core, ".:/"); i >= 0 {
		core = core[i+1:]
	}
	found := ""
	for known := range t.all {
		if fold(known) != fold(core) {
			continue
		}
		if found != "" {
			return name // two would do
		}
		found = known
	}
	if found == "" {
		return name
	}
	return found
}

func fold(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// shorten cuts a text for a message.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return clip(s, n) + "…"
}
