// Package table keeps what a relay knows of the entities of one world.
package table

import (
	"math/bits"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/wire"
)

// Class is a class of a world: its wire layout, the number it has here and where its slots lie in an Entity.
type Class struct {
	wire.Class
	Num   uint32
	words int      // length of Entity.vers, but for the mask of apart.go
	off   []uint16 // of a fixed slot: offset in Entity.fixed; of a variable one: index in Entity.vars
}

// NewClass numbers a class of a world. c must be indexed.
func NewClass(num uint32, c *wire.Class) *Class {
	k := &Class{Class: *c, Num: num, off: make([]uint16, len(c.Slots)), words: 2 * len(c.Slots)}
	if c.Motion != 0 {
		k.words += motionWords
	}
	fixed, vars := 0, 0
	for i, s := range c.Slots {
		if s.Width > 0 {
			k.off[i] = uint16(fixed)
			fixed += int(s.Width)
		} else {
			k.off[i] = uint16(vars)
			vars++
		}
	}
	return k
}

// Entity is one entity: the newest value of each slot, its owner with a term, its incarnation.
//
// Two version spaces are kept, never compared: the flush at which the relay accepted a slot's value, and the driver's
// tick that wrote it, within the present term.
type Entity struct {
	Place grid.Place // chunk; not in the grid while the class is global

	ID        wire.ID
	Inc, Term wire.Count
	AnnTerm   wire.Count // term under which it was re-announced; 0 once the relay moved it
	Owner     wire.PlayerID
	Maker     *Share // of who announced it; nil: nobody's
	Class     *Class
	*Death           // nil while it lives
	Driver    uint32 // number of the session that drives it; 0: none
	Handle    uint32
	Nonce     uint32 // announcement that made it
	Born      uint32 // flush that announces it
	RoleVer   uint32 // flush of the newest owner and term
	Refs      int32  // sessions that were told of it and have not acked its departure
	Flags     uint16
	N         uint16 // overrides of this term
	Gen       uint8
	Dead      bool  // no longer in the world
	Silent    bool  // its driver's session is silent: nobody sees it
	Revoking  bool  // between revoke and assign
	ToHost    bool  // Target is whoever is host then
	Rejected  uint8 // reason last told to the driver
	Listed    bool  // in the owner's list of dirty entities
	Check     Check // in the owner's list of entities whose presence must be looked at

	Target   uint32        // session that gets the drive
	Deadline time.Duration // of the release while Revoking; else until when it waits for its owner, 0: it does not

	Prev  grid.Chunk // chunk at the last flush
	Dirty uint64     // slots changed since the last flush

	vers  []uint32               // per slot its version, then per slot its upstream tick, then with motion what motion.go keeps; then what apart.go keeps, if it does
	upSet uint64                 // slots with a valid tick
	ov    *[wire.MaxSlots]uint16 // per slot: the override that wrote it last; nil until the first
	fixed []byte
	vars  [][]byte
}

// Check says why an entity's presence must be looked at.
type Check uint8

// Reasons; zero: it need not.
const (
	CheckCrossed Check = 1 + iota // it moved to another chunk, and nothing else
	CheckAll
)

// Death is what is kept of an entity's end, apart from the living, of which there are more.
type Death struct {
	By   wire.PlayerID // who destroyed it
	Cert []byte        // of its destruction
	At   time.Duration
	Why  wire.Why
}

// Overtaken reports whether slot i was written in this term by an upstream tick at or after tick.
func (e *Entity) Overtaken(i int, tick uint32) bool {
	return e.upSet>>i&1 != 0 && int32(tick-e.vers[len(e.Class.Slots)+i]) <= 0
}

// Overridden reports whether an override later than n holds slot i.
func (e *Entity) Overridden(i int, n uint16) bool { return e.ov != nil && int16(e.ov[i]-n) > 0 }

// Wrote remembers the tick that wrote slot i.
func (e *Entity) Wrote(i int, tick uint32) {
	e.vers[len(e.Class.Slots)+i] = tick
	e.upSet |= 1 << i
}

// NewTerm forgets what counts within a term: upstream ticks and override numbers.
func (e *Entity) NewTerm(term wire.Count) {
	e.Term, e.upSet, e.N, e.ov, e.Rejected = term, 0, 0, nil, 0
}

// Keep holds the entity for its owner, who is away. Overrides count anew, so that those made meanwhile are known.
func (e *Entity) Keep(until time.Duration) {
	e.Driver, e.Silent, e.Revoking, e.ToHost, e.Target = 0, false, false, false, 0
	e.Deadline, e.N, e.ov = until, 0, nil
}

// Kept reports whether its owner's session ended and it waits for the owner, driven by nobody.
func (e *Entity) Kept() bool { return e.Deadline != 0 && !e.Revoking && !e.Dead }

// Override gives slot i the next override number of the term. The caller sets e.N first.
func (e *Entity) Override(i int) {
	if e.ov == nil {
		e.ov = new([wire.MaxSlots]uint16)
	}
	e.ov[i] = e.N
}

// Value is the value of slot i in wire form, its length first if it has one. It is valid until the slot is set.
func (e *Entity) Value(i int) []byte {
	if w := int(e.Class.Slots[i].Width); w > 0 {
		o := int(e.Class.off[i])
		return e.fixed[o : o+w]
	}
	return e.vars[e.Class.off[i]]
}

// Size is the bytes of all values that travel in records.
func (e *Entity) Size() int {
	n := len(e.fixed)
	for _, v := range e.vars {
		n += len(v)
	}
	return n - e.ApartSize()
}

// Set stores a value of slot i, whose length the caller has checked, and decides whether it travels in records or apart. Beside it
// others may come to travel apart. It reports false, and stores nothing, if the values that cannot do without records would not fit one, or
// those that travel apart would grow by more than room. grew is by how much they did.
func (e *Entity) Set(i int, v []byte, ver uint32, room int) (grew int, ok bool) {
	if e.Class.Slots[i].Width > 0 {
		copy(e.fixed[e.Class.off[i]:], v)
	} else if old := &e.vars[e.Class.off[i]]; e.Apart() == 0 && len(v) <= wire.MaxRecorded && e.Size()-len(*old)+len(v) <= wire.MaxValues {
		*old = append((*old)[:0], v...)
	} else if grew, ok = e.sort(i, v, room); !ok {
		return 0, false
	}
	e.vers[i] = ver
	return grew, true
}

// AppendValues writes the values of the slots in mask.
func (e *Entity) AppendValues(b []byte, mask uint64) []byte {
	if mask == e.Class.All && e.Class.Variable == 0 {
		return append(b, e.fixed...)
	}
	for m := mask; m != 0; m &= m - 1 {
		b = append(b, e.Value(bits.TrailingZeros64(m))...)
	}
	return b
}

// Version is the flush at which slot i got its value.
func (e *Entity) Version(i int) uint32 { return e.vers[i] }

// Since returns the slots whose value is newer than flush v.
func (e *Entity) Since(v uint32) (mask uint64) {
	for i, ver := range e.vers[:len(e.Class.Slots)] {
		if int32(ver-v) > 0 {
			mask |= 1 << i
		}
	}
	return mask
}
