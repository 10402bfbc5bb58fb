package config

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// binder puts the values of one source into the configuration.
type binder struct {
	*loader
	name  string
	text  []byte
	scope scope
	lines bool // the source has lines worth naming
	layer layer
}

// where names a place in the source.
func (b *binder) where(offset int) string {
	if !b.lines {
		return b.name
	}
	line, _ := position(b.text, offset)
	return fmt.Sprintf("%s:%d", b.name, line)
}

func (b *binder) problem(offset int, key, format string, args ...any) {
	p := Problem{Source: b.name, Key: key, Message: fmt.Sprintf(format, args...)}
	if b.lines {
		p.Line, p.Column = position(b.text, offset)
	}
	b.problems = append(b.problems, p)
}

// root takes the top of a source. What concerns the connection goes to the
// source's layer, all else into the configuration.
func (b *binder) root(n node) {
	b.layer = layer{scope: b.scope, origins: map[string]string{}}
	b.object("", n, func(key string) reflect.Value {
		if v := fieldOf(reflect.ValueOf(&b.layer.Connection).Elem(), key); v.IsValid() {
			return v
		}
		return fieldOf(reflect.ValueOf(&b.config).Elem(), key)
	})
	b.layers = append(b.layers, b.layer)
}

// ignored are keys of a source's top that are not ours to take.
var ignored = map[scope][]string{
	scopeUser:      {"$schema"},
	scopeWorkspace: {"$schema"},
	scopeClient:    {"$schema", "trusted"},
}

func (b *binder) object(path string, n node, field func(key string) reflect.Value) {
	seen := map[string]bool{}
	for _, m := range n.members {
		key := join(path, m.key)
		if seen[m.key] {
			b.problem(m.offset, key, "%q is there twice, the last one counts", m.key)
		}
		seen[m.key] = true
		if path == "" && slices.Contains(ignored[b.scope], m.key) {
			continue
		}
		v := field(m.key)
		if !v.IsValid() {
			b.problem(m.offset, key, "unknown key %q%s", m.key, suggestion(path, m.key))
			continue
		}
		if why := b.forbidden(key, m.value); why != "" {
			b.problem(m.offset, key, "%s", why)
			continue
		}
		b.value(key, m.value, v)
	}
}

// value sets v. A null is as good as an absent key: editors send it for what
// is not set.
func (b *binder) value(path string, n node, v reflect.Value) {
	if n.kind == kindNull {
		return
	}
	if v.Kind() == reflect.Struct {
		if n.kind != kindObject {
			b.wrongKind(path, n, kindObject)
			return
		}
		b.object(path, n, func(key string) reflect.Value { return fieldOf(v, key) })
		return
	}
	if v.Kind() == reflect.Map {
		b.mapping(path, n, v)
		return
	}
	fresh := reflect.New(v.Type()).Elem()
	if !b.scalar(path, n, fresh) {
		return
	}
	if check, ok := checks[path]; ok {
		if why := check(fresh.Interface()); why != "" {
			b.problem(n.offset, path, "%s: %s", path, why)
			return
		}
	}
	if fresh.IsZero() && connectionKey(path) {
		return // an empty string of the connection means: not set
	}
	if added, ok := fresh.Interface().([]string); ok && strings.HasPrefix(path, "permissions.") {
		b.addRules(path, n, added, v)
		return
	}
	v.Set(fresh)
	b.record(path, n.offset)
}

// addRules appends rules to those of other sources.
func (b *binder) addRules(path string, n node, added []string, v reflect.Value) {
	rules := v.Interface().([]string)
	for i, rule := range added {
		if !slices.Contains(rules, rule) {
			rules = append(slices.Clip(rules), rule)
			b.record(path+"["+strconv.Itoa(len(rules)-1)+"]", n.items[i].offset)
		}
	}
	v.Set(reflect.ValueOf(rules))
}

func (b *binder) record(path string, offset int) {
	origins := b.origins
	if connectionKey(path) {
		origins = b.layer.origins
	}
	origins[path] = b.where(offset)
}

// scalar decodes into v, which is fresh, and reports whether n fits.
func (b *binder) scalar(path string, n node, v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.str)
		return b.wantKind(path, n, kindString)
	case reflect.Bool:
		v.SetBool(n.truth)
		return b.wantKind(path, n, kindBool)
	case reflect.Int64, reflect.Float64:
		return b.wantKind(path, n, kindNumber) && b.number(path, n, v)
	case reflect.Slice:
		if !b.wantKind(path, n, kindArray) {
			return false
		}
		list := make([]string, len(n.items))
		for i, item := range n.items {
			if !b.wantKind(path+"["+strconv.Itoa(i)+"]", item, kindString) {
				return false
			}
			list[i] = item.str
		}
		v.Set(reflect.ValueOf(list))
		return true
	}
	panic("config: a field of kind " + v.Kind().String())
}

func (b *binder) number(path string, n node, v reflect.Value) bool {
	f, err := strconv.ParseFloat(n.str, 64)
	if err != nil {
		b.problem(n.offset, path, "%s: %s is too large", path, n.str)
		return false
	}
	if v.Kind() == reflect.Float64 {
		v.SetFloat(f)
		return true
	}
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		b.problem(n.offset, path, "%s has to be a whole number, not %s", path, n.str)
		return false
	}
	v.SetInt(int64(f))
	return true
}

// mapping merges an object into a map, entry by entry.
func (b *binder) mapping(path string, n node, v reflect.Value) {
	if !b.wantKind(path, n, kindObject) {
		return
	}
	merged := reflect.MakeMap(v.Type())
	for _, k := range v.MapKeys() {
		merged.SetMapIndex(k, v.MapIndex(k))
	}
	for _, m := range n.members {
		key := join(path, m.key)
		entry := reflect.New(v.Type().Elem()).Elem()
		switch e := entry.Addr().Interface().(type) {
		case *json.RawMessage:
			*e = json.RawMessage(m.value.raw)
		case *string:
			if !b.wantKind(key, m.value, kindString) {
				continue
			}
			*e = m.value.str
		case *MCPServer:
			b.value(key, m.value, entry)
		}
		merged.SetMapIndex(reflect.ValueOf(m.key), entry)
		b.record(key, m.offset)
	}
	v.Set(merged)
}

func (b *binder) wantKind(path string, n node, want nodeKind) bool {
	if n.kind != want {
		b.wrongKind(path, n, want)
	}
	return n.kind == want
}

func (b *binder) wrongKind(path string, n node, want nodeKind) {
	b.problem(n.offset, path, "%s has to be %s, not %s", path, want, n.kind)
}

// fieldOf finds the field with a JSON name, not in embedded structs.
func fieldOf(v reflect.Value, key string) reflect.Value {
	t := v.Type()
	for i := range t.NumField() {
		if f := t.Field(i); !f.Anonymous && jsonName(f) == key {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// connectionKey reports whether a path is one of Connection's.
func connectionKey(path string) bool {
	top, _, _ := strings.Cut(path, ".")
	return fieldOf(reflect.ValueOf(Connection{}), top).IsValid()
}
