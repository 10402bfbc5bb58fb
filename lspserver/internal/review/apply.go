package review

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/lspserver/internal/rpc"
	"github.com/agentls/agentls/tools/changeset"
	"github.com/agentls/agentls/tools/text"
)

const (
	// answerWithin is how long an editor may take over one applyEdit. It may
	// be asking the user, and meanwhile nobody else's edits are sent; who
	// answers later than this still gets what they let through, since a late
	// apply is taken from the documents.
	answerWithin = 2 * time.Minute
	// settleWithin is how long the documents may take to show an edit after
	// the answer, and a buffer to be reloaded before one (protocol §6).
	settleWithin = time.Second
	// saveWithin bounds agent/editor/save: formatters and hooks of the editor
	// run in it.
	saveWithin = 30 * time.Second
	// attempts is how often one accept is sent: again only where the user
	// typed between the first and its refusal.
	attempts = 2
)

// Options are the parts of a connection that an Applier works with.
type Options struct {
	Client       Client
	Docs         *document.Store
	Rebaser      *Rebaser
	Capabilities Capabilities
	// Save: the client answers agent/editor/save.
	Save bool
	// Display names a path for the user.
	Display func(path string) string
	Log     *slog.Logger
}

// Applier carries out verdicts through the editor. It sends one applyEdit at a
// time over the whole connection; later accepts wait for their turn, and
// cancelling one frees it.
//
// After the answer, whatever it was, the documents are compared with what was
// expected, for a second at most: what they show is what the results say.
type Applier struct {
	Options
	// turn holds a token while an applyEdit is under way.
	turn chan struct{}

	answerWithin, settleWithin, saveWithin time.Duration
}

// NewApplier returns the Applier of a connection.
func NewApplier(o Options) *Applier {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Applier{
		Options:      o,
		turn:         make(chan struct{}, 1),
		answerWithin: answerWithin,
		settleWithin: settleWithin,
		saveWithin:   saveWithin,
	}
}

// Request is one call of agent/proposal/resolve.
type Request struct {
	Revision  int64
	Decisions []changeset.Decision
	// Save asks the editor to save what was applied.
	Save bool
	// Label is what the editor's undo stack calls it; "" for a default.
	Label string
	// Announce tells the client of the proposal as it is now; nil for nobody.
	Announce func()
	// Sending is told of what the editor is about to be asked for; nil for
	// nobody.
	Sending func(files []changeset.FileEdit)
	// Applied is told of what the editor was asked for and what came of it,
	// where anything may have; nil for nobody.
	Applied func(files []changeset.FileEdit, results []changeset.Result)
}

// Resolve carries out decisions and returns what really became of each. An
// error is of the decisions (*changeset.StaleError, *changeset.InvalidError),
// and then nothing happened. A cancelled ctx is no error: the results tell how
// far it came.
func (a *Applier) Resolve(ctx context.Context, set *changeset.Set, r Request) ([]changeset.Result, error) {
	batch, err := set.Resolve(r.Revision, r.Decisions)
	if err != nil {
		return nil, err
	}
	if r.Announce != nil {
		r.Announce() // rejects have taken effect
		defer r.Announce()
	}
	why := ""
	d := &delivery{set: set, batch: batch, label: r.Label, save: r.Save, sent: map[string]changeset.FileEdit{}, sending: r.Sending}
	if len(batch.Files) > 0 {
		why = a.apply(ctx, d)
	}
	results := set.Settle(batch, a.Rebaser.source.Base, why)
	if r.Applied != nil && len(d.sent) > 0 {
		r.Applied(slices.Collect(maps.Values(d.sent)), results)
	}
	if r.Save {
		a.save(ctx, results)
	}
	return results, nil
}

// delivery is a batch on its way into the documents.
type delivery struct {
	set     *changeset.Set
	batch   *changeset.Batch
	label   string
	save    bool
	sending func(files []changeset.FileEdit)
	// sent is what the editor was asked for last, by file.
	sent map[string]changeset.FileEdit
	// withheld has the files of which the editor is not asked for the
	// operation, or not for anything, and why.
	withheld map[string]withheld
}

type withheld struct {
	all    bool
	reason string
}

// open is how much the documents do not show of what the editor is asked for.
func (d *delivery) open() (n int) {
	for _, f := range d.batch.Files {
		w, kept := d.withheld[f.FileID]
		if w.all {
			continue
		}
		n += len(f.Edits)
		if f.Op != changeset.OpModify && !kept {
			n++
		}
	}
	return n
}

// why is the reason for what is not in the documents.
func (d *delivery) why(answered string) string {
	var reasons []string
	if d.open() > 0 && answered != "" {
		reasons = append(reasons, answered)
	}
	for _, f := range d.batch.Files {
		if w := d.withheld[f.FileID]; w.all {
			reasons = append(reasons, w.reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// apply gets a batch into the documents as far as the editor does it, and
// returns the reason for whatever is not there afterwards.
func (a *Applier) apply(ctx context.Context, d *delivery) string {
	if !a.Capabilities.ApplyEdit {
		return "this editor does not take edits from a language server (workspace/applyEdit): make the change by hand"
	}
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return "cancelled before the editor was asked"
	}
	for n := 1; ; n++ {
		why, again := a.attempt(ctx, d)
		if !again || n == attempts {
			return why
		}
		a.Log.Info("edit refused while the document was being changed: sending it again", "reason", why)
	}
}

// attempt asks the editor once. It reports whether asking again may do: where
// nothing came of it because a document was changed meanwhile.
func (a *Applier) attempt(ctx context.Context, d *delivery) (why string, again bool) {
	plan, err := a.plan(ctx, d)
	if err != nil {
		return err.Error(), false
	}
	if len(plan) == 0 {
		return d.why(""), false
	}
	left := d.open()
	for _, f := range d.batch.Files {
		d.sent[f.FileID] = f
	}
	if d.sending != nil {
		d.sending(d.batch.Files)
	}
	defer a.Rebaser.expect(d.set, d.batch.Files)()
	answer := a.ask(ctx, d, plan)
	landed := func() bool { return a.look(d) == 0 }
	switch again = a.raced(plan); {
	case answer.final:
		landed()
		again = false
	case !answer.applied && again:
		landed()
	case a.until(ctx, landed):
	case answer.applied:
		again = a.outdated(plan) // what Neovim says then, too
		if d.save && a.saveHidden(ctx, plan) {
			a.until(ctx, landed)
		}
	}
	if d.open() < left {
		return d.why(answer.reason), false
	}
	if a.raced(plan) {
		answer.reason += "; the document was changed meanwhile: look at the proposal again"
	}
	return d.why(answer.reason), again
}

// look brings the proposal up to date, and returns how much is open.
func (a *Applier) look(d *delivery) int {
	a.Rebaser.sync(d.set)
	d.set.Refresh(d.batch)
	return d.open()
}

// answer is what an editor said to an applyEdit.
type answer struct {
	applied bool
	// reason is for what turns out not to be applied.
	reason string
	// final: no edit is to come of it, or nobody waits for it any more.
	final bool
}

// ask sends an edit and waits for the answer.
func (a *Applier) ask(ctx context.Context, d *delivery, plan []planned) answer {
	files := make([]fileEdit, len(plan))
	for i, p := range plan {
		files[i] = p.fileEdit
	}
	limited, cancel := context.WithTimeout(ctx, a.answerWithin)
	defer cancel()
	var raw json.RawMessage
	params := applyEditParams{
		Label: cmp.Or(d.label, "agentls: "+count(len(files), "file")),
		Edit:  assemble(files, a.Capabilities),
	}
	err := a.Client.Call(limited, "workspace/applyEdit", params, &raw)
	var refusal *rpc.Error
	switch {
	case err == nil:
		return readAnswer(raw)
	case ctx.Err() != nil:
		return answer{final: true, reason: "cancelled while the editor was applying it"}
	case limited.Err() != nil:
		return answer{final: true, reason: fmt.Sprintf("the editor did not answer within %v: if it applies the edit later, that will be noticed", a.answerWithin)}
	case errors.Is(err, rpc.ErrClosed):
		return answer{final: true, reason: "the editor closed the connection"}
	case errors.As(err, &refusal) && refusal.Code == rpc.MethodNotFound:
		return answer{final: true, reason: "the editor knows no workspace/applyEdit: make the change by hand"}
	}
	return answer{reason: "the editor failed to apply the edit: " + oneLine(err.Error())}
}

// readAnswer takes any JSON: not every client answers with an
// ApplyWorkspaceEditResult.
func readAnswer(raw json.RawMessage) answer {
	fields := object(raw)
	if get[bool](fields["applied"]) {
		return answer{applied: true, reason: "the editor said that it applied the edit, but neither the documents that it told of nor the disk show it: if the editor does, save the file there, else accept again"}
	}
	if reason := oneLine(get[string](fields["failureReason"])); reason != "" {
		return answer{reason: "the editor refused the edit: " + reason}
	}
	if fields["applied"] == nil {
		return answer{reason: "the editor did not say that it applied the edit"}
	}
	return answer{reason: "the editor refused the edit and gave no reason"}
}

// oneLine is a text of the editor's, fit for a message.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if cut := text.ClampRune(s, 300); cut != s {
		return cut + "…"
	}
	return s
}

// until calls done after each change of a document, and between them in case
// a file changed on disk, until it reports true or settleWithin is over.
func (a *Applier) until(ctx context.Context, done func() bool) bool {
	changed := make(chan struct{}, 1)
	defer a.Docs.Subscribe(func(document.Event) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	deadline := time.NewTimer(a.settleWithin)
	defer deadline.Stop()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if done() {
			return true
		}
		poll := time.NewTimer(pause)
		select {
		case <-changed:
		case <-poll.C:
		case <-deadline.C:
			return done()
		case <-ctx.Done():
			return done()
		}
		poll.Stop()
	}
}
