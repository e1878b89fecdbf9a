package udp

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/throng-dev/throng/internal/netcode"
	"github.com/throng-dev/throng/transport"
)

// clientBatch is how many datagrams a client reads at once. A program that plays many clients has this many buffers
// for each.
const clientBatch = 8

// Conn is the client's end: one socket, one session.
type Conn struct {
	clock clock

	// receiving goroutine
	got      [][]byte // payloads of the last batch, not yet handed over
	full     bool     // the last batch: more may wait
	failures int

	mu     sync.Mutex // guards what is below; nobody waits while holding it
	client *netcode.Client
	socket socket // replaced while dialing only
	out    []packet

	// atomic
	counters counters
}

// Receive calls f with each payload that arrives: see transport.Conn. It also keeps the connection alive, so a client
// that does not receive is gone after a while.
func (c *Conn) Receive(deadline time.Time, f func(payload []byte)) error {
	if err := c.pump(deadline, func() bool { return len(c.got) > 0 }); err != nil && len(c.got) == 0 {
		return err
	}
	for _, b := range c.got {
		f(b)
	}
	c.got = c.got[:0]
	return nil
}

// pump moves packets until enough, the deadline (zero: none), or the end of the session, whose reason it returns.
func (c *Conn) pump(deadline time.Time, enough func() bool) error {
	until := c.patience(deadline)
	for {
		n, err := c.read(until)
		if err != nil {
			return err
		}
		t := time.Now()
		next, err := c.step(c.clock.at(t), n)
		if enough() || err != nil {
			return err
		}
		if !deadline.IsZero() && !t.Before(deadline) {
			return nil
		}
		until = c.clock.time(next)
		if !deadline.IsZero() && deadline.Before(until) {
			until = deadline
		}
	}
}

// patience is until when the first read may wait: waiting begins with taking what is there, so that nothing need be asked before. It is
// the zero time, which takes what is there and no more, if the deadline is over.
func (c *Conn) patience(deadline time.Time) time.Time {
	now := time.Now()
	if !deadline.IsZero() && !now.Before(deadline) {
		return time.Time{}
	}
	c.mu.Lock()
	until := c.clock.time(c.client.NextUpdate())
	c.mu.Unlock()
	switch {
	case !now.Before(until):
		return time.Time{}
	case !deadline.IsZero() && deadline.Before(until):
		return deadline
	}
	return until
}

func (c *Conn) read(until time.Time) (int, error) {
	n, err := c.socket.recv(until)
	c.full = err != nil || n == clientBatch
	switch {
	case errors.Is(err, net.ErrClosed):
		return 0, transport.ErrClosed
	case err == nil:
		c.failures = 0
	case transient(err):
		return 0, nil
	default:
		if c.failures++; c.failures > maxFailures {
			return 0, err
		}
		return 0, nil
	}
	return n, nil
}

// step gives the client the datagrams that came and sends what it has to say.
func (c *Conn) step(now netcode.Now, n int) (next time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range n {
		_, b := c.socket.datagram(i)
		c.counters.in.Add(1)
		c.counters.bytesIn.Add(uint64(len(b)))
		payload, why := c.client.Receive(now, b)
		if payload != nil {
			c.got = append(c.got, payload)
		} else if why != 0 {
			c.counters.dropped[why].Add(1)
		}
	}
	remote := c.client.Remote()
	for b := c.client.Next(now); b != nil && c.client.Remote() == remote; b = c.client.Next(now) {
		c.send(b)
	}
	if c.client.State() == netcode.Over {
		return 0, over(c.client.Err())
	}
	return c.client.NextUpdate(), nil
}

// send sends one packet. The lock is held.
func (c *Conn) send(b []byte) {
	c.out = append(c.out[:0], packet{data: b})
	c.counters.send(c.socket, c.out)
	clear(c.out)
}

// Send seals payloads in place and hands them to the system.
func (c *Conn) Send(bufs [][]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.at(time.Now())
	c.out = c.out[:0]
	for _, b := range bufs {
		if d := c.client.Seal(now, b, transport.Headroom); d != nil {
			c.out = append(c.out, packet{data: d})
		}
	}
	if len(c.out) > 0 {
		c.counters.send(c.socket, c.out)
		clear(c.out)
	}
	if c.client.State() == netcode.Over {
		return over(c.client.Err())
	}
	return nil
}

// Close tells the relay goodbye.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client.State() != netcode.Over {
		c.client.Goodbye(c.send)
	}
	return c.socket.close()
}

// Cut closes the socket without a goodbye, as the end of a process or a cable does.
func (c *Conn) Cut() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.socket.close()
}

// More reports whether the last Receive left datagrams behind, as far as it can tell: whoever waits for many sockets at once need not
// ask this one again unless it does. It belongs to the goroutine that receives.
func (c *Conn) More() bool { return c.full }

// Control calls f with the descriptor of the socket, for programs that wait for many at once. It fails where sockets have none that
// is of use.
func (c *Conn) Control(f func(fd uintptr)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.socket.(interface{ control(func(fd uintptr)) error }); ok {
		return s.control(f)
	}
	return errors.ErrUnsupported
}

// Stats may be called by any goroutine.
func (c *Conn) Stats() Stats { return c.counters.stats() }

// over gives the end of a session the name it has in package transport.
func over(err error) error {
	switch err {
	case netcode.ErrLeft, netcode.ErrGoodbye:
		return transport.ErrClosed
	case netcode.ErrTimeout:
		return transport.ErrTimeout
	}
	return err
}
