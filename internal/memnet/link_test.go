package memnet

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// fates plans n datagrams of size bytes, one every gap, and returns when each arrives.
func fates(p *Pipe, n, size int, gap time.Duration) (all [][]time.Duration) {
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range n {
		all = append(all, p.Plan(rng, time.Duration(i)*gap, size, nil))
	}
	return all
}

func near(t *testing.T, what string, got, want, off float64) {
	t.Helper()
	if got < want-off || got > want+off {
		t.Errorf("%s: %.4f, want %.4f ± %.4f", what, got, want, off)
	}
}

func TestLossAndDuplicates(t *testing.T) {
	const n = 100_000
	p := &Pipe{Link: Link{Loss: 0.05, Duplicate: 0.1}}
	fates(p, n, 100, time.Millisecond)
	near(t, "loss", float64(p.Lost)/n, 0.05, 0.003)
	near(t, "duplicates", float64(p.Doubled)/n, 0.095, 0.004)
	if p.Packets != n || p.Bytes != n*100 {
		t.Errorf("%+v", p.Traffic)
	}
}

func TestBurstLoss(t *testing.T) {
	const n = 200_000
	p := &Pipe{Link: Link{Burst: Burst{Enter: 0.02, Leave: 0.2}}}
	runs := 0
	was := false
	for _, f := range fates(p, n, 100, time.Millisecond) {
		lost := len(f) == 0
		if lost && !was {
			runs++
		}
		was = lost
	}
	near(t, "loss", float64(p.Lost)/n, 0.02/0.22, 0.005)
	near(t, "length of a run", float64(p.Lost)/float64(runs), 5, 0.3)
}

func TestJitterKeepsOrderAndReorderDoesNot(t *testing.T) {
	late := func(l Link) (n int) {
		var last time.Duration
		for i, f := range fates(&Pipe{Link: l}, 20_000, 100, time.Millisecond) {
			sent := time.Duration(i) * time.Millisecond
			if f[0] < sent+l.Latency-l.Jitter {
				t.Fatalf("datagram %d arrived after %v", i, f[0]-sent)
			}
			if last > f[0] {
				n++ // the one before was overtaken
			}
			last = f[0]
		}
		return n
	}
	l := Link{Latency: 25 * time.Millisecond, Jitter: 5 * time.Millisecond}
	if n := late(l); n != 0 {
		t.Errorf("jitter let %d overtake", n)
	}
	l.Reorder = 0.01
	if n := late(l); n < 150 || n > 250 {
		t.Errorf("%d of 20,000 were overtaken", n)
	}
}

func TestRateAndMTU(t *testing.T) {
	p := &Pipe{Link: Link{Rate: 100_000, Queue: 50 * time.Millisecond, MTU: 1000}}
	all := fates(p, 1000, 1000, 5*time.Millisecond) // twice what passes
	var last time.Duration
	passed := 0
	for i, f := range all {
		if len(f) == 0 {
			continue
		}
		passed++
		if wait := f[0] - time.Duration(i)*5*time.Millisecond; wait > 60*time.Millisecond {
			t.Fatalf("datagram %d waited %v", i, wait)
		}
		if last > 0 && f[0]-last < 10*time.Millisecond {
			t.Fatalf("two datagrams %v apart", f[0]-last)
		}
		last = f[0]
	}
	near(t, "passed", float64(passed), 505, 5)
	if got := p.Plan(rand.New(rand.NewPCG(1, 1)), time.Hour, 1001, nil); got != nil {
		t.Error("a datagram above the MTU passed")
	}
}

func TestEqualSeedsGiveEqualFates(t *testing.T) {
	for _, l := range []Link{LAN, WiFi, Mobile, BurstLoss} {
		a, b := fates(&Pipe{Link: l}, 1000, 500, time.Millisecond), fates(&Pipe{Link: l}, 1000, 500, time.Millisecond)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%+v", l)
		}
	}
}

func TestSchedOrdersTies(t *testing.T) {
	var s Sched
	var got []string
	note := func(name string) func() {
		return func() { got = append(got, fmt.Sprint(name, s.Now().Milliseconds())) }
	}
	s.After(2*time.Millisecond, note("c"))
	s.After(time.Millisecond, note("a"))
	s.After(time.Millisecond, func() { s.After(0, note("n")) })
	s.After(time.Millisecond, note("b"))
	s.At(-time.Second, note("past"))
	s.After(time.Hour, note("never"))
	s.Run(2 * time.Millisecond)
	if want := []string{"past0", "a1", "b1", "n1", "c2"}; !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
	if at, ok := s.Next(); !ok || at != time.Hour || !s.Step() || s.Step() {
		t.Fatal("Next or Step is wrong")
	}
}

func TestCarry(t *testing.T) {
	var s Sched
	p := &Pipe{Link: Link{Latency: time.Second, Duplicate: 1}}
	buf, n := []byte("hello"), 0
	s.Carry(p, rand.New(rand.NewPCG(1, 1)), buf, func(b []byte) {
		if n++; string(b) != "hello" || s.Now() != time.Second {
			t.Errorf("%q at %v", b, s.Now())
		}
	})
	clear(buf)
	if s.Run(time.Minute); n != 2 {
		t.Fatalf("%d arrivals", n)
	}
}

func BenchmarkPlan(b *testing.B) {
	p := &Pipe{Link: Mobile}
	rng := rand.New(rand.NewPCG(1, 1))
	var room [2]time.Duration
	b.ReportAllocs()
	now := time.Duration(0)
	for b.Loop() {
		now += time.Millisecond
		p.Plan(rng, now, 500, room[:0])
	}
}
