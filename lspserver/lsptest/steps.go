package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// The steps of a script, but for `expect` and `await`. Those of the first
// table come before all others and do not start the editor.
//
//	profile NAME                        the kind of editor; default rich
//	agent review,ask | none             the features of experimental.agent
//	folders ws other                    the workspace folders; default ws, none is none
//	root uri | path                     how the folder is told, instead of workspaceFolders
//	unopened opens | hidden | disk      where edits of files go that are not open
//	init {…}   settings {…}             initializationOptions; the section agentls
//	env NAME=VALUE                      of the server
//	unused                              the model may have replies left over
var setup = map[string]func(s *scenario, args []string) error{
	"profile": func(s *scenario, args []string) error {
		s.opts.Profile = args[0]
		return nil
	},
	"agent": func(s *scenario, args []string) error {
		s.change(func(p *Profile) {
			p.Agent = strings.Split(args[0], ",")
			if args[0] == "none" {
				p.Agent = nil
			}
		})
		return nil
	},
	"unopened": func(s *scenario, args []string) error {
		where, ok := map[string]Unopened{"opens": UnopenedOpens, "hidden": UnopenedHidden, "disk": UnopenedDisk}[args[0]]
		if !ok {
			return fmt.Errorf("%q is no place", args[0])
		}
		s.change(func(p *Profile) { p.Unopened = where })
		return nil
	},
	"root": func(s *scenario, args []string) error {
		s.opts.Root = args[0]
		return nil
	},
	"folders": func(s *scenario, args []string) error {
		s.opts.Folders = nil
		if len(args) > 0 {
			s.folder = args[0]
		}
		for _, name := range args {
			dir := s.work + string(os.PathSeparator) + name
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			s.opts.Folders = append(s.opts.Folders, dir)
		}
		return nil
	},
	"init": func(s *scenario, args []string) error {
		return json.Unmarshal([]byte(args[0]), &s.opts.InitializationOptions)
	},
	"settings": func(s *scenario, args []string) error {
		return json.Unmarshal([]byte(args[0]), &s.opts.Settings)
	},
	"env": func(s *scenario, args []string) error {
		for _, a := range args {
			name, value, _ := strings.Cut(a, "=")
			s.env[name] = s.expand(value)
		}
		return nil
	},
	"unused": func(s *scenario, _ []string) error {
		s.unused = true
		return nil
	},
}

// change adds a change of the profile.
func (s *scenario) change(f func(*Profile)) {
	before := s.opts.Change
	s.opts.Change = func(p *Profile) {
		if before != nil {
			before(p)
		}
		f(p)
	}
}

// What the editor and its user do.
//
//	open FILE   openas URI FILE   opentext URI "text"
//	type FILE L:C[-L:C] "text"   settext FILE "text"   undo FILE
//	version FILE N                      as if changes had been counted before
//	save FILE   close FILE   write FILE "text" (a program beside the editor)
//	run "prompt" [session=new] [mode=… review=… maxTurns=… token=…]
//	wait   cancel   steer "text"
//	resolve WHAT VERDICT ["text"] [, …] [revision=N] [save]
//	     WHAT: all, file FILE, hunk N, hunk FILE N; a text is the new text of
//	     an edit, else the comment
//	async resolve … / async request …   without waiting; `finish` waits, `unsend` cancels it
//	request METHOD {…}   notify METHOD {…}   command NAME [args…]
//	lens FILE N                         runs the command of the N-th code lens
//	action FILE L:C[-L:C] "title" ["problem"]   runs a code action; with a problem, one of that diagnostic
//	applyedit KIND ["text"] [FILE L:C]  how the next edit is taken; see Behaviour
//	release-edits                       of those that wait
//	answer "text"   dismiss   permit ID the next question to the user
//	release HOLD                        of the model
//	pause   resume                      the reading of what the server sends
//	body "…"   raw "…"                  bytes on the wire, in a frame or as they are
//	shutdown   exit   hangup   restart
var steps map[string]func(s *scenario, args []string) error

// Not a literal above: a step may call others.
func init() {
	steps = map[string]func(s *scenario, args []string) error{
		"open":          func(s *scenario, a []string) error { s.editor.Open(a[0]); return nil },
		"openas":        func(s *scenario, a []string) error { s.editor.OpenAs(a[0], a[1]); return nil },
		"opentext":      func(s *scenario, a []string) error { s.editor.OpenText(a[0], a[1]); return nil },
		"settext":       func(s *scenario, a []string) error { s.editor.SetText(a[0], a[1]); return nil },
		"undo":          func(s *scenario, a []string) error { s.editor.Undo(a[0]); return nil },
		"save":          func(s *scenario, a []string) error { s.editor.Save(a[0]); return nil },
		"close":         func(s *scenario, a []string) error { s.editor.CloseFile(a[0]); return nil },
		"write":         func(s *scenario, a []string) error { s.editor.WriteOutside(a[0], a[1]); return nil },
		"release-edits": func(s *scenario, _ []string) error { s.editor.ReleaseEdits(); return nil },
		"release":       func(s *scenario, a []string) error { s.model.Release(a[0]); return nil },
		"pause":         func(s *scenario, _ []string) error { s.editor.Pause(); return nil },
		"resume":        func(s *scenario, _ []string) error { s.editor.Resume(); return nil },
		"body":          func(s *scenario, a []string) error { s.editor.SendBody([]byte(a[0])); return nil },
		"raw":           func(s *scenario, a []string) error { s.editor.SendRaw([]byte(a[0])); return nil },
		"type":          (*scenario).stepType,
		"version":       (*scenario).stepVersion,
		"run":           (*scenario).stepRun,
		"wait":          (*scenario).stepWait,
		"cancel":        (*scenario).stepCancel,
		"steer":         (*scenario).stepSteer,
		"resolve":       (*scenario).stepResolve,
		"async":         (*scenario).stepAsync,
		"finish":        (*scenario).stepFinish,
		"unsend":        func(s *scenario, _ []string) error { s.pending.Cancel(); return nil },
		"request":       (*scenario).stepRequest,
		"notify":        (*scenario).stepNotify,
		"command":       (*scenario).stepCommand,
		"lens":          (*scenario).stepLens,
		"action":        (*scenario).stepAction,
		"applyedit":     (*scenario).stepApplyEdit,
		"answer":        (*scenario).stepAnswer,
		"dismiss":       (*scenario).stepDismiss,
		"permit":        (*scenario).stepPermit,
		"shutdown":      func(s *scenario, _ []string) error { return s.editor.Request("shutdown", nil, nil) },
		"exit":          func(s *scenario, _ []string) error { s.over = true; s.editor.Exit(); return nil },
		"hangup":        func(s *scenario, _ []string) error { s.over = true; s.editor.HangUp(); return nil },
		"restart":       (*scenario).stepRestart,
		"await":         (*scenario).stepAwait,
		"expect":        (*scenario).stepExpect,
	}
}

// step takes one line.
func (s *scenario) step(l line) {
	s.t.Helper()
	args := make([]string, len(l.words)-1)
	for i, a := range l.words[1:] {
		args[i] = s.expand(a)
	}
	f := setup[l.words[0]]
	if f == nil {
		if f = steps[l.words[0]]; f == nil {
			s.failf(l, "no such step")
		}
		s.start()
	}
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); ok && strings.Contains(err.Error(), "index out of range") {
				s.failf(l, "too few words")
			}
			panic(r)
		}
	}()
	err := f(s, args)
	switch {
	case l.fails && err == nil:
		s.failf(l, "it did not fail")
	case l.fails:
		s.err = err
	case err != nil:
		s.failf(l, "%v", err)
	}
}

func (s *scenario) stepType(a []string) error {
	r, err := rangeOf(a[1])
	if err == nil {
		s.editor.Type(a[0], r, a[2])
	}
	return err
}

func (s *scenario) stepVersion(a []string) error {
	n, err := strconv.Atoi(a[1])
	if err == nil {
		s.editor.SetVersion(a[0], n)
	}
	return err
}

// settings of a step are its words of the form key=value.
func settings(args []string) map[string]string {
	m := map[string]string{}
	for _, a := range args {
		if key, value, ok := strings.Cut(a, "="); ok {
			m[key] = value
		}
	}
	return m
}

func (s *scenario) stepRun(a []string) error {
	params := map[string]any{"prompt": a[0]}
	if strings.HasPrefix(a[0], "[") {
		params["prompt"] = json.RawMessage(a[0])
	}
	if s.session != "" {
		params["sessionId"] = s.session
	}
	for key, value := range settings(a[1:]) {
		switch key {
		case "session":
			delete(params, "sessionId")
			if value != "new" {
				params["sessionId"] = value
			}
		case "maxTurns", "maxTokens", "maxSeconds", "maxCost":
			params["budget"] = map[string]any{key: json.RawMessage(value)}
		case "token":
			params["workDoneToken"] = value
			s.editor.record.created(value)
		case "context":
			params["context"] = json.RawMessage(value)
		default:
			params[key] = value
		}
	}
	var r Run
	if err := s.editor.Request("agent/run/start", params, &r); err != nil {
		return err
	}
	s.current, s.session = r, r.SessionID
	return nil
}

func (s *scenario) stepWait([]string) error {
	s.result = s.editor.WaitRun(s.current)
	return nil
}

func (s *scenario) stepCancel([]string) error {
	return s.editor.Request("agent/run/cancel", map[string]any{"runId": s.current.RunID}, &s.answer)
}

func (s *scenario) stepSteer(a []string) error {
	return s.editor.Request("agent/run/steer", map[string]any{"runId": s.current.RunID, "prompt": a[0]}, &s.answer)
}

func (s *scenario) stepAsync(a []string) error {
	switch a[0] {
	case "resolve":
		ds, revision, save, err := s.decisions(a[1:])
		if err == nil {
			s.pending = s.editor.CallResolve(s.session, revision, ds, save)
		}
		return err
	case "request":
		s.pending = s.editor.Call(a[1], json.RawMessage(a[2]))
		return nil
	case "wait":
		s.pending = s.editor.Call("agent/run/wait", map[string]any{"runId": s.current.RunID})
		return nil
	}
	return fmt.Errorf("%q cannot be left to itself", a[0])
}

func (s *scenario) stepFinish([]string) error {
	if err := s.pending.Wait(&s.answer); err != nil {
		return err
	}
	// A resolve's answer; others have no results.
	return json.Unmarshal(s.answer, &s.decided)
}

func (s *scenario) stepRequest(a []string) error {
	var params any
	if len(a) > 1 {
		params = json.RawMessage(a[1])
	}
	return s.editor.Request(a[0], params, &s.answer)
}

func (s *scenario) stepNotify(a []string) error {
	var params any
	if len(a) > 1 {
		params = json.RawMessage(a[1])
	}
	s.editor.Notify(a[0], params)
	return nil
}

func (s *scenario) stepApplyEdit(a []string) error {
	b := Behaviour{Kind: BehaviourKind(a[0])}
	if len(a) > 1 {
		b.Text = a[1]
	}
	if len(a) > 3 {
		at, err := positionIn(a[3])
		if err != nil {
			return err
		}
		b.Path, b.At = a[2], at
	}
	s.editor.Behave(b)
	return nil
}

// stepAnswer answers the next question in the form that it was asked in.
func (s *scenario) stepAnswer(a []string) error {
	f, answer := s.editor.AwaitQuestion()
	if f.Method == "window/showMessageRequest" {
		var p struct {
			Actions []struct {
				Title string `json:"title"`
			} `json:"actions"`
		}
		if err := json.Unmarshal(f.Params, &p); err != nil {
			return err
		}
		for _, action := range p.Actions {
			if action.Title == a[0] {
				answer(map[string]any{"title": a[0]})
				return nil
			}
		}
		return fmt.Errorf("%q is none of the answers: %s", a[0], f.Params)
	}
	answer(map[string]any{"answer": a[0]})
	return nil
}

func (s *scenario) stepDismiss([]string) error {
	f, answer := s.editor.AwaitQuestion()
	if f.Method == "window/showMessageRequest" {
		answer(nil)
		return nil
	}
	answer(map[string]any{"cancelled": true})
	return nil
}

func (s *scenario) stepPermit(a []string) error {
	f, answer := s.editor.AwaitQuestion()
	if f.Method != "agent/permission/request" {
		return errors.New("asked is " + f.Method)
	}
	answer(map[string]any{"optionId": a[0]})
	return nil
}

// stepRestart is the editor started again: what was not saved is lost.
func (s *scenario) stepRestart([]string) error {
	s.editor.Close()
	s.editor, s.over = nil, false
	s.start()
	return nil
}

// created takes down a progress token that the client made.
func (r *record) created(token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow.progress[string(mustJSON(token))] = "created"
}
