package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"go.lsp.dev/jsonrpc2"
)

// badResponse is an answer that cannot be used. Errors are not answered with
// errors: the call that it belongs to fails, if there is one.
type badResponse struct {
	id     jsonrpc2.ID
	reason string
	bare   bool // neither result nor error
}

func (b *badResponse) Error() string { return b.reason }

// errNotJSON is the fault of a body whose length may be wrong.
var errNotJSON = &fault{jsonrpc2.ParseError, "the message is not valid JSON in UTF-8"}

// decode reads one message from body, whose bytes the message keeps. It fails
// with errNotJSON, a *fault or a *badResponse.
//
// The library looks at the envelope only, so the text is checked here; Go's
// checker keeps no stack and refuses nesting deeper than 10,000.
func decode(body []byte) (jsonrpc2.Message, error) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return nil, errNotJSON
	}
	msg, err := jsonrpc2.DecodeMessage(body)
	if err == nil {
		return msg, nil
	}
	return explain(body)
}

// explain says what is wrong with a message that is valid JSON. It takes one
// thing that the library does not: a whole number written as a float (1.0,
// 1e3), which some languages make of every number, is the same number in JSON.
func explain(body []byte) (jsonrpc2.Message, error) {
	switch bytes.TrimLeft(body, " \t\r\n")[0] {
	case '[':
		return nil, invalid("a batch: LSP sends one message a frame")
	case '{':
	default:
		return nil, invalid("a message is an object")
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, errNotJSON
	}
	id, idErr := decodeID(m["id"])
	method, hasMethod := m["method"]
	_, hasResult := m["result"]
	_, hasError := m["error"]
	switch {
	case !hasMethod && (hasResult || hasError):
		return nil, &badResponse{id: id, reason: "malformed answer"}
	case string(m["jsonrpc"]) != `"2.0"`:
		return nil, invalid(`jsonrpc is not "2.0"`)
	case !hasMethod && idErr == nil && id.IsValid():
		return nil, &badResponse{id: id, reason: "an answer without result and error", bare: true}
	case !hasMethod:
		return nil, invalid("a message without method")
	case hasResult || hasError:
		return nil, invalid("a message that is request and answer at once")
	case idErr != nil:
		return nil, invalid(idErr.Error())
	}
	var name string
	if method[0] != '"' || json.Unmarshal(method, &name) != nil {
		return nil, invalid("method is not a string")
	}
	params := m["params"]
	if string(params) == "null" {
		params = nil
	}
	if !id.IsValid() {
		return jsonrpc2.NewNotification(name, jsonrpc2.RawMessage(params)), nil
	}
	return jsonrpc2.NewCall(id, name, jsonrpc2.RawMessage(params)), nil
}

func invalid(message string) *fault { return &fault{jsonrpc2.InvalidRequest, message} }

// decodeID reads an id: a string or a whole number. Null and an absent one give
// the zero ID.
func decodeID(raw json.RawMessage) (jsonrpc2.ID, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return jsonrpc2.ID{}, nil
	}
	if raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		return jsonrpc2.NewStringID(s), err
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return jsonrpc2.NewNumberID(n), nil
	}
	const exact = 1 << 53 // beyond it a float is not sure to be the number written
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil && n == math.Trunc(n) && math.Abs(n) <= exact {
		return jsonrpc2.NewNumberID(int64(n)), nil
	}
	return jsonrpc2.ID{}, fmt.Errorf("id is neither a string nor a whole number")
}
