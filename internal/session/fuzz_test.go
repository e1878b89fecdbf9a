package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
	"time"
)

// FuzzReceive feeds packets, cut at every 0-length-prefixed chunk, to a session that has something in flight.
func FuzzReceive(f *testing.F) {
	for _, seed := range realPackets() {
		f.Add(seed)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg := Config{MaxMessage: 2048, Window: 8192}
		c, h := New(cfg), &deaf{}
		now := time.Duration(0)
		for range 5 {
			c.Queue(1, []byte("in flight"))
			c.Commit(now, c.AppendReliable(now, c.Begin(now, nil), 1200), true)
		}
		for n := 0; len(data) >= 2 && n < 1000; n++ {
			size := min(int(binary.LittleEndian.Uint16(data)), len(data)-2)
			pkt := data[2 : 2+size]
			data = data[2+size:]
			now += 7 * time.Millisecond
			keep := bytes.Clone(pkt)
			err := c.Receive(now, pkt, h)
			if !bytes.Equal(pkt, keep) {
				t.Fatal("Receive wrote to the payload")
			}
			var bye *CloseError
			if err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrProtocol) && !errors.As(err, &bye) {
				t.Fatalf("%v", err)
			}
			if errors.Is(err, ErrProtocol) {
				break
			}
			c.Expire(now, h)
			if b := c.Begin(now, nil); len(b) > headerSize+maxAckBlock {
				t.Fatalf("header of %d B", len(b))
			} else {
				c.Commit(now, c.AppendReliable(now, b, 1200), false)
			}
		}
		if s := c.Stats(); int(s.Acked) != h.acked || int(s.Lost) != h.lost || c.InFlight() < 0 || c.Unacked() < 0 {
			t.Fatalf("%+v, saw %+v", s, h)
		}
		if c.inbox.held > cfg.Window+2*cfg.MaxMessage {
			t.Fatalf("%d B held", c.inbox.held)
		}
	})
}

// realPackets are conversations: each packet behind its length.
func realPackets() (seeds [][]byte) {
	var a, b Conn
	a.Init(Config{})
	b.Init(Config{})
	h := &deaf{}
	now := time.Duration(0)
	var talk []byte
	for i := range 40 {
		now += 9 * time.Millisecond
		a.Queue(i%3, make([]byte, i*40))
		pkt := a.AppendReliable(now, a.Begin(now, nil), 1100)
		pkt = AppendFrame(pkt, 0x20, []byte("state"))
		a.Commit(now, pkt, true)
		if i == 39 {
			pkt = AppendClose(pkt, 1, "done")
		}
		if i%5 != 0 {
			b.Receive(now, pkt, h)
		}
		b.Queue(1, []byte("answer"))
		back := b.AppendReliable(now, b.Begin(now, nil), 1100)
		b.Commit(now, back, false)
		if i%7 != 0 {
			a.Receive(now, back, h)
		}
		talk = append(binary.LittleEndian.AppendUint16(talk, uint16(len(pkt))), pkt...)
		seeds = append(seeds, append(binary.LittleEndian.AppendUint16(nil, uint16(len(back))), back...))
	}
	return append(seeds, talk)
}

func FuzzAckBlock(f *testing.F) {
	f.Add([]byte{0, 4, 9, 0, 0xff, 1}, uint64(1024))
	f.Add([]byte{9, 0, 255, 2, 1, 0, 0, 1, 2}, uint64(10))
	f.Fuzz(func(t *testing.T, data []byte, near uint64) {
		near %= 1 << 48
		var a, again ackBlock
		n, err := a.parse(data, near)
		if err != nil {
			return
		}
		if n > len(data) || a.n < 1 || a.n > maxRanges {
			t.Fatalf("%d B of %d, %d ranges", n, len(data), a.n)
		}
		for i, r := range a.ranges[:a.n] {
			if r.lo == 0 || r.lo > r.hi || i > 0 && r.hi+1 >= a.ranges[i-1].lo || a.largest()-r.lo >= windowSize {
				t.Fatalf("ranges %v", a.ranges[:a.n])
			}
			if !a.has(r.lo) || !a.has(r.hi) || a.has(r.lo-1) || a.has(r.hi+1) {
				t.Fatalf("has disagrees with %v", r)
			}
		}
		b := a.append(nil)
		m, err := again.parse(b, near)
		if err != nil || m != len(b) || m > n || again != a {
			t.Fatalf("%x → %+v → %x → %+v, %v", data[:n], a, b, again, err)
		}
	})
}
