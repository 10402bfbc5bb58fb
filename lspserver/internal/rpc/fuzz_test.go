package rpc_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// FuzzFraming reads any bytes and after them a frame that can be found. The
// server must not fall over, must write frames only, and must answer the frame
// at the end. Where the bytes announce a body that swallows that frame, more
// of them follow until one is out of its reach, as from a client that asks again.
func FuzzFraming(f *testing.F) {
	whole := frame(ask("1", "echo"))
	for _, seed := range []string{
		"", whole, whole + whole, whole[:len(whole)-1], whole[1:], "\r\n", "\n\n\n", "hello",
		"Content-Length: 5\r\n\r\nhello", "Content-Length: 0\r\n\r\n", "Content-Length: -1\r\n\r\n",
		"Content-Length: 99999999999\r\n\r\n", "Content-Length: 300\r\n\r\n" + whole, "Content-Length: 3",
		"Content-Type: x\r\n\r\n", "content-length:9\r\nx:y\r\n\r\n" + `{"id":1}`,
		frame("[]"), frame("{}"), frame(`{"jsonrpc":"2.0","id":1.5,"method":"echo"}`),
		frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`),
		frame(`{"jsonrpc":"2.0","id":1,"result":null}`), frame(`{"jsonrpc":"2.0","id":1,"error":{}}`),
		frame(strings.Repeat("[", 12_000)), strings.Repeat("Content-Length: 7\r\n", 9),
		frame(`{"jsonrpc":"2.0","method":"exit"}`), frame(initialize) + frame(shutdown),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		const limit = 2048
		in, out := bytes.NewBuffer(bytes.Clone(raw)), &bytes.Buffer{}
		last := frame(ask(`"the last"`, "echo"))
		for n := 0; n <= 2*limit; n += len(last) {
			in.WriteString(last)
		}
		runOver(t, in, out, limit)
		if !slices.Contains(bodies(t, out), answer(`"the last"`)) {
			t.Errorf("the frame at the end was not answered")
		}
	})
}
