package openai

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentls/agentls/agent/llm"
)

const testKey = "sk-proj-abcDEF1234567890"

// fails answers with a status.
func fails(status int, header http.Header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for k, v := range header {
			w.Header()[k] = v
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func failOf(t *testing.T, h http.HandlerFunc) *llm.Error {
	t.Helper()
	c := newClientTo(t, Options{Provider: "openai", BaseURL: serve(t, h), APIKey: testKey, KeyEnv: "OPENAI_API_KEY"})
	a := collect(t, c, t.Context(), llm.Request{Model: "m", Messages: user("x")})
	var e *llm.Error
	if !errors.As(a.err, &e) {
		t.Fatalf("got %+v", a)
	}
	if strings.Contains(e.Message+fmt.Sprint(e.Err), testKey) {
		t.Errorf("the key is in %q, %v", e.Message, e.Err)
	}
	return e
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   want
	}{
		{"wrong key", 401, openAIError("Incorrect API key provided: "+testKey+". You can find your API key at https://platform.openai.com.", "invalid_api_key", ""), want{class: llm.Auth, says: "check OPENAI_API_KEY"}},
		{"wrong key, half masked", 401, openAIError("Incorrect API key provided: sk-proj-********7890.", "invalid_api_key", ""), want{class: llm.Auth, says: "provided: [key]"}},
		{"wrong key, as a 400", 400, openAIError("Authentication Fails, Your api key: ****7890 is invalid", "invalid_api_key", ""), want{class: llm.Auth}},
		{"forbidden region", 403, openAIError("Country, region, or territory not supported", "unsupported_country_region_territory", ""), want{class: llm.Auth, says: "not supported"}},
		{"no balance", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, want{class: llm.Quota, says: "Insufficient Balance"}},
		{"C092 quota", 429, openAIError("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", ""), want{class: llm.Quota, says: "billing"}},
		{"quota, Zhipu", 429, `{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}`, want{class: llm.Quota}},
		{"rate limit, Zhipu", 429, `{"error":{"code":"1302","message":"您的账户已达到速率限制"}}`, want{class: llm.RateLimit, retry: true}},
		{"rate limit, Google", 429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan. Please retry in 34.07s.","status":"RESOURCE_EXHAUSTED"}}]`, want{class: llm.RateLimit, retry: true}},
		{"rate limit", 429, openAIError("Rate limit reached for gpt-5 on tokens per min (TPM)", "rate_limit_exceeded", ""), want{class: llm.RateLimit, retry: true}},
		{"408", 408, ``, want{class: llm.Network, retry: true}},
		{"409", 409, ``, want{class: llm.Network, retry: true}},
		{"425", 425, ``, want{class: llm.Network, retry: true}},
		{"500", 500, `{"error":{"message":"The server had an error","type":"server_error"}}`, want{class: llm.Network, says: "The server had an error", retry: true}},
		{"503 in HTML", 503, `<html><head><title>503 Service Temporarily Unavailable</title></head></html>`, want{class: llm.Network, says: "503 Service Temporarily Unavailable", retry: true}},
		{"529", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, want{class: llm.Network, says: "Overloaded", retry: true}},
		{"501", 501, ``, want{class: llm.BadRequest}},
		{"content filter", 400, openAIError("The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", "content_filter", "prompt"), want{class: llm.ContentFilter}},
		{"content filter, DashScope", 400, `{"error":{"code":"data_inspection_failed","message":"Input data may contain inappropriate content."}}`, want{class: llm.ContentFilter}},
		{"content filter, DeepSeek", 400, `{"error":{"message":"Content Exists Risk"}}`, want{class: llm.ContentFilter}},
		{"bad request", 400, openAIError("Invalid 'messages[1].role'", "", ""), want{class: llm.BadRequest, says: "Invalid 'messages[1].role'"}},
		{"error as text", 400, `{"error":"no such thing"}`, want{class: llm.BadRequest, says: "no such thing"}},
		{"plain text", 400, "Bad\nRequest\x1b[31m", want{class: llm.BadRequest, says: "Bad Request [31m"}},
		{"no body", 400, "", want{class: llm.BadRequest, says: "(400)"}},
		{"a page", 404, "<html><title>404 Not Found</title></html>", want{class: llm.BadRequest, says: "check baseURL"}},
		{"405", 405, `{"detail":"Method Not Allowed"}`, want{class: llm.BadRequest, says: "check baseURL"}},
		{"no such model", 404, openAIError("The model `x` does not exist or you do not have access to it.", "model_not_found", ""), want{class: llm.BadRequest, says: "choose another"}},
		{"OpenRouter's error of a provider", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"This model's maximum context length is 65536 tokens\"}}","provider_name":"X"}}}`, want{class: llm.ContextOverflow}},
		{"proxy", 407, ``, want{class: llm.Network, says: "HTTPS_PROXY"}},
		{"long", 400, strings.Repeat("é", 5000), want{class: llm.BadRequest, says: "é…"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := failOf(t, fails(c.status, nil, c.body))
			checkError(t, e, c.want)
			if e.Status != c.status {
				t.Errorf("status %d", e.Status)
			}
		})
	}
}

// C092: a wait in every form.
func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name, value, body string
		want              time.Duration
	}{
		{"Retry-After", "3", "", 3 * time.Second},
		{"Retry-After", "1.5", "", 1500 * time.Millisecond},
		{"Retry-After", "0", "", 0},
		{"Retry-After", "-5", "", 0},
		{"Retry-After", "2abc", "", 0},
		{"Retry-After", "NaN", "", 0},
		{"Retry-After", "999999999999", "", maxRetryAfter},
		{"Retry-After", "1e999", "", maxRetryAfter},
		{"Retry-After", "Wed, 21 Oct 2037 07:28:00 GMT", "", maxRetryAfter},
		{"Retry-After", "Thu, 21 Oct 1999 07:28:00 GMT", "", 0},
		{"Retry-After-Ms", "500", "", 500 * time.Millisecond},
		{"X-Other", "", "Please try again in 1.5s.", 1500 * time.Millisecond},
		{"X-Other", "", "Please try again in 20ms. Visit x", 20 * time.Millisecond},
		{"X-Other", "", "Please try again in 1m30.5s.", 90500 * time.Millisecond},
		{"X-Other", "", "Retry after 20 seconds", 20 * time.Second},
		{"X-Other", "", "retry after 2 minutes", 2 * time.Minute},
		{"X-Other", "", "Please retry in 34.074824224s.", 34074824224},
		{"X-Other", "", "try again later", 0},
		{"Retry-After", "2abc", "try again in 4s", 4 * time.Second},
		{"Retry-After", "7", "try again in 4s", 7 * time.Second},
	} {
		// The clock of a bubble stands at 2000: dates are as far away as they read.
		synctest.Test(t, func(t *testing.T) {
			e := serverError{status: 429, message: c.body, header: http.Header{c.name: {c.value}}}
			if got := retryAfter(e); got != c.want {
				t.Errorf("%s: %s, %q: %s, want %s", c.name, c.value, c.body, got, c.want)
			}
		})
	}
	e := failOf(t, fails(429, http.Header{"Retry-After": {"3"}}, "{}"))
	if e.RetryAfter != 3*time.Second || !e.Retryable || e.Class != llm.RateLimit {
		t.Errorf("%+v", e)
	}
	e = failOf(t, fails(429, http.Header{"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"6m0s"}, "X-Ratelimit-Reset-Requests": {"1s"}}, "{}"))
	if e.RetryAfter != 6*time.Minute {
		t.Errorf("%+v", e)
	}
	if e = failOf(t, fails(503, http.Header{"X-Should-Retry": {"false"}}, "{}")); e.Retryable {
		t.Errorf("%+v", e)
	}
}

// C097: an overflow in every wording, with the window where it is told.
func TestOverflows(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		limit  int
	}{
		{400, openAIError("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", "context_length_exceeded", "messages"), 8192},
		{400, openAIError("Your input exceeds the context window of this model. Please adjust your input and try again.", "context_length_exceeded", "input"), 0},
		{400, openAIError("Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in 300,000 tokens.", "context_length_exceeded", "messages"), 272000},
		{400, `{"object":"error","message":"This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens","type":"BadRequestError","code":400}`, 262144},
		{400, `{"error":{"code":400,"message":"request (33056 tokens) exceeds the available context size (32768 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":33056,"n_ctx":32768}}`, 32768},
		{500, `{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"server_error"}}`, 0},
		{400, `{"error":{"message":"Range of input length should be [1, 30720]","code":"invalid_parameter_error"}}`, 30720},
		{400, `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`, 4096},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`, 200000},
		{400, `{"error":{"message":"input length and ` + "`max_tokens`" + ` exceed context limit: 188240 + 21333 > 200000, decrease input length or ` + "`max_tokens`" + ` and try again"}}`, 200000},
		{400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, 131072},
		{400, `[{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, 1048576},
		{400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144","type":"invalid_request_error"}}`, 262144},
		{400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded"}}`, 0},
		{413, `{"error":{"message":"Request too large for model ` + "`x`" + ` on tokens per minute (TPM): Limit 6000, Requested 8000","type":"tokens","code":"rate_limit_exceeded"}}`, 6000},
		{400, `{"error":{"message":"The input (9000 tokens) is longer than the model's context length (8192 tokens)."}}`, 8192},
		{422, `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000" + `"}`, 4096},
		{413, `<html><title>413 Request Entity Too Large</title></html>`, 0},
		{400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, 0},
	} {
		e := failOf(t, fails(c.status, nil, c.body))
		if e.Class != llm.ContextOverflow || e.ContextLimit != c.limit || e.Retryable {
			t.Errorf("%s:\n%+v, want the limit %d", c.body, e, c.limit)
		}
	}
}

func TestNoOverflow(t *testing.T) {
	for _, body := range []string{
		openAIError("max_tokens is too large: 20000. This model supports at most 16384 completion tokens", "", "max_tokens"),
		openAIError("Invalid content length", "", ""),
	} {
		if e := failOf(t, fails(400, nil, body)); e.Class != llm.BadRequest {
			t.Errorf("%s: %+v", body, e)
		}
	}
}

func TestScrub(t *testing.T) {
	c := newClientTo(t, Options{BaseURL: "http://me:hunter22@h/v1", APIKey: "plainkey", Headers: map[string]string{"X-Auth": "s3cr3tvalue"}})
	for in, out := range map[string]string{
		"bad plainkey!":                            "bad [key]!",
		"bad s3cr3tvalue":                          "bad [key]",
		"http://me:hunter22@h/v1":                  "http://me:[key]@h/v1",
		"Incorrect API key provided: sk-abc***xyz": "Incorrect API key provided: [key]",
		"Authorization: Bearer abc.def":            "Authorization: [key]",
		"gsk_abcdef123456 is wrong":                "[key] is wrong",
		"AIzaSyA1234567890abcdef":                  "[key]",
		"the task-force key is set":                "the task-force key is set",
	} {
		if got := c.scrub(in); got != out {
			t.Errorf("scrub(%q) = %q, want %q", in, got, out)
		}
	}
}
