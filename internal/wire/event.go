package wire

import (
	"encoding/binary"
	"math/bits"

	"github.com/throng-dev/throng/internal/grid"
)

// Events are messages of streams 1 to 8, or frames of packets, with the same body. What it says of an entity may be of use only when
// other things have arrived: After counts the control messages before it, Seen and Vers name values.

// Limits of events.
const (
	MaxEvents     = 1024      // kinds of events a session may announce
	MaxEvent      = 32 << 10  // bytes of a payload
	MaxFastEvent  = 900       // bytes of a payload that goes in one packet
	MaxEventTold  = 64        // undelivered events of one EventState
	EventCredit   = 128 << 10 // what a session may have under way, see EventCost
	EventOverhead = 128       // what an event costs besides its payload
	EventStreams  = 8
)

// EventCost is what an event takes of a session's credit.
func EventCost(payload int) int { return payload + EventOverhead }

// EventStream is the stream of a sender's events about an entity: one order for each of both, few waits for others.
func EventStream(sender PlayerID, about ID) int {
	h := uint32(2166136261) // FNV-1a
	for _, b := range sender {
		h = (h ^ uint32(b)) * 16777619
	}
	for _, b := range about {
		h = (h ^ uint32(b)) * 16777619
	}
	return StreamEvents + int((h^h>>16)%EventStreams)
}

// EventKind announces a kind of event: the sender's own number on the way up, the world's on the way down.
type EventKind struct {
	Num  uint32
	ID   uint32 // hash of the name
	Hash uint64 // of the payload's type
	Name string
	Type string // for people
}

// Append writes the message.
func (m *EventKind) Append(b []byte, typ byte) []byte {
	b = binary.AppendUvarint(append(b, typ), uint64(m.Num))
	b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(b, m.ID), m.Hash)
	return appendText(appendText(b, m.Name), m.Type)
}

// ParseEventKind reads the body of MsgEventKindUp or MsgEventKind.
func ParseEventKind(b []byte) (m EventKind, err error) {
	r := cursor{b: b}
	m = EventKind{Num: uint32(r.uv(MaxEvents)), ID: r.u32(), Hash: r.u64(), Name: r.text(MaxName), Type: r.text(MaxType)}
	r.bad = r.bad || m.Num == 0
	return m, r.err()
}

// To is for whom an event is.
type To uint8

// The recipients.
const (
	ToReach     = 0 // sessions that have its entity in reach
	ToWorld     = 1 // all of the world
	ToOwner     = 2 // the player that owns its entity
	ToHost      = 3
	ToPlayer    = 4
	ToAuthority = 5 // sessions with the authority right
)

const lastTo = ToAuthority

// Flags of an event on its way up.
const (
	eventAbout  = 0x01 // it names an entity
	eventSeen   = 0x02 // the sender follows it: Seen
	eventValues = 0x04 // the sender drives it: a record
	eventEcho   = 0x08 // reserved
)

// EventUp is an event as its sender says it.
type EventUp struct {
	Kind  uint32 // the sender's number
	Epoch uint8  // world epoch of the sender's session
	After uint32 // control messages that the sender queued before it, in the life of the session
	To    To
	Who   PlayerID // of ToPlayer

	About bool // it names an entity; else what follows is zero
	ID    ID
	Inc   Count // 0: announced and not bound; Nonce then says which announcement
	Nonce uint32
	// Values of a driven entity that may not have arrived yet: a delta of tick Tick that rides along.
	Tick   uint32
	Term   Count
	N      uint16
	Chunk  grid.Chunk
	Mask   uint64
	Values []byte
	// Seen is the newest flush of what the sender holds of an entity that it follows; 0: nothing.
	Seen uint32

	Payload []byte
}

// Append writes the body.
func (m *EventUp) Append(b []byte) []byte {
	b = append(binary.AppendUvarint(b, uint64(m.Kind)), m.Epoch)
	b = append(binary.LittleEndian.AppendUint32(b, m.After), byte(m.To))
	if m.To == ToPlayer {
		b = append(b, m.Who[:]...)
	}
	flags := byte(0)
	if m.About {
		flags |= eventAbout
	}
	if m.About && m.Seen != 0 {
		flags |= eventSeen
	}
	if m.About && m.Mask != 0 {
		flags |= eventValues
	}
	b = append(b, flags)
	if m.About {
		b = appendCount(append(b, m.ID[:]...), m.Inc)
		if m.Inc == 0 {
			b = binary.AppendUvarint(b, uint64(m.Nonce))
		}
	}
	if flags&eventSeen != 0 {
		b = binary.LittleEndian.AppendUint32(b, m.Seen)
	}
	if flags&eventValues != 0 {
		b = appendCount(binary.LittleEndian.AppendUint32(b, m.Tick), m.Term)
		b = AppendAbsoluteChunk(binary.AppendUvarint(b, uint64(m.N)), m.Chunk)
		b = binary.AppendUvarint(binary.AppendUvarint(b, m.Mask), uint64(len(m.Values)))
		b = append(b, m.Values...)
	}
	return append(b, m.Payload...)
}

// ParseEventUp reads the body of MsgEventUp or KindEventUp. Values and Payload alias b.
func ParseEventUp(b []byte) (m EventUp, err error) {
	r := cursor{b: b}
	m.Kind, m.Epoch, m.After, m.To = uint32(r.uv(MaxEvents)), r.u8(), r.u32(), To(r.u8())
	if m.To == ToPlayer {
		m.Who = r.player()
	}
	flags := r.u8()
	m.About = flags&eventAbout != 0
	r.bad = r.bad || m.Kind == 0 || m.To > lastTo || flags > eventAbout|eventSeen|eventValues || !m.About && flags != 0
	if m.About {
		m.ID, m.Inc = r.id(), r.count()
		if m.Inc == 0 {
			m.Nonce = uint32(r.uv(1<<32 - 1))
		}
	}
	if flags&eventSeen != 0 {
		m.Seen = r.u32()
		r.bad = r.bad || m.Seen == 0
	}
	if flags&eventValues != 0 {
		m.Tick, m.Term, m.N, m.Chunk, m.Mask = r.u32(), r.count(), uint16(r.uv(1<<16-1)), r.chunk(), r.uv(1<<64-1)
		m.Values = r.bytes(MaxValues)
		r.bad = r.bad || m.Mask == 0
	}
	if m.Payload = r.rest(); len(m.Payload) > MaxEvent {
		r.bad = true
	}
	return m, r.err()
}

// How an event on its way down is about an entity.
const (
	AboutNothing  = 0
	AboutHeld     = 1 // the receiver holds it: it waits for the versions named
	AboutComing   = 2 // its introduction is on its way
	AboutFar      = 3 // it lives, beyond the receiver's reach, or the receiver has no room for it
	AboutGone     = 4 // it ended, or is not known; Why says how
	lastAbout     = AboutGone
	eventHost     = 0x08 // the sender is host
	eventAuth     = 0x10 // the sender has the authority right
	eventPatient  = 0x20 // waits for no longer than a fast event does
	eventToMe     = 0x40 // not to a crowd: to the receiver as owner, host, authority or by name
	eventAboutAll = 0x07
)

// EventDown is an event as its recipient hears it.
type EventDown struct {
	Kind            uint32 // the world's number
	Epoch           uint8
	After           uint32 // control messages that were queued for the receiver before it
	From            PlayerID
	Host, Authority bool // what the sender is
	Patient         bool // what it waits for may never come: it does so for a moment only
	Direct          bool
	TimeMS          uint32 // when the relay took it

	About uint8
	ID    ID
	Inc   Count
	Why   Why // of AboutGone
	// Slots, of AboutHeld, are those that the receiver may not hold yet; Vers the flush of each, in order.
	Slots uint64
	Vers  []uint32

	Payload []byte
}

// Append writes the body.
func (m *EventDown) Append(b []byte) []byte {
	b = append(binary.AppendUvarint(b, uint64(m.Kind)), m.Epoch)
	b = append(binary.LittleEndian.AppendUint32(b, m.After), m.From[:]...)
	flags := m.About
	for _, f := range [...]struct {
		set bool
		bit byte
	}{{m.Host, eventHost}, {m.Authority, eventAuth}, {m.Patient, eventPatient}, {m.Direct, eventToMe}} {
		if f.set {
			flags |= f.bit
		}
	}
	b = append(binary.LittleEndian.AppendUint32(b, m.TimeMS), flags)
	if m.About != AboutNothing {
		b = appendCount(append(b, m.ID[:]...), m.Inc)
	}
	switch m.About {
	case AboutGone:
		b = append(b, byte(m.Why))
	case AboutHeld:
		b = binary.AppendUvarint(b, m.Slots)
		newest := newestOf(m.Vers)
		if m.Slots != 0 {
			b = binary.LittleEndian.AppendUint32(b, newest)
		}
		for _, v := range m.Vers {
			b = binary.AppendUvarint(b, uint64(newest-v))
		}
	}
	return append(b, m.Payload...)
}

// newestOf is the version that all others are written relative to.
func newestOf(vers []uint32) (v uint32) {
	for i, x := range vers {
		if i == 0 || int32(x-v) > 0 {
			v = x
		}
	}
	return v
}

// ParseEventDown reads the body of MsgEvent or KindEvent. Vers is made of vers; Payload aliases b.
func ParseEventDown(b []byte, vers []uint32) (m EventDown, err error) {
	r := cursor{b: b}
	m.Kind, m.Epoch, m.After, m.From, m.TimeMS = uint32(r.uv(MaxEvents)), r.u8(), r.u32(), r.player(), r.u32()
	flags := r.u8()
	m.About = flags & eventAboutAll
	m.Host, m.Authority, m.Patient, m.Direct = flags&eventHost != 0, flags&eventAuth != 0, flags&eventPatient != 0, flags&eventToMe != 0
	r.bad = r.bad || m.Kind == 0 || m.About > lastAbout || flags&0x80 != 0
	if m.About != AboutNothing {
		m.ID, m.Inc = r.id(), r.count()
	}
	switch m.About {
	case AboutGone:
		m.Why = Why(r.u8())
	case AboutHeld:
		m.Slots = r.uv(1<<64 - 1)
		if m.Slots != 0 {
			newest := r.u32()
			m.Vers = vers[:0]
			for range bits.OnesCount64(m.Slots) {
				m.Vers = append(m.Vers, newest-uint32(r.uv(1<<31-1)))
			}
		}
	}
	if m.Payload = r.rest(); len(m.Payload) > MaxEvent {
		r.bad = true
	}
	return m, r.err()
}

// Reasons why an event reached nobody.
const (
	UndeliveredGone   = 1 // the entity it is about ended before, or was never known
	UndeliveredNobody = 2 // there is no owner, host, authority, or the player is not in the world
	UndeliveredRights = 3 // the sender may not send it
	UndeliveredLimit  = 4 // the sender sends too much
	UndeliveredEpoch  = 5 // the sender left the world meanwhile
	UndeliveredKind   = 6 // the relay has no room for another kind
)

// Undelivered is an event that reached nobody.
type Undelivered struct {
	Kind   uint32 // the sender's number
	Reason uint8
	ID     ID // what it was about; zero: nothing
}

// EventState is what the relay lets a session send, and what of it came to nothing.
type EventState struct {
	Settled uint64 // sum of EventCost of the session's reliable events that are on their way to all recipients
	Credit  uint32 // what may be beyond that
	Largest uint32 // payload
	Rate    uint32 // events a second, over EventBurst; 0: no bound
	Told    []Undelivered
}

// Append writes the message.
func (m *EventState) Append(b []byte) []byte {
	b = binary.AppendUvarint(append(b, MsgEventState), m.Settled)
	b = binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(b, uint64(m.Credit)), uint64(m.Largest)), uint64(m.Rate))
	b = append(b, byte(len(m.Told)))
	for _, t := range m.Told {
		b = append(binary.AppendUvarint(b, uint64(t.Kind)), t.Reason)
		b = append(b, t.ID[:]...)
	}
	return b
}

// ParseEventState reads the body of MsgEventState.
func ParseEventState(b []byte) (m EventState, err error) {
	r := cursor{b: b}
	m = EventState{Settled: r.uv(1<<64 - 1), Credit: uint32(r.uv(1<<32 - 1)), Largest: uint32(r.uv(1<<32 - 1)), Rate: uint32(r.uv(1<<32 - 1))}
	n := int(r.u8())
	if n > MaxEventTold || n*18 > len(r.b) {
		return m, ErrMalformed
	}
	for range n {
		m.Told = append(m.Told, Undelivered{Kind: uint32(r.uv(MaxEvents)), Reason: r.u8(), ID: r.id()})
	}
	return m, r.err()
}
