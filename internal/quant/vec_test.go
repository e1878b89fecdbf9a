package quant

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

var scales = []float64{1, 10, 100}

// checkVec3 proves of any vector that it comes back within half a step, in its only form, or is refused.
func checkVec3(t *testing.T, v [3]float64, scale float64) {
	t.Helper()
	b, err := AppendVec3([]byte("head"), v, scale)
	if string(b[:4]) != "head" {
		t.Fatal("the head was changed")
	}
	b = b[4:]
	if finite(v[0]) && finite(v[1]) && finite(v[2]) != (err == nil) {
		t.Fatalf("%v: %v", v, err)
	}
	if err != nil {
		if len(b) != 0 || !errors.Is(err, ErrNotFinite) {
			t.Fatalf("%v: %x, %v", v, b, err)
		}
		return
	}
	got, err := ParseVec3(b, scale)
	if err != nil {
		t.Fatalf("%v: %x: %v", v, b, err)
	}
	for i := range v {
		// Half a step, and what multiplying and dividing round: 2⁻⁵³ of the value each.
		if d := math.Abs(got[i] - v[i]); !(d <= 0.5/scale+math.Abs(v[i])*0x1p-51) {
			t.Fatalf("%v became %v, %v off at a step of %v", v, got, d, 1/scale)
		}
		if math.Signbit(got[i]) && got[i] == 0 {
			t.Fatalf("%v became %v", v, got)
		}
	}
	if r := RoundVec3(v, scale); r != got {
		t.Fatalf("%v is rounded to %v, and read as %v", v, r, got)
	}
	if again, err := AppendVec3(nil, got, scale); err != nil || !bytes.Equal(again, b) {
		t.Fatalf("%v: %x, then %x, %v", v, b, again, err)
	}
}

func checkVec2(t *testing.T, v [2]float64, scale float64) {
	t.Helper()
	b, err := AppendVec2(nil, v, scale)
	if err != nil {
		if len(b) != 0 || finite(v[0]) && finite(v[1]) {
			t.Fatalf("%v: %x, %v", v, b, err)
		}
		return
	}
	got, err := ParseVec2(b, scale)
	if err != nil {
		t.Fatalf("%v: %x: %v", v, b, err)
	}
	for i := range v {
		if d := math.Abs(got[i] - v[i]); !(d <= 0.5/scale+math.Abs(v[i])*0x1p-51) {
			t.Fatalf("%v became %v, %v off", v, got, d)
		}
	}
	if again, err := AppendVec2(nil, got, scale); err != nil || !bytes.Equal(again, b) || RoundVec2(v, scale) != got {
		t.Fatalf("%v: %x, then %x, %v", v, b, again, err)
	}
}

// magnitudes are the places where a form ends and another begins.
func magnitudes(scale float64) []float64 {
	m := []float64{0, math.Copysign(0, -1), 0.49999999999999994, 0.5, 0.05, 0.005, 5e-324, 2.675, math.MaxFloat64, 1e308, 5e18, 1e16}
	for e := range 64 {
		p := math.Ldexp(1, e)
		for _, x := range []float64{p, p / scale} {
			m = append(m, x, x-1, x+0.5, x-0.5/scale, math.Nextafter(x, 0), math.Nextafter(x, math.Inf(1)))
		}
	}
	for i := range len(m) {
		m = append(m, -m[i])
	}
	return append(m, math.NaN(), math.Inf(1), math.Inf(-1))
}

func TestVecMagnitudes(t *testing.T) {
	for _, scale := range scales {
		all := magnitudes(scale)
		r := rand.New(rand.NewPCG(1, uint64(scale)))
		for _, x := range all {
			checkVec3(t, [3]float64{x, 0, 0}, scale)
			checkVec3(t, [3]float64{0, 0, x}, scale)
			checkVec3(t, [3]float64{x, x, x}, scale)
			checkVec2(t, [2]float64{x, 0}, scale)
			checkVec2(t, [2]float64{-x, x}, scale)
			for range 20 {
				y, z := all[r.IntN(len(all))], all[r.IntN(len(all))]
				checkVec3(t, [3]float64{x, y, z}, scale)
				checkVec2(t, [2]float64{y, z}, scale)
			}
		}
	}
}

// TestVecWidths proves that a vector takes the bytes that the number of its bits allows, for every number of bits.
func TestVecWidths(t *testing.T) {
	for n := 2; n <= 61; n++ {
		most := float64(int64(1)<<(n-1) - 1)
		if n > 53 {
			most = float64(int64(1) << (n - 2)) // the largest that is exact
		}
		for _, x := range []float64{most, -float64(int64(1) << (n - 1))} {
			want := (3*n + 7) / 8
			if n > stepBits {
				want = max(want, 19)
			}
			if b, err := AppendVec3(nil, [3]float64{0, x, 0}, 1); len(b) != want || err != nil {
				t.Errorf("%d bits, %v: %d bytes, want %d, %v", n, x, len(b), want, err)
			}
			if want = (2*n + 7) / 8; n > stepBits {
				want = max(want, 13)
			}
			if n == 61 {
				want = 16 // two float64s are as short
			}
			if b, err := AppendVec2(nil, [2]float64{0, x}, 1); len(b) != want || err != nil {
				t.Errorf("%d bits, %v: %d bytes of two axes, want %d, %v", n, x, len(b), want, err)
			}
		}
	}
}

// checkParseVec proves of any bytes that they are refused, or the only form of a finite vector.
func checkParseVec(t *testing.T, b []byte, scale float64) {
	t.Helper()
	if v, err := ParseVec3(b, scale); err == nil {
		if own, err := AppendVec3(nil, v, scale); err != nil || !bytes.Equal(own, b) {
			t.Fatalf("%x is %v, which is %x, %v", b, v, own, err)
		}
	}
	if v, err := ParseVec2(b, scale); err == nil {
		if own, err := AppendVec2(nil, v, scale); err != nil || !bytes.Equal(own, b) {
			t.Fatalf("%x is %v, which is %x, %v", b, v, own, err)
		}
	}
}

// TestVecOnlyForm proves that whatever is set or cut at a valid form makes another value or an error.
func TestVecOnlyForm(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		scale := scales[r.IntN(3)]
		all := [3]float64{math.Ldexp(r.Float64()-0.5, r.IntN(64)), math.Ldexp(r.Float64()-0.5, r.IntN(64)), math.Trunc(math.Ldexp(r.Float64(), r.IntN(64)))}
		if r.IntN(4) == 0 {
			all[0], all[1] = math.Trunc(all[0]), math.Trunc(all[1])
		}
		b, _ := AppendVec3(nil, all, scale)
		checkParseVec(t, b, scale)
		checkParseVec(t, append(b, 0), scale)
		checkParseVec(t, append(b, 0xff), scale)
		if len(b) > 0 {
			checkParseVec(t, b[:len(b)-1], scale)
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			checkParseVec(t, b, scale)
		}
	}
	for _, b := range [][]byte{{0}, {0, 0}, make([]byte, 24), make([]byte, 19), make([]byte, 25), bytes.Repeat([]byte{0xff}, 24), {0x40}, {0xc1}} {
		if v, err := ParseVec3(b, 1); err == nil {
			t.Errorf("%x is read as %v", b, v)
		}
	}
}

func FuzzVec(f *testing.F) {
	f.Add(0.0, 0.5, -0.5, uint8(0), []byte{})
	f.Add(12345.678, -6543.216, 92.15, uint8(2), []byte{1, 2, 3})
	f.Add(1e16, 1e16, 1e16, uint8(1), bytes.Repeat([]byte{0x7f}, 21))
	f.Add(math.Inf(1), math.NaN(), 5e18, uint8(0), bytes.Repeat([]byte{0x3f}, 24))
	f.Fuzz(func(t *testing.T, x, y, z float64, s uint8, b []byte) {
		scale := scales[s%3]
		checkVec3(t, [3]float64{x, y, z}, scale)
		checkVec2(t, [2]float64{x, y}, scale)
		checkParseVec(t, b, scale)
	})
}
