package throngtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// Heartbeat fields are repeated at the interval; those that repeat what is held notify nobody (B-015, B-027).
func TestKeyframesRepeatWithoutNotify(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a := n.Join("a", throng.Config{Keyframe: 500 * time.Millisecond})
		b := n.Join("b", hooks(d.watch()))
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		n.Run(time.Second)
		d.clear()
		before := b.Stats()
		n.Run(10 * time.Second)
		if got := b.Stats().Records - before.Records; got < 19 || got > 21 { // the tick nearest to each 500 ms
			t.Errorf("%d keyframes in 10 s, want 20", got)
		}
		d.want(t)
		// A keyframe carries current values, manual ones too, and is then done with their marks.
		thing.Pulse = 77
		n.Until(time.Second, "b has it", func() bool { return find[Thing](b, thing.NetID()).Pulse == 77 })
		d.want(t, "rep x: Pulse")
	})
}

// Off means none; then nothing at all is sent while nothing changes (B-020, B-027).
func TestNothingChangedNothingSent(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{Keyframe: throng.Off})
		b := n.Join("b", throng.Config{})
		everywhere(a, b)
		for range 20 {
			must(t, a.Spawn(full("x")))
		}
		n.Run(2 * time.Second)
		before := b.Stats().Records
		n.Run(time.Minute)
		if got := b.Stats().Records - before; got != 0 {
			t.Errorf("%d records about nothing", got)
		}
	})
}

// Beacon and QuietBeacon are the same but for the class's own switch.
type Beacon struct {
	throng.Entity
	N int32 `rep:"heartbeat"`
}

type QuietBeacon struct {
	throng.Entity
	N int32 `rep:"heartbeat"`
}

var (
	Beacons      = throng.NewClass[Beacon]("beacon", throng.ClassConfig{})
	QuietBeacons = throng.NewClass[QuietBeacon]("quiet beacon", throng.ClassConfig{NoHeartbeat: true})
	BeaconSchema = throng.MustSchema(Beacons, QuietBeacons)
)

// Keyframes are off for a world, a client, a class or one entity; changes go on (B-027).
func TestKeyframesOff(t *testing.T) {
	for name, off := range map[string]struct {
		world relay.World
		cfg   throng.Config
		spawn func(w *throng.World) error
		some  bool
	}{
		"on":     {spawn: func(w *throng.World) error { return w.Spawn(&Beacon{}) }, some: true},
		"world":  {world: relay.World{Keyframe: -1}, spawn: func(w *throng.World) error { return w.Spawn(&Beacon{}) }},
		"client": {cfg: throng.Config{Keyframe: throng.Off}, spawn: func(w *throng.World) error { return w.Spawn(&Beacon{}) }},
		"class":  {spawn: func(w *throng.World) error { return w.Spawn(&QuietBeacon{}) }},
		"entity": {spawn: func(w *throng.World) error { return w.Spawn(&Beacon{}, throng.WithoutHeartbeat()) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := throngtest.New(t, BeaconSchema, throngtest.World(off.world))
				a, b := n.Join("a", off.cfg), n.Join("b", throng.Config{})
				must(t, off.spawn(a))
				n.Run(2 * time.Second)
				before := b.Stats()
				if before.Entities != 1 {
					t.Fatalf("b holds %d entities", before.Entities)
				}
				n.Run(20 * time.Second)
				if got := b.Stats().Records - before.Records; (got > 0) != off.some {
					t.Errorf("%d keyframes in 20 s", got)
				}
				for o := range a.Entities() {
					switch e := o.(type) {
					case *Beacon:
						e.N = 7
					case *QuietBeacon:
						e.N = 7
					}
				}
				n.Until(time.Second, "a change goes on", func() bool {
					for o := range b.Entities() {
						switch e := o.(type) {
						case *Beacon:
							return e.N == 7
						case *QuietBeacon:
							return e.N == 7
						}
					}
					return false
				})
			})
		})
	}
}

// Keyframes of many entities are spread over the interval by id (B-027).
//
// P55: all heartbeats fell on one tick.
func TestKeyframesAreSpread(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{Keyframe: 2 * time.Second}), n.Join("b", throng.Config{})
		everywhere(a, b)
		for range 200 {
			must(t, a.Spawn(full("x")))
		}
		n.Run(4 * time.Second)
		last, most := b.Stats().Records, uint64(0)
		for range 40 {
			n.Run(100 * time.Millisecond)
			now := b.Stats().Records
			most, last = max(most, now-last), now
		}
		if most > 40 { // 10 a tick on average
			t.Errorf("%d of 200 keyframes in one tick of 20", most)
		}
	})
}
