package openai

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agent/llm"
)

// serve answers every request with a handler.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// say answers with a body.
func say(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

// sse makes a stream of the data of events.
func sse(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

// delta is a chunk with one delta.
func delta(fields string) string { return `{"choices":[{"index":0,"delta":{` + fields + `}}]}` }

// tool is a chunk with one tool call.
func tool(fields string) string { return delta(`"tool_calls":[{` + fields + `}]`) }

func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":` + reason + `}]}`
}

const done = "[DONE]"

// want is what has to come of a stream. A call is "name {input}", and
// "name !part of the reason" if it must not run.
type want struct {
	text, thoughts string
	calls          []string
	stop           llm.StopReason // "" is StopEnd
	usage          string
	class          llm.ErrorClass
	says           string // part of the error's message
	retry          bool
	notice         string // code of a notice
}

type streamCase struct {
	name string
	body string
	want want
}

func readFile(args string) string { return "read_file " + args }

// opens is the first delta of a call.
func opens(index int, id, name, args string) string {
	return tool(fmt.Sprintf(`"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%q}`, index, id, name, args))
}

func more(index int, args string) string {
	return tool(fmt.Sprintf(`"index":%d,"function":{"arguments":%q}`, index, args))
}

// dashscope is C063 as it was seen.
var dashscope = []string{
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"run_command","arguments":""}}]}}]}`,
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"","type":"function","function":{"name":"","arguments":"{\"command\": "}}]}}]}`,
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"","type":"function","function":{"name":null,"arguments":"\"ls\"}"}}]}}]}`,
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"","type":"function","function":{"arguments":null}}]}}]}`,
}

var ls = want{calls: []string{`run_command {"command":"ls"}`}}

var callCases = []streamCase{
	{"C063 empty id and name", sse(append(dashscope, finish(`"tool_calls"`), done)...), ls},
	{"C064 finish without a delta", sse(append(dashscope, `{"choices":[{"index":0,"finish_reason":"tool_calls"}]}`, done)...), ls},
	{"C064 finish with a null delta", sse(append(dashscope, `{"choices":[{"index":0,"delta":null,"finish_reason":"tool_calls"}]}`, done)...), ls},
	{"C065 one index for all", sse(
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_b","function":{"name":"read_file","arguments":"{\"path\":\"b\"}"}}]}}]}`,
		`{"choices":[{"delta":{"content":""},"finish_reason":"stop"}]}`),
		want{calls: []string{readFile(`{"path":"a"}`), readFile(`{"path":"b"}`)}}},
	{"C065 one index for all, in pieces", sse(opens(0, "a", "read_file", ""), more(0, `{"path":`), more(0, `"a"}`),
		opens(0, "b", "read_file", ""), more(0, `{"path":`), more(0, `"b"}`), finish(`"stop"`)),
		want{calls: []string{readFile(`{"path":"a"}`), readFile(`{"path":"b"}`)}}},
	{"C065 one index for all, no ids", sse(opens(0, "", "read_file", `{"path":"a"}`), opens(0, "", "read_file", `{"path":"b"}`), finish(`"stop"`)),
		want{calls: []string{readFile(`{"path":"a"}`), readFile(`{"path":"b"}`)}}},
	{"C065 one index for all, no ids, in pieces", sse(opens(0, "", "read_file", ""), more(0, `{"path":"a"}`), opens(0, "", "read_file", ""), more(0, `{"path":"b"}`), finish(`"stop"`)),
		want{calls: []string{readFile(`{"path":"a"}`), readFile(`{"path":"b"}`)}}},
	{"C065 no index, no ids, in one delta", sse(delta(`"tool_calls":[{"function":{"name":"list","arguments":""}},{"function":{"name":"list","arguments":""}}]`), finish(`"stop"`)),
		want{calls: []string{`list {}`, `list {}`}}},
	{"C065 different tools at one index without ids", sse(opens(0, "", "list", ""), opens(0, "", "read_file", `{"path":"b"}`), finish(`"stop"`)),
		want{calls: []string{`list {}`, readFile(`{"path":"b"}`)}}},
	{"C067 interleaved", sse(opens(0, "a", "read_file", ""), opens(1, "b", "read_file", ""), more(0, `{"path"`), more(1, `{"pa`), more(0, `:"a"`), more(1, `th":"b"}`), more(0, `}`), finish(`"tool_calls"`), done),
		want{calls: []string{readFile(`{"path":"a"}`), readFile(`{"path":"b"}`)}}},
	{"C067 name in every chunk", sse(opens(0, "a", "read_file", ""), opens(0, "", "read_file", `{"path"`), opens(0, "", "read_file", `:"a"}`), finish(`"tool_calls"`), done),
		want{calls: []string{readFile(`{"path":"a"}`)}}},
	{"C067 id and name in every chunk", sse(opens(0, "a", "read_file", ""), opens(0, "a", "read_file", `{"path"`), opens(0, "a", "read_file", `:"a"}`), opens(0, "a", "read_file", ""), finish(`"tool_calls"`), done),
		want{calls: []string{readFile(`{"path":"a"}`)}}},
	{"C067 another id in every chunk", sse(opens(0, "a", "read_file", `{"pa`), opens(0, "b", "", `th":`), opens(0, "c", "", `"a"}`), finish(`"tool_calls"`), done),
		want{calls: []string{readFile(`{"path":"a"}`)}}},
	{"C067 the whole call again at the end", sse(opens(0, "a", "read_file", `{"path":`), more(0, `"a"}`), opens(0, "a", "read_file", `{"path":"a"}`), finish(`"tool_calls"`), done),
		want{calls: []string{readFile(`{"path":"a"}`)}}},
	{"C067 name in pieces", sse(opens(0, "a", "read", ""), opens(0, "a", "_file", ""), more(0, `{"path":"a"}`), finish(`"tool_calls"`), done),
		want{calls: []string{readFile(`{"path":"a"}`)}}},
	{"C068 another index for each piece", sse(tool(`"index":0,"id":"a","function":{"name":"read_file"}`), more(1, `{"path":`), more(2, `"a"}`), finish(`"tool_calls"`), done),
		want{calls: []string{readFile(`{"path":"a"}`)}}},
	{"C068 indices from 1", sse(opens(1, "a", "read_file", `{"path":`), more(1, `"a"}`), finish(`"tool_calls"`), done),
		want{calls: []string{readFile(`{"path":"a"}`)}}},
	{"C068 sparse indices", sse(opens(0, "a", "read_file", `{"path":"a"}`), opens(2000000000, "b", "read_file", `{"path":"b"}`), finish(`"tool_calls"`), done),
		want{calls: []string{readFile(`{"path":"a"}`), readFile(`{"path":"b"}`)}}},
	{"C068 two that wait, arguments of neither", sse(opens(0, "a", "read_file", ""), opens(1, "b", "read_file", ""), more(2, `{"path":"a"}`), finish(`"tool_calls"`), done),
		want{calls: []string{"read_file !one at a time", "read_file !one at a time"}, notice: "toolCallDropped"}},
	{"C070 identity first", sse(tool(`"index":0,"id":"call_1","type":"function","function":{"name":"list"}`), more(0, `{"path":"."}`), finish(`"tool_calls"`)),
		want{calls: []string{`list {"path":"."}`}}},
	{"C070 arguments first", sse(more(0, `{"path":`), more(0, `"."}`), tool(`"index":0,"id":"call_1","type":"function","function":{"name":"list"}`), finish(`"tool_calls"`)),
		want{calls: []string{`list {"path":"."}`}}},
	{"C070 arguments first, two calls", sse(more(0, `{"path":"a"}`), more(1, `{"path":`), opens(0, "x", "list", ""), more(1, `"b"}`), opens(1, "y", "read_file", ""), finish(`"tool_calls"`)),
		want{calls: []string{`list {"path":"a"}`, readFile(`{"path":"b"}`)}}},
	{"C071 no id", sse(tool(`"index":0,"function":{"name":"list","arguments":"{}"}`), finish(`"tool_calls"`)), want{calls: []string{`list {}`}}},
	{"C071 empty ids", sse(opens(0, "", "list", "{}"), opens(1, "", "list", "{}"), finish(`"tool_calls"`)), want{calls: []string{`list {}`, `list {}`}}},
	{"C072 one id for two calls", sse(opens(0, "Zs4", "read_file", `{"path":"a"}`), opens(1, "Zs4", "read_file", `{"path":"b"}`), finish(`"tool_calls"`)),
		want{calls: []string{readFile(`{"path":"a"}`), readFile(`{"path":"b"}`)}}},
	{"C072 one id for two calls, no index", sse(tool(`"id":"Zs4","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}`), tool(`"id":"Zs4","function":{"name":"read_file","arguments":"{\"path\":\"b\"}"}`), finish(`"tool_calls"`)),
		want{calls: []string{readFile(`{"path":"a"}`), readFile(`{"path":"b"}`)}}},
	{"C073 finish stop", sse(opens(0, "a", "list", "{}"), finish(`"stop"`)), want{calls: []string{`list {}`}}},
	{"C073 finish end_turn", sse(opens(0, "a", "list", "{}"), finish(`"end_turn"`)), want{calls: []string{`list {}`}}},
	{"C073 finish eos", sse(opens(0, "a", "list", "{}"), finish(`"eos"`)), want{calls: []string{`list {}`}}},
	{"C073 finish null and done", sse(opens(0, "a", "list", "{}"), finish(`null`), done), want{calls: []string{`list {}`}}},
	{"C073 in the chunk of the call", sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"list","arguments":"{}"}}]},"finish_reason":"stop"}]}`, done), want{calls: []string{`list {}`}}},
	{"C073 content filter", sse(opens(0, "a", "list", "{}"), finish(`"content_filter"`)), want{calls: []string{"list !content filter"}, stop: llm.StopFilter}},
	{"C074 call without a name", sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"","type":"function"}]},"finish_reason":"tool_calls"}]}`), want{notice: "toolCallDropped"}},
	{"C074 no calls", sse(finish(`"tool_calls"`), done), want{}},
	{"C076 bad escape", sse(opens(0, "a", "list", `{"path":"a\x.go"`), finish(`"tool_calls"`)), want{calls: []string{"list !at byte 11"}}},
	{"C076 a string", sse(opens(0, "a", "list", `"Beijing"`), finish(`"tool_calls"`)), want{calls: []string{"list !a string"}}},
	{"C076 a list", sse(opens(0, "a", "list", `[1]`), finish(`"tool_calls"`)), want{calls: []string{"list !a list"}}},
	{"C076 twice", sse(opens(0, "a", "list", `{"a":1}{"a":1}`), finish(`"tool_calls"`)), want{calls: []string{"list !at byte 7"}}},
	{"C076 more after it", sse(opens(0, "a", "list", `{"a":1} trailing`), finish(`"tool_calls"`)), want{calls: []string{"list !at byte 8"}}},
	{"C076 line break in a string", sse(opens(0, "a", "list", "{\"a\":\"x\ny\"}"), finish(`"tool_calls"`)), want{calls: []string{"list !at byte 7"}}},
	{"C076 single quotes", sse(opens(0, "a", "list", `{'a':1}`), finish(`"tool_calls"`)), want{calls: []string{"list !at byte 1"}}},
	{"C077 an object in a string", sse(opens(0, "a", "read_file", `"{\"path\":\"a\"}"`), finish(`"tool_calls"`)), want{calls: []string{readFile(`{"path":"a"}`)}}},
	{"C077 an object instead of a string", sse(tool(`"index":0,"id":"a","function":{"name":"read_file","arguments":{"path":"a"}}`), finish(`"tool_calls"`)), want{calls: []string{readFile(`{"path":"a"}`)}}},
	{"no arguments", sse(opens(0, "a", "list", ""), finish(`"tool_calls"`)), want{calls: []string{`list {}`}}},
	{"null arguments", sse(opens(0, "a", "list", "null"), finish(`"tool_calls"`)), want{calls: []string{`list {}`}}},
	{"C080 a call as text", sse(delta(`"content":"<tool_call>\n<function=run_command>\n"`), finish(`"stop"`)), want{text: "<tool_call>\n<function=run_command>\n", notice: "toolCallAsText"}},
	{"C080 a call in thoughts", sse(delta(`"content":"<think><tool_call>{}</think>Done."`), finish(`"stop"`)), want{thoughts: "<tool_call>{}", text: "Done."}},
	{"C089 cut by the limit", sse(opens(0, "a", "write_file", `{"path":"big.md","content":"# Title\n\n| a |`), finish(`"length"`)), want{calls: []string{"write_file !output limit"}, stop: llm.StopLength}},
	{"C089 cut, and called finished", sse(opens(0, "a", "write_file", `{"path":"big.md","content":"# Title`), finish(`"tool_calls"`)), want{calls: []string{"write_file !smaller pieces"}}},
	{"C089 valid by chance", sse(opens(0, "a", "write_file", `{"path":"big.md"}`), finish(`"length"`)), want{calls: []string{"write_file !output limit"}, stop: llm.StopLength}},
	{"C089 the first is whole", sse(opens(0, "a", "read_file", `{"path":"a"}`), opens(1, "b", "write_file", `{"path":`), finish(`"length"`)), want{calls: []string{readFile(`{"path":"a"}`), "write_file !output limit"}, stop: llm.StopLength}},
	{"C098 a pair split in the arguments", sse(opens(0, "a", "list", `{"a":"\ud83d`), more(0, `\ude00"}`), finish(`"tool_calls"`)), want{calls: []string{`list {"a":"\ud83d\ude00"}`}}},
	{"C098 a pair split around the arguments", sse(tool(`"index":0,"id":"a","function":{"name":"list","arguments":"{\"a\":\"\ud83d"}`), tool(`"index":0,"function":{"arguments":"\ude00\"}"}`), finish(`"tool_calls"`)), want{calls: []string{`list {"a":"😀"}`}}},
	{"C098 half a pair", sse(opens(0, "a", "list", `{"a":"\ud83d","b":"\\ud83d"}`), finish(`"tool_calls"`)), want{calls: []string{`list {"a":"\ufffd","b":"\\ud83d"}`}}},
	{"the old form", sse(delta(`"function_call":{"name":"list","arguments":""}`), delta(`"function_call":{"arguments":"{}"}`), finish(`"function_call"`)), want{calls: []string{`list {}`}}},
	{"text and call", sse(delta(`"content":"Look:"`), opens(0, "a", "list", "{}"), finish(`"tool_calls"`)), want{text: "Look:", calls: []string{`list {}`}}},
}

var textCases = []streamCase{
	{"C083 chunks without choices", sse(`{"choices":[],"prompt_filter_results":[{"a":1}]}`, delta(`"content":"hi"`), finish(`"stop"`), `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`, done),
		want{text: "hi", usage: "in=9 out=3 read=4"}},
	{"C083 null choices and usage", sse(`{"choices":null,"usage":null}`, `{"choices":[{"delta":{"content":"hi"}}],"usage":null}`, finish(`"stop"`), done), want{text: "hi"}},
	{"C083 usage in the last chunk", sse(delta(`"content":"hi"`), `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}`, done), want{text: "hi", usage: "in=9 out=3"}},
	{"C083 usage in every chunk", sse(`{"choices":[{"delta":{"content":"h"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, `{"choices":[{"delta":{"content":"i"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`, done), want{text: "hi", usage: "in=9 out=2"}},
	{"C178 DeepSeek's usage", sse(delta(`"content":"hi"`), finish(`"stop"`), `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":5,"completion_tokens_details":{"reasoning_tokens":2}}}`, done), want{text: "hi", usage: "in=9 out=3 read=4 reasoning=2"}},
	{"C178 reasoning counted apart", sse(delta(`"content":"hi"`), finish(`"stop"`), `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":32,"completion_tokens_details":{"reasoning_tokens":20}}}`, done), want{text: "hi", usage: "in=9 out=23 reasoning=20"}},
	{"C178 nothing counted", sse(delta(`"content":"hi"`), finish(`"stop"`), `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`, done), want{text: "hi"}},
	{"C178 Groq's usage", sse(delta(`"content":"hi"`), `{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":9,"completion_tokens":3}}}`, done), want{text: "hi", usage: "in=9 out=3"}},
	{"C178 cache writes", sse(delta(`"content":"hi"`), finish(`"stop"`), `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":0,"cache_creation_input_tokens":5}}}`), want{text: "hi", usage: "in=9 out=3 read=0 write=5"}},
	{"C086 no DONE", sse(delta(`"content":"hi"`), finish(`"stop"`)), want{text: "hi"}},
	{"C086 DONE without a reason", sse(delta(`"content":"hi"`), done), want{text: "hi"}},
	{"C086 neither", sse(delta(`"content":"hi"`)), want{text: "hi", class: llm.StreamCut, says: "in the middle", retry: true}},
	{"C086 nothing", "", want{class: llm.StreamCut, says: "before it began", retry: true}},
	{"C086 cut in a call", sse(opens(0, "a", "list", `{"a":`)), want{class: llm.StreamCut, retry: true}},
	{"C086 whole call, no end", sse(opens(0, "a", "list", `{}`)), want{class: llm.StreamCut, retry: true}},
	{"C086 cut in an event", sse(delta(`"content":"hi"`)) + `data: {"choices":[{"delta":{"content":"the`, want{text: "hi", class: llm.StreamCut, retry: true}},
	{"last event without a blank line", strings.TrimRight(sse(delta(`"content":"hi"`), finish(`"stop"`)), "\n"), want{text: "hi"}},
	{"C085 error object", sse(`{"error":{"message":"quota exceeded","code":429}}`, done), want{class: llm.RateLimit, says: "quota exceeded", retry: true}},
	{"C085 error text", sse(`{"error":"STREAM_EXPLODED"}`), want{class: llm.StreamCut, says: "STREAM_EXPLODED", retry: true}},
	{"C085 error event", "event: error\ndata: Overloaded\n\n", want{class: llm.StreamCut, says: "Overloaded", retry: true}},
	{"C085 error event without data", "event: error\n\n", want{class: llm.StreamCut, retry: true}},
	{"C085 error after half a call", sse(opens(0, "a", "list", `{"a":`), `{"error":{"message":"boom"}}`), want{class: llm.StreamCut, says: "boom", retry: true}},
	{"C085 error finish", sse(`{"choices":[{"finish_reason":"error","error":{"message":"provider died","code":502}}]}`), want{class: llm.Network, says: "provider died", retry: true}},
	{"C085 vLLM's error object", sse(`{"object":"error","message":"engine died","type":"InternalServerError","code":500}`), want{class: llm.Network, says: "engine died", retry: true}},
	{"C085 null error", sse(`{"error":null,"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}`), want{text: "hi"}},
	{"DeepSeek out of resources", sse(delta(`"content":"hi"`), finish(`"insufficient_system_resource"`)), want{text: "hi", class: llm.StreamCut, retry: true}},
	{"C097 overflow in a stream", sse(`{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8192 tokens."}}`), want{class: llm.ContextOverflow}},
	{"C100 odd shapes", sse(`{"id":1,"created":"123","system_fingerprint":null,"choices":[{"index":0.0,"logprobs":null,"delta":{"role":"assistant","content":null}}]}`,
		`{"choices":[{"delta":{"role":"assistant","content":""}}]}`, `{"choices":[{"delta":{"content":[{"type":"text","text":"hi"}]}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"!"}},{"index":1,"delta":{"content":"no"}}]}`, finish(`"stop"`)), want{text: "hi!"}},
	{"C100 delta before index", sse(`{"choices":[{"delta":{"content":"a"},"index":0},{"delta":{"content":"b"},"index":1}]}`, finish(`"stop"`)), want{text: "a"}},
	{"C100 refusal", sse(delta(`"refusal":"I will not."`), finish(`"stop"`)), want{text: "I will not.", stop: llm.StopRefusal}},
	{"C101 reasoning only", sse(delta(`"reasoning_content":"hm"`), finish(`"stop"`)), want{thoughts: "hm"}},
	{"C101 nothing said", sse(finish(`"stop"`), done), want{}},
	{"reasoning under two names", sse(delta(`"reasoning":"hm","reasoning_content":"hm"`), delta(`"content":"ok"`), finish(`"stop"`)), want{thoughts: "hm", text: "ok"}},
	{"Mistral's reasoning", sse(delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`), delta(`"content":"ok"`), finish(`"stop"`)), want{thoughts: "hm", text: "ok"}},
	{"think tags", sse(delta(`"content":"<thi"`), delta(`"content":"nk>\nhm"`), delta(`"content":"m</th"`), delta(`"content":"ink>\n\nok <think>"`), finish(`"stop"`)), want{thoughts: "\nhmm", text: "ok <think>"}},
	{"think tags that are none", sse(delta(`"content":" <"`), delta(`"content":"thin ice>"`), finish(`"stop"`)), want{text: " <thin ice>"}},
	{"think tags left open", sse(delta(`"content":"<think>hm</th"`), finish(`"length"`)), want{thoughts: "hm</th", stop: llm.StopLength}},
	{"C098 a pair split between deltas", sse(delta(`"content":"\ud83d"`), delta(`"content":"\ude00!"`), finish(`"stop"`)), want{text: "😀!"}},
	{"C098 half a pair", sse(delta(`"content":"a\ud83d"`), delta(`"content":"b"`), finish(`"stop"`)), want{text: "a\ufffdb"}},
	{"C098 half a pair at the end", sse(delta(`"content":"a\ud83d"`), finish(`"stop"`)), want{text: "a\ufffd"}},
	{"C098 bytes of a rune split between deltas", sse(delta("\"content\":\"\xe6\x80\""), delta("\"content\":\"\x9d\xff\""), finish(`"stop"`)), want{text: "思\ufffd"}},
	{"one piece of JSON", `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":[{"id":"a","type":"function","function":{"name":"list","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}`, want{text: "hi", calls: []string{`list {}`}, usage: "in=9 out=3"}},
	{"chunks without data:", delta(`"content":"h"`) + "\n" + delta(`"content":"i"`) + "\n" + finish(`"stop"`), want{text: "hi"}},
	{"C085 an error instead of a stream", `{"error":{"message":"no capacity","type":"server_error"}}`, want{class: llm.Network, says: "no capacity", retry: true}},
	{"an error instead of a stream, in FastAPI's form", `{"detail":"Model is loading"}`, want{class: llm.StreamCut, says: "Model is loading", retry: true}},
	{"a web page", "<!DOCTYPE html><html><head><title>Welcome to nginx!</title></head></html>", want{class: llm.BadRequest, says: "check baseURL"}},
	{"not JSON", sse(delta(`"content":"hi"`), `oops`), want{text: "hi", class: llm.StreamCut, says: "not JSON", retry: true}},
}

// frames are the legal ways, and some others, to write the same stream down.
var frames = map[string]string{
	"comments":              ": OPENROUTER PROCESSING\n\n:\n\n: ping\n" + sse(delta(`"content":"hi"`)) + ": ping\n\n" + sse(finish(`"stop"`)),
	"a comment in an event": "data: {\"choices\":\n: ping\ndata: [{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n",
	"retry and id":          "retry: 3000\n\nid: 1\n\n" + sse(delta(`"content":"hi"`), finish(`"stop"`)),
	"a ping event":          "event: ping\ndata: {}\n\n" + sse(delta(`"content":"hi"`), finish(`"stop"`)),
	"an event name":         "event: message\n" + sse(delta(`"content":"hi"`), finish(`"stop"`)),
	"blank lines":           "\n\n\n" + sse(delta(`"content":"hi"`)) + "\n\n\n" + sse(finish(`"stop"`)),
	"no space":              strings.ReplaceAll(sse(delta(`"content":"hi"`), finish(`"stop"`)), "data: ", "data:"),
	"CRLF":                  strings.ReplaceAll(sse(delta(`"content":"hi"`), finish(`"stop"`)), "\n", "\r\n"),
	"lone CR":               strings.ReplaceAll(sse(delta(`"content":"hi"`), finish(`"stop"`)), "\n", "\r"),
	"byte order mark":       "\ufeff" + sse(delta(`"content":"hi"`), finish(`"stop"`)),
	"two data lines":        "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n",
	"two chunks, one event": "data: " + delta(`"content":"h"`) + "\ndata: " + delta(`"content":"i"`) + "\ndata: " + finish(`"stop"`) + "\n\n",
	"a comment as data":     "data: : OPENROUTER PROCESSING\n\n" + sse(delta(`"content":"hi"`), finish(`"stop"`)),
	"empty data":            "data:\n\ndata: \n\n" + sse(delta(`"content":"hi"`), finish(`"stop"`)),
	"unknown field":         "foo: bar\ndatax: y\n" + sse(delta(`"content":"hi"`), finish(`"stop"`)),
}

func TestFrames(t *testing.T) {
	var cases []streamCase
	for name, body := range frames {
		cases = append(cases, streamCase{"C084 " + name, body, want{text: "hi"}})
	}
	big := strings.Repeat("x", 1<<20)
	cases = append(cases, streamCase{"C084 a line of 1 MiB", sse(delta(`"content":"`+big+`"`), finish(`"stop"`)), want{text: big}})
	runStreams(t, cases)
}

func TestCalls(t *testing.T) { runStreams(t, callCases) }
func TestTexts(t *testing.T) { runStreams(t, textCases) }

var offered = []llm.Tool{{Name: "read_file"}, {Name: "list"}, {Name: "run_command"}, {Name: "write_file"}}

func runStreams(t *testing.T, cases []streamCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newClientTo(t, Options{Provider: "custom", BaseURL: serve(t, say("text/event-stream", c.body))})
			a := collect(t, m, t.Context(), llm.Request{Model: "m", Messages: user("x"), Tools: offered})
			check(t, a, c.want)
		})
	}
}

func check(t *testing.T, a answered, w want) {
	t.Helper()
	if a.text != w.text || a.thoughts != w.thoughts {
		t.Errorf("text %.200q, thoughts %q, want %.200q, %q", a.text, a.thoughts, w.text, w.thoughts)
	}
	if a.err != nil || w.class != "" {
		checkError(t, a.err, w)
		return
	}
	w.stop = llm.StopReason(orElse(string(w.stop), string(llm.StopEnd)))
	if a.completed.Stop != w.stop {
		t.Errorf("stop %s, want %s", a.completed.Stop, w.stop)
	}
	checkMessage(t, a)
	checkCalls(t, a, w.calls)
	if got := usageText(a.completed.Usage); got != w.usage {
		t.Errorf("usage %q, want %q", got, w.usage)
	}
	if w.notice != "" && (len(a.notices) != 1 || a.notices[0].Code != w.notice) || w.notice == "" && len(a.notices) > 0 {
		t.Errorf("notices %+v, want %q", a.notices, w.notice)
	}
}

func checkError(t *testing.T, err error, w want) {
	t.Helper()
	var e *llm.Error
	if e, _ = err.(*llm.Error); e == nil {
		t.Fatalf("error %v, want class %s", err, w.class)
	}
	if e.Class != w.class || e.Retryable != w.retry || !strings.Contains(e.Message, w.says) {
		t.Errorf("error %+v, want class %s, retryable %v, that says %q", e, w.class, w.retry, w.says)
	}
}

// checkMessage holds the message to the deltas: they are the same.
func checkMessage(t *testing.T, a answered) {
	t.Helper()
	text, thoughts := "", ""
	for _, p := range a.completed.Message.Parts {
		switch p := p.(type) {
		case llm.Text:
			text += p.Text
		case llm.Thought:
			thoughts += p.Text
		}
	}
	if text != a.text || thoughts != a.thoughts {
		t.Errorf("the message says %q, %q, the deltas %q, %q", text, thoughts, a.text, a.thoughts)
	}
}

func checkCalls(t *testing.T, a answered, want []string) {
	t.Helper()
	var got []string
	ids := map[string]bool{}
	for i, u := range a.calls() {
		if ids[u.ID] || !isSafeID(u.ID) {
			t.Errorf("call %d has the id %q, which is not unique or not safe", i, u.ID)
		}
		ids[u.ID] = true
		s := u.Name + " " + string(u.Input)
		if u.Malformed != "" {
			s = u.Name + " !" + u.Malformed
			if string(u.Input) != "{}" {
				t.Errorf("a malformed call keeps the input %s", u.Input)
			}
			if i < len(want) && strings.Contains(s, strings.SplitN(want[i], "!", 2)[1]) {
				s = want[i]
			}
		}
		got = append(got, s)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	for _, d := range a.announced {
		if !ids[d.ID] {
			t.Errorf("%+v was announced and is not in the message", d)
		}
	}
}

func usageText(u *llm.Usage) string {
	if u == nil {
		return ""
	}
	var parts []string
	for _, f := range []struct {
		name string
		n    *int64
	}{{"in", u.Input}, {"out", u.Output}, {"read", u.CacheRead}, {"write", u.CacheWrite}, {"reasoning", u.Reasoning}} {
		if f.n != nil {
			parts = append(parts, fmt.Sprintf("%s=%d", f.name, *f.n))
		}
	}
	return strings.Join(parts, " ")
}
