package shard

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// plain is a world of sessions that look from nowhere and do nothing, and of two walkers that stand side by side.
type plain struct {
	tb    testing.TB
	s     *Shard
	now   time.Duration
	byTo  map[transport.ID]*walker
	idle  []*walker
	pair  [2]*walker
	out   []transport.Datagram
	take  func([]transport.Datagram)
	state uint32
}

// newPlain is such a world when everybody has been told all there is to tell. Nobody keeps its session alive.
func newPlain(tb testing.TB, n int, cfg Config) *plain {
	prof := DefaultProfile()
	prof.ChunkSize, prof.Reach, prof.PropertyReach = chunkSize, 1, 1
	cfg.Profile, cfg.Settle = prof, -1
	w := &plain{tb: tb, s: New(0, cfg), byTo: map[transport.ID]*walker{}}
	w.take = w.deliver
	class := &wire.Class{ID: 1, Hash: 1, Name: "walker", Slots: []wire.Slot{{Width: 4, Words: wire.WordPosition, Name: "state"}}}
	class.Index()
	for i := range n + 2 {
		c := w.join(i, class)
		if i < n {
			w.idle = append(w.idle, c)
		} else {
			w.pair[i-n] = c
			c.conn.Queue(0, wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: wire.ID{byte(i - n + 1)}, Nonce: 1, Class: 1, Flags: wire.EntityAvatar,
				Mask: 1, Values: make([]byte, 4)}))
		}
	}
	w.settle()
	if w.pair[0].bind.Handle == 0 || w.pair[1].bind.Handle == 0 {
		tb.Fatal("the two do not drive")
	}
	return w
}

func (w *plain) join(i int, class *wire.Class) *walker {
	quiet := session.Config{KeepAlive: -1}
	c := &walker{conn: session.New(quiet), class: class, buf: transport.NewBuffer()}
	id := Identity{To: transport.ID(i + 1), Player: wire.PlayerID{byte(i), byte(i >> 8), 1}, Senior: uint64(i)}
	c.sess = w.s.Join(w.now, session.New(quiet), id, 1)
	c.sess.there, w.s.roster.news = nil, nil // it is not about the roster, in which everybody is told of everybody
	c.sess.entered = 1000 * time.Hour        // nor silent
	w.byTo[id.To] = c
	c.conn.Queue(0, wire.AppendClass(nil, 1, class))
	c.conn.Queue(0, []byte{wire.MsgReady})
	return c
}

// settle lets time pass until nobody has anything to say.
func (w *plain) settle() {
	for range 200 {
		for _, c := range w.byTo {
			w.speak(c)
		}
		w.pass(10 * time.Millisecond)
	}
	w.deliver(w.s.Flush(w.now, nil)) // the last acks called for a look that nothing asked for by itself
}

func (w *plain) speak(c *walker) {
	for c.conn.WantsSend(w.now) {
		b := c.conn.AppendReliable(w.now, c.conn.Begin(w.now, c.buf[:transport.Headroom]), 1200)
		c.conn.Commit(w.now, b, false)
		if err := w.s.Receive(w.now, c.sess, b[transport.Headroom:]); err != nil {
			w.tb.Fatal(err)
		}
	}
}

// pass lets time pass, and the relay do what is due at its end.
func (w *plain) pass(d time.Duration) {
	if w.now += d; w.s.Wake() <= w.now {
		w.out = w.s.FlushTo(w.now, w.out[:0], w.take)
		w.deliver(w.out)
	}
}

func (w *plain) deliver(out []transport.Datagram) {
	for _, d := range out {
		c := w.byTo[d.To]
		if err := c.conn.Receive(w.now, d.Payload(), c); err != nil {
			w.tb.Fatal(err)
		}
	}
}

// move is one change of the first of the two, told to the other.
func (w *plain) move() {
	w.state++
	if err := w.s.Receive(w.now, w.pair[0].sess, w.pair[0].packet(w.now, w.state)); err != nil {
		w.tb.Fatal(err)
	}
	w.pass(10 * time.Millisecond) // an easy pace, at which each change leaves at once
	w.speak(w.pair[0])
	w.speak(w.pair[1])
}

// Nobody is looked at without a cause: what one client does costs the relay the same, however many others there are.
func TestIdleSessionsAreNotLookedAt(t *testing.T) {
	w := newPlain(t, 2000, Config{})
	const moves = 500
	served, records := w.s.Stats().Served, w.pair[1].records
	for range moves {
		w.move()
	}
	if got := w.pair[1].records - records; got != moves {
		t.Errorf("%d of %d moves were seen", got, moves)
	}
	if got := w.s.Stats().Served - served; got > 2*moves {
		t.Errorf("%d sessions were looked at for %d moves", got, moves)
	}
	w.settle()
	served = w.s.Stats().Served
	for range 1000 { // ten seconds
		w.pass(10 * time.Millisecond)
	}
	if got := w.s.Stats().Served - served; got > 4 {
		t.Errorf("%d sessions were looked at while nobody did anything", got)
	}
}

// One change among 10,000 sessions that do nothing, and what is acked of it.
func BenchmarkIdle10000(b *testing.B) {
	w := newPlain(b, 10_000, Config{})
	seen := w.pair[1].records
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		w.move()
		n++
	}
	if got := w.pair[1].records - seen; got < n*9/10 { // some share a flush
		b.Errorf("%d of %d moves were seen", got, n)
	}
}
