//go:build !race

// The race detector allocates, and empties pools.

package throng

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"
)

// TestQuantisedAllocations is the budget of a tick for quantised slots: nothing.
func TestQuantisedAllocations(t *testing.T) {
	pl := quantPlan[drone](t)
	d, to := newDrone(), newDrone()
	p, q := pl.Pointer(d), pl.Pointer(to)
	s, buf := pl.NewShadow(p), make([]byte, 0, 512)
	if n := testing.AllocsPerRun(100, func() {
		d.Pos.X++
		d.Home.X--
		d.Goal.Y++
		d.Map.X++
		d.Map10.Y--
		d.Map100.X++
		d.Up.X, d.Up.Y = d.Up.Y, d.Up.X
		d.View.Yaw++
		d.Body.Yaw += 2
		d.Turn.X++
		mask := s.Diff(p, pl.Layout.Auto)
		b, _ := pl.Append(buf, p, mask)
		s.Adopt(p, mask)
		if changed, _, err := pl.Apply(q, mask, pl.Layout.All, b); changed != mask || mask == 0 || err != nil {
			t.Fatal(mask, changed, err)
		}
		pl.Apply(q, mask, pl.Layout.All, b[:len(b)-1])
		pl.Position(p)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestNetCodecAllocations: the guard around the game's methods costs none.
func TestNetCodecAllocations(t *testing.T) {
	type one struct {
		F tint `rep:""`
	}
	pl := quantPlan[one](t)
	v, to := &one{}, &one{}
	s, buf := pl.NewShadow(pl.Pointer(v)), make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		v.F.g = 1 - v.F.g
		mask := s.Diff(pl.Pointer(v), 1)
		b, _ := pl.Append(buf, pl.Pointer(v), mask)
		s.Adopt(pl.Pointer(v), mask)
		pl.Apply(pl.Pointer(to), mask, mask, b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkQuantised tells what ten quantised slots cost.
func BenchmarkQuantised(b *testing.B) {
	pl := quantPlan[drone](b)
	d, e := newDrone(), &drone{}
	p := pl.Pointer(d)
	all := pl.Layout.All
	buf := make([]byte, 0, 512)
	b.Run("diff-rest", func(b *testing.B) {
		s := pl.NewShadow(p)
		b.ReportAllocs()
		for b.Loop() {
			s.Diff(p, all)
		}
	})
	b.Run("diff-moved", func(b *testing.B) {
		s := pl.NewShadow(pl.Pointer(e))
		b.ReportAllocs()
		for b.Loop() {
			s.Diff(p, all)
		}
	})
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			pl.Append(buf, p, all)
		}
	})
	b.Run("apply", func(b *testing.B) {
		x, _ := pl.Append(nil, p, all)
		y, _ := pl.Append(nil, pl.Pointer(e), all)
		b.ReportAllocs()
		for b.Loop() {
			x, y = y, x
			if _, _, err := pl.Apply(p, all, all, x); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// exact and small are the same mixed entity, with ten slots each.
type (
	exact struct {
		Pos     Vec3    `rep:"position"`
		Heading float64 `rep:""`
		Speed   float32 `rep:""`
		Lit     bool    `rep:""`
		HP      int16   `rep:""`
		Team    uint8   `rep:""`
		Goal    Vec3    `rep:""`
		Holder  NetID   `rep:""`
		Name    string  `rep:""`
		Ammo    uint32  `rep:""`
	}
	small struct {
		Pos     Vec3Quantize100 `rep:"position"`
		Heading RotatorByte     `rep:""`
		Speed   float32         `rep:""`
		Lit     bool            `rep:""`
		HP      int16           `rep:""`
		Team    uint8           `rep:""`
		Goal    Vec3Quantize    `rep:""`
		Holder  NetID           `rep:""`
		Name    string          `rep:""`
		Ammo    uint32          `rep:""`
	}
)

// deltaBytes is what a change of the slots in mask takes: the mask and the values. A record has its handle besides, and so
// would each of the others.
func deltaBytes[T any](t testing.TB, v *T, mask uint64) int {
	pl := quantPlan[T](t)
	b, refused := pl.Append(nil, pl.Pointer(v), mask)
	if refused != 0 {
		t.Fatalf("refused %b", refused)
	}
	return (len(pl.Layout.Slots)+7)/8 + len(b)
}

// TestThreeOfTen holds the budget for three changed slots of ten mixed ones: 14 bytes exact, 8 quantised.
func TestThreeOfTen(t *testing.T) {
	const mask = 1<<1 | 1<<3 | 1<<4 // Heading, Lit, HP
	if n := deltaBytes(t, &exact{Heading: 123.456, Lit: true, HP: 93}, mask); n > 14 {
		t.Errorf("exact: %d bytes", n)
	}
	if n := deltaBytes(t, &small{Heading: RotatorByte{Yaw: 123.456}, Lit: true, HP: 93}, mask); n < 5 || n > 8 {
		t.Errorf("quantised: %d bytes", n)
	}
}

// BenchmarkThreeOfTen prints the bytes of the same change in other formats: three slots of ten (heading, lit, hp), and then
// what a moving thing changes (pos, heading, speed). JSON is encoding/json; MessagePack and Protocol Buffers are written by
// hand below, as their specifications say, since they would be dependencies for nothing else.
func BenchmarkThreeOfTen(b *testing.B) {
	pos := Vec3{12345.678, -6543.216, 92.15}
	for _, tc := range []struct {
		what   string
		mask   uint64
		fields []field
	}{
		{"turned", 1<<1 | 1<<3 | 1<<4, []field{{2, "heading", 123.456}, {4, "lit", true}, {5, "hp", int16(93)}}},
		{"moved", 1<<0 | 1<<1 | 1<<2, []field{{1, "pos", pos}, {2, "heading", 123.456}, {3, "speed", float32(4.5)}}},
	} {
		e := &exact{Pos: pos, Heading: 123.456, Speed: 4.5, Lit: true, HP: 93}
		s := &small{Pos: Vec3Quantize100(pos), Heading: RotatorByte{Yaw: 123.456}, Speed: 4.5, Lit: true, HP: 93}
		b.Run(tc.what, func(b *testing.B) {
			pl := quantPlan[small](b)
			p, buf := pl.Pointer(s), make([]byte, 0, 64)
			for b.Loop() {
				pl.Append(buf, p, tc.mask)
			}
			object := map[string]any{}
			for _, f := range tc.fields {
				object[f.name] = f.value
			}
			text, _ := json.Marshal(object)
			b.ReportMetric(float64(deltaBytes(b, e, tc.mask)), "B-exact")
			b.ReportMetric(float64(deltaBytes(b, s, tc.mask)), "B-quantised")
			b.ReportMetric(float64(len(text)), "B-json")
			b.ReportMetric(float64(len(msgpack(tc.fields))), "B-msgpack")
			b.ReportMetric(float64(len(protobuf(tc.fields))), "B-protobuf")
		})
	}
}

type field struct {
	number int
	name   string
	value  any
}

// msgpack writes a map with names for keys, every number in its shortest form of the same precision.
func msgpack(fields []field) []byte {
	b := []byte{0x80 | byte(len(fields))}
	for _, f := range fields {
		b = append(append(b, 0xa0|byte(len(f.name))), f.name...)
		switch v := f.value.(type) {
		case bool:
			b = append(b, 0xc3)
		case int16:
			b = append(b, byte(v)) // all here are below 128
		case float32:
			b = binary.BigEndian.AppendUint32(append(b, 0xca), math.Float32bits(v))
		case float64:
			b = binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(v))
		case Vec3:
			b = append(b, 0x93)
			for _, x := range []float64{v.X, v.Y, v.Z} {
				b = binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(x))
			}
		}
	}
	return b
}

// protobuf writes a message with numbers for keys: a field is there if it changed.
func protobuf(fields []field) (b []byte) {
	const varint, i64, length, i32 = 0, 1, 2, 5
	for _, f := range fields {
		key := byte(f.number << 3)
		switch v := f.value.(type) {
		case bool:
			b = append(b, key|varint, 1)
		case int16:
			b = binary.AppendUvarint(append(b, key|varint), uint64(v))
		case float32:
			b = binary.LittleEndian.AppendUint32(append(b, key|i32), math.Float32bits(v))
		case float64:
			b = binary.LittleEndian.AppendUint64(append(b, key|i64), math.Float64bits(v))
		case Vec3:
			b = append(append(b, key|length, 27), protobuf([]field{{1, "x", v.X}, {2, "y", v.Y}, {3, "z", v.Z}})...)
		}
	}
	return b
}
