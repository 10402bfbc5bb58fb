package config

import (
	"path/filepath"
	"runtime"
)

// UserFile is where the user's configuration lies: below $XDG_CONFIG_HOME
// where that is set, else below the system's folder for it. It is "" if there
// is no home. A nil env is the process's environment.
func UserFile(env func(string) (string, bool)) string {
	get := lookup(env)
	dir := get("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := homeDir(get)
		switch {
		case runtime.GOOS == "windows":
			dir = get("AppData")
		case home == "":
			return ""
		case runtime.GOOS == "darwin":
			dir = filepath.Join(home, "Library", "Application Support")
		default:
			dir = filepath.Join(home, ".config")
		}
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "agentls", "config.json")
}

// StateDir is where sessions are kept: $AGENTLS_STATE_DIR, else agentls below
// $XDG_STATE_HOME, else the system's folder. Who writes there makes it, with
// mode 0700. It is "" if there is no home.
func StateDir(env func(string) (string, bool)) string {
	get := lookup(env)
	if dir := get("AGENTLS_STATE_DIR"); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			return abs
		}
		return dir
	}
	if dir := get("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "agentls")
	}
	if runtime.GOOS == "windows" {
		if dir := get("LocalAppData"); dir != "" {
			return filepath.Join(dir, "agentls")
		}
	}
	home := homeDir(get)
	if home == "" {
		return ""
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "agentls", "state")
	}
	return filepath.Join(home, ".local", "state", "agentls")
}

func homeDir(get func(string) string) string {
	if runtime.GOOS == "windows" {
		return get("USERPROFILE")
	}
	return get("HOME")
}
