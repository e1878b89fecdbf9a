// Package session is one end of a session over datagrams that may be lost, doubled or overtaken.
//
//	send:     Queue ─► outbox ─┐
//	          Begin (number, acks) ─► AppendReliable ─► AppendFrame… ─► Commit ─► flights (in flight, oldest first)
//	receive:  Receive ─► window (doubles) ─► check ─► acks ─► flights ─► Handler.Acked, Handler.Lost
//	                                               └► frames ─► Handler.Frame; pieces ─► inbox ─► Handler.Message
//	time:     Deadline ─► WantsSend (acks, twins, keep-alive) and Expire (probe timer) ─► Handler.Lost
//
// The package opens no socket, starts no goroutine and reads no clock: now is the time since some start of the
// owner's choice, and never runs backwards. A Conn belongs to one goroutine.
//
// A packet is what one payload of the carrier holds:
//
//	 0        2       3
//	┌────────┬───────┬─────────────┬─────────┐
//	│ number │ flags │ [ack block] │ frames… │   number: low 16 bits of a counter from 1, little endian
//	└────────┴───────┴─────────────┴─────────┘   flags: bit 0 = an ack block follows, the others are 0
//
// A frame is kind (1 byte), length (uvarint of at most 2 bytes, need not be minimal) and body. Kinds below 0x10 belong
// to the session, and one that is not known is skipped; the others are the owner's.
package session

import (
	"errors"
	"fmt"
	"time"
)

const (
	// Streams is how many ordered streams of reliable messages a session has.
	Streams = 16

	// FirstKind is the lowest frame kind that belongs to the owner of a session.
	FirstKind = 0x10

	// MaxCloseText is the most text a goodbye carries, in bytes.
	MaxCloseText = 200

	defaultMessage   = 64 << 10
	defaultWindow    = 256 << 10
	defaultPayload   = 1200
	defaultKeepAlive = 1500 * time.Millisecond
)

var (
	// ErrBackpressure is returned by Queue when the reliable window is full.
	ErrBackpressure = errors.New("throng: reliable window is full: send less, or wait until the other end acked some")

	// ErrTooLarge is returned by Queue for a message above Config.MaxMessage.
	ErrTooLarge = errors.New("throng: reliable message is too large: split it, or raise MaxMessage at both ends")

	// ErrStream is returned by Queue for a stream outside 0..Streams-1.
	ErrStream = errors.New("throng: no such stream: use one below session.Streams")

	// ErrMalformed is returned by Receive for a packet that does not add up. Nothing of it was used, nor acked.
	ErrMalformed = errors.New("throng: malformed packet: drop it, and check that both ends speak the same wire version")

	// ErrProtocol is returned by Receive when the other end broke a rule no loss explains: close the session.
	ErrProtocol = errors.New("throng: the other end broke the session protocol: close the session")
)

// CloseError is returned by Receive when the other end said goodbye.
type CloseError struct {
	Code uint16
	// Text is the other end's and may hold anything; Error quotes it.
	Text string
}

func (e *CloseError) Error() string {
	return fmt.Sprintf("throng: the other end closed the session (code %d): %q", e.Code, e.Text)
}

// Config bounds a session. Both ends must use equal values of MaxMessage and Window, since each holds the other to its own.
type Config struct {
	// MaxMessage is the most bytes one reliable message has. Zero means 64 KiB.
	MaxMessage int
	// Window is the most reliable bytes queued and not yet acked, 32 B a piece of 512 B added. Zero means 256 KiB; it is
	// raised to twice MaxMessage.
	Window int
	// MaxPayload is the most bytes a packet has on a good path. Zero means 1200.
	MaxPayload int
	// Prompt makes acks leave at once while the path loses packets, so that the other end soon knows what to say again. They then find
	// fewer packets to ride in: it is for an end that hears more than it says.
	Prompt bool
	// KeepAlive is the time without a send after which a ping is due. Zero means 1.5 s, negative never.
	KeepAlive time.Duration
}

func (c Config) withDefaults() Config {
	if c.MaxMessage <= 0 {
		c.MaxMessage = defaultMessage
	}
	if c.Window <= 0 {
		c.Window = defaultWindow
	}
	c.Window = max(c.Window, 2*c.MaxMessage+1024) // room for one while another is under way
	if c.MaxPayload <= 0 {
		c.MaxPayload = defaultPayload
	}
	if c.KeepAlive == 0 {
		c.KeepAlive = defaultKeepAlive
	}
	return c
}

// Handler takes what Receive and Expire find out. Its methods may call Queue, Ping and whatever only reads; a body
// or message is valid until the method returns.
type Handler interface {
	// Acked reports that the other end received packet pn. Of a packet that was committed as eliciting it comes once,
	// unless Lost came first.
	Acked(pn uint64)
	// Lost reports that three later packets were acked before pn, or that its probe timer ran out. The packet may
	// still have arrived. What it carried reliably is due again by itself.
	Lost(pn uint64)
	// Frame hands over a frame of the owner's from packet pn of the other end.
	Frame(pn uint64, kind byte, body []byte)
	// Message hands over a reliable message, in order within its stream. Stamp is the number the other end's next packet
	// had when the message was queued.
	Message(stamp uint64, stream int, msg []byte)
}

// Conn is one end of a session. Init or New makes one; it holds no memory beyond itself until it is used.
type Conn struct {
	cfg Config

	// Sending.
	next     uint64 // number of the next packet
	lastSent time.Duration
	restAt   time.Duration
	open     packet
	outbox   outbox

	// What was sent and not yet decided.
	flights  fifo[flight]
	flying   int // entries of flights neither acked nor lost
	peak     int // most flights since the last rest
	quiet    flight
	newest   newest
	rtt      rtt
	backoff  uint8
	ping     bool // asked for by Ping
	busy     bool // inside Receive or Expire
	backedAt time.Duration
	path     path
	losses   losses

	// Receiving.
	window   window
	acks     acks
	lastRecv time.Duration
	inbox    inbox

	stats Stats
}

// New returns a Conn; Init does the same for one that is part of something larger.
func New(cfg Config) *Conn {
	c := new(Conn)
	c.Init(cfg)
	return c
}

// Init makes c a fresh end of a session.
func (c *Conn) Init(cfg Config) {
	*c = Conn{cfg: cfg.withDefaults(), next: 1, losses: losses{holeAt: -1}}
	c.rtt.init()
	c.path.init(c.cfg.MaxPayload)
}
