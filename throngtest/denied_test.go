package throngtest_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// R-25 beside R-31: who placed an entity and may not know of it any more keeps its body, which nothing moves, and hears when the entity is
// destroyed, over a bad path too: it made the body and the id itself. Of what it did not place it hears nothing.
func TestR25DeniedPlacersHearOfTheEnd(t *testing.T) {
	clubTest(t, func(t *testing.T, n *throngtest.Net) {
		var atB, atC diary
		tc := &tap{Dialer: n.Dialer("c")}
		a := n.Join("a", throng.Config{})
		b, c := n.Join("b", hooks(atB.watch())), n.Join("c", throng.Config{Dialer: tc, Hooks: []throng.Hook{atC.watch()}})
		everywhere(a, b, c)
		one, two := full("door"), full("door")
		must(t, a.Place("door", one))
		must(t, b.Place("door", two))
		n.Run(time.Second)
		must(t, a.Groups().Join("red"))
		n.Until(time.Second, "a is in the group", func() bool { return a.Groups().Has("red") })
		must(t, a.Groups().Restrict(one, "red"))
		n.Run(time.Second)
		one.Text = "secret"
		must(t, a.MarkDirty(one, &one.Text))
		n.Shape(b, throngtest.Link{Loss: 0.3}, throngtest.Link{Loss: 0.3})
		n.Run(2 * time.Second)
		if two.Text != "text" || atB.count("destroy") != 0 {
			t.Errorf("who may not know of it holds %q, was told %q", two.Text, atB.lines)
		}
		id := one.NetID()
		must(t, a.Destroy(one))
		n.Until(5*time.Second, "b's body leaves", gone(id, b))
		n.Run(time.Second)
		atB.want(t, "spawn door local=true", "destroy door: destroyed local=false")
		if raw := id.Bytes(); tc.carried(string(raw[:])) || len(atC.lines) != 0 {
			t.Errorf("who did not place it was told of it: %q", atC.lines)
		}
	}, open())
}
