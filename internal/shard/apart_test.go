package shard

import (
	"bytes"
	"testing"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// label is a value of the lamp's third slot.
func label(fill byte, n int) []byte {
	return append([]byte{byte(n) | 0x80, byte(n>>7) | 0x80, byte(n >> 14)}, bytes.Repeat([]byte{fill}, n)...)
}

// writes sends a value of slot 2 that travels apart.
func (c *seat) writes(id wire.ID, tick uint16, v []byte) {
	b := c.binds[id]
	m := wire.ValueUp{Handle: b.Handle, Gen: b.Gen, Term: b.Term.N(), Tick: tick, Slot: 2, Value: v}
	c.say(m.Append(nil))
}

// apartBytes is what the world really holds of values that travel apart.
func (w *theatre) apartBytes() (n int) {
	w.s.Each(func(e *table.Entity) { n += e.ApartSize() })
	return n
}

// enterTwo has the first two seats enter with lamps.
func (w *theatre) enterTwo() (a, b *seat) {
	a, b = w.seats[0], w.seats[1]
	a.enter(lampClass())
	b.enter(lampClass())
	w.rounds(5)
	return a, b
}

// however many large values a player writes, the relay stores what its share allows, tells it which are not applied, and has the room
// again when its entities are gone. Others have theirs.
func TestR06LargeValuesCountForTheirMaker(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 2)
	hostile, other := w.enterTwo()
	const n = 400 // 6.4 MiB
	for i := range n {
		hostile.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(1, i), Nonce: uint32(i + 1), Class: 1, Mask: 4, Values: label(1, 16000)}))
		w.rounds(2)
	}
	other.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(2, 1), Nonce: 1, Class: 1, Mask: 4, Values: label(2, 16000)}))
	w.rounds(20)
	share := w.s.shares[hostile.sess.Player].Apart
	if share > shareApart || share < shareApart-16100 || w.apartBytes() != share+16003 || w.s.apart != share+16003 {
		t.Fatalf("share %d, world %d, stored %d", share, w.s.apart, w.apartBytes())
	}
	if e := w.s.At(bid(1, n-1)); e == nil || e.Rejected == 0 || e.Apart() != 0 {
		t.Error("the last is not rejected")
	}
	if e := w.s.At(bid(2, 1)); e.ApartSize() != 16003 {
		t.Error("another player has no room")
	}
	for i := range n {
		hostile.say(wire.AppendEntity(nil, wire.MsgDestroy, &wire.Entity{ID: bid(1, i), Inc: hostile.binds[bid(1, i)].Inc, Nonce: uint32(i + 1)}))
		if i%20 == 0 {
			w.round()
		}
	}
	w.rounds(5)
	if w.s.apart != 16003 || w.apartBytes() != 16003 {
		t.Errorf("%d of the world's room is taken when all are gone", w.s.apart)
	}
}

// what no client of ours would send changes nothing and grows nothing.
func TestR06HostileValues(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 2)
	c, other := w.enterTwo()
	id := bid(1, 1)
	c.spawnLamp(id, 0)
	w.rounds(10)
	b := c.binds[id]
	good := wire.ValueUp{Handle: b.Handle, Gen: b.Gen, Term: b.Term.N(), Tick: 5, Slot: 2, Value: label(7, 2000)}
	for name, change := range map[string]func(m *wire.ValueUp){
		"handle":     func(m *wire.ValueUp) { m.Handle += 9 },
		"no handle":  func(m *wire.ValueUp) { m.Handle = 0 },
		"generation": func(m *wire.ValueUp) { m.Gen++ },
		"term":       func(m *wire.ValueUp) { m.Term++ },
		"slot":       func(m *wire.ValueUp) { m.Slot = 0 },
		"no slot":    func(m *wire.ValueUp) { m.Slot = 200 },
		"short":      func(m *wire.ValueUp) { m.Value = m.Value[:1999] },
		"behind":     func(m *wire.ValueUp) { m.Value = append(bytes.Clone(m.Value), 0) },
		"no value":   func(m *wire.ValueUp) { m.Value = nil },
		"too long":   func(m *wire.ValueUp) { m.Value = label(7, 16<<10+1) },
	} {
		m := good
		change(&m)
		c.say(m.Append(nil))
		w.rounds(10)
		if w.s.apart != 0 || len(w.s.At(id).Value(2)) != 1 {
			t.Errorf("%s: %d bytes are stored", name, len(w.s.At(id).Value(2)))
		}
	}
	other.say(good.Append(nil))
	w.rounds(3)
	if w.s.apart != 0 {
		t.Error("who does not drive it writes it")
	}
	c.say(good.Append(nil))
	w.rounds(10)
	if w.s.apart != 2003 || !bytes.Equal(w.s.At(id).Value(2), good.Value) {
		t.Errorf("the good one: %d bytes", w.s.apart)
	}
}

// an observer that acks nothing has 64 KiB under way and no more, whatever is written; values that change faster than they are acked
// leave one at a time.
func TestR06FlyingIsBounded(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 2)
	c, deaf := w.enterTwo()
	for i := range 12 {
		c.spawnLamp(bid(1, i), 0)
	}
	w.rounds(20)
	deaf.deaf = true
	for tick := range 60 {
		for i := range 12 {
			c.writes(bid(1, i), uint16(tick+1), label(byte(tick), 15000))
		}
		w.rounds(3)
		o := deaf.sess
		if o.apartBytes > wire.MaxFlying || o.conn.Unacked() > 64<<10 {
			t.Fatalf("%d bytes under way, %d of control", o.apartBytes, o.conn.Unacked())
		}
		flying := map[uint32]int{}
		for _, a := range o.apart {
			if flying[a.handle]++; flying[a.handle] > 1 {
				t.Fatal("two values of a slot are under way")
			}
		}
	}
	if deaf.sess.apartBytes < wire.MaxFlying-15003 {
		t.Errorf("%d bytes under way", deaf.sess.apartBytes)
	}
}

// from the instant at which an observer may not know of an entity any more, no byte of its values leaves.
func TestR06NothingLeavesAfterADeny(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1, Budget: 8 << 10}, 2)
	c, other := w.enterTwo()
	id := bid(1, 1)
	c.spawnLamp(id, 0)
	w.rounds(10)
	c.writes(id, 9, label(0xE7, 15000))
	w.rounds(6)
	if len(other.sess.apart) == 0 || !other.sess.conn.Holding() {
		t.Fatal("nothing is under way")
	}
	w.s.SetAudience(id, Audience{Players: []wire.PlayerID{other.sess.Player}})
	w.tap = func(to *seat, payload []byte) {
		if to == other && bytes.Contains(payload, bytes.Repeat([]byte{0xE7}, 16)) {
			t.Fatal("a piece leaves after the deny")
		}
	}
	w.rounds(100)
	if len(other.sess.apart) != 0 || other.sess.conn.Holding() {
		t.Error("it is still under way")
	}
}
