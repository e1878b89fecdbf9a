package wire

import (
	"encoding/binary"
	"math/bits"
)

// Words of a slot that the relay must know; the others stay in the client (R-05 reserves Keyed).
const (
	WordOwner     = 1 << iota // delivered to the owning session only
	WordManual                // sent when marked
	WordHeartbeat             // rides the keyframe
	WordInit                  // sent with the spawn and with baselines only
	WordPosition              // places the entity in the grid
	WordAuth                  // written by an authority
	WordPersist               // survives, with WordAuth
	WordKeyed                 // a container of items, reserved
	WordMotion                // the continuous channel: presence lane, timed, may be thinned
)

// Slot is what travels of one field's declaration.
type Slot struct {
	Width uint16 // bytes of a value; 0: a uvarint length comes first
	Words uint16
	Name  string // for people: the relay decides nothing by it
	Type  string
}

// Class is the wire layout of a class: enough to keep, merge, skip and refuse values without knowing what they mean.
//
// Slots must not change after Index was called.
type Class struct {
	ID    uint32 // hash of the name
	Hash  uint64 // layout hash (B-028)
	Flags uint16
	Reach uint8  // chunks; 0: the world's
	Keep  uint16 // seconds that its entities wait for an owner whose session ended; 0: they do not
	Name  string
	Slots []Slot

	All, Owner, Init, Auth, Presence uint64 // masks over Slots
	Motion                           uint64 // of one slot at most
	Position                         int    // slot, or -1: the class is global
	Fixed                            int    // bytes of all fixed-width slots
	Variable                         uint64 // mask of slots with a length first
}

// Flags of a class.
const (
	ClassDynamic      = 1 << iota // streams motion
	ClassOwnerOnly                // the host may not override
	ClassAutoGrant                // ownership requests are granted without asking
	ClassToHost                   // OnOwnerGone: the host takes over
	ClassAutoDiffHost             // host-owned entities are diffed as well
)

// Index fills the masks from Slots. It is false if the class breaks a limit.
func (c *Class) Index() bool {
	if len(c.Slots) > MaxSlots || len(c.Name) > MaxName {
		return false
	}
	c.All, c.Owner, c.Init, c.Auth, c.Presence, c.Motion, c.Variable, c.Fixed, c.Position = 0, 0, 0, 0, 0, 0, 0, 0, -1
	for i, s := range c.Slots {
		bit := uint64(1) << i
		c.All |= bit
		if s.Words&WordOwner != 0 {
			c.Owner |= bit
		}
		if s.Words&WordInit != 0 {
			c.Init |= bit
		}
		if s.Words&WordAuth != 0 {
			c.Auth |= bit
		}
		if s.Words&(WordPosition|WordMotion) != 0 {
			c.Presence |= bit
		}
		if s.Words&WordMotion != 0 {
			if c.Motion != 0 || s.Words&(WordOwner|WordInit|WordAuth|WordManual) != 0 {
				return false
			}
			c.Motion = bit
		}
		if s.Words&WordPosition != 0 {
			if c.Position >= 0 || s.Words&WordOwner != 0 {
				return false
			}
			c.Position = i
		}
		if s.Width == 0 {
			c.Variable |= bit
		}
		c.Fixed += int(s.Width)
	}
	// An empty value of variable width takes the byte of its length.
	return c.Fixed+bits.OnesCount64(c.Variable) <= MaxValues
}

// Shape sums up what the relay and a parser go by: widths, words, reach, flags. The layout hash is whatever the announcer says it
// is; two classes of one id and hash but of another shape are different classes, so that nobody can spoil a class by
// announcing it first.
func (c *Class) Shape() uint64 {
	h := uint64(14695981039346656037) // FNV-1a, by 32 bits
	add := func(v uint32) { h = (h ^ uint64(v)) * 1099511628211 }
	add(uint32(c.Reach)<<16 | uint32(c.Flags))
	add(uint32(c.Keep))
	for _, s := range c.Slots {
		add(uint32(s.Width)<<16 | uint32(s.Words))
	}
	return h
}

// ValueLen is the length of the value of slot i at the front of b, its length prefix included; -1 if b is too short.
func (c *Class) ValueLen(i int, b []byte) int {
	if w := int(c.Slots[i].Width); w != 0 {
		if w > len(b) {
			return -1
		}
		return w
	}
	l, n := uvarint(b)
	if n == 0 || l > uint64(len(b)-n) {
		return -1
	}
	return n + int(l)
}

// ValuesLen is the length of the values of the slots in mask at the front of b; -1 if b is too short or the mask names
// slots the class does not have.
func (c *Class) ValuesLen(mask uint64, b []byte) int {
	if mask&^c.All != 0 {
		return -1
	}
	n := 0
	for m := mask; m != 0; m &= m - 1 {
		l := c.ValueLen(bits.TrailingZeros64(m), b[n:])
		if l < 0 {
			return -1
		}
		n += l
	}
	return n
}

// MaskLen is the number of bytes of a mask over the slots.
func (c *Class) MaskLen() int { return (len(c.Slots) + 7) / 8 }

// AppendClass writes a class announcement. num is the number that the announcer will use for it: on the way up the
// client's own, on the way down the world's.
func AppendClass(b []byte, num uint32, c *Class) []byte {
	b = append(b, MsgClass)
	b = binary.AppendUvarint(b, uint64(num))
	b = binary.LittleEndian.AppendUint32(b, c.ID)
	b = binary.LittleEndian.AppendUint64(b, c.Hash)
	b = binary.LittleEndian.AppendUint16(b, c.Flags)
	b = append(b, c.Reach)
	b = appendText(b, c.Name)
	b = append(b, byte(len(c.Slots)))
	for _, s := range c.Slots {
		b = binary.AppendUvarint(b, uint64(s.Width))
		b = binary.AppendUvarint(b, uint64(s.Words))
		b = appendText(appendText(b, s.Name), s.Type)
	}
	if c.Keep != 0 {
		b = binary.AppendUvarint(b, uint64(c.Keep))
	}
	return b
}

// ParseClass reads the body of a MsgClass.
func ParseClass(b []byte) (num uint32, c *Class, err error) {
	r := cursor{b: b}
	num = uint32(r.uv(MaxClasses))
	c = &Class{ID: r.u32(), Hash: r.u64(), Flags: r.u16(), Reach: r.u8(), Name: r.text(MaxName)}
	n := int(r.u8())
	if len(b) > MaxClass || n > MaxSlots || 4*n > len(r.b) {
		return 0, nil, ErrMalformed
	}
	c.Slots = make([]Slot, n)
	for i := range c.Slots {
		c.Slots[i] = Slot{Width: uint16(r.uv(MaxValues)), Words: uint16(r.uv(1<<16 - 1)), Name: r.text(MaxName), Type: r.text(MaxType)}
	}
	if len(r.b) > 0 { // an older build does not say
		c.Keep = uint16(r.uv(1<<16 - 1))
	}
	if r.bad || !c.Index() {
		return 0, nil, ErrMalformed
	}
	return num, c, nil
}
