package session

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// The promise of the package, over links from good to hopeless: every message exactly once and in order, every
// eliciting packet either acked or lost, and no ack of what did not arrive. The parties check as they go.
func TestDelivery(t *testing.T) {
	links := []weather{
		{delay: 1 * time.Millisecond},
		{delay: 25 * time.Millisecond, jitter: 10 * time.Millisecond, loss: 0.05, double: 0.05},
		{delay: 5 * time.Millisecond, jitter: 200 * time.Millisecond, loss: 0.2, double: 0.3},
		{delay: 300 * time.Millisecond, jitter: 400 * time.Millisecond, loss: 0.4, double: 0.1},
	}
	seeds := uint64(12)
	if testing.Short() {
		seeds = 3
	}
	for n, w := range links {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for seed := range seeds {
				p := newPair(t, seed, Config{MaxMessage: 4096, Window: 32 << 10}, w)
				for n := range 3000 {
					for i, e := range p.ends {
						switch r := p.rng.IntN(200); {
						case r < 6:
							p.flush(i, true)
						case r < 12:
							size := p.rng.IntN(100)
							if r == 11 {
								size = p.rng.IntN(4000)
							}
							msg := fmt.Sprintf("%s%d %s", e.name, n, strings.Repeat("x", size))
							if err := e.queue(p.rng.IntN(Streams), msg); err != nil && !errors.Is(err, ErrBackpressure) {
								t.Fatal(err)
							}
						case r == 12:
							e.Begin(p.now, nil)
							e.AppendReliable(p.now, nil, 1200)
							e.Abort()
						}
					}
					p.step()
				}
				p.settleAll(5 * time.Minute)
			}
		})
	}
}

func TestMessagesSplitAndJoin(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{delay: time.Millisecond})
	for _, n := range []int{0, 1, pieceSize - 1, pieceSize, pieceSize + 1, 2 * pieceSize, defaultMessage} {
		if err := p.ends[0].queue(3, strings.Repeat("m", n)); err != nil {
			t.Fatal(err)
		}
	}
	p.settleAll(time.Second)
	if n := len(p.ends[1].got[3]); n != 7 {
		t.Fatalf("%d messages", n)
	}
}

func TestQueueRefuses(t *testing.T) {
	c := New(Config{MaxMessage: 1000, Window: 10_000})
	for _, tt := range []struct {
		stream, size int
		err          error
	}{{0, 1001, ErrTooLarge}, {Streams, 1, ErrStream}, {-1, 1, ErrStream}, {Streams - 1, 1000, nil}} {
		if err := c.Queue(tt.stream, make([]byte, tt.size)); !errors.Is(err, tt.err) {
			t.Errorf("stream %d, %d B: %v", tt.stream, tt.size, err)
		}
	}
	n := 0
	for c.Queue(0, make([]byte, 68)) == nil {
		n++
	}
	if got := c.Unacked(); n != (10_000-1064)/100 || got > 10_000 {
		t.Errorf("window took %d messages, %d B", n, got)
	}
}

// The window opens again when the other end acked, not before.
func TestBackpressureEnds(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{delay: 10 * time.Millisecond})
	a, n := p.ends[0], 0
	fill := func() (took int) {
		for ; a.queue(0, fmt.Sprintf("%d %s", n, strings.Repeat("y", 900))) == nil; n++ {
			took++
		}
		return took
	}
	full := fill()
	if p.run(5 * time.Millisecond); fill() != 0 {
		t.Fatal("window opened without an ack")
	}
	p.settleAll(10 * time.Second)
	if again := fill(); again != full {
		t.Fatalf("window took %d messages, then %d", full, again)
	}
	p.settleAll(10 * time.Second)
}

func TestAbortReturnsPieces(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{})
	a := p.ends[0]
	if err := a.queue(0, "hello"); err != nil {
		t.Fatal(err)
	}
	pn := a.Next()
	b := a.Begin(0, nil)
	a.AppendReliable(0, b, 1200)
	a.Abort()
	if a.Next() != pn || !a.WantsSend(0) || a.InFlight() != 0 {
		t.Fatal("an aborted packet left a trace")
	}
	p.settleAll(time.Second)
}

func TestGoodbye(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{})
	a, b := p.ends[0], p.ends[1]
	a.queue(0, "last words")
	buf := a.AppendReliable(0, a.Begin(0, nil), 1200)
	buf = AppendClose(buf, 7, strings.Repeat("bye\n", 100))
	a.sent[a.Commit(0, buf, true)] = false
	var end *CloseError
	if err := b.Receive(0, buf, b); !errors.As(err, &end) {
		t.Fatal(err)
	}
	if end.Code != 7 || len(end.Text) != MaxCloseText || strings.Contains(end.Error(), "\n") || len(b.got[0]) != 1 {
		t.Fatalf("%v, %q", end, b.got[0])
	}
}
