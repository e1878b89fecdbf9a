package session

import (
	"math/rand/v2"
	"testing"
	"time"
)

// drop makes the link lose packet pn on its way to an end.
func (p *pair) drop(to int, pn uint64) {
	was := p.filter
	p.filter = func(d datagram) bool { return (d.to != to || d.pn != pn) && (was == nil || was(d)) }
}

// beat has end 0 send a frame every 100 ms, as a relay's flushes do.
func (p *pair) beat(n int) {
	for range n {
		p.flush(0, true)
		p.run(100 * time.Millisecond)
	}
}

// lostAfter is how long after its send end 0 takes a packet for lost.
func (p *pair) lostAfter() time.Duration {
	p.t.Helper()
	a, from := p.ends[0], p.now
	at := time.Duration(-1)
	p.drop(1, a.Next())
	a.onLost = func(uint64) { at = p.now }
	p.flush(0, true)
	p.run(100 * time.Millisecond)
	if a.onLost = nil; at < 0 {
		p.t.Fatal("not taken for lost within 100 ms")
	}
	return at - from
}

// on a path that loses packets a lost one is known of little later than its ack was due, on any other 25 ms after it.
func TestR12LossIsKnownSoonWhereThereAreSome(t *testing.T) {
	for _, tt := range []struct {
		name   string
		loss   bool
		prompt bool
		most   time.Duration
	}{
		{"none before", false, true, 50*time.Millisecond + ptoMargin},
		{"acks at once", true, true, 50*time.Millisecond + ptoSlack},
		{"acks wait", true, false, 50*time.Millisecond + ackWithin + ptoSlack},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPair(t, 1, Config{Prompt: tt.prompt}, weather{delay: 25 * time.Millisecond})
			p.beat(50)
			for range lossyFrom {
				if tt.loss {
					p.drop(1, p.ends[0].Next())
				}
				p.beat(10)
			}
			p.beat(50) // how long acks waited before is forgotten
			if got := p.ends[0].Loses(); got != tt.loss {
				t.Fatalf("loses %v", got)
			}
			if got := p.lostAfter(); got > tt.most+2*time.Millisecond || got < tt.most-5*time.Millisecond {
				t.Errorf("known of after %v, want %v", got, tt.most)
			}
			if s := p.ends[0].Stats(); s.Spurious > 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// a path whose round trips differ by half of what they take on average loses next to nothing by that, once they are known. Where packets are
// lost besides, a few are taken for lost that only are late: of those, the timer learns.
func TestR12JitterIsNoLoss(t *testing.T) {
	for _, tt := range []struct {
		loss     float64
		spurious uint64 // in a thousand packets
	}{{0, 5}, {0.05, 80}} {
		// 60 ms on average, from 45 to 75.
		p := newPair(t, 6, Config{Prompt: true}, weather{delay: 22500 * time.Microsecond, jitter: 15 * time.Millisecond, loss: tt.loss})
		p.beat(100)
		before := p.ends[0].Stats()
		p.beat(1000)
		s := p.ends[0].Stats()
		if n := s.Spurious - before.Spurious; n > tt.spurious {
			t.Errorf("loss %v: %d of %d packets were only late, %d acked", tt.loss, n, s.Lost-before.Lost, s.Acked-before.Acked)
		}
	}
}

// An ack that is lost makes its packet look lost. That says nothing of how long acks take.
func TestLostAcksTeachNothing(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{delay: 25 * time.Millisecond})
	p.beat(50)
	a, before := p.ends[0], p.ends[0].Patience()
	for range 20 {
		p.drop(0, p.ends[1].Next())
		p.beat(3)
	}
	if s := a.Stats(); s.Spurious < 20 {
		t.Fatalf("%+v", s)
	}
	if got := a.Patience(); got > before {
		t.Errorf("patience %v, was %v", got, before)
	}
}

// An end that acks later than it should is waited for.
func TestLateAcksAreLearnt(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{delay: time.Millisecond})
	a, b := p.ends[0], p.ends[1]
	lost := 0
	for n := range 200 {
		if n == 100 {
			lost = a.lost
		}
		p.flush(0, true)
		b.acks.due += 40 * time.Millisecond
		p.run(3 * time.Millisecond)
		b.acks.due += 40 * time.Millisecond
		p.run(100 * time.Millisecond)
	}
	if lost == 0 || a.lost > lost+8 {
		t.Errorf("%d packets lost at first, %d after", lost, a.lost-lost)
	}
}

// with Prompt an ack leaves at once while packets are lost, yet not one for each packet of a burst.
func TestPromptAcks(t *testing.T) {
	p := newPair(t, 1, Config{Prompt: true}, weather{delay: 5 * time.Millisecond})
	a, b := p.ends[0], p.ends[1]
	answer := func(packets int) (first time.Duration, n uint64) {
		from, sent := p.now+p.delay, b.Stats().Sent
		for left := packets; p.now < from+60*time.Millisecond; p.step() {
			if first == 0 && b.Stats().Sent > sent {
				first = p.now - from
			}
			if left > 0 {
				left--
				p.flush(0, true)
			}
		}
		return first, b.Stats().Sent - sent
	}
	if at, n := answer(1); at < ackWithin || n != 1 {
		t.Errorf("good path: after %v, %d acks", at, n)
	}
	for range lossyFrom {
		p.drop(1, a.Next())
		p.beat(2)
	}
	if at, n := answer(1); at > 2*time.Millisecond || n != 1 {
		t.Errorf("one packet: after %v, %d acks", at, n)
	}
	if at, n := answer(8); at > 2*time.Millisecond || n > 3 {
		t.Errorf("8 packets in 8 ms: after %v, %d acks", at, n)
	}
	for range windowSize { // what was lost is long ago
		p.flush(0, true)
		p.run(25 * time.Millisecond)
	}
	if at, n := answer(1); at < ackWithin || n != 1 {
		t.Errorf("good again: after %v, %d acks", at, n)
	}
}

// On a path that loses what an end says, the packet after an ack says it again; on any other not.
func TestAcksAreSaidTwiceWhereTheyGetLost(t *testing.T) {
	p := newPair(t, 1, Config{KeepAlive: -1}, weather{delay: 5 * time.Millisecond})
	b := p.ends[1]
	acks := func() (n int) {
		p.flush(0, true)
		p.run(40 * time.Millisecond)
		for range 3 {
			c := b.Begin(p.now, nil)
			if b.open.acks {
				n++
			}
			c = AppendFrame(c, 0x0a, nil)
			b.Commit(p.now, c, false)
		}
		return n
	}
	if n := acks(); n != 0 {
		t.Errorf("good path: said %d times more", n)
	}
	b.losses.out = true
	if n := acks(); n != 1 {
		t.Errorf("said %d times more, want once", n)
	}
}

func TestMissing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range 200 {
		var w window
		got := map[uint64]bool{}
		loss := rng.Float64() * 0.1
		for pn := uint64(1); pn < uint64(rng.IntN(900)+2); pn++ {
			if rng.Float64() >= loss {
				w.add(pn)
				got[pn] = true
			}
		}
		if w.top == 0 {
			continue
		}
		want := 0
		for pn := w.top; pn > 0 && w.top-pn < windowSize; pn-- {
			if !got[pn] {
				want++
			}
		}
		if n := w.missing(); n != want {
			t.Fatalf("window up to %d: %d missing, want %d", w.top, n, want)
		}
		var a ackBlock
		w.ranges(&a)
		want = 0
		for pn := a.ranges[a.n-1].lo; pn < w.top; pn++ {
			if !got[pn] {
				want++
			}
		}
		if n := a.missing(); n != want {
			t.Fatalf("block up to %d: %d missing, want %d", w.top, n, want)
		}
	}
}
