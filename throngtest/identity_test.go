package throngtest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// B-050, P21, P22: id and owner can be used in OnSpawn, on both sides; before the player is known nothing is spawned, so no id is derived
// from nobody.
func TestB050IdentityInOnSpawn(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		told := 0
		check := Things.Bind(throng.Hooks[Thing]{OnSpawn: func(w *throng.World, e *Thing, local bool) {
			told++
			if e.NetID() != throngtest.Player("a").AvatarID() || e.Owner() != throngtest.Player("a") || local != (w.Self() == throngtest.Player("a")) {
				t.Errorf("id %v, owner %v, local %v", e.NetID(), e.Owner(), local)
			}
		}})
		early, err := throng.JoinAsync(n.Addr(), Game, n.Config("a", hooks(check)))
		must(t, err)
		n.Add("a", early)
		first := full("first")
		if err := early.Spawn(first, throng.AsAvatar()); !errors.Is(err, throng.ErrNotLive) || !first.NetID().IsZero() {
			t.Errorf("before the player is known: %v, id %v", err, first.NetID())
		}
		b := n.Join("b", hooks(check))
		everywhere(b)
		n.Until(time.Second, "a is in", func() bool { return !early.Self().IsZero() })
		must(t, early.Spawn(first, throng.AsAvatar()))
		n.Until(time.Second, "b sees it", sees(first, b))
		if told != 2 {
			t.Errorf("OnSpawn ran %d times", told)
		}
	})
}

// B-050: a new body for a living avatar: the struct before leaves with Replaced, the others keep their body, get one OnRep and no second
// OnSpawn.
func TestB050AvatarIsHandedOver(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atA, atB diary
		a, b := n.Join("a", hooks(atA.watch())), n.Join("b", hooks(atB.watch()))
		everywhere(b)
		first, second := full("avatar"), full("avatar")
		must(t, a.Spawn(first, throng.AsAvatar()))
		n.Until(time.Second, "b sees it", sees(first, b))
		body := find[Thing](b, first.NetID())
		id := first.NetID()
		second.Text = "second"
		must(t, a.Spawn(second, throng.AsAvatar()))
		n.Until(time.Second, "b sees the second", sees(second, b))
		n.Run(time.Second)
		if find[Thing](b, id) != body || second.NetID() != id || first.Role() != throng.RoleNone || !a.Drives(second) {
			t.Error("the body, the id or the drive is another")
		}
		atA.want(t, "spawn avatar local=true", "destroy avatar: replaced local=true", "spawn avatar local=true")
		atB.want(t, "spawn avatar local=false", "rep avatar: Text")
	})
}

// B-056, P24, P25: of two entities of one id the living one stays, and the newcomer learns why, at the call or when the relay has answered;
// a dead one is in nobody's way.
func TestB056Incumbents(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var refused error
		a := n.Join("a", throng.Config{})
		b := n.Join("b", hooks(Things.Bind(throng.Hooks[Thing]{OnDestroy: func(_ *throng.World, _ *Thing, d throng.Departure) { refused = d.Refused }})))
		everywhere(a)
		b.SetViewpoints(throng.Vec3{X: 1e6}) // it does not see what a has
		id := throng.StableID("the one")
		held, newcomer := full("held"), full("newcomer")
		must(t, a.Spawn(held, throng.WithID(id)))
		n.Run(time.Second)
		if err := a.Spawn(full("second"), throng.WithID(id)); !errors.Is(err, throng.ErrIDHeld) {
			t.Errorf("at the call: %v", err)
		}
		must(t, b.Spawn(newcomer, throng.WithID(id)))
		n.Until(time.Second, "b is told", func() bool { return refused != nil })
		if !errors.Is(refused, throng.ErrIDHeld) || newcomer.Role() != throng.RoleNone || !a.Drives(held) {
			t.Errorf("refused with %v, role %v", refused, newcomer.Role())
		}
		if err := b.Spawn(full("nobody"), throng.WithID(throng.NetID{})); !errors.Is(err, throng.ErrInvalidID) {
			t.Errorf("the zero id: %v", err)
		}
		must(t, a.Destroy(held))
		n.Run(time.Second)
		refused = nil
		again := full("again")
		must(t, b.Spawn(again, throng.WithID(id)))
		n.Run(time.Second)
		if refused != nil || !b.Drives(again) {
			t.Errorf("after the incumbent died: %v", refused)
		}
	})
}

// P23: one player in two programs is not one entity by accident: the newer session takes over, the older is told.
func TestP23OnePlayerTwice(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		one := n.Join("a", throng.Config{})
		avatar := full("avatar")
		must(t, one.Spawn(avatar, throng.AsAvatar()))
		n.Run(time.Second)
		n.Forget(one) // which ends, so only this test may tick it
		two := n.Join("a", throng.Config{})
		var ended error
		n.Until(2*time.Second, "the first is told", func() bool { ended = one.Tick(nil); return ended != nil })
		var je *throng.JoinError
		if !errors.As(ended, &je) || je.Retry != throng.RetryNever {
			t.Errorf("the first ended with %v", ended)
		}
		second := full("second")
		must(t, two.Spawn(second, throng.AsAvatar()))
		n.Run(time.Second)
		if !two.Drives(second) || second.NetID() != avatar.NetID() {
			t.Error("the second has no avatar")
		}
	})
}

// Spawn to seen by an observer in reach: half a round trip on each leg, the flush bound, and one tick each.
func TestSpawnIsSeenInTime(t *testing.T) {
	for _, leg := range []time.Duration{0, 40 * time.Millisecond, 150 * time.Millisecond} {
		play(t, func(t *testing.T, n *throngtest.Net) {
			a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
			everywhere(a, b)
			link := throngtest.Link{Latency: leg}
			n.Shape(a, link, link)
			n.Shape(b, link, link)
			n.Run(3 * time.Second)
			const flush = 50 * time.Millisecond
			bound := 2*leg + flush + 2*throngtest.Frame
			var worst time.Duration
			for range 20 {
				e := full("x")
				began := time.Now()
				must(t, a.Spawn(e))
				n.Until(2*time.Second, "b sees it", func() bool { return find[Thing](b, e.NetID()) != nil })
				worst = max(worst, time.Since(began))
				n.Run(137 * time.Millisecond)
			}
			t.Logf("legs of %v: seen after %v at most, the bound is %v", leg, worst, bound)
			if worst > bound {
				t.Errorf("legs of %v: seen after %v, the bound is %v", leg, worst, bound)
			}
		}, throngtest.World(relay.World{Flush: 50 * time.Millisecond}))
	}
}

// P05, P06, P07: whoever comes to an entity later is shown what it is now, with its init fields, of a Static and of a Dynamic class, within
// a round trip and a flush.
func TestP05LateComersAreComplete(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		everywhere(a)
		e := full("x")
		must(t, a.Spawn(e))
		n.Run(time.Second)
		e.Lit, e.Glow, e.Text = false, Glow{9, 1}, "later"
		n.Run(10 * time.Second)
		told := 0
		b := n.Join("b", hooks(Things.Bind(throng.Hooks[Thing]{OnSpawn: func(_ *throng.World, p *Thing, _ bool) {
			if told++; p.state() != e.state() {
				t.Errorf("at OnSpawn the proxy is %s, the driver's %s", p.state(), e.state())
			}
		}})))
		everywhere(b)
		n.Until(300*time.Millisecond, "b sees all", sees(e, b))
		if told != 1 {
			t.Errorf("OnSpawn ran %d times", told)
		}
	})
}

// P04: a destruction that is lost is said again until it has arrived: no ghost stays, whatever the path.
func TestP04NoGhosts(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		e := full("x")
		must(t, a.Spawn(e))
		n.Until(time.Second, "b sees it", sees(e, b))
		n.Shape(b, throngtest.Link{}, throngtest.Link{Loss: 1})
		must(t, a.Destroy(e))
		n.Run(3 * time.Second)
		if find[Thing](b, e.NetID()) == nil {
			t.Fatal("b cannot know")
		}
		n.Shape(b, throngtest.Link{}, throngtest.Link{})
		n.Until(2*time.Second, "b knows", gone(e.NetID(), b))
	})
}

// P15, P16: a class is what it was announced as, also if another has the same fields; nobody's entity is taken for one of another class.
func TestP15ClassesOfOneShape(t *testing.T) {
	type Alpha struct {
		throng.Entity
		N int32 `rep:""`
	}
	type Beta struct {
		throng.Entity
		N int32 `rep:""`
	}
	alphas, betas := throng.NewClass[Alpha]("alpha", throng.ClassConfig{}), throng.NewClass[Beta]("beta", throng.ClassConfig{})
	schema := throng.MustSchema(alphas, betas)
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, schema)
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		var x Alpha
		var y Beta
		x.N, y.N = 1, 2
		must(t, a.Spawn(&x))
		must(t, a.Spawn(&y))
		n.Until(time.Second, "b has both", func() bool { _, p := b.Find(x.NetID()); _, q := b.Find(y.NetID()); return p && q })
		if p := find[Alpha](b, x.NetID()); p.N != 1 {
			t.Errorf("%+v", p)
		}
		if q := find[Beta](b, y.NetID()); q.N != 2 {
			t.Errorf("%+v", q)
		}
	})
}
