package layout

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type (
	stance uint8
	node   struct{ Next *node }
	forest struct{ Trees []forest }
	hidden struct{ A, b int32 }
)

// TestSupported proves the types of B-012 with their canonical name and width.
func TestSupported(t *testing.T) {
	type inner struct {
		A int8
		_ [3]byte
		B struct{ C stance }
	}
	type named struct {
		ID   id
		Name string
	}
	for _, tc := range []struct {
		typ    reflect.Type
		canon  string
		width  int
		framed bool
		atoms  int
	}{
		{reflect.TypeFor[bool](), "bool", 1, false, 1},
		{reflect.TypeFor[int8](), "int8", 1, false, 1},
		{reflect.TypeFor[int16](), "int16", 2, false, 1},
		{reflect.TypeFor[int32](), "int32", 4, false, 1},
		{reflect.TypeFor[int64](), "int64", 8, false, 1},
		{reflect.TypeFor[uint8](), "uint8", 1, false, 1},
		{reflect.TypeFor[uint16](), "uint16", 2, false, 1},
		{reflect.TypeFor[uint32](), "uint32", 4, false, 1},
		{reflect.TypeFor[uint64](), "uint64", 8, false, 1},
		{reflect.TypeFor[float32](), "float32", 4, false, 1},
		{reflect.TypeFor[float64](), "float64", 8, false, 1},
		{reflect.TypeFor[string](), "string", 0, false, 1},
		{reflect.TypeFor[stance](), "uint8", 1, false, 1},
		{reflect.TypeFor[time.Duration](), "duration", 8, false, 1},
		{reflect.TypeFor[id](), "id", 16, false, 2},
		{reflect.TypeFor[vec3](), "vec3", 24, false, 3},
		{reflect.TypeFor[packed](), "packed", 0, false, 1},
		{reflect.TypeFor[inner](), "struct{A int8; B struct{C uint8}}", 2, false, 2},
		{reflect.TypeFor[named](), "struct{ID id; Name string}", 0, true, 3},
	} {
		l, err := ofField(tc.typ, `rep:""`)
		if err != nil {
			t.Errorf("%v: %v", tc.typ, err)
			continue
		}
		s := l.Slots[0]
		if s.Type != tc.canon || s.Width != tc.width || s.Framed != tc.framed || len(s.Atoms) != tc.atoms {
			t.Errorf("%v: %q, width %d, framed %v, %d atoms; want %+v", tc.typ, s.Type, s.Width, s.Framed, len(s.Atoms), tc)
		}
	}
}

// unsafePointer is that type, named without importing it.
var unsafePointer = reflect.TypeOf(reflect.Value.UnsafePointer).Out(0)

var refused = []struct {
	typ  reflect.Type
	text string
}{
	{reflect.TypeFor[int](), "(int) has a size that differs between machines: use int32 or int64"},
	{reflect.TypeFor[uint](), "(uint) has a size that differs between machines: use uint32 or uint64"},
	{reflect.TypeFor[uintptr](), "is an address: use uint64"},
	{reflect.TypeFor[complex64](), "is complex: "},
	{reflect.TypeFor[complex128](), "is complex: "},
	{reflect.TypeFor[*int32](), "is a pointer: use a throng.NetID for an entity"},
	{reflect.TypeFor[*node](), "is a pointer"},
	{reflect.TypeFor[*entity](), "is a pointer: use a throng.NetID"},
	{reflect.TypeFor[error](), "is an interface"},
	{reflect.TypeFor[any](), "is an interface"},
	{reflect.TypeFor[func()](), "is a function"},
	{reflect.TypeFor[chan int32](), "is a channel"},
	{unsafePointer, "is an unsafe pointer"},
	{reflect.TypeFor[[]int32](), "is a slice: use a struct with a field per element"},
	{reflect.TypeFor[[]byte](), "is a slice"},
	{reflect.TypeFor[map[string]int32](), "is a map: use a struct with a field per element"},
	{reflect.TypeFor[[4]int32](), "is an array: use a struct"},
	{reflect.TypeFor[[0]int32](), "is an array"},
	{reflect.TypeFor[struct{}](), "has no size"},
	{reflect.TypeFor[struct{ _ int32 }](), "has no fields"},
	{reflect.TypeFor[entity](), "is another entity: use its throng.NetID"},
	{reflect.TypeFor[hidden](), ".b is not exported"},
	{reflect.TypeFor[node](), ".Next (*layout.node) is a pointer"},
	{reflect.TypeFor[forest](), ".Trees ([]layout.forest) is a slice"},
	{reflect.TypeFor[time.Time](), "is not exported"},
	{reflect.TypeFor[struct {
		A int32 `rep:"owner"`
	}](), "stands inside a slot, where it has no effect"},
}

// TestRefused proves each refused type of B-013, bare and down to eight structs deep.
//
// P48, P50: containers and arrays, whose counts can be forged and whose tails were not compared, are no properties.
func TestRefused(t *testing.T) {
	for _, tc := range refused {
		typ, path := tc.typ, ""
		for depth := range 9 {
			_, err := ofField(typ, `rep:""`)
			if err == nil || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%v, %d deep: %v; want %q", tc.typ, depth, err, tc.text)
			} else if !strings.Contains(err.Error(), ".F"+path) {
				t.Errorf("%v, %d deep: %v; does not name the path", tc.typ, depth, err)
			}
			typ = reflect.StructOf([]reflect.StructField{
				{Name: "Before", Type: reflect.TypeFor[int32]()}, {Name: "In", Type: typ}, {Name: "After", Type: reflect.TypeFor[string]()},
			})
			path += ".In"
		}
	}
}

// TestAllFaultsAtOnce proves that no fault hides another, and that refused fields do not shift their neighbours (B-013).
func TestAllFaultsAtOnce(t *testing.T) {
	var fields []reflect.StructField
	for i, r := range refused {
		fields = append(fields,
			reflect.StructField{Name: fmt.Sprintf("Bad%d", i), Type: r.typ, Tag: `rep:""`},
			reflect.StructField{Name: fmt.Sprintf("Good%d", i), Type: reflect.TypeFor[int16](), Tag: `rep:""`})
	}
	typ := reflect.StructOf(fields)
	l, err := Of(typ, "all", testConfig)
	for i, r := range refused {
		if !strings.Contains(err.Error(), fmt.Sprintf("Bad%d", i)) || !strings.Contains(err.Error(), r.text) {
			t.Errorf("the error lacks %v", r.typ)
		}
	}
	if len(l.Slots) != len(refused) {
		t.Fatalf("%d slots, want %d", len(l.Slots), len(refused))
	}
	for i, s := range l.Slots {
		f, _ := typ.FieldByName(fmt.Sprintf("Good%d", i))
		if s.Name != f.Name || s.Offset != f.Offset || s.Joined {
			t.Errorf("slot %d is %+v", i, s)
		}
	}
}

func TestFieldRefused(t *testing.T) {
	type Base struct {
		A int32 `rep:""`
	}
	type lamp struct {
		entity `rep:""`
		_      int32 `rep:""`
		small  int32 `rep:""`
		*Base
	}
	_ = lamp{small: 0}
	_, err := Of(reflect.TypeFor[lamp](), "lamp", testConfig)
	wantFaults(t, err,
		"lamp.entity is not exported", "lamp._ is blank and has a rep tag", "lamp.small is not exported and has a rep tag: export it",
		"lamp.Base is embedded by pointer and holds fields with rep tags: embed layout.Base by value")
}

func TestTooWide(t *testing.T) {
	typ := reflect.TypeFor[uint64]()
	for range 12 { // 8 bytes · 2¹² is 32 KiB
		typ = reflect.StructOf([]reflect.StructField{{Name: "A", Type: typ}, {Name: "B", Type: typ}})
	}
	if _, err := ofField(typ, `rep:""`); err == nil || !strings.Contains(err.Error(), "is too large") {
		t.Errorf("32 KiB: %v", err)
	}
}

// TestInitHook proves that an init field may hold more, if someone can encode it (B-013).
func TestInitHook(t *testing.T) {
	cfg, asked := testConfig, []reflect.Type{}
	cfg.Init = func(of, field string, t reflect.Type) (Leaf, []error) {
		asked = append(asked, t)
		if t != reflect.TypeFor[[]byte]() {
			return Leaf{}, []error{&Fault{Rule: "B-013", Type: of, Field: field, Problem: "is none", Remedy: "use bytes"}}
		}
		leaf, _ := testConfig.Find(reflect.TypeFor[packed]())
		leaf.Name = "list of bytes"
		return leaf, nil
	}
	type lamp struct {
		A []byte `rep:"init"`
		B []byte `rep:""`
		C int32  `rep:"init"`
		D *int32 `rep:"init"`
	}
	l, err := Of(reflect.TypeFor[lamp](), "lamp", cfg)
	wantFaults(t, err, "lamp.B ([]uint8) is a slice", "lamp.D is none: use bytes")
	if len(l.Slots) != 2 || l.Slots[0].Type != "list of bytes" || l.Slots[0].Framed || l.Slots[1].Name != "C" {
		t.Errorf("slots are %v", l.Fields())
	}
	if want := []reflect.Type{reflect.TypeFor[[]byte](), reflect.TypeFor[*int32]()}; !slices.Equal(asked, want) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
}

// TestExclusivity proves that the motion struct keeps what it shares with the class by name and type (B-016).
func TestExclusivity(t *testing.T) {
	type Shared struct{ Aim float32 }
	type motion struct {
		Yaw   float32
		Speed float64
		Trail []int32
		Shared
	}
	type lamp struct {
		Yaw   float32 `rep:""`
		Speed float32 `rep:""` // another type: both stay
		Aim   float32 `rep:""`
		Fuel  float32 `rep:""`
	}
	cfg := testConfig
	cfg.Motion = reflect.TypeFor[motion]()
	l, err := Of(reflect.TypeFor[lamp](), "lamp", cfg)
	wantFaults(t, err, "lamp.Yaw also stands in the motion struct layout.motion, which keeps it: remove the rep tag here", "lamp.Aim also stands")
	if len(l.Slots) != 2 || l.Slots[0].Name != "Speed" || l.Slots[1].Name != "Fuel" {
		t.Errorf("slots are %v", l.Fields())
	}
}

// ofField makes the layout of a struct whose only tagged field, F, has the given type.
func ofField(t reflect.Type, tag reflect.StructTag) (*Layout, error) {
	return Of(reflect.StructOf([]reflect.StructField{{Name: "F", Type: t, Tag: tag}}), "one", testConfig)
}
