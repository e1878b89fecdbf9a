package shard

import (
	"math"
	"slices"
	"testing"
	"time"
)

// crush plays a crowd in which everybody changes at 10 Hz and returns the ages that the observers' copies had, sampled after each step,
// of those in the same chunk and of all in reach, and what an observer was sent a second.
func (c *crowd) crush(steps int, watch int) (near, all, nearest []time.Duration, rate float64) {
	bytes := 0
	for i := range steps {
		for _, w := range c.walkers {
			w.stroll(c)
			if err := c.s.Receive(c.now, w.sess, w.packet(c.now, c.rng.Uint32())); err != nil {
				panic(err)
			}
		}
		for range 2 {
			c.out = c.s.Flush(c.now, c.out[:0])
			for _, d := range c.out {
				w := c.byTo[d.To]
				bytes += len(d.Payload())
				w.at = c.now
				if err := w.conn.Receive(c.now, d.Payload(), w); err != nil {
					panic(err)
				}
			}
			c.now += 50 * time.Millisecond
		}
		if i < steps/2 {
			continue // until then it settles
		}
		for _, w := range c.walkers[1:watch] {
			type seen struct {
				d   float64
				age time.Duration
			}
			var list []seen
			for _, o := range c.walkers[1:] {
				e := c.s.table.ByHandle(o.bind.Handle)
				p := w.sess.pairs.get(o.bind.Handle)
				if o == w || p == nil || p.state != known || w.chunk().Distance(e.Place.Chunk) > 1 {
					continue
				}
				age := c.now - w.heard[o.bind.Handle]
				all = append(all, age)
				if e.Place.Chunk == w.chunk() {
					near = append(near, age)
				}
				list = append(list, seen{math.Hypot(o.x-w.x, o.z-w.z), age})
			}
			slices.SortFunc(list, func(a, b seen) int { return int(math.Copysign(1, a.d-b.d)) })
			for _, s := range list[:min(20, len(list))] {
				nearest = append(nearest, s.age)
			}
		}
	}
	return near, all, nearest, float64(bytes) / (float64(steps) / 10) / float64(len(c.walkers))
}

func newCrush(n int, cfg Config) *crowd {
	c := newCrowdIn(n, 100, cfg)
	for range 100 { // until all know all
		c.step()
	}
	for _, w := range c.walkers {
		w.heard = map[uint32]time.Duration{}
	}
	return c
}

func share99(ages []time.Duration) (p50, p99, worst time.Duration) {
	slices.Sort(ages)
	return ages[len(ages)/2], ages[len(ages)*99/100], ages[len(ages)-1]
}

// TestB072HotspotIsFresh: 300 who all see each other fit the default budget, so all are fresh.
func TestB072HotspotIsFresh(t *testing.T) {
	c := newCrush(300, Config{})
	_, all, nearest, rate := c.crush(60, 30)
	_, p99, worst := share99(nearest)
	_, allP99, allWorst := share99(all)
	t.Logf("%.0f B/s each; nearest 20: p99 %v, worst %v; all: p99 %v, worst %v", rate, p99, worst, allP99, allWorst)
	if p99 > 100*time.Millisecond || allP99 > 100*time.Millisecond {
		t.Errorf("not at full rate")
	}
}

// TestB072NearStayFresh: with a quarter of the budget that a hotspot takes, those in the own chunk are fresh, the others less so, nobody
// waits longer than MaxStale, and the budget holds.
func TestB072NearStayFresh(t *testing.T) {
	const budget = 6 << 10
	c := newCrush(300, Config{Budget: budget})
	near, all, _, rate := c.crush(200, 30)
	p50, p99, worst := share99(near)
	allP50, allP99, allWorst := share99(all)
	st := c.s.Stats()
	t.Logf("%.0f B/s each; own chunk: p50 %v, p99 %v, worst %v; all: p50 %v, p99 %v, worst %v; %d held, %d late, %d catch-ups", rate, p50, p99, worst,
		allP50, allP99, allWorst, st.Held, st.Late, st.CatchUps)
	if rate > 1.1*budget {
		t.Errorf("%.0f B/s", rate)
	}
	if p99 > 300*time.Millisecond || p50 >= allP50 && p99 >= allP99 {
		t.Errorf("the near are not fresher: p99 %v and %v", p99, allP99)
	}
	if allWorst > 2*time.Second {
		t.Errorf("somebody starves: %v", allWorst)
	}
	if st.Held == 0 || st.SegmentCopies < 4*st.Segments {
		t.Errorf("nothing is shared: %d copies of %d segments", st.SegmentCopies, st.Segments)
	}
}

// TestB072LateIsCounted: what a budget cannot bear within MaxStale is counted, not hidden.
func TestB072LateIsCounted(t *testing.T) {
	c := newCrush(100, Config{Budget: 2 << 10, MaxStale: 200 * time.Millisecond})
	_, all, _, rate := c.crush(200, 20)
	_, _, worst := share99(all)
	t.Logf("%.0f B/s each, worst %v, %d late of %d held", rate, worst, c.s.Stats().Late, c.s.Stats().Held)
	if worst > 200*time.Millisecond && c.s.Stats().Late == 0 {
		t.Errorf("a copy is %v old and nothing was counted", worst)
	}
}

// BenchmarkShared is R-30: what a hotspot's flush costs with bytes that are shared, and the same with each observer's made for it
// alone, in one run.
func BenchmarkShared(b *testing.B) {
	for _, alone := range []bool{false, true} {
		b.Run(map[bool]string{false: "shared", true: "each alone"}[alone], func(b *testing.B) {
			c := newCrowdIn(200, 100, Config{Faults: Faults{NotShared: alone}})
			was := c.s.Stats()
			took := time.Duration(0)
			for b.Loop() {
				for _, w := range c.walkers {
					w.stroll(c)
					if err := c.s.Receive(c.now, w.sess, w.packet(c.now, c.rng.Uint32())); err != nil {
						b.Fatal(err)
					}
				}
				start := time.Now()
				c.out = c.s.Flush(c.now, c.out[:0])
				took += time.Since(start)
				for _, d := range c.out {
					w := c.byTo[d.To]
					if err := w.conn.Receive(c.now, d.Payload(), w); err != nil {
						b.Fatal(err)
					}
				}
				c.now += 100 * time.Millisecond
			}
			st := c.s.Stats()
			records := st.RecordCopies - was.RecordCopies + st.OwnRecords - was.OwnRecords
			b.ReportMetric(float64(took.Nanoseconds())/float64(records), "ns/record")
			b.ReportMetric(float64(st.Bytes-was.Bytes)/float64(records), "B/record")
		})
	}
}
