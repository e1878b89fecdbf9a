package throngtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// measured is what the up taps of a test count in.
func sizes(payloads [][]byte) (bytes, full int) {
	for _, p := range payloads {
		bytes += len(p)
		if len(p) > 1000 {
			full++
		}
	}
	return bytes, full
}

// All that a client sends in one tick leaves in as few datagrams as fit: spawns, changes, marks (B-073).
//
// P57: what did not fit one datagram was refused.
func TestOneTickFewDatagrams(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		wire := &tap{Dialer: n.Dialer("a")}
		a := n.Join("a", throng.Config{Dialer: wire, Keyframe: throng.Off})
		b := n.Join("b", throng.Config{})
		everywhere(b)
		n.Run(time.Second)
		wire.sent()
		var things []*Thing
		must(t, a.Tick(func() {
			for i := range 100 {
				thing := full(fmt.Sprint(i))
				must(t, a.Spawn(thing))
				things = append(things, thing)
			}
		}))
		spawns := wire.sent()
		bytes, _ := sizes(spawns)
		t.Logf("100 spawns: %d datagrams, %d bytes", len(spawns), bytes)
		if fit := (bytes + 1199) / 1200; len(spawns) > fit+fit/5+1 {
			t.Errorf("%d spawns left in %d datagrams, %d would do for %d bytes", len(things), len(spawns), fit, bytes)
		}
		n.Until(5*time.Second, "b sees all", func() bool { return sees(things[99], b)() && b.Stats().Entities == 100 })
		n.Run(time.Second)
		for range 3 {
			wire.sent()
			changed := false
			n.Step(a, func() {
				if !changed {
					for _, thing := range things {
						thing.Big++
						thing.Lit = !thing.Lit
					}
				}
				changed = true
			})
			n.Run(300 * time.Millisecond)
			if !sees(things[99], b)() {
				t.Error("b does not see the change")
			}
			var carried [][]byte
			for _, p := range wire.sent() {
				if len(p) > 40 { // others are acks
					carried = append(carried, p)
				}
			}
			bytes, _ := sizes(carried)
			t.Logf("100 changes of two fields: %d datagrams, %d bytes", len(carried), bytes)
			if fit := (bytes + 1199) / 1200; len(carried) > fit {
				t.Errorf("100 changes left in %d datagrams, %d would do for %d bytes", len(carried), fit, bytes)
			}
		}
	})
}

// One changed bool of a known entity costs at most 10 bytes in an observer's bundle, the bundle's head excluded (B-031).
//
// P60: one bool cost 207 bytes.
func TestOneBoolCostsLittle(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		wire := &tap{Dialer: n.Dialer("b")}
		a := n.Join("a", throng.Config{Keyframe: throng.Off})
		b := n.Join("b", throng.Config{Dialer: wire})
		everywhere(b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		n.Run(3 * time.Second)
		before := n.Server().Stats().Replication
		thing.Lit = !thing.Lit
		n.Until(time.Second, "b sees the change", sees(thing, b))
		n.Run(20 * time.Millisecond)
		after := n.Server().Stats().Replication
		wire.mu.Lock()
		defer wire.mu.Unlock()
		least := 1 << 20
		for _, p := range wire.down {
			if len(p) > 8 {
				least = min(least, len(p))
			}
		}
		last := wire.down[len(wire.down)-1]
		t.Logf("the packet takes %d bytes, %d flushes", len(last), after.Flushes-before.Flushes)
		if len(last) > 40 {
			t.Errorf("a changed bool came in a packet of %d bytes", len(last))
		}
	})
}

// Spawning N entities never sends them again (B-022).
//
// P52: the first tick shipped every value of every entity again.
func TestSpawnIsNotRepeated(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{Keyframe: throng.Off}), n.Join("b", throng.Config{})
		everywhere(b)
		for range 200 {
			must(t, a.Spawn(full("x")))
		}
		n.Run(5 * time.Second)
		r := n.Server().Stats().Replication
		if s := b.Stats(); s.Entities != 200 || s.Records != 0 || r.Deltas != 0 {
			t.Errorf("%d entities; beside their introductions %d records, %d deltas at the relay", s.Entities, s.Records, r.Deltas)
			t.Logf("%+v %+v", r, s)
		}
	})
}

// After a stall one tick runs, not the backlog (B-023).
func TestStall(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		wire := &tap{Dialer: n.Dialer("a")}
		a := n.Join("a", throng.Config{Dialer: wire, Keyframe: throng.Off})
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Run(time.Second)
		n.Forget(a)
		n.Run(3 * time.Second)
		wire.sent()
		n.Add("a", a)
		n.Step(a, func() { thing.Big++ })
		n.Run(100 * time.Millisecond)
		if sent := wire.sent(); len(sent) > 6 {
			t.Errorf("%d datagrams in 100 ms after a stall", len(sent))
		}
	})
}

// A game may spawn more at once than the reliable window takes: the rest waits, nothing is lost.
func TestSpawnMoreThanTheWindow(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(b)
		var last *Thing
		for i := range 4000 {
			last = full(fmt.Sprint(i))
			must(t, a.Spawn(last))
		}
		n.Until(30*time.Second, "b sees all", func() bool { return sees(last, b)() && b.Stats().Entities == 4000 })
		last.Text = "after all that"
		n.Until(time.Second, "b follows", sees(last, b))
		n.Restart() // now all of them are announced again
		last.Text = "after the restart"
		n.Until(30*time.Second, "b sees all", func() bool { return sees(last, b)() && b.Stats().Entities == 4000 })
		snap, err := n.Server().Snapshot()
		if must(t, err); snap.Worlds[0].Total != 4000 {
			t.Errorf("the relay holds %d", snap.Worlds[0].Total)
		}
	}, settles)
}

// The host leaves a world with more host-owned entities than the window takes: the next one drives all of them.
func TestHostOfThousands(t *testing.T) {
	const many = 3000
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b, c := n.Join("a", throng.Config{}), n.Join("b", throng.Config{}), n.Join("c", throng.Config{})
		everywhere(a, b, c)
		for i := range many {
			must(t, c.Spawn(full(fmt.Sprint(i)), throng.OwnedByHost()))
		}
		driven := func(w *throng.World) (k int) {
			for thing := range Things.All(w) {
				if w.Drives(thing) {
					k++
				}
			}
			return k
		}
		n.Until(30*time.Second, "the host drives all", func() bool { return driven(a) == many })
		n.Run(10 * time.Second)
		n.Leave(a)
		n.Until(10*time.Second, "the next one does", func() bool { return driven(b) == many })
		if got := driven(c); got != 0 {
			t.Errorf("another drives %d too", got)
		}
	})
}
