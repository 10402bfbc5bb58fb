package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// leaveTime is how long a server that was told to leave may take.
const leaveTime = 3 * time.Second

// process is a running server; its pipes are the connection.
type process struct {
	io.Reader
	io.WriteCloser
	cmd *exec.Cmd
	log tail
	// leave is how long it may take to end once its input has.
	leave time.Duration

	exited  chan struct{}
	waitErr error // set before exited closes
}

// startServer starts the server, out of reach of the terminal's Ctrl+C: that
// is for the client, which decides what it means.
func startServer(o Options) (*process, error) {
	argv := o.Server
	if argv == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
		argv = []string{self, "serve", "--stdio"}
	}
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), leave: leaveTime, exited: make(chan struct{})}
	p.cmd.Env = o.Env
	p.cmd.Stderr = &p.log
	p.cmd.SysProcAttr = ownGroup()
	var err error
	if p.WriteCloser, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// A pipe of our own: exec's would be closed by Wait, maybe before the last
	// frames were read.
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.Reader, p.cmd.Stdout = out, childOut
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the server: %w", err), out.Close(), childOut.Close())
	}
	if err := childOut.Close(); err != nil {
		return nil, err
	}
	// What a grandchild holds open must not keep us.
	p.cmd.WaitDelay = leaveTime
	go func() {
		defer close(p.exited)
		p.waitErr = p.cmd.Wait()
	}()
	return p, nil
}

// Close ends the connection: the server sees its input end, leaves, and is
// ended if it does not.
func (p *process) Close() error {
	err := p.WriteCloser.Close()
	select {
	case <-p.exited:
	case <-time.After(p.leave):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	return errors.Join(err, p.Reader.(io.Closer).Close())
}

// failed adds to an error what the server last said and how it ended.
func (p *process) failed(err error) error {
	_ = p.Close()
	if said := strings.TrimSpace(p.log.String()); said != "" {
		err = fmt.Errorf("%w; its last words:\n%s", err, said)
	} else if p.waitErr != nil {
		err = fmt.Errorf("%w (%w)", err, p.waitErr)
	}
	return err
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	end []byte
}

const tailSize = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, b...)
	if over := len(t.end) - tailSize; over > 0 {
		t.end = append(t.end[:0], t.end[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.end), "")
}
