package throngtest_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// Init fields go with the spawn: a change afterwards stays here, for those who have the entity and for those who come late
// (B-011, B-052).
func TestInitGoesWithTheSpawnOnly(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a, b := n.Join("a", throng.Config{}), n.Join("b", hooks(d.watch()))
		everywhere(a, b)
		thing := full("first")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		thing.Name = "second"
		must(t, a.MarkDirty(thing, &thing.Name))
		must(t, a.MarkDirty(thing))
		n.Run(5 * time.Second)
		c := n.Join("c", throng.Config{})
		everywhere(c)
		n.Until(time.Second, "c sees it", func() bool { return find[Thing](c, thing.NetID()) != nil })
		for _, w := range []*throng.World{b, c} {
			if got := find[Thing](w, thing.NetID()); got.Name != "first" || got.Maker != thing.Maker {
				t.Errorf("a proxy has %q, %v", got.Name, got.Maker)
			}
		}
		if d.count("rep") != 0 {
			t.Errorf("b was told %q", d.lines)
		}
	})
}
