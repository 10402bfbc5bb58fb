// Package config finds out what the user set: it reads the sources of
// configuration in their order, says where each value came from and what it
// could not take, and turns provider, key and model into an Endpoint.
//
// The front ends call Load whenever a source changed, and Resolved.Endpoint
// when a run begins; Load reads at most a few small files and touches no
// network. A Resolved is not changed after Load and is safe for concurrent use.
//
//	resolved, problems := config.Load(config.Inputs{Workspace: []string{dir}, Trusted: trusted})
//	for _, p := range problems {
//		show(p) // ~/.config/agentls/config.json:3:5: unknown key "modle"
//	}
//	endpoint, err := resolved.Endpoint(ctx, "") // *llm.Error of class NoModel
//
// # Sources
//
// Later ones win: built in, the user's file, the files of the workspace (in
// the order of its folders), the provider's environment variables, the
// client's options, and AGENTLS_* variables over all. A list or a value
// replaces the one before it; "commands.env", "mcpServers", "hooks" and
// "headers" are merged by name; rules of "permissions" add up, since a rule's
// strength is in its kind and not in who wrote it.
//
// A workspace file counts only when the workspace is trusted. Even then it
// cannot say where requests go or what they carry (provider, baseURL,
// apiKeyEnv, headers, caFile), nor allow more than the user did.
//
// A source that names another provider begins anew: model, baseURL, apiKeyEnv,
// headers and contextWindow of the sources before it belonged to the provider
// before, and so did its key.
package config

import (
	"encoding/json"
	"time"
)

// Config is what can be set, in the form of config.json.
type Config struct {
	Connection

	// Budget limits a run.
	Budget Budget `json:"budget"`
	// Permissions say what tools may do.
	Permissions Permissions `json:"permissions"`
	// Commands is about the commands that the model runs.
	Commands Commands `json:"commands"`
	// Timeouts bound waiting.
	Timeouts Timeouts `json:"timeouts"`

	// MCPServers are tool servers by name.
	MCPServers map[string]MCPServer `json:"mcpServers,omitempty"`
	// Instructions are files for the model's instructions, in the workspace.
	Instructions []string `json:"instructions"`
	// Skills are folders of skills.
	Skills []string `json:"skills"`
	// Hooks are commands at events of a run, by the event's name.
	Hooks map[string]json.RawMessage `json:"hooks,omitempty"`
}

// Connection says which model to use and how to reach it.
type Connection struct {
	// Provider is the name of a provider; without it the environment chooses.
	Provider string `json:"provider,omitempty"`
	// Model is the model's id; without it the provider's default is used.
	Model string `json:"model,omitempty"`
	// BaseURL is where the provider's API is, in any form people paste.
	BaseURL string `json:"baseURL,omitempty"`
	// APIKeyEnv names the environment variable that holds the key.
	APIKeyEnv string `json:"apiKeyEnv,omitempty"`
	// ContextWindow is the model's window in tokens; 0 is what the server tells.
	ContextWindow int64 `json:"contextWindow,omitempty"`
	// Headers are what to send with every request to the model, by name.
	Headers Headers `json:"headers,omitempty"`
	// CAFile is a file of certificates (PEM) to trust beside the system's.
	CAFile string `json:"caFile,omitempty"`
}

// Budget limits a run; 0 is no limit.
type Budget struct {
	// MaxTurns is how many requests to the model a run may make.
	MaxTurns int64 `json:"maxTurns"`
	// MaxTokens is how many tokens, in and out, it may use.
	MaxTokens int64 `json:"maxTokens"`
	// MaxSeconds is how long it may take, waiting for a person not counted.
	MaxSeconds float64 `json:"maxSeconds"`
	// MaxCost is what it may cost, where the server tells.
	MaxCost float64 `json:"maxCost"`
}

// Permissions are rules: tool or tool(pattern).
type Permissions struct {
	// Default is what happens where no rule matches: auto, ask or deny.
	Default string `json:"default"`
	// Allow are the rules for what runs unasked.
	Allow []string `json:"allow,omitempty"`
	// Ask are the rules for what is asked about; they are stronger than allow.
	Ask []string `json:"ask,omitempty"`
	// Deny are the rules for what never runs; they are the strongest.
	Deny []string `json:"deny,omitempty"`
}

// Commands is about run_command.
type Commands struct {
	// Sandbox is one of auto, overlay, copy and off.
	Sandbox string `json:"sandbox"`
	// Network lets commands reach the network.
	Network bool `json:"network"`
	// TimeoutSeconds is how long a command may take that names no time itself.
	TimeoutSeconds float64 `json:"timeoutSeconds"`
	// Env is what to add to the environment of commands.
	Env map[string]string `json:"env,omitempty"`
}

// MCPServer is a program to start, or the URL of a server that runs.
type MCPServer struct {
	// Command is the program to start.
	Command string `json:"command,omitempty"`
	// Args are its arguments.
	Args []string `json:"args,omitempty"`
	// Env is what to add to its environment.
	Env map[string]string `json:"env,omitempty"`
	// URL is where a server runs already, instead of command.
	URL string `json:"url,omitempty"`
}

// Timeouts bound waiting.
type Timeouts struct {
	// IdleSeconds is how long a model's server may be silent.
	IdleSeconds float64 `json:"idleSeconds"`
	// ToolSeconds is how long a tool may take.
	ToolSeconds float64 `json:"toolSeconds"`
}

// Idle is IdleSeconds as a duration.
func (t Timeouts) Idle() time.Duration { return seconds(t.IdleSeconds) }

// Tool is ToolSeconds as a duration.
func (t Timeouts) Tool() time.Duration { return seconds(t.ToolSeconds) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Defaults is the configuration without any source.
func Defaults() Config {
	return Config{
		Budget:       Budget{MaxTurns: 100},
		Permissions:  Permissions{Default: "auto"},
		Commands:     Commands{Sandbox: "auto", TimeoutSeconds: 120},
		Timeouts:     Timeouts{IdleSeconds: 120, ToolSeconds: 60},
		Instructions: []string{"AGENTS.md"},
		Skills:       []string{".agents/skills"},
	}
}
