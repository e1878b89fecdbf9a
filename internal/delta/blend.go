package delta

import (
	"encoding/binary"

	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/motion"
)

// blend is a piece of a struct that has values between two others.
type blend struct {
	how    layout.Blend
	single bool // one float32, else float64s
	off    uintptr
	n      int // numbers
}

// blends lists the pieces of a layout that Blend makes.
func blends(l *layout.Layout) (all []blend) {
	for i := range l.Slots {
		for _, a := range l.Slots[i].Atoms {
			switch {
			case a.Form == layout.Float32:
				all = append(all, blend{layout.Linear, true, a.Offset, 1})
			case a.Form == layout.Float64:
				all = append(all, blend{layout.Linear, false, a.Offset, 1})
			case a.Form == layout.Coded && a.Blend != layout.Step:
				all = append(all, blend{a.Blend, false, a.Offset, int(a.Type.Size() / 8)})
			}
		}
	}
	return all
}

// Blend sets in to, at the share t of the way from a to b, what can be between: numbers, angles, rotations, directions. What cannot is left
// as it is there. All three point to structs of the plan's type.
func (pl *Plan) Blend(to, a, b Ptr, t float64) {
	for i := range pl.blends {
		o := &pl.blends[i]
		switch {
		case o.single:
			*to.f32(o.off) = float32(motion.Lerp(float64(*a.f32(o.off)), float64(*b.f32(o.off)), t))
		case o.how == layout.Linear:
			for j := range uintptr(o.n) {
				*to.f64(o.off + 8*j) = motion.Lerp(*a.f64(o.off + 8*j), *b.f64(o.off + 8*j), t)
			}
		case o.how == layout.Angles:
			for j := range uintptr(o.n) {
				*to.f64(o.off + 8*j) = motion.Angle(*a.f64(o.off + 8*j), *b.f64(o.off + 8*j), t)
			}
		case o.how == layout.Rotation:
			*to.quad(o.off) = motion.Slerp(*a.quad(o.off), *b.quad(o.off), t)
		case o.how == layout.Direction:
			*to.triple(o.off) = motion.Direction(*a.triple(o.off), *b.triple(o.off), t)
		}
	}
}

// Reader reads values of one slot into one place, again and again.
type Reader struct {
	pl     *Plan
	p      Ptr
	slot   *slot
	values []any // at p, of the ops that take one: it is dear to make
}

// Reader returns what reads slot i into the struct at p.
func (pl *Plan) Reader(p Ptr, i int) *Reader {
	r := &Reader{pl: pl, p: p, slot: &pl.slots[i]}
	for j := r.slot.from; j < r.slot.to; j++ {
		var v any
		if o := &pl.ops[j]; o.form == layout.Coded {
			v = p.value(o.off, o.coded.typ)
		}
		r.values = append(r.values, v)
	}
	return r
}

// Read sets the slot from b, all of which must be its value. It compares nothing, so it is for memory that is the caller's own: after an error
// what it holds does not matter.
func (r *Reader) Read(b []byte) error {
	pl, p, s := r.pl, r.p, r.slot
	if s.framed {
		body, n, err := unframe(b)
		if err != nil {
			return err
		}
		if n != len(b) {
			return ErrLength
		}
		b = body
	}
	for j := s.from; j < s.to; j++ {
		o := &pl.ops[j]
		n := widths[o.form]
		if len(b) < n {
			return ErrTruncated
		}
		switch o.form {
		case layout.Bool:
			if b[0] > 1 {
				return ErrBool
			}
			*p.u8(o.off) = b[0]
		case layout.Bits8:
			*p.u8(o.off) = b[0]
		case layout.Bits16:
			*p.u16(o.off) = binary.LittleEndian.Uint16(b)
		case layout.Bits32:
			*p.u32(o.off) = binary.LittleEndian.Uint32(b)
		case layout.Bits64:
			*p.u64(o.off) = binary.LittleEndian.Uint64(b)
		case layout.Float32:
			v := binary.LittleEndian.Uint32(b)
			if o.finite && !finite32(v) {
				return ErrNotFinite
			}
			*p.u32(o.off) = canon32(v)
		case layout.Float64:
			v := binary.LittleEndian.Uint64(b)
			if o.finite && !finite64(v) {
				return ErrNotFinite
			}
			*p.u64(o.off) = canon64(v)
		case layout.String:
			v, took, err := unframe(b)
			if err != nil {
				return err
			}
			*p.str(o.off), n = string(v), took
		case layout.Coded:
			took, err := o.coded.parse(b, r.values[j-s.from])
			if err != nil {
				return err
			}
			n = took
		}
		b = b[n:]
	}
	if len(b) > 0 {
		return ErrLength
	}
	return nil
}
