package review

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/agentls/agentls/lspserver/ext"
)

// Preview names one side of a file of a proposal, for a document of our own
// scheme. URI is the file's.
type Preview struct {
	SessionID string
	URI       string
	Side      string // base, proposed
}

// PreviewURI is the preview's document: the file's URI with our scheme, so
// that editors colour it and name its tab as they do the file, and with a
// query of which no editor's escaping can take anything away.
//
//	agentls-proposal:///w/main.go?session=s1&side=proposed
func PreviewURI(p Preview) string {
	_, rest, _ := strings.Cut(p.URI, ":")
	return ext.PreviewScheme + ":" + rest + "?session=" + url.QueryEscape(p.SessionID) + "&side=" + url.QueryEscape(p.Side)
}

// ParsePreview reads the URI of a preview as any client writes it back.
func ParsePreview(uri string) (Preview, error) {
	scheme, rest, _ := strings.Cut(uri, ":")
	if !strings.EqualFold(scheme, ext.PreviewScheme) {
		return Preview{}, fmt.Errorf("%.200q is no %s document", uri, ext.PreviewScheme)
	}
	file, query, _ := strings.Cut(rest, "?")
	if !strings.Contains(query, "=") { // VS Code escapes the `=` and `&`, too
		if decoded, err := url.QueryUnescape(query); err == nil {
			query = decoded
		}
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Preview{}, fmt.Errorf("%.200q: %w", uri, err)
	}
	p := Preview{SessionID: values.Get("session"), URI: "file:" + file, Side: values.Get("side")}
	if p.SessionID == "" || strings.Trim(file, "/") == "" || p.Side != "base" && p.Side != "proposed" {
		return Preview{}, fmt.Errorf("%.200q names no session, file and side", uri)
	}
	return p, nil
}
