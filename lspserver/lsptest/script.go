package lsptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// line is one step of a script.
type line struct {
	number int
	// fails: the step starts with "!" and has to be answered with an error.
	fails bool
	words []string
}

// parseScript reads a script: a step a line, words apart by spaces, a word
// with spaces in it as a Go string, a JSON object or list as it is. "#" begins a comment.
func parseScript(text string, first int) ([]line, error) {
	var lines []line
	for i, source := range strings.Split(text, "\n") {
		l := line{number: first + i}
		rest := strings.TrimSpace(source)
		if after, ok := strings.CutPrefix(rest, "!"); ok {
			l.fails, rest = true, strings.TrimSpace(after)
		}
		words, err := splitWords(rest)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", l.number, err)
		}
		if l.words = words; len(words) > 0 {
			lines = append(lines, l)
		}
	}
	return lines, nil
}

func splitWords(s string) ([]string, error) {
	var words []string
	for {
		s = strings.TrimLeft(s, " \t")
		switch {
		case s == "" || s[0] == '#':
			return words, nil
		case s[0] == '{' || s[0] == '[':
			n := jsonLength(s)
			words, s = append(words, s[:n]), s[n:]
		case s[0] == '"' || s[0] == '`':
			quoted, err := strconv.QuotedPrefix(s)
			if err != nil {
				return nil, errors.New("a string without end")
			}
			word, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, err
			}
			words, s = append(words, word), s[len(quoted):]
		default:
			// A value may be quoted, or JSON: text="a b" context={"a": 1}.
			end := strings.IndexAny(s, " \t")
			if end < 0 {
				end = len(s)
			}
			word := s[:end]
			if key, value, ok := strings.Cut(s, "={"); ok && !strings.ContainsAny(key, " \t") {
				end = len(key) + 1 + jsonLength("{"+value)
				word = s[:end]
			} else if key, value, ok := strings.Cut(s, `="`); ok && !strings.ContainsAny(key, " \t") {
				quoted, err := strconv.QuotedPrefix(`"` + value)
				if err != nil {
					return nil, errors.New("a string without end")
				}
				text, err := strconv.Unquote(quoted)
				if err != nil {
					return nil, err
				}
				word, end = key+"="+text, len(key)+1+len(quoted)
			}
			words, s = append(words, word), s[end:]
		}
	}
}

// jsonLength is the length of the JSON value that s begins with, or of all of
// it where it begins with none.
func jsonLength(s string) int {
	d := json.NewDecoder(strings.NewReader(s))
	var v json.RawMessage
	if d.Decode(&v) != nil {
		return len(s)
	}
	return int(d.InputOffset())
}

// unescape reads a section whose name ends in (escaped): a Go string without
// its quotes, in which line breaks mean nothing.
func unescape(s string) (string, error) {
	s = strings.ReplaceAll(s, "\n", "")
	return strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(s, `\"`, `"`), `"`, `\"`) + `"`)
}

// rangeOf reads L:C or L:C-L:C.
func rangeOf(s string) (Range, error) {
	from, to, isRange := strings.Cut(s, "-")
	start, err := positionIn(from)
	if err != nil || !isRange {
		return Range{start, start}, err
	}
	end, err := positionIn(to)
	return Range{start, end}, err
}

func positionIn(s string) (Position, error) {
	l, c, ok := strings.Cut(s, ":")
	line, err1 := strconv.Atoi(l)
	char, err2 := strconv.Atoi(c)
	if !ok || err1 != nil || err2 != nil {
		return Position{}, fmt.Errorf("%q is no position LINE:CHARACTER", s)
	}
	return Position{line, char}, nil
}
