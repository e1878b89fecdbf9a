package netcode

import (
	"crypto/cipher"
	"errors"
	"net/netip"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// State is where a Client is on its way:
//
//	Requesting ──challenge──► Responding ──keep-alive──► Connected ──► Over
//	     ▲                        │
//	     └── next address of the token, on silence or denial; after the last one: Over
type State uint8

// The states. A client begins in Requesting and never leaves Over.
const (
	Requesting State = iota
	Responding
	Connected
	Over
)

func (s State) String() string {
	return [...]string{"requesting", "responding", "connected", "over"}[s]
}

// Why a client is over.
var (
	ErrTokenExpired    = errors.New("throng: connect token has expired: ask the token source for a fresh one")
	ErrRequestTimeout  = errors.New("throng: no relay of the connect token answers: check the address, the port and the firewall, or the path carries no datagrams of 1,078 bytes")
	ErrResponseTimeout = errors.New("throng: relay stopped answering during the handshake: try again with a fresh token")
	ErrTimeout         = errors.New("throng: relay fell silent: the connection is over")
	ErrDenied          = errors.New("throng: relay denied the connection: it is full")
	ErrLeft            = errors.New("throng: relay said goodbye")
	ErrGoodbye         = errors.New("throng: this client said goodbye")
)

// ClientConfig says how to use a token.
type ClientConfig struct {
	// Token is the public connect token, 2,048 bytes.
	Token []byte
	// Protocol must be the token's.
	Protocol uint64
	// Addrs, if any, are tried instead of the token's own.
	Addrs []netip.AddrPort
	// Handshake is how long each address may take to accept. Zero: 5 s.
	Handshake time.Duration
	// Timeout is how long a session survives silence. Zero: what the token says.
	Timeout time.Duration
	// KeepAlive is the silence after which the client sends one. Zero: 1.5 s.
	KeepAlive time.Duration
}

// Client is the client's end of one session.
//
// It is driven by three calls: Receive with what arrived, Next until it has nothing to send, NextUpdate for when to
// call Next again. Its sequence numbers go on from one address to the next, so no nonce repeats.
type Client struct {
	// constant after NewClient
	config  ClientConfig
	token   PublicToken
	request []byte
	send    cipher.AEAD
	recv    cipher.AEAD
	timeout time.Duration // zero: never
	expire  time.Duration // monotonic time at which the token has lived its life, if it was fresh
	expires int64         // unix

	state    State
	err      error
	at       int // address in use
	began    time.Duration
	lastSend time.Duration
	lastRecv time.Duration
	sent     bool // something went out in this state
	seq      uint64
	window   window
	index    uint32
	max      uint32
	response [8 + challengeSize]byte

	crypt crypt // of both directions: calls do not overlap
	buf   [MaxHeader + 8 + challengeSize + TagSize]byte
}

// NewClient reads the token and begins with its first address.
//
// It does not ask the wall clock whether the token is stale: clocks of players are wrong, the server knows. After a
// failure the clock only helps to say why (see fail).
func NewClient(now Now, c ClientConfig) (*Client, error) {
	t, err := ParsePublicToken(c.Token)
	if err != nil {
		return nil, err
	}
	if t.Protocol != c.Protocol {
		return nil, ErrInvalidToken
	}
	if c.Handshake <= 0 {
		c.Handshake = 5 * time.Second
	}
	if c.KeepAlive <= 0 {
		c.KeepAlive = DefaultKeepAlive
	}
	if len(c.Addrs) > 0 {
		t.Addrs = c.Addrs
	}
	cl := &Client{
		token:   t,
		request: t.appendRequest(make([]byte, 0, requestSize)),
		send:    must(chacha20poly1305.New(t.ClientToServer[:])),
		recv:    must(chacha20poly1305.New(t.ServerToClient[:])),
		timeout: c.Timeout,
		expire:  now.Mono + time.Duration(min(t.Expires-t.Created, 1<<31))*time.Second,
		expires: int64(min(t.Expires, 1<<62)),
		began:   now.Mono,
		crypt:   newCrypt(t.Protocol),
	}
	if cl.timeout <= 0 && t.Timeout > 0 {
		cl.timeout = time.Duration(t.Timeout) * time.Second
	}
	c.Token = nil
	cl.config = c
	return cl, nil
}

// State is where the client is; Err says why it is Over.
func (c *Client) State() State { return c.state }
func (c *Client) Err() error   { return c.err }

// Remote is the address in use. A carrier whose socket is bound to one peer opens a new socket when it changes.
func (c *Client) Remote() netip.AddrPort { return c.token.Addrs[min(c.at, len(c.token.Addrs)-1)] }

// Slot is the client's index at the server and how many the server has room for.
func (c *Client) Slot() (index, max uint32) { return c.index, c.max }

// Receive takes one datagram from Remote, decrypts it in place and returns the payload, if it is one.
func (c *Client) Receive(now Now, datagram []byte) (payload []byte, why Drop) {
	if c.state == Connected {
		c.expireOld(now) // what a stopped program finds in its buffer is as old as the stop: it proves nothing
	}
	if c.state == Over {
		return nil, DropState
	}
	kind, body, why := c.crypt.open(c.recv, fromServer, &c.window, datagram)
	if why != 0 {
		return nil, why
	}
	switch {
	case kind == kindDenied && c.state != Connected:
		c.giveUp(now, ErrDenied)
		return nil, 0
	case kind == kindChallenge && c.state == Requesting:
		copy(c.response[:], body)
		c.enter(now, Responding)
	case kind == kindKeepAlive && c.state == Responding:
		c.index = uint32At(body)
		c.max = uint32At(body[4:])
		c.enter(now, Connected)
	case kind == kindKeepAlive && c.state == Connected:
	case kind == kindPayload && c.state == Connected:
		payload = body
	case kind == kindDisconnect && c.state == Connected:
		c.state, c.err = Over, ErrLeft
	default:
		return nil, DropState
	}
	c.lastRecv = now.Mono
	return payload, 0
}

func (c *Client) enter(now Now, s State) {
	c.state = s
	c.sent = false
	if s == Connected {
		c.lastRecv = now.Mono
	}
}

// giveUp goes on to the next address of the token.
func (c *Client) giveUp(now Now, err error) {
	c.at++
	if c.at >= len(c.token.Addrs) {
		c.fail(now, err)
		return
	}
	c.began = now.Mono
	c.window = window{} // another server counts from zero
	c.enter(now, Requesting)
}

// fail ends the client. A server is silent to a stale token, so if the clock says that it was one, that is the reason.
func (c *Client) fail(now Now, err error) {
	if err == ErrRequestTimeout && now.unix() >= c.expires {
		err = ErrTokenExpired
	}
	c.state, c.err = Over, err
}

func uint32At(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}
