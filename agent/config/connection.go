package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/agent/llm/baseurl"
)

// layer is what one source says of the connection.
type layer struct {
	Connection
	scope   scope
	origins map[string]string
}

// connection is what came of the layers: all that Endpoint needs but the
// network.
type connection struct {
	preset Preset // Name is "" if nothing chose one
	key    Secret
	keyEnv string // where the key came from, or should come from
	err    error  // why there is no endpoint, an *llm.Error
}

// connect puts the layers and the environment together.
func (l *loader) connect(r *Resolved) {
	top := l.overrides()
	p := l.choose(top)
	preset, _ := PresetOf(p.name)
	l.origins["provider"] = p.origin
	folded := l.fold(p.name, preset, top)
	folded.Provider = p.name
	if rest, ok := strings.CutPrefix(folded.CAFile, "~/"); ok {
		folded.CAFile = filepath.Join(homeDir(l.env), rest)
	}
	r.Connection = folded
	maps.DeleteFunc(r.origins, func(_, origin string) bool { return origin == "" })
	r.conn = connection{preset: preset}
	if p.name != "" {
		l.findKey(r, top)
	}
}

// overrides are the AGENTLS_* variables, as one more layer over all.
func (l *loader) overrides() layer {
	top := layer{scope: scopeUser, origins: map[string]string{}}
	for _, v := range []struct {
		name, key string
		dst       *string
	}{
		{"AGENTLS_PROVIDER", "provider", &top.Provider},
		{"AGENTLS_MODEL", "model", &top.Model},
		{"AGENTLS_BASE_URL", "baseURL", &top.BaseURL},
	} {
		value := l.env(v.name)
		if value == "" {
			continue
		}
		if check, ok := checks[v.key]; ok {
			if why := check(value); why != "" {
				l.problems = append(l.problems, Problem{Source: v.name, Key: v.key, Message: why})
				continue
			}
		}
		*v.dst = value
		top.origins[v.key] = v.name
	}
	return top
}

type choice struct{ name, origin string }

// choose finds the provider: the one that the strongest source names, by name
// or by the host of its base URL; else by which variables are set. A base URL
// of nobody's that no source gives a provider is "custom".
func (l *loader) choose(top layer) choice {
	custom := choice{}
	layers := append(append([]layer{}, l.layers...), top)
	for i := len(layers) - 1; i >= 0; i-- {
		s := layers[i]
		if s.Provider != "" {
			return choice{s.Provider, s.origins["provider"]}
		}
		if s.BaseURL == "" {
			continue
		}
		if owner := providerOfHost(s.BaseURL); owner != "" {
			return choice{owner, "the host of baseURL in " + s.origins["baseURL"]}
		}
		if custom.name == "" {
			custom = choice{firstOf(localServer(s.BaseURL), "custom"), "baseURL without a provider in " + s.origins["baseURL"]}
		}
	}
	if custom.name != "" {
		return custom
	}
	for _, p := range Presets {
		names := p.BaseURLEnv
		if !p.Local {
			names = append(names[:len(names):len(names)], p.KeyEnv...)
		}
		if name, _ := l.firstSet(names); name != "" {
			return choice{p.Name, name + " is set"}
		}
	}
	if l.env("AGENTLS_API_KEY") != "" {
		return choice{Presets[0].Name, "AGENTLS_API_KEY is set"}
	}
	return choice{}
}

// fold lays the sources over each other, files first. A source that names
// another provider than those before it begins anew.
func (l *loader) fold(provider string, preset Preset, top layer) Connection {
	var weak, strong []layer
	for _, s := range l.layers {
		if s.scope == scopeClient {
			strong = append(strong, s)
		} else {
			weak = append(weak, s)
		}
	}
	strong = append(strong, top)

	var c Connection
	from := map[string]string{}
	named := ""
	for _, s := range weak {
		if s.Provider != "" && s.Provider != named {
			named = s.Provider
			c, from = Connection{}, map[string]string{}
		}
		overlay(&c, from, s)
	}
	chosenLater := slices.ContainsFunc(strong, func(s layer) bool { return s.Provider != "" })
	if named != provider && (named != "" || chosenLater && c.BaseURL != "") {
		// What the files say is about another provider. A model alone may be anyone's.
		c, from = Connection{}, map[string]string{}
	}
	overlay(&c, from, l.providerEnv(preset))
	for _, s := range strong {
		if s.Provider == "" || s.Provider == provider {
			overlay(&c, from, s)
		}
	}
	maps.Copy(l.origins, from)
	return c
}

// overlay sets in c what s sets. A key that was meant for one base URL is not
// meant for the next.
func overlay(c *Connection, from map[string]string, s layer) {
	if s.BaseURL != "" && c.BaseURL != "" && !sameHost(s.BaseURL, c.BaseURL) {
		c.APIKeyEnv, c.Headers = "", nil
		maps.DeleteFunc(from, func(key, _ string) bool { return key == "apiKeyEnv" || strings.HasPrefix(key, "headers.") })
	}
	for _, v := range []struct {
		key      string
		dst, src *string
	}{
		{"model", &c.Model, &s.Model}, {"baseURL", &c.BaseURL, &s.BaseURL},
		{"apiKeyEnv", &c.APIKeyEnv, &s.APIKeyEnv}, {"caFile", &c.CAFile, &s.CAFile},
	} {
		if *v.src != "" {
			*v.dst = *v.src
			from[v.key] = s.origins[v.key]
		}
	}
	if s.ContextWindow != 0 {
		c.ContextWindow = s.ContextWindow
		from["contextWindow"] = s.origins["contextWindow"]
	}
	for name, value := range s.Headers {
		if c.Headers == nil {
			c.Headers = Headers{}
		}
		c.Headers[name] = value
		from["headers."+name] = s.origins["headers."+name]
	}
}

func sameHost(a, b string) bool {
	u, err := baseurl.Parse(a)
	v, err2 := baseurl.Parse(b)
	return err == nil && err2 == nil && u.Scheme == v.Scheme && u.Host == v.Host
}

// providerEnv is what the provider's own variables say.
func (l *loader) providerEnv(p Preset) layer {
	s := layer{origins: map[string]string{}}
	s.origins["model"], s.Model = l.firstSet(p.ModelEnv)
	name, base := l.firstSet(p.BaseURLEnv)
	if name == "OLLAMA_HOST" {
		base = ollamaHost(base)
	}
	if base != "" {
		if why := checkBaseURL(base); why != "" {
			l.problems = append(l.problems, Problem{Source: name, Key: "baseURL", Message: why})
			return s
		}
	}
	s.origins["baseURL"], s.BaseURL = name, base
	return s
}

// ollamaHost reads OLLAMA_HOST, which is written for the server: it may be an
// address to listen at, and has a port of its own.
func ollamaHost(host string) string {
	u, err := baseurl.Parse(host)
	if err != nil {
		return host
	}
	name, port := u.Hostname(), u.Port()
	if name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1"
	}
	if port == "" && !strings.Contains(host, "://") {
		port = "11434"
	}
	if port != "" {
		port = ":" + port
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	scheme := "http"
	if strings.HasPrefix(host, "https://") {
		scheme = "https"
	}
	return scheme + "://" + name + port + u.Path
}

func (l *loader) firstSet(names []string) (name, value string) {
	for _, n := range names {
		if v := l.env(n); v != "" {
			return n, v
		}
	}
	return "", ""
}

// findKey finds the key, and sees to it that it belongs to where it would be
// sent.
func (l *loader) findKey(r *Resolved, top layer) {
	c := &r.conn
	base := r.BaseURL
	if base == "" {
		base = c.preset.BaseURL
	}
	if base == "" {
		c.err = noModel("the provider %q needs a base URL: set AGENTLS_BASE_URL, or baseURL in %s", r.Provider, l.userFile)
		return
	}
	value := l.env("AGENTLS_API_KEY")
	c.keyEnv = "AGENTLS_API_KEY"
	if value == "" {
		c.keyEnv, value = l.providerKey(r, base)
	}
	switch {
	case value == "":
		if c.err == nil && !c.preset.Keyless && r.BaseURL == "" {
			c.err = noModel("%s needs a key: set %s (or AGENTLS_API_KEY, or apiKeyEnv to the name of the variable that holds it)", r.Provider, c.keyEnv)
		}
	case strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c > '~' }):
		c.err = noModel("the key in %s has a blank, a line break or a letter that no key has in it: set it anew", c.keyEnv)
	default:
		c.key = NewSecret(value)
	}
}

// providerKey looks the key up in the variable that was configured, else in
// the provider's own. It takes none that is another provider's than the host's.
func (l *loader) providerKey(r *Resolved, base string) (name, value string) {
	c := &r.conn
	host := providerOfHost(base)
	if name = r.APIKeyEnv; name != "" {
		owner := ownerOfKey(name)
		if host != "" && owner != "" && host != owner {
			c.err = noModel("apiKeyEnv is %s, the key of %s, but baseURL is a host of %s: it is not sent there", name, owner, host)
			return name, ""
		}
		if value = l.env(name); value == "" {
			c.err = noModel("apiKeyEnv names %s, which is not set", name)
		}
		return name, value
	}
	if host != "" && host != r.Provider {
		c.err = noModel("the provider is %s but baseURL is a host of %s: set provider to %s, so that no key goes to the wrong host", r.Provider, host, host)
		return "AGENTLS_API_KEY", ""
	}
	if name, value = l.firstSet(c.preset.KeyEnv); value != "" {
		return name, value
	}
	if len(c.preset.KeyEnv) > 0 {
		return c.preset.KeyEnv[0], ""
	}
	return "AGENTLS_API_KEY", ""
}

// ownerOfKey names the provider whose key a variable holds by convention.
func ownerOfKey(variable string) string {
	for _, p := range Presets {
		for _, k := range p.KeyEnv {
			if k == variable {
				return p.Name
			}
		}
	}
	return ""
}

// KeyVariables are the environment variables that hold keys, as far as is
// known: no command that the agent runs may see them.
func (r *Resolved) KeyVariables() []string {
	names := []string{"AGENTLS_API_KEY"}
	for _, p := range Presets {
		names = append(names, p.KeyEnv...)
	}
	if r.APIKeyEnv != "" {
		names = append(names, r.APIKeyEnv)
	}
	return names
}

func noModel(format string, args ...any) *llm.Error {
	return &llm.Error{Class: llm.NoModel, Message: fmt.Sprintf(format, args...)}
}
