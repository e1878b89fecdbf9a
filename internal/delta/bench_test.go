package delta

import (
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/layout"
)

type glow struct {
	Colour uint32
	Power  float32
}

// lantern is the entity the budgets are meant for: ten slots of mixed types.
type lantern struct {
	Pos   vec3          `rep:"position"`
	Lit   bool          `rep:"heartbeat"`
	Pose  stance        `rep:""`
	HP    int32         `rep:""`
	Glow  glow          `rep:""`
	Fuel  float32       `rep:"owner"`
	Name  string        `rep:""`
	Maker id            `rep:""`
	Left  time.Duration `rep:""`
	Yaw   float64       `rep:""`
	flame *int
}

// coat is a smaller one whose position has a codec.
type coat struct {
	Pos tenth `rep:"position"`
	Lit bool  `rep:""`
}

func planOf[T any](t testing.TB) *Plan {
	l, err := layout.Of(reflect.TypeFor[T](), "test", layout.Config{Leaves: testLeaves})
	if err != nil {
		t.Fatal(err)
	}
	return Compile(l)
}

func newLantern() *lantern {
	return &lantern{Pos: vec3{1, 2, 3}, Lit: true, HP: 100, Glow: glow{0xff8800, 0.5}, Fuel: 3.5, Name: "lantern at the gate",
		Maker: id{1, 2}, Left: time.Minute, Yaw: 0.25, flame: new(int)}
}

// three is the change of three slots that the budgets name: Lit, HP, Fuel.
const three = 1<<1 | 1<<3 | 1<<5

// BenchmarkDiff: rest 15 ns (budget 40), three 46, adopt 15, coded 41. Like all numbers in this file the minimum of 12
// runs, measured 2026-11-30 with go1.26 on two cores that others worked on.
func BenchmarkDiff(b *testing.B) {
	e := newLantern()
	pl := planOf[lantern](b)
	p := pl.Pointer(e)
	s := pl.NewShadow(p)
	b.Run("rest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if s.Diff(p, pl.Layout.Auto) != 0 {
				b.Fatal("differs")
			}
		}
	})
	b.Run("three", func(b *testing.B) {
		b.ReportAllocs()
		e.Lit, e.HP, e.Fuel = false, 99, 3.25
		for b.Loop() {
			if s.Diff(p, pl.Layout.Auto) != three {
				b.Fatal("wrong")
			}
		}
	})
	b.Run("adopt", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Adopt(p, three)
		}
	})
	b.Run("coded", func(b *testing.B) {
		b.ReportAllocs()
		c := &coat{Pos: tenth{1, 2, 3}}
		pl := planOf[coat](b)
		p := pl.Pointer(c)
		s := pl.NewShadow(p)
		c.Pos.X += 0.01 // below what is sent, so the codec is asked
		for b.Loop() {
			if s.Diff(p, pl.Layout.Auto) != 0 {
				b.Fatal("differs")
			}
		}
	})
}

// BenchmarkAppend: three 15 ns (budget 80).
func BenchmarkAppend(b *testing.B) {
	pl := planOf[lantern](b)
	p := pl.Pointer(newLantern())
	for name, mask := range map[string]uint64{"three": three, "all": pl.Layout.All} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 256)
			var out []byte
			for b.Loop() {
				out, _ = pl.Append(buf, p, mask)
			}
			b.ReportMetric(float64(len(out)), "bytes")
		})
	}
}

// BenchmarkApply: three 54 ns (budget 120). Each round changes all three.
func BenchmarkApply(b *testing.B) {
	pl := planOf[lantern](b)
	e, o := newLantern(), newLantern()
	p := pl.Pointer(e)
	o.Lit, o.HP, o.Fuel = !o.Lit, 1, 2
	b.Run("three", func(b *testing.B) {
		*e = *newLantern() // an earlier run may have left the values of o
		x, _ := pl.Append(nil, pl.Pointer(e), three)
		y, _ := pl.Append(nil, pl.Pointer(o), three)
		b.ReportAllocs()
		for b.Loop() {
			x, y = y, x
			if changed, _, err := pl.Apply(p, three, pl.Layout.All, x); changed != three || err != nil {
				b.Fatal(changed, err)
			}
		}
	})
	b.Run("all-unchanged", func(b *testing.B) {
		x, _ := pl.Append(nil, p, pl.Layout.All)
		b.ReportAllocs()
		for b.Loop() {
			if changed, _, err := pl.Apply(p, pl.Layout.All, pl.Layout.All, x); changed != 0 || err != nil {
				b.Fatal(changed, err)
			}
		}
	})
	b.Run("coded", func(b *testing.B) {
		pl := planOf[coat](b)
		c, d := pl.Pointer(&coat{Pos: tenth{1, 2, 3}}), pl.Pointer(&coat{})
		x, _ := pl.Append(nil, c, 1)
		y, _ := pl.Append(nil, d, 1)
		b.ReportAllocs()
		for b.Loop() {
			x, y = y, x
			if changed, _, err := pl.Apply(c, 1, 1, x); changed != 1 || err != nil {
				b.Fatal(changed, err)
			}
		}
	})
}

func BenchmarkSlotOf(b *testing.B) {
	pl := planOf[lantern](b)
	e := newLantern()
	b.ReportAllocs()
	for b.Loop() {
		if mask, err := pl.SlotOf(pl.Pointer(e), &e.Fuel); mask != 1<<5 || err != nil {
			b.Fatal(mask, err)
		}
	}
}

// TestAllocations is the budget of a tick: nothing, but for a string that really changed.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates, and empties pools")
	}
	pl, quant := planOf[lantern](t), planOf[coat](t)
	e, o := newLantern(), newLantern()
	p, buf := pl.Pointer(e), make([]byte, 0, 256)
	shadow := pl.NewShadow(p)
	o.Name = "another name"
	named, _ := pl.Append(nil, pl.Pointer(o), 1<<6)
	all, _ := pl.Append(nil, p, pl.Layout.All)
	c := &coat{}
	cp, cs := quant.Pointer(c), quant.NewShadow(quant.Pointer(c))
	for _, tc := range []struct {
		what string
		want float64
		do   func()
	}{
		{"diff at rest", 0, func() { shadow.Diff(p, pl.Layout.All) }},
		{"diff, append and adopt", 0, func() {
			e.HP++
			e.Glow.Power++
			e.Pos.X++
			mask := shadow.Diff(p, pl.Layout.Auto)
			pl.Append(buf, p, mask)
			shadow.Adopt(p, mask)
		}},
		{"apply", 0, func() {
			e.HP, e.Lit = e.HP+1, !e.Lit
			pl.Apply(p, pl.Layout.All, pl.Layout.All, all)
		}},
		{"apply a changed string", 1, func() {
			e.Name = ""
			pl.Apply(p, 1<<6, 1<<6, named)
		}},
		{"a codec, both ways", 0, func() {
			c.Pos.X++
			mask := cs.Diff(cp, quant.Layout.Auto)
			b, _ := quant.Append(buf, cp, mask)
			cs.Adopt(cp, mask)
			c.Pos.X = 0
			quant.Apply(cp, mask, mask, b)
		}},
		{"apply what fails", 0, func() { pl.Apply(p, pl.Layout.All, pl.Layout.All, all[:len(all)-1]) }},
		{"zero", 0, func() { quant.Zero(cp, 1) }},
		{"name a field", 0, func() { pl.SlotOf(p, &e.Fuel) }},
		{"read the position", 0, func() { pl.Position(p) }},
	} {
		if got := testing.AllocsPerRun(100, tc.do); got != tc.want {
			t.Errorf("%s: %v allocations, want %v", tc.what, got, tc.want)
		}
	}
	runtime.KeepAlive(e)
}
