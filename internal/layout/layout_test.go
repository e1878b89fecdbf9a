package layout

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Stand-ins for the root package's types, which this package may not import.
type (
	entity struct{ id uint64 }
	vec3   struct{ X, Y, Z float64 }
	vec2   struct{ X, Y float64 }
	id     struct{ a, b uint64 }
	packed []byte // has a codec: may be anything
)

var testConfig = Config{
	Skip: []reflect.Type{reflect.TypeFor[entity]()},
	Leaves: map[reflect.Type]Leaf{
		reflect.TypeFor[vec3](): {Name: "vec3", Axes: 3, XYZ: XYZOf(func(v *vec3) (x, y, z float64) { return v.X, v.Y, v.Z })},
		reflect.TypeFor[vec2](): {Name: "vec2", Axes: 2, XYZ: XYZOf(func(v *vec2) (x, y, z float64) { return v.X, v.Y, 0 })},
		reflect.TypeFor[id]():   {Name: "id"},
	},
	Find: func(t reflect.Type) (Leaf, bool) {
		if t != reflect.TypeFor[packed]() {
			return Leaf{}, false
		}
		return Leaf{Name: "packed", Codec: CodecOf(0,
			func(b []byte, v *packed) ([]byte, error) { return append(b, *v...), nil },
			func(b []byte, v *packed) (int, error) { *v = append((*v)[:0], b...); return len(b), nil })}, true
	},
}

func mustOf[T any](t *testing.T) *Layout {
	t.Helper()
	l, err := Of(reflect.TypeFor[T](), "test", testConfig)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// wantFaults checks that err joins exactly as many faults as there are texts, in order, each holding its text.
func wantFaults(t *testing.T, err error, texts ...string) {
	t.Helper()
	var faults []error
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		faults = j.Unwrap()
	}
	if len(faults) != len(texts) {
		t.Fatalf("%d faults, want %d:\n%v", len(faults), len(texts), err)
	}
	for i, f := range faults {
		if !strings.Contains(f.Error(), texts[i]) {
			t.Errorf("fault %d is\n %v\nand lacks\n %s", i, f, texts[i])
		}
		if f := f.(*Fault); f.Type == "" || f.Field == "" || f.Problem == "" || f.Remedy == "" || f.Rule == "" {
			t.Errorf("fault %d lacks a part: %+v", i, f)
		}
	}
}

// TestOrder proves that slots stand in declaration order with embedded structs in place (B-010).
func TestOrder(t *testing.T) {
	type Deep struct {
		D int8 `rep:""`
	}
	type base struct {
		B string `rep:""`
		x int32
		Deep
		C uint16 `rep:"owner"`
	}
	type Whole struct{ P, Q int32 }
	type lamp struct {
		entity
		A bool `rep:""`
		base
		Whole `rep:"manual"` // tagged: a slot, not a group
		skip  []int
		Z     float64 `rep:""`
	}
	_ = lamp{skip: nil, base: base{x: 0}}
	l := mustOf[lamp](t)
	var got []string
	for _, s := range l.Slots {
		got = append(got, s.Path+" "+s.Type)
	}
	want := "[A bool base.B string base.Deep.D int8 base.C uint16 Whole struct{P int32; Q int32} Z float64]"
	if fmt.Sprint(got) != want {
		t.Errorf("slots are %v, want %s", got, want)
	}
	for _, s := range l.Slots {
		v := reflect.New(l.Type).Elem()
		for name := range strings.SplitSeq(s.Path, ".") {
			v = v.FieldByName(name)
		}
		if v.Type() != s.Go || v.Type().Size() != s.Size {
			t.Errorf("%s is %v, the layout says %v", s.Path, v.Type(), s.Go)
		}
	}
}

// TestJoined proves that memory is called contiguous only if no other field lies in it: that may be another goroutine's.
func TestJoined(t *testing.T) {
	type pair struct {
		A uint8
		B uint32
	}
	type lamp struct {
		A uint8 `rep:""`
		B uint8 `rep:""`
		x uint8
		C uint8  `rep:""`
		D uint32 `rep:""` // padding before it
		E pair   `rep:""`
	}
	_ = lamp{x: 0}
	for i, want := range []bool{false, true, false, true, true} {
		if s := mustOf[lamp](t).Slots[i]; s.Joined != want {
			t.Errorf("%s.Joined = %v", s.Path, s.Joined)
		}
	}
}

// TestSlotBound proves that 64 slots are fine and 65 are an error that names the field (B-010).
func TestSlotBound(t *testing.T) {
	of := func(n int) (*Layout, error) {
		fields := make([]reflect.StructField, n)
		for i := range fields {
			fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: reflect.TypeFor[int32](), Tag: `rep:""`}
		}
		return Of(reflect.StructOf(fields), "big", testConfig)
	}
	if l, err := of(64); err != nil || l.All != 1<<64-1 {
		t.Errorf("64 slots: %v", err)
	}
	l, err := of(65)
	wantFaults(t, err, ".F64 is slot 65 of 65, and a class has at most 64: put fields that change together into one struct")
	if l != nil {
		t.Error("65 slots made a layout")
	}
	if l, err := of(0); err != nil || l.All != 0 || l.Position != -1 {
		t.Errorf("no slots: %v, %v", l, err)
	}
}

func TestNotAStruct(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[int32](), reflect.TypeFor[*vec3](), reflect.TypeFor[[]vec3]()} {
		if l, err := Of(typ, "x", testConfig); l != nil || err == nil || !strings.Contains(err.Error(), "is not a struct") {
			t.Errorf("%v: %v, %v", typ, l, err)
		}
	}
}
