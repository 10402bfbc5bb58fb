// Package baseurl reads the address of a model server in every form people
// paste. Adapters and the configuration use it, so that a wrong address is
// refused where it was written down and not at the first request.
//
//	u, err := baseurl.Parse("localhost:8080/v1/chat/completions")
//	// u.String() == "http://localhost:8080/v1"
//
// An address without a scheme gets https, or http when its host is this
// machine or a private network. One without a path gets /v1. Slashes at the end
// and the name of an endpoint (/chat/completions, /models …) are cut off. A
// query, as in ?api-version=2024-10-21, is kept and sent with every request.
package baseurl

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"strings"
)

// endpoints are what people copy together with the address.
var endpoints = []string{"/chat/completions", "/completions", "/responses", "/embeddings", "/messages", "/models"}

// Parse normalises an address. Errors say what to write instead and never
// repeat a password.
func Parse(address string) (*url.URL, error) {
	s := strings.Trim(strings.TrimSpace(address), `"'<>`)
	if s == "" {
		return nil, errors.New("the base URL is empty")
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		scheme, rest = "", strings.TrimPrefix(s, "//")
	}
	if strings.Count(hostPart(rest), ":") > 1 && !strings.Contains(hostPart(rest), "[") {
		return nil, fmt.Errorf("the base URL %q holds an IPv6 address: put it in brackets, as in http://[::1]:8080/v1", redact(s))
	}
	if scheme == "" {
		scheme = schemeOf(rest)
	}
	u, err := url.Parse(strings.ToLower(scheme) + "://" + rest)
	if err != nil {
		return nil, fmt.Errorf("the base URL %q is not one: write it as https://host/v1", redact(s))
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the base URL %q has the scheme %q: use http or https", redact(s), u.Scheme)
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("the base URL %q has no host: write it as https://host/v1", redact(s))
	}
	u.Fragment, u.RawFragment, u.ForceQuery = "", "", false
	u.Host = strings.ToLower(u.Host)
	u.RawPath = ""
	u.Path = cleanPath(u.Path)
	return u, nil
}

func cleanPath(p string) string {
	p = strings.TrimSuffix(path.Clean("/"+p), "/")
	for _, e := range endpoints {
		if cut, ok := strings.CutSuffix(p, e); ok {
			p = cut
			break
		}
	}
	for strings.HasSuffix(p, "/v1/v1") {
		p = strings.TrimSuffix(p, "/v1")
	}
	if p == "" {
		return "/v1"
	}
	return p
}

// hostPart is what stands between the scheme and the path, without user.
func hostPart(rest string) string {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest[strings.LastIndex(rest, "@")+1:]
}

// schemeOf chooses for an address without one: who runs a server on this
// machine or in the own network rarely has a certificate.
func schemeOf(rest string) string {
	host := hostPart(rest)
	if u, err := url.Parse("//" + host); err == nil {
		host = u.Hostname()
	}
	if Loopback(host) || strings.HasSuffix(host, ".local") || !strings.ContainsAny(host, ".:") {
		return "http"
	}
	if a, err := netip.ParseAddr(host); err == nil && (a.IsPrivate() || a.IsLinkLocalUnicast()) {
		return "http"
	}
	return "https"
}

// Loopback reports whether a host name is this machine.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// redact hides a password in an address that may not parse.
func redact(s string) string {
	head, rest, ok := strings.Cut(s, "://")
	if !ok {
		head, rest = "", s
	} else {
		head += "://"
	}
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	if at := strings.LastIndex(rest[:end], "@"); at >= 0 {
		return head + "…" + rest[at:]
	}
	return s
}
