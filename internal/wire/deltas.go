package wire

import (
	"encoding/binary"

	"github.com/throng-dev/throng/internal/grid"
)

// A KindDeltas frame carries what changed on driven entities of one class at one replication tick:
//
//	tick u16 · base chunk 3 zigzag varints · class uvarint · item…
//	item := gap uvarint ≥ 1 · generation u8 · term<<1|marked uvarint · [override n uvarint] · mask · [chunk code] · values
//
// The class comes first so that a relay can skip records of handles it has forgotten. Term is the low half of the Count:
// a session never outlives a start of the relay. The chunk code stands only if the position is in the mask. Of a class with a
// motion slot the same stands in a KindMotion frame, with term<<3|still<<2|cut<<1|marked: see motion.go. A record with an empty mask says
// that the driver is there.
type Delta struct {
	Handle uint32
	Gen    uint8
	Term   uint32
	N      uint16 // highest override applied
	Still  bool   // of a class with motion: it rests there
	Cut    bool   // of a class with motion: the entity was put where it is, it did not move there
	Mask   uint64
	Chunk  grid.Chunk // meaningful if Mask holds the position
	Values []byte
}

// Deltas builds a KindDeltas body.
type Deltas struct {
	B     []byte
	base  grid.Chunk
	class *Class
	last  uint32
}

// Reset starts a body behind b. num is the world's number of the class.
func (d *Deltas) Reset(b []byte, tick uint32, base grid.Chunk, num uint32, c *Class) {
	b = binary.LittleEndian.AppendUint16(b, uint16(tick))
	b = AppendAbsoluteChunk(b, base)
	*d = Deltas{B: binary.AppendUvarint(b, uint64(num)), base: base, class: c}
}

// Begin writes the head of a record; its values follow by append to d.B. Handles must ascend.
func (d *Deltas) Begin(m *Delta) {
	d.B = binary.AppendUvarint(d.B, uint64(m.Handle-d.last))
	d.last = m.Handle
	d.B = append(d.B, m.Gen)
	head := uint64(m.Term) << 1
	if d.class.Motion != 0 {
		head <<= 2
		if m.Cut {
			head |= 2
		}
		if m.Still {
			head |= 4
		}
	}
	if m.N != 0 {
		d.B = binary.AppendUvarint(d.B, head|1)
		d.B = binary.AppendUvarint(d.B, uint64(m.N))
	} else {
		d.B = binary.AppendUvarint(d.B, head)
	}
	d.B = appendMask(d.B, m.Mask, len(d.class.Slots))
	if d.class.Position >= 0 && m.Mask>>d.class.Position&1 != 0 {
		d.B = AppendChunk(d.B, d.base, m.Chunk)
	}
}

// DeltaWalk reads a KindDeltas body.
type DeltaWalk struct {
	Tick  uint16
	Num   uint32
	base  grid.Chunk
	class *Class
	last  uint32
	r     cursor
}

// ParseDeltas reads the front of a KindDeltas body; Walk, with the class of number Num, makes it ready for Next.
func ParseDeltas(b []byte) (w DeltaWalk, err error) {
	w.r = cursor{b: b}
	w.Tick, w.base = w.r.u16(), w.r.chunk()
	w.Num = uint32(w.r.uv(MaxClasses))
	return w, w.r.err()
}

// Walk tells the class of the records.
func (w *DeltaWalk) Walk(c *Class) { w.class = c }

// Next reads one record. It is false at the end and at the first fault.
func (w *DeltaWalk) Next(m *Delta) bool {
	if len(w.r.b) == 0 || w.r.bad {
		return false
	}
	gap := w.r.uv(MaxHandle)
	w.last += uint32(gap)
	*m = Delta{Handle: w.last, Gen: w.r.u8()}
	marked := false
	if w.class.Motion == 0 {
		head := w.r.uv(1<<33 - 1)
		m.Term, marked = uint32(head>>1), head&1 != 0
	} else {
		head := w.r.uv(1<<35 - 1)
		m.Term, m.Still, m.Cut, marked = uint32(head>>3), head&4 != 0, head&2 != 0, head&1 != 0
	}
	if marked {
		m.N = uint16(w.r.uv(1<<16 - 1))
	}
	m.Mask = w.r.mask(len(w.class.Slots))
	if gap == 0 || w.last > MaxHandle {
		w.r.bad = true
	}
	if w.r.bad {
		return false
	}
	if p := w.class.Position; p >= 0 && m.Mask>>p&1 != 0 {
		c, n := ParseChunk(w.r.b, w.base)
		if n == 0 {
			w.r.bad = true
			return false
		}
		m.Chunk, w.r.b = c, w.r.b[n:]
	}
	l := w.class.ValuesLen(m.Mask, w.r.b)
	if l < 0 {
		w.r.bad = true
		return false
	}
	m.Values = w.r.take(l)
	return true
}

// Err is ErrMalformed if the walk ended at a fault.
func (w *DeltaWalk) Err() error { return w.r.err() }
