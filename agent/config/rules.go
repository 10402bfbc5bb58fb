package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agent/llm/baseurl"
)

// checks say what is wrong with a value, or "". None repeats a value that may
// be a key put into the wrong place.
var checks = map[string]func(v any) string{
	"provider":                oneOf(providerNames()...),
	"baseURL":                 checkBaseURL,
	"apiKeyEnv":               checkVariable,
	"caFile":                  checkPath,
	"contextWindow":           notNegative,
	"budget.maxTurns":         notNegative,
	"budget.maxTokens":        notNegative,
	"budget.maxSeconds":       notNegative,
	"budget.maxCost":          notNegative,
	"permissions.default":     oneOf("auto", "ask", "deny"),
	"commands.sandbox":        oneOf("auto", "overlay", "copy", "off"),
	"commands.timeoutSeconds": notNegative,
	"timeouts.idleSeconds":    notNegative,
	"timeouts.toolSeconds":    notNegative,
}

func oneOf(names ...string) func(any) string {
	return func(v any) string {
		if s := v.(string); s != "" && !slices.Contains(names, s) {
			return fmt.Sprintf("%q is none of %s", s, strings.Join(names, ", "))
		}
		return ""
	}
}

func notNegative(v any) string {
	negative := false
	switch v := v.(type) {
	case int64:
		negative = v < 0
	case float64:
		negative = v < 0
	}
	if negative {
		return "must not be negative"
	}
	return ""
}

func checkBaseURL(v any) string {
	if v.(string) == "" {
		return ""
	}
	if _, err := baseurl.Parse(v.(string)); err != nil {
		return err.Error()
	}
	return ""
}

func checkPath(v any) string {
	if s := v.(string); s != "" && !filepath.IsAbs(s) && !strings.HasPrefix(s, "~/") {
		return "has to be an absolute path, or one that begins with ~/"
	}
	return ""
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func checkVariable(v any) string {
	if s := v.(string); s != "" && !variable.MatchString(s) {
		return "this names an environment variable that holds the key, it is not the place for a key"
	}
	return ""
}

func providerNames() []string {
	var names []string
	for _, p := range Presets {
		names = append(names, p.Name)
	}
	return names
}

// userOnly are keys that a workspace file cannot set: they say where requests
// go and what they carry, or allow more than the user did.
var userOnly = []string{"provider", "baseURL", "apiKeyEnv", "headers", "caFile", "permissions.allow"}

// strictness orders the values of a key from what allows most.
var strictness = map[string][]string{
	"permissions.default": {"auto", "ask", "deny"},
	"commands.sandbox":    {"off", "copy", "overlay", "auto"},
	"commands.network":    {"true", "false"},
}

// forbidden says why the source must not set a key to a value, or "".
func (b *binder) forbidden(path string, n node) string {
	if b.scope != scopeWorkspace || n.kind == kindNull {
		return ""
	}
	if slices.Contains(userOnly, path) {
		return fmt.Sprintf("a workspace file cannot set %s: put it into %s", path, b.userFile)
	}
	order, ok := strictness[path]
	if !ok {
		return ""
	}
	value := n.str
	if n.kind == kindBool {
		value = fmt.Sprint(n.truth)
	}
	current := fmt.Sprint(valueAt(reflect.ValueOf(b.config), path))
	if i := slices.Index(order, value); i >= 0 && i < slices.Index(order, current) {
		return fmt.Sprintf("a workspace file cannot allow more than you do: %s stays %s (it can be set in %s)", path, current, b.userFile)
	}
	return ""
}

// valueAt follows a path of JSON names.
func valueAt(v reflect.Value, path string) any {
	for _, key := range strings.Split(path, ".") {
		v = fieldOf(v, key)
	}
	return v.Interface()
}

// suggestion names the known key that an unknown one was meant to be.
func suggestion(path, key string) string {
	t := reflect.TypeOf(Config{})
	for _, part := range strings.Split(path, ".") {
		if f := structField(t, part); f != nil {
			t = f
		}
	}
	best, distance := "", 3
	for _, name := range names(t) {
		if d := editDistance(strings.ToLower(key), strings.ToLower(name)); d < distance {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

func structField(t reflect.Type, name string) reflect.Type {
	for i := range t.NumField() {
		if f := t.Field(i); jsonName(f) == name && f.Type.Kind() == reflect.Struct {
			return f.Type
		}
	}
	return nil
}

// names lists the keys of a struct, those of an embedded one first.
func names(t reflect.Type) []string {
	var list []string
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			list = append(list, names(f.Type)...)
		} else if n := jsonName(f); n != "" {
			list = append(list, n)
		}
	}
	return list
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
