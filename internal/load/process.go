package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// ChildCommand is the command of this program that runs Child.
const ChildCommand = "load-child"

// Process is a child.
type Process struct {
	Ready
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner

	stopped bool
}

// answerWait is how long a child may take to answer. One that is overloaded is slow.
const answerWait = 10 * time.Second

// Start runs a child of this program. Stop must be called; if this process dies, the child ends by itself.
func Start(ctx context.Context, o *Order, errs io.Writer) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("throng: starting a relay: %w", err)
	}
	cmd := exec.Command(self, ChildCommand)
	cmd.Stderr = errs
	p := &Process{cmd: cmd}
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("throng: starting a relay: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("throng: starting a relay: %w", err)
	}
	p.out = bufio.NewScanner(out)
	p.out.Buffer(nil, 16<<20)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("throng: starting a relay: %w", err)
	}
	if err := p.exchange(o, &p.Ready); err != nil {
		p.Stop()
		return nil, fmt.Errorf("throng: starting a relay: %w", err)
	}
	if p.Error != "" {
		p.Stop()
		return nil, fmt.Errorf("throng: starting a relay: %s", p.Error)
	}
	return p, ctx.Err()
}

func (p *Process) exchange(say, hear any) error {
	// A child that hangs is ended, which ends the wait.
	watch := time.AfterFunc(answerWait, func() { p.cmd.Process.Kill() })
	defer watch.Stop()
	if err := json.NewEncoder(p.in).Encode(say); err != nil {
		return err
	}
	if !p.out.Scan() {
		return errors.Join(errors.New("the process ended, or did not answer within 10 s"), p.out.Err())
	}
	return json.Unmarshal(p.out.Bytes(), hear)
}

// Read asks for the counters. The window is "begin", "end" or empty.
func (p *Process) Read(window string) (*Readings, error) {
	r := new(Readings)
	if err := p.exchange(Question{window}, r); err != nil {
		return nil, fmt.Errorf("throng: asking the relay: %w", err)
	}
	return r, nil
}

// Abandon does what the end of this process would do: it closes the child's input. It waits for the child, for a while.
func (p *Process) Abandon() error {
	p.stopped = true
	p.in.Close()
	watch := time.AfterFunc(answerWait, func() { p.cmd.Process.Kill() })
	defer watch.Stop()
	return p.cmd.Wait()
}

// Stop ends the child and waits for it. A second call does nothing.
func (p *Process) Stop() {
	if p.stopped {
		return
	}
	_ = p.Abandon() // how it ended is of no interest any more
}
