package throngtest_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// TestR03EventsEndWithTheirWorld: nothing that was said in a world is heard in the next, whoever left, and events go on there.
func TestR03EventsEndWithTheirWorld(t *testing.T) {
	ended := uint64(0)
	talk(t, func(t *testing.T, n *throngtest.Net) {
		var ea, eb ear
		cfg := eb.hooks()
		at, to := "test", "test"
		cfg.OnState = func(w *throng.World, s throng.ConnState) {
			if s.Phase == throng.Live {
				at = to
			}
		}
		cfg.Hooks = append(cfg.Hooks, Whisps.Handle(func(i throng.EventInfo, v int32) {
			if at == "next" && v < 1000 {
				t.Errorf("b hears %d in the next world", v)
			}
		}))
		a, b := n.Join("a", ea.hooks()), n.Join("b", cfg)
		everywhere(a, b)
		n.Run(time.Second)
		bad := throngtest.Link{Latency: 50 * time.Millisecond, Loss: 0.3}
		n.Shape(b, bad, bad)
		for trip := range 20 { // events are under way to b, and from it, whenever it leaves
			to = []string{"next", "test"}[trip%2]
			for i := range int32(6) {
				must(t, Whisps.ToWorld(a, i))
				if i < 5 {
					must(t, Whisps.ToWorld(b, 1000+i))
				}
				n.Run(20 * time.Millisecond)
			}
			must(t, b.Travel(to))
			n.Until(10*time.Second, "arrived", func() bool { return at == to })
			n.Run(2 * time.Second)
		}
		eb.clear()
		n.Run(20 * time.Second)
		ended += b.Stats().EventsEnded + b.Stats().EventsUndelivered
		n.Shape(b, throngtest.Link{}, throngtest.Link{})
		c := n.Join("c", func() throng.Config { cfg := hooks(); cfg.World = "test"; return cfg }())
		n.Run(time.Second)
		must(t, Whisps.ToWorld(c, 7))
		n.Until(2*time.Second, "b hears in the world it is in", eb.has("whisper 7"))
	})
	if ended == 0 {
		t.Error("no event ended: the test shows nothing")
	}
}

// TestR03EventsOfATravellerAreHeardOrTold: what a client says just before it travels, over a path that loses, is heard or comes back with a
// reason: nothing ends in silence.
func TestR03EventsOfATravellerAreHeardOrTold(t *testing.T) {
	talk(t, func(t *testing.T, n *throngtest.Net) {
		var eb ear
		told, said := 0, 0
		at, to := "test", "test"
		cfg := hooks()
		cfg.OnUndelivered = func(_ *throng.World, u throng.Undelivered) {
			if u.Why != throng.UndeliveredTravel {
				t.Errorf("told %+v", u)
			}
			told++
		}
		cfg.OnState = func(w *throng.World, s throng.ConnState) {
			if s.Phase == throng.Live {
				at = to
			}
		}
		a, b := n.Join("a", cfg), n.Join("b", eb.hooks())
		everywhere(a, b)
		n.Run(2 * time.Second)
		bad := throngtest.Link{Latency: 30 * time.Millisecond, Loss: 0.3}
		n.Shape(a, bad, bad)
		for range 30 {
			for range 3 {
				e := full("new")
				must(t, a.Spawn(e))
				must(t, Whisps.ToWorld(a, int32(said), e))
				said++
				n.Run(10 * time.Millisecond)
			}
			to = "next"
			must(t, a.Travel(to))
			n.Until(10*time.Second, "arrived", func() bool { return at == to })
			n.Run(time.Second)
			to = "test"
			must(t, a.Travel(to))
			n.Until(10*time.Second, "arrived", func() bool { return at == to })
			n.Run(time.Second)
		}
		n.Run(10 * time.Second)
		if heard := len(eb.lines); heard+told != said || heard == 0 || told == 0 {
			t.Errorf("%d events: %d heard, %d told", said, heard, told)
		}
	})
}
