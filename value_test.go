package throng

import (
	"math"
	"reflect"
	"testing"

	"github.com/throng-dev/throng/internal/delta"
	"github.com/throng-dev/throng/internal/layout"
)

func TestVec(t *testing.T) {
	v, w := Vec3{1, 2, 3}, Vec3{4, 6, 3}
	for _, tc := range []struct {
		what      string
		got, want any
	}{
		{"Add", v.Add(w), Vec3{5, 8, 6}},
		{"Sub", w.Sub(v), Vec3{3, 4, 0}},
		{"Scale", v.Scale(-2), Vec3{-2, -4, -6}},
		{"Dot", v.Dot(w), 25.0},
		{"Len", Vec3{2, 3, 6}.Len(), 7.0},
		{"Dist", v.Dist(w), 5.0},
		{"Lerp 0", v.Lerp(w, 0), v},
		{"Lerp 1", v.Lerp(w, 1), w},
		{"Lerp half", v.Lerp(w, 0.5), Vec3{2.5, 4, 3}},
		{"Add 2", Vec2{1, 2}.Add(Vec2{3, 4}), Vec2{4, 6}},
		{"Sub 2", Vec2{1, 2}.Sub(Vec2{3, 4}), Vec2{-2, -2}},
		{"Scale 2", Vec2{1, 2}.Scale(3), Vec2{3, 6}},
		{"Dot 2", Vec2{1, 2}.Dot(Vec2{3, 4}), 11.0},
		{"Len 2", Vec2{3, 4}.Len(), 5.0},
		{"Dist 2", Vec2{1, 1}.Dist(Vec2{4, 5}), 5.0},
		{"Lerp 2", Vec2{0, 2}.Lerp(Vec2{4, 4}, 0.25), Vec2{1, 2.5}},
		{"Lerp far", Vec3{1e300, 0, 0}.Lerp(Vec3{1, 0, 0}, 1), Vec3{1, 0, 0}},
		{"Len far", Vec3{1e300, 0, 0}.Len(), 1e300},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %v, want %v", tc.what, tc.got, tc.want)
		}
	}
}

func TestVecIsFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, v := range []Vec3{{X: bad}, {Y: bad}, {Z: bad}, {bad, -bad, bad}} {
			if v.IsFinite() {
				t.Errorf("%v is called finite", v)
			}
		}
		if (Vec2{X: bad}).IsFinite() || (Vec2{Y: bad}).IsFinite() {
			t.Errorf("Vec2 with %v is called finite", bad)
		}
	}
	if !(Vec3{math.MaxFloat64, -math.MaxFloat64, 5e-324}).IsFinite() || !(Vec2{}).IsFinite() {
		t.Error("a number is called not finite")
	}
}

// TestLeaves proves how the value types stand in a layout and on the wire (B-012, B-040).
func TestLeaves(t *testing.T) {
	type lamp struct {
		Pos   Vec3     `rep:"position"`
		Plan  Vec2     `rep:""`
		Near  NetID    `rep:""`
		Maker PlayerID `rep:"init"`
	}
	l, err := layout.Of(reflect.TypeFor[lamp](), "lamp", layout.Config{Leaves: leaves()})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []layout.Field{
		{Name: "Pos", Type: "vec3", Words: layout.Position, Width: 24}, {Name: "Plan", Type: "vec2", Width: 16},
		{Name: "Near", Type: "netid", Width: 16}, {Name: "Maker", Type: "playerid", Words: layout.Init, Width: 16},
	} {
		if l.Slots[i].Field != want {
			t.Errorf("slot %d is %+v, want %+v", i, l.Slots[i].Field, want)
		}
	}
	pl := delta.Compile(l)
	e := lamp{Pos: Vec3{1, 2, 3}, Near: NewID()}
	if x, y, z, ok := pl.Position(pl.Pointer(&e)); (Vec3{x, y, z}) != e.Pos || !ok {
		t.Errorf("Position reads %v %v %v %v", x, y, z, ok)
	}
	b, _ := pl.Append(nil, pl.Pointer(&e), 1<<2)
	if want := e.Near.Bytes(); string(b) != string(want[:]) {
		t.Errorf("a NetID field travels as %x, its Bytes are %x", b, want)
	}
}

func TestFlatPosition(t *testing.T) {
	type piece struct {
		Pos Vec2 `rep:"position"`
	}
	l, err := layout.Of(reflect.TypeFor[piece](), "piece", layout.Config{Leaves: leaves()})
	if err != nil {
		t.Fatal(err)
	}
	pl := delta.Compile(l)
	if x, y, z, ok := pl.Position(pl.Pointer(&piece{Vec2{1, 2}})); x != 1 || y != 2 || z != 0 || !ok {
		t.Errorf("Position reads %v %v %v %v", x, y, z, ok)
	}
}
