package agent

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/agentls/agentls/agent/llm"
)

// maxBackoff bounds the waits that we choose ourselves.
const maxBackoff = 30 * time.Second

// mayRetry says how long to wait before the request is sent again, or why it
// is not: once text was shown, the same words would come twice.
func (r *Run) mayRetry(e *llm.Error, attempt int, shown bool) (wait time.Duration, whyNot string) {
	limits := r.s.o.Limits
	switch {
	case !e.Retryable:
		return 0, "final"
	case shown:
		return 0, "shown"
	case attempt >= limits.Attempts:
		return 0, "attempts"
	case e.RetryAfter > limits.RetryMax:
		return 0, "wait"
	}
	backoff := min(limits.RetryBase<<min(attempt-1, 16), maxBackoff)
	// Half of it by chance, so that many clients do not come back as one.
	backoff = backoff/2 + rand.N(backoff/2+1)
	return max(backoff, e.RetryAfter), ""
}

// giveUp words an error that is not tried again.
func giveUp(e *llm.Error, why string) *llm.Error {
	told := *e
	switch why {
	case "attempts":
		told.Message += " (tried several times; try again later)"
	case "wait":
		told.Message += fmt.Sprintf(" (the server asks to wait %s; try again then)", spell(e.RetryAfter))
	}
	return &told
}

func retryNotice(e *llm.Error, attempt, attempts int, wait time.Duration) Notice {
	return Notice{
		Severity: "warning",
		Code:     "retry",
		Message:  fmt.Sprintf("%s; trying again in %s (attempt %d of %d)", e.Message, spell(wait), attempt+1, attempts),
	}
}

// spell rounds a wait to what a person reads.
func spell(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%.0f hours", d.Hours())
}
