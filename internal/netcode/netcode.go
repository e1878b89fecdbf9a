// Package netcode is the netcode 1.02 standard as two state machines that do no I/O.
//
//	backend:  PrivateToken.Seal → PublicToken.Append ──(TLS)──► client
//
//	client:   Client.Next ──────────► request ───► Server.Receive   :server   opens the private token
//	          Client.Receive ◄────── challenge ◄── Server.Outgoing            keeps the keys, holds no slot yet
//	          Client.Next ──────────► response ──► Server.Receive             the address answers: a slot, Opened
//	          Client.Receive ◄───── keep-alive ◄── Server.Outgoing            connected
//	          Client.Seal ──────────► payload ───► Server.Receive             the first packet confirms the client
//	          Client.Receive ◄──────── payload ◄── Server.Seal
//
// Nothing here opens a socket, starts a goroutine or reads a clock: every call is given the time, every datagram is
// decrypted where it lies, every payload is sealed where it lies. One goroutine at a time may use a Server or a Client.
//
// The server is stricter than the standard in one point: a token makes one connection, ever (see history.go), since
// a second connection would repeat the nonces of the first under the same keys.
package netcode

import "time"

// Sizes the standard fixes, in bytes.
const (
	KeySize          = 32   // of every key
	NonceSize        = 24   // of the nonce a connect token is sealed with
	TagSize          = 16   // of what an AEAD appends
	UserDataSize     = 256  // of the part of a token that the backend fills
	PrivateTokenSize = 1024 // of the sealed part of a connect token
	PublicTokenSize  = 2048 // of a connect token
	MaxPayload       = 1200 // of one payload
	MaxAddrs         = 32   // addresses in a token
	MaxHeader        = 9    // prefix and longest sequence in front of a sealed body
	MaxPacket        = MaxHeader + MaxPayload + TagSize

	requestSize   = 1 + len(version) + 8 + 8 + NonceSize + PrivateTokenSize
	challengeSize = 300
)

// Times of the standard and of this implementation.
const (
	// DefaultTimeout is how long a session survives silence.
	DefaultTimeout = 17 * time.Second
	// DefaultKeepAlive is the silence after which a keep-alive is sent. The reference sends ten a second,
	// which costs more than an idle game.
	DefaultKeepAlive = 1500 * time.Millisecond
	// MaxLife is the longest life of a token that a server accepts.
	MaxLife = 60 * time.Second

	// resend is the pace of requests and responses: 10 Hz.
	resend = 100 * time.Millisecond
	// skew is how far the clock of the backend may run ahead.
	skew = 5 * time.Second
	// goodbyes is how often a disconnect is said: at 20 % loss one in 3,000 is still missed, a timeout catches it.
	goodbyes = 5
)

// version begins every request and all associated data.
const version = "NETCODE 1.02\x00"

// Key is a key of any of the AEADs.
type Key [KeySize]byte

// Now is the two times a state machine needs. They must not be mixed: the wall clock, which can jump, says only
// whether a token has expired; everything that is measured is measured by the monotonic one.
type Now struct {
	Wall int64         // milliseconds since 1970
	Mono time.Duration // since any fixed moment
}

// unix is the wall clock as tokens count it.
func (n Now) unix() int64 { return n.Wall / 1000 }
