package memnet

import (
	"bytes"
	"fmt"
	"net"
	"time"

	"github.com/throng-dev/throng/transport"
)

// Listener is the relay's end of the network.
type Listener struct {
	n      *Network
	addr   addr
	signal chan struct{}
	woken  chan struct{}

	// Under n.mu.
	conns  map[transport.ID]*Conn
	inbox  []happening
	closed bool
}

var _ transport.Listener = (*Listener)(nil)

// happening is one call of a Sink.
type happening struct {
	id      transport.ID
	payload []byte // of Received
	peer    *transport.Peer
	why     error // of Closed
}

// Listen opens a listener. An empty address means one that is not in use; Addr tells it.
func (n *Network) Listen(address string) (*Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for address == "" {
		n.names++
		if a := fmt.Sprintf("mem:%d", n.names); n.listeners[a] == nil {
			address = a
		}
	}
	if n.listeners[address] != nil {
		return nil, fmt.Errorf("throng: memnet: address %s is in use: close its listener first", address)
	}
	l := &Listener{
		n: n, addr: addr(address), conns: map[transport.ID]*Conn{},
		signal: make(chan struct{}, 1), woken: make(chan struct{}, 1),
	}
	n.listeners[address] = l
	return l, nil
}

// open lets a client in whose request arrived.
func (l *Listener) open(c *Conn, name string, token []byte) {
	if c.server == nil {
		c.server, c.known = l, true
		l.conns[c.id] = c
		c.cl.conns = append(c.cl.conns, c)
		l.happen(happening{id: c.id, peer: &transport.Peer{
			UserData:   bytes.Clone(token[:transport.UserDataSize]),
			Privileged: len(token) > transport.UserDataSize && token[transport.UserDataSize] != 0,
			Addr:       addr(name),
		}})
	}
	if c.server == l && c.known {
		c.answer()
	}
}

func (l *Listener) happen(h happening) {
	if l.closed {
		return
	}
	l.inbox = append(l.inbox, h)
	select {
	case l.signal <- struct{}{}:
	default:
	}
}

// arrived takes a payload from a client.
func (l *Listener) arrived(c *Conn, b []byte) {
	if c.known {
		l.happen(happening{id: c.id, payload: b})
	}
}

// lost takes the end of a client's connection.
func (l *Listener) lost(c *Conn, why error) {
	delete(l.conns, c.id)
	l.happen(happening{id: c.id, why: why})
}

// Poll is transport.Listener's. An opened or closed connection counts as a datagram.
func (l *Listener) Poll(deadline time.Time, s transport.Sink) error {
	woken, waits := false, false
	var timeout <-chan time.Time
	for {
		select {
		case <-l.woken:
			woken = true
		default:
		}
		told, closed := l.tell(s)
		switch {
		case closed:
			return transport.ErrClosed
		case told || woken || !time.Now().Before(deadline):
			return nil
		case !waits:
			waits = true
			t := time.NewTimer(time.Until(deadline))
			defer t.Stop()
			timeout = t.C
		}
		select {
		case <-l.signal:
		case <-l.woken:
			woken = true
		case <-timeout:
		}
	}
}

// tell hands over what has arrived, one by one: the sink may disconnect whose next is in line.
func (l *Listener) tell(s transport.Sink) (told, closed bool) {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	for left := len(l.inbox); left > 0 && len(l.inbox) > 0 && !l.closed; left-- {
		h := l.inbox[0]
		l.inbox[0] = happening{}
		l.inbox = l.inbox[1:]
		told = true
		l.n.mu.Unlock()
		h.tell(s)
		l.n.mu.Lock()
	}
	return told, l.closed
}

// tell makes the call, and scribbles over what was only lent for its length.
func (h *happening) tell(s transport.Sink) {
	switch {
	case h.peer != nil:
		s.Opened(h.id, *h.peer)
		scribble(h.peer.UserData)
	case h.why != nil:
		s.Closed(h.id, h.why)
	default:
		s.Received(h.id, h.payload)
		scribble(h.payload)
	}
}

// Send is transport.Listener's. Datagrams to connections that are over are dropped.
func (l *Listener) Send(out []transport.Datagram) {
	n := l.n
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, d := range out {
		b := seal(d.Buf)
		if c := l.conns[d.To]; c != nil {
			n.carry(c.cl, &c.cl.down, len(b), func() { c.arrived(bytes.Clone(b)) })
		}
	}
	n.pump()
}

// Disconnect is transport.Listener's. Nothing of the connection is reported after it.
func (l *Listener) Disconnect(id transport.ID) {
	n := l.n
	n.mu.Lock()
	defer n.mu.Unlock()
	c := l.conns[id]
	if c == nil {
		return
	}
	delete(l.conns, id)
	kept := l.inbox[:0]
	for _, h := range l.inbox {
		if h.id != id {
			kept = append(kept, h)
		}
	}
	l.inbox = kept
	c.known = false
	n.goodbye(c.cl, &c.cl.down, c.end)
	c.forget()
	n.pump()
}

// Wake is transport.Listener's.
func (l *Listener) Wake() {
	select {
	case l.woken <- struct{}{}:
	default:
	}
}

// Addr is what to dial.
func (l *Listener) Addr() net.Addr { return l.addr }

// Close is transport.Listener's. It says no goodbye, like a process that was killed: clients find out after Timeout,
// and the address is free at once. Disconnect them first for an orderly end.
func (l *Listener) Close() error {
	n := l.n
	n.mu.Lock()
	defer n.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed, l.inbox = true, nil
	delete(n.listeners, string(l.addr))
	for _, c := range l.conns {
		c.known = false
		n.after(Timeout, func() { c.end(transport.ErrTimeout) })
	}
	l.conns = nil
	l.Wake()
	n.pump()
	return nil
}
