package delta

import (
	"bytes"
	"math"
	"testing"
	"unicode/utf8"
)

type numbers struct {
	F32 float32 `rep:""`
	F64 float64 `rep:""`
	Gap struct {
		A uint8
		B uint64
		C uint16
	} `rep:""`
	Soft tenth `rep:""`
	Mod  third `rep:""`
}

// TestEqualValues proves that NaN equals NaN, −0 equals +0, what rounding takes away is not compared (B-021), and that
// equal values have equal bytes.
func TestEqualValues(t *testing.T) {
	zero, negative := 0.0, math.Copysign(0, -1)
	for _, tc := range []struct {
		what   string
		a, b   numbers
		differ uint64
	}{
		{"NaN", numbers{F32: float32(math.NaN()), F64: math.NaN()}, numbers{F32: math.Float32frombits(0xffc00001), F64: math.Float64frombits(0xfff0000000000001)}, 0},
		{"zeros", numbers{F32: float32(zero), F64: zero}, numbers{F32: float32(negative), F64: negative}, 0},
		{"rounded away", numbers{Soft: tenth{1, 2, 3}}, numbers{Soft: tenth{1.04, 1.96, 3}}, 0},
		{"rounded", numbers{Soft: tenth{1, 2, 3}}, numbers{Soft: tenth{1.06, 2, 3}}, 1 << 3},
		{"modulo", numbers{Mod: 1}, numbers{Mod: 4}, 0},
		{"infinities", numbers{F32: float32(math.Inf(1)), F64: math.Inf(1)}, numbers{F32: float32(math.Inf(-1)), F64: math.Inf(-1)}, 0b11},
		{"infinity and NaN", numbers{F64: math.Inf(1)}, numbers{F64: math.NaN()}, 0b10},
		{"the least bit", numbers{F64: 1}, numbers{F64: math.Nextafter(1, 2)}, 0b10},
	} {
		pl := planOf[numbers](t)
		a, b := pl.Pointer(&tc.a), pl.Pointer(&tc.b)
		if got := pl.NewShadow(a).Diff(b, pl.Layout.All); got != tc.differ {
			t.Errorf("%s: %b differ, want %b", tc.what, got, tc.differ)
		}
		x, _ := pl.Append(nil, a, pl.Layout.All)
		y, _ := pl.Append(nil, b, pl.Layout.All)
		if bytes.Equal(x, y) != (tc.differ == 0) {
			t.Errorf("%s: %x and %x", tc.what, x, y)
		}
		before := tc.b
		if changed, _, err := pl.Apply(b, pl.Layout.All, pl.Layout.All, x); changed != tc.differ || err != nil {
			t.Errorf("%s: Apply changed %b, want %b, %v", tc.what, changed, tc.differ, err)
		}
		if tc.differ == 0 && math.Float64bits(before.F64) != math.Float64bits(tc.b.F64) {
			t.Errorf("%s: an equal value was written", tc.what)
		}
	}
}

// TestPadding proves that padding is neither compared nor sent (B-021).
func TestPadding(t *testing.T) {
	pl := planOf[numbers](t)
	a, b := &numbers{}, &numbers{}
	gap := &pl.slots[2]
	mem := pl.Pointer(b).mem(gap.off, gap.size)
	for i := range mem {
		mem[i] = 0xaa
	}
	b.Gap.A, b.Gap.B, b.Gap.C = 0, 0, 0
	if bytes.Count(mem, []byte{0xaa}) == 0 {
		t.Fatal("the struct has no padding, the test proves nothing")
	}
	s := pl.NewShadow(pl.Pointer(a))
	if d := s.Diff(pl.Pointer(b), pl.Layout.All); d != 0 {
		t.Errorf("padding counts: %b", d)
	}
	if v, _ := pl.Append(nil, pl.Pointer(b), 1<<2); !bytes.Equal(v, make([]byte, 11)) {
		t.Errorf("sent %x", v)
	}
}

// TestForeignForms proves that what a peer writes in an unusual way is kept in the usual one.
func TestForeignForms(t *testing.T) {
	pl := planOf[numbers](t)
	e := &numbers{F32: 1, F64: 1}
	p := pl.Pointer(e)
	odd := []byte{1, 0, 0xc0, 0xff, 0, 0, 0, 0, 0, 0, 0, 0x80} // a NaN with payload, −0
	if changed, n, err := pl.Apply(p, 0b11, 0b11, odd); changed != 0b11 || n != 12 || err != nil {
		t.Fatal(changed, n, err)
	}
	if math.Float32bits(e.F32) != nan32 || math.Float64bits(e.F64) != 0 {
		t.Errorf("held as %x, %x", math.Float32bits(e.F32), math.Float64bits(e.F64))
	}
	if changed, _, err := pl.Apply(p, 0b11, 0b11, odd); changed != 0 || err != nil {
		t.Errorf("the same again changed %b, %v", changed, err)
	}
}

// TestStringsAreBytes proves that a string is kept as it is, valid or not.
func TestStringsAreBytes(t *testing.T) {
	pl := planOf[lantern](t)
	from, to := newLantern(), newLantern()
	from.Name = "\xff\x00\xfe"
	b, _ := pl.Append(nil, pl.Pointer(from), 1<<6)
	if _, _, err := pl.Apply(pl.Pointer(to), 1<<6, 1<<6, b); err != nil || to.Name != from.Name || utf8.ValidString(to.Name) {
		t.Errorf("%q, %v", to.Name, err)
	}
}
