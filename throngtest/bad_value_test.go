package throngtest_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// A position that is nowhere stays here, with one line in the log, until it is mended; the other fields go on (B-041, B-070).
func TestNaNPositionStaysHere(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var log logbook
		a := n.Join("a", throng.Config{Logger: log.logger()})
		b := n.Join("b", hooks(Things.Bind(throng.Hooks[Thing]{OnRep: func(e *Thing, c throng.Changes) {
			if !e.Pos.IsFinite() {
				t.Errorf("b was given %v", e.Pos)
			}
		}})))
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			lines := log.count("level=WARN")
			thing.Pos.X = bad
			thing.Big++
			n.Until(time.Second, "the other field", func() bool { return find[Thing](b, thing.NetID()).Big == thing.Big })
			n.Run(10 * time.Second)
			if got := log.count("level=WARN") - lines; got != 1 {
				t.Errorf("%d lines about %v", got, bad)
			}
			if !strings.Contains(log.text(), "Pos") {
				t.Errorf("the log does not name the field: %s", log.text())
			}
			c := n.Join("late", throng.Config{})
			everywhere(c)
			n.Until(time.Second, "a late joiner sees it", func() bool { return find[Thing](c, thing.NetID()) != nil })
			for _, w := range []*throng.World{b, c} {
				if got := find[Thing](w, thing.NetID()).Pos; got != (throng.Vec2{X: 10, Y: -20}) {
					t.Errorf("others have it at %v", got)
				}
			}
			n.Leave(c)
			thing.Pos.X = 10
			n.Run(time.Second)
		}
		thing.Pos.X = 11
		n.Until(time.Second, "b follows again", sees(thing, b))
	})
}

// Strings that are too long are an error at Spawn; later they stay here, with one line in the log, and everything else goes on.
//
// P56, P57: a change too large for a datagram was dropped, with an error in each tick.
func TestOversizeStrings(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var log logbook
		a, b := n.Join("a", throng.Config{Logger: log.logger()}), n.Join("b", throng.Config{})
		everywhere(a, b)
		for _, size := range []int{17 << 10, 1 << 20} {
			long := full("x")
			long.Text = strings.Repeat("x", size)
			if err := a.Spawn(long); err == nil || !long.NetID().IsZero() {
				t.Errorf("Spawn with a string of %d bytes: %v", size, err)
			}
		}
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		for _, sizes := range [][2]int{{17 << 10, 0}, {0, 17 << 10}, {17 << 10, 17 << 10}, {0, 1 << 20}} {
			before := log.count("level=WARN")
			thing.Text, thing.Secret = strings.Repeat("x", sizes[0]), strings.Repeat("y", sizes[1])
			thing.Big++
			n.Until(time.Second, "the other field", func() bool { return find[Thing](b, thing.NetID()).Big == thing.Big })
			n.Run(10 * time.Second)
			if got := log.count("level=WARN") - before; got < 1 || got > 2 {
				t.Errorf("%v: %d lines in the log", sizes, got)
			}
			thing.Text, thing.Secret = "short", "short"
			n.Until(5*time.Second, "short again", sees(thing, b))
			n.Run(time.Second)
		}
		must(t, a.Tick(nil))
		thing.Text = strings.Repeat("z", 500) // fits a record, though it is much
		n.Until(time.Second, "b has it", sees(thing, b))
		c := n.Join("late", throng.Config{})
		everywhere(c)
		n.Until(time.Second, "a late joiner has it", sees(thing, c))
	})
}

// Two builds whose schemas differ in one class: nothing of it is applied, it is counted, all other classes flow (B-028, B-018).
func TestTwoBuilds(t *testing.T) {
	type Door struct {
		throng.Entity
		Open bool  `rep:""`
		Key  int32 `rep:""`
	}
	type Window struct {
		throng.Entity
		N int32 `rep:""`
	}
	type NewDoor struct {
		throng.Entity
		Open bool    `rep:""`
		Key  float64 `rep:""`
	}
	type Only struct {
		throng.Entity
		N int32 `rep:""`
	}
	var (
		oldDoors = throng.NewClass[Door]("door", throng.ClassConfig{})
		newDoors = throng.NewClass[NewDoor]("door", throng.ClassConfig{})
		windows  = throng.NewClass[Window]("window", throng.ClassConfig{})
		only     = throng.NewClass[Only]("only", throng.ClassConfig{})
		oldGame  = throng.MustSchema(oldDoors, windows)
		newGame  = throng.MustSchema(newDoors, windows, only)
	)
	play(t, func(t *testing.T, n *throngtest.Net) {
		join := func(name string, s *throng.Schema, cfg throng.Config) *throng.World {
			w, err := throng.Join(t.Context(), n.Addr(), s, n.Config(name, cfg))
			must(t, err)
			n.Add(name, w)
			return w
		}
		count := func(w *throng.World) (k int) {
			for range w.Entities() {
				k++
			}
			return k
		}
		var log logbook
		a := join("a", oldGame, throng.Config{Logger: log.logger()})
		b := join("b", newGame, throng.Config{})
		c := join("c", newGame, throng.Config{})
		foreign, own, pane, lone := &NewDoor{Key: 1.5}, &Door{Key: 7}, &Window{N: 1}, &Only{N: 1}
		must(t, b.Spawn(foreign))
		must(t, b.Spawn(pane))
		must(t, b.Spawn(lone))
		must(t, a.Spawn(own))
		n.Run(2 * time.Second)
		for i := range 20 {
			foreign.Open, foreign.Key, pane.N, lone.N, own.Key = i%2 == 0, float64(i), int32(i), int32(i), int32(i)
			n.Run(200 * time.Millisecond)
		}
		n.Run(time.Second)
		if got := find[Window](a, pane.NetID()); got == nil || got.N != 19 {
			t.Errorf("another class does not flow: %+v", got)
		}
		if got := find[NewDoor](c, foreign.NetID()); got == nil || got.Key != 19 {
			t.Errorf("between equal builds it does not flow: %+v", got)
		}
		if count(a) != 2 || count(b) != 3 || count(c) != 3 {
			t.Errorf("%d, %d and %d entities are shown, want 2, 3 and 3", count(a), count(b), count(c))
		}
		if a.Stats().Foreign == 0 || b.Stats().Foreign == 0 {
			t.Errorf("counted %d and %d", a.Stats().Foreign, b.Stats().Foreign)
		}
		if got := log.count("door"); got != 1 {
			t.Errorf("%d lines name the class:\n%s", got, log.text())
		}
		if !strings.Contains(log.text(), "Key") {
			t.Errorf("the log does not name the field that differs:\n%s", log.text())
		}
	})
}
