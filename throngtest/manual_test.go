package throngtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// Manual fields leave when marked, with the value they have at the sending tick; marks of one tick send once (B-025).
func TestManual(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a := n.Join("a", throng.Config{Keyframe: throng.Off})
		b := n.Join("b", hooks(d.watch()))
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		n.Run(time.Second)
		d.clear()
		c := find[Thing](b, thing.NetID())
		thing.Push, thing.Pulse = 100, 200
		n.Run(3 * time.Second)
		if c.Push != 8 || c.Pulse != 9 {
			t.Errorf("unmarked they left: %d %d", c.Push, c.Pulse)
		}
		must(t, a.MarkDirty(thing, &thing.Push))
		must(t, a.MarkDirty(thing, &thing.Push))
		thing.Push = 101
		n.Until(time.Second, "one field", func() bool { return c.Push == 101 })
		n.Run(time.Second)
		if c.Pulse != 9 {
			t.Error("the other field came along")
		}
		thing.Push = 102
		n.Run(time.Second)
		if c.Push != 101 {
			t.Error("the mark did not clear")
		}
		must(t, a.MarkDirty(thing)) // all manual ones
		n.Until(time.Second, "both", func() bool { return c.Push == 102 && c.Pulse == 200 })
		d.want(t, "rep x: Push", "rep x: Push Pulse")
		before := b.Stats().Records
		must(t, a.MarkDirty(thing)) // unchanged: sent, notifies nobody
		n.Run(time.Second)
		d.want(t, "rep x: Push", "rep x: Push Pulse")
		if b.Stats().Records == before {
			t.Error("marked but unchanged fields were not sent")
		}
	})
}

// MarkDirty where it does nothing, and where it says why not (B-025).
func TestMarkDirtyRefusals(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		thing := full("x")
		must(t, a.MarkDirty(thing)) // not spawned
		must(t, a.Spawn(thing))
		must(t, a.MarkDirty(thing, &thing.Big)) // leaves by itself
		n.Until(time.Second, "b sees it", sees(thing, b))
		if err := b.MarkDirty(find[Thing](b, thing.NetID())); !errors.Is(err, throng.ErrNotDriver) {
			t.Errorf("marking what another drives: %v", err)
		}
		must(t, b.MarkDirty(thing)) // not of this world
		if text := panics(func() { _ = a.MarkDirty(thing, &thing.local) }); text == "" {
			t.Error("marking what is no field does not panic")
		}
		must(t, a.Destroy(thing))
		must(t, a.MarkDirty(thing))
		n.Run(time.Second)
		must(t, a.MarkDirty(thing))
	})
}

// AutoDiffHosted switches diffing on for what the host drives (B-026).
func TestAutoDiffHosted(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		one, two := &Shared{}, &Shared{}
		must(t, a.Place("s", one))
		must(t, b.Place("s", two))
		n.Until(time.Second, "a drives", func() bool { return a.Drives(one) })
		one.N = 5
		n.Until(time.Second, "b follows", func() bool { return two.N == 5 })
	})
}
