package shard

import (
	"cmp"
	"math/bits"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// deltas takes one frame of a driver's changes.
func (s *Shard) deltas(o *Session, body []byte) {
	w, err := wire.ParseDeltas(body)
	if err != nil || w.Num == 0 || int(w.Num) > len(s.classes) {
		s.stats.Malformed++
		s.fault = cmp.Or(err, errClass)
		return
	}
	c := s.classes[w.Num-1]
	if (c.Motion != 0) != s.capture.timed {
		s.stats.Malformed++
		s.fault = errMotion
		return
	}
	w.Walk(&c.Class)
	tick := wire.Expand16(w.Tick, o.tick)
	if int32(tick-o.tick) > 0 {
		o.tick = tick
	}
	var d wire.Delta
	for w.Next(&d) {
		s.stats.Deltas++
		s.delta(o, c, tick, &d)
	}
	if err := w.Err(); err != nil {
		s.stats.Malformed++
		s.fault = err
	}
}

func (s *Shard) delta(o *Session, c *table.Class, tick uint32, d *wire.Delta) {
	e := s.table.ByHandle(d.Handle)
	if e == nil || e.Dead || e.Gen != d.Gen && !s.cfg.Faults.ReuseNow || e.Class != c {
		s.stats.NoHandle++
		if e == nil {
			s.forge(errHandle)
		}
		return
	}
	if e.Driver != o.number || e.Term.N() != d.Term {
		s.stats.Stale++ // at most one (driver, term) is accepted
		if e.Driver != o.number && e.Term.N() == d.Term {
			s.forge(errForged) // who lost the drive writes under an older term
		}
		return
	}
	if d.Mask == 0 { // it is there, and that is all
		s.stats.Beats++
		return
	}
	bad := d.Mask & o.barred(c)
	s.capture.cut, s.capture.still = d.Cut, d.Still
	large := s.store(o, e, tick, d, bad, d.Mask)
	if large != 0 && large != d.Mask { // what comes behind may have made room
		large = s.store(o, e, tick, d, bad, large)
	}
	s.reject(o, e, bad|large, d.Mask)
}

// store stores the slots of a driver's record that are in mask, but for those in bad, and returns those that found no room.
func (s *Shard) store(o *Session, e *table.Entity, tick uint32, d *wire.Delta, bad, mask uint64) (large uint64) {
	c := e.Class
	values := d.Values
	for m := d.Mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		l := c.ValueLen(i, values)
		v := values[:l]
		values = values[l:]
		switch {
		case bad>>i&1 != 0 || mask>>i&1 == 0:
		case e.Overtaken(i, tick):
			s.stats.Overtaken++
		case e.Overridden(i, d.N) && !s.cfg.Faults.OverrideLost:
			s.stats.Overridden++
		case !s.set(e, i, v):
			large |= 1 << i
		default:
			s.stats.Writes++
			e.Wrote(i, tick)
			if i == c.Position {
				s.place(e, d.Chunk)
				if o.avatar == e {
					o.lookFromAvatar()
				}
			}
		}
	}
	return large
}

// reject tells a driver which of its slots the relay does not apply, once per change: slots is what it did not apply of what was
// sent. A slot that was refused and is applied now ends its reason.
func (s *Shard) reject(o *Session, e *table.Entity, slots, sent uint64) {
	if slots == 0 && e.Rejected == 0 {
		return
	}
	if slots != 0 {
		s.stats.Refused++
	}
	was := s.rejected[e.Handle]
	now := was&^sent | slots
	if now == was {
		return
	}
	e.Rejected = 0
	switch {
	case now&o.barred(e.Class) != 0:
		e.Rejected = wire.RefusedRights
	case now != 0:
		e.Rejected = wire.RefusedInvalid
	}
	s.why = e.Rejected
	if now == 0 {
		delete(s.rejected, e.Handle)
	} else {
		if s.rejected == nil {
			s.rejected = make(map[uint32]uint64)
		}
		s.rejected[e.Handle] = now
	}
	m := wire.Entity{ID: e.ID, Inc: e.Inc, Reason: e.Rejected, Mask: now}
	o.queue(wire.AppendEntity(nil, wire.MsgRejected, &m))
}

// override takes the host's correction of what somebody else drives. If the sender has come to drive it meanwhile, it is told of
// its own correction, which the values it was assigned may have undone.
func (s *Shard) override(o *Session, m *wire.Entity) {
	e := s.table.ByID(m.ID)
	if e == nil || e.Inc != m.Inc || !s.admits(o, e) {
		s.stats.Stale++
		return
	}
	c := e.Class
	d := s.session(e.Driver)
	switch {
	case m.Mask == 0 || m.Mask&o.barred(c) != 0 || c.ValuesLen(m.Mask, m.Values) != len(m.Values):
		s.refuseOverride(o, m, wire.RefusedRights)
		return
	case d != nil && d != o && d.unacked() > overrideRoom: // the host must not fill the driver's window
		s.refuseOverride(o, m, wire.RefusedLimit)
		return
	case e.Flags&wire.EntityOwnerOnly == 0 && (o.Authority || s.host == o), o.Authority && m.Mask&^c.Auth == 0:
	case s.strict():
		if s.host == o {
			s.stats.OwnerOnly++
		} else {
			s.stats.NotHost++
		}
		s.refuseOverride(o, m, wire.RefusedRights)
		return
	case d == o: // it may write as a driver does
		return
	default:
		s.foreign(o, e, m)
		return
	}
	e.N++
	stored, values := uint64(0), []byte(nil)
	s.eachSlot(c, m, func(i int, v []byte) {
		if s.set(e, i, v) {
			e.Override(i)
			stored |= 1 << i
			values = append(values, v...)
		}
	})
	if rest := m.Mask &^ stored; rest != 0 { // there is no room for them
		s.refuseOverride(o, &wire.Entity{ID: m.ID, Inc: m.Inc, Mask: rest}, wire.RefusedInvalid)
		if stored == 0 {
			return
		}
	}
	if c.Position >= 0 && m.Mask>>c.Position&1 != 0 {
		s.place(e, m.Chunk)
	}
	if d != nil {
		r := wire.Entity{ID: e.ID, Inc: e.Inc, Term: e.Term, N: e.N, Version: s.flush, Chunk: e.Place.Chunk, Mask: stored, Values: values}
		d.queue(wire.AppendEntity(nil, wire.MsgOverride, &r))
	}
}

// overrideRoom is how much a driver may have unacked when it is corrected.
const overrideRoom = 64 << 10

func (s *Shard) refuseOverride(o *Session, m *wire.Entity, reason uint8) {
	s.why = reason
	s.stats.Refused++
	r := wire.Entity{ID: m.ID, Inc: m.Inc, Reason: reason, Mask: m.Mask}
	o.queue(wire.AppendEntity(nil, wire.MsgRejected, &r))
}
