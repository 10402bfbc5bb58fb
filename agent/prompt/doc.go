// Package prompt writes what a model is told beside the conversation itself:
// the system prompt, what the user has in front of them, and the instruction
// files (AGENTS.md) of the workspace.
//
// It reads no file and knows no editor: the front end gives texts in neutral
// structs, and a function that reads a file as the agent sees it. Whatever
// comes out of a file is put between marks that it cannot forge, and is said
// to be data.
//
// Everything is deterministic, since a byte that changes in an early message
// costs the provider's cache. Instructions is safe for concurrent use, the
// rest are pure functions.
//
//	system := prompt.System(prompt.Environment{OS: runtime.GOOS, Folders: []string{"api", "web"}})
//	block := prompt.Context{Document: &prompt.Document{Path: "src/a.go", Line: 12}}.Render()
package prompt
