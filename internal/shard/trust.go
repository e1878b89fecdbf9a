package shard

import (
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Trust says who decides about a write of somebody who may not: a strict world drops it here; in the others the receivers decide, by
// the same rule, and an observing world tells its operator of each (B-083). Whatever the world, the state of at most one driver and
// term is taken, nobody but an authority writes its fields, and nobody but the driver hands over.

func (s *Shard) strict() bool { return s.cfg.Profile.Flags&wire.ProfileStrict != 0 }

// foreignRoom is how much a driver may have unacked when it is told of a write that it will drop: nobody may fill its window.
const foreignRoom = 16 << 10

// hostBit in the flags of a MsgForeign: the sender is host. The flags of an entity have no use there.
const hostBit = wire.EntityHosted

// tolerated notes that a world which is not strict lets something pass.
func (s *Shard) tolerated(o *Session, e *table.Entity, what string) {
	s.stats.Tolerated++
	if s.cfg.Tolerated != nil && s.cfg.Profile.Flags&wire.ProfileObserve != 0 {
		s.cfg.Tolerated(o, e, what)
	}
}

// foreign lets through what somebody wrote who may not, as the receivers would decide: proxies of a player's entity apply it, the
// driver is told who it was and drops it, and of what the host drives everybody drops it, so that only the host hears of it. It has no
// override number: whatever the driver sends later holds.
func (s *Shard) foreign(o *Session, e *table.Entity, m *wire.Entity) {
	flags := uint16(0)
	if s.host == o {
		flags = hostBit
		s.tolerated(o, e, "override of what only its owner writes")
	} else {
		s.tolerated(o, e, "override by a player that is not host")
	}
	if e.Flags&wire.EntityHosted == 0 {
		s.eachSlot(e.Class, m, func(i int, v []byte) {
			if e.Class.Owner>>i&1 == 0 {
				s.set(e, i, v)
			}
		})
		if p := e.Class.Position; p >= 0 && m.Mask>>p&1 != 0 {
			s.place(e, m.Chunk)
		}
	}
	if d := s.session(e.Driver); d != nil && d.unacked() < foreignRoom {
		r := wire.Entity{ID: e.ID, Inc: e.Inc, Term: e.Term, Flags: flags, Owner: o.Player, Mask: m.Mask, Values: m.Values}
		d.queue(wire.AppendEntity(nil, wire.MsgForeign, &r))
	}
}

// eachSlot calls f for every slot of a message whose values were checked.
func (s *Shard) eachSlot(c *table.Class, m *wire.Entity, f func(i int, v []byte)) {
	values := m.Values
	for i := range c.Slots {
		if m.Mask>>i&1 != 0 {
			l := c.ValueLen(i, values)
			f(i, values[:l])
			values = values[l:]
		}
	}
}
