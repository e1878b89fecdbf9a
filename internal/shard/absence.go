package shard

import (
	"time"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// What waits for a player who is not in the world: entities whose owner's session ended and whose class keeps them for a while, and
// grants, where the world parks them (B-092).

// maxParked bounds the grants that wait.
const maxParked = 4096

// parkedGrant is a grant to a player who may still come. It is void once the entity has another term.
type parkedGrant struct {
	e     *table.Entity
	term  wire.Count
	to    wire.PlayerID
	until time.Duration
}

// park keeps a grant until its player comes, and then the host gets the entity. It reports whether the world does that.
func (s *Shard) park(e *table.Entity, to wire.PlayerID) bool {
	if s.cfg.ParkGrants <= 0 || len(s.parked) >= maxParked {
		return false
	}
	until := s.now + s.cfg.ParkGrants
	s.parked = append(s.parked, parkedGrant{e, e.Term, to, until})
	s.wake = min(s.wake, until)
	return true
}

func (s *Shard) unpark(e *table.Entity) {
	for i := range s.parked {
		if s.parked[i].e == e {
			s.parked = append(s.parked[:i], s.parked[i+1:]...)
			return
		}
	}
}

// granted reports whether a grant of the entity waits: it does not leave with the one who granted it, but goes to the host meanwhile.
func (s *Shard) granted(e *table.Entity) *parkedGrant {
	for i := range s.parked {
		if p := &s.parked[i]; p.e == e && p.term == e.Term {
			return p
		}
	}
	return nil
}

// keep holds an entity for its owner, whose session ended: it stays as it is, with its owner, and nobody drives.
func (s *Shard) keep(e *table.Entity) {
	if d := s.session(e.Driver); d != nil {
		d.owned--
		if d.avatar == e {
			d.avatar = nil
		}
	}
	e.Keep(s.now + time.Duration(e.Class.Keep)*time.Second)
	s.kept = append(s.kept, e)
	s.wake = min(s.wake, e.Deadline)
	s.look(e)
}

// resume lets an owner that comes back go on with the values it announces, but for what was overridden while it was away; then it is
// told all.
func (s *Shard) resume(e *table.Entity, o *Session, m *wire.Entity) {
	announcer := o
	s.eachSlot(e.Class, m, func(i int, v []byte) {
		if e.Overridden(i, 0) {
			announcer = nil
		} else if (e.Class.Auth|e.Class.Init)>>i&1 == 0 && string(e.Value(i)) != string(v) {
			s.set(e, i, v)
		}
	})
	if p := e.Class.Position; p >= 0 && m.Mask>>p&1 != 0 && !e.Overridden(p, 0) {
		s.place(e, m.Chunk)
	}
	s.renumber(e, m.Nonce)
	s.pass(e, o, s.table.NextTerm())
	if announcer != nil {
		e.AnnTerm = m.Term // until its driver is told of the next, it names this one
	}
	s.hand(e, o, announcer)
}

// returned gives a player that is ready what waited for it, and did not come back with its own values.
func (s *Shard) returned(o *Session) {
	if o.Observer {
		return
	}
	for _, e := range s.kept {
		if e.Kept() && e.Owner == o.Player && s.may(o, e) {
			s.swapTo(e, o)
		}
	}
	for i := 0; i < len(s.parked); i++ {
		p := s.parked[i]
		if p.to != o.Player {
			continue
		}
		s.parked = append(s.parked[:i], s.parked[i+1:]...)
		i--
		if !p.e.Dead && p.e.Term == p.term && !p.e.Revoking && s.may(o, p.e) {
			s.revoke(p.e, o.number, false)
		}
	}
}

// absences ends what waited too long.
func (s *Shard) absences() {
	kept := s.kept[:0]
	for _, e := range s.kept {
		if e.Kept() && s.now >= e.Deadline {
			s.kill(e, wire.WhyReleased, wire.PlayerID{})
		}
		if e.Kept() {
			kept = append(kept, e)
		}
	}
	clear(s.kept[len(kept):])
	s.kept = kept
	for i := 0; i < len(s.parked); i++ {
		p := s.parked[i]
		switch {
		case p.e.Dead || p.e.Term != p.term:
		case s.now >= p.until:
			s.toHost(p.e)
		default:
			continue
		}
		s.parked = append(s.parked[:i], s.parked[i+1:]...)
		i--
	}
}

// nextTimer is when time alone next changes something.
func (s *Shard) nextTimer() time.Duration {
	at := s.now + time.Second
	if !s.settled {
		at = min(at, s.started+s.cfg.Settle)
	}
	for _, e := range s.revoking {
		if e.Revoking {
			at = min(at, e.Deadline)
		}
	}
	for _, e := range s.kept {
		at = min(at, e.Deadline)
	}
	for i := range s.parked {
		at = min(at, s.parked[i].until)
	}
	return at
}
