package quant

import "math"

// QuatLen is the bytes of a rotation: a unit quaternion without its largest component, which follows from the others.
//
//	bit 0      2            17           32           47  48
//	    ├ index ┼── first ───┼── second ──┼── third ───┼ 0 ┤      little-endian
//
// Index says which is left out, 0 to 3 for x, y, z, w. The others are at most 1/√2 and follow in that order, in steps of
// 1/(16383·√2), two's complement. A quaternion and its negative are the same rotation; the one whose left out component
// is positive is written.
const QuatLen = 6

const (
	quatBits = 15
	quatMost = 1<<(quatBits-1) - 1
	quatStep = 1 / (quatMost * math.Sqrt2)

	quatTiny = 1e-8 // of the squared length: what is below is no rotation, and written as none
)

// AppendQuat writes the rotation of q (x, y, z, w), of whatever length it is.
func AppendQuat(b []byte, q [4]float64) ([]byte, error) {
	u, ok := Unit(q)
	largest := 0
	for i, x := range u {
		if math.Abs(x) > math.Abs(u[largest]) {
			largest = i
		}
	}
	sign := math.Copysign(1/quatStep, u[largest])
	word, at := uint64(largest), 2
	for i, x := range u {
		if i != largest {
			// A tie may be a rounding error above 1/√2.
			n := min(max(math.Round(x*sign), -quatMost), quatMost)
			word |= uint64(int64(n)) & (1<<quatBits - 1) << at
			at += quatBits
		}
	}
	b = append(b, byte(word), byte(word>>8), byte(word>>16), byte(word>>24), byte(word>>32), byte(word>>40))
	if !ok {
		return b, ErrNotFinite
	}
	return b, nil
}

// ParseQuat reads what AppendQuat writes, a unit quaternion.
func ParseQuat(b []byte) (q [4]float64, err error) {
	if len(b) != QuatLen {
		return q, ErrForm
	}
	word := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40
	if word>>(2+3*quatBits) != 0 {
		return q, ErrForm
	}
	largest, at, sum := int(word&3), 2, int64(0)
	for i := range q {
		if i != largest {
			n := int64(word>>at<<(64-quatBits)) >> (64 - quatBits)
			if n < -quatMost {
				return q, ErrForm
			}
			q[i] = float64(n) * quatStep
			sum += n * n
			at += quatBits
		}
	}
	const one = 2 * quatMost * quatMost
	if sum > one {
		return q, ErrForm // longer than 1 without its largest component
	}
	q[largest] = math.Sqrt(float64(one-sum) / one)
	return q, nil
}

// Unit returns q in length 1. What is too short to have a direction becomes the rotation by nothing, and so does what is
// not finite, which is not ok.
func Unit(q [4]float64) (u [4]float64, ok bool) {
	most := max(math.Abs(q[0]), math.Abs(q[1]), math.Abs(q[2]), math.Abs(q[3]))
	if !finite(most) {
		return [4]float64{3: 1}, false
	}
	if most <= 1e-4 && q[0]*q[0]+q[1]*q[1]+q[2]*q[2]+q[3]*q[3] < quatTiny {
		return [4]float64{3: 1}, true
	}
	// Divided first, so that no square overflows.
	sum := 0.0
	for i := range q {
		u[i] = q[i] / most
		sum += float64(u[i] * u[i])
	}
	l := math.Sqrt(sum)
	for i := range u {
		u[i] /= l
	}
	return u, true
}
