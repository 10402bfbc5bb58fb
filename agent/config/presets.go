package config

import (
	"path"

	"github.com/agentls/agentls/agent/llm/baseurl"
)

// Preset is what is known of a provider.
type Preset struct {
	Name    string
	BaseURL string // "" has to be configured
	// hosts are the provider's own, as patterns of package path; its key goes
	// to no other provider's.
	hosts []string
	// Variables, the first that is set counts.
	KeyEnv, BaseURLEnv, ModelEnv []string
	// Model is used where none is set; "" asks the server for its list when it
	// is a local one.
	Model string
	// Keyless servers are fine without a key.
	Keyless bool
	// Local servers are looked for when nothing is configured.
	Local bool
}

// Presets are the providers, in the order in which environment variables
// choose one and, after that, local servers are looked for.
var Presets = []Preset{
	{Name: "openai", BaseURL: "https://api.openai.com/v1", Model: "gpt-5",
		hosts:  []string{"api.openai.com", "*.api.openai.com"},
		KeyEnv: env("OPENAI_API_KEY"), BaseURLEnv: env("OPENAI_BASE_URL", "OPENAI_API_BASE"), ModelEnv: env("OPENAI_MODEL")},
	{Name: "aliyun", BaseURL: "https://dashscope.aliyuncs.com/compatible-mode/v1", Model: "qwen3-coder-plus",
		hosts:  []string{"dashscope*.aliyuncs.com"},
		KeyEnv: env("DASHSCOPE_API_KEY"), BaseURLEnv: env("DASHSCOPE_BASE_URL"), ModelEnv: env("DASHSCOPE_MODEL")},
	{Name: "deepseek", BaseURL: "https://api.deepseek.com/v1", Model: "deepseek-chat",
		hosts:  []string{"api.deepseek.com"},
		KeyEnv: env("DEEPSEEK_API_KEY"), BaseURLEnv: env("DEEPSEEK_BASE_URL"), ModelEnv: env("DEEPSEEK_MODEL")},
	{Name: "moonshot", BaseURL: "https://api.moonshot.ai/v1", Model: "kimi-latest",
		hosts:  []string{"api.moonshot.ai", "api.moonshot.cn"},
		KeyEnv: env("MOONSHOT_API_KEY"), BaseURLEnv: env("MOONSHOT_BASE_URL"), ModelEnv: env("MOONSHOT_MODEL")},
	{Name: "zhipu", BaseURL: "https://open.bigmodel.cn/api/paas/v4", Model: "glm-4.6",
		hosts:  []string{"open.bigmodel.cn", "api.z.ai"},
		KeyEnv: env("ZHIPU_API_KEY", "ZHIPUAI_API_KEY"), BaseURLEnv: env("ZHIPU_BASE_URL"), ModelEnv: env("ZHIPU_MODEL")},
	{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", Model: "openrouter/auto",
		hosts:  []string{"openrouter.ai"},
		KeyEnv: env("OPENROUTER_API_KEY"), BaseURLEnv: env("OPENROUTER_BASE_URL"), ModelEnv: env("OPENROUTER_MODEL")},
	{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", Model: "openai/gpt-oss-120b",
		hosts:  []string{"api.groq.com"},
		KeyEnv: env("GROQ_API_KEY"), BaseURLEnv: env("GROQ_BASE_URL"), ModelEnv: env("GROQ_MODEL")},
	{Name: "xai", BaseURL: "https://api.x.ai/v1", Model: "grok-4",
		hosts:  []string{"api.x.ai", "*.api.x.ai"},
		KeyEnv: env("XAI_API_KEY"), BaseURLEnv: env("XAI_BASE_URL"), ModelEnv: env("XAI_MODEL")},
	// By its OpenAI-compatible endpoint.
	{Name: "anthropic", BaseURL: "https://api.anthropic.com/v1", Model: "claude-sonnet-4-5",
		hosts:  []string{"api.anthropic.com"},
		KeyEnv: env("ANTHROPIC_API_KEY"), BaseURLEnv: env("ANTHROPIC_BASE_URL"), ModelEnv: env("ANTHROPIC_MODEL")},
	{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Keyless: true, Local: true,
		KeyEnv: env("OLLAMA_API_KEY"), BaseURLEnv: env("OLLAMA_BASE_URL", "OLLAMA_HOST"), ModelEnv: env("OLLAMA_MODEL")},
	{Name: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1", Keyless: true, Local: true,
		KeyEnv: env("LMSTUDIO_API_KEY"), BaseURLEnv: env("LMSTUDIO_BASE_URL"), ModelEnv: env("LMSTUDIO_MODEL")},
	{Name: "llamacpp", BaseURL: "http://127.0.0.1:8080/v1", Keyless: true, Local: true,
		KeyEnv: env("LLAMACPP_API_KEY", "LLAMA_API_KEY"), BaseURLEnv: env("LLAMACPP_BASE_URL"), ModelEnv: env("LLAMACPP_MODEL")},
	{Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1", Keyless: true,
		KeyEnv: env("VLLM_API_KEY"), BaseURLEnv: env("VLLM_BASE_URL"), ModelEnv: env("VLLM_MODEL")},
	{Name: "custom", Keyless: true},
}

func env(names ...string) []string { return names }

// PresetOf finds a provider by its name.
func PresetOf(name string) (Preset, bool) {
	for _, p := range Presets {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}

// providerOfHost finds the provider that a base URL belongs to, "" if it is
// nobody's that we know.
func providerOfHost(base string) string {
	u, err := baseurl.Parse(base)
	if err != nil {
		return ""
	}
	for _, p := range Presets {
		for _, pattern := range p.hosts {
			if ok, _ := path.Match(pattern, u.Hostname()); ok {
				return p.Name
			}
		}
	}
	return ""
}

// localServer guesses by its usual port which server runs at a base URL on
// this machine.
func localServer(base string) string {
	u, err := baseurl.Parse(base)
	if err != nil || !baseurl.Loopback(u.Hostname()) {
		return ""
	}
	for _, p := range Presets {
		if known, err := baseurl.Parse(p.BaseURL); err == nil && p.Keyless && known.Port() == u.Port() {
			return p.Name
		}
	}
	return ""
}
