package shard

import (
	"time"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// A pass-through world keeps no values for those who come later, so the driver of an entity that sends nothing by itself repeats its spawn
// (B-053):
//
//	Repeat, every 4 s ─► where it is now, its init fields ─► an introduction for those who were introduced without
//	                  └► of one that was destroyed: ignored for 10 s; then it is back, for who drives it has not heard

// tombstone is how long a pass-through world ignores repeats of what was destroyed. Where values are kept, incarnations decide, for good.
const tombstone = 10 * time.Second

// spoken are the slots that a spawn's repeat carries: the others come with their next change.
func spoken(c *table.Class) uint64 {
	m := c.Init
	if c.Position >= 0 {
		m |= 1 << c.Position
	}
	return m &^ c.Owner
}

// repeat takes a repeated spawn from its driver.
func (s *Shard) repeat(o *Session, m *wire.Entity) {
	e := s.table.ByID(m.ID)
	switch {
	case s.retains():
		s.stats.Stale++
		return
	case e == nil:
		if e = s.rise(o, m); e == nil {
			s.stats.Stale++
			return
		}
	case e.Driver != o.number || e.Inc != m.Inc || e.Term != m.Term || e.Revoking:
		s.stats.Stale++
		return
	}
	if c := e.Class; m.Mask&^spoken(c) != 0 || c.ValuesLen(m.Mask, m.Values) != len(m.Values) {
		s.stats.Malformed++
		return
	}
	s.accept(e, m.Mask, m.Values, 0)
	s.place(e, m.Chunk)
	if s.repeating == nil {
		s.repeating = make(map[uint32]bool)
	}
	s.repeating[e.Handle] = true
	for _, p := range s.sessions {
		if k := p.pairs.get(e.Handle); k != nil && k.state == known && k.v == 0 {
			p.introduce(k)
		}
	}
}

// rise brings back what was destroyed while its driver heard nothing of it, once nobody remembers: the hole that a world without
// kept values has.
func (s *Shard) rise(o *Session, m *wire.Entity) *table.Entity {
	for i, e := range s.dying {
		if e.ID != m.ID || e.Inc != m.Inc || e.Term != m.Term || e.Driver != o.number || e.Why != wire.WhyDestroyed || s.now < e.At+tombstone {
			continue
		}
		p := o.pairs.get(e.Handle)
		if p == nil || p.state != leaving || e.Flags&wire.EntityPlaced != 0 {
			return nil // it has heard
		}
		s.dying = append(s.dying[:i], s.dying[i+1:]...)
		s.table.Rise(e)
		p.state, p.pkt = drives, 0
		o.owned++
		e.Maker = s.share(o.Player)
		e.Maker.Entities++
		if e.Class.Position >= 0 {
			s.grid.Add(e.Handle, m.Chunk)
			e.Prev = m.Chunk
		} else {
			s.global = append(s.global, e)
		}
		s.look(e)
		return e
	}
	return nil
}
