package wire

import (
	"encoding/binary"

	"github.com/throng-dev/throng/internal/grid"
)

// Record is what a bundle says of one known entity.
type Record struct {
	Handle uint32
	Chunk  grid.Chunk // the chunk that a position in Values is relative to, and where the entity is
	Mask   uint64
	Sample        // when its motion was captured, if it has any
	Values []byte // of the slots in Mask, aliasing the packet
}

// A segment holds records of one class, so that a receiver that does not know the class yet, and therefore holds no entity
// of it, skips the segment whole without losing anything it would have to apply:
//
//	segment := chunk code (relative to the bundle's base) · body
//	body    := class uvarint · item…
//	item    := gap uvarint ≥ 1 · mask · [age] · values     handle = last + gap; last is 0 at the start and after a switch
//	         | 0 · chunk code                              the following records stand in another chunk
//
// The chunk code is written for each observer; the body is shared and copied.

// Segment builds one segment body. The zero value is empty; Reset starts one.
type Segment struct {
	B     []byte
	First grid.Chunk // chunk of the first record: what the chunk code in front must say
	chunk grid.Chunk
	last  uint32
	class *Class
	N     int // records
}

// Reset starts a segment of a class, whose number in the world is num, behind b.
func (s *Segment) Reset(b []byte, num uint32, c *Class, first grid.Chunk) {
	*s = Segment{B: binary.AppendUvarint(b, uint64(num)), First: first, chunk: first, class: c}
}

// Begin writes the head of a record; its values follow by append to s.B. Handles of a chunk should ascend. The sample counts if
// the motion slot is in the mask.
func (s *Segment) Begin(handle uint32, chunk grid.Chunk, mask uint64, at Sample) {
	if chunk != s.chunk || handle <= s.last {
		s.B = AppendChunk(append(s.B, 0), s.chunk, chunk)
		s.chunk, s.last = chunk, 0
	}
	s.B = binary.AppendUvarint(s.B, uint64(handle-s.last))
	s.last = handle
	s.B = appendMask(s.B, mask, len(s.class.Slots))
	if mask&s.class.Motion != 0 {
		s.B = at.append(s.B)
	}
	s.N++
}

// Chunk is the chunk of the last record.
func (s *Segment) Chunk() grid.Chunk { return s.chunk }

// Splice writes the body of another segment of the class, whose first and last records are in these chunks. Behind Reset it must be
// for the same chunk.
func (s *Segment) Splice(first, last grid.Chunk, body []byte) {
	if s.last != 0 || first != s.chunk {
		s.B = AppendChunk(append(s.B, 0), s.chunk, first)
	}
	s.B = append(s.B, body...)
	s.chunk, s.last = last, MaxHandle // no gap leads from there to another handle
}

// Records walks a segment. Use: SegmentClass, then Next until it is false, then Err.
type Records struct {
	b     []byte
	chunk grid.Chunk
	class *Class
	last  uint32
	bad   bool
}

// ParseSegment reads the front of a segment: its first chunk and class number. body is what Walk takes.
func ParseSegment(b []byte, base grid.Chunk) (chunk grid.Chunk, num uint32, body []byte, err error) {
	chunk, n := ParseChunk(b, base)
	if n == 0 {
		return chunk, 0, nil, ErrMalformed
	}
	v, m := uvarint(b[n:])
	if m == 0 || v > MaxClasses {
		return chunk, 0, nil, ErrMalformed
	}
	return chunk, uint32(v), b[n+m:], nil
}

// Walk returns the records of a segment body whose class is c.
func Walk(body []byte, chunk grid.Chunk, c *Class) Records {
	return Records{b: body, chunk: chunk, class: c}
}

// Next reads one record. It is false at the end and at the first fault.
func (r *Records) Next(rec *Record) bool {
	for len(r.b) > 0 {
		gap, n := uvarint(r.b)
		if n == 0 || gap > MaxHandle {
			return r.fail()
		}
		r.b = r.b[n:]
		if gap == 0 {
			c, m := ParseChunk(r.b, r.chunk)
			if m == 0 {
				return r.fail()
			}
			r.chunk, r.last, r.b = c, 0, r.b[m:]
			continue
		}
		r.last += uint32(gap)
		if r.last > MaxHandle || len(r.b) < r.class.MaskLen() {
			return r.fail()
		}
		var mask uint64
		for i := range r.class.MaskLen() {
			mask |= uint64(r.b[i]) << (8 * i)
		}
		r.b = r.b[r.class.MaskLen():]
		var at Sample
		if mask&r.class.Motion != 0 {
			s, n := parseSample(r.b)
			if n == 0 {
				return r.fail()
			}
			at, r.b = s, r.b[n:]
		}
		l := r.class.ValuesLen(mask, r.b)
		if l < 0 {
			return r.fail()
		}
		*rec = Record{Handle: r.last, Chunk: r.chunk, Mask: mask, Sample: at, Values: r.b[:l:l]}
		r.b = r.b[l:]
		return true
	}
	return false
}

func (r *Records) fail() bool { r.b, r.bad = nil, true; return false }

// Err is ErrMalformed if the walk ended at a fault.
func (r *Records) Err() error {
	if r.bad {
		return ErrMalformed
	}
	return nil
}
