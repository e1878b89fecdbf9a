// Package transport defines the carriers of datagrams.
//
//	client:  Dialer.Dial → Conn.Send ──────► network ──────► Listener.Poll → Sink.Received   :relay
//	client:  Conn.Receive ◄────────── network ◄────────── Listener.Send                      :relay
//
// A carrier authenticates, seals and moves datagrams; it promises neither arrival, order nor uniqueness. Everything
// that makes state right is above it. The caller owns all memory: a carrier keeps no slice after a call returns.
package transport

import (
	"context"
	"errors"
	"net"
	"time"
)

const (
	// MaxPayload is the most payload one datagram carries, in bytes (netcode 1.02 allows 1..1200).
	MaxPayload = 1200

	// Headroom is the room a buffer has before its payload, so that a carrier can seal in place: the longest
	// netcode prefix and sequence are 9 bytes, rounded up.
	Headroom = 16

	// Tailroom is the capacity a buffer has behind its payload: the tag of the AEAD.
	Tailroom = 16

	// UserDataSize is the size of the sealed part of a connect token that the backend fills, in bytes.
	UserDataSize = 256
)

// ErrTokenUsed is returned by Dial when the carrier knows that a token cannot open a connection.
var ErrTokenUsed = errors.New("throng: connect token was used, has expired or is for another relay: ask the token source for a fresh one")

// ErrRefused is returned by Dial when the relay denied the connection (it is full).
var ErrRefused = errors.New("throng: relay denied the connection: it is full, try again later or another relay")

// ErrTimeout is returned by Dial and Receive when the other end stopped answering.
var ErrTimeout = errors.New("throng: the other end does not answer: check the address, the port and the firewall")

// ErrClosed is returned after Close, and by Receive when the other end said goodbye.
var ErrClosed = net.ErrClosed

// ID names one connection of a Listener. It is never zero and never used again in a process.
type ID uint64

// Datagram is one payload on its way out.
//
// Buf holds Headroom bytes, then the payload; its capacity has Tailroom more. The carrier may overwrite the headroom,
// seal the payload in place and write behind it. The buffer is the caller's again when Send returns.
type Datagram struct {
	To  ID
	Buf []byte
}

// Payload is the part of Buf that the other end will receive.
func (d Datagram) Payload() []byte { return d.Buf[Headroom:] }

// NewBuffer returns an empty buffer that fits one datagram: length Headroom, capacity for payload and tag.
func NewBuffer() []byte {
	return make([]byte, Headroom, Headroom+MaxPayload+Tailroom)
}

// Peer says who opened a connection.
type Peer struct {
	// UserData is the part of the connect token that the game's backend sealed. Valid during Opened only.
	UserData []byte
	// Privileged is true if the token was sealed with the authority key.
	Privileged bool
	// Addr is where the peer is, for logs and allow-lists. It may be nil.
	Addr net.Addr
}

// Sink takes what a Listener received. All its methods run on the goroutine that called Poll.
type Sink interface {
	// Opened reports a connection that proved itself: its token was good and its address answers.
	Opened(id ID, p Peer)
	// Received hands over one payload, 1..MaxPayload bytes, valid until the method returns.
	Received(id ID, payload []byte)
	// Closed reports that the peer said goodbye (ErrClosed) or fell silent (ErrTimeout). Disconnect is not reported.
	Closed(id ID, why error)
}

// Listener is the relay's end of a carrier. All methods but Wake and Close belong to one goroutine.
type Listener interface {
	// Poll hands everything that has arrived to s, waiting for something until the deadline. It returns as soon as
	// it handed over at least one datagram, when the deadline passes, or after Wake. A deadline in the past does not wait.
	// It returns ErrClosed after Close, and another error only if the carrier is of no more use.
	Poll(deadline time.Time, s Sink) error
	// Send hands over a flush, or a part of one. It never blocks: what the carrier cannot take is lost like any datagram.
	// Datagrams to one ID should stand together; those of equal size leave in one segmented send where the system can.
	Send(out []Datagram)
	// Disconnect tells the peer goodbye and forgets the connection.
	Disconnect(id ID)
	// Wake ends a waiting Poll, or the next one. Any goroutine may call it.
	Wake()
	// Addr is where clients reach the listener.
	Addr() net.Addr
	// Close frees the carrier. Any goroutine may call it.
	Close() error
}

// Conn is the client's end of a carrier. Send and Close may be called while Receive waits; otherwise one call at a time each.
type Conn interface {
	// Receive calls f with each payload that arrives, valid until f returns, and waits for the first until the deadline
	// (the zero time waits for ever). It returns nil after at least one payload or at the deadline, ErrClosed or
	// ErrTimeout when the connection is over.
	Receive(deadline time.Time, f func(payload []byte)) error
	// Send hands over datagrams laid out like Datagram.Buf. It never blocks.
	Send(bufs [][]byte) error
	// Close tells the relay goodbye.
	Close() error
}

// Dialer opens connections. Dial blocks until the relay accepted the token, refused it, or ctx ended.
type Dialer interface {
	Dial(ctx context.Context, addr string, token []byte) (Conn, error)
}
