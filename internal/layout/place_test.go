package layout

import (
	"reflect"
	"strings"
	"testing"
)

// TestAt proves how field arguments resolve (protocol.md §9).
func TestAt(t *testing.T) {
	type Gear struct {
		Hat  uint8  `rep:""`
		Coat uint8  `rep:""`
		Tag  string `rep:""`
	}
	type glow struct{ Power, Hue float32 }
	type lamp struct {
		entity
		First glow `rep:""` // shares its offset with First.Power
		Gear
		Loose int32
		Bag   struct{ A, B int32 }
		Last  bool `rep:""`
	}
	l := mustOf[lamp](t)
	var e lamp
	at := func(name string) uintptr {
		f, _ := l.Type.FieldByName(name)
		return f.Offset // of an embedded struct's field: from that struct
	}
	for _, tc := range []struct {
		what  string
		off   uintptr
		field any
		mask  uint64
		err   string
	}{
		{"slot", at("First"), &e.First, 0b1, ""},
		{"slot of an embedded struct", at("Coat") + at("Gear"), &e.Coat, 0b100, ""},
		{"last slot", at("Last"), &e.Last, 0b10000, ""},
		{"embedded struct: all slots inside", at("Gear"), &e.Gear, 0b1110, ""},
		{"first of an embedded struct", at("Gear"), &e.Hat, 0b10, ""},
		{"entity: all slots", 0, &e, 0b11111, ""},
		{"inside a struct slot", at("First") + 4, &e.First.Hue, 0, "layout.lamp.First.Hue is inside a slot: a struct is one slot, pass &First"},
		{"first inside a struct slot", at("First"), &e.First.Power, 0, "layout.lamp.First.Power is inside a slot"},
		{"untagged", at("Loose"), &e.Loose, 0, "layout.lamp.Loose is not replicated: give it a rep tag"},
		{"inside untagged", at("Bag") + 4, &e.Bag.B, 0, "layout.lamp.Bag.B is not replicated"},
		{"skipped", 0, &e.entity, 0, "layout.lamp.entity is not replicated"},
		{"behind", reflect.TypeOf(e).Size(), new(bool), 0, "a *bool that does not point into this layout.lamp"},
		{"before", ^uintptr(7), new(bool), 0, "does not point into"},
		{"slot as another type", at("Last"), new(int8), 0, "is inside a slot"},
	} {
		mask, err := l.At(tc.off, reflect.TypeOf(tc.field).Elem())
		if mask != tc.mask || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %b, %v; want %b, %q", tc.what, mask, err, tc.mask, tc.err)
		}
	}
}
