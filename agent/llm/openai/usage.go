package openai

import "github.com/agentls/agentls/agent/llm"

// usageCount keeps the last counts that a server told. Some tell them in every
// chunk: they are totals, never to be added up. A field stays -1 until told.
type usageCount struct {
	told                       bool
	input, output, total       int64
	cached, written, reasoning int64
}

// read takes a usage object; null and other things are skipped.
func (u *usageCount) read(s *scanner) {
	if s.peek() != '{' {
		s.skip()
		return
	}
	if !u.told {
		*u = usageCount{told: true, input: -1, output: -1, total: -1, cached: -1, written: -1, reasoning: -1}
	}
	s.object(func(key []byte) {
		if dst := u.field(key); dst != nil {
			if n, ok := s.number(); ok {
				*dst = int64(n)
			}
			return
		}
		switch string(key) {
		case "prompt_tokens_details", "input_tokens_details", "completion_tokens_details", "output_tokens_details":
			s.object(func(key []byte) {
				if dst := u.detail(key); dst != nil {
					if n, ok := s.number(); ok {
						*dst = int64(n)
					}
					return
				}
				s.skip()
			})
		default:
			s.skip()
		}
	})
}

// field names the counts of all vendors.
func (u *usageCount) field(key []byte) *int64 {
	switch string(key) {
	case "prompt_tokens", "input_tokens":
		return &u.input
	case "completion_tokens", "output_tokens":
		return &u.output
	case "total_tokens":
		return &u.total
	case "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens":
		return &u.cached
	case "cache_creation_input_tokens":
		return &u.written
	case "reasoning_tokens":
		return &u.reasoning
	}
	return nil
}

func (u *usageCount) detail(key []byte) *int64 {
	switch string(key) {
	case "cached_tokens":
		return &u.cached
	case "cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens":
		return &u.written
	case "reasoning_tokens":
		return &u.reasoning
	}
	return nil
}

// usage is nil where nothing was told. A request of no tokens does not exist:
// 0 of them is a server that does not count.
func (u *usageCount) usage() *llm.Usage {
	if !u.told || u.input <= 0 && u.output <= 0 {
		return nil
	}
	output := u.output
	if u.reasoning > 0 && u.total == u.input+u.output+u.reasoning {
		output += u.reasoning // a vendor that counts it apart
	}
	var result llm.Usage
	for _, v := range []struct {
		n   int64
		dst **int64
		min int64
	}{
		{u.input, &result.Input, 1}, {output, &result.Output, 0}, {u.cached, &result.CacheRead, 0},
		{u.written, &result.CacheWrite, 0}, {u.reasoning, &result.Reasoning, 0},
	} {
		if v.n >= v.min {
			*v.dst = &v.n
		}
	}
	return &result
}
