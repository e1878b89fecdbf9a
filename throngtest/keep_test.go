package throngtest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// Wagon is an avatar that waits for its player.
type Wagon struct {
	throng.Entity
	Pos  throng.Vec2 `rep:"position"`
	Beat int32       `rep:"heartbeat"`
	Gold int32       `rep:"owner"`
}

var (
	Wagons      = throng.NewClass[Wagon]("wagon", throng.ClassConfig{OnOwnerGone: throng.Keep(time.Minute)})
	WagonSchema = throng.MustSchema(Wagons)
)

// B-092: an avatar that is kept is its player's eyes again, with its owner fields, and another cannot be spawned beside it.
func TestB092KeptAvatar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, WagonSchema)
		other, p := n.Join("other", throng.Config{}), n.Join("p", throng.Config{})
		far := throng.Vec3{X: 100_000}
		other.SetViewpoints(far)
		wagon, stone := &Wagon{Pos: throng.Vec2{X: far.X}, Gold: 5}, &Wagon{Pos: throng.Vec2{X: far.X}}
		must(t, p.Spawn(wagon, throng.AsAvatar()))
		must(t, other.Spawn(stone))
		n.Until(time.Second, "it sees", func() bool { return find[Wagon](p, stone.NetID()) != nil })
		id := wagon.NetID()
		n.Leave(p)
		n.Run(10 * time.Second)
		p = n.Join("p", throng.Config{})
		n.Until(time.Second, "its avatar is back", func() bool {
			o, ok := p.Find(p.Self().AvatarID())
			return ok && p.Drives(o) && o.(*Wagon).Gold == 5 && o.(*Wagon).Pos.X == far.X
		})
		n.Until(time.Second, "it sees from there", func() bool { return find[Wagon](p, stone.NetID()) != nil })
		back := find[Wagon](p, id)
		second := &Wagon{Pos: back.Pos, Gold: 6}
		must(t, p.Spawn(second, throng.AsAvatar())) // the new struct takes its place
		n.Until(time.Second, "it moves on", func() bool { return p.Drives(second) && find[Wagon](other, id) != nil })
	})
}

// P32, B-026: the keyframes of what the host drives flow, without a mark, and move with the host: who was host repeats nothing more.
func TestP32KeyframesMoveWithTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, WagonSchema)
		second := n.Join("second", throng.Config{World: "elsewhere"}) // senior in the realm, and away
		first, third := n.Join("first", throng.Config{}), n.Join("third", throng.Config{})
		everywhere(first, second, third)
		w := &Wagon{}
		must(t, first.Spawn(w, throng.OwnedByHost()))
		at := func(v *throng.World) *Wagon { return find[Wagon](v, w.NetID()) }
		n.Until(time.Second, "seen", func() bool { return at(third) != nil && first.Drives(w) })
		w.Beat = 7 // it is not compared, and not marked
		n.Until(2*time.Second+200*time.Millisecond, "the keyframe", func() bool { return at(third).Beat == 7 })
		must(t, second.Travel("test"))
		n.Until(time.Second, "the senior is host", func() bool { return at(second) != nil && second.Drives(at(second)) && !first.Drives(w) })
		w.Beat = 100 // of who is host no more
		at(second).Beat = 8
		n.Until(2*time.Second+200*time.Millisecond, "the next host's keyframe", func() bool { return at(third).Beat == 8 })
		n.Run(5 * time.Second)
		if at(third).Beat != 8 || at(second).Beat != 8 {
			t.Errorf("third sees %d, second holds %d", at(third).Beat, at(second).Beat)
		}
	})
}

// B-090: whatever is unknown or of another world is an error, and nothing happens.
func TestB090ForeignTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, WagonSchema)
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{World: "elsewhere"})
		everywhere(a, b)
		theirs := &Wagon{}
		must(t, b.Spawn(theirs))
		n.Run(200 * time.Millisecond)
		for _, o := range []*Wagon{{}, theirs} {
			for what, err := range map[string]error{"request": a.RequestOwnership(o), "grant": a.Grant(o, a.Self()), "to the host": a.GrantToHost(o),
				"to the owner of": a.GrantToOwnerOf(o, o), "override": a.Override(o, &o.Beat)} {
				if !errors.Is(err, throng.ErrForeign) {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
		must(t, a.Spawn(&Wagon{}))
		if err := b.Grant(theirs, throng.PlayerID{}); !errors.Is(err, throng.ErrNoPlayer) {
			t.Errorf("to nobody: %v", err)
		}
	})
}
