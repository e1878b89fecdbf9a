package throngtest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// A Knight is a player's, but for what a trusted server decides; a Dragon is the server's.
type Knight struct {
	throng.Entity
	Pos throng.Vec3 `rep:"position"`
	HP  int32       `rep:"auth"`
	Arm string      `rep:""`
}

type Dragon struct {
	throng.Entity
	Pos    throng.Vec3 `rep:"position"`
	HP     int32       `rep:"auth"`
	Colour uint8       `rep:"init,auth"`
	Mood   uint8       `rep:""`
}

var (
	Knights = throng.NewClass[Knight]("knight", throng.ClassConfig{HostOverride: throng.OwnerOnly})
	Dragons = throng.NewClass[Dragon]("dragon", throng.ClassConfig{})
	Keep    = throng.MustSchema(Knights, Dragons)
)

// keep plays a test with a trusted server in the world.
func keep(t *testing.T, f func(t *testing.T, n *throngtest.Net, server *throng.World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, Keep)
		f(t, n, n.Join("server", throng.Config{TokenSource: throngtest.Authority("server")}))
	})
}

// look makes players look at the origin.
func look(players ...*throng.World) {
	for _, w := range players {
		w.SetViewpoints(throng.Vec3{})
	}
}

func only[T any](t *testing.T, c *throng.Class[T], w *throng.World) *T {
	t.Helper()
	var found *T
	for e := range c.All(w) {
		if found != nil {
			t.Fatal("there are two")
		}
		found = e
	}
	return found
}

func TestB001AuthFieldsAreTheServersAlone(t *testing.T) {
	keep(t, func(t *testing.T, n *throngtest.Net, server *throng.World) {
		ann, bob := n.Join("ann", throng.Config{}), n.Join("bob", throng.Config{})
		look(bob)
		if !server.IsAuthority() || ann.IsAuthority() {
			t.Fatal("who is an authority?")
		}
		if err := ann.Spawn(&Knight{HP: 9999}); !errors.Is(err, throng.ErrAuthField) {
			t.Errorf("a player spawned with health of its own choice: %v", err)
		}
		mine := &Knight{Arm: "sword"}
		if err := ann.Spawn(mine, throng.AsAvatar()); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "the server sees the knight", func() bool { return only(t, Knights, server) != nil })
		theirs := only(t, Knights, server)
		theirs.HP = 80
		if err := server.Override(theirs, &theirs.HP); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "all have the health", func() bool {
			b := only(t, Knights, bob)
			return mine.HP == 80 && b != nil && b.HP == 80
		})
		// The player writes it: that stays with the player, the relay takes it from nobody.
		mine.HP, mine.Arm = 9999, "axe"
		if err := ann.MarkDirty(mine, &mine.HP); err != nil {
			t.Errorf("marking: %v", err)
		}
		if err := ann.Override(mine, &mine.HP); err != nil && !errors.Is(err, throng.ErrNoField) {
			t.Errorf("overriding: %v", err)
		}
		n.Run(3 * time.Second)
		if b := only(t, Knights, bob); b.HP != 80 || b.Arm != "axe" || theirs.HP != 80 {
			t.Errorf("bob has %d and %s, the server %d", b.HP, b.Arm, theirs.HP)
		}
		// OwnerOnly keeps everybody from the fields of the view plane, and nobody else from those of the server.
		theirs.Arm = "spoon"
		if err := server.Override(theirs, &theirs.Arm); !errors.Is(err, throng.ErrOwnerOnly) {
			t.Error(err)
		}
		if err := server.Destroy(theirs); err != nil {
			t.Error(err)
		}
		n.Until(time.Second, "the knight is gone", func() bool { return only(t, Knights, ann) == nil && only(t, Knights, bob) == nil })
	})
}

func TestB110ActorsAndTheirRoles(t *testing.T) {
	keep(t, func(t *testing.T, n *throngtest.Net, server *throng.World) {
		ann := n.Join("ann", throng.Config{})
		look(ann)
		if err := ann.Spawn(&Dragon{}, throng.AsActor()); !errors.Is(err, throng.ErrNotAuthority) {
			t.Errorf("a player spawned an actor: %v", err)
		}
		if err := ann.Spawn(&Dragon{}, throng.ForViewers(throng.Viewers{Only: true})); !errors.Is(err, throng.ErrNotAuthority) {
			t.Errorf("a player decided who sees: %v", err)
		}
		d := &Dragon{HP: 500, Colour: 3}
		if err := server.Spawn(d, throng.AsActor()); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "ann sees the dragon", func() bool { return only(t, Dragons, ann) != nil })
		seen := only(t, Dragons, ann)
		if d.Role() != throng.RoleAuthority || seen.Role() != throng.RoleSimulatedProxy || seen.HP != 500 || seen.Colour != 3 {
			t.Errorf("roles %v and %v, health %d, colour %d", d.Role(), seen.Role(), seen.HP, seen.Colour)
		}
		// An authority's actor is diffed whole, auth fields too.
		d.HP, d.Mood = 321, 7
		n.Until(time.Second, "ann has both", func() bool { return seen.HP == 321 && seen.Mood == 7 })
		// Granted to a player it is the player's to move, and its auth fields are still the server's alone.
		if err := server.Grant(d, ann.Self()); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "ann drives it", func() bool { return ann.Drives(seen) })
		if seen.Role() != throng.RoleAutonomousProxy || d.Role() != throng.RoleAuthority {
			t.Errorf("granted, the roles are %v and %v", d.Role(), seen.Role())
		}
		seen.Mood, seen.HP = 9, 9999
		n.Until(time.Second, "the server sees the mood", func() bool { return d.Mood == 9 })
		d.HP = 320
		if err := server.Override(d, &d.HP); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "ann has the health", func() bool { return seen.HP == 320 })
		if d.HP != 320 {
			t.Errorf("the player made the health %d", d.HP)
		}
		if err := ann.Grant(seen, server.Self()); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "the server drives it again", func() bool { return server.Drives(d) })
		d.HP = 321
		n.Until(time.Second, "ann sees the health", func() bool { return seen.HP == 321 })
		if err := ann.Destroy(seen); !errors.Is(err, throng.ErrNotDriver) {
			t.Errorf("a player destroyed an actor: %v", err)
		}
		// It lives through a restart of the relay, with all it had.
		n.Restart()
		n.Run(30 * time.Second)
		again := only(t, Dragons, ann)
		if again == nil || again.HP != 321 || again.Role() != throng.RoleSimulatedProxy || d.Role() != throng.RoleAuthority {
			t.Errorf("after a restart ann has %+v", again)
		}
	})
}

// The player that was granted an actor holds a certificate of it, and may be the only one left to bring it back: it is an actor still.
func TestB110ActorThatAPlayerBringsBack(t *testing.T) {
	keep(t, func(t *testing.T, n *throngtest.Net, server *throng.World) {
		ann := n.Join("ann", throng.Config{})
		look(ann)
		d := &Dragon{HP: 500}
		if err := server.Spawn(d, throng.AsActor()); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "ann sees the dragon", func() bool { return only(t, Dragons, ann) != nil })
		seen := only(t, Dragons, ann)
		if err := server.Grant(d, ann.Self()); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "ann drives it", func() bool { return ann.Drives(seen) })
		if err := ann.Grant(seen, server.Self()); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "the server drives it again", func() bool { return server.Drives(d) })
		n.Run(2 * time.Second) // a relay numbers its start by the second
		n.Restart()
		n.Partition(server, true)
		n.Until(10*time.Second, "ann drives it", func() bool { return ann.Drives(seen) })
		if seen.Role() != throng.RoleAutonomousProxy {
			t.Errorf("ann brought it back as %v", seen.Role())
		}
		n.Partition(server, false)
		n.Until(30*time.Second, "the server drives it", func() bool { return server.Drives(d) && !ann.Drives(seen) })
		if seen.Role() != throng.RoleSimulatedProxy || d.Role() != throng.RoleAuthority {
			t.Errorf("roles %v and %v", seen.Role(), d.Role())
		}
	})
}

// R-31, B-113, P13: who may not know of an actor is sent not one message that names it, not when it is spawned, not when the relay
// restarts, not when it ends.
func TestR31DeniedFromBeforeTheSpawn(t *testing.T) {
	keep(t, func(t *testing.T, n *throngtest.Net, server *throng.World) {
		id := throng.NewID()
		tap := n.Tap("ann", id)
		ann, bob := n.Join("ann", throng.Config{Dialer: tap}), n.Join("bob", throng.Config{})
		look(ann, bob)
		n.Shape(ann, throngtest.Link{Loss: 0.1, Jitter: 30 * time.Millisecond}, throngtest.Link{Loss: 0.1, Jitter: 30 * time.Millisecond})
		n.Shape(server, throngtest.Link{Loss: 0.1}, throngtest.Link{Loss: 0.1})
		d := &Dragon{HP: 5}
		deny := throng.Viewers{Players: []throng.PlayerID{ann.Self()}}
		if err := server.Spawn(d, throng.AsActor(), throng.WithID(id), throng.ForViewers(deny)); err != nil {
			t.Fatal(err)
		}
		n.Until(3*time.Second, "bob sees the dragon", func() bool { return only(t, Dragons, bob) != nil })
		for i := range 20 {
			d.HP = int32(i)
			n.Run(100 * time.Millisecond)
		}
		n.Restart()
		n.Until(60*time.Second, "bob has it again", func() bool { b := only(t, Dragons, bob); return b != nil && b.HP == d.HP })
		n.Run(5 * time.Second)
		if c := tap.Named(); c != 0 || only(t, Dragons, ann) != nil {
			t.Fatalf("the denied player was told %d times", c)
		}
		// Then she may know, then not.
		if err := server.SetViewers(d, throng.Viewers{}); err != nil {
			t.Fatal(err)
		}
		n.Until(3*time.Second, "ann sees the dragon", func() bool { a := only(t, Dragons, ann); return a != nil && a.HP == d.HP })
		if err := server.SetViewers(d, deny); err != nil {
			t.Fatal(err)
		}
		n.Until(3*time.Second, "ann has lost it", func() bool { return only(t, Dragons, ann) == nil })
		n.Run(2 * time.Second)
		told := tap.Named()
		if err := server.Destroy(d); err != nil {
			t.Fatal(err)
		}
		n.Until(3*time.Second, "bob has lost it", func() bool { return only(t, Dragons, bob) == nil })
		if c := tap.Named(); c != told {
			t.Errorf("its end was told to who may not know of it, %d times", c-told)
		}
	})
}

func TestB110GroupsOfAnAuthority(t *testing.T) {
	keep(t, func(t *testing.T, n *throngtest.Net, server *throng.World) {
		ann, bob := n.Join("ann", throng.Config{}), n.Join("bob", throng.Config{})
		look(ann, bob)
		if err := ann.SetMember(ann.Self(), "judged", true); !errors.Is(err, throng.ErrNotAuthority) {
			t.Errorf("a player set a group: %v", err)
		}
		if err := server.Spawn(&Dragon{}, throng.AsActor(), throng.ForViewers(throng.Viewers{Group: "judged", Players: []throng.PlayerID{bob.Self()}})); err != nil {
			t.Fatal(err)
		}
		n.Run(time.Second)
		if only(t, Dragons, ann) != nil || only(t, Dragons, bob) != nil {
			t.Fatal("seen by who is in no group")
		}
		for _, p := range []throng.PlayerID{ann.Self(), bob.Self()} {
			if err := server.SetMember(p, "judged", true); err != nil {
				t.Fatal(err)
			}
		}
		n.Until(time.Second, "ann sees it", func() bool { return only(t, Dragons, ann) != nil })
		n.Restart()
		n.Run(30 * time.Second)
		if only(t, Dragons, ann) == nil || only(t, Dragons, bob) != nil {
			t.Error("after a restart the groups are not as the authority said")
		}
		if err := server.SetMember(ann.Self(), "judged", false); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "ann has lost it", func() bool { return only(t, Dragons, ann) == nil })
	})
}

// An authority sees the whole world, from nowhere.
func TestB110TheWholeWorldIsInReach(t *testing.T) {
	keep(t, func(t *testing.T, n *throngtest.Net, server *throng.World) {
		ann := n.Join("ann", throng.Config{})
		k := &Knight{Pos: throng.Vec3{X: 1e6, Y: -1e6}}
		if err := ann.Spawn(k, throng.AsAvatar()); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "the server sees her", func() bool { return only(t, Knights, server) != nil })
		for i := range 20 {
			k.Pos.X = float64(-i) * 1e5
			n.Run(200 * time.Millisecond)
		}
		n.Until(time.Second, "where she is", func() bool { return only(t, Knights, server).Pos == k.Pos })
	})
}
