package lspserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/agent/prompt"
	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/tools/text"
)

// imageTypes are what models take.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// runRequest reads what run/start asks for.
func (s *server) runRequest(p ext.RunStartParams) (agent.Request, error) {
	var req agent.Request
	blocks, err := promptBlocks(p.Prompt)
	if err != nil {
		return req, err
	}
	if p.Mode != "" {
		if req.Mode, err = oneOf("mode", p.Mode, agent.ModeAgent, agent.ModePlan, agent.ModeAsk); err != nil {
			return req, err
		}
	}
	if p.Review != "" {
		if req.Review, err = oneOf("review", p.Review, agent.ReviewEnd, agent.ReviewStep, agent.ReviewAuto); err != nil {
			return req, err
		}
	}
	if req.Budget, err = s.budget(p.Budget); err != nil {
		return req, err
	}
	req.Model = p.Model
	var front prompt.Context
	if p.Context != nil {
		front = s.inFront(*p.Context)
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			req.Prompt = append(req.Prompt, llm.Text{Text: b.Text})
		case "resource":
			front.Resources = append(front.Resources, s.resource(b))
		case "image":
			img, err := image(b)
			if err != nil {
				return req, err
			}
			req.Prompt = append(req.Prompt, img)
		default:
			return req, invalidParams("prompt: a block of type %q: text, resource or image", b.Type)
		}
	}
	req.Context = front.Render()
	return req, nil
}

// promptBlocks reads a prompt: a string, or blocks.
func promptBlocks(raw json.RawMessage) ([]ext.Block, error) {
	var blocks []ext.Block
	var one string
	if json.Unmarshal(raw, &one) == nil {
		blocks = []ext.Block{{Type: "text", Text: one}}
	} else if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, invalidParams("prompt: a string or a list of blocks: %v", err)
	}
	said := slices.ContainsFunc(blocks, func(b ext.Block) bool {
		return b.Type != "text" || strings.TrimSpace(b.Text) != ""
	})
	if !said {
		return nil, invalidParams("prompt: say what to do")
	}
	return blocks, nil
}

// promptText is a prompt that may hold nothing but text.
func promptText(raw json.RawMessage) (string, error) {
	blocks, err := promptBlocks(raw)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, b := range blocks {
		if b.Type != "text" {
			return "", invalidParams("prompt: a run under way takes text, not a %q block", b.Type)
		}
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n"), nil
}

func image(b ext.Block) (llm.Image, error) {
	if !slices.Contains(imageTypes, b.MIMEType) {
		return llm.Image{}, invalidParams("prompt: an image of type %q: one of %s", b.MIMEType, strings.Join(imageTypes, ", "))
	}
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		return llm.Image{}, invalidParams("prompt: an image that is not base64: %v", err)
	}
	return llm.Image{MIMEType: b.MIMEType, Data: data}, nil
}

func (s *server) budget(b *ext.Budget) (agent.Budget, error) {
	c := s.resolved().Budget
	limits := agent.Budget{MaxTurns: c.MaxTurns, MaxTokens: c.MaxTokens, MaxSeconds: c.MaxSeconds, MaxCost: c.MaxCost}
	if b == nil {
		return limits, nil
	}
	set(&limits.MaxTurns, b.MaxTurns)
	set(&limits.MaxTokens, b.MaxTokens)
	set(&limits.MaxSeconds, b.MaxSeconds)
	set(&limits.MaxCost, b.MaxCost)
	if limits.MaxTurns < 0 || limits.MaxTokens < 0 || limits.MaxSeconds < 0 || limits.MaxCost < 0 {
		return limits, invalidParams("budget: a limit below 0; 0 is none")
	}
	return limits, nil
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// inFront renders what the user has in front of them.
func (s *server) inFront(c ext.RunContext) prompt.Context {
	var out prompt.Context
	if c.Document != nil {
		out.Document = s.activeDocument(*c.Document)
	}
	for _, uri := range c.Open {
		out.Open = append(out.Open, s.displayURI(uri))
	}
	for _, of := range c.Diagnostics {
		for _, d := range of.Diagnostics {
			out.Diagnostics = append(out.Diagnostics, prompt.Diagnostic{
				Path:     s.displayURI(of.URI),
				Line:     int(d.Range.Start.Line) + 1,
				Column:   int(d.Range.Start.Character) + 1,
				Severity: severity(d.Severity),
				Source:   d.Source,
				Code:     strings.Trim(string(d.Code), `"`),
				Message:  d.Message,
			})
		}
	}
	return out
}

// severity names LSP's DiagnosticSeverity.
func severity(n int) string {
	names := []string{"", "error", "warning", "information", "hint"}
	if n < 0 || n >= len(names) {
		return ""
	}
	return names[n]
}

func (s *server) activeDocument(d ext.ContextDocument) *prompt.Document {
	out := &prompt.Document{Path: s.displayURI(d.URI)}
	if snap, ok := s.docs.GetURI(d.URI); ok {
		out.LanguageID = snap.LanguageID
	}
	doc, ok := s.documentText(d.URI)
	if !ok {
		return out
	}
	if d.Position != nil {
		offset, _ := doc.Offset(text.Position(*d.Position), s.client.encoding)
		at := doc.LineAt(offset)
		start, _, _ := doc.Line(at)
		out.Line, out.Column = at+1, len([]rune(doc.String()[start:offset]))+1
	}
	out.Selection = s.excerpt(doc, d.Selection)
	out.Visible = s.excerpt(doc, d.VisibleRange)
	return out
}

// excerpt is the text of a range, nil for an empty one.
func (s *server) excerpt(doc *text.Document, r *ext.Range) *prompt.Excerpt {
	if r == nil || r.Start == r.End {
		return nil
	}
	return &prompt.Excerpt{First: int(r.Start.Line) + 1, Last: int(r.End.Line) + 1, Text: s.slice(doc, *r)}
}

// resource is a document that the prompt names: the user chose it, yet it is
// no reason to read outside of the workspace.
func (s *server) resource(b ext.Block) prompt.Resource {
	out := prompt.Resource{Path: s.displayURI(b.URI)}
	doc, err := s.readable(b.URI)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	out.Text = doc.String()
	if b.Range != nil {
		out.First, out.Last = int(b.Range.Start.Line)+1, int(b.Range.End.Line)+1
		out.Text = s.slice(doc, *b.Range)
	}
	return out
}

func (s *server) readable(uri string) (*text.Document, error) {
	if snap, ok := s.docs.GetURI(uri); ok {
		return snap.Doc, nil
	}
	path, err := s.pathOf(uri)
	if err != nil {
		return nil, err
	}
	doc, err := s.workspace.Base(path)
	if err != nil {
		return nil, err
	}
	if !doc.Exists && !doc.Open {
		return nil, fmt.Errorf("%s: not found", s.workspace.Display(path))
	}
	return text.New(doc.Text), nil
}

// systemPrompt is asked for once in a session's life.
func (s *server) systemPrompt() string {
	env := prompt.Environment{OS: runtime.GOOS}
	for _, f := range s.workspace.Folders() {
		env.Folders = append(env.Folders, f.Name)
	}
	return prompt.System(env)
}

// instructions are the AGENTS.md files for one session.
func (s *server) instructions() *prompt.Instructions {
	var roots []string
	for _, r := range s.workspace.Roots() {
		roots = append(roots, r.Abs)
	}
	return prompt.NewInstructions(prompt.Sources{
		Folders: roots,
		Names:   s.resolved().Instructions,
		Read:    s.readInstruction,
		Display: s.workspace.Display,
	})
}

// readInstruction reads through the jail: a link that leads out is not there.
func (s *server) readInstruction(path string) (string, bool) {
	p, err := s.workspace.Resolve(path)
	if err != nil {
		return "", false
	}
	doc, err := s.workspace.Base(p.Abs)
	return doc.Text, err == nil && (doc.Exists || doc.Open)
}
