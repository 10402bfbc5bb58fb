package main

import (
	"os"
	"testing"
)

func TestPageIsUpToDate(t *testing.T) {
	want, err := write("../../agent/config/config.go")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("docs/configuration.md is not what agent/config says: run go generate ./docs/...")
	}
}

func TestSentence(t *testing.T) {
	for _, tt := range []struct{ comment, name, want string }{
		{"MaxTurns is how many turns.", "MaxTurns", "How many turns."},
		{"Deny are the rules.", "Deny", "The rules."},
		{"APIKeyEnv names the variable.", "APIKeyEnv", "Names the variable."},
		{"Whatever it is.", "It", "Whatever it is."},
	} {
		if got := sentence(tt.comment, tt.name); got != tt.want {
			t.Errorf("sentence(%q) = %q, want %q", tt.comment, got, tt.want)
		}
	}
}
