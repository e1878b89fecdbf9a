package netcode

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// PublicToken is a connect token as the client holds it.
//
//	+---------+----------+---------+---------+-------+---------+-------------+-----------+------+------+-------+
//	| version | protocol | created | expires | nonce | private | timeout i32 | addresses | c→s  | s→c  | zeros |
//	| 13      | 8        | 8       | 8       | 24    | 1024    | 4           | 4 + 7..19 | 32   | 32   | ...   |
//	+---------+----------+---------+---------+-------+---------+-------------+-----------+------+------+-------+
//	 0                                        37      61        1085                                     2048
//
// It holds the session's keys in the clear: it may travel over TLS only.
type PublicToken struct {
	Protocol       uint64
	Created        uint64 // unix seconds
	Expires        uint64 // unix seconds
	Nonce          [NonceSize]byte
	Private        [PrivateTokenSize]byte
	Timeout        int32
	Addrs          []netip.AddrPort
	ClientToServer Key
	ServerToClient Key
}

// ErrInvalidToken says that a token is no token of this version, protocol or shape.
var ErrInvalidToken = errors.New("throng: connect token is invalid: ask the backend for a new one, for this version")

// Append appends the 2,048 bytes of the token. It panics on more than 32 addresses.
func (t *PublicToken) Append(b []byte) []byte {
	if len(t.Addrs) > MaxAddrs {
		panic("throng: connect token with more than 32 addresses")
	}
	start := len(b)
	b = append(b, version...)
	b = binary.LittleEndian.AppendUint64(b, t.Protocol)
	b = binary.LittleEndian.AppendUint64(b, t.Created)
	b = binary.LittleEndian.AppendUint64(b, t.Expires)
	b = append(b, t.Nonce[:]...)
	b = append(b, t.Private[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(t.Timeout))
	b = appendAddrs(b, t.Addrs)
	b = append(b, t.ClientToServer[:]...)
	b = append(b, t.ServerToClient[:]...)
	return append(b, make([]byte, start+PublicTokenSize-len(b))...)
}

// ParsePublicToken reads a token and makes the checks that a client owes the standard before it uses one.
func ParsePublicToken(b []byte) (PublicToken, error) {
	var t PublicToken
	if len(b) != PublicTokenSize || string(b[:len(version)]) != version {
		return t, ErrInvalidToken
	}
	b = b[len(version):]
	t.Protocol = binary.LittleEndian.Uint64(b)
	t.Created = binary.LittleEndian.Uint64(b[8:])
	t.Expires = binary.LittleEndian.Uint64(b[16:])
	b = b[24:]
	b = b[copy(t.Nonce[:], b):]
	b = b[copy(t.Private[:], b):]
	t.Timeout = int32(binary.LittleEndian.Uint32(b))
	addrs, n, err := parseAddrs(nil, b[4:])
	if err != nil || t.Created > t.Expires {
		return t, ErrInvalidToken
	}
	t.Addrs = addrs
	b = b[4+n:] // 32 IPv6 addresses leave 347 bytes
	b = b[copy(t.ClientToServer[:], b):]
	copy(t.ServerToClient[:], b)
	return t, nil
}

// appendRequest appends the first packet of a client.
//
//	+---+---------+----------+---------+-------+---------+
//	| 0 | version | protocol | expires | nonce | private |
//	| 1 | 13      | 8        | 8       | 24    | 1024    |   1,078 bytes: more than any answer to it
//	+---+---------+----------+---------+-------+---------+
func (t *PublicToken) appendRequest(b []byte) []byte {
	b = append(b, kindRequest)
	b = append(b, version...)
	b = binary.LittleEndian.AppendUint64(b, t.Protocol)
	b = binary.LittleEndian.AppendUint64(b, t.Expires)
	b = append(b, t.Nonce[:]...)
	return append(b, t.Private[:]...)
}
