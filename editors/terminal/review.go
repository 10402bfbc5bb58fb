package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/tools/text"
)

// outcome is what a review came to.
type outcome struct {
	failed bool // something that was accepted is not in the files
	again  bool // the agent is to try once more
}

// status is the exit status of a run that ended with code and was reviewed.
func (o outcome) status(code int) int {
	if o.failed && code == ExitDone {
		return ExitFailed
	}
	return code
}

// maxTries is how often a proposal that changes under the decision is shown
// again.
const maxTries = 5

// review shows what the session proposes, has it decided, and tells what came
// of it. complete says that the run came to its end: only then is all of it
// accepted unseen.
func (r *runner) review(ctx context.Context, complete bool) (outcome, error) {
	var out outcome
	for tries := 0; ; tries++ {
		p, err := r.proposal()
		if err != nil || len(p.Files) == 0 {
			return out, err
		}
		d, err := r.decide(ctx, p, complete)
		if err != nil {
			return out, err
		}
		if len(d.decisions) == 0 {
			r.view.pending(p)
			return out, nil
		}
		res, err := r.resolve(p, d.decisions)
		if stale(err) && tries < maxTries {
			r.view.remark("the changes are not what they were: here they are again")
			continue
		}
		if err != nil {
			return out, err
		}
		r.view.settled(p, res.Results)
		for _, one := range res.Results {
			out.failed = out.failed || !landed(one.State)
		}
		out.again = d.again
		return out, r.leftOver(out.again)
	}
}

// leftOver tells of what was not decided.
func (r *runner) leftOver(again bool) error {
	p, err := r.proposal()
	if err == nil && len(p.Files) > 0 && !again {
		r.view.pending(p)
	}
	return err
}

func (r *runner) proposal() (ext.Proposal, error) {
	var p ext.Proposal
	err := r.call(ext.MethodProposalGet, ext.SessionParams{SessionID: r.session}, &p)
	if err != nil {
		return ext.Proposal{}, fmt.Errorf("the proposal: %w", err)
	}
	return p, nil
}

func (r *runner) resolve(p ext.Proposal, ds []ext.Decision) (ext.ResolveResult, error) {
	var res ext.ResolveResult
	err := r.call(ext.MethodProposalResolve,
		ext.ResolveParams{SessionID: p.SessionID, Revision: &p.Revision, Decisions: ds, Save: true}, &res)
	if err != nil {
		return ext.ResolveResult{}, err
	}
	return res, nil
}

func stale(err error) bool {
	var e *serverError
	return errors.As(err, &e) && e.code() == ext.ErrStaleRevision
}

// decided are the verdicts on one revision of a proposal.
type decided struct {
	decisions []ext.Decision
	again     bool
}

func (r *runner) decide(ctx context.Context, p ext.Proposal, complete bool) (decided, error) {
	switch {
	case r.o.Accept == All && complete:
		r.view.proposed(p)
		return decided{decisions: []ext.Decision{{All: true, Verdict: "accept"}}}, nil
	case r.o.Accept == Ask && r.console.Interactive && !r.o.JSON:
		q := &reviewer{runner: r, proposal: p}
		return q.ask(ctx)
	}
	r.view.proposed(p)
	return decided{}, nil
}

// reviewer asks about each file of one revision of a proposal.
type reviewer struct {
	*runner
	proposal  ext.Proposal
	decisions []ext.Decision
	comments  bool
}

// verdict is an answer to one question of a review.
type verdict int

const (
	verdictYes verdict = iota
	verdictNo
	verdictSkip
	verdictRest // yes to this and all that follow
	verdictQuit
	verdictSplit
	verdictEdit
)

// keys are the answers with their one-letter forms and what they do.
var keys = []struct {
	key  byte
	v    verdict
	help string
}{
	{'y', verdictYes, "apply it"},
	{'n', verdictNo, "reject it; you may say why"},
	{'h', verdictSplit, "decide hunk by hunk"},
	{'e', verdictEdit, "change it in your editor, then apply it"},
	{'s', verdictSkip, "leave it pending"},
	{'a', verdictRest, "apply this and all that follow"},
	{'q', verdictQuit, "leave the rest pending"},
}

func (q *reviewer) ask(ctx context.Context) (decided, error) {
	q.print("\n%s\n", q.style().bold(files(q.proposal)+":"))
	for _, f := range q.proposal.Files {
		q.print("  %s\n", q.summary(f.FileSummary))
	}
	for i, f := range q.proposal.Files {
		v, err := q.file(ctx, f, i)
		if err != nil {
			return decided{}, err
		}
		if v == verdictQuit {
			break
		}
		if v == verdictRest {
			for _, f := range q.proposal.Files[i:] {
				q.decide(ext.Decision{FileID: f.FileID, Verdict: "accept"})
			}
			break
		}
	}
	again := false
	if q.comments {
		answer, err := q.prompt(ctx, "Let the agent try again with what you said? [y,N] ")
		if err != nil {
			return decided{}, err
		}
		again = strings.HasPrefix(strings.ToLower(answer), "y")
	}
	return decided{decisions: q.decisions, again: again}, nil
}

func (q *reviewer) decide(d ext.Decision) { q.decisions = append(q.decisions, d) }

// file shows a file's changes and has them decided.
func (q *reviewer) file(ctx context.Context, f ext.FileChange, i int) (verdict, error) {
	q.print("\n%s", q.style().patch(f.Patch))
	if f.State == "conflicted" {
		q.print("%s\n", q.style().yellow("The text under this change is not what it was: reject it, or leave it."))
	}
	allowed := "ynsaq"
	if f.Op == "modify" && len(f.Hunks) > 0 {
		allowed = "ynhsaq"
	}
	question := fmt.Sprintf("Apply to %s (%d of %d)?", q.name(f.FileSummary), i+1, len(q.proposal.Files))
	v, err := q.choice(ctx, question, allowed)
	if err != nil {
		return verdictQuit, err
	}
	switch v {
	case verdictYes:
		q.decide(ext.Decision{FileID: f.FileID, Verdict: "accept"})
	case verdictNo:
		return v, q.reject(ctx, ext.Decision{FileID: f.FileID})
	case verdictSplit:
		return q.hunks(ctx, f)
	}
	return v, nil
}

// hunks has the hunks of a file decided one by one.
func (q *reviewer) hunks(ctx context.Context, f ext.FileChange) (verdict, error) {
	var base ext.ProposalDocument
	params := ext.ProposalDocumentParams{SessionID: q.proposal.SessionID, URI: f.URI, Side: "base"}
	if err := q.call(ext.MethodProposalDocument, params, &base); err != nil {
		return verdictQuit, fmt.Errorf("%s: %w", q.name(f.FileSummary), err)
	}
	doc := text.New(base.Text)
	for i, h := range f.Hunks {
		q.print("\n%s", q.style().hunk(h, doc, q.client.positions()))
		v, err := q.choice(ctx, fmt.Sprintf("Apply this hunk (%d of %d)?", i+1, len(f.Hunks)), "ynesaq")
		if err != nil {
			return verdictQuit, err
		}
		switch v {
		case verdictYes:
			q.decide(ext.Decision{HunkID: h.HunkID, Verdict: "accept"})
		case verdictNo:
			if err := q.reject(ctx, ext.Decision{HunkID: h.HunkID}); err != nil {
				return verdictQuit, err
			}
		case verdictEdit:
			if err := q.edit(f, h); err != nil {
				q.view.remark("not edited, and left pending: %v", err)
			}
		case verdictRest:
			for _, h := range f.Hunks[i:] {
				q.decide(ext.Decision{HunkID: h.HunkID, Verdict: "accept"})
			}
			return verdictYes, nil
		case verdictQuit:
			return verdictQuit, nil
		}
	}
	return verdictYes, nil
}

// edit accepts a hunk as the user's editor left it.
func (q *reviewer) edit(f ext.FileChange, h ext.Hunk) error {
	changed, err := editText(q.console, q.name(f.FileSummary), h.NewText)
	if err != nil {
		return err
	}
	if changed == h.NewText {
		q.decide(ext.Decision{HunkID: h.HunkID, Verdict: "accept"})
	} else {
		q.decide(ext.Decision{HunkID: h.HunkID, Verdict: "edit", NewText: &changed})
	}
	return nil
}

func (q *reviewer) reject(ctx context.Context, d ext.Decision) error {
	comment, err := q.prompt(ctx, "Why, for the agent (Enter for nothing): ")
	if err != nil {
		return err
	}
	d.Verdict, d.Comment = "reject", comment
	q.comments = q.comments || comment != ""
	q.decide(d)
	return nil
}

// choice asks until it gets one of the allowed keys. The end of the input
// quits.
func (q *reviewer) choice(ctx context.Context, question, allowed string) (verdict, error) {
	for {
		q.print("%s", q.style().bold(fmt.Sprintf("%s [%s,?] ", question, strings.Join(strings.Split(allowed, ""), ","))))
		line, err := q.console.readLine(ctx)
		if errors.Is(err, errInterrupted) {
			return verdictQuit, err
		}
		if err != nil {
			q.print("\n")
			return verdictQuit, nil
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		for _, k := range keys {
			if answer != "" && answer[0] == k.key && strings.IndexByte(allowed, k.key) >= 0 {
				return k.v, nil
			}
		}
		for _, k := range keys {
			if strings.IndexByte(allowed, k.key) >= 0 {
				q.print("  %c  %s\n", k.key, k.help)
			}
		}
	}
}

// summary is a line about a file: its name, what happens to it, how much.
func (q *reviewer) summary(f ext.FileSummary) string {
	return fmt.Sprintf("%-6s %s %s %s", f.Op, q.name(f),
		q.style().green(fmt.Sprintf("+%d", f.Added)), q.style().red(fmt.Sprintf("−%d", f.Removed)))
}

func (q *reviewer) name(f ext.FileSummary) string {
	if v, ok := q.view.(*textView); ok {
		return v.name(f)
	}
	return safeLine(f.URI)
}
