package openai

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter keeps absurd values from overflowing; whoever waits decides
// what is too long.
const maxRetryAfter = 365 * 24 * time.Hour

// inWords finds a wait in a message: "try again in 1m30.5s", "retry after 20
// seconds".
var inWords = regexp.MustCompile(`(?i)(?:try again|retry|wait)\D{0,20}?\s((?:[\d.]+\s*(?:ms|h|m|s)\s*)+|[\d.]+\s*(?:milliseconds?|seconds?|secs?|minutes?))(?:\W|$)`)

// retryAfter is how long a server asks to wait; 0 if it does not say, or says
// nothing that makes sense.
func retryAfter(e serverError) time.Duration {
	if d, ok := asNumber(e.header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	if v := strings.TrimSpace(e.header.Get("Retry-After")); v != "" {
		if d, ok := asNumber(v, time.Second); ok {
			return d
		}
		if at, err := http.ParseTime(v); err == nil {
			return min(max(time.Until(at), 0), maxRetryAfter)
		}
	}
	if m := inWords.FindStringSubmatch(e.message); m != nil {
		return asWords(m[1])
	}
	if e.status == http.StatusTooManyRequests {
		for _, name := range []string{"X-Ratelimit-Reset-Requests", "X-Ratelimit-Reset-Tokens"} {
			if e.header.Get(strings.Replace(name, "Reset", "Remaining", 1)) != "0" {
				continue
			}
			if d, err := time.ParseDuration(e.header.Get(name)); err == nil {
				return min(max(d, 0), maxRetryAfter)
			}
		}
	}
	return 0
}

func asNumber(s string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if f != f || err != nil && !strings.Contains(err.Error(), "range") || s == "" || f < 0 {
		return 0, false
	}
	if f > float64(maxRetryAfter/unit) {
		return maxRetryAfter, true
	}
	return time.Duration(f * float64(unit)), true
}

var words = strings.NewReplacer(" ", "", "milliseconds", "ms", "millisecond", "ms", "seconds", "s", "second", "s",
	"secs", "s", "sec", "s", "minutes", "m", "minute", "m")

func asWords(s string) time.Duration {
	d, err := time.ParseDuration(words.Replace(strings.ToLower(s)))
	if err != nil {
		return 0
	}
	return min(max(d, 0), maxRetryAfter)
}
