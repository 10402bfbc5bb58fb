// Command gen writes docs/configuration.md from the declarations of package
// agent/config, so that the page has every key, its default and the comment
// that the code has. `go generate ./docs/...` runs it.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"reflect"
	"strings"
	"text/template"

	"github.com/agentls/agentls/agent/config"
)

//go:generate go run . ../../agent/config/config.go ../configuration.md

//go:embed configuration.tmpl
var page string

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: gen CONFIG.GO PAGE.MD")
	}
	text, err := write(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], text, 0o644); err != nil {
		log.Fatal(err)
	}
}

// key is a row of the page's table.
type key struct{ Path, Type, Default, Text string }

func write(source string) ([]byte, error) {
	comments, err := commentsOf(source)
	if err != nil {
		return nil, err
	}
	keys, err := keysOf("", reflect.ValueOf(config.Defaults()), comments)
	if err != nil {
		return nil, err
	}
	t, err := template.New("page").Funcs(template.FuncMap{"code": codeList}).Parse(page)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{"Keys": keys, "Presets": config.Presets})
	return b.Bytes(), err
}

// commentsOf reads the comments of struct fields: "Budget.MaxTurns".
func commentsOf(source string) (map[string]string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	comments := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		fields, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range fields.Fields.List {
			for _, name := range field.Names {
				comments[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
			}
		}
		return true
	})
	return comments, nil
}

// keysOf lists the keys of a struct in the order of their declaration.
func keysOf(path string, v reflect.Value, comments map[string]string) ([]key, error) {
	var keys []key
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := path
		if !field.Anonymous {
			inner = join(path, name)
		}
		if field.Type.Kind() == reflect.Struct {
			below, err := keysOf(inner, v.Field(i), comments)
			if err != nil {
				return nil, err
			}
			keys = append(keys, below...)
			continue
		}
		k := key{Path: inner, Type: typeName(field.Type), Text: comments[v.Type().Name()+"."+field.Name]}
		if k.Text == "" {
			return nil, fmt.Errorf("%s.%s has no comment", v.Type(), field.Name)
		}
		k.Text = sentence(k.Text, field.Name)
		if !v.Field(i).IsZero() {
			b, err := json.Marshal(v.Field(i).Interface())
			if err != nil {
				return nil, err
			}
			k.Default = string(b)
		}
		keys = append(keys, k)
		if field.Type.Kind() == reflect.Map && field.Type.Elem().Kind() == reflect.Struct {
			below, err := keysOf(inner+".NAME", reflect.New(field.Type.Elem()).Elem(), comments)
			if err != nil {
				return nil, err
			}
			keys = append(keys, below...)
		}
	}
	return keys, nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// sentence turns "MaxTurns is how many …" into "How many …".
func sentence(comment, name string) string {
	for _, verb := range []string{" is ", " are ", " names ", " holds ", " lets "} {
		rest, ok := strings.CutPrefix(comment, name+verb)
		if !ok {
			continue
		}
		if verb != " is " && verb != " are " {
			rest = strings.TrimSpace(verb) + " " + rest
		}
		return strings.ToUpper(rest[:1]) + rest[1:]
	}
	return comment
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int64, reflect.Float64:
		return "number"
	case reflect.Slice:
		return "list"
	case reflect.Map:
		return "object"
	}
	return "string"
}

// codeList writes names as inline code.
func codeList(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "`" + strings.Join(names, "`, `") + "`"
}
