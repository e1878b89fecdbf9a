package throngtest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// Two clients place the same name: one entity, the host drives it, both have their own body (B-051).
func TestPlaceIsOneEntity(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atA, atB diary
		a, b := n.Join("a", hooks(atA.watch())), n.Join("b", hooks(atB.watch()))
		everywhere(a, b)
		one, two := full("door"), full("door")
		must(t, b.Place("door", two)) // not the host first
		must(t, a.Place("door", one))
		if one.NetID() != throng.StableID("door") || two.NetID() != one.NetID() {
			t.Errorf("ids %v and %v", one.NetID(), two.NetID())
		}
		n.Run(2 * time.Second)
		if !a.Drives(one) || b.Drives(two) || one.Role() != throng.RoleHost || two.Role() != throng.RoleHost || !two.Owner().IsZero() {
			t.Errorf("drives %v %v, roles %v %v", a.Drives(one), b.Drives(two), one.Role(), two.Role())
		}
		atA.want(t, "spawn door local=true")
		atB.want(t, "spawn door local=true")
		one.Text = "pushed"
		must(t, a.MarkDirty(one, &one.Text))
		n.Until(time.Second, "b follows", func() bool { return two.Text == "pushed" })
		atB.want(t, "spawn door local=true", "rep door: Text")
	})
}

// Without marks the fields of a host-owned entity do not leave; keyframes do (B-026).
func TestHostOwnedIsPushed(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		one, two := full("door"), full("door")
		must(t, a.Place("door", one))
		must(t, b.Place("door", two))
		n.Run(time.Second)
		one.Text, one.Push, one.Beat = "unmarked", 100, 100
		n.Run(5 * time.Second)
		if two.Text != "text" || two.Push != 8 || two.Beat != 100 {
			t.Errorf("b has Text %q, Push %d, Beat %d", two.Text, two.Push, two.Beat)
		}
		must(t, a.MarkDirty(one))
		n.Until(time.Second, "b has all", func() bool { return two.Text == "unmarked" && two.Push == 100 })
	})
}

// Who places late, what was changed meanwhile, gets one OnRep with exactly the differences; its init fields are its own (B-051).
func TestLatePlacerGetsTheDifferences(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		everywhere(a)
		one := full("door")
		must(t, a.Place("door", one))
		n.Run(time.Second)
		one.Text, one.Big = "changed", 5
		must(t, a.MarkDirty(one))
		n.Run(10 * time.Second)
		var atB diary
		b := n.Join("b", hooks(atB.watch()))
		everywhere(b)
		n.Run(time.Second)
		if _, ok := b.Find(one.NetID()); ok {
			t.Error("b has a body of what it has not placed")
		}
		two := full("door of b")
		must(t, b.Place("door", two))
		n.Until(time.Second, "b has it", func() bool { return two.Text == "changed" && two.Big == 5 })
		n.Run(5 * time.Second)
		atB.want(t, "spawn door of b local=true", "rep door of b: Text Big")
		if two.Name != "door of b" {
			t.Errorf("its init field became %q", two.Name)
		}
	})
}

// Destroyed placed entities stay destroyed: for who placed it, who places it again, who comes late.
func TestDestroyedPlacedStaysDestroyed(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atA, atB, atC diary
		a, b := n.Join("a", hooks(atA.watch())), n.Join("b", hooks(atB.watch()))
		everywhere(a, b)
		one, two := full("door"), full("door")
		must(t, a.Place("door", one))
		must(t, b.Place("door", two))
		n.Run(time.Second)
		if err := b.Destroy(two); !errors.Is(err, throng.ErrNotDriver) {
			t.Errorf("who is not host destroys it: %v, want %v", err, throng.ErrNotDriver)
		}
		must(t, a.Destroy(one))
		n.Until(time.Second, "it is gone", gone(throng.StableID("door"), a, b))
		n.Run(time.Second)
		for _, w := range []*throng.World{a, b} {
			if err := w.Place("door", full("door")); !errors.Is(err, throng.ErrGone) {
				t.Errorf("placing it again: %v, want %v", err, throng.ErrGone)
			}
		}
		c := n.Join("c", hooks(atC.watch()))
		everywhere(c)
		late := full("door")
		if err := c.Place("door", late); err != nil && !errors.Is(err, throng.ErrGone) {
			t.Errorf("placing it late: %v", err)
		}
		n.Until(time.Second, "it is gone at the late one", gone(throng.StableID("door"), c))
		n.Run(time.Minute)
		if err := c.Place("door", full("door")); !errors.Is(err, throng.ErrGone) {
			t.Errorf("placing it again: %v, want %v", err, throng.ErrGone)
		}
		atA.want(t, "spawn door local=true", "destroy door: destroyed local=true")
		atB.want(t, "spawn door local=true", "destroy door: destroyed local=false")
	})
}

// Claimed: the first placer wins, the others follow (B-051).
func TestClaimedHasOneWinner(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		ws, chests := make([]*throng.World, 4), make([]*Thing, 4)
		for i := range ws {
			ws[i] = n.Join(string(rune('a'+i)), throng.Config{})
			everywhere(ws[i])
			n.Shape(ws[i], lossy(0.1), lossy(0.1))
			chests[i] = full("chest")
		}
		for i := range ws {
			must(t, ws[i].Place("chest", chests[i], throng.Claimed()))
		}
		id := throng.StableID("chest")
		n.Until(10*time.Second, "one has won", func() bool { return drivers(id, ws...) == 1 })
		n.Run(10 * time.Second)
		winner := -1
		for i := range ws {
			if ws[i].Drives(chests[i]) {
				if winner >= 0 {
					t.Fatal("two have won")
				}
				winner = i
			}
		}
		for i := range ws {
			if chests[i].Owner() != ws[winner].Self() || (chests[i].Role() == throng.RoleOwner) != (i == winner) {
				t.Errorf("at %d it has owner %v, role %v", i, chests[i].Owner(), chests[i].Role())
			}
		}
		chests[winner].Text = "mine"
		n.Until(5*time.Second, "all follow the winner", sees(chests[winner], ws...))
		n.Leave(ws[winner])
		rest := append(append([]*throng.World{}, ws[:winner]...), ws[winner+1:]...)
		n.Until(10*time.Second, "the host drives what the winner left", func() bool { return drivers(id, rest...) == 1 })
	})
}

// Out of reach a placed body only stands still; back in reach it is the same body, told by OnRep (B-051).
func TestPlacedOutOfReach(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atB diary
		a, b := n.Join("a", throng.Config{}), n.Join("b", hooks(atB.watch()))
		everywhere(a, b)
		one, two := full("door"), full("door")
		must(t, a.Place("door", one))
		must(t, b.Place("door", two))
		n.Run(time.Second)
		b.SetViewpoints(throng.Vec3{X: 1e6})
		n.Run(time.Second)
		one.Text = "unseen"
		must(t, a.MarkDirty(one))
		n.Run(time.Second)
		if two.Text != "text" {
			t.Error("b follows what is out of reach")
		}
		everywhere(b)
		n.Until(time.Second, "b follows again", func() bool { return two.Text == "unseen" })
		atB.want(t, "spawn door local=true", "rep door: Text")
	})
}

// Options that make no sense for Place are errors.
func TestPlaceOptions(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		for _, opt := range []throng.SpawnOption{throng.AsAvatar(), throng.OwnedByHost(), throng.WithID(throng.NewID())} {
			if err := a.Place("x", full("x"), opt); err == nil || !strings.Contains(err.Error(), "Place") {
				t.Errorf("Place with an option that is for Spawn: %v", err)
			}
		}
		must(t, a.Place("x", full("x")))
		if err := a.Place("x", full("x")); !errors.Is(err, throng.ErrIDHeld) {
			t.Errorf("placing a name twice: %v", err)
		}
	})
}
