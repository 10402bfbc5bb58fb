package openai

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// overflows are the wordings in which servers say that a request is longer
// than the context window. The first group, where there is one, is the window.
var overflows = compileAll(
	// OpenAI, vLLM, DeepSeek, OpenRouter: "This model's maximum context length is 8192 tokens".
	`maximum context length (?:is|of) ([\d,]+)`,
	// llama.cpp.
	`exceeds? the available context size(?: \(?([\d,]+))?`,
	// LM Studio.
	`context length of only ([\d,]+)`,
	`context the overflows`,
	// DashScope.
	`range of input length should be \[\d+, ?([\d,]+)\]`,
	// Anthropic.
	`prompt is too long: [\d,]+ tokens > ([\d,]+)`,
	`exceed context limit: [\d,]+ \+ [\d,]+ > ([\d,]+)`,
	// xAI.
	`maximum prompt length is ([\d,]+)`,
	// Google.
	`exceeds the maximum number of tokens allowed(?: \(?([\d,]+))?`,
	// OpenAI's newer models.
	`input tokens exceed the configured limit of ([\d,]+)`,
	`input exceeds the context window`,
	// Moonshot.
	`exceeded model token limit:? ?([\d,]+)?`,
	// Groq.
	`reduce the length of the messages`,
	`request too large for model .* limit ([\d,]+)`,
	// SGLang, TGI and others.
	`longer than the model's context length(?: \(?([\d,]+))?`,
	`must be <= ([\d,]+)\. given`,
	`(?:input|prompt) (?:is|was) too long`,
	`context (?:length|window) (?:is |was )?exceeded`,
	`exceeds? (?:the )?(?:model's )?(?:maximum )?context (?:length|window|size)(?: of| \()? ?([\d,]+)?`,
	`prompt exceeds max length`,
	`too many tokens in (?:the )?prompt`,
)

func compileAll(patterns ...string) []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, p := range patterns {
		all = append(all, regexp.MustCompile(`(?i)`+p))
	}
	return all
}

// isOverflow reports whether a server refused a request for its length.
func isOverflow(e serverError) bool {
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusPaymentRequired:
		return false
	case http.StatusRequestEntityTooLarge:
		return true
	}
	if e.has("context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "1261") {
		return true
	}
	for _, p := range overflows {
		if p.MatchString(e.message) {
			return true
		}
	}
	return false
}

// contextLimit is the window that an overflow tells, 0 if it does not.
func contextLimit(e serverError) int {
	if e.limit > 0 {
		return e.limit
	}
	for _, p := range overflows {
		if m := p.FindStringSubmatch(e.message); len(m) > 1 && m[1] != "" {
			if n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", "")); err == nil {
				return n
			}
		}
	}
	return 0
}
