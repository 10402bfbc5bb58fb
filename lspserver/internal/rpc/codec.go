package rpc

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// codec writes the types of LSP with the encoders of go.lsp.dev/protocol, which
// know its unions, and everything else with encoding/json, whose rules for
// omitempty our types are written for. Raw JSON is passed on as it is.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	switch raw := v.(type) {
	case jsonrpc2.RawMessage:
		return orNull(raw), nil
	case json.RawMessage:
		return orNull(raw), nil
	}
	if isLSP(reflect.TypeOf(v)) {
		return protocol.Marshal(v)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (codec) Unmarshal(data []byte, v any) error {
	switch raw := v.(type) {
	case *jsonrpc2.RawMessage:
		*raw = bytes.Clone(data)
		return nil
	case *json.RawMessage:
		*raw = bytes.Clone(data)
		return nil
	}
	if isLSP(reflect.TypeOf(v)) {
		return protocol.Unmarshal(data, v)
	}
	return json.Unmarshal(data, v)
}

func orNull(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("null")
	}
	return raw
}

// isLSP reports whether t is a type of go.lsp.dev or a pointer to, list or map of one.
func isLSP(t reflect.Type) bool {
	for t != nil {
		if t.PkgPath() != "" {
			return strings.HasPrefix(t.PkgPath(), "go.lsp.dev/")
		}
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
		default:
			return false
		}
	}
	return false
}
