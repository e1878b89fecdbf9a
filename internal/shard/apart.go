package shard

import (
	"math/bits"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Values that do not fit a record travel apart:
//
//	set ─► table: Entity.Apart ─► buildBlob, owe: dirty for everybody who knows the entity ─► own item
//	own item ─► apart: a reliable message with the value of now, held ─► feed, as the budget allows ─► session
//
// To be dirty means the same as for a record, with the same rules for who is behind: what an observer lacks is a bit of its own item, and
// is taken from the table when it leaves. On the way there is one value of a slot at most; the next leaves when that has arrived, as it is
// then. Since it arrives for certain, nothing needs to be remembered of packets.

// Bounds of what the relay stores of values that travel apart. A player may fill as much with them as with records.
const (
	shareApart = 4 << 20
	worldApart = 256 << 20
)

// apart is a value on its way.
type apart struct {
	handle uint32
	seq    uint32 // of its message: see session.Conn.Settled
	size   int32
	slot   uint8
}

// apartRoom is by how much the values of an entity that travel apart may grow.
func (s *Shard) apartRoom(e *table.Entity) int {
	room := worldApart - s.apart
	if h := e.Maker; h != nil && !h.Trusted {
		room = min(room, shareApart-h.Apart)
	}
	return room
}

func (s *Shard) chargeApart(e *table.Entity, bytes int) {
	s.apart += bytes
	if e.Maker != nil {
		e.Maker.Apart += bytes
	}
}

// owe makes slots that travel apart dirty for everybody who knows the entity.
func (s *Shard) owe(e *table.Entity, mask uint64) {
	if mask == 0 {
		return
	}
	for _, o := range s.sessions {
		if p := o.pairs.get(e.Handle); p != nil && p.state == known {
			o.dirty(p, e, mask)
		}
	}
}

// introducedApart makes dirty what an introduction that was acked did not carry. Where values are not kept it is so for those who were
// there at the spawn.
func (o *Session) introducedApart(p *pair, e *table.Entity) {
	s := o.shard
	if e.Apart() != 0 && !s.cfg.Faults.ApartForgotten && (s.retains() || p.v == e.Born) {
		o.dirty(p, e, e.Apart()&s.visible(e))
	}
}

// apart sends the values of the slots in mask, which travel apart, as far as they may leave now, and returns those that may not.
func (w *bundler) apart(e *table.Entity, mask uint64) (rest uint64) {
	s, o := w.s, w.o
	for m := mask & e.Apart(); m != 0 && o.budget.left(); m &= m - 1 {
		i := bits.TrailingZeros64(m)
		v := e.Value(i)
		if o.flies(e.Handle, i) && s.cfg.Faults.ApartOnce {
			mask &^= 1 << i
			continue
		}
		if o.flies(e.Handle, i) || o.apartBytes > 0 && o.apartBytes+len(v) > wire.MaxFlying {
			continue
		}
		msg := wire.Value{Epoch: o.epoch, Handle: e.Handle, Flush: s.flush, Slot: uint8(i), Value: v}
		s.scratch.frame = msg.Append(s.scratch.frame[:0])
		if o.conn.QueueHeld(wire.StreamValues, e.Handle, s.scratch.frame) != nil {
			break // the window is full of other things
		}
		o.apart = append(o.apart, apart{e.Handle, o.conn.Queued(wire.StreamValues), int32(len(v)), uint8(i)})
		o.apartBytes += len(v)
		s.stats.Apart++
		mask &^= 1 << i
	}
	return mask
}

// flies reports whether a value of a slot is on its way.
func (o *Session) flies(handle uint32, slot int) bool {
	for i := range o.apart {
		if a := &o.apart[i]; a.handle == handle && int(a.slot) == slot {
			return true
		}
	}
	return false
}

// landed forgets what has arrived.
func (o *Session) landed() {
	n, done := 0, o.conn.Settled(wire.StreamValues)
	for n < len(o.apart) && int32(o.apart[n].seq-done) <= 0 {
		o.apartBytes -= int(o.apart[n].size)
		n++
	}
	if n > 0 {
		o.apart = o.apart[:copy(o.apart, o.apart[n:])]
	}
}

// guardApart takes back what is on its way of entities that the session may not know of any more: no byte of them leaves after their deny
// was accepted.
func (o *Session) guardApart() {
	if len(o.apart) == 0 {
		return
	}
	o.landed()
	for i := range o.apart {
		e := o.shard.table.ByHandle(o.apart[i].handle)
		if e == nil || o.shard.admits(o, e) {
			continue
		}
		o.withdraw(e.Handle)
		if p := o.pairs.get(e.Handle); p != nil && p.state == known {
			o.dirty(p, e, 1<<o.apart[i].slot) // it may be admitted again before it is told to forget the entity
		}
	}
}

// withdraw takes back what is on its way of an entity.
func (o *Session) withdraw(handle uint32) {
	if !o.shard.cfg.Faults.ApartTold {
		o.conn.Withdraw(wire.StreamValues, handle)
	}
}

// feed lets values that travel apart leave, as long as the budget lasts.
func (w *bundler) feed() {
	o := w.o
	if o.silent || !o.conn.Holding() {
		return
	}
	for o.budget.left() && o.conn.Holding() {
		o.conn.Feed(w.limit * 3 / 4)
		w.begin()
		w.flush()
	}
	if o.conn.Holding() {
		w.s.work, w.s.retry = true, true
	}
}

// feedFirst lets a piece of them leave before all else, now and then: what never ends must not starve them (B-072).
func (w *bundler) feedFirst() {
	if w.o.conn.Holding() && w.s.flush%4 == 2 && w.o.budget.left() {
		w.o.conn.Feed(1)
	}
}

// valueUp takes a value of a driver's that travels apart: a record with one slot.
func (s *Shard) valueUp(o *Session, body []byte) error {
	m, err := wire.ParseValueUp(body)
	if err != nil || o.Observer {
		return err
	}
	e := s.table.ByHandle(m.Handle)
	switch {
	case e == nil:
		s.stats.NoHandle++
		s.forge(errHandle)
		return nil
	case e.Gen == m.Gen && !e.Class.Fits(m.Slot, m.Value):
		return wire.ErrMalformed
	}
	tick := wire.Expand16(m.Tick, o.tick)
	if int32(tick-o.tick) > 0 {
		o.tick = tick
	}
	s.stats.Deltas++
	d := wire.Delta{Handle: m.Handle, Gen: m.Gen, Term: m.Term, N: m.N, Mask: 1 << m.Slot, Values: m.Value}
	s.delta(o, e.Class, tick, &d)
	return nil
}
