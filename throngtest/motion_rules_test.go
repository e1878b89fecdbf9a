package throngtest_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// stream plays with MotionSchema.
func stream(t *testing.T, f func(t *testing.T, n *throngtest.Net), opts ...throngtest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, throngtest.New(t, MotionSchema, opts...)) })
}

// came collects what OnUpdates is told.
type came struct{ list []throng.Update }

func (c *came) take(_ *throng.World, batch []throng.Update) {
	for _, u := range batch {
		u.Bytes = append([]byte(nil), u.Bytes...)
		c.list = append(c.list, u)
	}
}

// B-060: on change at the replication rate; once more at rest; then every 3 s, and every second a word that it is there. Off means none.
//
// P69: a rate of 20 Hz sent at 5.
func TestB060Cadence(t *testing.T) {
	for _, rate := range []int{1, 5, 10, 20, 30, 60} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			stream(t, func(t *testing.T, n *throngtest.Net) {
				var c came
				n.SetFrame(time.Second / 120)
				a := n.Join("a", throng.Config{Rate: rate, Keyframe: throng.Off, NoPhaseLock: true})
				b := n.Join("b", throng.Config{OnUpdates: c.take})
				everywhere(a, b)
				w := &Walker{}
				must(t, a.Spawn(w))
				n.Run(5 * time.Second)
				c.list = nil
				moving := true
				n.Step(a, func() {
					if moving {
						w.pose.Pos.X += 0.1
					}
				})
				n.Run(10 * time.Second)
				if got := len(c.list); math.Abs(float64(got-10*rate)) > 1+0.03*float64(10*rate) {
					t.Errorf("%d samples in 10 s at %d Hz", got, rate)
				}
				for _, u := range c.list {
					if u.Still || !u.Timed {
						t.Fatalf("on the move: %+v", u)
					}
				}
				moving = false
				c.list = nil
				n.Run(2 * time.Second / time.Duration(rate))
				stops := 0
				for _, u := range c.list {
					if u.Still {
						stops++
					}
				}
				if stops < 1 || stops > 2 || !c.list[len(c.list)-1].Still { // its repeat, whose phase is its own, may fall right behind it
					t.Errorf("stopped %d times", stops)
				}
				n.Run(3 * time.Second) // into the rhythm
				c.list = nil
				beats := a.Stats().Motion.Beats
				n.Run(30 * time.Second)
				if got := len(c.list); got < 9 || got > 11 { // one may fall on either end
					t.Errorf("%d repeats in 30 s, want 10", got)
				}
				for i := 1; i < len(c.list); i++ {
					if gap := c.list[i].Time - c.list[i-1].Time; gap < 2900*time.Millisecond || gap > 3100*time.Millisecond {
						t.Errorf("%v between two repeats, want 3 s", gap)
					}
				}
				if got := a.Stats().Motion.Beats - beats; got < 18 || got > 31 { // in a second with a repeat it may be left out
					t.Errorf("%d signs of life in 30 s, want 20 to 30", got)
				}
			})
		})
	}
}

func TestB060RepeatsOff(t *testing.T) {
	stream(t, func(t *testing.T, n *throngtest.Net) {
		var c came
		a := n.Join("a", throng.Config{Keyframe: throng.Off, MotionKeyframe: throng.Off, MotionHeartbeat: throng.Off})
		b := n.Join("b", throng.Config{OnUpdates: c.take})
		everywhere(a, b)
		must(t, a.Spawn(&Walker{}))
		must(t, a.Spawn(&Glider{}))
		n.Run(2 * time.Second)
		c.list = nil
		before := n.Server().Stats()
		n.Run(time.Minute)
		after := n.Server().Stats()
		if len(c.list) != 0 || after.Replication.Deltas != before.Replication.Deltas {
			t.Errorf("%d values, %d records of what stands still", len(c.list), after.Replication.Deltas-before.Replication.Deltas)
		}
	})
}

// B-060: the repeats of many fall on different ticks.
func TestB060PhasesAreSpread(t *testing.T) {
	stream(t, func(t *testing.T, n *throngtest.Net) {
		ticks := map[time.Duration]int{}
		a := n.Join("a", throng.Config{Keyframe: throng.Off})
		b := n.Join("b", throng.Config{OnUpdates: func(_ *throng.World, batch []throng.Update) {
			for _, u := range batch {
				ticks[u.Time.Round(50*time.Millisecond)]++
			}
		}})
		everywhere(a, b)
		for range 300 {
			must(t, a.Spawn(&Walker{}))
		}
		n.Run(5 * time.Second)
		clear(ticks)
		n.Run(3 * time.Second)
		most, all := 0, 0
		for _, c := range ticks {
			most, all = max(most, c), all+c
		}
		if all < 295 || all > 305 || most > 30 {
			t.Errorf("%d values in 3 s, %d in one tick", all, most)
		}
	})
}

// The last value arrives, whatever was lost and though nothing is repeated: it is a slot.
//
// P74: a send that failed waited for the keyframe.
func TestR13LastSampleArrives(t *testing.T) {
	stream(t, func(t *testing.T, n *throngtest.Net) {
		off := throng.Config{Keyframe: throng.Off, MotionKeyframe: throng.Off, MotionHeartbeat: throng.Off}
		a, b := n.Join("a", off), n.Join("b", off)
		everywhere(a, b)
		lossy := throngtest.Link{Latency: 40 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.3}
		n.Shape(a, lossy, lossy)
		n.Shape(b, lossy, lossy)
		w, g := &Walker{}, &Glider{}
		must(t, a.Spawn(w))
		must(t, a.Spawn(g))
		n.Until(5*time.Second, "b sees both", func() bool { return find[Walker](b, w.NetID()) != nil && find[Glider](b, g.NetID()) != nil })
		for range 20 {
			for range 10 {
				w.pose.Pos.X, g.Pos.Y = w.pose.Pos.X+0.7, g.Pos.Y-0.3
				n.Run(100 * time.Millisecond)
			}
			n.Until(5*time.Second, "both are where they stopped", func() bool {
				return find[Walker](b, w.NetID()).pose == w.pose && find[Glider](b, g.NetID()).Pos == g.Pos
			})
		}
	})
}

// B-061: who was put elsewhere jumps; who went a way that nobody walks jumps, too; all others are drawn on the way.
func TestB061Teleport(t *testing.T) {
	stream(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		w := &Walker{}
		must(t, a.Spawn(w))
		n.Step(a, func() { w.pose.Pos.Y += 0.01 })
		n.Until(time.Second, "b sees it", func() bool { return find[Walker](b, w.NetID()) != nil })
		n.Run(2 * time.Second)
		for name, tt := range map[string]struct {
			teleport bool
			way      float64
			jumps    bool
		}{
			"walked":   {false, 10, false},
			"teleport": {true, 10, true},
			"too far":  {false, 1700, true}, // a chunk is 1,600
		} {
			from, jumps, between := w.pose.Pos.X, b.Stats().Motion.Jumps, 0
			if w.pose.Pos.X += tt.way; tt.teleport {
				must(t, a.Teleport(w))
			}
			for range 60 {
				n.Run(throngtest.Frame)
				if x := find[Walker](b, w.NetID()).pose.Pos.X; x > from+0.01 && x < from+tt.way-0.01 {
					between++
				}
			}
			if got := b.Stats().Motion.Jumps-jumps > 0; got != tt.jumps || between > 0 == tt.jumps || find[Walker](b, w.NetID()).pose.Pos.X != w.pose.Pos.X {
				t.Errorf("%s: %d draws on the way, jumped: %v", name, between, got)
			}
			w.pose.Pos.X = 0
			must(t, a.Teleport(w))
			n.Run(time.Second)
		}
		if err := b.Teleport(find[Walker](b, w.NetID())); !errors.Is(err, throng.ErrNotDriver) {
			t.Error(err)
		}
		if err := a.Teleport(&Walker{}); !errors.Is(err, throng.ErrForeign) {
			t.Error(err)
		}
	})
}

// P78: without a word of how to draw it, what streams its position is drawn: the field holds a place on the way, in every frame another.
func TestP78PositionIsDrawnByItself(t *testing.T) {
	stream(t, func(t *testing.T, n *throngtest.Net) {
		reps := 0
		a := n.Join("a", throng.Config{})
		b := n.Join("b", throng.Config{Hooks: []throng.Hook{Gliders.Bind(throng.Hooks[Glider]{OnRep: func(*Glider, throng.Changes) { reps++ }})}})
		everywhere(a, b)
		g := &Glider{Name: "kite"}
		must(t, a.Spawn(g))
		n.Step(a, func() { g.Pos.X += 0.05 }) // 3 a second
		n.Until(time.Second, "b sees it", func() bool { return find[Glider](b, g.NetID()) != nil })
		n.Run(2 * time.Second)
		c := find[Glider](b, g.NetID())
		if c.Name != "kite" {
			t.Error(c.Name)
		}
		last := c.Pos.X
		for range 120 {
			n.Run(throngtest.Frame)
			if d := c.Pos.X - last; d < 0.04 || d > 0.06 {
				t.Fatalf("a step of %v, want 0.05", d)
			}
			last = c.Pos.X
		}
		if reps != 0 {
			t.Errorf("OnRep ran %d times of what is drawn", reps)
		}
		if behind := g.Pos.X - c.Pos.X; behind < 0.3 || behind > 0.9 {
			t.Errorf("drawn %v behind", behind)
		}
	})
}

// A late joiner has the pose in OnSpawn; whoever takes the drive goes on from where it was last, and the former driver sees that drawn.
func TestMotionJoinsAndChangesHands(t *testing.T) {
	stream(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		everywhere(a)
		w := &Walker{pose: Pose{Pos: throng.Vec2{X: 5, Y: 6}, Turn: throng.Rotator{Yaw: 90}, Gait: 3}}
		must(t, a.Spawn(w))
		n.Run(time.Second)
		var met Pose
		b := n.Join("b", throng.Config{Hooks: []throng.Hook{Walkers.Bind(throng.Hooks[Walker]{OnSpawn: func(_ *throng.World, e *Walker, _ bool) { met = e.pose }})}})
		everywhere(b)
		n.Until(time.Second, "b sees it", func() bool { return find[Walker](b, w.NetID()) != nil })
		if met != w.pose {
			t.Errorf("OnSpawn met %+v, want %+v", met, w.pose)
		}
		moving := true
		n.Step(a, func() {
			if moving {
				w.pose.Pos.X += 0.05
			}
		})
		n.Run(time.Second)
		must(t, a.Grant(w, b.Self()))
		var last Pose
		n.Until(time.Second, "b drives", func() bool { last = w.pose; return b.Drives(find[Walker](b, w.NetID())) })
		moving = false
		c := find[Walker](b, w.NetID())
		if d := c.pose.Pos.Dist(last.Pos); d > 0.2 {
			t.Errorf("goes on %v away from where it was", d)
		}
		n.Run(time.Second)
		n.Step(b, func() { c.pose.Pos.Y += 0.05 })
		y := w.pose.Pos.Y
		n.Run(2 * time.Second)
		if w.pose.Pos.Y < y+4 || a.Explain(w).Motion == nil || b.Explain(c).Motion != nil {
			t.Errorf("the former driver sees it at %v, from %v; %v, %v", w.pose, y, a.Explain(w).Motion, b.Explain(c).Motion)
		}
	})
}

// A relay that starts anew has another clock: what moved goes on moving.
func TestMotionOutlivesTheRelay(t *testing.T) {
	stream(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		g := &Glider{}
		must(t, a.Spawn(g))
		n.Step(a, func() { g.Pos.X += 0.05 })
		n.Run(20 * time.Second)
		n.Restart()
		n.Run(10 * time.Second)
		c := find[Glider](b, g.NetID())
		if c == nil {
			t.Fatal("b lost it")
		}
		last := c.Pos.X
		for range 60 {
			n.Run(throngtest.Frame)
			if d := c.Pos.X - last; d < 0.03 || d > 0.07 {
				t.Fatalf("a step of %v", d)
			}
			last = c.Pos.X
		}
	})
}

// B-064: what came, as it came: off unless there is an OnUpdates, switched while the program runs, and told of classes that this build lacks.
func TestB064Updates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, MotionSchema)
		var c came
		a := n.Join("a", throng.Config{})
		lacks := throng.MustSchema(Gliders)
		b, err := throng.Join(t.Context(), n.Addr(), lacks, n.Config("b", throng.Config{OnUpdates: c.take}))
		must(t, err)
		n.Add("b", b)
		everywhere(a, b)
		w, g := &Walker{}, &Glider{}
		must(t, a.Spawn(w))
		must(t, a.Spawn(g))
		n.Step(a, func() { w.pose.Pos.X += 0.1; g.Pos.X += 0.1 })
		n.Run(time.Second)
		ids := map[throng.NetID]throng.Update{}
		for _, u := range c.list {
			ids[u.ID] = u
		}
		uw, ug := ids[w.NetID()], ids[g.NetID()]
		if uw.Class != "walker" || uw.Motion == 0 || len(uw.Bytes) == 0 || ug.Class != "glider" || len(ug.Bytes) != 24 || uw.Motion == ug.Motion || !ug.Timed {
			t.Errorf("%+v, %+v", uw, ug)
		}
		if now, ok := b.RelayTime(); !ok || now-ug.Time > time.Second || ug.Time > now {
			t.Errorf("at %v of %v", ug.Time, now)
		}
		must(t, b.SetSwitch("updates.batch", false))
		c.list = nil
		n.Run(time.Second)
		if len(c.list) != 0 {
			t.Errorf("%d updates while off", len(c.list))
		}
		b.SetUpdates(true)
		n.Run(time.Second)
		if len(c.list) < 15 {
			t.Errorf("%d updates", len(c.list))
		}
	})
}

// P63, P64: a game that does not tick loses poses, not the entity, and what waits is bounded.
func TestP63AGameThatDoesNotTick(t *testing.T) {
	stream(t, func(t *testing.T, n *throngtest.Net) {
		var c came
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{OnUpdates: c.take})
		everywhere(a, b)
		var gs []*Glider
		for range 50 {
			g := &Glider{}
			gs = append(gs, g)
			must(t, a.Spawn(g))
		}
		n.Step(a, func() {
			for _, g := range gs {
				g.Pos.X += 0.05
			}
		})
		n.Run(time.Second)
		n.Forget(b)
		c.list = nil
		n.Run(30 * time.Second)
		n.Add("b", b)
		n.Run(time.Second)
		if len(c.list) > 8192+600 || b.Stats().Motion.Dropped == 0 {
			t.Errorf("%d updates at once, %d dropped", len(c.list), b.Stats().Motion.Dropped)
		}
		for _, g := range gs {
			if d := g.Pos.X - find[Glider](b, g.NetID()).Pos.X; d < 0 || d > 1 {
				t.Fatalf("%v behind", d)
			}
		}
	})
}

// B-071: far away there are fewer samples, and it is drawn later, but as smoothly, and stops where it stopped.
func TestB071ThinnedMotionIsDrawn(t *testing.T) {
	stream(t, func(t *testing.T, n *throngtest.Net) {
		a, near, far := n.Join("a", throng.Config{}), n.Join("near", throng.Config{}), n.Join("far", throng.Config{})
		everywhere(a, near)
		far.SetViewpoints(throng.Vec3{X: 3*100 + 50})
		moving := true
		g := &Glider{Pos: throng.Vec3{X: 50}}
		must(t, a.Spawn(g))
		n.Step(a, func() {
			if moving {
				g.Pos.Y += 0.01
			}
		})
		n.Run(10 * time.Second)
		c := find[Glider](far, g.NetID())
		last := c.Pos.Y
		for range 120 {
			n.Run(throngtest.Frame)
			if d := c.Pos.Y - last; d < 0.008 || d > 0.012 {
				t.Fatalf("a step of %v, want 0.01; %+v", d, far.Explain(c).Motion)
			}
			last = c.Pos.Y
		}
		mn, mf := near.Explain(find[Glider](near, g.NetID())).Motion, far.Explain(c).Motion
		if mn.Interval > 110*time.Millisecond || mf.Interval < 390*time.Millisecond || mf.Interval > 410*time.Millisecond {
			t.Errorf("near %+v, far %+v", mn, mf)
		}
		if d := far.Profile().Decay; d != int(relay.DecayExponential) {
			t.Errorf("the profile shows decay %d", d)
		}
		moving = false
		n.Run(2 * time.Second)
		if c.Pos != g.Pos {
			t.Errorf("stopped at %v, drawn at %v", g.Pos, c.Pos)
		}
	}, throngtest.World(relay.World{ChunkSize: 100, Decay: relay.DecayExponential}))
}
