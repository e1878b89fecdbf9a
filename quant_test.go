package throng

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/throng-dev/throng/internal/delta"
	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/quant"
)

// drone has a slot of every quantised type.
type drone struct {
	Pos    Vec3Quantize100 `rep:"position"`
	Home   Vec3Quantize    `rep:""`
	Goal   Vec3Quantize10  `rep:""`
	Map    Vec2Quantize    `rep:""`
	Map10  Vec2Quantize10  `rep:""`
	Map100 Vec2Quantize100 `rep:""`
	Up     Vec3Normal      `rep:""`
	View   Rotator         `rep:""`
	Body   RotatorByte     `rep:""`
	Turn   Quat            `rep:""`
}

func quantPlan[T any](t testing.TB) *delta.Plan {
	t.Helper()
	l, err := layout.Of(reflect.TypeFor[T](), "test", layout.Config{Leaves: leaves(), Find: findNetCodec})
	if err != nil {
		t.Fatal(err)
	}
	return delta.Compile(l)
}

func newDrone() *drone {
	return &drone{
		Pos: Vec3Quantize100{12345.678, -6543.216, 92.15}, Home: Vec3Quantize{12345.678, -6543.216, 92.15}, Goal: Vec3Quantize10{12345.678, -6543.216, 92.15},
		Map: Vec2Quantize{100, -200}, Map10: Vec2Quantize10{0.05, -0.15}, Map100: Vec2Quantize100{1, 0},
		Up: NormalOf(Vec3{0, 3, 4}), View: Rotator{-10, 123.456, 0}, Body: RotatorByte{Yaw: 400}, Turn: Quat{Z: 1, W: 1},
	}
}

// TestQuantisedSlots proves how the types stand in a layout, and that each goes the whole way (B-040).
func TestQuantisedSlots(t *testing.T) {
	pl := quantPlan[drone](t)
	for i, want := range []layout.Field{
		{Name: "Pos", Type: "vec3quantize100", Words: layout.Position}, {Name: "Home", Type: "vec3quantize"}, {Name: "Goal", Type: "vec3quantize10"},
		{Name: "Map", Type: "vec2quantize"}, {Name: "Map10", Type: "vec2quantize10"}, {Name: "Map100", Type: "vec2quantize100"},
		{Name: "Up", Type: "vec3normal", Width: 6}, {Name: "View", Type: "rotator"}, {Name: "Body", Type: "rotatorbyte"}, {Name: "Turn", Type: "quat", Width: 6},
	} {
		if pl.Layout.Slots[i].Field != want {
			t.Errorf("slot %d is %+v, want %+v", i, pl.Layout.Slots[i].Field, want)
		}
	}
	from, to := newDrone(), &drone{}
	b, refused := pl.Append(nil, pl.Pointer(from), pl.Layout.All)
	changed, n, err := pl.Apply(pl.Pointer(to), pl.Layout.All, pl.Layout.All, b)
	if refused != 0 || changed != pl.Layout.All || n != len(b) || err != nil {
		t.Fatalf("refused %b; changed %b, read %d of %d, %v", refused, changed, n, len(b), err)
	}
	if want := 10 + 7 + 8 + 4 + 2 + 3 + 6 + 5 + 2 + 6; len(b) != want {
		t.Errorf("%d bytes, want %d", len(b), want)
	}
	want := drone{
		from.Pos.Rounded(), from.Home.Rounded(), from.Goal.Rounded(), from.Map.Rounded(), from.Map10.Rounded(), from.Map100.Rounded(),
		to.Up, from.View.Rounded(), from.Body.Rounded(), from.Turn.Rounded(),
	}
	if *to != want {
		t.Errorf("arrived\n%+v, want\n%+v", *to, want)
	}
	if to.Pos != (Vec3Quantize100{12345.68, -6543.22, 92.15}) || to.Map10 != (Vec2Quantize10{0.1, -0.2}) || to.Body.Yaw != 39.375 || to.Up.Vec3().Dist(Vec3{0, 0.6, 0.8}) > 3e-5 {
		t.Errorf("arrived %+v", *to)
	}
	if again, _ := pl.Append(nil, pl.Pointer(to), pl.Layout.All); !bytes.Equal(again, b) {
		t.Errorf("sent on as %x, it came as %x", again, b)
	}
}

// TestQuantisedBeforeCompared proves that what rounds to the same is never sent (B-021, P40).
func TestQuantisedBeforeCompared(t *testing.T) {
	pl := quantPlan[drone](t)
	for _, tc := range []struct {
		what   string
		was    drone
		set    func(*drone)
		differ uint64
	}{
		{"within a step", drone{Pos: Vec3Quantize100{X: 100.004}}, func(d *drone) { d.Pos.X = 100.0049 }, 0},
		{"into the next", drone{Pos: Vec3Quantize100{X: 100.004}}, func(d *drone) { d.Pos.X = 100.006 }, 1},
		{"signed zero", drone{}, func(d *drone) { d.Home.Y = math.Copysign(0, -1) }, 0},
		{"a whole turn", drone{View: Rotator{Yaw: -90}}, func(d *drone) { d.View.Yaw = 270 }, 0},
		{"jitter of an angle", drone{Body: RotatorByte{Yaw: 90}}, func(d *drone) { d.Body.Yaw = 90.7 }, 0},
		{"half a step of an angle", drone{Body: RotatorByte{Yaw: 90}}, func(d *drone) { d.Body.Yaw = 90.8 }, 1 << 8},
		{"the negative of a rotation", drone{Turn: Quat{1, 2, 3, 4}}, func(d *drone) { d.Turn = Quat{-2, -4, -6, -8} }, 0},
		{"no rotation, written in two ways", drone{}, func(d *drone) { d.Turn.W = 1 }, 0},
		{"a direction", drone{Up: Vec3Normal{0, 0, 1}}, func(d *drone) { d.Up.X = 1e-5 }, 0},
		{"another direction", drone{Up: Vec3Normal{0, 0, 1}}, func(d *drone) { d.Up.X = 2e-5 }, 1 << 6},
	} {
		d := tc.was
		s := pl.NewShadow(pl.Pointer(&d))
		tc.set(&d)
		if got := s.Diff(pl.Pointer(&d), pl.Layout.Auto); got != tc.differ {
			t.Errorf("%s: %b differ, want %b", tc.what, got, tc.differ)
		}
	}
}

// TestQuantisedRefusals proves that what is no number is reported by its driver and reaches nobody (B-041).
func TestQuantisedRefusals(t *testing.T) {
	pl := quantPlan[drone](t)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for slot := range 10 {
			fields := reflect.ValueOf(newDrone()).Elem().Field(slot).NumField()
			for f := range fields {
				d := newDrone()
				reflect.ValueOf(d).Elem().Field(slot).Field(f).SetFloat(bad)
				b, refused := pl.Append([]byte("head"), pl.Pointer(d), pl.Layout.All)
				err := pl.Refusal(pl.Pointer(d), slot)
				if refused != 1<<slot || string(b) != "head" || !errors.Is(err, quant.ErrNotFinite) && !errors.Is(err, delta.ErrNotFinite) {
					t.Errorf("%v in %s: refused %b, %q, %v", bad, pl.Layout.Slots[slot].Name, refused, b, err)
				}
			}
		}
	}
	d := newDrone()
	d.Up = Vec3Normal{2, 0, 0}
	if err := pl.Refusal(pl.Pointer(d), 6); !errors.Is(err, quant.ErrRange) {
		t.Error(err)
	}
	if x, _, _, ok := pl.Position(pl.Pointer(&drone{Pos: Vec3Quantize100{X: math.NaN()}})); ok {
		t.Errorf("somewhere: %v", x)
	}
}

// TestQuantisedPosition proves that the place of an entity is the one that others see, whoever computes its chunk.
func TestQuantisedPosition(t *testing.T) {
	pl := quantPlan[drone](t)
	d := &drone{Pos: Vec3Quantize100{1599.996, -0.004, -1600.005}}
	if x, y, z, ok := pl.Position(pl.Pointer(d)); (Vec3{x, y, z}) != (Vec3{1600, 0, -1600.01}) || !ok {
		t.Errorf("at %v %v %v", x, y, z)
	}
	type flat struct {
		Entity
		Pos Vec2Quantize10 `rep:"position"`
	}
	c := NewClass[flat]("flat", ClassConfig{}).class
	if x, y, z, ok := c.plan.Position(c.plan.Pointer(&flat{Pos: Vec2Quantize10{0.06, -0.04}})); x != 0.1 || y != 0 || z != 0 || !ok || c.axes != 2 {
		t.Errorf("at %v %v %v, %d axes", x, y, z, c.axes)
	}
	type directed struct {
		Entity
		Up Vec3Normal `rep:"position"`
	}
	_, err := NewSchema(NewClass[directed]("directed", ClassConfig{}))
	wantLines(t, err, `throng: throng.directed.Up: word "position" does not fit type vec3normal: use throng.Vec3, throng.Vec2 or one of their quantised forms`)
}

// TestQuantisedInStruct proves that quantised types may be part of a slot.
func TestQuantisedInStruct(t *testing.T) {
	type pose struct {
		At   Vec3Quantize10
		View RotatorByte
		Lit  bool
	}
	type doll struct {
		Pose pose `rep:""`
	}
	pl := quantPlan[doll](t)
	from, to := &doll{pose{Vec3Quantize10{1, 2, 3}, RotatorByte{Yaw: 90}, true}}, &doll{}
	b, _ := pl.Append(nil, pl.Pointer(from), 1)
	if _, _, err := pl.Apply(pl.Pointer(to), 1, 1, b); err != nil || *to != *from || len(b) != 1+4+2+1 {
		t.Errorf("%x: %+v, %v", b, to, err)
	}
	for i := range b {
		if before := *to; i < len(b)-1 {
			if _, _, err := pl.Apply(pl.Pointer(to), 1, 1, b[:i]); err == nil || *to != before {
				t.Errorf("%x: %+v, %v", b[:i], to, err)
			}
		}
	}
}

func TestQuatMethods(t *testing.T) {
	quarter := Quat{Z: 1, W: 1} // of a turn about z, of no length in particular
	if v := quarter.Rotate(Vec3{X: 2}); v.Dist(Vec3{Y: 2}) > 1e-12 {
		t.Errorf("turned to %v", v)
	}
	u := quarter.Unit()
	if v := u.Mul(u).Rotate(Vec3{1, 2, 3}); v.Dist(Vec3{-1, -2, 3}) > 1e-12 {
		t.Errorf("turned twice to %v", v)
	}
	first, then := Quat{X: 1, W: 1}.Unit(), Quat{Z: 1, W: 1}.Unit()
	if a, b := then.Mul(first).Rotate(Vec3{Y: 1}), then.Rotate(first.Rotate(Vec3{Y: 1})); a.Dist(b) > 1e-12 || a.Dist(Vec3{Z: 1}) > 1e-12 {
		t.Errorf("%v and %v", a, b)
	}
	if v := (Quat{}).Rotate(Vec3{1, 2, 3}); v != (Vec3{1, 2, 3}) || (Quat{X: math.NaN()}).Unit() != (Quat{W: 1}) {
		t.Errorf("no rotation turned to %v", v)
	}
	if n := NormalOf(Vec3{}); n != (Vec3Normal{}) || NormalOf(Vec3{Y: math.Inf(1)}) != (Vec3Normal{}) || NormalOf(Vec3{Y: -1e300}) != (Vec3Normal{Y: -1}) {
		t.Errorf("%v has a direction", n)
	}
}

// FuzzQuantisedApply proves of every type that any bytes are a value or change nothing, and that what was read is finite and
// is sent on as it came.
func FuzzQuantisedApply(f *testing.F) {
	pl := quantPlan[drone](f)
	all, _ := pl.Append(nil, pl.Pointer(newDrone()), pl.Layout.All)
	f.Add(pl.Layout.All, all)
	f.Add(uint64(1), []byte{24, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f})
	f.Add(uint64(1<<7|1<<9), []byte{2, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, mask uint64, b []byte) {
		d := newDrone()
		before := *d
		changed, n, err := pl.Apply(pl.Pointer(d), mask, pl.Layout.All, b)
		if err != nil {
			if *d != before || changed != 0 || n != 0 {
				t.Fatalf("%v, and %+v", err, d)
			}
			return
		}
		for i := range 10 {
			v := reflect.ValueOf(d).Elem().Field(i)
			for j := range v.NumField() {
				if x := v.Field(j).Float(); x-x != 0 {
					t.Fatalf("%x: slot %d holds %v", b, i, v)
				}
			}
		}
		own, refused := pl.Append(nil, pl.Pointer(d), mask)
		if refused != 0 || mask>>9 == 0 && changed == mask && !bytes.Equal(own, b[:n]) {
			t.Fatalf("%x: sent on as %x, refused %b", b[:n], own, refused)
		}
	})
}
