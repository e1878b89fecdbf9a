// Package memnet is a carrier of datagrams inside one process, with the faults of a real network, for tests.
//
//	Dialer(name).Dial ─► request ─►┐                                   ┌─► Listener.Poll ─► Sink
//	Conn.Send ────────► up Pipe ───┤ Pipe.Plan: lost, late, twice? ────┤
//	Listener.Send ────► down Pipe ─┘   Sched: by time, then by order   └─► Conn.Receive
//
// It starts no goroutine of its own and blocks only on channels and timers, so it works inside a bubble of
// testing/synctest; a Network must be made in the bubble that uses it. Outside of one it runs in real time. For a
// simulator on one goroutine, Sched and Pipe do without Network.
//
// It holds its users to the contract of package transport: a buffer without tailroom panics, and buffers are scribbled
// over where a carrier that seals in place would.
package memnet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/transport"
)

const (
	// Timeout is how long a connection lives without hearing the other end.
	Timeout = 17 * time.Second

	dialTimeout = 5 * time.Second
	dialRetry   = 100 * time.Millisecond
	requestSize = 1078 // of netcode: a path with a smaller MTU cannot join
	answerSize  = 300
	goodbyes    = 10 // netcode repeats a goodbye that often
)

// Network is a set of listeners and the links of clients to them. Its methods may be called from any goroutine.
type Network struct {
	mu        sync.Mutex
	start     time.Time
	rng       *rand.Rand
	sched     Sched // in time since start
	timer     *time.Timer
	armed     time.Duration // when the timer fires, -1 if it does not
	listeners map[string]*Listener
	clients   map[string]*client
	names     int // of listeners without one
}

// client is the links of all connections dialled under one name.
type client struct {
	up, down Pipe
	cut      bool
	cuts     int // counts changes of cut
	refuse   error
	conns    []*Conn // oldest first
}

// New returns a network without faults or delay. Equal seeds and equal calls in equal order give equal runs.
func New(seed uint64) *Network {
	return &Network{
		start: time.Now(), rng: rand.New(rand.NewPCG(seed, 0)), armed: -1,
		listeners: map[string]*Listener{}, clients: map[string]*client{},
	}
}

// Shape sets the links of the client called name, from now on: up carries what it sends. What is on its way arrives as
// planned.
func (n *Network) Shape(name string, up, down Link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	cl := n.client(name)
	cl.up.Link, cl.down.Link = up, down
}

// Partition cuts both directions of a client, or joins them again. While it is cut nothing arrives, and after Timeout
// both ends of its connections end with transport.ErrTimeout.
func (n *Network) Partition(name string, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.partition(n.client(name), cut)
	n.pump()
}

// Cut cuts both directions of a client for d.
func (n *Network) Cut(name string, d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	cl := n.client(name)
	n.partition(cl, true)
	epoch := cl.cuts
	n.after(d, func() {
		if cl.cuts == epoch {
			n.partition(cl, false)
		}
	})
	n.pump()
}

// Refuse makes dials of a client fail with err, nil to accept again: transport.ErrRefused, transport.ErrTokenUsed.
func (n *Network) Refuse(name string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.client(name).refuse = err
}

// Traffic is what the links of a client carried.
func (n *Network) Traffic(name string) (up, down Traffic) {
	n.mu.Lock()
	defer n.mu.Unlock()
	cl := n.client(name)
	return cl.up.Traffic, cl.down.Traffic
}

func (n *Network) partition(cl *client, cut bool) {
	cl.cut = cut
	cl.cuts++
	if epoch := cl.cuts; cut {
		n.after(Timeout, func() {
			if cl.cuts != epoch {
				return
			}
			for _, c := range slices.Clone(cl.conns) {
				c.end(transport.ErrTimeout)
				c.endServer(transport.ErrTimeout)
			}
		})
	}
}

func (n *Network) client(name string) *client {
	cl := n.clients[name]
	if cl == nil {
		cl = &client{}
		n.clients[name] = cl
	}
	return cl
}

// carry sends size bytes down a pipe of cl, and calls f for each copy that arrives. It returns how many will, if the
// client is not cut.
func (n *Network) carry(cl *client, p *Pipe, size int, f func()) int {
	if cl.cut {
		p.Packets, p.Bytes, p.Lost = p.Packets+1, p.Bytes+uint64(size), p.Lost+1
		return 0
	}
	now := n.now()
	var room [2]time.Duration
	arrivals := p.Plan(n.rng, now, size, room[:0])
	for _, at := range arrivals {
		n.sched.At(at, func() {
			if !cl.cut {
				f()
			}
		})
	}
	return len(arrivals)
}

func (n *Network) after(d time.Duration, f func()) { n.sched.At(n.now()+d, f) }

func (n *Network) now() time.Duration { return time.Since(n.start) }

// pump delivers what is due and sets the timer for the next. It runs at the end of every call that plans something, so
// that a link without delay delivers at once.
func (n *Network) pump() {
	n.sched.Run(n.now())
	next, ok := n.sched.Next()
	switch {
	case !ok || next == n.armed:
		return
	case n.timer == nil:
		n.timer = time.AfterFunc(next-n.now(), func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.armed = -1
			n.pump()
		})
	default:
		n.timer.Reset(next - n.now())
	}
	n.armed = next
}

// seal copies the payload out of a buffer, and does to the buffer what sealing in place does.
func seal(buf []byte) []byte {
	size := len(buf) - transport.Headroom
	switch {
	case size < 1 || size > transport.MaxPayload:
		panic(fmt.Sprintf("throng: memnet: payload of %d bytes: send 1..%d", size, transport.MaxPayload))
	case cap(buf)-len(buf) < transport.Tailroom:
		panic("throng: memnet: buffer has no room for a tag: make it with transport.NewBuffer")
	}
	payload := bytes.Clone(buf[transport.Headroom:])
	scribble(buf[:len(buf)+transport.Tailroom])
	return payload
}

func scribble(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

// addr is the address of a listener, or the name of a client.
type addr string

var _ net.Addr = addr("")

func (a addr) Network() string { return "mem" }
func (a addr) String() string  { return string(a) }
