package agent

import "github.com/agentls/agentls/agent/llm"

// usageSum adds up what a run's requests took.
type usageSum struct {
	sum       Usage // without the counts below
	turns     int
	toolCalls int
	window    int64 // 0 is unknown
	// spent is for the token budget: what was told, or else a guess, which is
	// never shown.
	spent int64
}

// add counts one request in; cost may be nil.
func (u *usageSum) add(one *llm.Usage, cost func(llm.Usage) (float64, bool)) {
	if one == nil {
		return
	}
	sum := &u.sum
	plus(&sum.InputTokens, one.Input)
	plus(&sum.OutputTokens, one.Output)
	plus(&sum.CacheReadTokens, one.CacheRead)
	plus(&sum.CacheWriteTokens, one.CacheWrite)
	plus(&sum.ReasoningTokens, one.Reasoning)
	if one.Input != nil {
		sum.ContextTokens = new(*one.Input)
	}
	if cost != nil {
		if c, ok := cost(*one); ok {
			plus(&sum.Cost, &c)
		}
	}
}

// total is the usage so far, in values that nobody changes any more.
func (u *usageSum) total() Usage {
	t := addUsage(Usage{}, u.sum)
	t.Turns, t.ToolCalls = u.turns, u.toolCalls
	if u.window > 0 {
		t.ContextWindow = new(u.window)
	}
	return t
}

// addUsage adds a later usage to a sum. Of the context the later one counts.
func addUsage(sum, u Usage) Usage {
	out := Usage{Turns: sum.Turns + u.Turns, ToolCalls: sum.ToolCalls + u.ToolCalls}
	for _, f := range []struct{ to, a, b **int64 }{
		{&out.InputTokens, &sum.InputTokens, &u.InputTokens},
		{&out.OutputTokens, &sum.OutputTokens, &u.OutputTokens},
		{&out.CacheReadTokens, &sum.CacheReadTokens, &u.CacheReadTokens},
		{&out.CacheWriteTokens, &sum.CacheWriteTokens, &u.CacheWriteTokens},
		{&out.ReasoningTokens, &sum.ReasoningTokens, &u.ReasoningTokens},
	} {
		plus(f.to, *f.a)
		plus(f.to, *f.b)
	}
	plus(&out.Cost, sum.Cost)
	plus(&out.Cost, u.Cost)
	out.ContextTokens, out.ContextWindow = sum.ContextTokens, sum.ContextWindow
	if u.ContextTokens != nil {
		out.ContextTokens = new(*u.ContextTokens)
	}
	if u.ContextWindow != nil {
		out.ContextWindow = new(*u.ContextWindow)
	}
	return out
}

// plus adds n to a sum of which nothing may be known. The sum is never shared.
func plus[N int64 | float64](sum **N, n *N) {
	switch {
	case n == nil:
	case *sum == nil:
		*sum = new(*n)
	default:
		**sum += *n
	}
}

// spend counts a request against the token budget, by a guess where the server
// told nothing: a budget that is not held is worse than one held roughly.
func (r *Run) spend(u *llm.Usage, answer int) {
	in, out := r.tokens(), int64(answer/bytesPerToken)
	if u != nil && u.Input != nil {
		in = *u.Input
	}
	if u != nil && u.Output != nil {
		out = *u.Output
	}
	r.usage.spent += in + out
}

// overBudget says which budget is used up, if one is. It is asked between a
// turn and the next, so that calls that were made have their results.
func (r *Run) overBudget() (StopReason, bool) {
	b := r.req.Budget
	switch {
	case b.MaxTurns > 0 && int64(r.usage.turns) >= b.MaxTurns:
		return StopMaxTurns, true
	case b.MaxTokens > 0 && r.usage.spent >= b.MaxTokens:
		return StopMaxTokens, true
	case b.MaxCost > 0 && r.usage.sum.Cost != nil && *r.usage.sum.Cost >= b.MaxCost:
		return StopMaxCost, true
	}
	return "", false
}
