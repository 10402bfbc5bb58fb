package lsptest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

func (s *scenario) stepCommand(a []string) error {
	arguments := []any{}
	for _, w := range a[1:] {
		if strings.HasPrefix(w, "{") {
			arguments = append(arguments, json.RawMessage(w))
			continue
		}
		arguments = append(arguments, w)
	}
	return s.execute(command{Command: a[0], Arguments: mustJSON(arguments)})
}

// command is LSP's.
type command struct {
	Title     string          `json:"title"`
	Command   string          `json:"command"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// execute runs a command. One that starts a run makes it the current one.
func (s *scenario) execute(c command) error {
	params := map[string]any{"command": c.Command}
	if len(c.Arguments) > 0 {
		params["arguments"] = c.Arguments
	}
	if err := s.editor.Request("workspace/executeCommand", params, &s.answer); err != nil {
		return err
	}
	var r Run
	if json.Unmarshal(s.answer, &r) == nil && r.RunID != "" {
		s.current, s.session = r, r.SessionID
	}
	return nil
}

func (s *scenario) lenses(file string) ([]command, error) {
	var lenses []struct {
		Command command `json:"command"`
	}
	err := s.editor.Request("textDocument/codeLens", map[string]any{"textDocument": map[string]any{"uri": URI(s.editor.Abs(file))}}, &lenses)
	commands := make([]command, len(lenses))
	for i, l := range lenses {
		commands[i] = l.Command
	}
	return commands, err
}

func (s *scenario) stepLens(a []string) error {
	commands, err := s.lenses(a[0])
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(a[1])
	if err != nil || n < 1 || n > len(commands) {
		return fmt.Errorf("there are %d lenses", len(commands))
	}
	return s.execute(commands[n-1])
}

func (s *scenario) actions(file, at, problem string) ([]command, error) {
	r, err := rangeOf(at)
	if err != nil {
		return nil, err
	}
	problems := []map[string]any{}
	if problem != "" {
		problems = append(problems, map[string]any{"range": r, "severity": 1, "message": problem})
	}
	var raw []json.RawMessage
	err = s.editor.Request("textDocument/codeAction", map[string]any{
		"textDocument": map[string]any{"uri": URI(s.editor.Abs(file))}, "range": r, "context": map[string]any{"diagnostics": problems},
	}, &raw)
	var commands []command
	for _, item := range raw {
		// A command by itself, or an action that holds one.
		var action struct {
			Title   string          `json:"title"`
			Command json.RawMessage `json:"command"`
		}
		var c command
		if json.Unmarshal(item, &action) == nil && len(action.Command) > 0 && action.Command[0] == '{' {
			item = action.Command
		}
		if err := json.Unmarshal(item, &c); err != nil {
			return nil, err
		}
		if action.Title != "" {
			c.Title = action.Title
		}
		commands = append(commands, c)
	}
	return commands, err
}

func (s *scenario) stepAction(a []string) error {
	problem := ""
	if len(a) > 3 {
		problem = a[3]
	}
	commands, err := s.actions(a[0], a[1], problem)
	if err != nil {
		return err
	}
	for _, c := range commands {
		if c.Title == a[2] {
			return s.execute(c)
		}
	}
	return fmt.Errorf("it is not among %+v", commands)
}
