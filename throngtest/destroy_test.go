package throngtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// Three clients: the host, an owner, a bystander.
func three(n *throngtest.Net, d *[3]diary) (host, owner, other *throng.World) {
	var w [3]*throng.World
	for i, name := range [...]string{"host", "owner", "other"} {
		w[i] = n.Join(name, hooks(d[i].watch(),
			watch(&d[i], Guardeds, func(*Guarded) string { return "guarded" }),
			watch(&d[i], Ghosts, func(*Ghost) string { return "ghost" }),
			watch(&d[i], Shareds, func(*Shared) string { return "shared" })))
	}
	everywhere(w[:]...)
	return w[0], w[1], w[2]
}

// The driver destroys: here at once, then everywhere, with who did it (B-054).
func TestDestroyByTheDriver(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d [3]diary
		host, owner, other := three(n, &d)
		var by throng.PlayerID
		thing := full("x")
		must(t, owner.Spawn(thing))
		n.Until(time.Second, "all see it", sees(thing, host, other))
		must(t, owner.Destroy(thing))
		d[1].want(t, "spawn x local=true", "destroy x: destroyed local=true")
		if owner.Drives(thing) {
			t.Error("drives what it destroyed")
		}
		n.Until(time.Second, "it is gone", gone(thing.NetID(), host, owner, other))
		d[0].want(t, "spawn x local=false", "destroy x: destroyed local=false")
		d[2].want(t, "spawn x local=false", "destroy x: destroyed local=false")
		_ = by
		n.Run(time.Minute)
		for i := range d {
			if len(d[i].lines) != 2 {
				t.Errorf("client %d was told %q", i, d[i].lines)
			}
		}
	})
}

// The stamp of a departure is the relay's (B-002, B-054).
func TestDepartureSaysWho(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var seen []throng.Departure
		hook := Things.Bind(throng.Hooks[Thing]{OnDestroy: func(w *throng.World, e *Thing, d throng.Departure) {
			if e.Text != "text" {
				t.Errorf("at OnDestroy the fields hold %+v", e)
			}
			seen = append(seen, d)
		}})
		host := n.Join("host", throng.Config{})
		owner := n.Join("owner", hooks(hook))
		other := n.Join("other", hooks(hook))
		everywhere(host, owner, other)
		thing := full("x")
		must(t, owner.Spawn(thing))
		n.Until(time.Second, "all see it", sees(thing, host, other))
		must(t, host.Destroy(find[Thing](host, thing.NetID())))
		n.Until(time.Second, "it is gone", gone(thing.NetID(), host, owner, other))
		want := throng.Departure{Why: throng.Destroyed, By: host.Self()}
		if len(seen) != 2 || seen[0] != want || seen[1] != want {
			t.Errorf("departures %+v, want twice %+v", seen, want)
		}
	})
}

// The host may destroy what a player owns; it leaves there when the relay has agreed. Nobody else may (B-054).
func TestDestroyByTheHostAndByOthers(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d [3]diary
		host, owner, other := three(n, &d)
		thing := full("x")
		must(t, owner.Spawn(thing))
		n.Until(time.Second, "all see it", sees(thing, host, other))
		if err := other.Destroy(find[Thing](other, thing.NetID())); !errors.Is(err, throng.ErrNotDriver) {
			t.Errorf("a bystander destroys: %v, want %v", err, throng.ErrNotDriver)
		}
		n.Run(time.Second)
		if drivers(thing.NetID(), owner) != 1 {
			t.Fatal("a bystander destroyed it")
		}
		atHost := find[Thing](host, thing.NetID())
		must(t, host.Destroy(atHost))
		must(t, host.Destroy(atHost))
		n.Until(time.Second, "it is gone", gone(thing.NetID(), host, owner, other))
		d[0].want(t, "spawn x local=false", "destroy x: destroyed local=true")
		d[1].want(t, "spawn x local=true", "destroy x: destroyed local=false")
		d[2].want(t, "spawn x local=false", "destroy x: destroyed local=false")
	})
}

// OwnerOnly keeps the host's hands off (B-054).
func TestHostMayNotDestroyOwnerOnly(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d [3]diary
		host, owner, other := three(n, &d)
		g := &Guarded{N: 1}
		must(t, owner.Spawn(g))
		n.Until(time.Second, "the host sees it", func() bool { return find[Guarded](host, g.NetID()) != nil })
		if err := host.Destroy(find[Guarded](host, g.NetID())); !errors.Is(err, throng.ErrNotDriver) {
			t.Errorf("the host destroys what is the owner's only: %v, want %v", err, throng.ErrNotDriver)
		}
		n.Run(time.Second)
		if drivers(g.NetID(), owner) != 1 || find[Guarded](host, g.NetID()) == nil || find[Guarded](other, g.NetID()) == nil {
			t.Error("it is gone")
		}
	})
}

// The body lives out its DestroyDelay, in iteration only (B-054).
func TestDestroyDelay(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d [3]diary
		_, owner, other := three(n, &d)
		g := &Ghost{}
		must(t, owner.Spawn(g))
		n.Until(time.Second, "it is seen", func() bool { return find[Ghost](other, g.NetID()) != nil })
		must(t, owner.Destroy(g))
		for _, w := range []*throng.World{owner, other} {
			n.Until(time.Second, "OnDestroy", gone(g.NetID(), w))
			bodies := func() (k int) {
				for range Ghosts.All(w) {
					k++
				}
				return k
			}
			if bodies() != 1 {
				t.Error("the body is gone before its delay")
			}
			n.Run(1100 * time.Millisecond)
			if bodies() != 0 {
				t.Error("the body outlives its delay")
			}
			if w == owner {
				break // the other's time ran meanwhile
			}
		}
	})
}

// What a session owned leaves with it, or goes to the host: the class says (B-092).
func TestOwnerLeaves(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d [3]diary
		host, owner, other := three(n, &d)
		thing, shared := full("x"), &Shared{N: 5}
		must(t, owner.Spawn(thing))
		must(t, owner.Spawn(shared))
		n.Until(time.Second, "all see it", func() bool { return sees(thing, host, other)() && find[Shared](other, shared.NetID()) != nil })
		id, shareID := thing.NetID(), shared.NetID()
		d[2].clear()
		n.Leave(owner)
		n.Until(time.Second, "the thing is gone", gone(id, host, other))
		n.Until(time.Second, "the host drives the other", func() bool { return drivers(shareID, host) == 1 })
		n.Run(time.Second)
		s := find[Shared](host, shareID)
		s.N++
		n.Until(time.Second, "others follow it", func() bool { return find[Shared](other, shareID).N == 6 })
		if c := find[Shared](other, shareID); c.Role() != throng.RoleHost || !c.Owner().IsZero() {
			t.Errorf("at a bystander it has role %v, owner %v", c.Role(), c.Owner())
		}
		if d[2].count("destroy x: session released") != 1 || d[2].count("owner shared") != 1 || d[2].count("destroy shared") != 0 {
			t.Errorf("a bystander was told %q", d[2].lines)
		}
	})
}
