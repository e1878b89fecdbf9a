package udp

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/throng-dev/throng/internal/netcode"
	"github.com/throng-dev/throng/transport"
)

// Listener is the relay's end: one socket, all sessions. All methods but Wake, Close and Stats belong to one goroutine.
type Listener struct {
	// constant after Listen
	addr   net.Addr
	clock  clock
	socket socket

	// the one goroutine
	server   *netcode.Server
	out      []packet
	hellos   []packet // apart from out, which Send may be filling
	events   []netcode.Event
	failures int

	// atomic
	counters counters
}

// Listen opens a socket on addr, HOST:PORT. Without a host it takes every address of the machine, IPv4 and IPv6; port
// 0 takes any that is free (see Addr).
func Listen(addr string, c Config) (*Listener, error) {
	if !hasUDP() {
		return nil, errNoUDP
	}
	local, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, listenError(addr, err)
	}
	conn, err := net.ListenUDP("udp", local)
	if err != nil {
		return nil, listenError(addr, err)
	}
	l, err := listen(conn, c)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return l, nil
}

func listen(conn *net.UDPConn, c Config) (*Listener, error) {
	if len(c.Public) == 0 {
		own, err := ownAddrs(conn.LocalAddr().(*net.UDPAddr).AddrPort())
		if err != nil {
			return nil, err
		}
		c.Public = own
	}
	server, err := netcode.NewServer(netcode.ServerConfig{
		Key: c.Key, AuthorityKey: c.AuthorityKey, Protocol: c.Protocol, Addrs: c.Public, MaxClients: c.MaxClients,
		MaxHandshakesPerIP: c.MaxHandshakesPerIP, Timeout: c.Timeout, KeepAlive: c.KeepAlive, Accept: c.Accept,
	})
	if err != nil {
		return nil, err
	}
	s, err := newSocket(conn, batch, readBuffer, c.Portable)
	if err != nil {
		return nil, err
	}
	return &Listener{
		addr: conn.LocalAddr(), clock: clock{time.Now()}, socket: s, server: server,
		out: make([]packet, 0, burst), hellos: make([]packet, 0, burst),
	}, nil
}

// ownAddrs is where a socket is reached, as far as this machine knows.
func ownAddrs(local netip.AddrPort) ([]netip.AddrPort, error) {
	ip := local.Addr().Unmap()
	if !ip.IsUnspecified() {
		return []netip.AddrPort{netip.AddrPortFrom(ip.WithZone(""), local.Port())}, nil
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, errors.New("throng: cannot list the addresses of this machine: set the public address of the relay")
	}
	var own []netip.AddrPort
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				own = append(own, netip.AddrPortFrom(ip.Unmap(), local.Port()))
			}
		}
	}
	if len(own) == 0 {
		return nil, errors.New("throng: this machine has no address: set the public address of the relay")
	}
	return own, nil
}

// Addr is where clients reach the listener.
func (l *Listener) Addr() net.Addr { return l.addr }

// Poll hands what has arrived to s: see transport.Listener. Handshakes, keep-alives and timeouts happen here, so a
// listener that nobody polls is dead to its peers.
func (l *Listener) Poll(deadline time.Time, s transport.Sink) error {
	handed := 0
	var until time.Time // the zero time: first take what is there
	for {
		n, err := l.read(until, s, &handed)
		if err != nil {
			return err
		}
		t := time.Now()
		now := l.clock.at(t)
		l.tell(l.server.Update(now, l.events[:0]), s, &handed)
		l.control()
		l.counters.sessions.Store(int64(l.server.Sessions()))
		l.counters.handshakes.Store(int64(l.server.Handshakes()))
		l.counters.tokens.Store(int64(l.server.Tokens()))
		if handed > 0 || !t.Before(deadline) {
			return nil
		}
		if n == 0 && !until.IsZero() && t.Before(until) {
			return nil // woken
		}
		until = deadline
		if next := l.clock.time(l.server.NextUpdate()); next.Before(until) {
			until = next
		}
	}
}

// read takes batches until there is no more, or enough.
func (l *Listener) read(until time.Time, s transport.Sink, handed *int) (total int, err error) {
	for range maxBatches {
		n, err := l.socket.recv(until)
		if err != nil {
			return total, l.failed(err)
		}
		if n > 0 {
			l.failures = 0
			now := l.clock.at(time.Now())
			for i := range n {
				from, b := l.socket.datagram(i)
				l.counters.in.Add(1)
				l.counters.bytesIn.Add(uint64(len(b)))
				l.handle(l.server.Receive(now, from, b), s, handed)
			}
			l.control()
		}
		total += n
		if n < batch {
			break // a batch that is not full was the last
		}
		until = time.Time{}
	}
	return total, nil
}

func (l *Listener) failed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return transport.ErrClosed
	}
	if l.failures++; l.failures > maxFailures && !transient(err) {
		return err
	}
	return nil
}

func (l *Listener) tell(events []netcode.Event, s transport.Sink, handed *int) {
	for _, e := range events {
		l.handle(e, s, handed)
	}
	l.events = events
}

func (l *Listener) handle(e netcode.Event, s transport.Sink, handed *int) {
	if e.Kind == netcode.Ignored {
		if e.Drop != 0 {
			l.counters.dropped[e.Drop].Add(1)
		}
		return
	}
	*handed++
	id := transport.ID(e.ID)
	switch e.Kind {
	case netcode.Payload:
		s.Received(id, e.Data)
	case netcode.Opened:
		s.Opened(id, transport.Peer{UserData: e.Data, Privileged: e.Privileged, Addr: net.UDPAddrFromAddrPort(e.From)})
	case netcode.Left:
		s.Closed(id, transport.ErrClosed)
	case netcode.TimedOut:
		s.Closed(id, transport.ErrTimeout)
	}
}

// Send seals a flush in place and hands it to the system, a burst at a time.
func (l *Listener) Send(out []transport.Datagram) {
	now := l.clock.at(time.Now())
	for len(out) > 0 {
		n := min(len(out), burst)
		ps := l.out[:0]
		for _, d := range out[:n] {
			if b, to, ok := l.server.Seal(now, netcode.ID(d.To), d.Buf, transport.Headroom); ok {
				ps = append(ps, packet{to, b})
			}
		}
		l.control() // Seal may have said hello; that goes first
		l.send(ps)
		out = out[n:]
	}
}

// control sends what the server has to say for itself.
func (l *Listener) control() {
	all := l.server.Outgoing()
	if len(all) == 0 {
		return
	}
	for len(all) > 0 {
		n := min(len(all), burst)
		ps := l.hellos[:0]
		for _, d := range all[:n] {
			ps = append(ps, packet{d.To, d.Data})
		}
		l.send(ps)
		all = all[n:]
	}
	l.server.Sent()
}

func (l *Listener) send(ps []packet) {
	if len(ps) > 0 {
		l.counters.send(l.socket, ps)
		clear(ps) // the buffers are the caller's
	}
}

// Disconnect tells the peer goodbye and forgets the connection.
func (l *Listener) Disconnect(id transport.ID) {
	l.server.Disconnect(netcode.ID(id))
	l.control()
}

// Wake ends a waiting Poll, or the next one. Any goroutine may call it.
func (l *Listener) Wake() { l.socket.wake() }

// Close frees the socket. Peers are not told: Disconnect does that.
func (l *Listener) Close() error { return l.socket.close() }

// Stats may be called by any goroutine.
func (l *Listener) Stats() Stats { return l.counters.stats() }
