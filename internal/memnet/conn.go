package memnet

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/transport"
)

// lastID is of the process, not of a network: transport.ID promises that.
var lastID atomic.Uint64

// Dialer returns a dialer of the client called name, whose links Shape sets. A token is the 256 bytes of user data
// themselves; one byte more, not zero, marks it as privileged.
func (n *Network) Dialer(name string) transport.Dialer { return dialer{n, name} }

type dialer struct {
	n    *Network
	name string
}

// Conn is a client's end of a connection.
type Conn struct {
	n      *Network
	cl     *client
	id     transport.ID
	signal chan struct{}

	// Under n.mu.
	answered bool     // the answer to the request arrived
	inbox    [][]byte // arrived and not yet received
	err      error    // why the client's end is over
	server   *Listener
	known    bool // the server has it
}

var _ transport.Conn = (*Conn)(nil)

// Dial takes one round trip. Lost requests are sent again every 100 ms; after 5 s it gives up with ErrTimeout.
func (d dialer) Dial(ctx context.Context, address string, token []byte) (transport.Conn, error) {
	if len(token) != transport.UserDataSize && len(token) != transport.UserDataSize+1 {
		return nil, fmt.Errorf("throng: memnet: token of %d bytes: give the %d bytes of user data", len(token), transport.UserDataSize)
	}
	c := &Conn{n: d.n, id: transport.ID(lastID.Add(1)), signal: make(chan struct{}, 1)}
	token = append([]byte(nil), token...)
	retry := time.NewTicker(dialRetry)
	defer retry.Stop()
	giveUp := time.NewTimer(dialTimeout)
	defer giveUp.Stop()
	for {
		if done, err := c.request(d.name, address, token); done {
			return c, err
		} else if err != nil {
			return nil, err
		}
		err := error(nil)
		select {
		case <-c.signal:
		case <-retry.C:
		case <-ctx.Done():
			err = fmt.Errorf("throng: dial %s: %w", address, context.Cause(ctx))
		case <-giveUp.C:
			err = transport.ErrTimeout
		}
		if err != nil {
			c.abandon(err)
			return nil, err
		}
	}
}

// request sends a request unless the last one was answered.
func (c *Conn) request(name, address string, token []byte) (done bool, err error) {
	n := c.n
	n.mu.Lock()
	defer n.mu.Unlock()
	c.cl = n.client(name)
	if c.answered || c.cl.refuse != nil {
		return c.answered, c.cl.refuse
	}
	n.carry(c.cl, &c.cl.up, requestSize, func() {
		if l := n.listeners[address]; l != nil && c.err == nil {
			l.open(c, name, token)
		}
	})
	n.pump()
	return c.answered, nil
}

// answer is sent for each request that arrives, since the one before may be lost.
func (c *Conn) answer() {
	c.n.carry(c.cl, &c.cl.down, answerSize, func() {
		c.answered = true
		c.wake()
	})
}

// abandon ends a dial that failed. A server that let it in hears no more of it.
func (c *Conn) abandon(why error) {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	c.end(why)
	c.n.after(Timeout, func() { c.endServer(transport.ErrTimeout) })
	c.n.pump()
}

// Receive is transport.Conn's. What arrived before the connection was over is handed over first.
func (c *Conn) Receive(deadline time.Time, f func(payload []byte)) error {
	var timeout <-chan time.Time
	if !deadline.IsZero() {
		t := time.NewTimer(time.Until(deadline))
		defer t.Stop()
		timeout = t.C
	}
	for {
		inbox, err := c.drain()
		for _, b := range inbox {
			f(b)
			scribble(b)
		}
		if len(inbox) > 0 || err != nil {
			return err
		}
		if !deadline.IsZero() && !time.Now().Before(deadline) {
			return nil
		}
		select {
		case <-c.signal:
		case <-timeout:
			return nil
		}
	}
}

func (c *Conn) drain() (inbox [][]byte, err error) {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if inbox, c.inbox = c.inbox, nil; len(inbox) > 0 {
		return inbox, nil
	}
	return nil, c.err
}

// Send is transport.Conn's.
func (c *Conn) Send(bufs [][]byte) error {
	n := c.n
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	for _, buf := range bufs {
		b := seal(buf)
		n.carry(c.cl, &c.cl.up, len(b), func() { c.server.arrived(c, bytes.Clone(b)) })
	}
	n.pump()
	return nil
}

// Close is transport.Conn's. The goodbye is sent until one of ten gets through; if none does, the listener finds out
// after Timeout.
func (c *Conn) Close() error {
	n := c.n
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.err == nil {
		n.goodbye(c.cl, &c.cl.up, c.endServer)
		c.end(transport.ErrClosed)
	}
	c.inbox = nil
	n.pump()
	return nil
}

// goodbye tells the other end of a connection that it is over.
func (n *Network) goodbye(cl *client, p *Pipe, end func(why error)) {
	for range goodbyes {
		if n.carry(cl, p, answerSize, func() { end(transport.ErrClosed) }) > 0 {
			break
		}
	}
	n.after(Timeout, func() { end(transport.ErrTimeout) })
}

// arrived takes a payload from the listener.
func (c *Conn) arrived(b []byte) {
	if c.answered && c.err == nil {
		c.inbox = append(c.inbox, b)
		c.wake()
	}
}

// end ends the client's end of a connection.
func (c *Conn) end(why error) {
	if c.err == nil {
		c.err = why
		c.wake()
	}
	c.forget()
}

// endServer ends the listener's end of a connection.
func (c *Conn) endServer(why error) {
	if c.known {
		c.known = false
		c.server.lost(c, why)
	}
	c.forget()
}

func (c *Conn) forget() {
	if c.err != nil && !c.known {
		c.cl.conns = slices.DeleteFunc(c.cl.conns, func(other *Conn) bool { return other == c })
	}
}

func (c *Conn) wake() {
	select {
	case c.signal <- struct{}{}:
	default:
	}
}
