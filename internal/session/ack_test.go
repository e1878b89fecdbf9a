package session

import (
	"math/rand/v2"
	"testing"
	"time"
)

// an ack leaves within 25 ms of a packet, 10 ms after a reliable frame, at once after 16 packets.
func TestR12AckDelays(t *testing.T) {
	for _, tt := range []struct {
		name     string
		packets  int
		reliable bool
		want     time.Duration
	}{{"frame", 1, false, ackWithin}, {"reliable", 1, true, 10 * time.Millisecond}, {"fifteen", 15, false, ackWithin}, {"sixteen", 16, false, 0}} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPair(t, 1, Config{}, weather{})
			a, b := p.ends[0], p.ends[1]
			for range tt.packets {
				if tt.reliable {
					a.queue(0, "r")
				}
				pn := p.flush(0, true)
				b.received[pn] = true
				if err := b.Receive(0, p.wire[len(p.wire)-1].data, b); err != nil {
					t.Fatal(err)
				}
			}
			if at, ok := b.Deadline(); !ok || at != tt.want {
				t.Fatalf("deadline %v %v, want %v", at, ok, tt.want)
			}
			if tt.want > 0 && b.WantsSend(tt.want-1) || !b.WantsSend(tt.want) {
				t.Fatal("WantsSend does not agree with Deadline")
			}
			if p.now = tt.want; len(b.Begin(p.now, nil)) <= headerSize {
				t.Fatal("no ack block")
			}
			b.Abort()
			p.flush(1, false)
			if b.WantsSend(tt.want + time.Second) {
				t.Fatal("acked twice")
			}
		})
	}
}

// a packet is lost when three later ones were acked, not when it is merely not reported.
func TestR12ThreeLaterPackets(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{})
	a := p.ends[0]
	p.filter = func(d datagram) bool { return d.to == 0 || d.pn != 2 }
	ack := func() {
		for p.run(time.Millisecond); len(p.wire) > 0; p.step() {
		}
		p.flush(1, false)
		p.run(time.Millisecond)
	}
	for range 4 { // 1, 2 (dropped), 3, 4
		p.flush(0, true)
	}
	ack()
	if a.acked != 3 || a.lost != 0 || a.InFlight() != 1 {
		t.Fatalf("two later packets: %d acked, %d lost", a.acked, a.lost)
	}
	p.flush(0, true)
	ack()
	if a.acked != 4 || a.lost != 1 {
		t.Fatalf("three later packets: %d acked, %d lost", a.acked, a.lost)
	}
}

// An ack-only packet asks for no ack: two idle ends fall silent.
func TestAcksAreNotAcked(t *testing.T) {
	p := newPair(t, 1, Config{KeepAlive: -1}, weather{delay: time.Millisecond})
	p.flush(0, true)
	p.run(5 * time.Second)
	if sent := p.ends[0].Stats().Sent + p.ends[1].Stats().Sent; sent != 2 {
		t.Fatalf("%d packets for one frame", sent)
	}
	for _, e := range p.ends {
		if at, ok := e.Deadline(); ok {
			t.Fatalf("%s: deadline %v with nothing to do", e.name, at)
		}
	}
}

// an idle session sends a ping after 1.5 s, and the ack of it serves the other direction.
func TestR42KeepAlive(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{delay: 20 * time.Millisecond})
	p.flush(0, true)
	p.run(30 * time.Second)
	for _, e := range p.ends {
		if s := e.Stats(); s.Sent < 18 || s.Sent > 22 || s.SentBytes > 11*s.Sent {
			t.Errorf("%s: %d packets, %d B in 30 s", e.name, s.Sent, s.SentBytes)
		}
	}
	p.settleAll(time.Second)
}

// A packet that carried acks and was lost may have been the only one: the next says them again.
func TestLostAcksAreRepeated(t *testing.T) {
	p := newPair(t, 1, Config{KeepAlive: -1}, weather{delay: time.Millisecond})
	a, b := p.ends[0], p.ends[1]
	p.filter = func(d datagram) bool { return d.to == 1 || d.pn != 1 }
	p.flush(0, true)
	p.run(5 * time.Millisecond)
	p.flush(1, true) // b's 1: the ack of a's 1, lost
	for range 3 {
		p.flush(1, true)
	}
	p.run(40 * time.Millisecond)
	if b.lost != 1 || a.acked != 0 {
		t.Fatalf("b lost %d, a %d acked", b.lost, a.acked)
	}
	p.flush(1, true)
	if p.run(2 * time.Millisecond); a.acked == 0 {
		t.Fatal("acks were not repeated")
	}
}

// The delay in a block counts from the arrival of its largest packet, not of one that was overtaken.
func TestAckDelayOfTheLargest(t *testing.T) {
	c, h := New(Config{}), &deaf{}
	for _, in := range []struct {
		pn uint64
		at time.Duration
	}{{2, 0}, {1, 15 * time.Millisecond}} {
		if err := c.Receive(in.at, AppendFrame(header(in.pn, 0), 0x20, nil), h); err != nil {
			t.Fatal(err)
		}
	}
	var a ackBlock
	if _, err := a.parse(c.Begin(20*time.Millisecond, nil)[headerSize:], 2); err != nil || a.delay != 20 {
		t.Fatalf("delay %d, %v", a.delay, err)
	}
}

// a stamp may be up to 65,535 packets older than the packet that brings it.
func TestR14OldStamp(t *testing.T) {
	var in inbox
	cfg := Config{}.withDefaults()
	got := uint64(0)
	h := &stampNote{got: &got}
	for seq, want := range []uint64{100_000, 99_999, 60_000, 100_000 - 65_535} {
		if err := in.take(100_000, &piece{seq: uint64(seq), stamp: uint16(want)}, &cfg, h); err != nil || got != want {
			t.Errorf("stamp %d, want %d, %v", got, want, err)
		}
	}
}

type stampNote struct {
	deaf
	got *uint64
}

func (s *stampNote) Message(stamp uint64, _ int, _ []byte) { *s.got = stamp }

func TestWindow(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var w window
		seen, top := map[uint64]bool{}, uint64(0)
		for range 5000 {
			pn := uint64(max(1, int(top)+rng.IntN(40)-20))
			if rng.IntN(100) == 0 {
				pn = top + uint64(rng.IntN(400))
			}
			if old := pn != 0 && pn <= top && top-pn >= windowSize; w.has(pn) != (seen[pn] || old) && pn != 0 {
				t.Fatalf("seed %d: has(%d) with top %d", seed, pn, top)
			}
			if pn == 0 || w.has(pn) {
				continue
			}
			w.add(pn)
			seen[pn], top = true, max(top, pn)

			// The ranges are the newest runs of what was seen.
			var got ackBlock
			w.ranges(&got)
			n := 0
			for hi := top; hi > 0 && top-hi < windowSize && n < maxRanges; n++ {
				lo := hi
				for lo > 1 && seen[lo-1] && top-(lo-1) < windowSize {
					lo--
				}
				if got.ranges[n] != (ackRange{lo, hi}) {
					t.Fatalf("seed %d: range %d of %d: %v, want %d..%d", seed, n, got.n, got.ranges[n], lo, hi)
				}
				for hi = lo - 1; hi > 0 && !seen[hi]; hi-- {
				}
			}
			if n != got.n {
				t.Fatalf("seed %d: %d ranges, want %d", seed, got.n, n)
			}
		}
	}
}

func TestExpand(t *testing.T) {
	if got := expand(0xffff, 5); got != 0xffff {
		t.Errorf("there is no number below 0: %d", got)
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for range 100_000 {
		n := rng.Uint64N(1 << 40)
		near := n + rng.Uint64N(1<<15)
		if rng.IntN(2) == 0 && n >= 1<<15 {
			near = n - rng.Uint64N(1<<15)
		}
		if got := expand(uint16(n), near); got != n {
			t.Fatalf("expand(%d, %d) = %d, want %d", uint16(n), near, got, n)
		}
	}
}

// Numbers pass 2^16 three times, over a link that loses and overtakes.
func TestNumbersWrapAround(t *testing.T) {
	p := newPair(t, 5, Config{}, weather{delay: 2 * time.Millisecond, jitter: 4 * time.Millisecond, loss: 0.02, double: 0.01})
	a := p.ends[0]
	for i := 0; a.Next() < 200_000; i++ {
		if i%64 == 0 {
			a.queue(i/64%Streams, time.Duration(i).String())
		}
		for range 10 {
			p.flush(0, true)
		}
		p.step()
		clear(a.peer.sent) // only a's packets matter here, and memory does
	}
	clear(a.peer.sent)
	a.peer.acked, a.peer.lost, a.peer.stats.Acked, a.peer.stats.Lost = 0, 0, 0, 0
	for range 2000 {
		p.step()
	}
	for pn, done := range a.sent {
		if !done {
			t.Fatalf("packet %d neither acked nor lost", pn)
		}
	}
	if a.acked < 100_000 { // ten packets a millisecond overtake each other enough to count many as lost
		t.Fatalf("%d acked", a.acked)
	}
	for s := range Streams {
		if len(a.want[s]) != len(a.peer.got[s]) {
			t.Fatalf("stream %d: %d of %d", s, len(a.peer.got[s]), len(a.want[s]))
		}
	}
}
