package config

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

const masked = "[secret]"

// Secret is a key that no way of printing or encoding shows.
type Secret struct{ value string }

// NewSecret wraps a key.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal returns the key, to be handed to what sends it and nothing else.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is no key.
func (s Secret) IsZero() bool { return s.value == "" }

func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return masked
}

// Format masks the key under every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, s.String()) }

// GoString masks the key.
func (s Secret) GoString() string { return s.String() }

// MarshalText masks the key, in JSON too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue masks the key.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Headers are sent with a request. Their values may hold a key: no way of
// printing or encoding shows them.
type Headers map[string]string

func (h Headers) String() string {
	var names []string
	for name := range h {
		names = append(names, name+": "+masked)
	}
	slices.Sort(names)
	return "[" + strings.Join(names, " ") + "]"
}

// Format masks the values under every verb.
func (h Headers) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, h.String()) }

// MarshalText masks the values, in JSON too.
func (h Headers) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// LogValue masks the values.
func (h Headers) LogValue() slog.Value { return slog.StringValue(h.String()) }
