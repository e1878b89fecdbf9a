package throngtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

type Lantern struct {
	throng.Entity
	Pos  throng.Vec2 `rep:"position"`
	Lit  bool        `rep:""`
	Fuel float32     `rep:"owner"`
	Name string      `rep:"init"`
}

var (
	Lanterns = throng.NewClass[Lantern]("lantern", throng.ClassConfig{})
	Schema   = throng.MustSchema(Lanterns)
)

func TestSecondClientSeesTheFirstOnesLantern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, Schema)
		spawned, lit := 0, 0
		a := n.Join("a", throng.Config{})
		b := n.Join("b", throng.Config{Hooks: []throng.Hook{Lanterns.Bind(throng.Hooks[Lantern]{
			OnSpawn: func(w *throng.World, l *Lantern, local bool) { spawned++ },
			OnRep: func(l *Lantern, c throng.Changes) {
				if c.Has(&l.Lit) && l.Lit {
					lit++
				}
			},
		})}})
		b.SetViewpoints(throng.Vec3{})
		l := &Lantern{Name: "first", Fuel: 3}
		if err := a.Spawn(l); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "b sees the lantern", func() bool { return spawned == 1 })
		l.Lit = true
		n.Until(time.Second, "b sees it lit", func() bool { return lit == 1 })
		for p := range Lanterns.All(b) {
			if p.Name != "first" || p.Fuel != 0 || p.Owner() != a.Self() || p.NetID() != l.NetID() {
				t.Errorf("the proxy is %+v", p)
			}
		}
		a.Destroy(l)
		n.Until(time.Second, "it is gone", func() bool { _, ok := b.Find(l.NetID()); return !ok })
	})
}
