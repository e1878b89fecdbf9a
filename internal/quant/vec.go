package quant

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// A vector of a components (2 or 3) in steps of 1/scale. The number of bytes says how they are cut:
//
//	bytes         each component is
//	0             zero
//	1 … 6a        ⌊8·bytes/a⌋ bits, two's complement, in steps
//	6a+1 … 8a−1   ⌊8·bytes/a⌋ bits, two's complement, in units
//	8a            a float64
//
//	bit 0          n              2n             3n        8·bytes
//	    ├── x ─────┼── y ─────────┼── z ─────────┼── 0 ────┤        least bit first, in little-endian order
//
// Steps are rounded to the nearest, halves away from zero. Of the forms that hold a vector the shortest is used, steps
// before units: vectors beyond 2⁴⁷ steps (at a step of 0.01 that is 1.4·10¹² units) are sent in units if all components
// are whole, else as they are.
//
// It is the large-world packed vector of Unreal Engine 5.1 with its 7-bit header (bits per component, scaled or not)
// replaced by the length, which a relay needs anyway: never longer than header and components alone, but for widths of
// 3, 11, 19, 27 … bits by one byte.
const (
	stepBits = 48
	maxSteps = 1 << (stepBits - 1)
)

// AppendVec3 writes v in steps of 1/scale.
func AppendVec3(b []byte, v [3]float64, scale float64) ([]byte, error) {
	return appendVec(b, v[:], scale)
}

// AppendVec2 writes v in steps of 1/scale.
func AppendVec2(b []byte, v [2]float64, scale float64) ([]byte, error) {
	return appendVec(b, v[:], scale)
}

// ParseVec3 reads what AppendVec3 writes.
func ParseVec3(b []byte, scale float64) (v [3]float64, err error) {
	err = parseVec(b, v[:], scale)
	return v, err
}

// ParseVec2 reads what AppendVec2 writes.
func ParseVec2(b []byte, scale float64) (v [2]float64, err error) {
	err = parseVec(b, v[:], scale)
	return v, err
}

// RoundVec3 returns what a reader of v gets. What is not finite stays so.
func RoundVec3(v [3]float64, scale float64) [3]float64 {
	round(v[:], scale)
	return v
}

// RoundVec2 returns what a reader of v gets. What is not finite stays so.
func RoundVec2(v [2]float64, scale float64) [2]float64 {
	round(v[:], scale)
	return v
}

func round(v []float64, scale float64) {
	var q [3]int64
	if inSteps(v, scale, &q) {
		for i := range v {
			v[i] = float64(q[i]) / scale
		}
	}
}

// inSteps rounds v into q. It is false if the steps are too many, or none are as many as NaN.
func inSteps(v []float64, scale float64, q *[3]int64) bool {
	for i, x := range v {
		s := math.Round(x * scale)
		if !(s >= -maxSteps && s < maxSteps) {
			return false
		}
		q[i] = int64(s)
	}
	return true
}

// inUnits is inSteps for vectors that are too far out for it.
func inUnits(v []float64, q *[3]int64) bool {
	most := float64(int64(1) << (widest(len(v)) - 1))
	for i, x := range v {
		if !(x >= -most && x < most) || x != math.Trunc(x) {
			return false
		}
		q[i] = int64(x)
	}
	return true
}

// widest is the most bits a component may have below the length of the float64s.
func widest(axes int) int { return (64*axes - 8) / axes }

// width is the bits that the component with the largest magnitude needs, its sign included.
func width(q []int64) int {
	m := uint64(0)
	for _, x := range q {
		m |= uint64(x ^ x>>63)
	}
	return bits.Len64(m) + 1
}

func appendVec(b []byte, v []float64, scale float64) ([]byte, error) {
	var q [3]int64
	a := len(v)
	if inSteps(v, scale, &q) {
		if q == [3]int64{} {
			return b, nil
		}
		return pack(b, q[:a], (a*width(q[:a])+7)/8), nil
	}
	for _, x := range v {
		if !finite(x) {
			return b, ErrNotFinite
		}
	}
	if inUnits(v, &q) {
		return pack(b, q[:a], max((a*width(q[:a])+7)/8, 6*a+1)), nil
	}
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x+0)) // −0 becomes +0
	}
	return b, nil
}

// pack writes the components of q side by side into length bytes.
func pack(b []byte, q []int64, length int) []byte {
	var w [3]uint64
	n := 8 * length / len(q)
	at := 0
	for _, x := range q {
		u := uint64(x) & (1<<n - 1)
		w[at>>6] |= u << (at & 63)
		if at&63+n > 64 {
			w[at>>6+1] |= u >> (64 - at&63)
		}
		at += n
	}
	end := len(b) + length
	for i := 0; i < length; i += 8 {
		b = binary.LittleEndian.AppendUint64(b, w[i>>3])
	}
	return b[:end]
}

func parseVec(b []byte, v []float64, scale float64) error {
	a, l := len(v), len(b)
	switch {
	case l == 0:
		clear(v)
		return nil
	case l > 8*a:
		return ErrForm
	case l == 8*a:
		for i := range v {
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
			if !finite(v[i]) {
				return ErrNotFinite
			}
		}
		return onlyForm(b, v, scale)
	}
	var q [3]int64
	if !unpack(b, q[:a]) {
		return ErrForm
	}
	if l > 6*a {
		for i := range v {
			v[i] = float64(q[i])
		}
		return onlyForm(b, v, scale)
	}
	if (a*width(q[:a])+7)/8 != l || q == [3]int64{} {
		return ErrForm
	}
	for i := range v {
		v[i] = float64(q[i]) / scale
	}
	return nil
}

// unpack is false if bits are set behind the components.
func unpack(b []byte, q []int64) bool {
	var mem [24]byte
	copy(mem[:], b)
	w := [3]uint64{binary.LittleEndian.Uint64(mem[:]), binary.LittleEndian.Uint64(mem[8:]), binary.LittleEndian.Uint64(mem[16:])}
	n := 8 * len(b) / len(q)
	at := 0
	for i := range q {
		u := w[at>>6] >> (at & 63)
		if at&63+n > 64 {
			u |= w[at>>6+1] << (64 - at&63)
		}
		q[i] = int64(u<<(64-n)) >> (64 - n)
		at += n
	}
	return at == 8*len(b) || b[len(b)-1]>>(8-(8*len(b)-at)) == 0
}

// onlyForm tells whether b is how v is written, for the rare forms that are not checked by a look at the bits.
func onlyForm(b []byte, v []float64, scale float64) error {
	var mem [24]byte
	if own, err := appendVec(mem[:0], v, scale); err != nil || !bytes.Equal(own, b) {
		return ErrForm
	}
	return nil
}
