package config

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// builtin is the origin of what no source set.
const builtin = "built in"

// Origin says where the value of a key came from: "budget.maxTurns".
func (r *Resolved) Origin(key string) string {
	if o := r.origins[key]; o != "" {
		return o
	}
	return builtin
}

// Explain writes each value with where it came from, one to a line. Keys and
// what looks like one are masked.
func (r *Resolved) Explain(w io.Writer) error {
	lines := r.explainConnection()
	lines = append(lines, r.explain("", reflect.ValueOf(r.Config))...)
	width := 0
	for _, l := range lines {
		width = max(width, min(len(l.key)+3+len(l.value), 60))
	}
	for _, l := range lines {
		if _, err := fmt.Fprintf(w, "%-*s  # %s\n", width, l.key+" = "+l.value, l.origin); err != nil {
			return err
		}
	}
	return nil
}

type line struct{ key, value, origin string }

// explainConnection is what the endpoint will be, presets included.
func (r *Resolved) explainConnection() []line {
	e := r.Configured()
	preset := "the preset of " + r.Provider
	set := func(key, value string) line {
		origin := r.Origin(key)
		switch {
		case value == "" && key == "provider":
			return line{key, `""`, "not set: a local server is looked for"}
		case value == "":
			return line{key, `""`, "not set"}
		case origin == builtin:
			origin = preset
		}
		return line{key, quote(value), origin}
	}
	lines := []line{set("provider", e.Provider), set("model", e.Model), set("baseURL", redacted(e.BaseURL))}
	if r.APIKeyEnv != "" {
		lines = append(lines, set("apiKeyEnv", r.APIKeyEnv))
	}
	switch {
	case !r.conn.key.IsZero():
		lines = append(lines, line{"key", masked, r.conn.keyEnv})
	case r.conn.err != nil:
		lines = append(lines, line{"key", `""`, r.conn.err.Error()})
	default:
		lines = append(lines, line{"key", `""`, "none is sent"})
	}
	lines = append(lines, line{"contextWindow", fmt.Sprint(r.ContextWindow), r.Origin("contextWindow")})
	for _, name := range sortedKeys(reflect.ValueOf(r.Headers)) {
		lines = append(lines, line{"headers." + name, masked, r.Origin("headers." + name)})
	}
	if r.CAFile != "" {
		lines = append(lines, set("caFile", r.CAFile))
	}
	return lines
}

// explain walks what is not the connection's, in the order of the struct.
func (r *Resolved) explain(path string, v reflect.Value) []line {
	var lines []line
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			continue
		}
		key, value := join(path, jsonName(f)), v.Field(i)
		switch value.Kind() {
		case reflect.Struct:
			lines = append(lines, r.explain(key, value)...)
		case reflect.Map:
			for _, name := range sortedKeys(value) {
				entry := join(key, name)
				lines = append(lines, line{entry, entryText(name, value.MapIndex(reflect.ValueOf(name))), r.Origin(entry)})
			}
		case reflect.Slice:
			lines = append(lines, r.explainList(key, value)...)
		default:
			lines = append(lines, line{key, encode(value.Interface()), r.Origin(key)})
		}
	}
	return lines
}

// explainList names the origin of each rule, since rules add up, and of other
// lists as a whole.
func (r *Resolved) explainList(key string, v reflect.Value) []line {
	if !strings.HasPrefix(key, "permissions.") {
		return []line{{key, encode(v.Interface()), r.Origin(key)}}
	}
	var lines []line
	for i := range v.Len() {
		entry := fmt.Sprintf("%s[%d]", key, i)
		lines = append(lines, line{entry, quote(v.Index(i).String()), r.Origin(entry)})
	}
	return lines
}

var secretName = regexp.MustCompile(`(?i)key|token|secret|passw|credential|auth`)

// entryText shows an entry of a map without what may be a secret.
func entryText(name string, v reflect.Value) string {
	switch e := v.Interface().(type) {
	case string:
		if secretName.MatchString(name) {
			return masked
		}
	case MCPServer:
		hidden := map[string]string{}
		for k := range e.Env {
			hidden[k] = masked
		}
		e.Env = hidden
		return encode(e)
	}
	return encode(v.Interface())
}

func sortedKeys(m reflect.Value) []string {
	var names []string
	for _, k := range m.MapKeys() {
		names = append(names, k.String())
	}
	slices.Sort(names)
	return names
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// redacted is a base URL without a password.
func redacted(base string) string {
	if u, err := url.Parse(base); err == nil {
		return u.Redacted()
	}
	return base
}

func quote(s string) string { return encode(s) }
