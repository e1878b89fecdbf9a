package throngtest_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// All fields of a delta are written before its OnRep, which runs once for them; then the notifies of single fields (B-015).
func TestFieldsBeforeHooks(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a := n.Join("a", throng.Config{})
		whole := func(e *Thing) {
			if e.Big != e.Glow.sum() || e.Text != "set" || e.Big != int64(e.Wait) {
				t.Errorf("torn: %+v", e)
			}
		}
		b := n.Join("b", hooks(
			Things.OnRep(func(e *Thing) any { return &e.Text }, func(e *Thing) { whole(e); d.note("Text") }),
			Things.Bind(throng.Hooks[Thing]{OnRep: func(e *Thing, c throng.Changes) { whole(e); d.note("first: %v", c) }}),
			Things.Bind(throng.Hooks[Thing]{OnRep: func(e *Thing, c throng.Changes) {
				d.note("second: %v %v", c.Has(&e.Lit), c.Has(&e.Wait))
			}}),
			Things.OnRep(func(e *Thing) any { return &e.Lit }, func(e *Thing) { d.note("Lit") }),
			Things.OnRep(func(e *Thing) any { return &e.Glow }, func(e *Thing) { whole(e); d.note("Glow") }),
		))
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		thing.Big, thing.Glow, thing.Text, thing.Wait = 7, Glow{3, 4}, "set", 7
		n.Until(time.Second, "b sees it changed", sees(thing, b))
		n.Run(5 * time.Second)
		d.want(t, "first: Glow Text Big Wait", "second: false true", "Text", "Glow")
	})
}

func (g Glow) sum() int64 { return int64(g.Colour) + int64(g.Strength) }

// What a hook does holds at once and leaves with this tick; hooks may spawn and destroy, also what other hooks of the same
// tick are about (contract, 4 and 8).
func TestHooksMayDoEverything(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a := n.Join("a", throng.Config{})
		mine := []*Thing{}
		b := n.Join("b", throng.Config{Hooks: []throng.Hook{Things.Bind(throng.Hooks[Thing]{
			OnSpawn: func(w *throng.World, e *Thing, local bool) {
				d.note("spawn %s", e.Name)
				switch {
				case local && e.Name == "answer":
					e.Text = "from the hook of the hook"
				case !local:
					answer := full("answer")
					must(t, w.Spawn(answer))
					mine = append(mine, answer)
					if !w.Drives(answer) || answer.Text != "from the hook of the hook" {
						t.Error("what a hook did does not hold at once")
					}
					for o := range w.Entities() {
						_ = o
					}
					if len(mine) == 2 {
						must(t, w.Destroy(mine[0]))
					}
				}
			},
			OnDestroy: func(w *throng.World, e *Thing, dep throng.Departure) { d.note("destroy %s", e.Name) },
		})}})
		everywhere(a, b)
		one, two := full("one"), full("two")
		must(t, a.Spawn(one))
		must(t, a.Spawn(two))
		n.Until(time.Second, "a sees one answer", func() bool { return len(mine) == 2 && sees(mine[1], a)() })
		n.Run(time.Second)
		d.want(t, "spawn one", "spawn answer", "spawn two", "spawn answer", "destroy answer")
		if !gone(mine[0].NetID(), a)() && !mine[0].NetID().IsZero() {
			t.Error("a sees what was destroyed")
		}
	})
}

// An entity that a hook of the same tick destroys gets neither its OnSpawn nor its OnRep, or both OnSpawn and OnDestroy.
func TestDestroyedByAHookOfTheSameTick(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a := n.Join("a", throng.Config{})
		var b *throng.World
		pair := map[string]*Shared{}
		a.SetViewpoints(throng.Vec3{})
		b = n.Join("b", hooks(Shareds.Bind(throng.Hooks[Shared]{
			OnSpawn: func(w *throng.World, e *Shared, local bool) { d.note("spawn") },
			OnRep: func(e *Shared, c throng.Changes) {
				d.note("rep")
				for _, other := range pair {
					if other != e {
						must(t, b.Destroy(other))
					}
				}
			},
			OnDestroy: func(w *throng.World, e *Shared, dep throng.Departure) { d.note("destroy local=%v", dep.Local) },
		})))
		n.Leave(a) // now b is host, and may destroy what it drives: all that is host-owned
		n.Until(time.Second, "b is host", b.IsHost)
		c := n.Join("c", throng.Config{})
		for _, name := range []string{"one", "two"} {
			e := &Shared{}
			must(t, c.Spawn(e, throng.WithID(throng.StableID(name))))
		}
		n.Until(time.Second, "b sees both", func() bool { return d.count("spawn") == 2 })
		for _, name := range []string{"one", "two"} {
			pair[name] = find[Shared](b, throng.StableID(name))
			find[Shared](c, throng.StableID(name)).N = 1
		}
		n.Until(time.Second, "one is gone", func() bool { return d.count("destroy") > 0 })
		n.Run(time.Second)
		if d.count("rep") == 0 || d.count("rep") > 2 || d.count("destroy local=true") != d.count("destroy") {
			t.Errorf("b was told %q", d.lines)
		}
	})
}

// No OnRep between the OnDestroy of an entity and never, none before its OnSpawn, whatever happens on the way.
func TestLifeInOrder(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		type life struct{ spawned, destroyed bool }
		lives := map[*Thing]*life{}
		a := n.Join("a", throng.Config{})
		b := n.Join("b", hooks(Things.Bind(throng.Hooks[Thing]{
			OnSpawn: func(w *throng.World, e *Thing, local bool) {
				if lives[e] != nil {
					t.Error("OnSpawn twice")
				}
				lives[e] = &life{spawned: true}
			},
			OnRep: func(e *Thing, c throng.Changes) {
				if l := lives[e]; l == nil || l.destroyed {
					t.Error("OnRep outside of a life")
				}
			},
			OnDestroy: func(w *throng.World, e *Thing, d throng.Departure) {
				if l := lives[e]; l == nil || l.destroyed {
					t.Error("OnDestroy outside of a life")
				} else {
					l.destroyed = true
				}
				if _, ok := w.Find(e.NetID()); ok || w.Drives(e) {
					t.Error("OnDestroy of what Find still knows")
				}
			}})))
		everywhere(a, b)
		n.Shape(b, lossy(0.2), lossy(0.2))
		var things []*Thing
		for i := range 300 {
			if i%3 == 0 {
				thing := full("x")
				must(t, a.Spawn(thing))
				things = append(things, thing)
			}
			for _, thing := range things {
				thing.Big++
			}
			if i%7 == 0 && len(things) > 0 {
				must(t, a.Destroy(things[0]))
				things = things[1:]
			}
			if i%40 == 20 {
				b.SetViewpoints(throng.Vec3{X: float64(i%80-20) * 1e5})
			}
			n.Run(50 * time.Millisecond)
		}
		everywhere(b)
		n.Until(10*time.Second, "b has the rest", func() bool {
			alive := 0
			for _, l := range lives {
				if !l.destroyed {
					alive++
				}
			}
			return alive == len(things)
		})
	})
}

// OnRep at the driver: only if the class asks, once per change and tick, also while nothing can be sent (B-015).
func TestNotifyDriver(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a := n.Join("a", hooks(d.watch(), watch(&d, Tolds, func(*Told) string { return "told" }), Tolds.Bind(throng.Hooks[Told]{
			OnRep: func(e *Told, c throng.Changes) {
				if c.Has(&e.N) {
					e.M = 10 * e.N // joins what is sent
				}
			}})))
		b := n.Join("b", hooks(watch(&d, Tolds, func(*Told) string { return "proxy" })))
		n.Shape(a, throngtest.Link{Latency: 400 * time.Millisecond}, throngtest.Link{Latency: 400 * time.Millisecond})
		everywhere(a, b)
		thing, told := full("x"), &Told{}
		must(t, a.Spawn(thing))
		must(t, a.Spawn(told))
		d.clear()
		thing.Big++
		told.N = 1
		n.Run(5 * time.Second)
		d.want(t, "rep told: N", "spawn proxy local=false", "rep proxy: N M")
		d.clear()
		told.N = 2
		n.Run(5 * time.Second)
		d.want(t, "rep told: N", "rep proxy: N M")
		d.clear()
		must(t, a.Tick(func() { told.N++; told.N-- }))
		n.Run(5 * time.Second)
		d.want(t)
	})
}
