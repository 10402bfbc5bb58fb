package document

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
)

// ErrNotFile is the error of a URI that names no file of this machine:
// another scheme, another host, or a file URI with a query or a fragment.
var ErrNotFile = errors.New("names no file on this machine")

// PathOf is the absolute, cleaned path that a file URI names. Escapes are
// decoded exactly once; what is not a valid escape stands for itself, so
// `[id].tsx`, `a+b` and `100%` may come unescaped. Symbolic links stay as
// they are. Other URIs are ErrNotFile: a `git:` or `vscode-remote:` document
// has a path that is not one of ours, and one with a query is a view of the
// file (an older revision, say), not the file.
func PathOf(uri string) (string, error) {
	return pathOf(uri, runtime.GOOS == "windows")
}

// URIOf is the file URI of an absolute path, escaped so that every client
// reads it back as the same bytes.
func URIOf(path string) string { return uriOf(path, runtime.GOOS == "windows") }

func pathOf(uri string, windows bool) (string, error) {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || !strings.EqualFold(scheme, "file") {
		return "", fmt.Errorf("%.200q %w", uri, ErrNotFile)
	}
	if strings.ContainsAny(rest, "?#") {
		return "", fmt.Errorf("%.200q has a query or a fragment: %w", uri, ErrNotFile)
	}
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, rest = after, ""
		if i := strings.IndexByte(after, '/'); i >= 0 {
			host, rest = after[:i], after[i:]
		}
	}
	host, rest = unescape(host), unescape(rest)
	if windows {
		rest = strings.ReplaceAll(rest, `\`, "/")
	}
	if isDrive(host) { // file://C:/x, one slash short
		host, rest = "", "/"+host+rest
	}
	if !strings.HasPrefix(rest, "/") || strings.ContainsRune(rest, 0) {
		return "", fmt.Errorf("%.200q has no absolute path: %w", uri, ErrNotFile)
	}
	unc := strings.HasPrefix(rest, "//") && host == "" // file:////server/share
	p := path.Clean(rest)
	switch {
	case len(p) >= 3 && isDrive(p[1:3]) && (len(p) == 3 || p[3] == '/'):
		// The letter's case is the editor's taste, never a difference.
		p = "/" + strings.ToUpper(p[1:2]) + p[2:]
		if windows {
			p = p[1:]
			if len(p) == 2 {
				p += "/"
			}
		}
	case windows && unc:
		p = "/" + p
	case host != "" && !strings.EqualFold(host, "localhost"):
		if !windows {
			return "", fmt.Errorf("%.200q is on another host: %w", uri, ErrNotFile)
		}
		p = "//" + host + p
	}
	if windows {
		p = strings.ReplaceAll(p, "/", `\`)
	}
	return p, nil
}

func uriOf(p string, windows bool) string {
	if windows {
		p = strings.ReplaceAll(p, `\`, "/")
		if unc, ok := strings.CutPrefix(p, "//"); ok {
			return "file://" + escape(unc)
		}
		p = "/" + p
	}
	return "file://" + escape(p)
}

func isDrive(s string) bool {
	return len(s) == 2 && s[1] == ':' && ('a' <= s[0]|0x20 && s[0]|0x20 <= 'z')
}

// unescape decodes each valid %XX once.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if c, ok := escapeAt(s, i); ok {
			b.WriteByte(c)
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escapeAt is the byte that the escape at s[i:] stands for.
func escapeAt(s string, i int) (byte, bool) {
	if s[i] != '%' || i+2 >= len(s) {
		return 0, false
	}
	hi, ok1 := unhex(s[i+1])
	lo, ok2 := unhex(s[i+2])
	return hi<<4 | lo, ok1 && ok2
}

func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// escape percent-encodes a slash-separated path: all but RFC 3986's pchar.
func escape(p string) string {
	var b strings.Builder
	b.Grow(len(p))
	for i := 0; i < len(p); i++ {
		if c := p[i]; c == '/' || plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func plain(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || strings.IndexByte("-._~!$&'()*+,;=:@", c) >= 0
}

// Same reports whether two URIs are spellings of one document, links apart.
func Same(a, b string) bool { return a == b || identity(a) == identity(b) }

// identity is equal for all spellings of one document. Files are known by
// their path; in other URIs an escape equals the character it stands for
// unless that is a delimiter.
func identity(uri string) string {
	if p, err := PathOf(uri); err == nil {
		return "file:" + p
	}
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok {
		return uri
	}
	var b strings.Builder
	b.Grow(len(uri))
	b.WriteString(strings.ToLower(scheme))
	b.WriteByte(':')
	for i := 0; i < len(rest); i++ {
		c, ok := escapeAt(rest, i)
		switch {
		case !ok:
			b.WriteByte(rest[i])
			continue
		case strings.IndexByte("%/?#&=", c) >= 0:
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
		i += 2
	}
	return b.String()
}
