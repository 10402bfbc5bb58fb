package terminal

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// Console is where a run is shown and questions are answered. One goroutine
// uses it.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
	// Interactive says that somebody is there to answer questions.
	Interactive bool
	// Color says that Out shows colours and moves its cursor.
	Color bool
	// Interrupts gets the user's Ctrl+C; nil for none.
	Interrupts <-chan os.Signal

	lines chan line
	want  chan struct{}
}

type line struct {
	text string
	err  error
}

// Standard is the process's own console. From now on Ctrl+C does not end the
// process but is told to the console.
func Standard() *Console {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	in, out := term.IsTerminal(int(os.Stdin.Fd())), term.IsTerminal(int(os.Stdout.Fd()))
	return &Console{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Interactive: in && out,
		Color:       out && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		Interrupts:  interrupts,
	}
}

// readLine waits for a line of input. It ends early when ctx does or the user
// interrupts; the line then begun is the next one read.
func (c *Console) readLine(ctx context.Context) (string, error) {
	if c.lines == nil {
		c.lines, c.want = make(chan line), make(chan struct{}, 1)
		// A read of a terminal cannot be taken back: this goroutine lives as
		// long as the process, and reads only when asked.
		go readLines(c.In, c.want, c.lines)
	}
	select {
	case c.want <- struct{}{}:
	default: // it is reading already
	}
	select {
	case l := <-c.lines:
		return l.text, l.err
	case <-c.Interrupts:
		return "", errInterrupted
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func readLines(in io.Reader, want <-chan struct{}, lines chan<- line) {
	r := bufio.NewReader(in)
	for range want {
		text, err := r.ReadString('\n')
		if err != nil && text != "" {
			err = nil // a last line without an end
		}
		lines <- line{text: text, err: err}
	}
}
