package scripted

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Parse reads a script in the text format of the package comment. Errors name
// the line.
func Parse(text []byte) (Script, error) {
	p := parser{lines: strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")}
	for p.next < len(p.lines) {
		line := strings.TrimSpace(p.lines[p.next])
		p.next++
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := p.next
		if err := p.directive(line); err != nil {
			return Script{}, fmt.Errorf("script line %d: %w", at, err)
		}
	}
	return p.script, nil
}

type parser struct {
	lines  []string
	next   int
	script Script
}

func (p *parser) directive(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if f, ok := scriptDirectives[word]; ok {
		return f(p, rest)
	}
	f, ok := replyDirectives[word]
	if !ok {
		return fmt.Errorf("%q is no directive", word)
	}
	if len(p.script.Replies) == 0 {
		return fmt.Errorf("%q before the first reply", word)
	}
	return f(p, &p.script.Replies[len(p.script.Replies)-1], rest)
}

var scriptDirectives = map[string]func(p *parser, arg string) error{
	"strict": func(p *parser, _ string) error {
		p.script.Strict = true
		return nil
	},
	"chunk": func(p *parser, arg string) (err error) {
		p.script.Chunk, err = strconv.Atoi(arg)
		return err
	},
	"wire": func(p *parser, arg string) (err error) {
		p.script.Wire, err = strconv.Atoi(arg)
		return err
	},
	"model": (*parser).model,
	"reply": (*parser).reply,
}

var replyDirectives = map[string]func(p *parser, r *Reply, arg string) error{
	"say":   textStep(Say),
	"think": textStep(Think),
	"raw":   textStep(func(s string) Step { return Raw(s + "\n") }),
	"call":  (*parser).call,
	"usage": (*parser).usage,
	"finish": func(_ *parser, r *Reply, arg string) error {
		r.Finish = arg
		return nil
	},
	"hold": func(_ *parser, r *Reply, arg string) error {
		if arg == "" {
			return fmt.Errorf("hold needs a name")
		}
		r.Steps = append(r.Steps, Hold(arg))
		return nil
	},
	"delay": func(_ *parser, r *Reply, arg string) error {
		d, err := time.ParseDuration(arg)
		r.Steps = append(r.Steps, Delay(d))
		return err
	},
	"cut": func(_ *parser, r *Reply, _ string) error {
		r.Steps = append(r.Steps, Cut())
		return nil
	},
	"end": func(_ *parser, r *Reply, _ string) error {
		r.Steps = append(r.Steps, End())
		return nil
	},
	"status": (*parser).status,
	"header": (*parser).header,
}

func textStep(step func(string) Step) func(*parser, *Reply, string) error {
	return func(p *parser, r *Reply, arg string) error {
		text, err := p.argument(arg)
		r.Steps = append(r.Steps, step(text))
		return err
	}
}

// argument is the rest of a line, a Go string, or the lines up to <<WORD's end.
func (p *parser) argument(arg string) (string, error) {
	if word, ok := strings.CutPrefix(arg, "<<"); ok && word != "" && !strings.Contains(word, " ") {
		for i := p.next; i < len(p.lines); i++ {
			if strings.TrimSpace(p.lines[i]) == word {
				text := strings.Join(p.lines[p.next:i], "\n")
				p.next = i + 1
				return text, nil
			}
		}
		return "", fmt.Errorf("no line %q ends the text", word)
	}
	if strings.HasPrefix(arg, `"`) {
		return strconv.Unquote(arg)
	}
	return arg, nil
}

func (p *parser) reply(arg string) error {
	when := ""
	if arg != "" {
		w, ok := strings.CutPrefix(arg, "when ")
		if !ok {
			return fmt.Errorf("reply takes nothing but: when SUBSTRING")
		}
		var err error
		if when, err = p.argument(strings.TrimSpace(w)); err != nil {
			return err
		}
	}
	p.script.Replies = append(p.script.Replies, Reply{When: when})
	return nil
}

func (p *parser) model(arg string) error {
	fields := strings.Fields(arg)
	if len(fields) == 0 {
		return fmt.Errorf("model needs a name")
	}
	m := Model{ID: fields[0]}
	err := settings(fields[1:], map[string]*int{"window": &m.Window})
	p.script.Models = append(p.script.Models, m)
	return err
}

func (p *parser) call(r *Reply, arg string) error {
	name, rest, _ := strings.Cut(arg, " ")
	if strings.HasPrefix(arg, `"`) {
		quoted, err := strconv.QuotedPrefix(arg)
		if err != nil {
			return err
		}
		rest = arg[len(quoted):]
		if name, err = strconv.Unquote(quoted); err != nil {
			return err
		}
	}
	args, err := p.argument(strings.TrimSpace(rest))
	r.Steps = append(r.Steps, Call(name, args))
	return err
}

func (p *parser) usage(r *Reply, arg string) error {
	r.Usage = &Usage{}
	return settings(strings.Fields(arg), map[string]*int{
		"in": &r.Usage.Input, "out": &r.Usage.Output, "cached": &r.Usage.Cached, "reasoning": &r.Usage.Reasoning})
}

func (p *parser) status(r *Reply, arg string) error {
	code, body, _ := strings.Cut(arg, " ")
	var err error
	if r.Status, err = strconv.Atoi(code); err != nil {
		return err
	}
	r.Body, err = p.argument(strings.TrimSpace(body))
	return err
}

func (p *parser) header(r *Reply, arg string) error {
	name, value, ok := strings.Cut(arg, ":")
	if !ok {
		return fmt.Errorf("header needs NAME: VALUE")
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	return nil
}

// settings reads name=number fields.
func settings(fields []string, into map[string]*int) error {
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		dst, ok := into[name]
		if !ok {
			return fmt.Errorf("%q is not known here", name)
		}
		var err error
		if *dst, err = strconv.Atoi(value); err != nil {
			return err
		}
	}
	return nil
}
