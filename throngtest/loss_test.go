package throngtest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

func nan() float64 { return math.NaN() }

func lossy(p float64) throngtest.Link {
	return throngtest.Link{Latency: 30 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: p, Reorder: p / 4, Duplicate: p / 4}
}

// The last value of every slot arrives without another write behind it, whatever was lost. Keyframes are off: they would
// hide a lost write (B-030).
//
// P40: a lost change of a field without heartbeat was never repaired.
func TestLastWriteArrives(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{Keyframe: throng.Off})
		b := n.Join("b", throng.Config{Keyframe: throng.Off})
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Shape(a, lossy(0.4), lossy(0.4))
		n.Shape(b, lossy(0.4), lossy(0.4))
		for i := range 40 {
			thing.Big = int64(i)
			if i%3 == 0 {
				thing.Text = fmt.Sprint(i)
			}
			n.Run(150 * time.Millisecond)
		}
		n.Until(20*time.Second, "b has the last values", sees(thing, b))
	})
}

// A proxy never goes back to an older value, whatever is reordered and doubled.
//
// P41: an older change that came late overwrote a newer value.
func TestValuesNeverGoBack(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		last, seen := int64(-1), 0
		a := n.Join("a", throng.Config{Rate: 60})
		b := n.Join("b", hooks(Things.Bind(throng.Hooks[Thing]{OnRep: func(e *Thing, c throng.Changes) {
			if !c.Has(&e.Big) {
				return
			}
			if seen++; e.Big <= last {
				t.Errorf("%d after %d", e.Big, last)
			}
			last = e.Big
		}})))
		everywhere(a, b)
		thing := full("x")
		thing.Big = 0
		must(t, a.Spawn(thing))
		link := throngtest.Link{Latency: 40 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.1, Reorder: 0.3, Duplicate: 0.3}
		n.Shape(a, link, link)
		n.Shape(b, link, link)
		n.Step(a, func() { thing.Big++ })
		n.Run(20 * time.Second)
		n.Step(a, nil)
		n.Until(5*time.Second, "b has the last value", sees(thing, b))
		if seen < 100 {
			t.Errorf("only %d changes seen", seen)
		}
	})
}

// The same script ends in the same state with perfect links and with 20 % loss.
func TestLossChangesNothingInTheEnd(t *testing.T) {
	run := func(loss float64) (end []string) {
		play(t, func(t *testing.T, n *throngtest.Net) {
			rng := rand.New(rand.NewPCG(7, 7))
			var ws []*throng.World
			for i := range 4 {
				w := n.Join(fmt.Sprint("player", i), throng.Config{Keyframe: throng.Off})
				everywhere(w)
				n.Shape(w, lossy(loss), lossy(loss))
				ws = append(ws, w)
			}
			n.Run(time.Second)
			mine := make([][]*Thing, len(ws))
			for step := range 400 {
				i := rng.IntN(len(ws))
				w, pick := ws[i], rng.IntN(10)
				switch {
				case pick < 2 || len(mine[i]) == 0:
					thing := full(fmt.Sprint("thing", step))
					must(t, w.Spawn(thing, throng.WithID(throng.StableID(thing.Name))))
					mine[i] = append(mine[i], thing)
				case pick == 2:
					must(t, w.Destroy(mine[i][0]))
					mine[i] = mine[i][1:]
				case pick == 3:
					thing := mine[i][rng.IntN(len(mine[i]))]
					thing.Push = int32(step)
					must(t, w.MarkDirty(thing, &thing.Push))
				default:
					thing := mine[i][rng.IntN(len(mine[i]))]
					thing.Pos = throng.Vec2{X: rng.Float64() * 1000, Y: float64(step)}
					thing.Lit, thing.Big = step%2 == 0, int64(step)
					thing.Text = fmt.Sprint("text", step)
				}
				n.Run(50 * time.Millisecond)
			}
			n.Run(15 * time.Second)
			for i, w := range ws {
				var all []string
				for thing := range Things.All(w) {
					all = append(all, thing.state())
				}
				slices.Sort(all)
				if i == 0 {
					end = all
				} else if !slices.Equal(all, end) {
					t.Errorf("loss %v: player %d holds\n%q\nplayer 0\n%q", loss, i, all, end)
				}
			}
		})
		return end
	}
	perfect, bad := run(0), run(0.2)
	if !slices.Equal(perfect, bad) || len(perfect) < 20 {
		t.Errorf("without loss it ends with\n%q\nwith loss\n%q", perfect, bad)
	}
}

// Links that go bad in runs, with everything a path can do.
func TestHostilePath(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{Keyframe: throng.Off}), n.Join("b", throng.Config{Keyframe: throng.Off})
		everywhere(a, b)
		link := throngtest.Mobile
		link.Loss, link.Reorder, link.Duplicate = 0.15, 0.2, 0.2
		n.Shape(a, link, link)
		n.Shape(b, link, link)
		var things []*Thing
		for i := range 30 {
			thing := full(fmt.Sprint(i))
			must(t, a.Spawn(thing))
			things = append(things, thing)
		}
		for i := range 200 {
			things[i%30].Big = int64(i)
			n.Run(50 * time.Millisecond)
		}
		for i := range 10 {
			must(t, a.Destroy(things[i]))
		}
		n.Until(20*time.Second, "b agrees", func() bool {
			count := 0
			for range Things.All(b) {
				count++
			}
			for _, thing := range things[10:] {
				if !sees(thing, b)() {
					return false
				}
			}
			return count == 20
		})
	})
}
