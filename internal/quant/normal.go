package quant

import "encoding/binary"

// NormalLen is the bytes of a unit vector: 16 bits a component, little-endian.
//
//	q = half-up(32767·v) + 32768, from 0 to 65535; 1 is −1, 32768 is 0, 65535 is 1
const NormalLen = 6

// AppendNormal writes v. A component outside −1…1 by more than rounding is clamped, with ErrRange.
func AppendNormal(b []byte, v [3]float64) ([]byte, error) {
	var err error
	for _, x := range v {
		if !finite(x) {
			v, err = [3]float64{}, ErrNotFinite
		}
	}
	for _, x := range v {
		q := halfUp(float64(32767*x)) + 32768 // the conversion forbids a fused multiply-add
		if q < 0 || q > 65535 {
			q, err = min(max(q, 0), 65535), ErrRange
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(q))
	}
	return b, err
}

// ParseNormal reads what AppendNormal writes.
func ParseNormal(b []byte) (v [3]float64, err error) {
	if len(b) != NormalLen {
		return v, ErrForm
	}
	for i := range v {
		v[i] = (float64(binary.LittleEndian.Uint16(b[2*i:])) - 32768) / 32767
	}
	return v, nil
}
