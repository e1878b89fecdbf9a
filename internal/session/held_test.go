package session

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// taker keeps the messages that are handed over.
type taker struct {
	got []string
}

func (*taker) Acked(uint64)               {}
func (*taker) Lost(uint64)                {}
func (*taker) Frame(uint64, byte, []byte) {}
func (k *taker) Message(_ uint64, stream int, msg []byte) {
	if stream == 3 {
		k.got = append(k.got, string(msg))
	}
}

func big(fill byte, n int) []byte { return bytes.Repeat([]byte{fill}, n) }

// leave lets packets go both ways, until nothing wants to leave; loss is the share that vanishes. What leaves a is given to see.
func leave(t *testing.T, a, b *Conn, ka, kb Handler, now *time.Duration, rng *rand.Rand, loss float64, see func([]byte)) {
	t.Helper()
	for range 400 {
		*now += 10 * time.Millisecond
		for _, c := range []struct {
			from, to *Conn
			h        Handler
		}{{a, b, kb}, {b, a, ka}} {
			for c.from.WantsSend(*now) {
				p := c.from.AppendReliable(*now, c.from.Begin(*now, nil), 1200)
				c.from.Commit(*now, p, false)
				if c.from == a && see != nil {
					see(p)
				}
				if rng.Float64() >= loss {
					if err := c.to.Receive(*now, p, c.h); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		a.Expire(*now, ka)
		b.Expire(*now, kb)
		if a.outbox.due == 0 && a.flying == 0 {
			return
		}
	}
}

// a held message leaves as it is fed, comes whole and in order, and other streams do not wait for it.
func TestHeldMessagesLeaveAsTheyAreFed(t *testing.T) {
	a, b, now, rng := New(Config{}), New(Config{}), time.Duration(0), rand.New(rand.NewPCG(1, 1))
	var ka, kb taker
	one, two := big(1, 5000), big(2, 700)
	if a.QueueHeld(3, 7, one) != nil || a.QueueHeld(3, 8, two) != nil || a.Queue(2, []byte("hi")) != nil || a.Unacked() != 34 {
		t.Fatalf("%d unacked", a.Unacked())
	}
	size := 0
	see := func(p []byte) { size += len(p) }
	leave(t, a, b, &ka, &kb, &now, rng, 0, see)
	if b.Taken(2) != 1 || size > 100 || !a.Holding() || a.Settled(3) != 0 {
		t.Fatalf("%d bytes left that nobody fed", size)
	}
	for fed := 0; a.Holding(); fed++ {
		size = 0
		a.Feed(1000)
		if leave(t, a, b, &ka, &kb, &now, rng, 0.3, see); fed > 6 {
			t.Fatal("it has no end")
		}
	}
	if want := []string{string(one), string(two)}; !slices.Equal(kb.got, want) || a.Settled(3) != 2 || a.outbox.used != 0 || a.outbox.apart != 0 {
		t.Fatalf("%d messages, %d settled, %d of the window", len(kb.got), a.Settled(3), a.outbox.used)
	}
}

// of what is taken back no byte leaves any more, neither for the first time nor again; what was on its way is handed over to
// nobody, unless all of it had arrived; what comes behind does.
func TestWithdrawnMessagesLeaveEmpty(t *testing.T) {
	for seed := range uint64(300) {
		a, b, now, rng := New(Config{}), New(Config{}), time.Duration(0), rand.New(rand.NewPCG(seed, 1))
		var ka, kb taker
		for i := range 4 {
			if err := a.QueueHeld(3, uint32(1+i%2), big(byte(0x91+i), 3000)); err != nil {
				t.Fatal(err)
			}
		}
		a.Feed(500 + int(rng.Uint32N(12000)))
		for range rng.Uint32N(4) { // some leave, some get lost, and no ack comes
			p := a.AppendReliable(now, a.Begin(now, nil), 1200)
			a.Commit(now, p, false)
			if rng.Uint32N(2) == 0 {
				if err := b.Receive(now, p, &kb); err != nil {
					t.Fatal(err)
				}
			}
		}
		a.Withdraw(3, 1)
		see := func(p []byte) {
			if bytes.Contains(p, big(0x91, 8)) || bytes.Contains(p, big(0x93, 8)) {
				t.Fatalf("seed %d: what was taken back leaves", seed)
			}
		}
		for range 20 {
			a.Feed(2000)
			leave(t, a, b, &ka, &kb, &now, rng, 0.2, see)
		}
		want := []string{string(big(0x92, 3000)), string(big(0x94, 3000))}
		for _, m := range kb.got {
			if len(m) != 3000 {
				t.Fatalf("seed %d: %d bytes of a message", seed, len(m))
			}
		}
		got := slices.DeleteFunc(slices.Clone(kb.got), func(m string) bool { return m[0] == 0x91 || m[0] == 0x93 })
		if !slices.Equal(got, want) || b.Taken(3) != 4 || a.Settled(3) != 4 || a.outbox.used != 0 || b.inbox.held != 0 {
			t.Fatalf("seed %d: %d messages of %d, %d settled, %d of the window, %d held", seed, len(got), b.Taken(3), a.Settled(3), a.outbox.used, b.inbox.held)
		}
	}
}

// A peer that marks pieces as taken back makes nothing grow.
func TestVoidPiecesTakeNoMemory(t *testing.T) {
	b, now := New(Config{}), time.Duration(0)
	var k taker
	for i := range 3000 {
		p := pieceOf(header(uint64(i+1), 0), piece{stream: 3, more: true, void: true, seq: uint64(i), stamp: uint16(i + 1), data: big(9, 100)})
		if err := b.Receive(now, p, &k); err != nil {
			t.Fatal(err)
		}
	}
	if b.inbox.held != 0 || cap(b.inbox.streams[3].half) > 1000 || len(k.got) != 0 {
		t.Fatalf("%d held, %d bytes", b.inbox.held, cap(b.inbox.streams[3].half))
	}
}
