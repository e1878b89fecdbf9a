package shard

import (
	"testing"
	"time"
)

// TestWorkWaitsForTheNextMultiple is R-40: in a crowd a flush is for what came since there was nothing to do. A multiple of the
// interval that passed meanwhile is not made up for: the first change of the next interval would have a flush, and a datagram to every
// observer, for itself.
func TestWorkWaitsForTheNextMultiple(t *testing.T) {
	c := newCrowdIn(120, 60, Config{})
	s := c.s
	for c.now%s.interval() != 0 || s.load < heavy || s.hasWork() {
		c.step()
		if c.now > time.Minute {
			t.Fatal("the crowd does not come to rest")
		}
	}
	for _, ms := range []time.Duration{3, 49, 50, 51, 75, 99} {
		for range 3 { // everybody takes part
			c.step()
		}
		s.load = 10 * heavy
		flushed := s.flushed
		now := flushed + ms*time.Millisecond
		for s.Wake() < now { // acks leave meanwhile
			c.out = s.Flush(s.Wake(), c.out[:0])
		}
		w := c.walkers[1]
		if err := s.Receive(now, w.sess, w.packet(now, uint32(now))); err != nil {
			t.Fatal(err)
		}
		if s.flushed != flushed || !s.hasWork() {
			t.Fatalf("%d ms after the flush at %v: flushed again at %v before anything came, or nothing came: work %v retry %v dirty %d moved %d", ms, flushed, s.flushed, s.work, s.retry, len(s.dirty), len(s.moved))
		}
		want := now
		if rest := want % s.interval(); rest != 0 {
			want += s.interval() - rest
		}
		if got := s.due(); got != want {
			t.Errorf("a change %d ms after the flush leaves %v after it came, want %v", ms, got-now, want-now)
		}
		for s.flushed == flushed {
			at := s.Wake()
			if at > want {
				t.Fatalf("wakes at %v, want %v at last", at, want)
			}
			c.out = s.Flush(at, c.out[:0])
		}
		if s.flushed != want {
			t.Errorf("flushed %v after the change came, want %v", s.flushed-now, want-now)
		}
		c.now = max(c.now, want+s.interval())
	}
}
