package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/throng-dev/throng/internal/load"
)

// child is a process that is spoken to by lines, and ends when its input does.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// answerWait is how long a child may take to answer.
const answerWait = time.Minute

// start runs a command on a core.
func start(o *options, cpu int, name string, args ...string) (*child, error) {
	c := &child{cmd: exec.Command(name, args...)}
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewScanner(out)
	c.out.Buffer(nil, 1<<20)
	if o.pin { // it has the core of whoever starts it
		load.Pin(cpu)
		defer load.Pin(1)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("bench: starting %s: %w", name, err)
	}
	return c, nil
}

// hear reads the next line.
func (c *child) hear(into any) error {
	watch := time.AfterFunc(answerWait, func() { c.cmd.Process.Kill() })
	defer watch.Stop()
	if !c.out.Scan() {
		return fmt.Errorf("bench: %s ended, or did not answer within %v", c.cmd.Path, answerWait)
	}
	if err := json.Unmarshal(c.out.Bytes(), into); err != nil {
		return fmt.Errorf("bench: %s: %w: %s", c.cmd.Path, err, c.out.Text())
	}
	return nil
}

func (c *child) ask(line string, into any) error {
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		return err
	}
	return c.hear(into)
}

func (c *child) stop() {
	c.in.Close()
	watch := time.AfterFunc(10*time.Second, func() { c.cmd.Process.Kill() })
	defer watch.Stop()
	c.cmd.Wait()
}

// usage is what a server answers to any line.
type usage struct {
	CPU float64 `json:"cpu_us"`
	RSS float64 `json:"rss"`
	at  time.Time
}

func (c *child) usage() (u usage, err error) {
	err = c.ask("", &u)
	u.at = time.Now()
	return u, err
}

// spent is the server's part of a result.
func (r *result) spent(from, to usage, updates float64) {
	r.core = (to.CPU - from.CPU) / 1e6 / to.at.Sub(from.at).Seconds()
	if updates > 0 {
		r.cpu = (to.CPU - from.CPU) / updates
	}
}
