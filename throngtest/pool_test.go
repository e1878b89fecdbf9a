package throngtest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// Leaf is a class whose proxies are used again, Ember one that lives on for a second.
type Leaf struct {
	throng.Entity
	Word   string  `rep:""`
	N      int32   `rep:""`
	Fuel   float32 `rep:"owner"`
	Name   string  `rep:"init"`
	sprite *int    // the game's
	seen   int
}

type Ember struct {
	throng.Entity
	N    int32 `rep:""`
	glow int
}

var (
	Leaves     = throng.NewClass[Leaf]("leaf", throng.ClassConfig{Pool: 2})
	Embers     = throng.NewClass[Ember]("ember", throng.ClassConfig{Pool: 8, DestroyDelay: 2 * time.Second})
	PoolSchema = throng.MustSchema(Leaves, Embers)
)

func pooled(t *testing.T, f func(t *testing.T, n *throngtest.Net)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, throngtest.New(t, PoolSchema)) })
}

// A struct is used again, and shows nothing of who was in it before: neither what replicates nor what is the game's, not even what a
// stale pointer wrote into it in between.
func TestPoolShowsNothingOfBefore(t *testing.T) {
	for _, reset := range []bool{false, true} {
		name := "cleared"
		if reset {
			name = "Reset"
		}
		t.Run(name, func(t *testing.T) {
			pooled(t, func(t *testing.T, n *throngtest.Net) {
				a := n.Join("a", throng.Config{})
				var got []Leaf
				var at []*Leaf
				h := throng.Hooks[Leaf]{OnSpawn: func(w *throng.World, e *Leaf, local bool) {
					at = append(at, e)
					got = append(got, Leaf{Word: e.Word, N: e.N, Fuel: e.Fuel, Name: e.Name, sprite: e.sprite, seen: e.seen})
					e.sprite, e.seen = new(int), 7
				}}
				if reset {
					h.Reset = func(e *Leaf) { e.seen = 0 }
				}
				b := n.Join("b", hooks(Leaves.Bind(h)))
				everywhere(b)
				var sprite *int
				for i := range 5 {
					leaf := &Leaf{N: int32(i)}
					if i%2 == 0 {
						leaf.Word, leaf.Fuel, leaf.Name = "word", 0.5, "name"
					}
					must(t, a.Spawn(leaf))
					n.Until(time.Second, "b sees it", func() bool { return len(got) == i+1 })
					want := Leaf{Word: leaf.Word, N: leaf.N, Name: leaf.Name}
					if reset {
						want.sprite = sprite
					}
					if g := &got[i]; g.Word != want.Word || g.N != want.N || g.Fuel != 0 || g.Name != want.Name || g.sprite != want.sprite || g.seen != 0 {
						t.Errorf("%d: OnSpawn sees %+v", i, g)
					}
					if i > 0 && at[i] != at[0] {
						t.Errorf("%d: the struct was not used again", i)
					}
					sprite = at[i].sprite
					must(t, a.Destroy(leaf))
					n.Until(time.Second, "it is gone", gone(leaf.NetID(), b))
					n.Run(100 * time.Millisecond)
					at[i].Word, at[i].Fuel, at[i].N = "stale", 9, 9 // the game must not, but it may
					if !reset {
						at[i].seen = 9
					}
				}
			})
		})
	}
}

// The pool holds no more than it was told, never what the game made itself, and a body that lives out its delay is nobody else's.
func TestPoolBoundsAndDelay(t *testing.T) {
	pooled(t, func(t *testing.T, n *throngtest.Net) {
		bodies := map[*Leaf]int{}
		embers := map[*Ember]int{}
		a := n.Join("a", throng.Config{})
		b := n.Join("b", hooks(
			Leaves.Bind(throng.Hooks[Leaf]{OnSpawn: func(w *throng.World, e *Leaf, local bool) { bodies[e]++ }}),
			Embers.Bind(throng.Hooks[Ember]{OnSpawn: func(w *throng.World, e *Ember, local bool) {
				if e.glow != 0 {
					t.Error("an ember glows already")
				}
				e.glow = 5
				embers[e]++
			}})))
		everywhere(b)
		for range 3 {
			var wave []*Leaf
			for range 10 {
				wave = append(wave, &Leaf{})
				must(t, a.Spawn(wave[len(wave)-1]))
			}
			n.Run(500 * time.Millisecond)
			for _, l := range wave {
				must(t, a.Destroy(l))
			}
			n.Run(500 * time.Millisecond)
		}
		again := 0
		for _, times := range bodies {
			again += times - 1
		}
		if len(bodies)+again != 30 || again != 4 {
			t.Errorf("%d structs, used again %d times: want 2 of each later wave", len(bodies), again)
		}
		own := &Leaf{sprite: new(int)}
		must(t, b.Spawn(own))
		must(t, b.Destroy(own))
		n.Run(time.Second)
		if own.sprite == nil {
			t.Error("a struct that the game made was cleared")
		}
		must(t, b.Spawn(own)) // and it may use it again

		one, two, three := &Ember{N: 1}, &Ember{N: 2}, &Ember{N: 3}
		must(t, a.Spawn(one))
		n.Run(500 * time.Millisecond)
		must(t, a.Destroy(one))
		n.Run(500 * time.Millisecond)
		must(t, a.Spawn(two)) // one's body still lives out its delay
		n.Run(500 * time.Millisecond)
		if len(embers) != 2 {
			t.Error("a body was used again while it lived out its delay")
		}
		n.Run(2 * time.Second)
		must(t, a.Spawn(three))
		n.Run(500 * time.Millisecond)
		if len(embers) != 2 {
			t.Errorf("%d structs: the first's time was over", len(embers))
		}
	})
}

// Who keeps a pointer beyond OnDestroy is told so by every call that would write: the struct is somebody else's soon.
func TestPooledPointerIsAnError(t *testing.T) {
	pooled(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(b)
		leaf := &Leaf{N: 1}
		must(t, a.Spawn(leaf))
		var kept *Leaf
		n.Until(time.Second, "b sees it", func() bool { kept = find[Leaf](b, leaf.NetID()); return kept != nil })
		must(t, a.Destroy(leaf))
		n.Until(time.Second, "it is gone", gone(leaf.NetID(), b))
		n.Run(100 * time.Millisecond)
		for what, err := range map[string]error{
			"Spawn": b.Spawn(kept), "Place": b.Place("x", kept), "Destroy": b.Destroy(kept), "MarkDirty": b.MarkDirty(kept), "Override": b.Override(kept, &kept.N),
			"RequestOwnership": b.RequestOwnership(kept), "Grant": b.Grant(kept, a.Self()), "GrantToHost": b.GrantToHost(kept),
		} {
			if !errors.Is(err, throng.ErrPooled) {
				t.Errorf("%s: %v, want %v", what, err, throng.ErrPooled)
			}
		}
		if !kept.NetID().IsZero() || kept.Role() != throng.RoleNone || b.Drives(kept) || b.LastSentBytes(kept) != -1 {
			t.Errorf("the struct says it is %v, %v", kept.NetID(), kept.Role())
		}
		if err := a.Destroy(leaf); err != nil {
			t.Errorf("a second Destroy of the game's own struct: %v", err)
		}
	})
}

// Reset may use the World, as every hook may.
func TestResetMaySpawn(t *testing.T) {
	pooled(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		var b *throng.World
		made := &Ember{}
		b = n.Join("b", hooks(Leaves.Bind(throng.Hooks[Leaf]{Reset: func(e *Leaf) {
			if made.NetID().IsZero() {
				must(t, b.Spawn(made))
			}
		}})))
		everywhere(a, b)
		leaf := &Leaf{}
		must(t, a.Spawn(leaf))
		n.Run(500 * time.Millisecond)
		must(t, a.Destroy(leaf))
		n.Until(time.Second, "a sees what was spawned", func() bool { return find[Ember](a, made.NetID()) != nil })
		count := 0
		for range b.Entities() {
			count++
		}
		if count != 1 {
			t.Errorf("b iterates over %d", count)
		}
	})
}
