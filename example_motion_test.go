package throng_test

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng"
)

// Kite moves all the time: it streams where it is and how it turns.
type Kite struct {
	throng.Entity
	Colour uint32 `rep:""`
	place  throng.Vec3
	turn   throng.Quat
}

// Flight is what a Kite streams.
type Flight struct {
	Place throng.Vec3Quantize100 `rep:"position"`
	Turn  throng.Quat
}

var Kites = throng.NewClass[Kite]("kite", throng.ClassConfig{Mode: throng.Dynamic})

var KiteMotion = throng.Motion(Kites,
	func(k *Kite) Flight { return Flight{throng.Vec3Quantize100(k.place), k.turn} },
	func(k *Kite, f Flight) { k.place, k.turn = throng.Vec3(f.Place), f.Turn })

func ExampleMotion() {
	schema := throng.MustSchema(KiteMotion) // the class comes with it
	fmt.Println(schema.IsReplicated(Kites))
	// Output: true
}

// Swing blends itself: half way between two swings is half way on the circle.
type Swing struct{ Phase float64 }

func (s Swing) Interpolate(to Swing, t float64) Swing {
	d := to.Phase - s.Phase
	if d < 0 {
		d++ // it only goes forward
	}
	return Swing{s.Phase + d*t}
}

func ExampleMotion_interpolate() {
	type Bell struct {
		throng.Entity
		Pos   throng.Vec2 `rep:"position"`
		swing Swing
	}
	bells := throng.NewClass[Bell]("bell", throng.ClassConfig{Mode: throng.Dynamic})
	_, err := throng.NewSchema(throng.Motion(bells, func(b *Bell) Swing { return b.swing }, func(b *Bell, s Swing) { b.swing = s }))
	fmt.Println(err, Swing{0.9}.Interpolate(Swing{0.1}, 0.5).Phase)
	// Output: <nil> 1
}

func ExampleWorld_Teleport() {
	home := func(w *throng.World, k *Kite) error {
		k.place = throng.Vec3{}
		return w.Teleport(k) // nobody sees it rush there
	}
	_ = home
}

func ExampleUpdate() {
	heard := map[throng.NetID]time.Duration{}
	cfg := throng.Config{OnUpdates: func(w *throng.World, batch []throng.Update) {
		for _, u := range batch {
			heard[u.ID] = u.Time
		}
		if now, ok := w.RelayTime(); ok && len(heard) > 1000 {
			w.SetUpdates(false) // enough
			fmt.Println(now)
		}
	}}
	_ = cfg
}

func ExampleMotionExplanation() {
	how := func(w *throng.World, k *Kite) string {
		if m := w.Explain(k).Motion; m != nil {
			return fmt.Sprintf("drawn %v ago", m.Delay)
		}
		return "driven here"
	}
	jumps := func(w *throng.World) uint64 { return w.Stats().Motion.Jumps }
	_, _ = how, jumps
}
