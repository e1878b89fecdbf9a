package delta

import (
	"encoding/binary"
	"math/bits"

	"github.com/throng-dev/throng/internal/layout"
)

// Apply reads the values of the slots in mask from the start of b and writes those that are also in apply to the
// struct. It returns which of them really changed, by the equality of Diff, and how many bytes it read.
//
// The values are checked first, all of them: on an error nothing was written (B-029). A slot that holds the same value
// already is not written. Bytes behind the last value are the caller's.
func (pl *Plan) Apply(p Ptr, mask, apply uint64, b []byte) (changed uint64, n int, err error) {
	var sp *spare
	if mask&pl.parse != 0 {
		sp = pl.spare.get()
		defer pl.spare.put(sp)
	}
	if n, err = pl.check(mask, b, sp); err != nil {
		return 0, 0, err
	}
	at := 0
	for rest := mask; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		s := &pl.slots[i]
		if apply>>i&1 == 0 {
			took, _ := pl.size(s, b[at:])
			at += took
			continue
		}
		took, differs := pl.applySlot(p, s, b[at:], sp)
		at += took
		if differs {
			changed |= 1 << i
		}
	}
	return changed, n, nil
}

// applySlot writes one slot from b, which was checked.
func (pl *Plan) applySlot(p Ptr, s *slot, b []byte, sp *spare) (n int, changed bool) {
	if s.framed {
		body, total, _ := unframe(b)
		n = total - len(body)
	}
	for i := s.from; i < s.to; i++ {
		o := &pl.ops[i]
		switch o.form {
		case layout.Bool, layout.Bits8:
			if v, at := b[n], p.u8(o.off); *at != v {
				*at, changed = v, true
			}
			n++
		case layout.Bits16:
			if v, at := binary.LittleEndian.Uint16(b[n:]), p.u16(o.off); *at != v {
				*at, changed = v, true
			}
			n += 2
		case layout.Bits32:
			if v, at := binary.LittleEndian.Uint32(b[n:]), p.u32(o.off); *at != v {
				*at, changed = v, true
			}
			n += 4
		case layout.Bits64:
			if v, at := binary.LittleEndian.Uint64(b[n:]), p.u64(o.off); *at != v {
				*at, changed = v, true
			}
			n += 8
		case layout.Float32:
			if v, at := binary.LittleEndian.Uint32(b[n:]), p.u32(o.off); !same32(*at, v) {
				*at, changed = canon32(v), true
			}
			n += 4
		case layout.Float64:
			if v, at := binary.LittleEndian.Uint64(b[n:]), p.u64(o.off); !same64(*at, v) {
				*at, changed = canon64(v), true
			}
			n += 8
		case layout.String:
			v, took, _ := unframe(b[n:])
			if at := p.str(o.off); *at != string(v) {
				*at, changed = string(v), true
			}
			n += took
		case layout.Coded:
			v := p.value(o.off, o.coded.typ)
			differs, took := sp.differs(o, v, b[n:])
			switch {
			case differs && s.flat:
				size := o.coded.typ.Size()
				copy(p.mem(o.off, size), sp.mem[o.side].mem(0, size))
			case differs:
				// Parsed once more, not copied: v and the spare must not share memory.
				o.coded.parse(b[n:], v)
			}
			changed = changed || differs
			n += took
		}
	}
	return n, changed
}

// Zero clears the slots in mask.
func (pl *Plan) Zero(p Ptr, mask uint64) {
	for rest := mask & pl.all; rest != 0; rest &= rest - 1 {
		s := &pl.Layout.Slots[bits.TrailingZeros64(rest)]
		p.zero(s.Offset, s.Go)
	}
}
