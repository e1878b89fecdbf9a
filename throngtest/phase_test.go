package throngtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// Clock carries the time at which it was written.
type Clock struct {
	throng.Entity
	Wrote int64 `rep:""`
}

var (
	Clocks      = throng.NewClass[Clock]("clock", throng.ClassConfig{})
	ClockSchema = throng.MustSchema(Clocks)
)

// TestPhaseLockShortensTheWait is R-40: among many clients, whose changes the relay gathers, those that aim at its flush are seen
// sooner, and in fewer packets.
func TestPhaseLockShortensTheWait(t *testing.T) {
	run := func(off bool) (mean time.Duration, packets uint64) {
		synctest.Test(t, func(t *testing.T) {
			n := throngtest.New(t, ClockSchema)
			var waits []time.Duration
			measure := false
			hooks := []throng.Hook{Clocks.Bind(throng.Hooks[Clock]{OnRep: func(c *Clock, _ throng.Changes) {
				if measure {
					waits = append(waits, time.Since(time.Unix(0, c.Wrote)))
				}
			}})}
			for i := range 30 {
				w := n.Join(string(rune('A'+i)), throng.Config{NoPhaseLock: off, Hooks: hooks})
				n.Shape(w, throngtest.Link{Latency: 5 * time.Millisecond}, throngtest.Link{Latency: 5 * time.Millisecond})
				c := &Clock{}
				if err := w.Spawn(c); err != nil {
					t.Fatal(err)
				}
				n.Step(w, func() { c.Wrote = time.Now().UnixNano() })
				n.Run(7 * time.Millisecond) // so that ticks fall anywhere
			}
			n.Run(5 * time.Second)
			measure = true
			before := n.Server().Stats()
			n.Run(5 * time.Second)
			after := n.Server().Stats()
			packets = after.Replication.Packets - before.Replication.Packets
			for _, d := range waits { // a median would be a whole number of frames
				mean += d / time.Duration(len(waits))
			}
		})
		return mean, packets
	}
	free, freePackets := run(true)
	locked, lockedPackets := run(false)
	t.Logf("mean wait %v free, %v locked; packets %d and %d", free, locked, freePackets, lockedPackets)
	if locked >= free || lockedPackets > freePackets {
		t.Errorf("locked ticks wait %v in %d packets, free ones %v in %d", locked, lockedPackets, free, freePackets)
	}
}
