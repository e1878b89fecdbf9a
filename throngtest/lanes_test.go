package throngtest_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// beyond the property reach there is a body, which says that it may be old; nearer again it has what changed meanwhile, by one notify, and
// is the same body. Its end is told at any distance.
func TestR36TwoLanes(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a, b := n.Join("a", throng.Config{Keyframe: throng.Off}), n.Join("b", hooks(d.watch()))
		everywhere(b)
		near, far := full("near"), full("far")
		near.Pos, far.Pos = throng.Vec2{X: 50}, throng.Vec2{X: 350}
		must(t, a.Spawn(near))
		must(t, a.Spawn(far))
		n.Until(time.Second, "b has both", sees(near, b))
		n.Until(time.Second, "b has both", sees(far, b)) // a baseline has all
		n.Run(time.Second)
		at := find[Thing](b, far.NetID())
		if x := b.Explain(at); !x.Far {
			t.Errorf("the far one does not say so: %v", x)
		}
		if x := b.Explain(find[Thing](b, near.NetID())); x.Far {
			t.Errorf("the near one says that it is far: %v", x)
		}
		d.clear()
		near.Text, far.Text, far.Big = "changed", "changed", 9
		n.Until(time.Second, "the near one follows", sees(near, b))
		n.Run(2 * time.Second)
		if at.Text != "text" || at.Big == 9 {
			t.Errorf("properties come from beyond their reach: %q, %d", at.Text, at.Big)
		}
		d.want(t, "rep near: Text")
		d.clear()
		b.SetViewpoints(throng.Vec3{X: 250})
		n.Until(time.Second, "it is current", sees(far, b))
		if find[Thing](b, far.NetID()) != at || b.Explain(at).Far {
			t.Error("it is another body, or still far")
		}
		if d.count("rep far: Text Big") != 1 || d.count("spawn") != 0 || d.count("destroy") != 0 {
			t.Errorf("b was told %q", d.lines)
		}
		everywhere(b)
		n.Run(time.Second)
		must(t, a.Destroy(far))
		n.Until(time.Second, "its end is told", gone(far.NetID(), b))
	}, throngtest.World(relay.World{ChunkSize: 100, Reach: 4, PropertyReach: 1, Flat: true}))
}
