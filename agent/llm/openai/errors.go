package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/agentls/agentls/agent/llm"
)

// serverError is what a server said when it refused a request or gave up on
// it, whatever form it gave to that.
type serverError struct {
	status  int // 0 inside a stream that began well
	message string
	code    string // error.code and error.type, lower case
	param   string
	isHTML  bool
	limit   int // the context window, if the error has a field for it
	header  http.Header
}

// readServerError finds the message in a body: an OpenAI error object, its
// variants, FastAPI's detail, a page, or plain text.
func readServerError(status int, header http.Header, body []byte) serverError {
	e := serverError{status: status, header: header}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		e.fromText(string(body))
		return e
	}
	e.fromJSON(value)
	if e.message == "" {
		e.message = oneLine(string(body))
	}
	if e.status == 0 || e.status == http.StatusOK {
		e.status = 0
		if n, err := strconv.Atoi(e.firstCode()); err == nil && n >= 400 && n < 600 {
			e.status = n
		}
	}
	return e
}

func (e *serverError) firstCode() string {
	first, _, _ := strings.Cut(e.code, " ")
	return first
}

var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

func (e *serverError) fromText(body string) {
	trimmed := strings.TrimSpace(body)
	if strings.HasPrefix(trimmed, "<") {
		e.isHTML = true
		if m := title.FindStringSubmatch(trimmed); m != nil {
			trimmed = m[1]
		} else {
			trimmed = "a web page"
		}
	}
	e.message = oneLine(trimmed)
}

// fromJSON walks over the places where servers put the message.
func (e *serverError) fromJSON(v any) {
	switch v := v.(type) {
	case string:
		e.message = orElse(e.message, oneLine(v))
	case []any:
		var all []string
		for _, item := range v {
			inner := serverError{}
			inner.fromJSON(item)
			all = append(all, inner.message)
			e.code = strings.TrimSpace(e.code + " " + inner.code)
			e.param = orElse(e.param, inner.param)
		}
		e.message = orElse(e.message, strings.Join(all, "; "))
	case map[string]any:
		e.fromObject(v)
	}
}

func (e *serverError) fromObject(v map[string]any) {
	for _, key := range []string{"error", "errors", "detail", "base_resp"} {
		if inner, ok := v[key]; ok && inner != nil {
			e.fromJSON(inner)
		}
	}
	for _, key := range []string{"message", "msg", "status_msg", "error_msg", "error_description"} {
		if s, ok := v[key].(string); ok {
			e.message = orElse(e.message, oneLine(s))
		}
	}
	for _, key := range []string{"code", "status_code", "type", "status", "error_code"} {
		switch c := v[key].(type) {
		case string:
			e.code = strings.TrimSpace(e.code + " " + strings.ToLower(c))
		case float64:
			e.code = strings.TrimSpace(e.code + " " + strconv.Itoa(int(c)))
		}
	}
	if p, ok := v["param"].(string); ok {
		e.param = orElse(e.param, p)
	}
	if loc, ok := v["loc"].([]any); ok && len(loc) > 0 {
		e.param = orElse(e.param, fmt.Sprint(loc[len(loc)-1]))
	}
	if n, ok := v["n_ctx"].(float64); ok {
		e.limit = int(n)
	}
	// Proxies hand on what the server behind them said.
	if meta, ok := v["metadata"].(map[string]any); ok {
		if raw, ok := meta["raw"].(string); ok && raw != "" {
			inner := readServerError(e.status, nil, []byte(raw))
			if inner.message != "" && !strings.Contains(e.message, inner.message) {
				e.message = orElse(e.message, "error") + ": " + inner.message
			}
			e.code = strings.TrimSpace(e.code + " " + inner.code)
			e.param = orElse(e.param, inner.param)
		}
	}
}

// has reports whether the error's code or type is one of these.
func (e *serverError) has(codes ...string) bool {
	for _, code := range strings.Fields(e.code) {
		for _, c := range codes {
			if code == c {
				return true
			}
		}
	}
	return false
}

var (
	quotaWords = regexp.MustCompile(`(?i)insufficient[_ ](quota|balance|credit|funds)|exceeded your current quota|billing|out of credits|no credits|never purchased credits|arrear|account is (in )?overdue|余额不足|欠费`)
	// perTime tells a limit of speed from an account that is used up.
	perTime      = regexp.MustCompile(`(?i)per[ -](minute|second|day|hour)|retry in|try again|\b(tpm|rpm|rpd|tpd)\b`)
	filterWords  = regexp.MustCompile(`(?i)content[_ ](filter|policy|management policy)|data_?inspection_?failed|inappropriate content|content exists risk|flagged as potentially|不安全或敏感`)
	noToolsWords = regexp.MustCompile(`(?i)(does not|doesn't|not) support(ed)? .{0,20}(tool|function)|(tools?|tool (use|calling)|function calling) (is|are) not supported|no endpoints found that support tool use|requires? .{0,20}--enable-auto-tool-choice|--jinja`)
	noModelWords = regexp.MustCompile(`(?i)model.{0,80}(not found|does not exist|doesn't exist|not exist|is not available|unknown)|(no such|unknown|invalid) model|not a valid model`)
)

// failure turns what a server said into an error for the user.
func (c *Client) failure(e serverError) *llm.Error {
	f := &llm.Error{Status: e.status}
	said := c.said(e)
	switch {
	case isOverflow(e):
		f.Class, f.ContextLimit = llm.ContextOverflow, contextLimit(e)
		f.Message = "the conversation is longer than the model's context window: begin a new session or compact this one" + said
	case filterWords.MatchString(e.message) || e.has("content_filter", "content_policy_violation", "1301"):
		f.Class = llm.ContentFilter
		f.Message = c.host() + "'s content filter refused the request: say it differently" + said
	case e.status == http.StatusPaymentRequired || e.has("insufficient_quota", "billing_hard_limit_reached", "1113") && !perTime.MatchString(e.message) ||
		e.status != http.StatusUnauthorized && quotaWords.MatchString(e.message) && !perTime.MatchString(e.message):
		f.Class = llm.Quota
		f.Message = "the account at " + c.host() + " has no quota or credit left: check its plan and billing" + said
	case e.status == http.StatusUnauthorized || e.status == http.StatusForbidden || e.has("invalid_api_key", "authentication_error", "invalid_authentication_error"):
		f.Class, f.Message = llm.Auth, c.authMessage(e)+said
	case e.status == http.StatusProxyAuthRequired:
		f.Class, f.Message = llm.Network, proxyMessage
	case e.status == http.StatusTooManyRequests || e.has("rate_limit_exceeded", "rate_limit_error"):
		f.Class, f.Retryable = llm.RateLimit, true
		f.Message = c.host() + " limits how fast requests come: wait a moment" + said
	case retryable(e.status) || e.has("overloaded_error", "server_error", "overloaded"):
		f.Class, f.Retryable = llm.Network, true
		f.Message = fmt.Sprintf("%s has trouble%s: try again later%s", c.host(), statusText(e.status), said)
	case e.status >= 300 && e.status < 400:
		f.Class = llm.BadRequest
		f.Message = fmt.Sprintf("%s answers with a redirect%s: set baseURL to where the API is", c.host(), statusText(e.status))
	default:
		f.Class, f.Message = llm.BadRequest, c.badRequest(e)+said
	}
	if e.status == 0 && f.Class == llm.BadRequest {
		// A failure without a number in the middle of a stream: not the request's.
		f.Class, f.Retryable = llm.StreamCut, true
		f.Message = c.host() + " broke the answer off: try again" + said
	}
	if f.Retryable {
		f.RetryAfter = retryAfter(e)
		f.Retryable = e.header.Get("X-Should-Retry") != "false"
	}
	return f
}

// retryable statuses say that the same request may work later.
func retryable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500 && status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported
}

func (c *Client) authMessage(e serverError) string {
	switch {
	case e.status == http.StatusForbidden && !strings.Contains(strings.ToLower(e.message), "key"):
		return c.host() + " does not allow this (403): check what the account and the key in " + c.opts.KeyEnv + " may use"
	case c.opts.APIKey == "":
		return c.host() + " asks for a key: set " + c.opts.KeyEnv
	}
	return c.host() + " refused the API key: check " + c.opts.KeyEnv
}

func (c *Client) badRequest(e serverError) string {
	switch {
	case noToolsWords.MatchString(e.message):
		return "the model cannot call tools, which agentls needs: choose another model"
	case noModelWords.MatchString(e.message) || e.has("model_not_found"):
		return c.host() + " does not have this model: choose another one, agent/models lists them"
	case e.isHTML || e.status == http.StatusNotFound || e.status == http.StatusMethodNotAllowed:
		return fmt.Sprintf("there is no Chat Completions API at %s%s: check baseURL, it usually ends in /v1", c.display(), statusText(e.status))
	}
	return c.host() + " refused the request" + statusText(e.status)
}

func statusText(status int) string {
	if status == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d)", status)
}

// maxSaid bounds how much of a server's words is shown.
const maxSaid = 400

// said quotes the server, without keys.
func (c *Client) said(e serverError) string {
	text := c.scrub(e.message)
	if text == "" {
		return ""
	}
	return ". The server said: " + shorten(text, maxSaid)
}

// oneLine makes one line of text that is safe to show.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

func shorten(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n]) + "…"
}

// keyLike finds what looks like a key, also half masked.
var keyLike = regexp.MustCompile(`(?i)\b(bearer\s+\S+|(sk|pk|rk|gsk|xai|key|api|fw|nvapi|hf)[-_][a-z0-9_*.\-…]{6,}|AIza[a-z0-9_\-]{10,})`)

// scrub takes keys out of a text that a server may have put them into.
func (c *Client) scrub(s string) string {
	for _, secret := range c.secrets {
		s = strings.ReplaceAll(s, secret, "[key]")
	}
	return keyLike.ReplaceAllString(s, "[key]")
}
