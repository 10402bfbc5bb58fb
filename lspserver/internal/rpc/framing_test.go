package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/lspserver/internal/rpc"
)

const (
	parseError     = -32700
	invalidRequest = -32600
)

func ask(id, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{}}`, id, method)
}

func answer(id string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id) }

// C152: what real clients do differently.
func TestFramesThatDiffer(t *testing.T) {
	body := ask("1", "echo")
	n := len(body)
	for name, raw := range map[string]string{
		"lower case":           fmt.Sprintf("content-length: %d\r\n\r\n%s", n, body),
		"upper case":           fmt.Sprintf("CONTENT-LENGTH:%d\r\n\r\n%s", n, body),
		"no space":             fmt.Sprintf("Content-Length:%d\r\n\r\n%s", n, body),
		"spaces":               fmt.Sprintf("Content-Length: \t%d  \r\n\r\n%s", n, body),
		"leading zeros":        fmt.Sprintf("Content-Length: 000%d\r\n\r\n%s", n, body),
		"type before":          fmt.Sprintf("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s", n, body),
		"type after":           fmt.Sprintf("Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n%s", n, body),
		"another length":       fmt.Sprintf("X-Content-Length: 7\r\nContent-Length: %d\r\n\r\n%s", n, body),
		"the same twice":       fmt.Sprintf("Content-Length: %d\r\nContent-Length: %d\r\n\r\n%s", n, n, body),
		"line feeds":           fmt.Sprintf("Content-Length: %d\n\n%s", n, body),
		"line break before":    "\r\n\r\n" + frame(body),
		"spaces around":        frame(" \r\n\t" + body + "\n "),
		"long unknown field":   "X-Long: " + strings.Repeat("x", 900) + "\r\n" + frame(body),
		"members in any order": frame(`{"params":{},"more":[{"id":2}],"method":"echo","id":1,"jsonrpc":"2.0"}`),
		"escaped names":        frame(`{"jsonrpc":"2.0","id":1,"m\u0065thod":"\u0065cho","params":{}}`),
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, rpc.Options{})
			c.write(raw)
			c.want(answer("1"))
			c.alive()
		})
		t.Run(name+", byte by byte", func(t *testing.T) {
			c := start(t, rpc.Options{})
			for i := range len(raw) {
				c.write(raw[i : i+1])
			}
			c.want(answer("1"))
		})
	}
}

func TestSeveralFramesInOneWrite(t *testing.T) {
	c := start(t, rpc.Options{Inline: map[string]bool{"echo": true}})
	var all, split string
	for i := range 50 {
		all += frame(ask(fmt.Sprint(i), "echo"))
	}
	c.write(all)
	for i := range 50 {
		c.want(answer(fmt.Sprint(i)))
	}
	split = frame(`{"jsonrpc":"2.0","id":1,"method":"echo","params":["中文😀"]}`)
	for at := range len(split) { // in the middle of a character too
		c.write(split[:at])
		c.write(split[at:])
		c.want(`{"jsonrpc":"2.0","id":1,"result":["中文😀"]}`)
	}
}

// faulty is something that is no message, and the errors that answer it.
type faulty struct {
	name, raw string
	codes     []int
}

// faults are of every kind. After each the next frame can be found.
func faults() []faulty {
	deep := strings.Repeat(`[`, 1_000_000) + strings.Repeat(`]`, 1_000_000)
	whole := ask("1", "echo")
	return []faulty{
		{"no length", "Content-Type: x\r\n\r\n" + whole, []int{parseError}},
		{"no header", "hello\r\n", []int{parseError}},
		{"no header, no line", "hello", []int{parseError}},
		{"no name", ": 5\r\n\r\n", []int{parseError}},
		{"http", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{parseError}},
		{"negative", "Content-Length: -5\r\n\r\n" + whole, []int{parseError}},
		{"zero", "Content-Length: 0\r\n\r\n", []int{parseError}},
		{"empty", "Content-Length:\r\n\r\n", []int{parseError}},
		{"no number", "Content-Length: many\r\n\r\n" + whole, []int{parseError}},
		{"fraction", "Content-Length: 5.0\r\n\r\n" + whole, []int{parseError}},
		{"hexadecimal", "Content-Length: 0x50\r\n\r\n" + whole, []int{parseError}},
		{"two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", []int{parseError, parseError}},
		{"header cut short", "Content-Length: 5\r\n", []int{parseError}},
		{"2 GB, nothing follows", "Content-Length: 2147483648\r\n\r\n", []int{invalidRequest}},
		{"2 GB, little follows", "Content-Length: 2147483648\r\n\r\n" + whole, []int{invalidRequest}},
		{"beyond 64 bits", "Content-Length: 99999999999999999999999\r\n\r\n" + whole, []int{invalidRequest}},
		{"too long by one", "Content-Length: 65537\r\n\r\n\"" + strings.Repeat("x", 65535) + "\"", []int{invalidRequest}},
		{"two faults", "Content-Length: -5\r\n\r\nContent-Length: many\r\n\r\n", []int{parseError, parseError}},
		{"a hundred fields", strings.Repeat("X: y\r\n", 100) + "\r\n", []int{parseError}},
		{"nothing but zeros", strings.Repeat("\x00", 200_000), []int{parseError}},

		{"not JSON", frame("hello"), []int{parseError}},
		{"half JSON", frame(`{"jsonrpc":"2.0","id":1,"method":"echo"`), []int{parseError}},
		{"trailing comma", frame(`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1,}}`), []int{parseError}},
		{"wrong brackets", frame(`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[}]}`), []int{parseError}},
		{"two values", frame(whole + whole), []int{parseError}},
		{"single quotes", frame(`{'jsonrpc':'2.0'}`), []int{parseError}},
		{"raw line break in a string", frame("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":[\"a\nb\"]}"), []int{parseError}},
		{"latin-1", frame("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":[\"\xe4\"]}"), []int{parseError}},
		{"surrogates in UTF-8", frame("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":[\"\xed\xa0\x80\"]}"), []int{parseError}},
		{"UTF-16", frame("{\x00}\x00"), []int{parseError}},
		{"byte order mark", frame("\ufeff" + whole), []int{parseError}},
		{"nested too deep", frame(deep[:30_000] + deep[1_970_000:]), []int{parseError}},

		{"batch", frame("[" + whole + "]"), []int{invalidRequest}},
		{"empty batch", frame("[]"), []int{invalidRequest}},
		{"number", frame("7"), []int{invalidRequest}},
		{"null", frame("null"), []int{invalidRequest}},
		{"string", frame(`"echo"`), []int{invalidRequest}},
		{"no members", frame("{}"), []int{invalidRequest}},
		{"no version", frame(`{"id":1,"method":"echo"}`), []int{invalidRequest}},
		{"version 1.0", frame(`{"jsonrpc":"1.0","id":1,"method":"echo"}`), []int{invalidRequest}},
		{"version as number", frame(`{"jsonrpc":2.0,"id":1,"method":"echo"}`), []int{invalidRequest}},
		{"no method", frame(`{"jsonrpc":"2.0","params":{}}`), []int{invalidRequest}},
		{"method is a number", frame(`{"jsonrpc":"2.0","id":1,"method":5}`), []int{invalidRequest}},
		{"request and answer", frame(`{"jsonrpc":"2.0","id":1,"method":"echo","result":{}}`), []int{invalidRequest}},
		{"id is a fraction", frame(ask("1.5", "echo")), []int{invalidRequest}},
		{"id is beyond exact", frame(ask("1e300", "echo")), []int{invalidRequest}},
		{"id is beyond 64 bits", frame(ask("18446744073709551616", "echo")), []int{invalidRequest}},
		{"id is true", frame(ask("true", "echo")), []int{invalidRequest}},
		{"id is an object", frame(ask(`{"id":1}`, "echo")), []int{invalidRequest}},
		{"id is an array", frame(ask(`[1]`, "echo")), []int{invalidRequest}},

		{"too short", fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(whole)-9, whole), []int{parseError}},
		{"much too short", "Content-Length: 1\r\n\r\n" + whole, []int{parseError}},
		{"too short, ends as JSON", "Content-Length: 2\r\n\r\n{}" + whole, []int{invalidRequest, parseError}},
		{"too long by one", fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(whole)+1, whole), []int{parseError}},
		{"too long by a name", fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(whole)+10, whole), []int{parseError}},
		{"too long by a header", fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(whole)+18, whole), []int{parseError}},
		{"too long by a frame and more", fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(whole)+60, whole), []int{parseError}},
	}
}

// C152: each is answered with id null, and the next frame, which stands
// directly behind it, is read.
func TestFaultsAreAnswered(t *testing.T) {
	for _, tc := range faults() {
		t.Run(tc.name, func(t *testing.T) {
			c := start(t, rpc.Options{FrameLimit: 64 << 10})
			c.write(tc.raw + frame(ask(`"next"`, "echo")))
			for _, code := range tc.codes {
				if message := c.wantError("null", code); message == "" {
					t.Error("the error has no message")
				}
			}
			c.want(answer(`"next"`))
			c.alive()
		})
	}
}

// However faults follow each other, no message between them is lost.
func TestFaultsInAnyOrder(t *testing.T) {
	const limit = 64 << 10
	all := faults()
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		in, out := &bytes.Buffer{}, &bytes.Buffer{}
		var story, want []string
		for i := range 20 {
			f := all[rnd.IntN(len(all))]
			story = append(story, f.name)
			in.WriteString(f.raw)
			if rnd.IntN(3) == 0 || i == 19 {
				id := fmt.Sprintf(`"message %d"`, i)
				in.WriteString(frame(ask(id, "echo")))
				story, want = append(story, id), append(want, answer(id))
			}
		}
		runOver(t, in, out, limit)
		var got []string
		for _, body := range bodies(t, out) {
			if strings.Contains(body, `"id":"message `) {
				got = append(got, body)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\nanswers (-want +got):\n%s", strings.Join(story, "\n"), diff)
		}
	}
}

// runOver serves in, to its end, inline.
func runOver(t *testing.T, in io.Reader, out io.Writer, limit int) {
	t.Helper()
	conn := rpc.NewConn(in, out, closers{}, rpc.Options{
		FrameLimit: limit,
		Inline:     map[string]bool{"echo": true},
		Call:       echo,
		Notify:     func(context.Context, string, json.RawMessage) error { return nil },
	})
	if err := conn.Run(t.Context()); err != nil && err != io.ErrUnexpectedEOF {
		t.Fatalf("Run: %v", err)
	}
}

// bodies reads frames, and nothing else.
func bodies(t *testing.T, out io.Reader) (bodies []string) {
	t.Helper()
	for r := bufio.NewReader(out); ; {
		body, err := readFrame(r)
		if err == io.EOF {
			return bodies
		}
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, body)
	}
}

// A body that is too large is left out however it looks inside, and costs no
// memory to speak of.
func TestOversizedIsSkipped(t *testing.T) {
	c := start(t, rpc.Options{FrameLimit: 1 << 20})
	text := strings.Repeat(`Content-Length: 5\r\n\r\n{}`, 60_000)
	c.write(frame(`{"jsonrpc":"2.0","id":1,"method":"echo","params":["` + text + `"]}`))
	c.wantError("null", invalidRequest)
	c.alive()
}

// C152: ids come back as they were.
func TestIDs(t *testing.T) {
	for _, id := range []string{
		"0", "1", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808",
		`""`, `"1"`, `"a\"b\\c"`, `"中文😀"`, `"\n"`, `"null"`,
	} {
		c := start(t, rpc.Options{})
		c.send(ask(id, "echo"))
		c.want(answer(id))
	}
	for id, same := range map[string]string{"1.0": "1", "2e3": "2000", `"\u0061"`: `"a"`} {
		c := start(t, rpc.Options{})
		c.send(ask(id, "echo"))
		c.want(answer(same))
	}
}

// An id that is null makes a notification, as in JSON-RPC 1.0: there is nothing
// that an answer could name.
func TestNullID(t *testing.T) {
	c := start(t, rpc.Options{})
	c.send(ask("null", "echo"))
	c.alive()
}

func TestUnknownMethods(t *testing.T) {
	c := start(t, rpc.Options{})
	c.send(
		`{"jsonrpc":"2.0","method":"$/unheardOf","params":{}}`,
		`{"jsonrpc":"2.0","method":"unheard/of"}`,
		`{"jsonrpc":"2.0","id":1,"method":"unheard/of"}`)
	c.wantError("1", -32601)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"$/unheardOf"}`)
	c.wantError("2", -32601)
}

func TestDeepParams(t *testing.T) {
	deep := strings.Repeat(`[`, 9_000) + strings.Repeat(`]`, 9_000)
	c := start(t, rpc.Options{})
	c.send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":` + deep + `}`)
	c.want(`{"jsonrpc":"2.0","id":1,"result":` + deep + `}`)
}

func TestLargeFrames(t *testing.T) {
	c := start(t, rpc.Options{})
	text := strings.Repeat("中文😀x", 1<<20) // beyond the queue's limit, too
	c.send(`{"jsonrpc":"2.0","id":1,"method":"echo","params":["` + text + `"]}`)
	c.want(`{"jsonrpc":"2.0","id":1,"result":["` + text + `"]}`)
}
