package wire

import (
	"encoding/binary"

	"github.com/throng-dev/throng/internal/grid"
)

// The first byte of a reliable message is its type. Unknown types are ignored.
const (
	MsgHello      = 1  // up: the first message of a session
	MsgClass      = 2  // both ways: a class and its number
	MsgSpawn      = 3  // up: announcement of an entity
	MsgDestroy    = 4  // up
	MsgView       = 5  // up: viewpoints
	MsgRequest    = 6  // up: give me the drive
	MsgGrant      = 7  // up: give the drive to a player or to the host
	MsgRelease    = 8  // up: answer to a revoke
	MsgOverrideUp = 9  // up: host's correction
	MsgAgain      = 10 // up: re-announcement
	MsgGone       = 11 // up: destructions heard of
	MsgReady      = 12 // up: all is announced, presence may begin
	MsgNoRoom     = 13 // up: a newcomer was refused at the entity bound
	MsgRoom       = 14 // up: there is room again
	MsgGroup      = 22 // up: into a group, or out of it
	MsgRepeat     = 24 // up: the spawn of a driven entity once more, where values are not kept
	MsgAttach     = 25 // up: an entity goes with another
	MsgRestrict   = 23 // up: an entity is for a group
	MsgWatch      = 26 // up: what else the session wants to be told of
	MsgForgot     = 27 // up: nothing was heard of an entity, its copy is gone
	MsgTravel     = 18 // up: another world, on the same session
	MsgAudience   = 29 // up, of an authority: who may know of an entity
	MsgMember     = 30 // up, of an authority: a player into a group, or out of it
	MsgValueUp    = 19 // up: a value of a driven entity that travels apart

	MsgEventKindUp = 15 // up: a kind of event and its number
	MsgEventUp     = 16 // up, streams 1 to 8: an event

	MsgWelcome  = 32 // down: the answer to Hello
	MsgRefuse   = 33 // down: the session ends
	MsgBind     = 34 // down: handle, incarnation and term of an announced entity
	MsgAssign   = 35 // down: you drive
	MsgRevoke   = 36 // down: stop driving
	MsgRefused  = 37 // down: an announcement was refused
	MsgOverride = 38 // down: own record to the driver
	MsgHost     = 39 // down
	MsgPlayer   = 40 // down: who is in the world, who entered or left it
	MsgEndMark  = 41 // down: copies of an older epoch not introduced by now leave
	MsgRejected = 42 // down: slots written and not applied, with the reason

	MsgForeign       = 43 // down: a write by somebody who may not, to the driver, in a world that is not strict
	MsgRequested     = 44 // down: somebody would like to drive what the receiver drives
	MsgGrantRefused  = 45 // down: a grant came to nothing
	MsgTravelRefused = 46 // down: the receiver stays where it is
	MsgGroupIs       = 48 // down: whether the session is in a group
	MsgRestricted    = 49 // down: the group of a driven entity
	MsgEventKind     = 61 // down: a kind of event and the world's number
	MsgEvent         = 62 // down, streams 1 to 8: an event
	MsgEventState    = 63 // down: how much may be sent, and what reached nobody
	MsgDestroyed     = 50 // down: placed entities that stay destroyed
	MsgAttached      = 51 // down: what a driven entity goes with
	MsgValue         = 52 // down, stream 9: a value that travels apart
)

// Entity is a message about one entity. Which fields a type uses is in the table of docs/spec/wire.md; unused fields are
// not written.
type Entity struct {
	ID        ID
	Inc, Term Count
	Nonce     uint32
	Class     uint32 // number: the sender's own on the way up, the world's on the way down
	ClassID   uint32
	ClassHash uint64
	Flags     uint16
	Handle    uint32
	Gen       uint8
	N         uint16
	Owner     PlayerID // or the player a grant names, zero: the host; or who asked or wrote
	Reason    uint8
	Group     string // "": everyone
	Version   uint32 // flush that the values are not older than
	Cert      []byte
	Chunk     grid.Chunk
	Mask      uint64
	Values    []byte
}

// fields of Entity, in wire order.
const (
	fInc = 1 << iota
	fTerm
	fNonce
	fClass
	fHash // ClassID and ClassHash
	fFlags
	fHandle // Handle and Gen
	fN
	fOwner
	fReason
	fVersion
	fCert
	fChunk
	fMask
	fValues
	fGroup
)

var entityFields = [...]uint16{
	MsgSpawn:      fNonce | fClass | fFlags | fChunk | fMask | fValues,
	MsgDestroy:    fInc | fNonce,
	MsgRequest:    fInc,
	MsgGrant:      fInc | fTerm | fOwner,
	MsgRelease:    fInc | fTerm | fN | fChunk | fMask | fValues,
	MsgOverrideUp: fInc | fChunk | fMask | fValues,
	MsgAgain:      fInc | fTerm | fNonce | fClass | fFlags | fOwner | fCert | fChunk | fMask | fValues,
	MsgGone:       fInc | fCert,
	MsgNoRoom:     fInc | fHandle,
	MsgRestrict:   fInc | fNonce | fGroup,
	MsgRepeat:     fInc | fTerm | fChunk | fMask | fValues,
	MsgForgot:     fInc | fHandle,
	MsgBind:       fInc | fTerm | fNonce | fHandle | fFlags | fOwner | fCert,
	MsgAssign:     fInc | fTerm | fNonce | fClass | fHash | fFlags | fHandle | fN | fOwner | fVersion | fCert | fChunk | fMask | fValues,
	MsgRevoke:     fInc | fTerm,
	MsgRefused:    fInc | fNonce | fReason,
	MsgOverride:   fInc | fTerm | fN | fVersion | fChunk | fMask | fValues,
	MsgRejected:   fInc | fReason | fMask,

	MsgForeign:      fInc | fTerm | fFlags | fOwner | fMask | fValues,
	MsgRequested:    fInc | fTerm | fOwner,
	MsgGrantRefused: fInc | fTerm | fOwner | fReason,
	MsgRestricted:   fInc | fReason | fGroup,
}

// Reasons of MsgRefused and MsgRejected.
const (
	RefusedIDHeld    = 1  // a live entity has that NetID
	RefusedInvalid   = 2  // zero id, unknown class, values that do not fit it, a chunk out of range
	RefusedDead      = 3  // that incarnation was destroyed
	RefusedLimit     = 4  // the session or the world is full
	RefusedNoHost    = 5  // host-owned, and the world has no host
	RefusedRights    = 6  // the session may not
	RefusedNotDriver = 7  // somebody else drives it
	RefusedOverdone  = 8  // a later override holds the slot
	RefusedAbsent    = 9  // the player is not in the world (B-092)
	RefusedParked    = 10 // the same, and the grant waits for it
)

// AppendEntity writes a message of this type. It panics for a type that is not about an entity.
func AppendEntity(b []byte, msg byte, m *Entity) []byte {
	f := entityFields[msg]
	if f == 0 {
		panic("throng: message type is not about an entity")
	}
	b = append(append(b, msg), m.ID[:]...)
	if f&fInc != 0 {
		b = appendCount(b, m.Inc)
	}
	if f&fTerm != 0 {
		b = appendCount(b, m.Term)
	}
	if f&fNonce != 0 {
		b = binary.AppendUvarint(b, uint64(m.Nonce))
	}
	if f&fClass != 0 {
		b = binary.AppendUvarint(b, uint64(m.Class))
	}
	if f&fHash != 0 {
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(b, m.ClassID), m.ClassHash)
	}
	if f&fFlags != 0 {
		b = binary.AppendUvarint(b, uint64(m.Flags))
	}
	if f&fHandle != 0 {
		b = append(binary.AppendUvarint(b, uint64(m.Handle)), m.Gen)
	}
	if f&fN != 0 {
		b = binary.AppendUvarint(b, uint64(m.N))
	}
	if f&fOwner != 0 {
		b = appendOwner(b, m.Owner)
	}
	if f&fReason != 0 {
		b = append(b, m.Reason)
	}
	if f&fVersion != 0 {
		b = binary.LittleEndian.AppendUint32(b, m.Version)
	}
	if f&fCert != 0 {
		b = append(binary.AppendUvarint(b, uint64(len(m.Cert))), m.Cert...)
	}
	if f&fChunk != 0 {
		b = AppendAbsoluteChunk(b, m.Chunk)
	}
	if f&fMask != 0 {
		b = binary.AppendUvarint(b, m.Mask)
	}
	if f&fValues != 0 {
		b = append(b, m.Values...)
	}
	if f&fGroup != 0 {
		b = appendText(b, m.Group)
	}
	return b
}

// ParseEntity reads the body of a message of this type. Values and Cert alias b.
func ParseEntity(msg byte, b []byte) (m Entity, err error) {
	if int(msg) >= len(entityFields) || entityFields[msg] == 0 {
		return m, ErrMalformed
	}
	f, r := entityFields[msg], cursor{b: b}
	m.ID = r.id()
	if f&fInc != 0 {
		m.Inc = r.count()
	}
	if f&fTerm != 0 {
		m.Term = r.count()
	}
	if f&fNonce != 0 {
		m.Nonce = uint32(r.uv(1<<32 - 1))
	}
	if f&fClass != 0 {
		m.Class = uint32(r.uv(MaxClasses))
	}
	if f&fHash != 0 {
		m.ClassID, m.ClassHash = r.u32(), r.u64()
	}
	if f&fFlags != 0 {
		m.Flags = uint16(r.uv(1<<16 - 1))
	}
	if f&fHandle != 0 {
		m.Handle, m.Gen = uint32(r.uv(MaxHandle)), r.u8()
		r.bad = r.bad || m.Handle == 0 // no entity has it: whoever stored it could never be told anything else
	}
	if f&fN != 0 {
		m.N = uint16(r.uv(1<<16 - 1))
	}
	if f&fOwner != 0 {
		m.Owner = r.owner()
	}
	if f&fReason != 0 {
		m.Reason = r.u8()
	}
	if f&fVersion != 0 {
		m.Version = r.u32()
	}
	if f&fCert != 0 {
		m.Cert = r.bytes(MaxCert)
	}
	if f&fChunk != 0 {
		m.Chunk = r.chunk()
	}
	if f&fMask != 0 {
		m.Mask = r.uv(1<<64 - 1)
	}
	if f&fValues != 0 {
		m.Values = r.rest()
	}
	if f&fGroup != 0 {
		m.Group = r.text(MaxName)
	}
	return m, r.err()
}
