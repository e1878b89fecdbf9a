package netcode

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// ServerConfig says whom a Server lets in.
type ServerConfig struct {
	// Key is what the backend seals tokens with. Zero is refused.
	Key Key
	// AuthorityKey, if not zero, is a second key: its tokens mark the peer Privileged.
	AuthorityKey Key
	// Protocol must be that of the token and of the client.
	Protocol uint64
	// Addrs are where clients reach this server; a token must list one of them. Empty: any token is good, which is
	// safe only if no other server has the key, since a token could otherwise be used once on each.
	Addrs []netip.AddrPort
	// MaxClients is how many may be connected. Zero: 1,024; at most 2^20.
	MaxClients int
	// MaxHandshakes is how many may be on their way. Zero: MaxClients + 1,024.
	MaxHandshakes int
	// MaxHandshakesPerIP bounds those of one host, so that whoever collects tokens cannot fill the table. Zero: 256,
	// which a school behind one address does not reach.
	MaxHandshakesPerIP int
	// MaxTokens is how many tokens are remembered until they expire; beyond it new ones are ignored.
	// Zero: 4 × MaxClients + 4,096, about 160 bytes each.
	MaxTokens int
	// Timeout is the longest silence of a session; a token may ask for less. Zero: 17 s.
	Timeout time.Duration
	// KeepAlive is the silence after which the server sends one. Zero: 1.5 s.
	KeepAlive time.Duration
	// MaxLife is how far in the future a token may expire. Zero: 60 s; negative: any, for tests.
	MaxLife time.Duration
	// Accept has the last word on a token that opened and is for this server: it knows what the user data mean.
	// It must not keep userData. expires is in unix seconds, wall in unix milliseconds. Nil: every token.
	Accept func(userData []byte, expires, wall int64) bool
}

// Server is the server's end of every session: it turns datagrams into events and payloads into datagrams.
//
// Its memory is bounded by the Max fields of its config, whatever arrives.
type Server struct {
	// constant after New
	config    ServerConfig
	own       map[netip.AddrPort]struct{}
	keys      [2]cipher.AEAD // player, authority or nil
	challenge challenger

	// sessions
	peers map[netip.AddrPort]*peer // handshakes too
	ids   map[uint64]struct{}      // netcode client ids that are connected
	slots []*peer
	free  []uint32
	count uint64 // connections ever
	wheel wheel

	// handshakes
	handshakes int
	perIP      map[netip.Addr]int
	history    history
	early      uint64 // next sequence of packets to those without a session

	// scratch
	crypt  crypt
	out    outbox
	token  PrivateToken
	opened Challenge
	plain  [privatePlain]byte
	nonce  [NonceSize]byte
	ad     []byte
}

// NewServer checks the config and returns a server without sessions.
func NewServer(c ServerConfig) (*Server, error) {
	var errs []error
	if c.Key == (Key{}) {
		errs = append(errs, errors.New("throng: netcode server: Key is zero: set the key the backend mints tokens with"))
	}
	if c.Key == c.AuthorityKey && c.Key != (Key{}) {
		errs = append(errs, errors.New("throng: netcode server: AuthorityKey equals Key: every player would be an authority, use two keys"))
	}
	if c.MaxClients < 0 || c.MaxClients > MaxClients {
		errs = append(errs, fmt.Errorf("throng: netcode server: MaxClients %d is out of range: use 1..%d, or 0 for 1024", c.MaxClients, MaxClients))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	zero := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	zero(&c.MaxClients, 1024)
	zero(&c.MaxHandshakes, c.MaxClients+1024)
	zero(&c.MaxHandshakesPerIP, 256)
	zero(&c.MaxTokens, 4*c.MaxClients+4096)
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.KeepAlive <= 0 {
		c.KeepAlive = DefaultKeepAlive
	}
	if c.MaxLife == 0 {
		c.MaxLife = MaxLife
	}

	s := &Server{
		config:  c,
		own:     make(map[netip.AddrPort]struct{}, len(c.Addrs)),
		peers:   make(map[netip.AddrPort]*peer),
		ids:     make(map[uint64]struct{}),
		perIP:   make(map[netip.Addr]int),
		history: newHistory(c.MaxTokens),
		crypt:   newCrypt(c.Protocol),
	}
	for _, a := range c.Addrs {
		s.own[unmap(a)] = struct{}{}
	}
	s.keys[0] = must(chacha20poly1305.NewX(c.Key[:]))
	if c.AuthorityKey != (Key{}) {
		s.keys[1] = must(chacha20poly1305.NewX(c.AuthorityKey[:]))
	}
	var random [KeySize + 8]byte
	rand.Read(random[:])
	s.challenge.aead = must(chacha20poly1305.New(random[:KeySize]))
	// Packets before a session share the key of the session, so their sequence lies in the upper half. Where it starts
	// there is random: of several servers that a token lists, no two use one nonce under the same key.
	s.early = 1<<63 | binary.LittleEndian.Uint64(random[KeySize:])>>2
	return s, nil
}

// EventKind says what an Event is.
type EventKind uint8

const (
	// Ignored: nothing the caller has to know. Drop says why the datagram was refused, or is zero.
	Ignored EventKind = iota
	// Opened: a session began. Data is the token's user data.
	Opened
	// Payload: Data is what the peer sent.
	Payload
	// Left: the peer said goodbye.
	Left
	// TimedOut: the peer fell silent.
	TimedOut
)

// Event is what one datagram meant. Data is valid until the next call.
type Event struct {
	Kind       EventKind
	Drop       Drop
	Privileged bool // of Opened: the token was sealed with the authority key
	ID         ID
	From       netip.AddrPort // of Opened
	Data       []byte
}

// Receive takes one datagram, which it decrypts in place. What it answers waits in Outgoing.
func (s *Server) Receive(now Now, from netip.AddrPort, datagram []byte) Event {
	from = unmap(from)
	if len(datagram) < minPacket {
		return Event{Drop: DropShort}
	}
	if datagram[0] == kindRequest {
		return Event{Drop: s.request(now, from, datagram)}
	}
	p := s.peers[from]
	if p == nil {
		return Event{Drop: DropUnknown}
	}
	if p.id == 0 {
		return s.response(now, p, datagram)
	}
	kind, body, why := s.crypt.open(p.recv, fromClient, &p.window, datagram)
	if why != 0 {
		return Event{Drop: why}
	}
	p.lastRecv = now.Mono
	switch kind {
	case kindResponse:
		// It has not heard that it is connected. One small answer per response is no gift to an attacker.
		if !p.confirmed {
			s.hello(now, p)
		}
		return Event{}
	case kindDisconnect:
		e := Event{Kind: Left, ID: p.id}
		s.forget(p)
		return e
	case kindPayload:
		p.confirmed = true
		return Event{Kind: Payload, ID: p.id, Data: body}
	}
	p.confirmed = true
	return Event{}
}

// Update does what time demands: keep-alives into Outgoing, and an event for each session that fell silent, appended
// to events. It looks at nobody before its time, so calling it often costs nothing.
func (s *Server) Update(now Now, events []Event) []Event {
	s.history.sweep(now.Mono)
	s.wheel.advance(now.Mono, func(p *peer) {
		if now.Mono >= p.lastRecv+p.timeout {
			if p.id != 0 {
				events = append(events, Event{Kind: TimedOut, ID: p.id})
			}
			s.drop(p)
			return
		}
		if p.id != 0 && now.Mono >= p.lastSend+s.config.KeepAlive {
			s.hello(now, p)
		}
		s.wheel.add(p, p.due(s.config.KeepAlive))
	})
	return events
}

// NextUpdate is the monotonic time at which Update has work to do.
func (s *Server) NextUpdate() time.Duration { return s.wheel.next() }

// Outgoing is what the server has to say for itself. The datagrams are valid until Sent.
func (s *Server) Outgoing() []Datagram { return s.out.list }

// Sent empties Outgoing.
func (s *Server) Sent() { s.out.clear() }

// Sessions and Handshakes count those connected and those on their way; Tokens the tokens remembered.
func (s *Server) Sessions() int   { return len(s.ids) }
func (s *Server) Handshakes() int { return s.handshakes }
func (s *Server) Tokens() int     { return len(s.history.used) }

func unmap(a netip.AddrPort) netip.AddrPort {
	if a.Addr().Is4In6() {
		return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	}
	return a
}
