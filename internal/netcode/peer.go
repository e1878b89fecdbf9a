package netcode

import (
	"crypto/cipher"
	"net/netip"
	"time"
)

// ID names a connection of a Server. The low 20 bits are its slot, the rest counts connections, so an ID is never
// zero, never used again, and found without a map.
type ID uint64

const (
	slotBits = 20
	// MaxClients is the most a Server can hold.
	MaxClients = 1 << slotBits
)

func (id ID) slot() int { return int(id & (MaxClients - 1)) }

// peer is an address that sent a good token: first a handshake, then a session.
// With its keys, its places in the maps and its remembered token it costs about 530 bytes (TestIdleSessionMemory).
type peer struct {
	next, prev *peer // in a bucket of the wheel
	bucket     int32

	confirmed  bool // a packet came that only a connected client sends
	privileged bool
	id         ID // zero during the handshake

	addr     netip.AddrPort
	clientID uint64
	tag      tag
	send     cipher.AEAD
	recv     cipher.AEAD
	seq      uint64
	window   window

	lastSend time.Duration
	lastRecv time.Duration
	timeout  time.Duration // of the state it is in
	session  time.Duration // of the session, once it is one
}

// due is when somebody has to look at p again.
func (p *peer) due(keepAlive time.Duration) time.Duration {
	if p.id == 0 {
		return p.lastRecv + p.timeout
	}
	return min(p.lastRecv+p.timeout, p.lastSend+keepAlive)
}
