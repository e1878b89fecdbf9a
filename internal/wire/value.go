package wire

import (
	"encoding/binary"
	"math/bits"
)

// Values that do not fit a record travel apart, each in a reliable message of its own. Whatever order they come in, a value is
// as good as a record with one slot: its version says whether it is newer.

// Movable are the slots whose values may travel apart. A position, motion and what is set before a spawn is seen may not.
func (c *Class) Movable() uint64 { return c.Variable &^ (c.Init | c.Presence) }

// Apart chooses, of the values of the slots in mask, which were cut before, those that travel apart: what is larger than MaxRecorded,
// then the largest, until the others fit one record. They may not, if it is for values that must not travel apart.
func (c *Class) Apart(mask uint64, values []byte) (apart uint64) {
	rest := len(values)
	if rest <= MaxRecorded {
		return 0
	}
	for {
		most, slot := 0, uint64(0)
		b := values
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			n := c.ValueLen(i, b)
			b = b[n:]
			if n > most && c.Movable()>>i&1 != 0 && apart>>i&1 == 0 {
				most, slot = n, 1<<i
			}
		}
		if slot == 0 || most <= MaxRecorded && rest <= MaxValues {
			return apart
		}
		apart |= slot
		rest -= most
	}
}

// ValueUp is a MsgValueUp: one slot of a driver's delta.
type ValueUp struct {
	Handle uint32
	Gen    uint8
	Term   uint32 // low half
	N      uint16
	Tick   uint16
	Slot   uint8
	Value  []byte
}

// Append writes the message.
func (m *ValueUp) Append(b []byte) []byte {
	b = binary.AppendUvarint(append(b, MsgValueUp), uint64(m.Handle))
	b = binary.AppendUvarint(append(b, m.Gen), uint64(m.Term))
	b = binary.AppendUvarint(b, uint64(m.N))
	b = append(binary.LittleEndian.AppendUint16(b, m.Tick), m.Slot)
	return append(b, m.Value...)
}

// ParseValueUp reads the body of a MsgValueUp. Value aliases b; whether it fits the slot, the class says: see Class.Fits.
func ParseValueUp(b []byte) (m ValueUp, err error) {
	r := cursor{b: b}
	m.Handle, m.Gen = uint32(r.uv(MaxHandle)), r.u8()
	m.Term, m.N = uint32(r.uv(1<<32-1)), uint16(r.uv(1<<16-1))
	m.Tick, m.Slot = r.u16(), r.u8()
	m.Value = r.rest()
	return m, r.err()
}

// Value is a MsgValue: one slot of a known entity, as of a flush.
type Value struct {
	Epoch  uint8 // of the session's world
	Handle uint32
	Flush  uint32
	Slot   uint8
	Value  []byte
}

// Append writes the message.
func (m *Value) Append(b []byte) []byte {
	b = binary.AppendUvarint(append(b, MsgValue, m.Epoch), uint64(m.Handle))
	b = append(binary.LittleEndian.AppendUint32(b, m.Flush), m.Slot)
	return append(b, m.Value...)
}

// ParseValue reads the body of a MsgValue. Value aliases b; whether it fits the slot, the class says: see Class.Fits.
func ParseValue(b []byte) (m Value, err error) {
	r := cursor{b: b}
	m.Epoch, m.Handle = r.u8(), uint32(r.uv(MaxHandle))
	m.Flush, m.Slot = r.u32(), r.u8()
	m.Value = r.rest()
	return m, r.err()
}

// Fits reports whether v is exactly one value of a slot that may travel apart.
func (c *Class) Fits(slot uint8, v []byte) bool {
	return int(slot) < len(c.Slots) && c.Movable()>>slot&1 != 0 && len(v) <= MaxValue && c.ValueLen(int(slot), v) == len(v)
}
