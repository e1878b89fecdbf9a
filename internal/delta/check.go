package delta

import (
	"encoding/binary"
	"math/bits"

	"github.com/throng-dev/throng/internal/layout"
)

// Skip returns how many bytes the values of the slots in mask take at the start of b, and checks them as Apply does.
// With one bit in mask it cuts one value out.
func (pl *Plan) Skip(mask uint64, b []byte) (n int, err error) {
	var sp *spare
	if mask&pl.parse != 0 {
		sp = pl.spare.get()
		defer pl.spare.put(sp)
	}
	return pl.check(mask, b, sp)
}

func (pl *Plan) check(mask uint64, b []byte, sp *spare) (n int, err error) {
	if mask&^pl.all != 0 {
		return 0, ErrSlot
	}
	for rest := mask; rest != 0; rest &= rest - 1 {
		s := &pl.slots[bits.TrailingZeros64(rest)]
		took, err := pl.size(s, b[n:])
		if err != nil {
			return 0, err
		}
		if s.checked {
			if err := pl.checkSlot(s, b[n:n+took:n+took], sp); err != nil {
				return 0, err
			}
		}
		n += took
	}
	return n, nil
}

// size returns how many bytes the value of s takes.
func (pl *Plan) size(s *slot, b []byte) (n int, err error) {
	if s.width == 0 {
		_, n, err = unframe(b)
		return n, err
	}
	if len(b) < s.width {
		return 0, ErrTruncated
	}
	return s.width, nil
}

// checkSlot reports why b, which has the right size, is no value of s.
func (pl *Plan) checkSlot(s *slot, b []byte, sp *spare) error {
	if s.framed {
		b, _, _ = unframe(b)
	}
	for i := s.from; i < s.to; i++ {
		o := &pl.ops[i]
		n, err := o.check(b, sp)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	if len(b) > 0 {
		return ErrLength
	}
	return nil
}

// widths of the forms that have one.
var widths = [...]int{layout.Bool: 1, layout.Bits8: 1, layout.Bits16: 2, layout.Bits32: 4, layout.Bits64: 8,
	layout.Float32: 4, layout.Float64: 8, layout.String: 0, layout.Coded: 0}

func (o *op) check(b []byte, sp *spare) (n int, err error) {
	n = widths[o.form]
	if len(b) < n {
		return 0, ErrTruncated
	}
	switch {
	case o.form == layout.String:
		_, n, err = unframe(b)
	case o.form == layout.Coded:
		n, err = o.coded.parse(b, sp.vals[o.side])
	case o.form == layout.Bool && b[0] > 1:
		err = ErrBool
	case o.form == layout.Float32 && o.finite && !finite32(binary.LittleEndian.Uint32(b)):
		err = ErrNotFinite
	case o.form == layout.Float64 && o.finite && !finite64(binary.LittleEndian.Uint64(b)):
		err = ErrNotFinite
	}
	return n, err
}
