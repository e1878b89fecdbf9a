package delta

import (
	"bytes"
	"math/bits"

	"github.com/throng-dev/throng/internal/layout"
)

// Shadow holds the values of an entity that were sent last. It belongs to one goroutine.
//
// Slots without pointers are copied as memory, side by side as in the struct, so that an entity at rest is recognised by
// a few memory compares. Strings are held as strings, and values with a codec by their bytes, which are what counts.
type Shadow struct {
	pl    *Plan
	image Ptr
	strs  []string
	coded [][]byte // nil: the value could not be encoded
	spare []byte
}

// NewShadow returns a shadow that holds the present values: they were announced by the spawn (B-022).
func (pl *Plan) NewShadow(p Ptr) *Shadow {
	s := &Shadow{pl: pl, image: newImage(pl.image), strs: make([]string, pl.strs), coded: make([][]byte, pl.coded)}
	for _, r := range pl.runs {
		copy(s.image.mem(r.at, r.size), p.mem(r.off, r.size)) // with the padding, so that runs compare equal
	}
	s.Adopt(p, pl.Layout.All)
	return s
}

// Diff returns which slots of mask hold another value than the shadow.
func (s *Shadow) Diff(p Ptr, mask uint64) (changed uint64) {
	pl := s.pl
	rest := mask & pl.all
	for i := range pl.runs {
		// A slot in no run, or in one that differs, is looked at below; that is where floats and padding are understood.
		if r := &pl.runs[i]; r.mask&^rest == 0 && bytes.Equal(p.mem(r.off, r.size), s.image.mem(r.at, r.size)) {
			rest &^= r.mask
		}
	}
	for ; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		if !s.same(p, &pl.slots[i]) {
			changed |= 1 << i
		}
	}
	return changed
}

func (s *Shadow) same(p Ptr, sl *slot) bool {
	if sl.block && bytes.Equal(p.mem(sl.off, sl.size), s.image.mem(sl.at, sl.size)) {
		return true
	}
	ops := s.pl.ops[sl.from:sl.to]
	for i := range ops {
		same := false
		switch o := &ops[i]; o.form {
		case layout.Bool, layout.Bits8:
			same = *p.u8(o.off) == *s.image.u8(o.at)
		case layout.Bits16:
			same = *p.u16(o.off) == *s.image.u16(o.at)
		case layout.Bits32:
			same = *p.u32(o.off) == *s.image.u32(o.at)
		case layout.Bits64:
			same = *p.u64(o.off) == *s.image.u64(o.at)
		case layout.Float32:
			same = same32(*p.u32(o.off), *s.image.u32(o.at))
		case layout.Float64:
			same = same64(*p.u64(o.off), *s.image.u64(o.at))
		case layout.String:
			same = *p.str(o.off) == s.strs[o.side]
		case layout.Coded:
			same = s.sameCoded(p, o)
		}
		if !same {
			return false
		}
	}
	return true
}

// sameCoded compares in wire precision. A value that cannot be sent differs from every other: it stays dirty, and is
// reported, until it is mended.
func (s *Shadow) sameCoded(p Ptr, o *op) bool {
	b, err := o.coded.append(s.spare[:0], p.value(o.off, o.coded.typ))
	s.spare = b
	return err == nil && s.coded[o.side] != nil && bytes.Equal(b, s.coded[o.side])
}

// Adopt makes the present values of the slots in mask the ones that were sent last.
func (s *Shadow) Adopt(p Ptr, mask uint64) {
	for rest := mask & s.pl.all; rest != 0; rest &= rest - 1 {
		sl := &s.pl.slots[bits.TrailingZeros64(rest)]
		if sl.flat {
			copy(s.image.mem(sl.at, sl.size), p.mem(sl.off, sl.size))
		}
		ops := s.pl.ops[sl.from:sl.to]
		for i := range ops {
			switch o := &ops[i]; {
			case o.form == layout.String:
				s.strs[o.side] = *p.str(o.off)
			case o.form == layout.Coded:
				s.adoptCoded(p, o)
			case !sl.flat:
				n := uintptr(widths[o.form])
				copy(s.image.mem(o.at, n), p.mem(o.off, n))
			}
		}
	}
}

func (s *Shadow) adoptCoded(p Ptr, o *op) {
	held := &s.coded[o.side]
	b, err := o.coded.append((*held)[:0], p.value(o.off, o.coded.typ))
	if err != nil {
		b = nil
	}
	*held = b
}
