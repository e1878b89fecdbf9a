package throngtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

func nearby() throngtest.Option {
	return throngtest.World(relay.World{ChunkSize: 100, Reach: 1, OpenGroups: true})
}

// An attached entity is where its parent is, for everybody, whatever its own position says; it comes and goes with it.
func TestAttachedEntitiesGoWithTheirParent(t *testing.T) {
	clubTest(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		rider, horse := full("rider"), full("horse")
		// Whenever somebody is shown the rider, it is shown the horse.
		alone := 0
		watch := func(name string) *throng.World {
			w := n.Join(name, throng.Config{})
			n.Step(w, func() {
				if r := find[Thing](w, rider.NetID()); r != nil {
					if _, ok := w.Parent(r); !ok {
						alone++
					}
				}
			})
			return w
		}
		near, far := watch("near"), watch("far")
		a.SetViewpoints(throng.Vec3{})
		near.SetViewpoints(throng.Vec3{})
		far.SetViewpoints(throng.Vec3{X: 1000})
		horse.Pos, rider.Pos = throng.Vec2{X: 10}, throng.Vec2{Y: 2} // the rider's is relative to the horse
		must(t, a.Spawn(horse))
		must(t, a.Spawn(rider, throng.AttachedTo(horse)))
		if p, ok := a.Parent(rider); !ok || p != throng.Object(horse) {
			t.Fatal("it is attached at once where it was said")
		}
		n.Until(time.Second, "near sees both", sees(rider, near))
		for range 120 { // far away, in steps
			horse.Pos.X += 8
			n.Run(50 * time.Millisecond)
		}
		n.Until(time.Second, "far sees both", sees(rider, far))
		n.Until(time.Second, "near sees none", gone(rider.NetID(), near))
		if alone != 0 {
			t.Errorf("%d times a rider without its horse", alone)
		}
		f := find[Thing](far, rider.NetID())
		if p, ok := far.Parent(f); !ok || p.(*Thing).Name != "horse" || f.Pos != (throng.Vec2{Y: 2}) {
			t.Errorf("far sees %+v on %v", f, p)
		}
		// The drive of the rider changes hands, and its new driver knows what it goes with; detached, its own position counts.
		far2 := far
		must(t, a.Grant(rider, far2.Self()))
		n.Until(2*time.Second, "far drives it", func() bool { return far.Drives(f) })
		if p, ok := far.Parent(f); !ok || p.(*Thing).Name != "horse" {
			t.Errorf("its new driver sees it on %v", p)
		}
		n.Step(far, nil)
		n.Step(near, nil)
		f.Pos = throng.Vec2{X: 10}
		must(t, far.Detach(f))
		n.Until(2*time.Second, "near sees it where it says it is", func() bool { return find[Thing](near, rider.NetID()) != nil })
		if _, ok := far.Parent(f); ok {
			t.Error("it is attached still")
		}
	}, nearby())
}

// What is attached to something that is destroyed stays, attached to nothing, and its driver is told.
func TestAttachedToWhatIsDestroyed(t *testing.T) {
	clubTest(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		tank, turret := full("tank"), full("turret")
		must(t, a.Spawn(tank))
		n.Until(time.Second, "b sees it", sees(tank, b))
		must(t, b.Spawn(turret))
		must(t, b.Attach(turret, find[Thing](b, tank.NetID()))) // anybody's
		n.Until(time.Second, "a sees it attached", func() bool {
			o, ok := a.Find(turret.NetID())
			if !ok {
				return false
			}
			p, ok := a.Parent(o)
			return ok && p == throng.Object(tank)
		})
		must(t, a.Destroy(tank))
		n.Run(time.Second)
		o, ok := a.Find(turret.NetID())
		if _, tied := a.Parent(o); !ok || tied {
			t.Error("a: it stays, without a parent")
		}
		if _, tied := b.Parent(turret); tied || !b.Drives(turret) {
			t.Error("b: it stays, without a parent")
		}
		turret.Pos = throng.Vec2{X: 5000}
		n.Until(time.Second, "it is where it says", gone(turret.NetID(), a))
	}, nearby())
}

// what is attached is for those only whom the parent is for, too.
func TestR31AttachedToASecret(t *testing.T) {
	clubTest(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		tb := &tap{Dialer: n.Dialer("b")}
		b, c := n.Join("b", throng.Config{Dialer: tb}), n.Join("c", throng.Config{})
		everywhere(a, b, c)
		must(t, a.Groups().Join("red"))
		must(t, c.Groups().Join("red"))
		ship, flag := full("ship"), full("flag")
		must(t, a.Spawn(ship, throng.InGroup("red")))
		must(t, a.Spawn(flag, throng.AttachedTo(ship)))
		n.Until(time.Second, "c sees both", sees(flag, c))
		n.Run(time.Second)
		if id := flag.NetID().Bytes(); tb.carried(string(id[:])) {
			t.Fatal("b was told of the flag")
		}
		if a.Groups().Of(flag) != "" {
			t.Error("it is kept to no group by itself")
		}
		must(t, a.Groups().Restrict(ship, ""))
		n.Until(time.Second, "b sees both", sees(flag, b, c))
		must(t, a.Groups().Restrict(ship, "red"))
		n.Until(time.Second, "b sees none", gone(flag.NetID(), b))
		must(t, a.Detach(flag))
		n.Until(time.Second, "b sees the flag", sees(flag, b, c))
	}, nearby())
}

// Ties come back with their entities, whoever is first, when the relay restarts.
func TestAttachedAfterARestart(t *testing.T) {
	clubTest(t, func(t *testing.T, n *throngtest.Net) {
		a, b, c := n.Join("a", throng.Config{}), n.Join("b", throng.Config{}), n.Join("c", throng.Config{})
		everywhere(a, b, c)
		horse, rider := full("horse"), full("rider")
		must(t, a.Spawn(horse))
		n.Until(time.Second, "b sees it", sees(horse, b))
		must(t, b.Spawn(rider, throng.AttachedTo(find[Thing](b, horse.NetID()))))
		tied := func() bool {
			o, ok := c.Find(rider.NetID())
			if !ok {
				return false
			}
			p, ok := c.Parent(o)
			return ok && p.(*Thing).NetID() == horse.NetID()
		}
		n.Until(time.Second, "c sees them", tied)
		for range 4 {
			n.Restart()
			n.Run(10 * time.Second)
			if !tied() {
				t.Fatal("the tie is lost")
			}
		}
	}, nearby())
}

// What cannot be attached is an error at the call.
func TestAttachRefusals(t *testing.T) {
	clubTest(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		x, y, board := full("x"), full("y"), &Board{}
		must(t, a.Spawn(x))
		must(t, a.Spawn(y))
		must(t, a.Spawn(board))
		must(t, a.Attach(x, y))
		n.Until(time.Second, "b sees them", sees(x, b))
		for _, tt := range []struct {
			what string
			err  error
			want error
		}{
			{"to itself", a.Attach(x, x), throng.ErrAttach},
			{"in a ring", a.Attach(y, x), throng.ErrAttach},
			{"to what has no place", a.Attach(y, board), throng.ErrAttach},
			{"what has no place", a.Attach(board, y), throng.ErrAttach},
			{"what another drives", b.Attach(find[Thing](b, x.NetID()), find[Thing](b, y.NetID())), throng.ErrNotDriver},
			{"what is in no world", a.Attach(full("z"), y), throng.ErrForeign},
			{"to what is in no world", a.Attach(y, full("z")), throng.ErrForeign},
			{"a spawn to what is in no world", a.Spawn(full("z"), throng.AttachedTo(full("u"))), throng.ErrAttach},
			{"detaching what is in no world", a.Detach(full("z")), throng.ErrForeign},
		} {
			if !errors.Is(tt.err, tt.want) {
				t.Errorf("%s: %v", tt.what, tt.err)
			}
		}
	}, nearby())
}
