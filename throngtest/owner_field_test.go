package throngtest_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// The bytes of an owner field never go to a third client, whatever the path: spawn, delta, keyframe, baseline, resend (B-024).
//
// P43, P44: owner fields were broadcast by the host, or addressed to nobody.
func TestOwnerFieldsNeverReachAThirdClient(t *testing.T) {
	const spawned, changed = "owner-value-of-the-spawn", "owner-value-of-a-delta"
	play(t, func(t *testing.T, n *throngtest.Net) {
		wire := map[string]*tap{}
		join := func(name string) *throng.World {
			wire[name] = &tap{Dialer: n.Dialer(name)}
			w := n.Join(name, throng.Config{Dialer: wire[name]})
			n.Shape(w, lossy(0.1), lossy(0.1))
			everywhere(w)
			return w
		}
		a, b := join("a"), join("b")
		thing := full("x")
		thing.Secret, thing.Text = spawned, "public-value"
		must(t, b.Spawn(thing))
		n.Until(5*time.Second, "a sees it", sees(thing, a))
		thing.Secret, thing.Fuel = changed, 123
		thing.Beat++
		n.Until(5*time.Second, "a sees the rest", sees(thing, a))
		late := join("late")
		n.Until(5*time.Second, "a late joiner sees it", sees(thing, late))
		n.Run(10 * time.Second)
		for _, w := range []*throng.World{a, late} {
			if c := find[Thing](w, thing.NetID()); c.Secret != "" || c.Fuel != 0 {
				t.Errorf("a proxy holds %q and %v", c.Secret, c.Fuel)
			}
		}
		for name, w := range wire {
			if name != "b" && (w.carried(spawned) || w.carried(changed)) {
				t.Errorf("an owner field was sent to %s", name)
			}
			if name != "b" && !w.carried("public-value") {
				t.Errorf("the tap at %s shows nothing: this test proves nothing", name)
			}
		}
	})
}

// Owner fields come back to the owner that comes back: the relay keeps them (B-024).
func TestOwnerFieldsAreKept(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		thing := full("x")
		must(t, b.Spawn(thing))
		n.Until(time.Second, "a sees it", sees(thing, a))
		thing.Secret = "newer"
		n.Run(time.Second)
		snap, err := n.Server().Snapshot()
		must(t, err)
		for _, e := range snap.Worlds[0].Entities {
			for i, s := range snap.Worlds[0].Classes[e.Class].Slots {
				if s.Name == "Secret" && string(e.Values[i]) != "\x05newer" {
					t.Errorf("the relay holds %q", e.Values[i])
				}
			}
		}
	})
}
