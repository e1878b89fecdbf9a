package netcode

import (
	"crypto/cipher"
	"encoding/binary"
	"math/bits"
)

// The kinds of packets. All but the request are sealed.
const (
	kindRequest = iota
	kindDenied
	kindChallenge
	kindResponse
	kindKeepAlive
	kindPayload
	kindDisconnect
	kinds
)

const (
	fromClient = 1<<kindRequest | 1<<kindResponse | 1<<kindKeepAlive | 1<<kindPayload | 1<<kindDisconnect
	fromServer = 1<<kindDenied | 1<<kindChallenge | 1<<kindKeepAlive | 1<<kindPayload | 1<<kindDisconnect
	replayable = 1<<kindKeepAlive | 1<<kindPayload | 1<<kindDisconnect
)

// minPacket is prefix, one byte of sequence and the tag.
const minPacket = 1 + 1 + TagSize

// A sealed packet:
//
//	+---------------+---------------------------+-----------------+--------+
//	| prefix u8     | sequence, low byte first  | body            | tag 16 |
//	| low 4: kind   | as few bytes as it needs, | ChaCha20-Poly1305        |
//	| high 4: bytes | 1..8                      | nonce: 0 u32, sequence u64
//	+---------------+---------------------------+-----------------+--------+
//
// Associated data: version, protocol id, prefix.

// crypt seals and opens the packets of one direction. Nonce and associated data live here because they are passed to
// an interface, where a local would escape to the heap with every packet.
type crypt struct {
	nonce [12]byte
	ad    [len(version) + 8 + 1]byte
}

func newCrypt(protocol uint64) crypt {
	var c crypt
	copy(c.ad[:], version)
	binary.LittleEndian.PutUint64(c.ad[len(version):], protocol)
	return c
}

func (c *crypt) with(seq uint64, prefix byte) (nonce, ad []byte) {
	binary.LittleEndian.PutUint64(c.nonce[4:], seq)
	c.ad[len(c.ad)-1] = prefix
	return c.nonce[:], c.ad[:]
}

// seal seals the body buf[at:] in place and returns the packet, which begins before at and ends behind buf.
func (c *crypt) seal(aead cipher.AEAD, kind byte, seq uint64, buf []byte, at int) []byte {
	if at < MaxHeader || cap(buf)-len(buf) < TagSize {
		panic("throng: buffer without room for header and tag")
	}
	n := sequenceBytes(seq)
	start := at - 1 - n
	prefix := kind | byte(n)<<4
	buf[start] = prefix
	for i := range n {
		buf[start+1+i] = byte(seq >> (8 * i))
	}
	nonce, ad := c.with(seq, prefix)
	sealed := aead.Seal(buf[at:at], nonce, buf[at:], ad)
	return buf[start : at+len(sealed)]
}

func sequenceBytes(seq uint64) int { return max(1, (bits.Len64(seq)+7)/8) }

// open makes the reader's checks in the order of the standard, decrypts in place and returns the body.
// The window may be nil while there is no session. It advances only after the packet proved authentic, else a forged
// sequence number would shut out the real ones.
func (c *crypt) open(aead cipher.AEAD, allowed uint, w *window, b []byte) (kind byte, body []byte, why Drop) {
	if len(b) < minPacket {
		return 0, nil, DropShort
	}
	prefix := b[0]
	kind = prefix & 15
	if kind >= kinds || kind == kindRequest || allowed&(1<<kind) == 0 {
		return 0, nil, DropKind
	}
	n := int(prefix >> 4)
	if n < 1 || n > 8 {
		return 0, nil, DropSequence
	}
	if len(b) < 1+n+TagSize {
		return 0, nil, DropShort
	}
	var seq uint64
	for i := range n {
		seq |= uint64(b[1+i]) << (8 * i)
	}
	checked := w != nil && replayable&(1<<kind) != 0
	if checked && !w.fresh(seq) {
		return 0, nil, DropReplay
	}
	nonce, ad := c.with(seq, prefix)
	sealed := b[1+n:]
	body, err := aead.Open(sealed[:0], nonce, sealed, ad)
	if err != nil {
		return 0, nil, DropForged
	}
	if checked {
		w.mark(seq)
	}
	if !fits(kind, len(body)) {
		return 0, nil, DropBody
	}
	return kind, body, 0
}

// fits reports whether a body of a kind may have n bytes.
func fits(kind byte, n int) bool {
	switch kind {
	case kindDenied, kindDisconnect:
		return n == 0
	case kindChallenge, kindResponse:
		return n == 8+challengeSize
	case kindKeepAlive:
		return n == 8
	case kindPayload:
		return n >= 1 && n <= MaxPayload
	}
	return false
}
