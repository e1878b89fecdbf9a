package delta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"time"

	"github.com/throng-dev/throng/internal/layout"
)

// Types as the root package and its users may have them.
type (
	vec3   struct{ X, Y, Z float64 }
	id     struct{ a, b uint64 }
	stance uint8
	tenth  struct{ X, Y, Z float64 } // rounded to 0.1 on the wire
	third  uint8                     // counts modulo 3, and a peer may write more
	packed []byte                    // has pointers and varies in width
	loose  struct{ X, Y float64 }    // its codec lets everything through
)

type testCodec struct {
	codec layout.Codec
	axes  int
}

var codecs = map[reflect.Type]testCodec{
	reflect.TypeFor[loose](): {layout.CodecOf(8,
		func(b []byte, v *loose) ([]byte, error) {
			b = binary.LittleEndian.AppendUint32(b, canon32(math.Float32bits(float32(v.X))))
			return binary.LittleEndian.AppendUint32(b, canon32(math.Float32bits(float32(v.Y)))), nil
		},
		func(b []byte, v *loose) (int, error) {
			v.X = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
			v.Y = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4:])))
			return 8, nil
		}), 2},
	reflect.TypeFor[tenth](): {layout.CodecOf(12, appendTenth, parseTenth), 3},
	reflect.TypeFor[third](): {layout.CodecOf(1,
		func(b []byte, v *third) ([]byte, error) { return append(b, byte(*v%3)), nil },
		func(b []byte, v *third) (int, error) { *v = third(b[0]) % 3; return 1, nil }), 0},
	reflect.TypeFor[packed](): {layout.CodecOf(0,
		func(b []byte, v *packed) ([]byte, error) { return append(b, *v...), nil },
		func(b []byte, v *packed) (int, error) {
			if len(b) > 0 && b[0] == 0xff {
				return 0, errors.New("throng: 0xff starts nothing")
			}
			*v = append((*v)[:0], b...)
			return len(b), nil
		}), 0},
}

func appendTenth(b []byte, v *tenth) ([]byte, error) {
	for _, f := range [...]float64{v.X, v.Y, v.Z} {
		r := math.Round(f * 10)
		if !(math.Abs(r) <= math.MaxInt32) {
			return b, errors.New("throng: out of range")
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(int32(r)))
	}
	return b, nil
}

func parseTenth(b []byte, v *tenth) (int, error) {
	at := func(i int) float64 { return float64(int32(binary.LittleEndian.Uint32(b[i:]))) / 10 }
	if at(0) < math.MinInt32/10.0+1 || at(4) < math.MinInt32/10.0+1 || at(8) < math.MinInt32/10.0+1 {
		return 0, errors.New("throng: out of range")
	}
	*v = tenth{at(0), at(4), at(8)}
	return 12, nil
}

var testLeaves = map[reflect.Type]layout.Leaf{
	reflect.TypeFor[vec3]():   {Name: "vec3", Axes: 3, XYZ: layout.XYZOf(func(v *vec3) (x, y, z float64) { return v.X, v.Y, v.Z })},
	reflect.TypeFor[id]():     {Name: "id"},
	reflect.TypeFor[tenth]():  {Name: "tenth", Axes: 3, XYZ: layout.XYZOf(func(v *tenth) (x, y, z float64) { return v.X, v.Y, v.Z })},
	reflect.TypeFor[third]():  {Name: "third"},
	reflect.TypeFor[loose]():  {Name: "loose", Axes: 2, XYZ: layout.XYZOf(func(v *loose) (x, y, z float64) { return v.X, v.Y, 0 })},
	reflect.TypeFor[packed](): {Name: "packed"},
}

func init() {
	for t, c := range codecs {
		leaf := testLeaves[t]
		leaf.Codec = c.codec
		testLeaves[t] = leaf
	}
}

var leafTypes = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](),
	reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[stance](), reflect.TypeFor[time.Duration](),
	reflect.TypeFor[vec3](), reflect.TypeFor[id](), reflect.TypeFor[tenth](), reflect.TypeFor[third](), reflect.TypeFor[packed](),
}

// randomType returns a type that may be replicated.
func randomType(r *rand.Rand, depth int) reflect.Type {
	if depth == 0 || r.IntN(4) > 0 {
		return leafTypes[r.IntN(len(leafTypes))]
	}
	fields := make([]reflect.StructField, 1+r.IntN(4))
	for i := range fields {
		fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: randomType(r, depth-1)}
	}
	return reflect.StructOf(fields)
}

var tags = []reflect.StructTag{`rep:""`, `rep:""`, `rep:""`, `rep:"owner"`, `rep:"manual"`, `rep:"heartbeat"`, `rep:"init"`}

// randomPlan returns the plan of a random entity.
func randomPlan(r *rand.Rand) *Plan {
	fields := make([]reflect.StructField, 1+r.IntN(12))
	if r.IntN(50) == 0 {
		fields = make([]reflect.StructField, 64)
	}
	positioned := false
	for i := range fields {
		f := reflect.StructField{Name: fmt.Sprintf("S%d", i), Type: randomType(r, 3), Tag: tags[r.IntN(len(tags))]}
		switch {
		case r.IntN(8) == 0:
			f.Tag = ""
		case !positioned && testLeaves[f.Type].Axes > 0 && r.IntN(2) == 0:
			f.Tag, positioned = `rep:"position"`, true
		}
		fields[i] = f
	}
	l, err := layout.Of(reflect.StructOf(fields), "random", layout.Config{Leaves: testLeaves})
	if err != nil {
		panic(err)
	}
	return Compile(l)
}

// randomise sets some of the numbers and strings of v, favouring the odd ones.
func randomise(r *rand.Rand, v reflect.Value) {
	if v.Type() == reflect.TypeFor[id]() {
		v.Set(reflect.ValueOf(id{r.Uint64N(3), r.Uint64N(2)}))
		return
	}
	if v.Kind() != reflect.Struct && r.IntN(3) > 0 {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			randomise(r, v.Field(i))
		}
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, r.Int64()}[r.IntN(6)] >> (64 - v.Type().Bits()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint([]uint64{0, 1, 3, math.MaxUint64, r.Uint64()}[r.IntN(5)] >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, math.Copysign(0, -1), 1, 0.04, -0.04, math.NaN(), math.Float64frombits(0xfff8_0000_0000_0001),
			math.Inf(1), math.Inf(-1), 1e300, 5e-324, r.NormFloat64() * 1000}[r.IntN(12)])
	case reflect.String:
		v.SetString([]string{"", "a", "b", "longer than one byte can say: " + string(make([]byte, 200)), string(make([]byte, layout.MaxValue+r.IntN(2)))}[r.IntN(5)])
	case reflect.Slice:
		v.Set(reflect.ValueOf(packed([][]byte{nil, {}, {1}, {2, 3}, make([]byte, 300)}[r.IntN(5)])))
	}
}
