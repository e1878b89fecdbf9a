package wire

import (
	"encoding/binary"

	"github.com/throng-dev/throng/internal/grid"
)

// Flush opens every packet in which a relay says something about entities:
//
//	epoch u8 · flush u16 · time u32 · base chunk 3 zigzag varints
//
// Its number is the version of every record, introduction and role in the packet: all were built from the relay's table as
// it was at that flush. 16 bits are enough: a relay flushes at most 1,000 times a second and nothing lives 30 s.
type Flush struct {
	Epoch uint8  // of the world, +1 per travel
	Flush uint32 // low 16 bits on the wire
	Time  uint32 // relay time in ms
	Base  grid.Chunk
}

// Append writes the body of a KindFlush frame.
func (f *Flush) Append(b []byte) []byte {
	b = append(b, f.Epoch)
	b = binary.LittleEndian.AppendUint16(b, uint16(f.Flush))
	b = binary.LittleEndian.AppendUint32(b, f.Time)
	return AppendAbsoluteChunk(b, f.Base)
}

// ParseFlush reads the body of a KindFlush frame; near is the newest flush number known, from which the high bits come.
func ParseFlush(b []byte, near uint32) (f Flush, err error) {
	r := cursor{b: b}
	f = Flush{Epoch: r.u8(), Flush: Expand16(r.u16(), near), Time: r.u32(), Base: r.chunk()}
	return f, r.err()
}

// Expand16 returns the number with these low bits that is nearest to near (serial comparison).
func Expand16(low uint16, near uint32) uint32 {
	return near + uint32(int32(int16(low-uint16(near))))
}

// Flags of an entity in introductions, spawns and assigns.
const (
	EntityHosted = 1 << iota // the host drives it
	EntityAvatar             // the view of its owner's session
	EntityPlaced             // stable id: every client has it without a spawn
	EntityClaim              // placed, first come drives
	EntityOwnerOnly
	EntityAutoGrant
	EntityToHost // OnOwnerGone
	EntityDrives // re-announcement: the sender drove it

	EntityWanted     = 1 << 12 // spawn: the sender would show it if it were there, and does not make it
	EntityRespawn    = 1 << 15 // spawn: it was destroyed, the host begins it anew
	EntityOwnerAlone = 1 << 13 // nobody but its driver knows of it
	EntityActor      = 1 << 14 // an authority spawned it: copies are simulated proxies
)

// Intro is an entity with a baseline of the slots that the observer may see.
type Intro struct {
	Handle    uint32
	Gen       uint8
	Num       uint32 // class number in this world
	ClassID   uint32 // tells a client that has the class which one it is before any MsgClass arrived
	ClassHash uint64
	ID        ID
	Inc, Term Count
	Flags     uint16
	Owner     PlayerID
	Nonce     uint32 // announcement this answers; 0: none
	Chunk     grid.Chunk
	Mask      uint64
	Values    []byte
}

// Append writes the body of a KindIntro frame, with the chunk relative to base.
func (m *Intro) Append(b []byte, base grid.Chunk) []byte {
	b = binary.AppendUvarint(b, uint64(m.Handle))
	b = append(b, m.Gen)
	b = binary.AppendUvarint(b, uint64(m.Num))
	b = binary.LittleEndian.AppendUint32(b, m.ClassID)
	b = binary.LittleEndian.AppendUint64(b, m.ClassHash)
	b = append(b, m.ID[:]...)
	b = appendCount(appendCount(b, m.Inc), m.Term)
	b = binary.AppendUvarint(b, uint64(m.Flags))
	b = appendOwner(b, m.Owner)
	b = binary.AppendUvarint(b, uint64(m.Nonce))
	b = AppendChunk(b, base, m.Chunk)
	b = binary.AppendUvarint(b, m.Mask)
	return append(b, m.Values...)
}

// ParseIntro reads the body of a KindIntro frame. Values alias b.
func ParseIntro(b []byte, base grid.Chunk) (m Intro, err error) {
	r := cursor{b: b}
	m = Intro{Handle: uint32(r.uv(MaxHandle)), Gen: r.u8(), Num: uint32(r.uv(MaxClasses)), ClassID: r.u32(), ClassHash: r.u64(),
		ID: r.id(), Inc: r.count(), Term: r.count(), Flags: uint16(r.uv(1<<16 - 1)), Owner: r.owner(), Nonce: uint32(r.uv(1<<32 - 1))}
	if r.bad || m.Handle == 0 {
		return m, ErrMalformed
	}
	c, n := ParseChunk(r.b, base)
	if n == 0 {
		return m, ErrMalformed
	}
	r.b = r.b[n:]
	m.Chunk, m.Mask, m.Values = c, r.uv(1<<64-1), r.rest()
	return m, r.err()
}

// An owner is one byte 0 for nobody, or 1 and the player.
func appendOwner(b []byte, p PlayerID) []byte {
	if p == (PlayerID{}) {
		return append(b, 0)
	}
	return append(append(b, 1), p[:]...)
}

func (c *cursor) owner() (p PlayerID) {
	if c.u8() != 0 {
		p = c.player()
	}
	return p
}

// Why says why an entity left.
type Why uint8

// Reasons of departures.
const (
	WhyOutOfReach Why = iota // beyond reach + 1
	WhyDestroyed
	WhyStale    // its owner's session fell silent
	WhyReleased // its owner's session ended
)

// Depart says that an entity left. It names the NetID as well, for receivers that have not bound its handle.
type Depart struct {
	Handle uint32
	ID     ID
	Inc    Count
	Nonce  uint32
	Why    Why
	By     PlayerID // who destroyed it, stamped by the relay
	Cert   []byte   // of a destruction: lets the receiver report it to a restarted relay
}

// Append writes the body of a KindDepart frame.
func (m *Depart) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.Handle))
	b = append(b, m.ID[:]...)
	b = appendCount(b, m.Inc)
	b = binary.AppendUvarint(b, uint64(m.Nonce))
	b = appendOwner(append(b, byte(m.Why)), m.By)
	return append(binary.AppendUvarint(b, uint64(len(m.Cert))), m.Cert...)
}

// ParseDepart reads the body of a KindDepart frame.
func ParseDepart(b []byte) (m Depart, err error) {
	r := cursor{b: b}
	m = Depart{Handle: uint32(r.uv(MaxHandle)), ID: r.id(), Inc: r.count(), Nonce: uint32(r.uv(1<<32 - 1)), Why: Why(r.u8()), By: r.owner(), Cert: r.bytes(MaxCert)}
	return m, r.err()
}

// Role is the pseudo-slot of owner and term.
type Role struct {
	Handle uint32
	Term   Count
	Flags  uint16
	Owner  PlayerID
}

// Append writes the body of a KindRole frame.
func (m *Role) Append(b []byte) []byte {
	b = appendCount(binary.AppendUvarint(b, uint64(m.Handle)), m.Term)
	return appendOwner(binary.AppendUvarint(b, uint64(m.Flags)), m.Owner)
}

// ParseRole reads the body of a KindRole frame.
func ParseRole(b []byte) (m Role, err error) {
	r := cursor{b: b}
	m = Role{Handle: uint32(r.uv(MaxHandle)), Term: r.count(), Flags: uint16(r.uv(1<<16 - 1)), Owner: r.owner()}
	if m.Handle == 0 {
		return m, ErrMalformed
	}
	return m, r.err()
}
