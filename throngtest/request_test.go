package throngtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// asks is a program's hook for requests, which notes who asked for what.
type asks struct {
	answer bool
	from   []throng.PlayerID
}

func (a *asks) hook(w *throng.World, o throng.Object, from throng.PlayerID) bool {
	a.from = append(a.from, from)
	return a.answer
}

// B-090: a request goes to whoever drives when it arrives; the hook decides. No means not now: a later Grant works, and so does asking
// again.
func TestB090RequestsAreDecidedByTheHook(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atA, atB asks
		a := n.Join("a", throng.Config{OnOwnershipRequest: atA.hook})
		b := n.Join("b", throng.Config{OnOwnershipRequest: atB.hook})
		c := n.Join("c", throng.Config{})
		everywhere(a, b, c)
		g := &Guarded{N: 1}
		must(t, a.Spawn(g))
		n.Until(time.Second, "all have it", func() bool {
			return find[Guarded](b, g.NetID()) != nil && find[Guarded](c, g.NetID()) != nil
		})
		gb, gc := find[Guarded](b, g.NetID()), find[Guarded](c, g.NetID())
		must(t, b.RequestOwnership(gb))
		n.Run(500 * time.Millisecond)
		if len(atA.from) != 1 || atA.from[0] != b.Self() || b.Drives(gb) || !a.Drives(g) {
			t.Fatalf("a was asked by %v, b drives %v", atA.from, b.Drives(gb))
		}
		must(t, a.Grant(g, b.Self())) // after a no
		n.Until(time.Second, "b drives", func() bool { return b.Drives(gb) })
		atB.answer = true
		must(t, c.RequestOwnership(gc)) // now b is who is asked
		n.Until(time.Second, "c drives", func() bool { return c.Drives(gc) })
		if len(atA.from) != 1 || len(atB.from) != 1 || atB.from[0] != c.Self() {
			t.Fatalf("a was asked by %v, b by %v", atA.from, atB.from)
		}
		must(t, a.RequestOwnership(g)) // c has no hook: silence
		n.Run(500 * time.Millisecond)
		if !c.Drives(gc) || drivers(g.NetID(), a, b, c) != 1 {
			t.Fatal("silence is not no")
		}
		must(t, c.RequestOwnership(gc)) // what it drives: nothing
		must(t, c.Grant(gc, c.Self()))  // to the present owner: nothing
		before := n.Server().Stats().Replication.Transfers
		n.Run(500 * time.Millisecond)
		if n.Server().Stats().Replication.Transfers != before {
			t.Error("asking for, or granting, what is so already changed something")
		}
	})
}

// B-090: the owner of another entity may be named instead of the player; one without an owner is an error that names GrantToHost.
func TestB090GrantToTheOwnerOf(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		g, flag, door := &Guarded{}, &Guarded{}, &Guarded{}
		must(t, a.Spawn(g))
		must(t, b.Spawn(flag))
		must(t, a.Spawn(door, throng.OwnedByHost()))
		n.Until(time.Second, "seen", func() bool { return find[Guarded](a, flag.NetID()) != nil && find[Guarded](b, g.NetID()) != nil })
		if err := a.GrantToOwnerOf(g, door); !errors.Is(err, throng.ErrNoOwner) {
			t.Errorf("to the owner of what the host drives: %v", err)
		}
		if err := a.GrantToOwnerOf(g, &Guarded{}); !errors.Is(err, throng.ErrForeign) {
			t.Errorf("to the owner of nothing: %v", err)
		}
		must(t, a.GrantToOwnerOf(g, find[Guarded](a, flag.NetID())))
		n.Until(time.Second, "b drives", func() bool { return drivers(g.NetID(), b) == 1 && drivers(g.NetID(), a) == 0 })
	})
}

// B-051: grant and override policy are the entity's own and survive transfer.
func TestB051PoliciesTravelWithTheEntity(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		host, a, b := n.Join("host", throng.Config{}), n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(host, a, b)
		free, strict := &Thing{}, &Thing{}
		must(t, a.Spawn(free, throng.WithAutoGrant(true)))
		must(t, a.Spawn(strict, throng.WithHostOverride(throng.OwnerOnly)))
		g := &Guarded{}
		must(t, a.Spawn(g, throng.WithHostOverride(throng.AllowHost)))
		n.Until(time.Second, "seen", func() bool {
			return sees(free, host, b)() && sees(strict, host, b)() && find[Guarded](host, g.NetID()) != nil
		})
		must(t, b.RequestOwnership(find[Thing](b, free.NetID())))
		must(t, a.Grant(strict, b.Self()))
		must(t, a.Grant(g, b.Self()))
		n.Until(time.Second, "b drives all", func() bool {
			return drivers(free.NetID(), b)+drivers(strict.NetID(), b)+drivers(g.NetID(), b) == 3
		})
		must(t, a.RequestOwnership(free)) // granted again, by a client that never said so
		n.Until(time.Second, "a drives again", func() bool { return a.Drives(free) })
		at := find[Thing](host, strict.NetID())
		if err := host.Override(at, &at.Lit); !errors.Is(err, throng.ErrOwnerOnly) {
			t.Errorf("an override of what its maker kept to owners: %v", err)
		}
		gh := find[Guarded](host, g.NetID())
		gh.N = 7
		must(t, host.Override(gh, &gh.N))
		n.Until(time.Second, "the override holds", func() bool { return find[Guarded](b, g.NetID()).N == 7 })
	})
}

// B-092: an owner that is away keeps what its class keeps: nobody drives it, everybody sees it, and it drives again when it is back;
// after the time it leaves.
func TestB092Keep(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		chest := &Kept{N: 1}
		must(t, b.Spawn(chest))
		id := chest.NetID()
		n.Until(time.Second, "seen", func() bool { return find[Kept](a, id) != nil })
		n.Leave(b)
		n.Run(5 * time.Second)
		at := find[Kept](a, id)
		if at == nil || at.Owner() != throngtest.Player("b") || a.Drives(at) {
			t.Fatalf("while its owner is away: %+v", at)
		}
		at.N = 20 // the host may correct it meanwhile
		must(t, a.Override(at, &at.N))
		b = n.Join("b", throng.Config{}) // a program that knows nothing
		everywhere(b)
		n.Until(2*time.Second, "b drives again", func() bool { return drivers(id, b) == 1 })
		if c := find[Kept](b, id); c.N != 20 {
			t.Errorf("it came back with %d", c.N)
		}
		n.Leave(b)
		n.Run(9 * time.Second)
		if find[Kept](a, id) == nil {
			t.Fatal("it left early")
		}
		n.Until(2*time.Second, "it leaves", gone(id, a))
	})
}

// B-092, R-26: a client that lost its connection for longer than a session lives goes on with the values it has.
func TestB092KeepThroughAReconnect(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		chest := &Kept{N: 1}
		must(t, b.Spawn(chest))
		id := chest.NetID()
		n.Until(time.Second, "seen", func() bool { return find[Kept](a, id) != nil })
		body := find[Kept](a, id)
		n.Partition(b, true)
		n.Run(19 * time.Second)
		chest.N = 2
		n.Run(time.Second)
		n.Partition(b, false)
		n.Until(15*time.Second, "a sees what b wrote meanwhile", func() bool { return body.N == 2 && find[Kept](a, id) == body })
		if !b.Drives(chest) || body.Owner() != b.Self() {
			t.Error("b does not drive what was kept for it")
		}
	})
}

// B-092, P37: a grant to a player who is not there is refused; where the world parks it, it waits, and then the host gets the entity.
func TestP37GrantToTheAbsent(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		host, a := n.Join("host", throng.Config{}), n.Join("a", throng.Config{})
		everywhere(host, a)
		g := &Guarded{}
		must(t, a.Spawn(g))
		n.Run(200 * time.Millisecond)
		if err := a.Grant(g, throngtest.Player("nobody")); !errors.Is(err, throng.ErrNoPlayer) {
			t.Errorf("granting to the absent: %v", err)
		}
	})
	play(t, func(t *testing.T, n *throngtest.Net) {
		host, a := n.Join("host", throng.Config{}), n.Join("a", throng.Config{})
		everywhere(host, a)
		first, second := &Guarded{}, &Guarded{}
		must(t, a.Spawn(first))
		must(t, a.Spawn(second))
		n.Run(200 * time.Millisecond)
		must(t, a.Grant(first, throngtest.Player("late")))
		must(t, a.Grant(second, throngtest.Player("never")))
		n.Run(3 * time.Second)
		if !a.Drives(first) || !a.Drives(second) {
			t.Fatal("somebody else drives before anybody came")
		}
		late := n.Join("late", throng.Config{})
		everywhere(late)
		n.Until(time.Second, "late drives", func() bool { return drivers(first.NetID(), late) == 1 && drivers(first.NetID(), a, host) == 0 })
		n.Until(3*time.Second, "the host drives the other", func() bool {
			return drivers(second.NetID(), host) == 1 && second.Role() == throng.RoleHost
		})
	}, throngtest.World(relay.World{ParkGrants: 5 * time.Second}))
}

// R-26, B-092: at the silence clock what goes to the host goes, what waits for its owner stays in sight, and the rest is stale; the owner
// comes back to find itself demoted.
func TestR26PoliciesAtTheSilenceClock(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		host, owner := n.Join("host", throng.Config{}), n.Join("owner", throng.Config{})
		everywhere(host, owner)
		goes, waits, leaves := &Shared{N: 1}, &Kept{N: 1}, full("x")
		for _, e := range []throng.Object{goes, waits, leaves} {
			must(t, owner.Spawn(e))
		}
		n.Until(time.Second, "seen", sees(leaves, host))
		n.Run(500 * time.Millisecond)
		n.Partition(owner, true)
		n.Run(6 * time.Second)
		if find[Thing](host, leaves.NetID()) != nil || find[Kept](host, waits.NetID()) == nil || drivers(goes.NetID(), host) != 1 {
			t.Errorf("after the silence clock: %v %v %d", find[Thing](host, leaves.NetID()), find[Kept](host, waits.NetID()), drivers(goes.NetID(), host))
		}
		n.Partition(owner, false)
		n.Until(2*time.Second, "it is back", sees(leaves, host))
		n.Until(time.Second, "and demoted", func() bool {
			return !owner.Drives(goes) && host.Drives(find[Shared](host, goes.NetID())) && owner.Drives(waits) && goes.Role() == throng.RoleHost
		})
	})
}

// B-093: OnOwner runs once for each change, when owner, role and Drives are final, on everybody, and not at the spawn.
func TestB093OnOwnerOnceWhenAllIsFinal(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		join := func(name string) *throng.World {
			w := n.Join(name, throng.Config{Hooks: []throng.Hook{Things.Bind(throng.Hooks[Thing]{
				OnOwner: func(w *throng.World, e *Thing, was throng.PlayerID) {
					d.note("%s: from %v, now %v, mine %v, drives %v", name, was == throngtest.Player("a"), e.Owner() == throngtest.Player("b"),
						e.Role() == throng.RoleOwner, w.Drives(e))
				}})}})
			everywhere(w)
			return w
		}
		a, b, c := join("a"), join("b"), join("c")
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "seen", sees(thing, b, c))
		d.want(t)
		must(t, a.Grant(thing, b.Self()))
		n.Run(time.Second)
		for _, line := range []string{"a: from true, now true, mine false, drives false", "b: from true, now true, mine true, drives true",
			"c: from true, now true, mine false, drives false"} {
			if d.count(line) != 1 {
				t.Errorf("%d times %q in %q", d.count(line), line, d.lines)
			}
		}
		if len(d.lines) != 3 {
			t.Errorf("%q", d.lines)
		}
	})
}
