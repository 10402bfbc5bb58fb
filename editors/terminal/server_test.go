package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is also the servers that these tests start.
func TestMain(m *testing.M) {
	switch os.Getenv("TEST_SERVER") {
	case "":
		os.Exit(m.Run())
	case "dies":
		fmt.Fprintln(os.Stderr, "panic: \x1b[31mout of luck")
		os.Exit(3)
	case "stays":
		fmt.Println("up")
		<-time.After(time.Hour)
	}
}

func testServer(kind string) Options {
	return Options{Server: []string{os.Args[0]}, Env: append(os.Environ(), "TEST_SERVER="+kind)}
}

func TestAServerThatDies(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var out, errs bytes.Buffer
	o := testServer("dies")
	o.Prompt, o.Dir = "x", t.TempDir()
	o.Console = &Console{In: strings.NewReader(""), Out: &out, Err: &errs}
	if code := Run(t.Context(), o); code != ExitFailed {
		t.Errorf("exit status %d", code)
	}
	if got := errs.String(); !strings.Contains(got, "the server ended before the run did; its last words:\npanic: ␛[31mout of luck") {
		t.Errorf("said %q", got)
	}
}

func TestAServerThatDoesNotLeaveIsEnded(t *testing.T) {
	p, err := startServer(testServer("stays"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(p, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	p.leave = time.Millisecond
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	<-p.exited
}

func TestAServerThatIsNotThere(t *testing.T) {
	if _, err := startServer(Options{Server: []string{t.TempDir() + "/none"}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var log tail
	for range 1000 {
		fmt.Fprintln(&log, "a line of text")
	}
	fmt.Fprint(&log, "the end")
	if got := log.String(); len(got) > tailSize || !strings.HasSuffix(got, "text\nthe end") {
		t.Errorf("%d bytes, ends %q", len(got), got[len(got)-20:])
	}
}
