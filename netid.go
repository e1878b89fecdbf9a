package throng

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// NetID names an entity, the same on every client. It is 128 bits without meaning: random, or a hash (B-050). The zero
// NetID names nothing. It is comparable and fit for a map key; as a field it replicates as 16 bytes.
type NetID struct{ a, b uint64 }

// PlayerID names a player across sessions and worlds. It comes from the connect token, never from the game. The zero
// PlayerID is nobody: the owner of what the host drives.
type PlayerID struct{ a, b uint64 }

// NewID returns a random NetID, different from every other there is.
func NewID() NetID {
	var b [16]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	return NetIDFrom(b)
}

// StableID returns the NetID that belongs to a name on every client and in every build: what [World.Place] uses. Names
// are compared byte by byte.
func StableID(name string) NetID { return derive("throng stable id", []byte(name)) }

// AvatarID returns the NetID of the player's avatar: one per player, since ids count within a world. Nobody has none,
// so the zero PlayerID has the zero NetID.
func (p PlayerID) AvatarID() NetID {
	if p.IsZero() {
		return NetID{}
	}
	b := p.Bytes()
	return derive("throng avatar id", b[:])
}

// derive hashes what under a label, so that no name of a placed entity can be made to meet a player's avatar.
func derive(label string, what []byte) NetID {
	h := sha256.New()
	h.Write(append([]byte(label), 0))
	h.Write(what)
	return NetIDFrom([16]byte(h.Sum(nil)))
}

// NetIDFrom returns the NetID with the given bytes.
func NetIDFrom(b [16]byte) NetID { return NetID(pairOf(b)) }

// PlayerIDFrom returns the PlayerID with the given bytes.
func PlayerIDFrom(b [16]byte) PlayerID { return PlayerID(pairOf(b)) }

// Bytes returns the id as it stands on the wire.
func (id NetID) Bytes() [16]byte { return pair(id).bytes() }

// Bytes returns the id as it stands on the wire and in a token.
func (p PlayerID) Bytes() [16]byte { return pair(p).bytes() }

// IsZero reports whether id names nothing.
func (id NetID) IsZero() bool { return id == NetID{} }

// IsZero reports whether p is nobody.
func (p PlayerID) IsZero() bool { return p == PlayerID{} }

// String returns the bytes of the id as 32 hexadecimal digits.
func (id NetID) String() string { return pair(id).String() }

// String returns the bytes of the id as 32 hexadecimal digits.
func (p PlayerID) String() string { return pair(p).String() }

// ParseNetID reads what [NetID.String] writes; capital digits are fine.
func ParseNetID(s string) (NetID, error) {
	p, err := parsePair("NetID", s)
	return NetID(p), err
}

// ParsePlayerID reads what [PlayerID.String] writes; capital digits are fine.
func ParsePlayerID(s string) (PlayerID, error) {
	p, err := parsePair("PlayerID", s)
	return PlayerID(p), err
}

// AppendText appends what String returns.
func (id NetID) AppendText(b []byte) ([]byte, error) { return pair(id).append(b), nil }

// AppendText appends what String returns.
func (p PlayerID) AppendText(b []byte) ([]byte, error) { return pair(p).append(b), nil }

// MarshalText writes what String returns, so that ids stand readable in JSON and logs.
func (id NetID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// MarshalText writes what String returns, so that ids stand readable in JSON and logs.
func (p PlayerID) MarshalText() ([]byte, error) { return p.AppendText(nil) }

// UnmarshalText reads what MarshalText writes. On an error id keeps its value.
func (id *NetID) UnmarshalText(text []byte) error {
	v, err := ParseNetID(string(text))
	if err == nil {
		*id = v
	}
	return err
}

// UnmarshalText reads what MarshalText writes. On an error p keeps its value.
func (p *PlayerID) UnmarshalText(text []byte) error {
	v, err := ParsePlayerID(string(text))
	if err == nil {
		*p = v
	}
	return err
}

// pair is what both kinds of id are made of. Its halves are little-endian because a field of such a type is then
// written in the same order as Bytes.
type pair struct{ a, b uint64 }

func pairOf(b [16]byte) pair {
	return pair{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}

func (p pair) bytes() (b [16]byte) {
	binary.LittleEndian.PutUint64(b[:8], p.a)
	binary.LittleEndian.PutUint64(b[8:], p.b)
	return b
}

func (p pair) append(to []byte) []byte {
	b := p.bytes()
	return hex.AppendEncode(to, b[:])
}

func (p pair) String() string { return string(p.append(make([]byte, 0, 32))) }

func parsePair(what, s string) (pair, error) {
	var b [16]byte
	if len(s) == 32 {
		if _, err := hex.Decode(b[:], []byte(s)); err == nil {
			return pairOf(b), nil
		}
	}
	const shown = 40 // of a text that may be anything
	if len(s) > shown {
		s = s[:shown] + "…"
	}
	return pair{}, fmt.Errorf("throng: %q is no %s: write its 32 hexadecimal digits", s, what)
}
