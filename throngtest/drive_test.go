package throngtest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// Ball changes hands without asking, Door does not; nobody but its owner writes a Diary.
type Ball struct {
	throng.Entity
	Pos  throng.Vec2 `rep:"position"`
	Hits int32       `rep:""`
	Air  float32     `rep:"owner"`
}

type Door struct {
	throng.Entity
	Open bool  `rep:""`
	Wear int32 `rep:""`
}

type Diary struct {
	throng.Entity
	Page int32 `rep:""`
}

var (
	Balls       = throng.NewClass[Ball]("ball", throng.ClassConfig{AutoGrant: true})
	Doors       = throng.NewClass[Door]("door", throng.ClassConfig{})
	Diaries     = throng.NewClass[Diary]("diary", throng.ClassConfig{HostOverride: throng.OwnerOnly})
	DriveSchema = throng.MustSchema(Balls, Doors, Diaries)
)

// TestRequestOwnership is B-090, B-091, B-093 and R-21: an entity whose class grants without asking changes hands; the write of the
// last tick goes along, owner fields too, everybody agrees, nobody else is asked.
func TestRequestOwnership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, DriveSchema)
		a := n.Join("a", throng.Config{})
		var was []throng.PlayerID
		b := n.Join("b", throng.Config{Hooks: []throng.Hook{Balls.Bind(throng.Hooks[Ball]{OnOwner: func(_ *throng.World, _ *Ball, p throng.PlayerID) { was = append(was, p) }})}})
		c := n.Join("c", throng.Config{})
		for _, w := range []*throng.World{a, b, c} {
			w.SetViewpoints(throng.Vec3{})
		}
		ball, door := &Ball{Air: 1}, &Door{}
		if err := errors.Join(a.Spawn(ball), a.Spawn(door)); err != nil {
			t.Fatal(err)
		}
		held := func(w *throng.World) *Ball {
			o, ok := w.Find(ball.NetID())
			if !ok {
				return nil
			}
			return o.(*Ball)
		}
		n.Until(time.Second, "all have it", func() bool { return held(b) != nil && held(c) != nil })
		n.Step(a, func() { // writes up to the last moment
			if a.Drives(ball) {
				ball.Hits++
				ball.Air = float32(ball.Hits)
			}
		})
		n.Run(250 * time.Millisecond)
		if err := b.RequestOwnership(held(b)); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "b drives", func() bool { return b.Drives(held(b)) })
		n.Step(a, nil)
		if a.Drives(ball) {
			t.Error("two drive")
		}
		if last := ball.Hits; last == 0 || held(b).Hits != last || held(b).Air != float32(last) {
			t.Errorf("b goes on from %d hits and %v air, a had written %d", held(b).Hits, held(b).Air, last)
		}
		held(b).Hits = 1000
		n.Until(time.Second, "all follow b", func() bool { return ball.Hits == 1000 && held(c).Hits == 1000 })
		if len(was) != 1 || was[0] != a.Self() {
			t.Errorf("OnOwner ran for %v", was)
		}
		for _, w := range []*throng.World{a, b, c} {
			if held(w).Owner() != b.Self() {
				t.Errorf("an owner of %v", held(w).Owner())
			}
		}
		if ball.Air != 0 {
			t.Errorf("the former owner still holds the owner field: %v", ball.Air)
		}
		// A class that does not grant by itself: silence.
		o, _ := b.Find(door.NetID())
		if err := b.RequestOwnership(o); err != nil {
			t.Fatal(err)
		}
		n.Run(2 * time.Second)
		if b.Drives(o) || !a.Drives(door) {
			t.Error("a door changed hands without its driver")
		}
		// Its driver grants.
		if err := a.Grant(door, c.Self()); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "c drives the door", func() bool { o, _ := c.Find(door.NetID()); return c.Drives(o) })
		d := throng.NewID()
		if err := a.Grant(door, c.Self()); !errors.Is(err, throng.ErrNotDriver) {
			t.Errorf("granting what c drives: %v", err)
		}
		if err := b.Grant(held(b), throng.PlayerIDFrom(d.Bytes())); !errors.Is(err, throng.ErrNoPlayer) {
			t.Errorf("granting to a stranger: %v", err)
		}
		if err := b.GrantToHost(held(b)); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "the host drives it", func() bool { return a.Drives(ball) && ball.Role() == throng.RoleHost && ball.Owner().IsZero() })
	})
}

// TestOverride is B-083 and R-20: the host corrects what another drives; the driver goes on from the correction and its next tick does
// not undo it. Not the host, and not where only the owner writes.
func TestOverride(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, DriveSchema)
		host, owner, other := n.Join("host", throng.Config{}), n.Join("owner", throng.Config{}), n.Join("other", throng.Config{})
		door, diary := &Door{}, &Diary{}
		if err := errors.Join(owner.Spawn(door), owner.Spawn(diary)); err != nil {
			t.Fatal(err)
		}
		held := func(w *throng.World) *Door {
			o, ok := w.Find(door.NetID())
			if !ok {
				return nil
			}
			return o.(*Door)
		}
		n.Until(time.Second, "all have it", func() bool { return held(host) != nil && held(other) != nil })
		n.Step(owner, func() { door.Wear++ }) // the owner keeps writing
		held(host).Open = true
		if err := host.Override(held(host), &held(host).Open); err != nil {
			t.Fatal(err)
		}
		n.Until(time.Second, "the correction is everywhere", func() bool { return door.Open && held(other).Open && held(host).Open })
		n.Run(time.Second)
		if !door.Open || !held(other).Open {
			t.Error("the owner's next tick undid the correction")
		}
		door.Open = false // a later write of the owner wins
		n.Until(time.Second, "the owner closes it", func() bool { return !held(host).Open && !held(other).Open })
		if err := other.Override(held(other), &held(other).Open); !errors.Is(err, throng.ErrNotHost) {
			t.Errorf("an override by somebody else: %v", err)
		}
		if err := host.Override(held(host)); !errors.Is(err, throng.ErrNoField) {
			t.Errorf("an override of nothing: %v", err)
		}
		o, _ := host.Find(diary.NetID())
		d := o.(*Diary)
		if err := host.Override(d, &d.Page); !errors.Is(err, throng.ErrOwnerOnly) {
			t.Errorf("an override of what only its owner writes: %v", err)
		}
	})
}
