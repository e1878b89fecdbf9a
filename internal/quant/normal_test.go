package quant

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// TestNormalSweep reads and writes every component there is.
func TestNormalSweep(t *testing.T) {
	for q := range 1 << 16 {
		b := binary.LittleEndian.AppendUint16(nil, uint16(q))
		b = append(b, b...)
		b = append(b, 0, 0x80)
		v, err := ParseNormal(b)
		if own, oerr := AppendNormal(nil, v); !bytes.Equal(own, b) || err != nil || oerr != nil {
			t.Fatalf("%x: %v, which is %x, %v, %v", b, v, own, err, oerr)
		}
	}
}

func TestNormalForms(t *testing.T) {
	for n := range 12 {
		if _, err := ParseNormal(make([]byte, n)); (err == nil) != (n == NormalLen) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func FuzzNormal(f *testing.F) {
	f.Add(0.0, 1.0, -1.0)
	f.Add(0.5, -0.5, 1.5259e-5)
	f.Add(2.0, math.Inf(-1), math.NaN())
	f.Fuzz(func(t *testing.T, x, y, z float64) {
		v := [3]float64{x, y, z}
		b, err := AppendNormal(nil, v)
		got, perr := ParseNormal(b)
		if perr != nil {
			t.Fatal(perr)
		}
		for _, c := range v {
			switch {
			case !finite(c):
				if !errors.Is(err, ErrNotFinite) || got != [3]float64{} {
					t.Fatalf("%v: %v, %v", v, got, err)
				}
				return
			case math.Abs(c) > 1.0001 && err == nil:
				t.Fatalf("%v was written as %v", v, got)
			}
		}
		for i, c := range v {
			if d := math.Abs(got[i] - max(-1, min(1, c))); d > 0.5/32767+1e-12 && err == nil || d > 1.0/32767 {
				t.Fatalf("%v became %v, %v off", v, got, d)
			}
		}
	})
}
