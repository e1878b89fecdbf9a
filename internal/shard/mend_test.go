package shard

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// told is what a packet says of entities.
type told struct {
	at      time.Duration
	flush   uint32 // 0: nothing of entities
	records map[uint32]bool
}

func (c *crowd) read(w *walker, payload []byte) told {
	t := told{at: c.now, records: map[uint32]bool{}}
	base := grid.Chunk{}
	session.Frames(payload, func(kind byte, body []byte) {
		switch kind {
		case wire.KindFlush:
			f, err := wire.ParseFlush(body, c.s.flush)
			if err != nil {
				panic(err)
			}
			t.flush, base = f.Flush, f.Base
		case wire.KindSegment:
			chunk, _, rest, err := wire.ParseSegment(body, base)
			if err != nil {
				panic(err)
			}
			var r wire.Record
			for walk := wire.Walk(rest, chunk, w.class); walk.Next(&r); {
				t.records[r.Handle] = true
			}
		}
	})
	return t
}

// live plays a crowd in steps of a millisecond over links without delay: changes come shortly before every other flush, the relay runs
// when it asks to, and acks leave when they are due. take says whether a packet arrives.
func (c *crowd) live(d time.Duration, take func(w *walker, payload []byte) bool) {
	for end := c.now + d; c.now < end; c.now += time.Millisecond {
		tick := c.now%(100*time.Millisecond) == 95*time.Millisecond
		for _, w := range c.walkers {
			w.conn.Expire(c.now, w)
			if !w.sess.open || !tick && !w.conn.WantsSend(c.now) {
				continue
			}
			var b []byte
			if tick {
				w.stroll(c)
				b = w.packet(c.now, c.rng.Uint32())
			} else {
				b = w.ack(c.now)
			}
			if err := c.s.Receive(c.now, w.sess, b); err != nil {
				panic(err)
			}
		}
		if c.s.Wake() > c.now {
			continue
		}
		c.out = c.s.Flush(c.now, c.out[:0])
		for _, d := range c.out {
			if w := c.byTo[d.To]; take == nil || take(w, d.Payload()) {
				if err := w.conn.Receive(c.now, d.Payload(), w); err != nil {
					panic(err)
				}
			}
		}
	}
}

// ack is a packet without changes.
func (c *walker) ack(now time.Duration) []byte {
	b := c.conn.AppendReliable(now, c.conn.Begin(now, nil), 1200)
	c.conn.Commit(now, b, false)
	return b
}

// lossy is a crowd whose second walker's path loses packets, or does not, just before a flush.
func lossy(t *testing.T, loses bool) (c *crowd, victim *walker) {
	t.Helper()
	c = newCrowd(100)
	victim = c.walkers[1]
	n := 0
	c.live(4*time.Second, func(w *walker, _ []byte) bool {
		if w == victim {
			n++
		}
		return !loses || w != victim || n%7 != 0
	})
	c.live(90*time.Millisecond, nil)
	if got := victim.sess.conn.Loses(); got != loses {
		t.Fatalf("loses %v", got)
	}
	return c, victim
}

// miss has the victim miss the next packet of changes, and plays on until shortly before the flush after it.
func (c *crowd) miss(victim *walker, then func()) (missed told, after []told) {
	c.live(59*time.Millisecond, func(w *walker, payload []byte) bool {
		t := c.read(w, payload)
		switch {
		case w != victim || t.flush == 0:
			if w != victim && missed.flush != 0 && t.at > missed.at && t.flush != 0 {
				panic("others were told something between two flushes")
			}
		case missed.flush == 0:
			missed = t
			if then != nil {
				then()
			}
			return false
		default:
			after = append(after, t)
		}
		return true
	})
	return missed, after
}

// on a path that loses packets what one of them held is said again at once when its timer is over, under the number of the same
// flush, to nobody else. On a path that loses none it waits for the next flush.
func TestR13LossIsMendedBetweenFlushes(t *testing.T) {
	for _, loses := range []bool{false, true} {
		c, victim := lossy(t, loses)
		knew := map[uint32]bool{}
		missed, after := c.miss(victim, func() {
			victim.sess.pairs.each(func(p *pair) { knew[p.handle] = p.state == known })
		})
		if len(missed.records) < 3 {
			t.Fatalf("it missed %+v", missed)
		}
		if !loses {
			if len(after) > 0 {
				t.Errorf("good path: told %+v", after)
			}
			continue
		}
		if len(after) != 1 || after[0].flush != missed.flush || after[0].at-missed.at > 30*time.Millisecond {
			t.Fatalf("missed %+v, told %+v", missed, after)
		}
		for h := range missed.records {
			if knew[h] && !after[0].records[h] {
				t.Errorf("not told of %d", h)
			}
		}
	}
}

// what changed since the flush has no number before the next one, which tells it. A mend leaves it out.
func TestR02MendTellsNothingNewer(t *testing.T) {
	c, victim := lossy(t, true)
	var other *walker
	missed, after := c.miss(victim, func() {
		for _, w := range c.walkers[2:] {
			if p := victim.sess.pairs.get(w.bind.Handle); p != nil && p.state == known && w.chunk().Distance(victim.chunk()) <= 1 {
				other = w
			}
		}
		if err := c.s.Receive(c.now, other.sess, other.packet(c.now, 7)); err != nil {
			t.Fatal(err)
		}
	})
	if len(after) != 1 || !missed.records[other.bind.Handle] || after[0].records[other.bind.Handle] || len(after[0].records) == 0 {
		t.Fatalf("%d changed; missed %+v, told %+v", other.bind.Handle, missed, after)
	}
	next := false
	c.live(10*time.Millisecond, func(w *walker, payload []byte) bool {
		next = next || w == victim && c.read(w, payload).records[other.bind.Handle]
		return true
	})
	if !next {
		t.Error("the next flush does not tell it either")
	}
}

// while a verdict waits for the next flush nobody is mended.
func TestR31NoMendPastAVerdict(t *testing.T) {
	c, victim := lossy(t, true)
	missed, after := c.miss(victim, func() {
		if !c.s.SetAudience(wire.ID{3}, Audience{Only: true}) {
			t.Fatal("no such entity")
		}
	})
	if len(missed.records) == 0 || len(after) > 0 {
		t.Errorf("missed %+v, told %+v", missed, after)
	}
}

// B-132: who picks what it acks, so that the relay says much again and sooner, is not sent more than a good deal of what it would get.
func TestB132PickedAcksAreNotMendedWithoutEnd(t *testing.T) {
	rate := func(take func(n int) bool) float64 {
		c := newCrowd(100)
		victim := c.walkers[1]
		n, bytes := 0, 0
		c.live(20*time.Second, func(w *walker, payload []byte) bool {
			if w != victim {
				return true
			}
			n++
			bytes += len(payload)
			return take(n)
		})
		return float64(bytes) / 20
	}
	normal := rate(func(int) bool { return true })
	for _, every := range []int{2, 3, 5, 10} {
		if got := rate(func(n int) bool { return n%every != 0 }); got > 3*normal || got > 16<<10 {
			t.Errorf("one of %d is not acked: %.0f B/s, where %.0f would do", every, got, normal)
		} else {
			t.Logf("one of %d is not acked: %.0f B/s, where %.0f would do", every, got, normal)
		}
	}
}

// A packet that was only late is no loss to the budget.
func TestB072LateIsNotLost(t *testing.T) {
	for _, tt := range []struct {
		late bool
		cut  bool
	}{{false, true}, {true, false}} {
		var b budget
		b.init(0, 64<<10)
		spurious := uint64(0)
		for now := judgeEvery; now < 20*time.Second; now += judgeEvery {
			b.acked, b.lost = b.acked+8, b.lost+2
			if tt.late {
				spurious += 2
			}
			b.late(spurious)
			if err := b.judge(now, 50*time.Millisecond, 0); err != nil {
				t.Fatal(err)
			}
		}
		if cut := b.rate < b.full; cut != tt.cut {
			t.Errorf("late %v: rate %.0f of %.0f", tt.late, b.rate, b.full)
		}
	}
}
