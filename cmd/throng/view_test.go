package main

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/throng-dev/throng/internal/quant"
)

func TestPlacesOfEveryPositionType(t *testing.T) {
	t.Parallel()
	f64 := func(vs ...float64) (b []byte) {
		for _, v := range vs {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		return b
	}
	length := func(b []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte{byte(len(b))}, b...)
	}
	for _, c := range []struct {
		typ string
		b   []byte
	}{
		{"vec2", f64(3, -40)},
		{"vec3", f64(3, -40, 500)},
		{"vec2quantize", length(quant.AppendVec2(nil, [2]float64{3, -40}, 1))},
		{"vec2quantize100", length(quant.AppendVec2(nil, [2]float64{3, -40}, 100))},
		{"vec3quantize10", length(quant.AppendVec3(nil, [3]float64{3, -40, 500}, 10))},
	} {
		if x, y := place(c.typ, c.b); x != 3 || y != -40 {
			t.Errorf("%s is at %v, %v", c.typ, x, y)
		}
		if x, _ := place(c.typ, c.b[:len(c.b)-1]); !math.IsNaN(x) {
			t.Errorf("%s cut short is at %v", c.typ, x)
		}
	}
	if x, _ := place("vec4", make([]byte, 32)); !math.IsNaN(x) {
		t.Error("an unknown type has a place")
	}
}

func TestValuesOfSimpleTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ  string
		b    []byte
		want any
	}{
		{"bool", []byte{1}, true},
		{"uint8", []byte{200}, 200.0},
		{"int16", []byte{0xfe, 0xff}, -2.0},
		{"float32", []byte{0, 0, 0x20, 0x40}, 2.5},
		{"duration", []byte{0, 0xca, 0x9a, 0x3b, 0, 0, 0, 0}, "1s"},
		{"string", []byte{2, 'h', 'i'}, "hi"},
		{"string", []byte{9, 'h', 'i'}, ""},
		{"bool", nil, nil},
		{"struct{A bool}", []byte{1}, nil},
	} {
		if got, ok := value(c.typ, c.b); got != c.want || ok != (c.want != nil) {
			t.Errorf("%s %v is %v, %v", c.typ, c.b, got, ok)
		}
	}
}
