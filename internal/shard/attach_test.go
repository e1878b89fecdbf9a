package shard

import (
	"testing"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/wire"
)

func (c *seat) attaches(child, parent wire.ID) {
	m := wire.Attach{ID: child, Inc: c.binds[child].Inc, Nonce: 1, Parent: parent}
	c.say(m.Append(nil, wire.MsgAttach))
}

// What a hostile client attaches makes no ring, no tower, no crowd, and fills no memory; what it says of what others drive does nothing.
func TestAttachIsBounded(t *testing.T) {
	w, _ := lamps(t, Config{SessionEntities: 400}, 2)
	a, b := w.seats[0], w.seats[1]
	for i := range 320 {
		a.spawnLamp(bid(1, i), 0)
		if i%40 == 0 {
			w.rounds(2)
		}
	}
	b.spawnLamp(bid(2, 1), 0)
	w.rounds(30)
	parent := func(i int) *struct{} {
		if w.s.parentOf(w.s.At(bid(1, i))) == nil {
			return nil
		}
		return &struct{}{}
	}
	a.attaches(bid(1, 0), bid(1, 0))
	a.attaches(bid(1, 1), bid(1, 2))
	a.attaches(bid(1, 2), bid(1, 3))
	a.attaches(bid(1, 3), bid(1, 1)) // a ring
	b.attaches(bid(1, 4), bid(2, 1)) // another's
	b.say((&wire.Attach{ID: bid(1, 5), Inc: w.s.At(bid(1, 5)).Inc, Parent: bid(2, 1)}).Append(nil, wire.MsgAttach))
	w.rounds(5)
	if parent(0) != nil || parent(3) != nil || parent(4) != nil || parent(5) != nil || parent(1) == nil {
		t.Fatal("a ring, or another's")
	}
	for i := range 20 { // a tower
		a.attaches(bid(1, 10+i), bid(1, 11+i))
	}
	w.rounds(5)
	top := w.s.At(bid(1, 10))
	depth := 0
	for e := top; w.s.parentOf(e) != nil; e = w.s.parentOf(e) {
		depth++
	}
	if depth > maxTies {
		t.Fatalf("%d on one another", depth)
	}
	for i := range 300 { // a crowd
		a.attaches(bid(1, 15+i), bid(1, 319))
		if i%50 == 0 {
			w.rounds(3)
		}
	}
	w.rounds(20)
	if n := len(w.s.ties.children[w.s.At(bid(1, 319)).Handle]); n > maxTied || n < maxTied/2 {
		t.Fatalf("%d to one", n)
	}
	for i := range 2000 { // what never comes
		b.attaches(bid(7, i), bid(8, i))
		if i%50 == 0 {
			w.rounds(2)
		}
	}
	w.rounds(30)
	if n := len(b.sess.tying.parent); n > 400 || len(b.sess.tying.children) > n {
		t.Fatalf("%d are kept", n)
	}
	if a.sess.Err() != nil || b.sess.Err() != nil {
		t.Fatal(a.sess.Err(), b.sess.Err())
	}
	w.s.Leave(w.now, a.sess, wire.WhyReleased) // all that is tied ends, in whatever order
	w.rounds(60)
	if n := len(w.s.ties.parent) + len(w.s.ties.children) + len(w.s.ties.own) + len(w.s.ties.ever); n != 0 {
		t.Fatalf("%d things are kept of ties", n)
	}
}

// While it is attached, what the driver says of its chunk does not count: it goes with its parent, and so do those who look from it.
func TestAttachedAvatarLooksFromItsParent(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 2)
	a, b := w.seats[0], w.seats[1]
	for _, c := range w.seats {
		k := lampClass()
		c.say(wire.AppendClass(nil, 1, k))
		c.say(wire.AppendView(nil, true, nil))
		c.say([]byte{wire.MsgReady})
	}
	w.rounds(3)
	ship, sailor := bid(1, 1), bid(1, 2)
	a.spawnLamp(ship, 0)
	b.spawnLamp(sailor, wire.EntityAvatar)
	w.rounds(5)
	b.attaches(sailor, ship)
	w.rounds(5)
	e := w.s.At(ship)
	w.s.place(e, grid.Chunk{X: 500})
	w.rounds(3)
	if s := w.s.At(sailor); s.Place.Chunk.X != 500 || b.sess.views[0].X != 500 || !b.seen[ship] {
		t.Fatalf("the sailor is at %v and looks from %v, sees the ship %v", s.Place.Chunk, b.sess.views, b.seen[ship])
	}
	w.s.place(w.s.At(sailor), grid.Chunk{X: 3})
	if s := w.s.At(sailor); s.Place.Chunk.X != 500 {
		t.Fatal("it went by itself")
	}
	b.attaches(sailor, wire.ID{})
	w.rounds(3)
	w.s.place(w.s.At(sailor), grid.Chunk{X: 3})
	w.rounds(3)
	if b.sess.views[0].X != 3 && w.s.At(sailor).Place.Chunk.X != 3 {
		t.Fatal("detached, it goes by itself")
	}
}
