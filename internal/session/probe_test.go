package session

import (
	"strings"
	"testing"
	"time"
)

// The estimate is the path's round trip: the ack delay of 25 ms is taken out, and jitter shows as deviation.
func TestRTT(t *testing.T) {
	for _, delay := range []time.Duration{time.Millisecond, 40 * time.Millisecond, 900 * time.Millisecond} {
		p := newPair(t, 1, Config{}, weather{delay: delay})
		for range 200 {
			p.flush(0, true)
			p.run(50 * time.Millisecond)
		}
		srtt, rttvar := p.ends[0].RTT()
		if off := srtt - 2*delay; off < -time.Millisecond || off > 3*time.Millisecond {
			t.Errorf("one way %v: srtt %v", delay, srtt)
		}
		if rttvar > 3*time.Millisecond {
			t.Errorf("one way %v: rttvar %v", delay, rttvar)
		}
	}
	p := newPair(t, 1, Config{}, weather{delay: 30 * time.Millisecond, jitter: 40 * time.Millisecond})
	for range 400 {
		p.flush(0, true)
		p.run(100 * time.Millisecond)
	}
	if srtt, rttvar := p.ends[0].RTT(); srtt < 85*time.Millisecond || srtt > 115*time.Millisecond || rttvar < 5*time.Millisecond || rttvar > 30*time.Millisecond {
		t.Errorf("60..140 ms: srtt %v, rttvar %v", srtt, rttvar)
	}
}

func TestRTTIgnoresLies(t *testing.T) {
	var r rtt
	r.init()
	r.sample(50*time.Millisecond, 60)           // held longer than it took
	r.sample(500*time.Millisecond, maxAckDelay) // held for an unknown time
	r.sample(-time.Millisecond, 0)
	if r.sampled {
		t.Fatalf("%+v", r)
	}
	if r.sample(time.Hour, 0); r.srtt > maxSample {
		t.Fatalf("%+v", r)
	}
}

// A path slower than the first guess: its first packets count as lost, yet its late acks teach the session.
func TestSlowPathIsLearnt(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{delay: 1500 * time.Millisecond})
	for range 100 {
		p.flush(0, true)
		p.run(200 * time.Millisecond)
	}
	a := p.ends[0]
	lost := a.lost
	for range 100 {
		p.flush(0, true)
		p.run(200 * time.Millisecond)
	}
	if srtt, _ := a.RTT(); srtt < 2900*time.Millisecond || a.lost != lost || a.Stats().Spurious == 0 {
		t.Fatalf("srtt %v, lost %d then %d, stats %+v", srtt, lost, a.lost, a.Stats())
	}
}

// the probe timer is srtt + 4·rttvar + 25 ms and doubles twice at most while nothing is acked.
func TestR12ProbeTimer(t *testing.T) {
	p := newPair(t, 1, Config{KeepAlive: -1}, weather{loss: 1})
	a := p.ends[0]
	pto := 325 * time.Millisecond // of the guess: 100 + 4·50 + 25
	for n, want := range []time.Duration{pto, 2 * pto, 4 * pto, 4 * pto, 4 * pto} {
		p.flush(0, true)
		p.flush(0, true) // a burst doubles once
		from := p.now
		if at, ok := a.Deadline(); !ok || at != from+want {
			t.Fatalf("packet %d: deadline %v %v, want %v", n, at-from, ok, want)
		}
		for a.InFlight() > 0 {
			p.step()
		}
		if p.now-from != want {
			t.Fatalf("packet %d: lost after %v, want %v", n, p.now-from, want)
		}
	}
	p.loss = 0
	p.flush(0, true)
	p.settleAll(time.Second)
	if a.backoff != 0 {
		t.Fatal("an ack did not reset the back-off")
	}
}

// a small reliable frame rides in the next packet too; alone if none leaves for 25 ms. A large one does not.
func TestR50SecondCopy(t *testing.T) {
	for _, tt := range []struct {
		name  string
		size  int
		next  time.Duration // when the next packet leaves by itself, 0 for never
		twins uint64
		by    time.Duration // the message must have arrived though the first packet is lost
	}{
		{"next packet", 100, 10 * time.Millisecond, 1, 20 * time.Millisecond},
		{"alone", 100, 0, 1, 40 * time.Millisecond},
		{"large", 300, 0, 0, 450 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPair(t, 1, Config{}, weather{delay: 5 * time.Millisecond})
			a, b := p.ends[0], p.ends[1]
			p.filter = func(d datagram) bool { return d.pn != 1 || d.to == 0 }
			a.queue(0, strings.Repeat("s", tt.size))
			p.run(time.Millisecond)
			if tt.next > 0 {
				p.run(tt.next)
				p.flush(0, true)
			}
			for len(b.got[0]) == 0 {
				p.step()
			}
			if a.Stats().Twins != tt.twins || p.now > tt.by {
				t.Fatalf("arrived after %v, stats %+v", p.now, a.Stats())
			}
			p.settleAll(time.Second)
		})
	}
}

// A packet full of fresh pieces leaves no second copies behind: bulk must not cost twice.
func TestR50BulkHasNoTwins(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{delay: 5 * time.Millisecond})
	a := p.ends[0]
	for i := range 500 {
		a.queue(0, strings.Repeat("b", 100)+time.Duration(i).String())
	}
	p.settleAll(5 * time.Second)
	if s := a.Stats(); s.Twins > 20 {
		t.Fatalf("%+v", s)
	}
}

// the first three probes of a small reliable frame come without back-off, then it doubles.
func TestR50NoBackoffAtFirst(t *testing.T) {
	p := newPair(t, 1, Config{KeepAlive: -1}, weather{loss: 1})
	a := p.ends[0]
	a.queue(0, "knock")
	var tries []time.Duration
	last := uint64(1)
	for len(tries) < 7 {
		p.step()
		// Of each try count the first packet: the second copy follows 25 ms later.
		if n := a.Next(); n != last {
			if len(tries) == 0 || p.now-tries[len(tries)-1] > 100*time.Millisecond {
				tries = append(tries, p.now)
			}
			last = n
		}
	}
	pto, twin := 325*time.Millisecond, 25*time.Millisecond
	for n, want := range []time.Duration{pto, pto, pto, pto, 2 * pto, 4 * pto} {
		if got := tries[n+1] - tries[n]; got < want || got > want+twin+2*time.Millisecond {
			t.Errorf("probe %d after %v, want %v", n+1, got, want)
		}
	}
}

// three large packets lost while small ones pass make packets smaller; a minute later one trial makes them large again.
func TestR43PathSize(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{delay: 10 * time.Millisecond})
	a, mtu := p.ends[0], 700
	p.filter = func(d datagram) bool { return len(d.data) <= mtu }
	full := func() {
		b := a.Begin(p.now, nil)
		b, at := BeginFrame(b, 0x0a) // not known to the other end: skipped
		b = append(b, make([]byte, a.Limit(p.now)-len(b))...)
		EndFrame(b, at)
		pn := a.Commit(p.now, b, true)
		a.sent[pn] = false
		p.post(1, pn, b)
	}
	traffic := func(d time.Duration) {
		for end := p.now + d; p.now < end; {
			full()
			p.flush(0, true)
			p.run(50 * time.Millisecond)
		}
	}
	traffic(2 * time.Second)
	if got := a.Limit(p.now); got != 576 {
		t.Fatalf("limit %d on a path of %d", got, mtu)
	}
	lost := a.lost
	traffic(55 * time.Second)
	if a.lost != lost {
		t.Fatal("tried larger packets too early")
	}
	traffic(30 * time.Second)
	if a.lost != lost+1 || a.Limit(p.now) != 576 {
		t.Fatalf("limit %d, %d packets lost to trials", a.Limit(p.now), a.lost-lost)
	}
	mtu = 1500
	traffic(70 * time.Second)
	if got := a.Limit(p.now); got != 1200 {
		t.Fatalf("limit %d after the path became good", got)
	}
}

// a path that loses everything for a while is not a small path.
func TestR43BlackoutKeepsSize(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{delay: 10 * time.Millisecond})
	a := p.ends[0]
	for n := range 400 {
		p.loss = 0
		if n > 100 && n < 200 {
			p.loss = 1
		}
		p.flush(0, true) // the first to pass again is a small one
		b := a.Begin(p.now, nil)
		b = AppendFrame(b, 0x0a, make([]byte, 1150))
		pn := a.Commit(p.now, b, true)
		a.sent[pn] = false
		p.post(1, pn, b)
		p.run(20 * time.Millisecond)
		if got := a.Limit(p.now); got != 1200 {
			t.Fatalf("limit %d at %v", got, p.now)
		}
	}
}

// Pieces lost in flight leave again as soon as three later packets are acked, long before the probe timer.
func TestLossIsRepairedFast(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{delay: 20 * time.Millisecond})
	a, b := p.ends[0], p.ends[1]
	p.filter = func(d datagram) bool { return d.to == 0 || d.pn != 1 }
	a.queue(0, strings.Repeat("z", 400)) // too large for a second copy
	p.flush(0, false)
	for range 4 {
		p.flush(0, true)
	}
	for len(b.got[0]) == 0 {
		p.step()
	}
	if p.now > 100*time.Millisecond {
		t.Fatalf("arrived after %v", p.now)
	}
	if s := a.Stats(); s.Resent != 1 || s.Lost != 1 {
		t.Fatalf("%+v", s)
	}
}
