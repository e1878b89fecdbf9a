package shard

import (
	"maps"
	"slices"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Placed entities stand on every client that has placed their name:
//
//	first placement ─► the entity begins with its values; the host's first placement before anybody drove it replaces them
//	destroyed ─► gone: told to every session before its welcome; placed again, it is refused
//	Respawn by the host ─► the next incarnation, shown to all who placed the name, or wanted to

// greetRoom is how much may be unacked while the list of destroyed entities is sent: a long one takes a few round trips.
const greetRoom = 128 << 10

// placing takes the announcement of a placed entity, or reports that it begins now.
func (s *Shard) placing(o *Session, m *wire.Entity, c *table.Class, e *table.Entity) (begins bool) {
	gone := s.table.Gone(m.ID)
	switch {
	case m.Flags&wire.EntityRespawn != 0:
		return s.mayRespawn(o, m, e, gone)
	case e == nil && gone != 0: // it stays destroyed
		o.place(m.ID) // but who wanted it is shown what comes after
		r := *m
		r.Inc = gone
		o.refuse(&r, wire.RefusedDead)
	case m.Flags&wire.EntityWanted != 0:
		if o.place(m.ID); e != nil {
			s.look(e)
		}
	case e != nil && e.Flags&wire.EntityPlaced != 0 && e.Class == c:
		first := e.Driver == 0 && e.RoleVer == e.Born && !o.placed[m.ID] // nobody has driven it yet
		o.place(m.ID)
		s.look(e)
		switch {
		case e.Flags&wire.EntityHosted == 0 || s.host != o:
		case first && s.may(o, e): // of two first placements the host's wins
			e.Nonce = m.Nonce
			s.accept(e, m.Mask, m.Values, o.barred(c)&^c.Init)
			s.place(e, m.Chunk)
			s.pass(e, o, s.table.NextTerm())
			s.hand(e, o, o)
		default:
			s.toHost(e) // the host has a body of it now
		}
	case e != nil:
		s.stats.Refused++
		o.refuse(m, wire.RefusedIDHeld)
	default:
		o.place(m.ID)
		return true
	}
	return false
}

// mayRespawn decides about a host's wish to begin a destroyed entity anew.
func (s *Shard) mayRespawn(o *Session, m *wire.Entity, e *table.Entity, gone wire.Count) bool {
	reason := uint8(0)
	switch {
	case s.host != o:
		reason = wire.RefusedRights
	case e != nil:
		reason = wire.RefusedIDHeld
	case gone == 0:
		reason = wire.RefusedInvalid
	}
	if reason != 0 {
		s.stats.Refused++
		o.refuse(m, reason)
		return false
	}
	s.revive(m.ID)
	o.place(m.ID)
	return true
}

// revive lets a destroyed id begin anew.
func (s *Shard) revive(id wire.ID) {
	if s.table.Gone(id) == 0 {
		return
	}
	s.table.Revive(id)
	delete(s.hushed, id)
	s.destroyed = nil
}

// destroyedList is what a session that begins is told: shared by all that begin before it changes. Those that not everybody may know of
// are not in it; who places them is refused.
func (s *Shard) destroyedList() []wire.Destroyed {
	if s.destroyed == nil {
		s.table.GonePlaced(func(id wire.ID, inc wire.Count) {
			if !s.hushed[id] {
				s.destroyed = append(s.destroyed, wire.Destroyed{ID: id, Inc: inc})
			}
		})
	}
	return s.destroyed
}

// goes notes that a placed entity stays destroyed.
func (s *Shard) goes(e *table.Entity) {
	s.destroyed = nil
	if s.audiences.at(e) != 0 {
		if s.hushed == nil {
			s.hushed = make(map[wire.ID]bool)
		}
		s.hushed[e.ID] = true
	}
}

// greet tells a session what stays destroyed, as fast as it acks, then welcomes it.
func (o *Session) greet() {
	if o.welcomed {
		return
	}
	for len(o.greeting) > 0 {
		if o.unacked() > greetRoom {
			return
		}
		var b []byte
		b, o.greeting = wire.AppendDestroyed(nil, o.greeting)
		o.queue(b)
	}
	o.greeting = nil
	o.welcome()
}

// welcome tells a session where it is, and who else is there.
func (o *Session) welcome() {
	s := o.shard
	o.welcomed = true
	w := wire.Welcome{Version: wire.Version, Epoch: s.cfg.Epoch, Start: s.cfg.Start, World: o.epoch, Flush: s.flush, TimeMS: s.ms(),
		Player: o.Player, Eligible: o.Eligible, Authority: o.Authority, Host: s.Host(), HostTerm: s.hostTerm, Profile: s.cfg.Profile}
	o.queue(w.Append(nil))
	o.tellClasses()
	for _, g := range slices.Sorted(maps.Keys(s.members[o.Player])) {
		o.tellGroup(g, 0)
	}
	o.tellKinds()
	o.events.state = true
	o.there, o.upTo = s.whoIsThere()
	o.hear()
	if o.said {
		o.ready = true
		o.lookAnew()
	}
}

// firstFirst orders what waited for the settled world: what is from before, then placements, those of the host to be before others.
func (s *Shard) firstFirst(waiting []standing) {
	host := s.candidate()
	rank := func(w *standing) int {
		switch {
		case w.kind == wire.MsgAgain:
			return 0
		case host != nil && w.session == host.number:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(waiting, func(a, b standing) int { return rank(&a) - rank(&b) })
}
