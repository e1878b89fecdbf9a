package udp

import (
	"net"
	"net/netip"
	"time"
)

// Bare is a socket without sessions or seals, moved in batches like that of a Listener: what a relay's datagrams would cost alone.
type Bare struct {
	conn *net.UDPConn
	s    socket
	out  []packet
}

// ListenBare opens one on addr, HOST:PORT.
func ListenBare(addr string) (*Bare, error) {
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, err
	}
	s, err := newSocket(conn, batch, readBuffer, false)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &Bare{conn: conn, s: s}, nil
}

// Receive waits until the deadline for datagrams, and calls f with each of one batch; data is valid until f returns. Only an error
// after which the socket is of no use is returned.
func (b *Bare) Receive(until time.Time, f func(from netip.AddrPort, data []byte)) error {
	n, err := b.s.recv(until)
	if err != nil && !transient(err) {
		return err
	}
	for i := range n {
		f(b.s.datagram(i))
	}
	return nil
}

// Add puts a datagram into the batch that Flush sends. Data must stay as it is until then.
func (b *Bare) Add(to netip.AddrPort, data []byte) { b.out = append(b.out, packet{to: to, data: data}) }

// Flush sends what was added, and reports how many datagrams the system took.
func (b *Bare) Flush() int {
	n := b.s.send(b.out)
	clear(b.out)
	b.out = b.out[:0]
	return n
}

// Addr is where the socket listens.
func (b *Bare) Addr() netip.AddrPort { return b.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// Close frees the socket. Any goroutine may call it; a Receive that waits ends.
func (b *Bare) Close() error { return b.s.close() }
