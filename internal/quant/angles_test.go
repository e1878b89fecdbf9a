package quant

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

// apart is the distance of two angles on the circle.
func apart(a, b float64) float64 { return math.Abs(math.Remainder(a-b, 360)) }

// TestAnglesSweep reads and writes every angle there is, alone and in each place.
func TestAnglesSweep(t *testing.T) {
	for q := range 1 << 16 {
		a := float64(q) * 360 / (1 << 16)
		for _, v := range [][3]float64{{0, a, 0}, {a, 0, 0}, {0, 0, a}, {a, 90, 0}, {45, a, 180}} {
			b, err := AppendAngles16(nil, v[0], v[1], v[2])
			p, y, r, perr := ParseAngles16(b)
			if ([3]float64{p, y, r}) != v || err != nil || perr != nil {
				t.Fatalf("%v: %x, %v %v %v, %v, %v", v, b, p, y, r, err, perr)
			}
			turned, _ := AppendAngles16(nil, v[0]-360, v[1]+720, v[2]-1080)
			if !bytes.Equal(turned, b) {
				t.Fatalf("%v: %x, some turns on %x", v, b, turned)
			}
		}
		// Next to the half on both sides, where rounding decides.
		half := (float64(q) + 0.5) * 360 / (1 << 16)
		for a, want := range map[float64]int{half - 1e-9: q, half + 1e-9: q + 1, half: q + 1} {
			if got := turn(a, 1<<16); got != uint32(want)&0xffff {
				t.Fatalf("%v is %d, want %d", a, got, want)
			}
		}
	}
	for q := range 1 << 8 {
		a := float64(q) * 360 / (1 << 8)
		for _, v := range [][3]float64{{0, a, 0}, {a, 0, 0}, {0, 0, a}, {a, 90, 0}, {45, a, 180}} {
			b, err := AppendAngles8(nil, v[0], v[1], v[2])
			p, y, r, perr := ParseAngles8(b)
			if ([3]float64{p, y, r}) != v || err != nil || perr != nil {
				t.Fatalf("%v: %x, %v %v %v, %v, %v", v, b, p, y, r, err, perr)
			}
		}
	}
}

// TestAngleBytes proves the lengths that the comment of this format promises.
func TestAngleBytes(t *testing.T) {
	for _, tc := range []struct {
		pitch, yaw, roll float64
		n                int
	}{{0, 0, 0, 0}, {360, 720, -0.001, 0}, {0, 90, 0, 1}, {90, 0, 0, 2}, {90, 90, 0, 2}, {0, 0, 90, 3}, {90, 0, 90, 3}} {
		s, _ := AppendAngles16(nil, tc.pitch, tc.yaw, tc.roll)
		b, _ := AppendAngles8(nil, tc.pitch, tc.yaw, tc.roll)
		if len(s) != 2*tc.n || len(b) != tc.n {
			t.Errorf("%+v: %d and %d bytes", tc, len(s), len(b))
		}
	}
}

func checkAngles(t *testing.T, pitch, yaw, roll float64) {
	t.Helper()
	s, err := AppendAngles16(nil, pitch, yaw, roll)
	b, err8 := AppendAngles8(nil, pitch, yaw, roll)
	if !finite(pitch) || !finite(yaw) || !finite(roll) {
		if len(s)+len(b) != 0 || !errors.Is(err, ErrNotFinite) || !errors.Is(err8, ErrNotFinite) {
			t.Fatalf("%v %v %v: %x %v, %x %v", pitch, yaw, roll, s, err, b, err8)
		}
		return
	}
	p, y, r, err := ParseAngles16(s)
	p8, y8, r8, err8 := ParseAngles8(b)
	if err != nil || err8 != nil {
		t.Fatal(err, err8)
	}
	const half, slack = 180.0, 1e-9
	for _, a := range [][3]float64{{pitch, p, p8}, {yaw, y, y8}, {roll, r, r8}} {
		in := math.Mod(a[0], 360)
		if apart(in, a[1]) > half/(1<<16)+slack || apart(in, a[2]) > half/(1<<8)+slack || min(a[1], a[2]) < 0 || max(a[1], a[2]) >= 360 {
			t.Fatalf("%v became %v and %v", a[0], a[1], a[2])
		}
	}
	again, _ := AppendAngles16(nil, p, y, r)
	again8, _ := AppendAngles8(nil, p8, y8, r8)
	if !bytes.Equal(again, s) || !bytes.Equal(again8, b) {
		t.Fatalf("%x then %x, %x then %x", s, again, b, again8)
	}
}

func checkParseAngles(t *testing.T, b []byte) {
	t.Helper()
	if p, y, r, err := ParseAngles16(b); err == nil {
		if own, err := AppendAngles16(nil, p, y, r); err != nil || !bytes.Equal(own, b) {
			t.Fatalf("%x is %v %v %v, which is %x", b, p, y, r, own)
		}
	}
	if p, y, r, err := ParseAngles8(b); err == nil {
		if own, err := AppendAngles8(nil, p, y, r); err != nil || !bytes.Equal(own, b) {
			t.Fatalf("%x is %v %v %v, which is %x", b, p, y, r, own)
		}
	}
}

func FuzzAngles(f *testing.F) {
	f.Add(0.0, 90.0, -90.0, []byte{1})
	f.Add(1e6, 359.998, -0.00274658203125, []byte{1, 2})
	f.Add(1e300, math.Inf(1), 5e-324, []byte{1, 2, 3, 0, 0, 0})
	f.Fuzz(func(t *testing.T, pitch, yaw, roll float64, b []byte) {
		checkAngles(t, pitch, yaw, roll)
		checkParseAngles(t, b)
	})
}
