package lspserver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/rpc"
	"github.com/agentls/agentls/tools/changeset"
)

// executeCommandParams are those of workspace/executeCommand.
type executeCommandParams struct {
	Command       string            `json:"command"`
	Arguments     []json.RawMessage `json:"arguments"`
	WorkDoneToken json.RawMessage   `json:"workDoneToken"`
}

// commandArgs reads one command's arguments; an absent one is nil.
type commandArgs []json.RawMessage

func (a commandArgs) into(i int, v any) error {
	if i >= len(a) || string(a[i]) == "null" {
		return nil
	}
	if err := json.Unmarshal(a[i], v); err != nil {
		return invalidParams("argument %d: %v", i+1, err)
	}
	return nil
}

type command struct {
	name string
	run  func(s *server, ctx context.Context, p executeCommandParams) (any, error)
}

// commands is what a client without a plugin can do, in the order in which it
// is announced.
func commands() []command {
	return []command{
		{ext.CommandRun, (*server).commandRun},
		{ext.CommandNew, (*server).commandNew},
		{ext.CommandCancel, (*server).commandCancel},
		{ext.CommandAccept, verdictCommand(changeset.Accept)},
		{ext.CommandReject, verdictCommand(changeset.Reject)},
		{ext.CommandShowDiff, (*server).commandShowDiff},
		{ext.CommandUndo, (*server).commandUndo},
	}
}

func commandNames() []string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

func (s *server) executeCommand(ctx context.Context, p executeCommandParams) (any, error) {
	for _, c := range commands() {
		if c.name == p.Command {
			return c.run(s, ctx, p)
		}
	}
	return nil, invalidParams("unknown command %q: this server has %s", p.Command, strings.Join(commandNames(), ", "))
}

// runTarget is the second argument of agentls.run: what the run is about, or,
// without a prompt, where the prompt is written.
type runTarget struct {
	URI   string     `json:"uri"`
	Range *ext.Range `json:"range"`
	// Mode is how our own code actions ask for an answer without changes.
	Mode string `json:"mode,omitempty"`
}

// commandRun goes on in the client's current session: it steers where that one
// runs, and starts a run where it does not.
func (s *server) commandRun(ctx context.Context, p executeCommandParams) (any, error) {
	var prompt string
	var target *runTarget
	args := commandArgs(p.Arguments)
	if err := args.into(0, &prompt); err != nil {
		return nil, err
	}
	if err := args.into(1, &target); err != nil {
		return nil, err
	}
	start := ext.RunStartParams{WorkDoneToken: p.WorkDoneToken}
	if target != nil {
		start.Mode = target.Mode
		start.Context = &ext.RunContext{Document: &ext.ContextDocument{URI: target.URI, Selection: target.Range}}
		if strings.TrimSpace(prompt) == "" {
			prompt = s.promptAt(*target)
		}
	}
	if strings.TrimSpace(prompt) == "" {
		return nil, invalidParams("say what to do: %s takes a prompt, or a range that holds one", ext.CommandRun)
	}
	c := s.currentConversation()
	if c != nil {
		if r := c.activeRun(); r != nil {
			if _, err := r.run.Steer(prompt); err == nil {
				return ext.RunStarted{SessionID: c.id(), RunID: r.run.ID()}, nil
			}
		}
		start.SessionID = c.id()
	}
	start.Prompt, _ = json.Marshal(prompt) // a string always marshals
	r, err := s.prepareRun(start)
	if err != nil {
		return nil, err
	}
	s.setCurrent(r.session)
	rpc.AfterReply(ctx, func() { s.beginRun(r) })
	return ext.RunStarted{SessionID: r.session.id(), RunID: r.run.ID()}, nil
}

// promptAt is the text of a range, without what makes it a comment.
func (s *server) promptAt(t runTarget) string {
	doc, ok := s.documentText(t.URI)
	if !ok || t.Range == nil {
		return ""
	}
	var lines []string
	for line := range strings.Lines(s.slice(doc, *t.Range)) {
		line = strings.Trim(strings.TrimSpace(line), "/#*-;<>!%\" \t")
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, commentMark)))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func (s *server) commandNew(context.Context, executeCommandParams) (any, error) {
	c, err := s.newConversation(ext.SessionNewParams{})
	if err != nil {
		return nil, err
	}
	s.setCurrent(c)
	return c.wire(), nil
}

func (s *server) commandCancel(context.Context, executeCommandParams) (any, error) {
	c := s.currentConversation()
	if c == nil {
		return nil, nil
	}
	if r := c.activeRun(); r != nil {
		r.run.Cancel()
	}
	return nil, nil
}

// decided is what a command is about: a hunk, a file or all, of the current
// session or of the one that a lens of ours names in its second argument.
func (s *server) decided(args commandArgs) (c *conversation, id string, err error) {
	id = "all"
	var session string
	if err := errors.Join(args.into(0, &id), args.into(1, &session)); err != nil {
		return nil, "", err
	}
	if session != "" {
		c, err = s.findConversation(session)
		return c, id, err
	}
	if c = s.conversationWith(id); c == nil {
		return nil, "", invalidParams("nothing is proposed that %q names", id)
	}
	return c, id, nil
}

// verdictCommand decides what its argument names: a hunk, a file, or all.
func verdictCommand(v changeset.Verdict) func(*server, context.Context, executeCommandParams) (any, error) {
	return func(s *server, ctx context.Context, p executeCommandParams) (any, error) {
		c, id, err := s.decided(p.Arguments)
		if err != nil {
			return nil, err
		}
		s.sync(ctx, c)
		d := changeset.Decision{Verdict: v}
		snapshot := c.proposal.Proposal()
		switch {
		case id == "all":
			d.All = true
		case isFile(snapshot, id):
			d.FileID = id
		default:
			d.HunkID = id
		}
		c.dismissQuestion()
		res, err := s.resolve(ctx, c, snapshot.Revision, []changeset.Decision{d}, false)
		if err != nil {
			return nil, err
		}
		s.tellTrouble(res)
		return res, nil
	}
}

func isFile(p changeset.Proposal, id string) bool {
	for _, f := range p.Files {
		if f.FileID == id {
			return true
		}
	}
	return false
}

// commandShowDiff shows what is pending in the current session.
func (s *server) commandShowDiff(ctx context.Context, p executeCommandParams) (any, error) {
	c, id, err := s.decided(p.Arguments)
	if err != nil {
		return nil, err
	}
	patch := s.patch(c, id)
	s.showPatch(ctx, c, patch)
	return map[string]string{"patch": patch}, nil
}

// readOnlyMode is what *Explain with agentls* runs in.
const readOnlyMode = string(agent.ModeAsk)
