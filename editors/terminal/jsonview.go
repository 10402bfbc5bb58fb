package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/agentls/agentls/lspserver/ext"
)

// jsonView writes a line of JSON for each event, as it came, and a last one
// that says how the run ended.
type jsonView struct {
	out, err io.Writer
	last     jsonResult
}

// jsonResult is the last line: the run's result, what became of the proposal,
// and the exit status. It is written whatever happens.
type jsonResult struct {
	Type     string `json:"type"` // result
	ExitCode int    `json:"exitCode"`
	ext.RunResult
	// Pending is what nobody has decided.
	Pending *ext.Proposal `json:"pending,omitempty"`
	// Results are what became of decisions.
	Results []ext.Result `json:"results,omitempty"`
}

func (v *jsonView) event(e event) {
	var b bytes.Buffer
	if json.Compact(&b, e.raw) == nil {
		v.line(b.Bytes())
	}
}

func (v *jsonView) line(b []byte) { _, _ = v.out.Write(append(b, '\n')) }

func (v *jsonView) remark(format string, args ...any) {
	_, _ = fmt.Fprintln(v.err, safe(fmt.Sprintf(format, args...)))
}

func (v *jsonView) ended(res ext.RunResult) { v.last.RunResult = res }
func (v *jsonView) proposed(ext.Proposal)   {}
func (v *jsonView) pending(p ext.Proposal)  { v.last.Pending = &p }
func (v *jsonView) settled(p ext.Proposal, results []ext.Result) {
	v.last.SessionID = p.SessionID
	v.last.Results = append(v.last.Results, results...)
}

func (v *jsonView) end(code int, err error) {
	v.last.Type, v.last.ExitCode = "result", code
	if err != nil {
		v.last.StopReason = "error"
		v.last.Error = runError{Class: "internal", Message: err.Error()}
	}
	v.line(encode(v.last))
}
