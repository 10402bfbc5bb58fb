package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Inputs are what Load reads from. The zero value is the user's configuration
// without a workspace.
type Inputs struct {
	// Env looks a variable up; nil is the process's environment.
	Env func(name string) (string, bool)
	// UserFile is the user's file; "" is the usual place, see UserFile.
	UserFile string
	// Workspace are the workspace's folders, absolute.
	Workspace []string
	// Trusted lets the workspace's files count.
	Trusted bool
	// Client are the client's options, the stronger ones last.
	Client []ClientOptions
}

// ClientOptions are settings that came over the connection.
type ClientOptions struct {
	// Name is what to call them: "initializationOptions".
	Name string
	// JSON is an object, or nothing.
	JSON json.RawMessage
}

// Problem is something in a source that Load could not take. The rest of the
// source counts all the same.
type Problem struct {
	// Source is the file, or the name of the client's options or variable.
	Source string
	// Line and Column count from 1; 0 where the source has no lines.
	Line, Column int
	// Key is the path of the key, "budget.maxTurns".
	Key     string
	Message string
}

func (p Problem) String() string {
	where := p.Source
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", where, p.Line, p.Column)
	}
	return where + ": " + p.Message
}

// Resolved is what came of all sources.
type Resolved struct {
	Config
	// origins says by key where a value came from.
	origins map[string]string
	conn    connection
}

// WorkspaceFile is the place of a folder's own configuration.
const WorkspaceFile = ".agentls/config.json"

// maxFile bounds a configuration file.
const maxFile = 1 << 20

// Load reads all sources. It always returns something to work with.
func Load(in Inputs) (Resolved, []Problem) {
	l := loader{env: lookup(in.Env), config: Defaults(), origins: map[string]string{}}
	userFile := in.UserFile
	if userFile == "" {
		userFile = UserFile(in.Env)
	}
	l.userFile = userFile
	l.file(userFile, scopeUser)
	if in.Trusted {
		for _, folder := range in.Workspace {
			l.file(filepath.Join(folder, filepath.FromSlash(WorkspaceFile)), scopeWorkspace)
		}
	}
	for _, c := range in.Client {
		if len(c.JSON) > 0 {
			l.text(c.Name, c.JSON, scopeClient)
		}
	}
	r := Resolved{Config: l.config, origins: l.origins}
	l.connect(&r)
	return r, l.problems
}

// scope says how far a source is trusted.
type scope int

const (
	scopeUser scope = iota
	scopeWorkspace
	scopeClient
)

type loader struct {
	env      func(string) string
	userFile string
	config   Config
	origins  map[string]string
	// layers are what each source says of the model's server; they are put
	// together when all are known.
	layers   []layer
	problems []Problem
}

func lookup(env func(string) (string, bool)) func(string) string {
	if env == nil {
		env = os.LookupEnv
	}
	return func(name string) string {
		v, _ := env(name)
		return strings.TrimSpace(v)
	}
}

func (l *loader) file(name string, s scope) {
	if name == "" {
		return
	}
	text, err := readFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		l.problems = append(l.problems, Problem{Source: name, Message: err.Error()})
	default:
		l.text(name, text, s)
	}
}

// readFile reads a regular file of reasonable size; a pipe or a device in its
// place must not stop the server.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("this is not a regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("the file is larger than %d KiB", maxFile>>10)
	}
	return text, err
}

// text takes one source.
func (l *loader) text(name string, text []byte, s scope) {
	if strings.TrimSpace(string(text)) == "" {
		return
	}
	b := binder{loader: l, name: name, text: text, scope: s, lines: s != scopeClient}
	root, syntax := parseJSON(text)
	if syntax != nil {
		b.problem(syntax.offset, "", "not valid JSON: %s", syntax.msg)
		return
	}
	if root.kind == kindNull {
		return
	}
	if root.kind != kindObject {
		b.problem(root.offset, "", "has to be an object, not %s", root.kind)
		return
	}
	b.root(root)
}
