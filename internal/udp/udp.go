// Package udp is the native carrier: netcode sessions over UDP sockets that move datagrams in batches.
//
//	Listener.Poll   socket.recv (one system call, up to 64 datagrams) → netcode.Server.Receive → Sink
//	                netcode.Server.Outgoing (replies, keep-alives) → socket.send
//	Listener.Send   netcode.Server.Seal, in place → plan (runs of one destination, equal sizes) → socket.send
//	Conn.Receive    socket.recv → netcode.Client.Receive → f
//	Conn.Send       netcode.Client.Seal, in place → socket.send
//
// A Listener has no goroutine and no lock: the goroutine that polls also sends. A Conn has a lock, since one goroutine
// sends while another waits; the waiting itself holds nothing. No packet costs an allocation in either direction.
//
// There are two kinds of sockets: that of Linux (socket_linux.go), which moves batches and lets the kernel cut a run
// of datagrams out of one message, and the portable one, which is plain calls of package net.
package udp

import (
	"errors"
	"net/netip"
	"runtime"
	"time"

	"github.com/throng-dev/throng/internal/netcode"
	"github.com/throng-dev/throng/transport"
)

const (
	// batch is how many datagrams one read takes, and how many messages one write. Measured November 2026 on Linux
	// 6.18: 16 to 64 are best, 256 fall out of the cache.
	batch = 64
	// burst is how many datagrams are sealed before they are handed to the socket.
	burst = 256
	// slot is the room for one datagram that arrives: one byte more than the longest, so that a longer one shows.
	slot = netcode.MaxPacket + 1
	// readBuffer is asked for each listening socket: a flush of 10,000 clients must fit while the shard computes.
	readBuffer = 4 << 20
	// clientBuffer does the same for a client, which has one relay to hear.
	clientBuffer = 512 << 10
	// maxBatches bounds what one Poll reads, so that a flood does not keep the caller from its own work.
	maxBatches = 32
)

// Config says whom a Listener lets in. Its fields are those of netcode.ServerConfig, in types that need no import.
type Config struct {
	// Key is what the backend mints tokens with. Zero is refused.
	Key [netcode.KeySize]byte
	// AuthorityKey, if not zero, is the second key: its tokens make a peer Privileged.
	AuthorityKey [netcode.KeySize]byte
	// Protocol must be that of the tokens.
	Protocol uint64
	// Public are the addresses that tokens list for this relay. Empty: the address listened on, or that port on every
	// address of this machine if it listens on all. Behind a translating router it must be set.
	Public []netip.AddrPort
	// MaxClients is how many may be connected. Zero: 1,024.
	MaxClients int
	// MaxHandshakesPerIP bounds the unfinished handshakes of one host. Zero: 256.
	MaxHandshakesPerIP int
	// Timeout is the longest silence of a session. Zero: 17 s.
	Timeout time.Duration
	// KeepAlive is the silence after which one is sent. Zero: 1.5 s.
	KeepAlive time.Duration
	// Accept has the last word on a token that opened: token.Fresh, for a relay. Nil: every token.
	Accept func(userData []byte, expires, wall int64) bool
	// Portable does without the system's batches. It is for tests and for kernels that misbehave.
	Portable bool
}

// packet is one datagram between this package and a socket.
type packet struct {
	to   netip.AddrPort // not valid: whom the socket is connected to
	data []byte
}

// socket moves packets. One goroutine receives, one sends, at the same time; wake and close may come from any.
type socket interface {
	// recv says how many datagrams came. It waits for the first until a moment, or not at all for the zero time, and
	// returns 0 when that is over or wake was called. The datagrams are valid until the next recv.
	recv(until time.Time) (int, error)
	datagram(i int) (from netip.AddrPort, data []byte)
	// send never waits. It says how many packets the system took.
	send(ps []packet) int
	wake()
	close() error
}

var errNoUDP = errors.New("throng: this platform has no UDP (a browser): dial with the WebSocket carrier")

func hasUDP() bool { return runtime.GOOS != "js" && runtime.GOOS != "wasip1" }

// clock gives state machines their two times.
type clock struct{ start time.Time }

func (c clock) at(t time.Time) netcode.Now {
	return netcode.Now{Wall: t.UnixMilli(), Mono: t.Sub(c.start)}
}

func (c clock) time(mono time.Duration) time.Time {
	// "Never" would overflow.
	return c.start.Add(min(mono, 1<<61))
}

var (
	_ transport.Listener = (*Listener)(nil)
	_ transport.Dialer   = Dialer{}
	_ transport.Conn     = (*Conn)(nil)
)
