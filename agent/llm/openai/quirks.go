package openai

// quirks are the ways in which servers of Chat Completions differ. They are
// data: a server is described by a row, and a server that refuses something
// changes the row for its model (see adjustments). The zero value of a field
// sends nothing.
type quirks struct {
	// systemRole is the role of the system prompt: system, developer or user.
	systemRole string
	// maxTokens is the name of the output limit.
	maxTokens string
	// maxTokensCap bounds it, 0 does not.
	maxTokensCap int
	// includeUsage asks for usage by stream_options.
	includeUsage bool
	// parallelCalls asks for several calls in one answer by
	// parallel_tool_calls, where the server's default is one.
	parallelCalls bool
	// reasoningField is where reasoning goes back to the server together with
	// the tool calls that followed it; "" sends none: most servers ignore it,
	// some refuse it, a few refuse its absence.
	reasoningField string
	// nullContent sends null instead of "" as the content of a message that
	// only calls tools.
	nullContent bool
	// thinkTags takes <think>…</think> at the start of an answer as reasoning.
	thinkTags bool
	// shortIDs sends tool call ids of nine letters and digits.
	shortIDs bool
	// keyHeader names a header that carries the key too.
	keyHeader string
	// header is one that the server wants, "Name: value".
	header string
	// plainSchemas leaves out of the tools' schemas what not all servers take.
	plainSchemas bool
}

// known are the providers' quirks; all that is not here is as custom.
var known = map[string]quirks{
	"openai": {
		systemRole: "system", maxTokens: "max_completion_tokens", includeUsage: true, nullContent: true,
	},
	"aliyun": {
		systemRole: "system", maxTokens: "max_tokens", includeUsage: true, parallelCalls: true, thinkTags: true,
	},
	"deepseek": {
		systemRole: "system", maxTokens: "max_tokens", includeUsage: true, reasoningField: "reasoning_content",
	},
	"moonshot": {
		systemRole: "system", maxTokens: "max_tokens", includeUsage: true, reasoningField: "reasoning_content",
	},
	"zhipu": {
		systemRole: "system", maxTokens: "max_tokens", includeUsage: true, thinkTags: true,
	},
	"openrouter": {
		systemRole: "system", maxTokens: "max_tokens", includeUsage: true, nullContent: true, thinkTags: true,
	},
	"groq": {
		systemRole: "system", maxTokens: "max_completion_tokens", includeUsage: true, nullContent: true, thinkTags: true,
	},
	"xai": {
		systemRole: "system", maxTokens: "max_completion_tokens", includeUsage: true, nullContent: true,
	},
	"anthropic": {
		systemRole: "system", maxTokens: "max_tokens", includeUsage: true, nullContent: true,
		keyHeader: "x-api-key", header: "anthropic-version: 2023-06-01", // for the list of models
	},
	"ollama": {
		systemRole: "system", maxTokens: "max_tokens", includeUsage: true, thinkTags: true,
	},
	"lmstudio": {
		systemRole: "system", maxTokens: "max_tokens", includeUsage: true, thinkTags: true,
	},
	"llamacpp": {
		systemRole: "system", maxTokens: "max_tokens", includeUsage: true, thinkTags: true,
	},
	"vllm": {
		systemRole: "system", maxTokens: "max_tokens", includeUsage: true, thinkTags: true,
	},
	"custom": {
		systemRole: "system", maxTokens: "max_tokens", includeUsage: true, thinkTags: true,
	},
}

func quirksOf(provider string) quirks {
	if q, ok := known[provider]; ok {
		return q
	}
	return known["custom"]
}
