package throngtest_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// Who comes late holds everything, slots that changed since the spawn and slots that did not, on the first tick it has the
// entity, and is told by one OnSpawn (B-030, B-052).
func TestLateJoinerIsComplete(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{Keyframe: throng.Off})
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Run(time.Second)
		thing.Pos, thing.Lit, thing.Glow, thing.Text, thing.Big = throng.Vec2{X: 1, Y: 2}, false, Glow{9, 2}, "later", 1<<60
		thing.Beat, thing.Push, thing.Pulse = 70, 80, 90
		must(t, a.MarkDirty(thing))
		n.Run(time.Minute)
		var atB diary
		b := n.Join("b", throng.Config{Hooks: []throng.Hook{atB.watch(), Things.Bind(throng.Hooks[Thing]{
			OnSpawn: func(w *throng.World, e *Thing, local bool) {
				if e.state() != thing.state() {
					t.Errorf("at OnSpawn the proxy is\n\t%s, want\n\t%s", e.state(), thing.state())
				}
				if e.Fuel != 0 || e.Secret != "" {
					t.Errorf("owner fields came along: %v %q", e.Fuel, e.Secret)
				}
			}})}})
		everywhere(b)
		n.Until(time.Second, "b sees it", sees(thing, b))
		n.Run(time.Second)
		atB.want(t, "spawn x local=false")
	})
}

// Manual fields that were not marked are not part of what others know, late joiners either (B-025).
func TestLateJoinerDoesNotSeeWhatWasNotSent(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Run(time.Second)
		thing.Push, thing.Text = 99, "sent"
		n.Run(time.Second)
		b := n.Join("b", throng.Config{})
		everywhere(b)
		n.Until(time.Second, "b sees it", func() bool { return find[Thing](b, thing.NetID()) != nil })
		if c := find[Thing](b, thing.NetID()); c.Push != 8 || c.Text != "sent" {
			t.Errorf("Push %d, Text %q", c.Push, c.Text)
		}
	})
}

// The same after a restart of the late joiner itself, under loss, and for many entities at once.
func TestLateJoinerUnderLoss(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{Keyframe: throng.Off})
		var things []*Thing
		for i := range 300 {
			thing := full("x")
			thing.Big = int64(i)
			must(t, a.Spawn(thing))
			things = append(things, thing)
		}
		n.Run(2 * time.Second)
		for i, thing := range things {
			thing.Text = string(rune('A' + i%26))
		}
		n.Run(time.Second)
		b := n.Join("b", throng.Config{Keyframe: throng.Off})
		n.Shape(b, lossy(0.2), lossy(0.2))
		everywhere(b)
		n.Until(20*time.Second, "b sees all", func() bool {
			for _, thing := range things {
				if !sees(thing, b)() {
					return false
				}
			}
			return true
		})
	})
}
