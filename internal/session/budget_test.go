package session

import (
	"testing"
	"time"
)

// pair2 is two ends without a record: what a packet costs.
type pair2 struct {
	a, b Conn
	h    deaf
	now  time.Duration
	buf  []byte
	body []byte
}

func newPair2() *pair2 {
	p := &pair2{buf: make([]byte, 1300), body: make([]byte, 900)}
	p.a.Init(Config{})
	p.b.Init(Config{})
	return p
}

// exchange sends n state packets from a, with a reliable message in every fourth, and lets b ack every second.
func (p *pair2) exchange(n int) {
	for i := range n {
		p.now += 5 * time.Millisecond
		if i%4 == 0 {
			if err := p.a.Queue(i%Streams, p.body[:60]); err != nil {
				panic(err)
			}
		}
		p.move(&p.a, &p.b, true)
		if i%2 == 1 {
			p.move(&p.b, &p.a, false)
		}
		p.a.Expire(p.now, &p.h)
		p.b.Expire(p.now, &p.h)
	}
}

func (p *pair2) move(from, to *Conn, frame bool) {
	b := from.Begin(p.now, p.buf[:16])
	b = from.AppendReliable(p.now, b, 1200)
	if frame {
		b = AppendFrame(b, 0x20, p.body[:])
	}
	from.Commit(p.now, b, frame)
	if err := to.Receive(p.now, b[16:], &p.h); err != nil {
		panic(err)
	}
}

func TestNoAllocations(t *testing.T) {
	p := newPair2()
	p.exchange(1000)
	if n := testing.AllocsPerRun(100, func() { p.exchange(20) }); n != 0 {
		t.Fatalf("%v allocations for 30 packets", n)
	}
	if p.h.messages == 0 || p.h.lost != 0 {
		t.Fatalf("%+v", p.h)
	}
}

// Losses are part of the steady state, too: packets that vanish cost no memory.
func TestNoAllocationsUnderLoss(t *testing.T) {
	p := newPair2()
	lossy := func() {
		for i := range 20 {
			p.now += 5 * time.Millisecond
			if i%5 == 0 {
				b := p.a.Begin(p.now, p.buf[:16])
				p.a.Commit(p.now, AppendFrame(b, 0x20, p.body[:]), true) // lost
			}
			p.move(&p.a, &p.b, true)
			if i%2 == 1 {
				p.move(&p.b, &p.a, false)
			}
		}
	}
	for range 50 {
		lossy()
	}
	if n := testing.AllocsPerRun(100, lossy); n != 0 {
		t.Fatalf("%v allocations", n)
	}
	if p.h.lost == 0 {
		t.Fatal("nothing was lost")
	}
}

func BenchmarkExchange(b *testing.B) {
	p := newPair2()
	p.exchange(1000)
	b.ReportAllocs()
	for b.Loop() {
		p.exchange(20)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(30*b.N), "ns/packet")
}

func BenchmarkSend(b *testing.B) {
	p := newPair2()
	p.exchange(1000)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		buf := p.a.Begin(p.now, p.buf[:16])
		buf = p.a.AppendReliable(p.now, buf, 1200)
		buf = AppendFrame(buf, 0x20, p.body[:])
		p.a.Commit(p.now, buf, false)
		n++
	}
}

func BenchmarkReceiveAcks(b *testing.B) {
	p := newPair2()
	b.ReportAllocs()
	for b.Loop() {
		p.now += time.Millisecond
		p.move(&p.a, &p.b, true)
		p.move(&p.b, &p.a, false)
	}
}

func BenchmarkReliable(b *testing.B) {
	p := newPair2()
	b.ReportAllocs()
	b.SetBytes(900)
	for b.Loop() {
		p.now += time.Millisecond
		if err := p.a.Queue(0, p.body[:]); err != nil {
			b.Fatal(err)
		}
		p.move(&p.a, &p.b, false)
		p.move(&p.b, &p.a, false)
	}
}

func BenchmarkIdleTick(b *testing.B) {
	p := newPair2()
	p.exchange(100)
	for b.Loop() {
		if p.a.WantsSend(p.now) {
			b.Fatal("not idle")
		}
		if _, ok := p.a.Deadline(); !ok {
			b.Fatal("no keep-alive")
		}
	}
}
