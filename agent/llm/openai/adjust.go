package openai

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// adjustment is one way to say a request differently after a server refused
// it. The server's words have to match; apply changes the quirks and reports
// whether that changes anything.
type adjustment struct {
	words  *regexp.Regexp
	apply  func(q *quirks, words []string) bool
	notice string // what it comes to, after the server's name
}

// adjustments are tried in order: the first that matches and changes something
// is taken. words holds the error's param, message and code.
var adjustments = []adjustment{
	{
		words: regexp.MustCompile(`(?i)max_(?:completion_)?tokens.*?(?:at most|maximum|less than or equal to|<=|not exceed|limit of)\D{0,30}?(\d{3,})`),
		apply: func(q *quirks, words []string) bool {
			n, err := strconv.Atoi(words[1])
			return err == nil && n > 0 && set(&q.maxTokensCap, n)
		},
		notice: "allows fewer output tokens: the limit is lowered to what it said",
	}, {
		words: regexp.MustCompile(`(?i)max_tokens.*max_completion_tokens|unsupported.*max_tokens`),
		apply: func(q *quirks, _ []string) bool {
			return q.maxTokens == "max_tokens" && set(&q.maxTokens, "max_completion_tokens")
		},
		notice: "does not take max_tokens: max_completion_tokens is sent instead",
	}, {
		words: regexp.MustCompile(`(?i)max_completion_tokens`),
		apply: func(q *quirks, _ []string) bool {
			return q.maxTokens == "max_completion_tokens" && set(&q.maxTokens, "max_tokens")
		},
		notice: "does not take max_completion_tokens: max_tokens is sent instead",
	}, {
		words:  regexp.MustCompile(`(?i)stream_options|include_usage`),
		apply:  func(q *quirks, _ []string) bool { return set(&q.includeUsage, false) },
		notice: "does not take stream_options: it is left out, usage may be unknown",
	}, {
		words:  regexp.MustCompile(`(?i)parallel_tool_calls`),
		apply:  func(q *quirks, _ []string) bool { return set(&q.parallelCalls, false) },
		notice: "does not take parallel_tool_calls: it is left out",
	}, {
		words: regexp.MustCompile(`(?i)(reasoning_content|reasoning)\b.*(must be|missing|required|passed back|should be)`),
		apply: func(q *quirks, words []string) bool {
			return q.reasoningField == "" && set(&q.reasoningField, strings.ToLower(words[1]))
		},
		notice: "wants the model's reasoning back: it is sent with the tool calls",
	}, {
		words:  regexp.MustCompile(`(?i)\b(reasoning_content|reasoning)\b`),
		apply:  func(q *quirks, _ []string) bool { return set(&q.reasoningField, "") },
		notice: "does not take the model's reasoning back: it is left out",
	}, {
		words:  regexp.MustCompile(`(?i)tool.?call.?id.*length of 9`),
		apply:  func(q *quirks, _ []string) bool { return set(&q.shortIDs, true) },
		notice: "takes short tool call ids only: they are shortened",
	}, {
		words: regexp.MustCompile(`(?i)(role.*\bdeveloper\b|\bdeveloper\b.*role)`),
		apply: func(q *quirks, _ []string) bool {
			return q.systemRole == "developer" && set(&q.systemRole, "system")
		},
		notice: "does not take the role developer: system is sent instead",
	}, {
		words: regexp.MustCompile(`(?i)(role.*\bsystem\b|\bsystem\b.*(role|message|instruction)).*(not support|unsupported|not allowed|invalid)|unsupported.*\bsystem\b`),
		apply: func(q *quirks, words []string) bool {
			role := "user"
			if strings.Contains(words[0], "developer") {
				role = "developer"
			}
			return q.systemRole == "system" && set(&q.systemRole, role)
		},
		notice: "does not take the role system: another one is sent instead",
	}, {
		words:  regexp.MustCompile(`(?i)content.*(null|none|must be a string|expected a string|valid string|missing|required|should be a string)`),
		apply:  func(q *quirks, _ []string) bool { return set(&q.nullContent, false) },
		notice: `does not take null as the content of a message: "" is sent instead`,
	}, {
		words:  regexp.MustCompile(`(?i)\$schema|additionalProperties|(schema|parameters).*\b(default|format|pattern|minimum|maximum|minLength|maxLength|minItems|maxItems|title|examples)\b`),
		apply:  func(q *quirks, _ []string) bool { return set(&q.plainSchemas, true) },
		notice: "does not take all of the tools' schemas: they are sent in a plainer form",
	},
}

func set[T comparable](dst *T, v T) bool {
	if *dst == v {
		return false
	}
	*dst = v
	return true
}

// maxAdjustments bounds how often one request is said differently.
const maxAdjustments = 4

// refusesRequest reports whether a server may have refused a request for how
// it was said.
func refusesRequest(e *serverError) bool {
	if e == nil || isOverflow(*e) {
		return false
	}
	switch e.status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, 0:
		return true
	}
	return false
}

// adjust finds another way to say a request that a server refused.
func adjust(q quirks, e serverError) (quirks, string, bool) {
	text := e.param + " " + e.message
	for _, a := range adjustments {
		if words := a.words.FindStringSubmatch(text); words != nil && a.apply(&q, words) {
			return q, a.notice, true
		}
	}
	return q, "", false
}
