package throngtest_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/throngtest"
)

// An event that is sent once leaves in the same packet as changes of the same flush: neither swallows the other. (It once stood inside the
// frame of the changes.)
func TestB100OnceBesideChanges(t *testing.T) {
	talk(t, func(t *testing.T, n *throngtest.Net) {
		var ea, eb ear
		a, b := n.Join("a", ea.hooks()), n.Join("b", eb.hooks())
		everywhere(a, b)
		thing := full("lamp")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		n.Run(time.Second)
		for i := range 20 {
			wait := true
			n.Step(a, func() {
				if wait {
					thing.Big++
					must(t, Quick.ToReach(a, thing, Say{N: int32(i)}))
				}
				wait = false
			})
			n.Run(300 * time.Millisecond)
			if len(eb.calls) != i+1 || !sees(thing, b)() {
				t.Fatalf("after %d: %d heard, the change is there %v", i+1, len(eb.calls), sees(thing, b)())
			}
		}
		if s := b.Stats(); s.Malformed != 0 || s.Unknown != 0 {
			t.Errorf("%d malformed, %d unknown", s.Malformed, s.Unknown)
		}
	})
}
