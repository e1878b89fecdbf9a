package netcode

import (
	"crypto/cipher"
	"encoding/binary"
)

// Challenge is what a server lets a client carry between request and response, so that it need not hold it.
//
//	+-----------+-----------+-------+--------+
//	| client id | user data | zeros | tag    |
//	| 8         | 256       | 20    | 16     |   300 bytes; in a packet the u64 sequence it is sealed with precedes it
//	+-----------+-----------+-------+--------+
//
// Sealed under a random key of the server's start, with a sequence of its own from 0, without associated data.
type Challenge struct {
	ClientID uint64
	UserData [UserDataSize]byte
}

const challengePlain = challengeSize - TagSize

// Append appends the 284 bytes to be sealed.
func (c *Challenge) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, c.ClientID)
	b = append(b, c.UserData[:]...)
	return append(b, make([]byte, challengePlain-8-UserDataSize)...)
}

// Parse reads what Append wrote.
func (c *Challenge) Parse(b []byte) bool {
	if len(b) != challengePlain {
		return false
	}
	c.ClientID = binary.LittleEndian.Uint64(b)
	copy(c.UserData[:], b[8:])
	return true
}

// challenger seals and opens challenges.
type challenger struct {
	aead  cipher.AEAD
	next  uint64
	nonce [12]byte
}

// append appends the body of a challenge packet: the sequence, then the sealed challenge.
func (c *challenger) append(b []byte, ch *Challenge) []byte {
	b = binary.LittleEndian.AppendUint64(b, c.next)
	binary.LittleEndian.PutUint64(c.nonce[4:], c.next)
	c.next++
	at := len(b)
	b = ch.Append(b)
	return c.aead.Seal(b[:at], c.nonce[:], b[at:], nil)
}

// open reads the body of a response, in place.
func (c *challenger) open(ch *Challenge, body []byte) bool {
	seq := binary.LittleEndian.Uint64(body)
	if seq >= c.next {
		return false
	}
	binary.LittleEndian.PutUint64(c.nonce[4:], seq)
	sealed := body[8:]
	plain, err := c.aead.Open(sealed[:0], c.nonce[:], sealed, nil)
	return err == nil && ch.Parse(plain)
}
