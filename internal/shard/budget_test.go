package shard

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// A flush of 50 walkers, each with about 20 in reach, allocates nothing: not for the deltas that come, nor for chunks that are
// crossed, introductions and departures, nor for the acks.
func TestSteadyStateDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	c := newCrowd(50)
	for range 400 {
		c.step()
	}
	if n := testing.AllocsPerRun(200, c.step); n != 0 {
		t.Fatalf("%v allocations in a step", n)
	}
}

// Losses belong to the steady state.
func TestLossDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	c := newCrowd(50)
	lossy := func() {
		c.now += 100 * time.Millisecond
		for _, w := range c.walkers {
			if b := w.packet(c.now, c.rng.Uint32()); c.rng.IntN(20) > 0 {
				if err := c.s.Receive(c.now, w.sess, b); err != nil {
					t.Fatal(err)
				}
			}
			w.conn.Expire(c.now, w)
		}
		c.out = c.s.Flush(c.now, c.out[:0])
		for _, d := range c.out {
			if w := c.byTo[d.To]; c.rng.IntN(20) > 0 {
				if err := w.conn.Receive(c.now, d.Payload(), w); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for range 1000 {
		lossy()
	}
	if n := testing.AllocsPerRun(200, lossy); n > 0 {
		t.Fatalf("%v allocations in a step", n)
	}
	if c.s.Stats().Lost == 0 {
		t.Fatal("nothing was lost")
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// nothing is kept for each chunk in reach, of which there are 4,913 at reach 8.
//
// An idle session at the relay, with its end of the session layer and its part of the packet buffers: 3.2 KiB, measured November
// 2026. All 400 ping in the same flush here, which is the worst for the buffers; without them it is 1.6 KiB.
func TestIdleSessionBudget(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory")
	}
	const n, budget = 400, 8 << 10
	before := heap()
	w := newTheatre(t, Config{Settle: -1}, n)
	k := lampClass()
	for _, c := range w.seats {
		c.enter(k)
	}
	for range 300 { // fifteen seconds: what joining took is given back
		w.round()
	}
	for _, c := range w.seats {
		if !c.sess.ready || !c.sess.conn.Quiet() && c.sess.conn.Unacked() > 0 {
			t.Fatal("not idle")
		}
	}
	w.seats, w.out = nil, nil
	got := (heap() - before) / n
	runtime.KeepAlive(w)
	t.Logf("%d bytes a session", got)
	if got > budget {
		t.Fatalf("%d bytes a session, the budget is %d", got, budget)
	}
}

// An entity beside its values: the entity, versions of four slots, its place in the grid and in the tables, its pair with the
// driver. 492 B, measured November 2026.
func TestEntityBudget(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory")
	}
	const n, budget = 4000, 512
	w := newTheatre(t, Config{Settle: -1}, 1)
	c := w.seats[0]
	c.enter(lampClass())
	w.round()
	values := []byte{0, 0, 0, 0, 1, 0, 1, 2, 3, 4}
	spawn := func(from, to int) {
		for i := from; i < to; i++ {
			c.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: wire.ID{1, byte(i), byte(i >> 8)}, Nonce: 1, Class: 1,
				Chunk: grid.Chunk{X: int64(i / 2)}, Mask: 15, Values: values}))
			if i%20 == 0 {
				w.round()
			}
		}
		for range 100 {
			w.round()
		}
		c.binds = map[wire.ID]wire.Entity{}
	}
	spawn(0, 50)
	before := heap()
	spawn(50, 50+n)
	const inValues = 16 + 24 + 8 // what the values take in memory: 9 bytes that are fixed, a slice, one byte
	got := (heap()-before)/n - inValues
	if w.s.Entities() != 50+n {
		t.Fatalf("%d entities", w.s.Entities())
	}
	runtime.KeepAlive(w)
	t.Logf("%d bytes an entity", got)
	if got > budget {
		t.Fatalf("%d bytes an entity, the budget is %d", got, budget)
	}
}

// segments notes the size of the Segment frames that a seat gets.
type segments struct {
	seat
	sizes []int
}

func (s *segments) Frame(pn uint64, kind byte, body []byte) {
	if kind == wire.KindSegment {
		s.sizes = append(s.sizes, session.FrameSize(len(body)))
	}
	s.seat.Frame(pn, kind, body)
}

// B-031: one changed bool of a known entity takes at most 10 bytes in an observer's bundle, its head excluded.
func TestB031OneBool(t *testing.T) {
	for _, tt := range []struct {
		slot   int
		value  []byte
		budget int
	}{{1, []byte{1}, 10}, {0, []byte{1, 2, 3, 4}, 13}} {
		t.Run(fmt.Sprintf("%d bytes", len(tt.value)), func(t *testing.T) {
			w := newTheatre(t, Config{Settle: -1}, 2)
			k := lampClass()
			driver, watcher := w.seats[0], &segments{seat: *w.seats[1]}
			driver.enter(k)
			watcher.enter(k)
			id := wire.ID{1}
			driver.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: id, Nonce: 1, Class: 1, Mask: 15, Values: []byte{0, 0, 0, 0, 0, 0, 1, 2, 3, 4}}))
			for range 10 {
				w.round()
			}
			b := driver.binds[id]
			if !watcher.seen[id] || watcher.sess.pairs.get(b.Handle).state != known {
				t.Fatal("not known")
			}
			var d wire.Deltas
			d.Reset(nil, 1, grid.Chunk{}, driver.nums[k.ID], k)
			d.Begin(&wire.Delta{Handle: b.Handle, Gen: b.Gen, Term: b.Term.N(), Mask: 1 << tt.slot})
			w.now += 50 * time.Millisecond
			if err := w.send(driver, session.AppendFrame(nil, wire.KindDeltas, append(d.B, tt.value...))); err != nil {
				t.Fatal(err)
			}
			w.now += 50 * time.Millisecond
			total := 0
			for _, p := range w.s.Flush(w.now, nil) {
				if p.To == transport.ID(2) {
					total += len(p.Payload())
					if err := watcher.conn.Receive(w.now, p.Payload(), watcher); err != nil {
						t.Fatal(err)
					}
				}
			}
			if len(watcher.sizes) != 1 || watcher.sizes[0] > tt.budget {
				t.Fatalf("segments of %v bytes, want one of at most %d", watcher.sizes, tt.budget)
			}
			t.Logf("%d bytes, in a packet of %d", watcher.sizes[0], total)
		})
	}
	// The worst that a class of eight slots can be: a handle and a class number of full length.
	var s wire.Segment
	s.Reset(wire.AppendChunk(nil, grid.Chunk{}, grid.Chunk{X: 2}), 127, slots8(), grid.Chunk{X: 2})
	s.Begin(wire.MaxHandle, grid.Chunk{X: 2}, 1, wire.Sample{})
	if n := session.FrameSize(len(s.B) + 1); n > 10 {
		t.Errorf("%d bytes for the highest handle", n)
	}
}

func slots8() *wire.Class {
	c := &wire.Class{ID: 1, Hash: 1, Slots: make([]wire.Slot, 8)}
	for i := range c.Slots {
		c.Slots[i].Width = 1
	}
	c.Index()
	return c
}
