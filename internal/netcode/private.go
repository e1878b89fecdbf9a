package netcode

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"net/netip"

	"golang.org/x/crypto/chacha20poly1305"
)

// PrivateToken is the part of a connect token that only the backend and the servers can read.
//
//	+-----------+-------------+-----------------+---------+---------+-----------+-------+--------+
//	| client id | timeout i32 | addresses       | c→s key | s→c key | user data | zeros | tag    |
//	| 8         | 4           | 4 + 7..19 each  | 32      | 32      | 256       | ...   | 16     |
//	+-----------+-------------+-----------------+---------+---------+-----------+-------+--------+
//	 0                                                                                   1008     1024
//
// Sealed with XChaCha20-Poly1305 under the backend's key; associated data: version, protocol id, expiry.
type PrivateToken struct {
	ClientID       uint64           // random per token: the player stands in the user data
	Timeout        int32            // seconds of silence; negative: never, for development
	Addrs          []netip.AddrPort // 1..32, where the token is good
	ClientToServer Key
	ServerToClient Key
	UserData       [UserDataSize]byte
}

const privatePlain = PrivateTokenSize - TagSize

var errPrivate = errors.New("throng: connect token: private part is malformed: mint a new token")

// Append appends the 1,008 bytes to be sealed. It panics on more than 32 addresses.
func (t *PrivateToken) Append(b []byte) []byte {
	if len(t.Addrs) > MaxAddrs {
		panic("throng: connect token with more than 32 addresses")
	}
	start := len(b)
	b = binary.LittleEndian.AppendUint64(b, t.ClientID)
	b = binary.LittleEndian.AppendUint32(b, uint32(t.Timeout))
	b = appendAddrs(b, t.Addrs)
	b = append(b, t.ClientToServer[:]...)
	b = append(b, t.ServerToClient[:]...)
	b = append(b, t.UserData[:]...)
	return append(b, make([]byte, start+privatePlain-len(b))...)
}

// Parse reads what Append wrote. It uses the memory of t.Addrs again.
func (t *PrivateToken) Parse(b []byte) error {
	if len(b) != privatePlain {
		return errPrivate
	}
	t.ClientID = binary.LittleEndian.Uint64(b)
	t.Timeout = int32(binary.LittleEndian.Uint32(b[8:]))
	addrs, n, err := parseAddrs(t.Addrs[:0], b[12:])
	if err != nil {
		return err
	}
	t.Addrs = addrs
	// 32 IPv6 addresses end at 624, so what follows always fits.
	b = b[12+n:]
	b = b[copy(t.ClientToServer[:], b):]
	b = b[copy(t.ServerToClient[:], b):]
	copy(t.UserData[:], b)
	return nil
}

// Seal appends the 1,024 sealed bytes.
func (t *PrivateToken) Seal(b []byte, key Key, protocol, expires uint64, nonce [NonceSize]byte) []byte {
	aead := must(chacha20poly1305.NewX(key[:]))
	plain := t.Append(make([]byte, 0, privatePlain))
	return aead.Seal(b, nonce[:], plain, tokenAD(protocol, expires))
}

// Open reads the sealed part of a public token.
func (t *PrivateToken) Open(key Key, public *PublicToken) error {
	aead := must(chacha20poly1305.NewX(key[:]))
	plain, err := aead.Open(nil, public.Nonce[:], public.Private[:], tokenAD(public.Protocol, public.Expires))
	if err != nil {
		return errPrivate
	}
	return t.Parse(plain)
}

func tokenAD(protocol, expires uint64) []byte {
	ad := make([]byte, 0, len(version)+16)
	ad = append(ad, version...)
	ad = binary.LittleEndian.AppendUint64(ad, protocol)
	return binary.LittleEndian.AppendUint64(ad, expires)
}

// must is for constructors that fail on a wrong key size only, which the type Key rules out.
func must(a cipher.AEAD, err error) cipher.AEAD {
	if err != nil {
		panic(err)
	}
	return a
}
