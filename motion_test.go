package throng

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/motion"
	"github.com/throng-dev/throng/internal/wire"
)

type motionThing struct {
	Entity
	Yaw   float32 `rep:""`
	Speed float32 `rep:""`
	all   motionAll
}

// motionAll has a field of every kind that is blended, and some that are not.
type motionAll struct {
	Pos    Vec3 `rep:"position"`
	P10    Vec3Quantize10
	P2     Vec2
	F      float32
	G      float64
	Turn   Rotator
	Byte   RotatorByte
	Q      Quat
	N      Vec3Normal
	Gait   uint8
	Name   string
	On     bool
	Nested struct{ A, B float32 }
}

func newMotionAll() (a, b motionAll) {
	a = motionAll{Pos: Vec3{1, 2, 3}, P10: Vec3Quantize10{1, 2, 3}, P2: Vec2{4, 5}, F: 1, G: 2, Turn: Rotator{Yaw: 350}, Byte: RotatorByte{Yaw: 0}, Q: Quat{W: 1}, N: Vec3Normal{X: 1}, Gait: 1, Name: "a"}
	b = motionAll{Pos: Vec3{3, 4, 5}, P10: Vec3Quantize10{3, 4, 5}, P2: Vec2{6, 7}, F: 3, G: 4, Turn: Rotator{Yaw: 10}, Byte: RotatorByte{Yaw: 90}, Q: Quat{Z: math.Sqrt2 / 2, W: math.Sqrt2 / 2}, N: Vec3Normal{Y: 1}, Gait: 2, Name: "b", On: true}
	b.Nested.A, b.Nested.B = 2, 4
	return a, b
}

// B-061: a motion struct travels whole; half way, what has a half is half way, by the shorter arc, and all else is as it was.
func TestB061EveryTypeIsBlended(t *testing.T) {
	class := NewClass[motionThing]("thing", ClassConfig{Mode: Dynamic})
	MustSchema(Motion(class, func(m *motionThing) motionAll { return m.all }, func(m *motionThing, a motionAll) { m.all = a }))
	ch := class.core().open()
	a, b := newMotionAll()
	tr, stats := ch.track(), motion.Stats{}
	proxy := &motionThing{}
	for i, v := range []motionAll{a, b} {
		value, at, placed, err := ch.capture(nil, &motionThing{all: v})
		if err != nil || !placed || at != v.Pos {
			t.Fatal(err, at, placed)
		}
		if err := tr.push(proxy, value, motion.Arrival{Now: float64(1000 + 100*i), At: int64(1000 + 100*i), Timed: true}, 0, &stats); err != nil {
			t.Fatal(err)
		}
	}
	tr.draw(proxy, 1250, 0, &stats)
	got := proxy.all
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 0.01 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("Pos.X", got.Pos.X, 2)
	near("P10.Z", got.P10.Z, 4)
	near("P2.Y", got.P2.Y, 6)
	near("F", float64(got.F), 2)
	near("G", got.G, 3)
	near("Turn", math.Mod(got.Turn.Yaw+180, 360), 180)
	near("Byte", got.Byte.Yaw, 45)
	near("Q", 2*math.Asin(got.Q.Z)*180/math.Pi, 45)
	near("N", got.N.X, math.Sqrt2/2)
	near("Nested.B", float64(got.Nested.B), 2)
	if got.Gait != 1 || got.Name != "a" || got.On {
		t.Errorf("what cannot be blended: %+v", got)
	}
	tr.draw(proxy, 1300, 50, &stats)
	if proxy.all.Gait != 2 || proxy.all.Name != "b" || !proxy.all.On || proxy.all.Pos != b.Pos {
		t.Errorf("at the second sample: %+v", proxy.all)
	}
	// A place that is none, and bytes that are no value.
	if _, _, _, err := ch.capture(nil, &motionThing{all: motionAll{Pos: Vec3{X: math.NaN()}}}); err == nil {
		t.Error("NaN was captured")
	}
	if err := tr.push(proxy, []byte{1, 2, 3}, motion.Arrival{Now: 1400, At: 1400, Timed: true}, 0, &stats); err == nil || stats.Samples != 2 {
		t.Error("bytes that are no value were taken")
	}
}

type wheel struct{ Turns float64 }

func (w wheel) Interpolate(to wheel, t float64) wheel {
	return wheel{math.Floor(w.Turns + (to.Turns-w.Turns)*t)}
}

// B-061: a type may bring its own way to be between two values.
func TestB061OwnInterpolation(t *testing.T) {
	type cart struct {
		Entity
		w wheel
	}
	carts := NewClass[cart]("cart", ClassConfig{Mode: Dynamic})
	MustSchema(Motion(carts, func(c *cart) wheel { return c.w }, func(c *cart, w wheel) { c.w = w }))
	ch, proxy, stats := carts.core().open(), &cart{}, motion.Stats{}
	tr := ch.track()
	for i := range 5 {
		value, _, _, _ := ch.capture(nil, &cart{w: wheel{10 * float64(i)}})
		tr.push(proxy, value, motion.Arrival{Now: float64(1000 + 100*i), At: int64(1000 + 100*i), Timed: true}, 0, &stats)
	}
	if tr.draw(proxy, 1455, 0, &stats); proxy.w.Turns != 25 {
		t.Errorf("%v turns", proxy.w.Turns)
	}
	step := func() { tr.draw(proxy, 1455, 0, &stats) }
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

type sharedMotion struct {
	Yaw   float32
	Speed float64
}

// B-016: a field that the motion struct has as well, by name and type, is an error; a lenient schema goes without it. Of another type both stay.
func TestB016Exclusivity(t *testing.T) {
	declare := func() Item {
		c := NewClass[motionThing]("thing", ClassConfig{Mode: Dynamic})
		return Motion(c, func(*motionThing) sharedMotion { return sharedMotion{} }, func(*motionThing, sharedMotion) {})
	}
	_, err := NewSchema(declare())
	if err == nil || !strings.Contains(err.Error(), "Yaw also stands in the motion struct") || strings.Contains(err.Error(), "Speed") {
		t.Errorf("%v", err)
	}
	s, err := NewSchema(declare(), SchemaLenient)
	if err != nil {
		t.Fatal(err)
	}
	k := s.classes[0]
	if len(k.layout.Slots) != 1 || k.layout.Slots[0].Name != "Speed" || len(k.wire.Slots) != 2 || k.motion.slot != 1 || len(s.refused) != 1 {
		t.Errorf("%v, %v", k.layout.Fields(), s.refused)
	}
}

// Every fault of a class that streams is told, with what to do.
func TestMotionFaults(t *testing.T) {
	type still struct {
		Entity
		N int32 `rep:""`
	}
	type placed struct {
		Entity
		Pos Vec2 `rep:"position"`
	}
	type pose struct {
		At Vec2 `rep:"position"`
	}
	get, put := func(*placed) pose { return pose{} }, func(*placed, pose) {}
	for what, tt := range map[string]struct {
		item Item
		want string
	}{
		"static":     {Motion(NewClass[still]("s", ClassConfig{}), func(*still) pose { return pose{} }, func(*still, pose) {}), "set ClassConfig.Mode to Dynamic"},
		"nothing":    {NewClass[still]("s", ClassConfig{Mode: Dynamic}), "streams nothing"},
		"two places": {Motion(NewClass[placed]("p", ClassConfig{Mode: Dynamic}), get, put), "in one place"},
		"mode":       {NewClass[placed]("p", ClassConfig{Mode: 7}), "use Static or Dynamic"},
		"slice": {Motion(NewClass[still]("s", ClassConfig{Mode: Dynamic}), func(*still) struct{ T []int32 } { return struct{ T []int32 }{} }, func(*still, struct{ T []int32 }) {}),
			"is a slice"},
		"word": {Motion(NewClass[still]("s", ClassConfig{Mode: Dynamic}), func(*still) struct {
			N int32 `rep:"owner"`
		} {
			return struct {
				N int32 `rep:"owner"`
			}{}
		}, func(*still, struct {
			N int32 `rep:"owner"`
		}) {
		}), "whose fields leave together"},
		"no capture": {Motion[still, pose](NewClass[still]("s", ClassConfig{Mode: Dynamic}), nil, func(*still, pose) {}), "give both"},
		"no class":   {Motion[still, pose](nil, func(*still) pose { return pose{} }, func(*still, pose) {}), "not made by NewClass"},
	} {
		if _, err := NewSchema(tt.item); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", what, err, tt.want)
		}
	}
	c := NewClass[placed]("p", ClassConfig{Mode: Dynamic})
	MustSchema(c)
	if _, err := NewSchema(Motion(c, get, put)); err == nil || !strings.Contains(err.Error(), "after a schema was made") {
		t.Errorf("too late: %v", err)
	}
	s := &Schema{}
	if err := (&Config{Token: []byte{1}, World: "w", MotionKeyframe: time.Millisecond}).validate(s); err == nil || !strings.Contains(err.Error(), "MotionKeyframe") {
		t.Error(err)
	}
}

// Two builds of which one streams the position do not take each other's records: they would cut them in different places.
func TestDynamicIsAnotherLayout(t *testing.T) {
	type placed struct {
		Entity
		Pos Vec2 `rep:"position"`
	}
	a, b := NewClass[placed]("p", ClassConfig{}), NewClass[placed]("p", ClassConfig{Mode: Dynamic})
	if a.LayoutHash() == b.LayoutHash() {
		t.Error("one hash")
	}
	if w := b.core().wire; w.Motion != 1 || w.Flags&wire.ClassDynamic == 0 || w.Slots[0].Words != wire.WordPosition|wire.WordMotion {
		t.Errorf("%+v", w)
	}
}
