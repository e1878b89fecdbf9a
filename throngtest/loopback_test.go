package throngtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// One client alone runs the receive path on what it sends: the mirror is a proxy without an owner, in Find and hooks, made at the
// first delta, with init fields; manual fields come when they are marked (B-121).
func TestLoopback(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var seen diary
		type told struct {
			text string
			role throng.Role
		}
		var spawned []told
		w := n.Join("a", throng.Config{Loopback: true, Keyframe: throng.Off, Hooks: []throng.Hook{seen.watch(), Things.Bind(throng.Hooks[Thing]{
			OnSpawn: func(w *throng.World, e *Thing, local bool) {
				if !local {
					spawned = append(spawned, told{fmt.Sprint(e.Name, e.Text, e.Big, e.Push, e.Owner().IsZero(), w.Drives(e)), e.Role()})
				}
			},
		})}})
		everywhere(w)
		thing := full("x")
		must(t, w.Spawn(thing))
		n.Run(time.Second)
		seen.want(t, "spawn x local=true") // nothing has been sent of it but its announcement
		thing.Text = "changed"
		n.Run(time.Second)
		seen.want(t, "spawn x local=true", "spawn x local=false", "rep x: Text")
		o, ok := w.Mirror(thing)
		if !ok {
			t.Fatal("no mirror")
		}
		mirror := o.(*Thing)
		if found, ok := w.Find(mirror.NetID()); !ok || found != o || mirror == thing || mirror.NetID() == thing.NetID() {
			t.Error("it is not in Find, or it is the original")
		}
		if len(spawned) != 1 || spawned[0] != (told{fmt.Sprint("x", "changed", thing.Big, 0, true, false), throng.RoleProxy}) {
			t.Errorf("%+v", spawned)
		}
		if mirror.Text != "changed" || mirror.Maker != thing.Maker || mirror.Pos != thing.Pos || mirror.Push != 0 || mirror.local != 0 {
			t.Error(mirror.state())
		}
		seen.clear()

		thing.Push = 99 // manual
		n.Run(time.Second)
		seen.want(t)
		must(t, w.MarkDirty(thing, &thing.Push))
		n.Run(time.Second)
		seen.want(t, "rep x: Push")
		if mirror.Push != 99 {
			t.Error(mirror.Push)
		}
		must(t, w.MarkDirty(thing, &thing.Push)) // sent, and no change
		n.Run(time.Second)
		seen.want(t, "rep x: Push")

		// It is not the game's to command.
		if err := w.Destroy(mirror); err == nil {
			t.Error("a mirror was destroyed")
		}
		if err := w.MarkDirty(mirror); err == nil {
			t.Error("a mirror was marked")
		}
		for o := range w.OwnedBy(throng.PlayerID{}) {
			t.Errorf("the host has %v", o)
		}
		if x := w.Explain(mirror); !x.Mirror || x.LastSent != -1 {
			t.Error(x)
		}
		if got := w.Stats().Entities; got != 1 {
			t.Errorf("%d entities", got)
		}
		seen.clear()
		must(t, w.Destroy(thing))
		n.Run(time.Second)
		seen.want(t, "destroy x: destroyed local=true", "destroy x: destroyed local=false")
		if _, ok := w.Find(mirror.NetID()); ok || mirror.Role() != throng.RoleNone {
			t.Error("the mirror stays")
		}
	})
}

// Others hear nothing of mirrors.
func TestMirrorsAreNotSent(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{Loopback: true}), n.Join("b", throng.Config{})
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		for range 30 {
			thing.Big++
			n.Run(100 * time.Millisecond)
		}
		n.Until(time.Second, "b follows", sees(thing, b))
		if got := b.Stats().Entities; got != 1 {
			t.Errorf("b holds %d", got)
		}
		if snap, err := n.Server().Snapshot(); err != nil || len(snap.Worlds[0].Entities) != 1 {
			t.Error("the relay holds another number than 1", err)
		}
		m, _ := a.Mirror(thing)
		if m == nil || m.(*Thing).Big != thing.Big {
			t.Error("the mirror does not follow")
		}
		if _, ok := a.Mirror(m); ok {
			t.Error("a mirror of the mirror")
		}
	})
}

// Loopback is switched at run time, stays through a reconnect, and a mirror leaves with the drive.
func TestLoopbackComesAndGoes(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var seen diary
		a := n.Join("a", hooks(seen.watch()))
		everywhere(a)
		thing := full("x")
		must(t, a.Spawn(thing))
		change := func() { thing.Big++; n.Run(time.Second) }
		change()
		if _, ok := a.Mirror(thing); ok {
			t.Error("a mirror, with loopback off")
		}
		a.SetLoopback(true)
		change()
		m, ok := a.Mirror(thing)
		if !ok {
			t.Fatal("no mirror")
		}
		n.Partition(a, true)
		n.Run(20 * time.Second)
		n.Partition(a, false)
		n.Run(20 * time.Second)
		change()
		if again, ok := a.Mirror(thing); !ok || again != m || m.(*Thing).Big != thing.Big {
			t.Error("another mirror after a reconnect")
		}
		a.SetLoopback(false)
		n.Run(time.Second)
		if _, ok := a.Mirror(thing); ok || seen.count("destroy x: out of reach local=false") != 1 {
			t.Errorf("%q", seen.lines)
		}
		a.SetLoopback(true)
		change()
		if next, ok := a.Mirror(thing); !ok || next == m {
			t.Error("no new mirror")
		}
		for range 3 { // many a tick
			for range 7 {
				thing.Big++
				thing.Text += "x"
				n.Run(10 * time.Millisecond)
			}
		}
		n.Run(time.Second)
		if next, _ := a.Mirror(thing); next.(*Thing).Text != thing.Text {
			t.Error("the mirror is behind")
		}
	})
}

// What the host drives is mirrored when it is marked.
func TestLoopbackOfHosted(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{Loopback: true, Keyframe: throng.Off})
		everywhere(a)
		gate := full("gate")
		must(t, a.Place("gate", gate))
		n.Until(3*time.Second, "a drives it", func() bool { return a.Drives(gate) })
		gate.Big, gate.Text = 5, "not marked"
		n.Run(time.Second)
		if _, ok := a.Mirror(gate); ok {
			t.Error("a mirror of what was not sent")
		}
		must(t, a.MarkDirty(gate, &gate.Big))
		n.Run(time.Second)
		o, ok := a.Mirror(gate)
		if !ok {
			t.Fatal("no mirror")
		}
		if m := o.(*Thing); m.Big != 5 || m.Text != "" || m.Name != "gate" {
			t.Error(m.state())
		}
	})
}
