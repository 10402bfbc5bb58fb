package lsptest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

func holds(text, part string) error {
	if !strings.Contains(text, part) {
		return fmt.Errorf("%q does not hold %q", text, part)
	}
	return nil
}

func count(what string, got int, want string) error {
	if strconv.Itoa(got) != want {
		return fmt.Errorf("%d %s", got, what)
	}
	return nil
}

// same compares texts and says where they part.
func same(got, want string) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("got\n%q\nwant\n%q", got, want)
}

// fits compares a value with one of the form value, ~part or !other.
func fits(got, want string) bool {
	if part, ok := strings.CutPrefix(want, "~"); ok {
		return strings.Contains(got, part)
	}
	if other, ok := strings.CutPrefix(want, "!"); ok {
		return got != other
	}
	return got == want
}

// match holds decoded JSON against words key=value.
func match(v any, args []string) error {
	for key, want := range settings(args) {
		if key == "n" {
			continue
		}
		if got := dig(v, key); !fits(got, want) {
			return fmt.Errorf("%s is %q", key, got)
		}
	}
	return nil
}

func matchJSON(raw json.RawMessage, args []string) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	if err := match(v, args); err != nil {
		return fmt.Errorf("%w in %s", err, raw)
	}
	return nil
}
