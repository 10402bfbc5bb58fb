// Package openai talks to servers of the Chat Completions API: OpenAI's and
// the many that are compatible with it, each in its own way.
//
// It is the only package that knows openai-go, which gives the client,
// authentication, transport rules and the request; reading the stream and
// putting the answer together is done here, because what servers send is
// wider than the types of that library (see sseReader, answer, calls). The
// front end makes one Client for each endpoint and hands it to the agent's
// loop. Retrying is the loop's decision: a Client makes one request, says by
// the *llm.Error what became of it, and repeats it only to say differently
// what the server refused to understand (see adjustments), before anything
// was shown.
//
// A Client is safe for concurrent use; it remembers what its server refused,
// and the encoded history of a few conversations. It starts no goroutine that
// outlives a call. Every stream ends with Completed or an error, never both.
//
//	client, err := openai.New(openai.Options{Provider: "deepseek", BaseURL: "https://api.deepseek.com/v1", APIKey: key})
//	for d, err := range client.Stream(ctx, llm.Request{Model: "deepseek-chat", Messages: history}) {
//		…
//	}
//
// Rules worth knowing:
//
//   - One timer, Options.IdleTimeout, covers the wait for the response and each
//     gap in it; any byte resets it, comments too. Nothing limits the whole.
//   - A stream counts as complete with a finish reason or [DONE]; without
//     either it was cut. A call in an answer that reached the output limit is
//     Malformed, as is one whose arguments are no JSON object.
//   - An event whose data is itself a comment (data: : PROCESSING) is skipped.
//   - Calls that a model writes into its text or its reasoning are text.
//   - No key is in any error or notice.
package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/agentls/agentls/agent/llm"
	"github.com/agentls/agentls/agent/llm/baseurl"
)

// DefaultIdleTimeout is how long a server may be silent.
const DefaultIdleTimeout = 120 * time.Second

// Options say where a server is and how it is.
type Options struct {
	// Provider names the server's quirks; what is not known is as "custom".
	Provider string
	// BaseURL is taken in every form that package baseurl takes.
	BaseURL string
	// APIKey is sent as a bearer token; "" sends none.
	APIKey string
	// KeyEnv is what messages call the place of the key; "" is "the API key".
	KeyEnv string
	// Headers are sent with every request.
	Headers map[string]string
	// IdleTimeout of 0 is DefaultIdleTimeout.
	IdleTimeout time.Duration
	// CAFile holds certificates (PEM) to trust beside the system's.
	CAFile string
	// Proxy chooses a proxy; nil is the environment's choice.
	Proxy func(*http.Request) (*url.URL, error)
	// UserAgent of "" is "agentls".
	UserAgent string
}

// Client is a server, and the models it has.
type Client struct {
	opts      Options
	base      *url.URL
	quirks    quirks
	secrets   []string // what no message may show
	transport *http.Transport
	chat      openai.ChatCompletionService
	list      openai.ModelService
	cache     cache

	mu       sync.Mutex
	adjusted map[string]quirks // by model, where a server refused something
}

// New makes a Client. Nothing is connected yet.
func New(o Options) (*Client, error) {
	base, err := baseurl.Parse(o.BaseURL)
	if err != nil {
		return nil, err
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = DefaultIdleTimeout
	}
	o.KeyEnv = orElse(o.KeyEnv, "the API key")
	client, transport, err := newClient(o)
	if err != nil {
		return nil, err
	}
	c := &Client{opts: o, base: base, quirks: quirksOf(o.Provider), transport: transport, adjusted: map[string]quirks{}}
	c.keepSecret(o.APIKey)
	for _, v := range o.Headers {
		c.keepSecret(v)
	}
	if password, ok := base.User.Password(); ok {
		c.keepSecret(password)
	}
	// The services, unlike the library's Client, take nothing from the
	// environment: OPENAI_API_KEY, OPENAI_CUSTOM_HEADERS and the like are meant
	// for another server.
	options := c.requestOptions(client)
	c.chat = openai.NewChatCompletionService(options...)
	c.list = openai.NewModelService(options...)
	return c, nil
}

func (c *Client) keepSecret(s string) {
	if len(s) >= 6 { // shorter ones are words that a message may hold
		c.secrets = append(c.secrets, s)
	}
}

func (c *Client) requestOptions(client *http.Client) []option.RequestOption {
	base := *c.base
	base.RawQuery = ""
	options := []option.RequestOption{
		option.WithHTTPClient(client),
		option.WithBaseURL(base.String()),
		option.WithAPIKey(c.opts.APIKey),
		option.WithMaxRetries(0),
		option.WithHeader("User-Agent", orElse(c.opts.UserAgent, "agentls")),
	}
	// What the library tells of this machine is nobody's business.
	for _, name := range []string{"Lang", "Package-Version", "Os", "Arch", "Runtime", "Runtime-Version", "Retry-Count", "Timeout"} {
		options = append(options, option.WithHeaderDel("X-Stainless-"+name))
	}
	for name, values := range c.base.Query() {
		for _, v := range values {
			options = append(options, option.WithQueryAdd(name, v))
		}
	}
	if c.quirks.keyHeader != "" && c.opts.APIKey != "" {
		options = append(options, option.WithHeader(c.quirks.keyHeader, c.opts.APIKey))
	}
	if name, value, ok := strings.Cut(c.quirks.header, ": "); ok {
		options = append(options, option.WithHeader(name, value))
	}
	for name, v := range c.opts.Headers {
		options = append(options, option.WithHeader(name, v))
	}
	return options
}

// Close gives up idle connections. Streams go on.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// host is what messages call the server.
func (c *Client) host() string { return c.base.Host }

// display is the base URL without a password.
func (c *Client) display() string { return c.base.Redacted() }

func (c *Client) quirksFor(model string) quirks {
	c.mu.Lock()
	defer c.mu.Unlock()
	if q, ok := c.adjusted[model]; ok {
		return q
	}
	return c.quirks
}

func (c *Client) remember(model string, q quirks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.adjusted[model] = q
}

// Stream asks for an answer. The sequence can be ranged over once; leaving the
// loop early closes the connection, as does the end of ctx, whose error is
// then the last of the sequence.
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		q := c.quirksFor(r.Model)
		for tries := 0; ; tries++ {
			shown, refusal, err := c.once(ctx, r, q, yield)
			if tries > 0 && !refusesRequest(refusal) {
				c.remember(r.Model, q) // it helped
			}
			if err == nil || errors.Is(err, errStopped) {
				return
			}
			if refusesRequest(refusal) && !shown && tries < maxAdjustments {
				if better, notice, ok := adjust(q, *refusal); ok {
					q = better
					if !yield(llm.Notice{Severity: "info", Code: "parameter", Message: c.host() + " " + notice}, nil) {
						return
					}
					continue
				}
			}
			yield(nil, err)
			return
		}
	}
}

// errStopped says that the caller left the loop.
var errStopped = errors.New("stopped")

// once makes one request. shown tells whether anything was yielded; refusal
// is what the server said, where it said something.
func (c *Client) once(ctx context.Context, r llm.Request, q quirks, yield func(llm.Delta, error) bool) (shown bool, refusal *serverError, err error) {
	body, err := c.encode(r, q)
	if err != nil {
		return false, nil, &llm.Error{Class: llm.Internal, Message: "the request could not be written: " + err.Error(), Err: err}
	}
	x := c.exchange(ctx)
	defer x.close()
	if err := x.post(body); err != nil {
		return false, nil, err
	}
	if x.res.StatusCode != http.StatusOK {
		e := x.refusal()
		return false, &e, x.failed(e)
	}
	s := newStream(x, r, q, yield)
	err = s.run()
	return s.shown, s.refusal, err
}

// exchange is one request and its response.
type exchange struct {
	*Client
	parent context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	watch  *watch
	res    *http.Response
}

func (c *Client) exchange(parent context.Context) *exchange {
	ctx, cancel := context.WithCancelCause(parent)
	w := newWatch(c.opts.IdleTimeout, func() { cancel(errStalled) })
	return &exchange{Client: c, parent: parent, ctx: context.WithValue(ctx, watchKey{}, w), cancel: cancel, watch: w}
}

func (x *exchange) close() {
	x.watch.stop()
	x.cancel(nil)
	if x.res != nil {
		_ = x.res.Body.Close()
	}
}

// post sends a chat request. A response of any status is no error.
func (x *exchange) post(body []byte) error {
	_, err := x.chat.New(x.ctx, openai.ChatCompletionNewParams{},
		option.WithRequestBody("application/json", body), option.WithResponseBodyInto(&x.res))
	return x.outcome(err)
}

// outcome tells a response, of any status, from the lack of one. The library
// makes an error of a refusal, whose body we read ourselves; a redirect that was
// not followed is a response and an error.
func (x *exchange) outcome(err error) error {
	var redirect *redirectError
	if x.res != nil && !errors.As(err, &redirect) {
		return nil
	}
	if err == nil {
		err = errors.New("there was no response")
	}
	return x.networkError(err)
}

// networkError turns a failed exchange into an error for the user.
func (x *exchange) networkError(err error) error {
	if parent := x.parent.Err(); parent != nil {
		return parent
	}
	if errors.Is(context.Cause(x.ctx), errStalled) {
		return &llm.Error{Class: llm.Stalled, Retryable: true, Err: errStalled, Message: fmt.Sprintf(
			"%s sent nothing for %s: try again, or raise timeouts.idleSeconds for a server that is this slow", x.host(), x.watch.limit)}
	}
	return x.transportError(err)
}

// failed is what a refusal comes to.
func (x *exchange) failed(e serverError) error {
	if parent := x.parent.Err(); parent != nil {
		return parent
	}
	return x.failure(e)
}

// refusal reads the body of a response that is no answer, as far as it comes.
func (x *exchange) refusal() serverError {
	body, err := io.ReadAll(io.LimitReader(x.res.Body, maxErrorBody))
	if err != nil && len(body) == 0 {
		return serverError{status: x.res.StatusCode, header: x.res.Header}
	}
	return readServerError(x.res.StatusCode, x.res.Header, body)
}
