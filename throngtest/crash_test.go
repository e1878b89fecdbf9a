package throngtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// A relay that crashes and runs again says nothing on the connections of before. Clients dial a second one after 5 s of silence, beside the
// first, and play goes on within 7 s, long before the 17 s that a connection lives.
func TestRelayCrash(t *testing.T) {
	for _, loss := range []float64{0, 0.1} {
		t.Run(fmt.Sprint("loss", loss), func(t *testing.T) {
			play(t, func(t *testing.T, n *throngtest.Net) {
				n.Run(2 * time.Second) // past the settling of the first start
				ws, diaries, states := make([]*throng.World, 4), make([]diary, 4), make([]diary, 4)
				things := make([]*Thing, 4)
				for i := range ws {
					cfg := diaries[i].tracked(throng.Config{Keyframe: throng.Off})
					cfg.OnState = func(w *throng.World, s throng.ConnState) { states[i].note("%v", s.Phase) }
					ws[i] = n.Join(fmt.Sprint("player", i), cfg)
					n.Shape(ws[i], lossy(loss), lossy(loss))
					everywhere(ws[i])
					things[i] = full(fmt.Sprint("thing", i))
					must(t, ws[i].Spawn(things[i]))
				}
				agree := func() bool {
					for _, thing := range things {
						if !sees(thing, ws...)() || drivers(thing.NetID(), ws...) != 1 {
							return false
						}
					}
					return true
				}
				n.Until(10*time.Second, "all see all", agree)
				n.Run(time.Second)
				began := time.Now()
				n.Crash()
				for i, thing := range things {
					thing.Text = fmt.Sprint("after the crash ", i)
				}
				limit := 7500 * time.Millisecond
				if loss > 0 {
					limit = 12 * time.Second
				}
				n.Until(limit, "play goes on", agree)
				t.Logf("play went on %v after the crash", time.Since(began))
				n.Run(20 * time.Second)
				for i := range ws {
					states[i].want(t, "live", "reconnecting", "live")
					if diaries[i].count("timed out") != 0 {
						t.Errorf("%d was told %q", i, diaries[i].lines)
					}
					if ws[i].Stats().RTT > time.Second || !agree() {
						t.Error("it does not go on")
					}
				}
			}, settles)
		})
	}
}

// A link that is merely broken and comes back keeps its connection: the second one, which may be dialed meanwhile, is let go.
func TestSilentLinkKeepsItsConnection(t *testing.T) {
	for _, cut := range []time.Duration{5100 * time.Millisecond, 6 * time.Second, 8 * time.Second, 11 * time.Second, 13 * time.Second} {
		t.Run(cut.String(), func(t *testing.T) {
			play(t, func(t *testing.T, n *throngtest.Net) {
				var states diary
				carrier := &tap{Dialer: n.Dialer("a")}
				a := n.Join("a", throng.Config{Dialer: carrier, OnState: func(w *throng.World, s throng.ConnState) { states.note("%v", s.Phase) }})
				b := n.Join("b", throng.Config{})
				everywhere(b)
				thing := full("x")
				must(t, a.Spawn(thing))
				n.Until(time.Second, "b sees it", sees(thing, b))
				n.Run(time.Second)
				n.Partition(a, true)
				n.Run(cut)
				n.Partition(a, false)
				n.Run(5 * time.Second)
				states.want(t, "live")
				if !sees(thing, b)() || !a.Drives(thing) {
					t.Error("it does not go on")
				}
				if cut > 6*time.Second && carrier.dials < 2 {
					t.Error("no second connection was dialed")
				}
			})
		})
	}
}

// One direction is enough to be silent, and the new connection replaces the older one at the relay (B-131).
func TestDeafLinkMoves(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		b := n.Join("b", throng.Config{})
		everywhere(a, b)
		thing, other := full("x"), full("y")
		must(t, a.Spawn(thing))
		must(t, b.Spawn(other))
		n.Until(time.Second, "both see both", func() bool { return sees(thing, b)() && sees(other, a)() })
		n.Shape(a, throngtest.Link{}, throngtest.Link{Loss: 1})
		n.Run(7 * time.Second)
		n.Shape(a, throngtest.Link{}, throngtest.Link{})
		n.Until(10*time.Second, "both see both", func() bool {
			other.Big++
			n.Run(300 * time.Millisecond)
			return sees(thing, b)() && sees(other, a)()
		})
		if !a.Drives(thing) {
			t.Error("it does not go on")
		}
	})
}
