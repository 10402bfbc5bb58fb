package openai

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/agent/llm/baseurl"
)

const proxyMessage = "the proxy asks for a login: put it into HTTPS_PROXY, as http://user:password@proxy:port"

// transportError explains why a server could not be reached, or why its answer
// broke off.
func (c *Client) transportError(err error) *llm.Error {
	f := &llm.Error{Class: llm.Network, Err: c.scrubError(err)}
	var redirect *redirectError
	var dns *net.DNSError
	text := err.Error()
	switch {
	case errors.As(err, &redirect):
		f.Class = llm.BadRequest
		f.Message = fmt.Sprintf("%s sends on to %s, where the key would go to: set baseURL to that address if it is the right one", c.host(), c.scrub(redirect.to))
	case isCertificate(err):
		f.Message = fmt.Sprintf("the certificate of %s is not trusted (%s): behind an inspecting proxy or with an own authority set SSL_CERT_FILE, or caFile in the configuration, to the file with its certificates", c.host(), innermost(err))
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		f.Message = fmt.Sprintf("%s does not speak TLS: write baseURL with http://", c.host())
	case strings.Contains(text, "Proxy Authentication Required"):
		f.Message = proxyMessage
	case errors.As(err, &dns) && dns.IsNotFound:
		f.Message = fmt.Sprintf("there is no host %s: check baseURL and the network", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Retryable = !baseurl.Loopback(c.base.Hostname())
		f.Message = fmt.Sprintf("nothing answers at %s: start the server, or check baseURL", c.host())
	case errors.Is(err, errEventTooLarge):
		f.Class, f.Message = llm.Internal, c.host()+": "+errEventTooLarge.Error()
	default:
		f.Retryable = true
		f.Message = fmt.Sprintf("the connection to %s failed: %s", c.host(), c.scrub(oneLine(innermost(err))))
	}
	return f
}

func isCertificate(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		hostname     x509.HostnameError
		invalid      x509.CertificateInvalidError
		roots        x509.SystemRootsError
	)
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &hostname) ||
		errors.As(err, &invalid) || errors.As(err, &roots)
}

// innermost is the text of the error at the bottom: the others repeat the URL.
func innermost(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// scrubError hides keys in the text of an error that stays inspectable.
func (c *Client) scrubError(err error) error { return &scrubbed{err, c.scrub(err.Error())} }

type scrubbed struct {
	err  error
	text string
}

func (e *scrubbed) Error() string { return e.text }
func (e *scrubbed) Unwrap() error { return e.err }
