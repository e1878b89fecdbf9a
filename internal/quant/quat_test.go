package quant

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// turnBetween is the angle of the rotation from a to b, both of length 1, in radians. Its cosine would be blind for small
// ones.
func turnBetween(a, b [4]float64) float64 {
	d, s := 0.0, 0.0
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
		s += (a[i] + b[i]) * (a[i] + b[i])
	}
	return 4 * math.Asin(min(1, math.Sqrt(min(d, s))/2))
}

// worstTurn is by how much a rotation may be off: the doubled error of the quaternion, which has half a step in three
// components and, if all are alike, three halves in the fourth: 2·√12·step/2.
const worstTurn = 3.47 * quatStep

func checkQuat(t *testing.T, q [4]float64) {
	t.Helper()
	b, err := AppendQuat(nil, q)
	u, ok := Unit(q)
	if ok != (err == nil) || !ok && !errors.Is(err, ErrNotFinite) {
		t.Fatalf("%v: %v", q, err)
	}
	got, err := ParseQuat(b)
	if err != nil {
		t.Fatalf("%v: %x: %v", q, b, err)
	}
	if l := got[0]*got[0] + got[1]*got[1] + got[2]*got[2] + got[3]*got[3]; math.Abs(l-1) > 1e-12 {
		t.Fatalf("%v became %v, of squared length %v", q, got, l)
	}
	if off := turnBetween(u, got); off > worstTurn {
		t.Fatalf("%v became %v: %v rad off", u, got, off)
	}
	left := int(b[0] & 3)
	sign := math.Copysign(1, u[left])
	for i := range q {
		if d := math.Abs(got[i] - sign*u[i]); i != left && d > quatStep/2+1e-12 {
			t.Fatalf("%v became %v, %v off", u, got, d)
		}
	}
	minus, _ := AppendQuat(nil, [4]float64{-q[0], -q[1], -q[2], -q[3]})
	if !bytes.Equal(minus, b) {
		t.Fatalf("%v: %x, its negative %x", q, b, minus)
	}
	checkParseQuat(t, b)
}

// checkParseQuat proves that bytes are refused or the only form of a unit quaternion, but where two components are the
// largest within rounding: either may then be left out.
func checkParseQuat(t *testing.T, b []byte) {
	t.Helper()
	q, err := ParseQuat(b)
	if err != nil {
		return
	}
	left := int(b[0] & 3)
	for i := range q {
		if i != left && math.Abs(q[i]) >= q[left] {
			return // the encoder would leave out that one
		}
	}
	if own, err := AppendQuat(nil, q); err != nil || !bytes.Equal(own, b) {
		t.Fatalf("%x is %v, which is %x, %v", b, q, own, err)
	}
}

func TestQuat(t *testing.T) {
	nothing := [6]byte{3}
	for _, q := range [][4]float64{{}, {3: 1}, {3: -1}, {3: 1e300}, {3: 1e-3}, {1e-5, 0, 0, 1e-5}, {5e-324, 0, 0, 0}} {
		if b, err := AppendQuat(nil, q); [6]byte(b) != nothing || err != nil {
			t.Errorf("%v: %x, %v", q, b, err)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for i := range 4 {
			q := [4]float64{0, 1, 0, 1}
			q[i] = bad
			if b, err := AppendQuat(nil, q); [6]byte(b) != nothing || !errors.Is(err, ErrNotFinite) {
				t.Errorf("%v: %x, %v", q, b, err)
			}
		}
	}
	half := math.Sqrt(0.5)
	for _, q := range [][4]float64{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {1, 1, 1, 1}, {-1, 1, -1, 1}, {half, half, 0, 0}, {0, half, 0, -half},
		{1, 1, 1, 0}, {1, 1, 0.99999, 0}, {math.MaxFloat64, math.MaxFloat64, 0, 1}, {5e-324, 1, 0, 0}} {
		checkQuat(t, q)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 50000 {
		q := [4]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		checkQuat(t, q)
		for i := range q {
			q[i] = math.Copysign(1+1e-5*r.Float64(), q[i]) // nearly a tie of four
		}
		checkQuat(t, q)
	}
}

func FuzzQuat(f *testing.F) {
	f.Add(0.0, 0.0, 0.0, 1.0, []byte{3, 0, 0, 0, 0, 0})
	f.Add(0.5, -0.5, 0.5, 0.5, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Add(math.NaN(), 1.0, 1e200, 1e-200, []byte{0, 0, 0, 0, 0, 0x80})
	f.Fuzz(func(t *testing.T, x, y, z, w float64, b []byte) {
		checkQuat(t, [4]float64{x, y, z, w})
		checkParseQuat(t, b)
	})
}
