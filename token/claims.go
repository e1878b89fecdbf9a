// Package token mints the connect tokens with which a game's backend lets players into a relay.
//
//	player ──login──► backend: Mint(key, ProtocolID, addrs, Claims{...}, 0) ──TLS──► player
//	player ──token──► relay:   opens it with the same key, reads the Claims, checks them with Fresh
//
// A token is good for one connection within a minute. It contains the keys of that connection in the clear, so it
// must reach the player over TLS, and the player asks for a fresh one for every attempt. Nothing in the claims can be
// read or changed by the player: they are sealed with the key that backend and relay share.
//
// The format is that of netcode 1.02, which exists in many languages: a backend needs this package only to be spared
// the layout of the claims.
package token

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/netcode"
)

// ProtocolID is the protocol id of Throng in netcode's packets: "throng", then the number of the generation.
const ProtocolID uint64 = 0x7468726f6e67_0001

// ClaimsSize is the size of encoded claims, in bytes.
const ClaimsSize = netcode.UserDataSize

// Claims say who connects, and as what.
//
//	+---------+------------+------------+-----------+---------------+-----------+----------+-------+
//	| version | rights u16 | key id u32 | world u64 | issued i64 ms | player    | realm    | zeros |
//	| 1       | 2          | 4          | 8         | 8             | 16        | 16       | 201   |   256 bytes
//	+---------+------------+------------+-----------+---------------+-----------+----------+-------+
//	 0         1            3            7           15              23          39         55
//
// Little-endian. A reader of version 1 ignores what stands behind the realm.
type Claims struct {
	// Player is who it is, for as long as the game has players: it survives reconnects.
	Player [16]byte
	// Realm keeps the games and the stages of one operator apart. Zero: the only one.
	Realm [16]byte
	// Rights are what the player may do. Mint takes zero for Player.
	Rights Rights
	// World is the hash of the world the token is for. Zero: any.
	World uint64
	// Issued is when the token was made, in milliseconds. Mint takes zero for now.
	Issued time.Time
	// KeyID names the key, for backends that change keys while relays run. Zero: the only one.
	KeyID uint32
}

const claimsVersion = 1

// Append appends the 256 bytes of the claims.
func (c Claims) Append(b []byte) []byte {
	start := len(b)
	b = append(b, claimsVersion)
	b = binary.LittleEndian.AppendUint16(b, uint16(c.Rights))
	b = binary.LittleEndian.AppendUint32(b, c.KeyID)
	b = binary.LittleEndian.AppendUint64(b, c.World)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Issued.UnixMilli()))
	b = append(b, c.Player[:]...)
	b = append(b, c.Realm[:]...)
	return append(b, make([]byte, start+ClaimsSize-len(b))...)
}

// ParseClaims reads the user data of a token that a relay has opened.
func ParseClaims(userData []byte) (Claims, error) {
	var c Claims
	if len(userData) != ClaimsSize {
		return c, fmt.Errorf("throng: reading claims: %d bytes instead of %d: pass the user data of an opened token", len(userData), ClaimsSize)
	}
	if userData[0] != claimsVersion {
		return c, fmt.Errorf("throng: reading claims: version %d, this program reads %d: mint with the token package of the relay's release", userData[0], claimsVersion)
	}
	c.Rights = Rights(binary.LittleEndian.Uint16(userData[1:]))
	c.KeyID = binary.LittleEndian.Uint32(userData[3:])
	c.World = binary.LittleEndian.Uint64(userData[7:])
	c.Issued = time.UnixMilli(int64(binary.LittleEndian.Uint64(userData[15:])))
	copy(c.Player[:], userData[23:])
	copy(c.Realm[:], userData[39:])
	if c.Player == ([16]byte{}) {
		return c, errNoPlayer
	}
	return c, nil
}

var errNoPlayer = errors.New("throng: claims without a player: set Claims.Player to the id of the account")

// Rights are what a connection may do, as bits. Bits a relay does not know grant nothing.
type Rights uint16

// The rights.
const (
	// Player may drive entities.
	Player Rights = 1 << iota
	// HostEligible may be made the host of a world.
	HostEligible
	// Authority may override everybody. A relay grants it only to a token minted with its authority key.
	Authority
	// Observer may look on.
	Observer
)

// Has reports whether r includes all of want.
func (r Rights) Has(want Rights) bool { return r&want == want }

func (r Rights) String() string {
	var names []string
	for i, name := range [...]string{"player", "host-eligible", "authority", "observer"} {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if rest := r &^ 15; rest != 0 {
		names = append(names, fmt.Sprintf("%#x", uint16(rest)))
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, "+")
}
