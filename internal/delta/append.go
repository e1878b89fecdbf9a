package delta

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/throng-dev/throng/internal/layout"
)

// Append writes the values of the slots in mask behind b, in slot order.
//
// Slots whose value cannot be sent are returned in refused, and b is then returned as it was: the caller, whose mask is
// already part of a frame, tries again without them. Refusal tells why.
func (pl *Plan) Append(b []byte, p Ptr, mask uint64) (out []byte, refused uint64) {
	start := len(b)
	for rest := mask & pl.all; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		var err error
		if b, err = pl.appendSlot(b, p, &pl.slots[i]); err != nil {
			refused |= 1 << i
		}
	}
	if refused != 0 {
		b = b[:start]
	}
	return b, refused
}

// Refusal returns why slot i cannot be sent now; nil if it can.
func (pl *Plan) Refusal(p Ptr, i int) error {
	_, err := pl.appendSlot(nil, p, &pl.slots[i])
	if err != nil {
		return fmt.Errorf("%w (field %s.%s)", err, pl.Layout.Type, pl.Layout.Slots[i].Path)
	}
	return nil
}

func (pl *Plan) appendSlot(b []byte, p Ptr, s *slot) (out []byte, err error) {
	start := len(b)
	if s.framed {
		b = append(b, 0)
	}
	for i := s.from; i < s.to; i++ {
		o := &pl.ops[i]
		switch o.form {
		case layout.Bool, layout.Bits8:
			b = append(b, *p.u8(o.off))
		case layout.Bits16:
			b = binary.LittleEndian.AppendUint16(b, *p.u16(o.off))
		case layout.Bits32:
			b = binary.LittleEndian.AppendUint32(b, *p.u32(o.off))
		case layout.Bits64:
			b = binary.LittleEndian.AppendUint64(b, *p.u64(o.off))
		case layout.Float32:
			v := canon32(*p.u32(o.off))
			if o.finite && !finite32(v) {
				return b[:start], ErrNotFinite
			}
			b = binary.LittleEndian.AppendUint32(b, v)
		case layout.Float64:
			v := canon64(*p.u64(o.off))
			if o.finite && !finite64(v) {
				return b[:start], ErrNotFinite
			}
			b = binary.LittleEndian.AppendUint64(b, v)
		case layout.String:
			v := *p.str(o.off)
			if len(v) > layout.MaxValue {
				return b[:start], ErrTooLong
			}
			b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
		case layout.Coded:
			if b, err = o.coded.append(b, p.value(o.off, o.coded.typ)); err != nil {
				return b[:start], err
			}
		}
	}
	if s.framed {
		return frame(b, start)
	}
	return b, nil
}

// frame turns the byte reserved at start into the length of what follows. Nearly all lengths fit that one byte.
func frame(b []byte, start int) ([]byte, error) {
	n := len(b) - start - 1
	if n > layout.MaxValue {
		return b[:start], ErrTooLong
	}
	if n < 0x80 {
		b[start] = byte(n)
		return b, nil
	}
	var head [binary.MaxVarintLen64]byte
	w := binary.PutUvarint(head[:], uint64(n))
	b = append(b, head[:w-1]...)
	copy(b[start+w:], b[start+1:start+1+n])
	copy(b[start:], head[:w])
	return b, nil
}

// unframe cuts what a leading length covers; n is the length's own bytes and that. Only the shortest form of a length
// is one, so that equal values have equal bytes.
func unframe(b []byte) (body []byte, n int, err error) {
	if len(b) > 0 && b[0] < 0x80 {
		n = 1 + int(b[0])
		if len(b) < n {
			return nil, 0, ErrTruncated
		}
		return b[1:n:n], n, nil
	}
	size, w := binary.Uvarint(b)
	switch {
	case w == 0:
		return nil, 0, ErrTruncated
	case w < 0 || b[w-1] == 0:
		return nil, 0, ErrLength
	case size > layout.MaxValue:
		return nil, 0, ErrTooLong
	case uint64(len(b)-w) < size:
		return nil, 0, ErrTruncated
	}
	n = w + int(size)
	return b[w:n:n], n, nil
}
