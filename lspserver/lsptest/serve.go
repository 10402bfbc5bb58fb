package lsptest

import (
	"encoding/json"
	"fmt"
)

// serve answers a request of the server. It runs in a goroutine of its own:
// some answers wait for a person.
func (e *Editor) serve(f Frame) {
	switch f.Method {
	case "workspace/applyEdit":
		e.serveEdit(f)
	case "workspace/configuration":
		e.reply(f, e.configuration(f))
	case "window/showMessageRequest", "agent/ask", "agent/permission/request":
		if v, ok := e.ask(f); ok {
			e.reply(f, v)
		}
	case "window/showDocument":
		e.showDocument(f)
	case "window/workDoneProgress/create":
		e.record.progress(f, "create")
		e.reply(f, nil)
	case "agent/editor/save":
		e.serveSave(f)
	case "workspace/codeLens/refresh", "workspace/textDocumentContent/refresh", "client/registerCapability", "client/unregisterCapability":
		e.reply(f, nil)
	default:
		e.replyError(f, -32601, "method not found: "+f.Method)
	}
}

// notified takes a notification that has rules of its own.
func (e *Editor) notified(f Frame) {
	switch f.Method {
	case "$/progress":
		e.record.progress(f, "")
	case "agent/event":
		if e.profile.Agent == nil {
			e.record.breach("an agent/event for a client that did not announce experimental.agent")
		}
	}
}

// progress takes down what became of a work-done progress.
func (r *record) progress(f Frame, kind string) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind string `json:"kind"`
		} `json:"value"`
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := json.Unmarshal(f.Params, &p); err != nil {
		r.breachLocked("%s: %v", f.Method, err)
		return
	}
	if kind == "create" {
		if r.follow.progress[string(p.Token)] != "" {
			r.breachLocked("progress %s is created twice", p.Token)
		}
		r.follow.progress[string(p.Token)] = "created"
		return
	}
	r.follow.progressed(string(p.Token), p.Value.Kind, r.breachLocked)
	r.touch()
}

// reply answers a request of the server. A connection that has ended takes no
// answers any more.
func (e *Editor) reply(f Frame, result any) {
	_ = e.send(map[string]any{"id": f.ID, "result": result})
}

func (e *Editor) replyError(f Frame, code int, message string) {
	_ = e.send(map[string]any{"id": f.ID, "error": map[string]any{"code": code, "message": message}})
}

func (e *Editor) configuration(f Frame) []any {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	if err := json.Unmarshal(f.Params, &p); err != nil {
		e.record.breach("workspace/configuration: %v", err)
	}
	values := make([]any, len(p.Items))
	for i, item := range p.Items {
		if item.Section == "agentls" {
			values[i] = e.opts.Settings
		}
	}
	return values
}

func (e *Editor) showDocument(f Frame) {
	var p struct {
		URI       string `json:"uri"`
		TakeFocus bool   `json:"takeFocus"`
	}
	if err := json.Unmarshal(f.Params, &p); err != nil {
		e.record.breach("window/showDocument: %v", err)
	}
	if p.TakeFocus {
		e.record.breach("the server takes the focus for %s: what the user types would go there", p.URI)
	}
	e.reply(f, map[string]any{"success": true})
}

// serveSave saves what the server asks for.
func (e *Editor) serveSave(f Frame) {
	var p struct {
		URIs []string `json:"uris"`
	}
	if err := json.Unmarshal(f.Params, &p); err != nil {
		e.record.breach("agent/editor/save: %v", err)
	}
	saved, failed := []string{}, []map[string]string{}
	e.docs.mu.Lock()
	for _, uri := range p.URIs {
		doc := e.docs.byURI(uri)
		err := fmt.Errorf("not open")
		if doc != nil {
			err = e.save(doc)
		}
		if err != nil {
			failed = append(failed, map[string]string{"uri": uri, "reason": err.Error()})
			continue
		}
		saved = append(saved, uri)
	}
	e.docs.mu.Unlock()
	e.reply(f, map[string]any{"saved": saved, "failed": failed})
	e.record.poke()
}
