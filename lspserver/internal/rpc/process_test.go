//go:build unix

package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentls/agentls/lspserver/internal/rpc"
)

// roleVar makes the test binary play another process.
const roleVar = "RPC_TEST_ROLE"

func standIn() {
	switch os.Getenv(roleVar) {
	case "server":
		os.Exit(serveStdio())
	case "sleeper":
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
}

// serveStdio is a server whose handler prints wherever it can.
func serveStdio() int {
	in, out, err := rpc.Stdio()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	o := lifecycle(make(chan string, 10))
	handler := o.Call
	o.Call = func(ctx context.Context, method string, params json.RawMessage) (any, error) {
		fmt.Println("stray output of Go")
		syscall.Write(1, []byte("stray output of C\n"))
		child := exec.Command("sh", "-c", "cat; echo stray output of a child")
		child.Stdin, child.Stdout = os.Stdin, os.Stdout
		if err := child.Run(); err != nil {
			return nil, err
		}
		return handler(ctx, method, params)
	}
	conn := rpc.NewConn(in, out, closers{in, out}, o)
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if err := conn.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Run:", err)
		return 1
	}
	return 0
}

// play starts the test binary in a role.
func play(t *testing.T, role string, stderr io.Writer) (cmd *exec.Cmd, in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err = cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	return cmd, in, out
}

// C145: standard output carries frames and nothing else; C151: the status.
func TestStdio(t *testing.T) {
	var stderr bytes.Buffer
	cmd, in, out := play(t, "server", &stderr)
	for _, body := range []string{initialize, ask("1", "echo"), shutdown, exit} {
		io.WriteString(in, frame(body))
	}
	r := bufio.NewReader(out)
	got := map[string]bool{}
	for {
		body, err := readFrame(r)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got[body] = true
	}
	if !got[initialized] || !got[answer("1")] || !got[wasShutDown] {
		t.Errorf("got %v", got)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server: %v\n%s", err, &stderr)
	}
	for _, want := range []string{"stray output of Go", "stray output of C", "stray output of a child"} {
		if n := strings.Count(stderr.String(), want); n != 3 {
			t.Errorf("%q is %d times on standard error, want 3", want, n)
		}
	}
}

// C144 (c): a client that is gone is an error, not a signal; and an end of the
// context ends the read of a pipe that stays open.
func TestStdioBrokenPipe(t *testing.T) {
	var stderr bytes.Buffer
	cmd, in, out := play(t, "server", &stderr)
	out.Close()
	io.WriteString(in, frame(initialize))
	err := cmd.Wait()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 || !strings.Contains(stderr.String(), "broken pipe") {
		t.Errorf("the server: %v\n%s", err, &stderr)
	}
}

// C144 (b): the client was killed and nobody has waited for it.
func TestWatchParent(t *testing.T) {
	cmd, _, _ := play(t, "sleeper", nil)
	dead := rpc.WatchParent(t.Context(), cmd.Process.Pid, 5*time.Millisecond)
	select {
	case <-dead:
		t.Fatal("it lives")
	case <-time.After(30 * time.Millisecond):
	}
	cmd.Process.Kill()
	if runtime.GOOS != "linux" {
		cmd.Wait()
	}
	select {
	case <-dead:
	case <-time.After(patience):
		t.Fatal("nobody noticed")
	}
	select { // it is dead at the first look
	case <-rpc.WatchParent(t.Context(), cmd.Process.Pid, time.Hour):
	case <-time.After(patience):
		t.Fatal("nobody noticed")
	}
}

func TestWatchParentThatLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		self := rpc.WatchParent(ctx, os.Getpid(), time.Second)
		none := rpc.WatchParent(ctx, 0, time.Second)
		time.Sleep(time.Minute)
		select {
		case <-self:
			t.Error("we are not dead")
		case <-none:
			t.Error("what was never there is not dead")
		default:
		}
		stop()
	})
}
