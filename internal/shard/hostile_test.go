package shard

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/wire"
)

// B-132: what one session does costs the others nothing. Each case is a way that was found to break it.

// fat is a class of about n bytes.
func fat(id uint32, n int) *wire.Class {
	c := &wire.Class{ID: id, Hash: 7, Name: "fat"}
	for range wire.MaxSlots {
		c.Slots = append(c.Slots, wire.Slot{Width: 1, Type: strings.Repeat("x", n/wire.MaxSlots-8)})
	}
	c.Index()
	return c
}

// pour lets a seat say what it has to, whatever the shard answers.
func (w *theatre) pour(c *seat) {
	for range 100 {
		w.now += 5 * time.Millisecond
		for c.sess.open && c.conn.WantsSend(w.now) {
			if err := w.send(c, nil); err != nil {
				return
			}
		}
	}
}

func TestB132ClassesFillNobodysWindow(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 2)
	hostile, other := w.seats[0], w.seats[1]
	for i := range 20 {
		hostile.say(wire.AppendClass(nil, uint32(i), fat(uint32(100+i), wire.MaxClass-1000)))
		w.pour(hostile)
	}
	if n := len(w.s.classes); n < 3 {
		t.Fatalf("%d classes", n)
	}
	if other.sess.Err() != nil || other.conn.Unacked() > 0 {
		t.Fatalf("the other session: %v", other.sess.Err())
	}
	k := lampClass()
	other.enter(k)
	for range 100 {
		w.round()
	}
	if other.sess.Err() != nil || len(other.nums) != len(w.s.classes) {
		t.Fatalf("it was told %d of %d classes, %v", len(other.nums), len(w.s.classes), other.sess.Err())
	}
}

// The world's number of a class may be longer than the client's: the announcement must fit a message all the same.
func TestB132LargeClassUnderALongerNumber(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 2)
	hostile, other := w.seats[0], w.seats[1]
	for i := range 127 {
		hostile.say(wire.AppendClass(nil, 1, &wire.Class{ID: uint32(i + 1), Hash: 1}))
	}
	for range 10 {
		w.round()
	}
	for n := 1 << 16; n > wire.MaxClass-2000; n -= 500 {
		hostile.say(wire.AppendClass(nil, 1, fat(uint32(n), n)))
		w.pour(hostile)
		w.round()
		w.round()
	}
	if other.sess.Err() != nil || hostile.sess.Err() != nil || len(w.s.classes) < 128 {
		t.Fatalf("%d classes, %v, %v", len(w.s.classes), other.sess.Err(), hostile.sess.Err())
	}
}

func TestB132PlacedEntitiesCount(t *testing.T) {
	const own, all = 16, 64
	w := newTheatre(t, Config{Settle: -1, SessionEntities: own, MaxEntities: all}, 2)
	hostile := w.seats[1] // not the host
	hostile.enter(lampClass())
	for i := range 500 {
		hostile.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: wire.ID{1, byte(i), byte(i >> 8)}, Nonce: 1, Class: 1,
			Flags: wire.EntityPlaced | wire.EntityHosted, Mask: 2, Values: []byte{1}}))
		if i%20 == 0 {
			w.round()
		}
	}
	for range 10 {
		w.round()
	}
	if len(hostile.sess.placed) != own || w.s.Entities() != own {
		t.Fatalf("%d placed, %d entities", len(hostile.sess.placed), w.s.Entities())
	}
}

// B-029: a view that cannot be read leaves the one before.
func TestB029MalformedView(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 1)
	c := w.seats[0]
	c.say(wire.AppendView(nil, false, []grid.Chunk{{X: 7}, {Y: 8}}))
	w.round()
	good := wire.AppendView(nil, true, []grid.Chunk{{X: 1 << 40}, {X: 3}})
	for cut := 1; cut < len(good); cut++ {
		c.say(good[:cut])
	}
	c.say(wire.AppendView(nil, true, make([]grid.Chunk, wire.MaxViews+1)))
	w.round()
	w.round()
	if o := c.sess; o.follow || len(o.views) != 2 || o.views[0] != (grid.Chunk{X: 7}) || o.views[1] != (grid.Chunk{Y: 8}) {
		t.Fatalf("follow %v, views %v", o.follow, o.views)
	}
	if w.s.Stats().Malformed == 0 {
		t.Fatal("nothing was malformed")
	}
}

// B-132: a class that somebody announced first under an honest class's id and hash, with another layout, is another class.
func TestB132ClassesCannotBeSpoiled(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 2)
	hostile, honest := w.seats[0], w.seats[1]
	spoiled := lampClass()
	spoiled.Slots[1].Width = 3
	spoiled.Index()
	hostile.enter(spoiled)
	w.round()
	honest.enter(lampClass())
	w.round()
	id := wire.ID{5}
	honest.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: id, Nonce: 1, Class: 1, Mask: 2, Values: []byte{1}}))
	for range 10 {
		w.round()
	}
	if _, ok := honest.binds[id]; !ok || w.s.At(id) == nil {
		t.Fatal("the honest class is refused")
	}
}

// P43: the host's correction of an owner field goes to the owning session only, never into what others are sent.
func TestP43OverrideOfAnOwnerSlot(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 3)
	host, owner := w.seats[0], w.seats[1] // the third only listens
	k := lampClass()
	for _, c := range w.seats {
		c.enter(k)
	}
	w.round()
	id := wire.ID{5}
	owner.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: id, Nonce: 1, Class: 1, Mask: 2, Values: []byte{1}}))
	for range 10 {
		w.round()
	}
	secret := []byte{0xde, 0xad, 0xbe, 0xef}
	var heard, told int
	w.tap = func(c *seat, payload []byte) {
		if bytes.Contains(payload, secret) {
			if c == owner {
				told++
			} else {
				heard++
			}
		}
	}
	host.say(wire.AppendEntity(nil, wire.MsgOverrideUp, &wire.Entity{ID: id, Inc: w.s.At(id).Inc, Mask: 8, Values: secret}))
	for range 20 {
		w.round()
	}
	if told == 0 || heard != 0 || string(w.s.At(id).Value(3)) != string(secret) {
		t.Fatalf("the owner was told %d times, others %d times, the relay holds %x", told, heard, w.s.At(id).Value(3))
	}
}
