package throngtest_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

type Drone struct {
	throng.Entity
	Pos  throng.Vec3Quantize100 `rep:"position"`
	View throng.Rotator         `rep:""`
	Turn throng.Quat            `rep:""`
	Up   throng.Vec3Normal      `rep:""`
	Goal throng.Vec3Quantize    `rep:""`
	Name string                 `rep:"init"`
}

type Kite struct {
	throng.Entity
	Pos  throng.Vec2Quantize10 `rep:"position"`
	Body throng.RotatorByte    `rep:""`
}

var (
	Drones = throng.NewClass[Drone]("drone", throng.ClassConfig{})
	Kites  = throng.NewClass[Kite]("kite", throng.ClassConfig{})
	Fleet  = throng.MustSchema(Drones, Kites)
)

// A quantised position places its entity: it is followed over chunk borders, through negative coordinates, by one body,
// and comes back in reach (B-040).
func TestQuantisedPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, Fleet, throngtest.World(relay.World{ChunkSize: 100, Reach: 1}))
		spawns, leaves := 0, 0
		a := n.Join("a", throng.Config{})
		b := n.Join("b", throng.Config{Hooks: []throng.Hook{Drones.Bind(throng.Hooks[Drone]{
			OnSpawn:   func(*throng.World, *Drone, bool) { spawns++ },
			OnDestroy: func(*throng.World, *Drone, throng.Departure) { leaves++ },
		})}})
		b.SetViewpoints(throng.Vec3{X: -150, Y: -50, Z: 50})
		d := &Drone{Pos: throng.Vec3Quantize100{X: -50.123456, Y: -0.004, Z: 99.996}, Turn: throng.Quat{Z: 1, W: 1}, Up: throng.Vec3Normal{Z: 1}, Name: "d"}
		must(t, a.Spawn(d))
		follows := func() bool {
			o, ok := b.Find(d.NetID())
			if !ok {
				return false
			}
			p := o.(*Drone)
			return p.Pos == d.Pos.Rounded() && p.View == d.View.Rounded() && p.Turn == d.Turn.Rounded() && p.Goal == d.Goal.Rounded() && p.Up == d.Up && p.Name == "d"
		}
		n.Until(time.Second, "b sees it where its rounded position is", follows)
		for range 40 {
			d.Pos.X -= 3.3337 // over the border at −100
			d.View.Yaw -= 7.7
			d.Turn = throng.Quat{Z: d.Turn.Z + 0.1, W: 1}
			d.Goal = throng.Vec3Quantize(d.Pos)
			n.Until(time.Second, "b follows", follows)
		}
		d.Pos.X = -100.004 // −100 for all others: the chunk before the border
		n.Until(time.Second, "b follows to the border", follows)
		if spawns != 1 || leaves != 0 {
			t.Errorf("%d bodies, %d left", spawns, leaves)
		}

		d.Pos = throng.Vec3Quantize100{X: 12345.678, Y: -6543.216, Z: 92.15}
		n.Until(2*time.Second, "it is out of reach", func() bool { return leaves == 1 })
		d.Pos = throng.Vec3Quantize100{X: -250.005, Y: -99.999, Z: 0.001}
		n.Until(2*time.Second, "it is back", func() bool { return spawns == 2 && follows() })
	})
}

// What is no number stays with its driver, whatever field it is in, and what was there before stays for the others; the
// entity goes on when it is mended (B-041).
func TestQuantisedNaNStaysHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, Fleet)
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		b.SetViewpoints(throng.Vec3{})
		d := &Drone{Pos: throng.Vec3Quantize100{X: 1}, View: throng.Rotator{Yaw: 90}, Turn: throng.Quat{X: 1}, Up: throng.Vec3Normal{X: 1}}
		must(t, a.Spawn(d))
		proxy := func() *Drone {
			if o, ok := b.Find(d.NetID()); ok {
				return o.(*Drone)
			}
			return nil
		}
		n.Until(time.Second, "b sees it", func() bool { return proxy() != nil })
		nan := math.NaN()
		d.Pos.X, d.View.Yaw, d.Turn.X, d.Up.X, d.Goal.X = nan, math.Inf(1), nan, 3, math.Inf(-1)
		d.Pos.Y = 7
		n.Run(time.Second)
		if p := proxy(); p.Pos != (throng.Vec3Quantize100{X: 1}) || p.View.Yaw != 90 || p.Up.X != 1 || p.Turn.X != 1 || p.Goal.X != 0 {
			t.Errorf("the others hold %+v", p)
		}
		d.Pos.X, d.View.Yaw, d.Turn.X, d.Up.X, d.Goal.X = 2, 180, 1, 1, 9
		n.Until(time.Second, "b sees the mended one", func() bool {
			p := proxy()
			return p.Pos == throng.Vec3Quantize100{X: 2, Y: 7} && p.View.Yaw == 180 && p.Goal.X == 9
		})
	})
}

// A flat position works the same, and rounds away what nobody must be told of (B-021).
func TestQuantisedFlatPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, Fleet, throngtest.World(relay.World{ChunkSize: 10, Flat: true, Reach: 2}))
		reps := 0
		a := n.Join("a", throng.Config{})
		b := n.Join("b", throng.Config{Hooks: []throng.Hook{Kites.Bind(throng.Hooks[Kite]{OnRep: func(*Kite, throng.Changes) { reps++ }})}})
		b.SetViewpoints(throng.Vec3{})
		k := &Kite{Pos: throng.Vec2Quantize10{X: -4.96, Y: 0.04}, Body: throng.RotatorByte{Yaw: -90}}
		must(t, a.Spawn(k))
		follows := func() bool {
			o, ok := b.Find(k.NetID())
			return ok && o.(*Kite).Pos == k.Pos.Rounded() && o.(*Kite).Body == k.Body.Rounded()
		}
		n.Until(time.Second, "b sees it", follows)
		k.Pos.X, k.Pos.Y, k.Body.Yaw = -5.04, -0.04, 270.5 // the same in steps
		n.Run(time.Second)
		if reps != 0 {
			t.Errorf("%d changes of nothing", reps)
		}
		for range 20 {
			k.Pos.X -= 0.77 // over the border at −10
			n.Until(time.Second, "b follows", follows)
		}
	})
}
