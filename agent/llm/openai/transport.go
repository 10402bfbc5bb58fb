package openai

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"time"
)

const (
	// afterFinish is how long a server may take to say that its stream is over
	// once the model was done: the usage comes in that time, if it comes.
	afterFinish = 5 * time.Second
	// afterDone is how long we read on after [DONE], for the end of the stream:
	// only then is the connection used again.
	afterDone = 50 * time.Millisecond
	// maxErrorBody bounds the body of a refusal.
	maxErrorBody = 1 << 20
)

var errStalled = errors.New("the server was silent for too long")

// watch ends a request that a server leaves without a byte for too long. It
// runs only while something is waited for, so that a slow reader is not taken
// for a slow server. It is used by one goroutine.
type watch struct {
	limit time.Duration
	timer *time.Timer
}

// newWatch starts waiting for the response's headers.
func newWatch(limit time.Duration, expire func()) *watch {
	return &watch{limit: limit, timer: time.AfterFunc(limit, expire)}
}

func (w *watch) start() { w.timer.Reset(w.limit) }
func (w *watch) stop()  { w.timer.Stop() }

// lower sets a limit from here on if it is less than the one that holds.
func (w *watch) lower(limit time.Duration) { w.limit = min(w.limit, limit) }

// watched is a response's body under a watch.
type watched struct {
	io.ReadCloser
	watch *watch
}

func (b *watched) Read(p []byte) (int, error) {
	b.watch.start()
	n, err := b.ReadCloser.Read(p)
	b.watch.stop()
	return n, err
}

type watchKey struct{}

// watchTransport puts the body of each response under the watch that the
// request's context carries, and bounds that of a refusal.
type watchTransport struct{ next http.RoundTripper }

func (t watchTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if w, ok := req.Context().Value(watchKey{}).(*watch); ok {
		w.stop()
		res.Body = &watched{res.Body, w}
	}
	if res.StatusCode >= 400 {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxErrorBody), res.Body}
	}
	return res, nil
}

// newClient makes the HTTP client of a Client: its own connections, the
// system's proxy, no limit on the length of an answer, and no redirect to
// another place.
func newClient(o Options) (*http.Client, *http.Transport, error) {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		transport = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	}
	transport = transport.Clone()
	transport.ResponseHeaderTimeout = 0 // the watch's business
	if o.Proxy != nil {
		transport.Proxy = o.Proxy
	}
	pool, err := certificates(o)
	if err != nil {
		return nil, nil, err
	}
	if pool != nil {
		if transport.TLSClientConfig == nil {
			transport.TLSClientConfig = &tls.Config{}
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	return &http.Client{Transport: watchTransport{transport}, CheckRedirect: checkRedirect}, transport, nil
}

// certificates are the authorities to trust; nil is the system's.
func certificates(o Options) (*x509.CertPool, error) {
	files := []string{o.CAFile}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		files = append(files, os.Getenv("SSL_CERT_FILE")) // elsewhere Go reads it
	}
	var pool *x509.CertPool
	for _, name := range files {
		if name == "" {
			continue
		}
		pem, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("the file of certificates: %w", err)
		}
		if pool == nil {
			if pool, err = x509.SystemCertPool(); err != nil {
				pool = x509.NewCertPool()
			}
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM form", name)
		}
	}
	return pool, nil
}

// redirectError is a redirect that is not followed.
type redirectError struct{ to string }

func (e *redirectError) Error() string { return "redirect to " + e.to }

// checkRedirect follows what stays at the same place and stays a POST. What a
// request carries, a key and somebody's code, is for nobody else.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host || req.Method != first.Method || len(via) > 5 {
		return &redirectError{req.URL.Redacted()}
	}
	return nil
}

// linger reads to the end of a stream that is over in all but name, so that
// its connection can be used again.
func linger(res *http.Response, w *watch) {
	if res.ProtoMajor != 1 {
		return
	}
	w.lower(afterDone)
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
}
