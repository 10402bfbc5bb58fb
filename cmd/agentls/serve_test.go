package main

import (
	"bufio"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// A server whose standard error nobody reads any more works on, whatever it
// has to log.
func TestServeOutlivesTheReaderOfItsLog(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	logIn, logOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: self, Args: []string{"agentls", "serve", "--stdio", "--log-level", "debug"}, Stderr: logOut}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	logIn.Close()
	logOut.Close()
	send := func(body string) {
		if _, err := fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			t.Error(err)
		}
	}
	answers := bufio.NewReader(out)
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`)
	if got := frame(t, answers); !strings.Contains(got, `"agentls"`) {
		t.Errorf("answered %s", got)
	}
	send(`{`) // worth a line in the log
	frame(t, answers)
	send(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`)
	frame(t, answers)
	send(`{"jsonrpc":"2.0","method":"exit"}`)
	if rest, err := io.ReadAll(answers); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v after the last answer", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// frame reads one message.
func frame(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		t.Fatal(err)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		t.Fatal(err)
	}
	return string(body)
}
