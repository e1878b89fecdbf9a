package throngtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// OnSpawn runs here first, then once at each observer, with init fields and all others set, owner, role and Drives final (B-051).
func TestOnSpawnRunsOnceWithEverythingSet(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atA, atB diary
		a := n.Join("a", hooks(atA.watch()))
		thing := full("x")
		check := Things.Bind(throng.Hooks[Thing]{OnSpawn: func(w *throng.World, e *Thing, local bool) {
			if e.state() != thing.state() || e.Owner() != a.Self() || e.Role() != throng.RoleProxy || w.Drives(e) || e.NetID() != thing.NetID() {
				t.Errorf("at OnSpawn the proxy is %+v, owner %v, role %v, drives %v", e, e.Owner(), e.Role(), w.Drives(e))
			}
			if o, ok := w.Find(e.NetID()); !ok || o != throng.Object(e) {
				t.Error("OnSpawn of an entity that Find does not know")
			}
		}})
		b := n.Join("b", hooks(atB.watch(), check))
		everywhere(a, b)
		n.Step(a, func() {
			if thing.NetID().IsZero() {
				must(t, a.Spawn(thing))
				atA.want(t, "spawn x local=true") // before Spawn returned
				if !a.Drives(thing) || thing.Role() != throng.RoleOwner || thing.Owner() != a.Self() {
					t.Errorf("the spawner has role %v, owner %v, drives %v", thing.Role(), thing.Owner(), a.Drives(thing))
				}
			}
		})
		n.Run(3 * time.Second)
		atA.want(t, "spawn x local=true")
		atB.want(t, "spawn x local=false")
	})
}

// Values set in the local OnSpawn arrive with the spawn or right behind it (B-051).
func TestValuesSetInOnSpawnArrive(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", hooks(Things.Bind(throng.Hooks[Thing]{OnSpawn: func(w *throng.World, e *Thing, local bool) { e.Text = "from OnSpawn" }})))
		b := n.Join("b", throng.Config{})
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
	})
}

// An entity that came and went within a tick is seen by its maker alone (B-054).
func TestSpawnAndDestroyInOneTick(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atA, atB diary
		a := n.Join("a", hooks(atA.watch()))
		b := n.Join("b", hooks(atB.watch()))
		everywhere(a, b)
		thing, done := full("x"), false
		n.Step(a, func() {
			if !done {
				done = true
				must(t, a.Spawn(thing))
				must(t, a.Destroy(thing))
				must(t, a.Destroy(thing)) // a second one is nil
			}
		})
		n.Run(3 * time.Second)
		atA.want(t, "spawn x local=true", "destroy x: destroyed local=true")
		if s := atB.count("spawn"); s != atB.count("destroy") || s > 1 {
			t.Errorf("b was told %q", atB.lines)
		}
		if o, ok := b.Find(thing.NetID()); ok {
			t.Errorf("b holds %v", o)
		}
		if snap, err := n.Server().Snapshot(); err != nil || snap.Worlds[0].Total != 0 {
			t.Errorf("the relay holds %v entities, %v", snap.Worlds[0].Total, err)
		}
	})
}

// What cannot be spawned says so, and leaves the entity as it was (B-050, B-056).
func TestSpawnRefusals(t *testing.T) {
	type Stranger struct{ Thing }
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		held := full("held")
		must(t, a.Spawn(held))
		other := n.Join("b", throng.Config{})
		foreign := full("foreign")
		must(t, other.Spawn(foreign))
		for _, tt := range []struct {
			what string
			do   func() error
			want error
		}{
			{"twice", func() error { return a.Spawn(held) }, throng.ErrSpawned},
			{"of another world", func() error { return a.Spawn(foreign) }, throng.ErrSpawned},
			{"under a held id", func() error { return a.Spawn(full("y"), throng.WithID(held.NetID())) }, throng.ErrIDHeld},
			{"nothing", func() error { return a.Spawn(nil) }, throng.ErrNil},
			{"a nil struct", func() error { return a.Spawn((*Stranger)(nil)) }, throng.ErrNil},
			{"nothing, as an avatar", func() error { return a.Spawn(nil, throng.AsAvatar()) }, throng.ErrNil},
			{"a place of nothing", func() error { return a.Place("nowhere", nil) }, throng.ErrNil},
			{"of no class", func() error { return a.Spawn(&Stranger{}) }, throng.ErrClass},
			{"destroying nothing", func() error { return a.Destroy(foreign) }, throng.ErrForeign},
		} {
			if err := tt.do(); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", tt.what, err, tt.want)
			}
		}
		for _, opts := range [][]throng.SpawnOption{
			{throng.Claimed()},
			{throng.AsAvatar(), throng.OwnedByHost()},
			{throng.AsAvatar(), throng.WithID(throng.NewID())},
		} {
			e := full("z")
			if err := a.Spawn(e, opts...); err == nil || !e.NetID().IsZero() {
				t.Errorf("Spawn with options that exclude each other: %v, id %v", err, e.NetID())
			}
		}
	})
}

// Entities that two clients spawn under one id: the live one stays, the newcomer is told (B-056, B-057).
func TestIDCollision(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atB diary
		a := n.Join("a", throng.Config{})
		b := n.Join("b", hooks(atB.watch()))
		everywhere(a) // b does not look, and so cannot know
		first, second := full("first"), full("second")
		id := throng.StableID("same")
		must(t, a.Spawn(first, throng.WithID(id)))
		n.Run(time.Second)
		must(t, b.Spawn(second, throng.WithID(id)))
		n.Run(time.Second)
		atB.want(t, "spawn second local=true", "destroy second: destroyed local=false")
		if c := find[Thing](a, id); c != first || !a.Drives(first) || c.Name != "first" {
			t.Error("the incumbent did not stay")
		}
		everywhere(b)
		n.Until(time.Second, "b sees the incumbent", sees(first, b))
	})
}

// One avatar a player: its id follows from the player, and its chunk is where the client looks from (B-050).
func TestAvatar(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		far := full("far")
		far.Pos = throng.Vec2{X: 1e6}
		must(t, b.Spawn(far))
		me := full("me")
		must(t, a.Spawn(me, throng.AsAvatar()))
		if me.NetID() != a.Self().AvatarID() {
			t.Errorf("the avatar has id %v, want %v", me.NetID(), a.Self().AvatarID())
		}
		n.Run(time.Second)
		if o, ok := a.Find(far.NetID()); ok {
			t.Errorf("a sees %v from far away", o)
		}
		me.Pos.X = 1e6
		n.Until(time.Second, "a looks from its avatar", sees(far, a))
		me.Pos.X = 0
		n.Until(time.Second, "and back", gone(far.NetID(), a))
	})
}

// Spawning as avatar while one lives hands the id over: the old struct leaves here, observers keep their body (B-050).
func TestSecondAvatarTakesTheID(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atA, atB diary
		a := n.Join("a", hooks(atA.watch()))
		b := n.Join("b", hooks(atB.watch()))
		everywhere(b)
		old, next := full("me"), full("me")
		next.Text, next.Lit = "changed", false
		must(t, a.Spawn(old, throng.AsAvatar()))
		n.Until(time.Second, "b sees it", sees(old, b))
		must(t, a.Spawn(next, throng.AsAvatar()))
		if a.Drives(old) || !a.Drives(next) || find[Thing](a, next.NetID()) != next {
			t.Error("the new struct is not the one that drives")
		}
		n.Until(time.Second, "b sees the new values", sees(next, b))
		next.Big++
		n.Until(time.Second, "and follows it", sees(next, b))
		atA.want(t, "spawn me local=true", "destroy me: replaced local=true", "spawn me local=true")
		if atB.count("spawn") != 1 || atB.count("destroy") != 0 {
			t.Errorf("b was told %q", atB.lines)
		}
		must(t, a.Destroy(next))
		n.Until(time.Second, "it is gone", gone(next.NetID(), a, b))
	})
}

// OwnedByHost from any client: the host drives from the start; without a host it is an error (B-051).
func TestOwnedByHost(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b, c := n.Join("a", throng.Config{}), n.Join("b", throng.Config{}), n.Join("c", throng.Config{})
		everywhere(a, b, c)
		thing := full("x")
		must(t, b.Spawn(thing, throng.OwnedByHost()))
		if b.Drives(thing) || thing.Role() != throng.RoleHost || !thing.Owner().IsZero() {
			t.Errorf("at its maker: drives %v, role %v, owner %v", b.Drives(thing), thing.Role(), thing.Owner())
		}
		n.Until(time.Second, "all have it", sees(thing, a, b, c))
		h := find[Thing](a, thing.NetID())
		if !a.IsHost() || !a.Drives(h) || drivers(thing.NetID(), a, b, c) != 1 {
			t.Error("the host does not drive it alone")
		}
		if h.Fuel != 0.25 || h.Secret != "secret" {
			t.Logf("owner fields at the host: %v %q", h.Fuel, h.Secret)
		}
		for o := range a.OwnedBy(throng.PlayerID{}) {
			if o != throng.Object(h) {
				t.Errorf("OwnedBy(nobody) lists %v", o)
			}
		}
	})
}

// A position that is nowhere is an error at the call (B-070).
func TestSpawnNowhere(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		thing := full("x")
		thing.Pos.X = nan()
		if err := a.Spawn(thing); err == nil || !thing.NetID().IsZero() || thing.Role() != throng.RoleNone {
			t.Errorf("Spawn at NaN: %v, role %v", err, thing.Role())
		}
		thing.Pos.X = 0
		must(t, a.Spawn(thing))
	})
}
