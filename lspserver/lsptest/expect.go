package lsptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// What a script expects: `expect` now, `await` as soon as it holds.
//
//	buffer FILE ["text"]                an open document; without a text it is compared with want/FILE
//	disk FILE ["text"]                  a file on disk
//	nofile FILE                         nothing on disk
//	version FILE N                      of an open document
//	proposal empty | files=N hunks=N    of the session
//	file FILE key=value…                of the proposal: op, state, added, …
//	hunk N key=value…                   range, oldText, newText, state
//	patch [PART]                        all patches, one after the other; PART is want.patch
//	side FILE base|proposed ["text"]    agent/proposal/document
//	state S…                            the states that the last resolve answered
//	stop REASON   text "part"           of the last run that was waited for
//	answer key=value…                   in the answer to the last request
//	error "part"                        of the last step that had to fail: its data.code or a part of it
//	requests N                          to the model
//	told "part"…   untold "part"…       in the last request to the model
//	toldonce "part"                     in exactly one message of it
//	edits N                             workspace/applyEdit so far
//	edit [PART]                         the last one; PART is want.edit
//	event TYPE [n=N] key=value…         an event, the N-th such
//	events TYPE N                       how many
//	sent METHOD [n=N] key=value…        a message of the server
//	fault CODE [n=N]                    an error with the id null
//	shown "part"   logged "part"        window/showMessage, window/logMessage
//	question "part"                     the oldest that was not answered
//	lens FILE "title"…                  the code lenses, in order
//	hold NAME (await only)              the model waits there
//	progress ended                      all of them
//	status N                            the exit status
//
// A value with a leading ~ is a part of the right one, one with a leading ! is
// another one.
var expectations map[string]func(s *scenario, args []string) error

func init() {
	expectations = map[string]func(s *scenario, args []string) error{
		"buffer":   (*scenario).wantBuffer,
		"disk":     (*scenario).wantDisk,
		"nofile":   (*scenario).wantNoFile,
		"version":  (*scenario).wantVersion,
		"proposal": (*scenario).wantProposal,
		"file":     (*scenario).wantFile,
		"hunk":     (*scenario).wantHunk,
		"patch":    (*scenario).wantPatch,
		"side":     (*scenario).wantSide,
		"state":    (*scenario).wantState,
		"stop":     (*scenario).wantStop,
		"text":     func(s *scenario, a []string) error { return holds(s.result.Text, a[0]) },
		"answer":   func(s *scenario, a []string) error { return matchJSON(s.answer, a) },
		"error":    (*scenario).wantError,
		"requests": func(s *scenario, a []string) error { return count("requests", len(s.model.Requests()), a[0]) },
		"told":     (*scenario).wantTold,
		"untold":   (*scenario).wantUntold,
		"toldonce": (*scenario).wantToldOnce,
		"edits": func(s *scenario, a []string) error {
			return count("edits", len(s.editor.Sent("workspace/applyEdit")), a[0])
		},
		"edit":     (*scenario).wantEdit,
		"event":    (*scenario).wantEvent,
		"events":   (*scenario).wantEvents,
		"sent":     (*scenario).wantSent,
		"fault":    (*scenario).wantFault,
		"shown":    func(s *scenario, a []string) error { return s.wantMessage("window/showMessage", a[0]) },
		"logged":   func(s *scenario, a []string) error { return s.wantMessage("window/logMessage", a[0]) },
		"question": (*scenario).wantQuestion,
		"lens":     (*scenario).wantLens,
		"hold":     (*scenario).wantHold,
		"progress": (*scenario).wantProgress,
		"status":   (*scenario).wantStatus,
	}
}

func (s *scenario) stepExpect(a []string) error {
	f := expectations[a[0]]
	if f == nil {
		return fmt.Errorf("nothing like %q can be expected", a[0])
	}
	return f(s, a[1:])
}

// stepAwait is stepExpect, again and again as things change. The model tells
// nobody when it is asked; its holds are waited for as they are.
func (s *scenario) stepAwait(a []string) error {
	s.t.Helper()
	switch a[0] {
	case "hold":
		return s.wantHold(a[1:])
	case "requests":
		return s.awaitRequests(a[1])
	}
	var last error
	s.editor.awaitOr(func() bool {
		last = s.stepExpect(a)
		return last == nil
	})
	return last
}

func (s *scenario) awaitRequests(number string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.editor.ctx, s.editor.opts.Deadline)
	defer cancel()
	_, err = s.model.Await(ctx, n)
	return err
}

// wanted is the text that a file has to have.
func (s *scenario) wanted(a []string) (string, error) {
	if len(a) > 1 {
		return a[1], nil
	}
	text, ok := s.parts["want/"+a[0]]
	if !ok {
		return "", fmt.Errorf("there is no part want/%s", a[0])
	}
	return text, nil
}

func (s *scenario) wantBuffer(a []string) error {
	want, err := s.wanted(a)
	if err != nil {
		return err
	}
	got, ok := s.editor.Buffer(a[0])
	if !ok {
		return errors.New("it is not open")
	}
	return same(got, want)
}

func (s *scenario) wantDisk(a []string) error {
	want, err := s.wanted(a)
	if err != nil {
		return err
	}
	got, err := os.ReadFile(s.editor.Abs(a[0]))
	if err != nil {
		return err
	}
	return same(string(got), want)
}

func (s *scenario) wantNoFile(a []string) error {
	if _, err := os.Lstat(s.editor.Abs(a[0])); err == nil {
		return errors.New("it is there")
	}
	return nil
}

func (s *scenario) wantVersion(a []string) error {
	return count("is the version", s.editor.Version(a[0]), a[1])
}

func (s *scenario) wantProposal(a []string) error {
	p := s.editor.Proposal(s.session)
	hunks := 0
	for _, f := range p.Files {
		hunks += len(f.Hunks)
	}
	if a[0] == "empty" {
		a = []string{"files=0", "hunks=0"}
	}
	return match(map[string]any{"files": float64(len(p.Files)), "hunks": float64(hunks), "revision": float64(p.Revision)}, a)
}

func (s *scenario) wantFile(a []string) error {
	f, err := s.fileOf(s.editor.Proposal(s.session), a[0])
	if err != nil {
		return err
	}
	return matchJSON(mustJSON(f), a[1:])
}

func (s *scenario) wantHunk(a []string) error {
	h, err := hunkAt(s.editor.Proposal(s.session).Files, a[0])
	if err != nil {
		return err
	}
	return match(map[string]any{"range": h.Range.String(), "oldText": h.OldText, "newText": h.NewText, "state": h.State}, a[1:])
}

func (s *scenario) wantPatch(a []string) error {
	var b strings.Builder
	for _, f := range s.editor.Proposal(s.session).Files {
		b.WriteString(f.Patch)
	}
	return same(b.String(), s.named(a, "want.patch"))
}

// named is the part that a step names, or one of its own.
func (s *scenario) named(a []string, fallback string) string {
	if len(a) > 0 {
		return s.parts[a[0]]
	}
	return s.parts[fallback]
}

func (s *scenario) wantSide(a []string) error {
	var doc struct {
		Text string `json:"text"`
	}
	uri := a[0]
	if !strings.Contains(uri, "://") {
		uri = URI(s.editor.Abs(uri))
	}
	err := s.editor.Request("agent/proposal/document", map[string]any{"sessionId": s.session, "uri": uri, "side": a[1]}, &doc)
	if err != nil {
		return err
	}
	want, err := s.wanted(append([]string{a[0]}, a[2:]...))
	if err != nil {
		return err
	}
	return same(doc.Text, want)
}

func (s *scenario) wantState(a []string) error {
	var got []string
	for _, r := range s.decided.Results {
		got = append(got, r.State)
	}
	if !slices.Equal(got, a) {
		return fmt.Errorf("%+v", s.decided)
	}
	return nil
}

func (s *scenario) wantStop(a []string) error {
	if s.result.StopReason != a[0] {
		return fmt.Errorf("%+v %+v", s.result, s.result.Error)
	}
	return nil
}

func (s *scenario) wantError(a []string) error {
	var e *ResponseError
	if errors.As(s.err, &e) && (e.DataCode() == a[0] || strconv.Itoa(e.Code) == a[0]) {
		return nil
	}
	if s.err == nil {
		return errors.New("nothing failed")
	}
	return holds(s.err.Error(), a[0])
}

// lastRequest are the messages of the last request to the model, as text.
func (s *scenario) lastRequest() ([]string, error) {
	all := s.model.Requests()
	if len(all) == 0 {
		return nil, errors.New("the model was not asked")
	}
	var texts []string
	for _, m := range all[len(all)-1].Messages {
		texts = append(texts, m.Content)
	}
	return texts, nil
}

func (s *scenario) wantTold(a []string) error {
	texts, err := s.lastRequest()
	if err != nil {
		return err
	}
	for _, part := range a {
		if err := holds(strings.Join(texts, "\n---\n"), part); err != nil {
			return err
		}
	}
	return nil
}

func (s *scenario) wantUntold(a []string) error {
	texts, err := s.lastRequest()
	if err != nil {
		return err
	}
	for _, part := range a {
		if all := strings.Join(texts, "\n---\n"); strings.Contains(all, part) {
			return fmt.Errorf("%q holds %q", all, part)
		}
	}
	return nil
}

func (s *scenario) wantToldOnce(a []string) error {
	texts, err := s.lastRequest()
	if err != nil {
		return err
	}
	if n := strings.Count(strings.Join(texts, "\n"), a[0]); n != 1 {
		return fmt.Errorf("it is told %d times: %q", n, texts)
	}
	return nil
}

func (s *scenario) wantEdit(a []string) error {
	sent := s.editor.Sent("workspace/applyEdit")
	if len(sent) == 0 {
		return errors.New("none was sent")
	}
	got, err := s.editor.describeEdit(sent[len(sent)-1].Params)
	if err != nil {
		return err
	}
	return same(got, s.named(a, "want.edit"))
}

// nth is the n of a step, 1 if it has none.
func nth(a []string) int {
	if n, err := strconv.Atoi(settings(a)["n"]); err == nil {
		return n
	}
	return 1
}

func (s *scenario) wantEvent(a []string) error {
	var last error
	n := nth(a)
	for _, v := range s.editor.Events() {
		if v.Type != a[0] {
			continue
		}
		if last = match(v.Fields, a[1:]); last == nil {
			if n--; n == 0 {
				return nil
			}
		}
	}
	if last != nil {
		return last
	}
	return errors.New("there is no such event")
}

func (s *scenario) wantEvents(a []string) error {
	n := 0
	for _, v := range s.editor.Events() {
		if v.Type == a[0] {
			n++
		}
	}
	return count("events", n, a[1])
}

func (s *scenario) wantSent(a []string) error {
	n := nth(a)
	for _, f := range s.editor.Sent(a[0]) {
		if matchJSON(f.Params, a[1:]) == nil {
			if n--; n == 0 {
				return nil
			}
		}
	}
	return errors.New("nothing like it was sent")
}

func (s *scenario) wantFault(a []string) error {
	n := nth(a)
	for _, f := range s.editor.Frames() {
		if f.FromServer && string(f.ID) == "null" && f.Error != nil && strconv.Itoa(f.Error.Code) == a[0] {
			if n--; n == 0 {
				return nil
			}
		}
	}
	return errors.New("there is no such fault")
}

func (s *scenario) wantMessage(method, part string) error {
	for _, f := range s.editor.Sent(method) {
		var p struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(f.Params, &p) == nil && strings.Contains(p.Message, part) {
			return nil
		}
	}
	return fmt.Errorf("no %s holds it", method)
}

func (s *scenario) wantQuestion(a []string) error {
	s.editor.record.mu.Lock()
	defer s.editor.record.mu.Unlock()
	for _, q := range s.editor.record.questions {
		if !q.taken {
			return holds(string(q.frame.Params), a[0])
		}
	}
	return errors.New("nothing is asked")
}

func (s *scenario) wantLens(a []string) error {
	lenses, err := s.lenses(a[0])
	if err != nil {
		return err
	}
	var got []string
	for _, l := range lenses {
		got = append(got, l.Title)
	}
	if !slices.Equal(got, a[1:]) {
		return fmt.Errorf("%q", got)
	}
	return nil
}

func (s *scenario) wantHold(a []string) error {
	s.t.Helper()
	select {
	case <-s.model.Reached(a[0]):
		return nil
	case <-s.editor.expired():
		return errors.New("the model was not asked so far")
	}
}

func (s *scenario) wantProgress([]string) error {
	s.editor.record.mu.Lock()
	defer s.editor.record.mu.Unlock()
	if len(s.editor.record.follow.progress) == 0 {
		return errors.New("there was none")
	}
	for token, state := range s.editor.record.follow.progress {
		if state != "ended" {
			return fmt.Errorf("progress %s is %s", token, state)
		}
	}
	return nil
}

func (s *scenario) wantStatus(a []string) error {
	if err := s.editor.Status(); (err == nil) != (a[0] == "0") {
		return fmt.Errorf("it was %v", err)
	}
	return nil
}
