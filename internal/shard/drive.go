package shard

import (
	"errors"
	"time"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// grant takes a driver's decision to hand over: to a player, or to the host. The compare-and-swap is on the term: of two that race
// one finds its term. Behind it comes the release, unasked: whoever grants has stopped driving, so that what comes of it needs
// an answer, or a change of the term, in every case.
func (s *Shard) grant(o *Session, m *wire.Entity) {
	e := s.table.ByID(m.ID)
	if e == nil || e.Inc != m.Inc || e.Driver != o.number || e.Term != m.Term || e.Revoking {
		s.stats.Refused++
		s.stats.NotDriver++
		s.why = wire.RefusedNotDriver
		return
	}
	s.unpark(e)
	if m.Owner == (wire.PlayerID{}) {
		if h := s.hostOf(e); h == o && e.Flags&wire.EntityHosted != 0 { // it is so
			s.denyGrant(o, m, wire.RefusedInvalid)
			return
		}
		s.begin(e, 0, true)
		return
	}
	for _, p := range s.sessions {
		if p.Player != m.Owner {
			continue
		}
		switch {
		case p == o && e.Flags&wire.EntityHosted == 0: // it is so
			s.denyGrant(o, m, wire.RefusedInvalid)
		case p.Observer || !s.may(p, e):
			s.denyGrant(o, m, wire.RefusedRights)
		default:
			s.begin(e, p.number, false)
		}
		return
	}
	if s.park(e, m.Owner) {
		s.answerGrant(o, m, wire.RefusedParked)
		return
	}
	s.stats.Absent++
	s.denyGrant(o, m, wire.RefusedAbsent)
}

func (s *Shard) denyGrant(o *Session, m *wire.Entity, reason uint8) {
	s.why = reason
	s.stats.Refused++
	s.answerGrant(o, m, reason)
}

// answerGrant lets the driver drive on.
func (s *Shard) answerGrant(o *Session, m *wire.Entity, reason uint8) {
	r := wire.Entity{ID: m.ID, Inc: m.Inc, Term: m.Term, Owner: m.Owner, Reason: reason}
	o.queue(wire.AppendEntity(nil, wire.MsgGrantRefused, &r))
}

// toHost begins the hand-over of an entity to whoever is host when it is released.
func (s *Shard) toHost(e *table.Entity) {
	h := s.hostOf(e)
	if h != nil && e.Driver == h.number && e.Flags&wire.EntityHosted != 0 || e.Revoking && e.ToHost {
		return
	}
	s.revoke(e, 0, true)
}

// hostOf is the session that drives e while e is host-owned: the host, unless e is placed and the host has not placed it, or the host
// may not know of e. Such
// an entity holds still, as it does without a host.
func (s *Shard) hostOf(e *table.Entity) *Session {
	if s.host != nil && (e.Flags&wire.EntityPlaced != 0 && !s.host.placed[e.ID] || !s.may(s.host, e)) {
		return nil
	}
	return s.host
}

// revoke begins the two-phase hand-over of R-21 and asks the driver for its last values. From here to the assign nobody drives.
func (s *Shard) revoke(e *table.Entity, target uint32, toHost bool) {
	d := s.session(e.Driver)
	if d == nil || d.silent {
		e.Target, e.ToHost = target, toHost
		s.swap(e)
		return
	}
	if !s.begin(e, target, toHost) {
		return // the target changed under way
	}
	m := wire.Entity{ID: e.ID, Inc: e.Inc, Term: e.Term}
	d.queue(wire.AppendEntity(nil, wire.MsgRevoke, &m))
}

// begin notes a hand-over that ends with the release; false: one was under way, and has another target now.
func (s *Shard) begin(e *table.Entity, target uint32, toHost bool) bool {
	e.Target, e.ToHost = target, toHost
	if e.Revoking {
		return false
	}
	e.Revoking, e.Deadline = true, s.now+s.cfg.ReleaseWait
	s.revoking = append(s.revoking, e)
	s.wake = min(s.wake, e.Deadline)
	return true
}

// release takes the final values of a driver that was revoked.
func (s *Shard) release(o *Session, m *wire.Entity) {
	e := s.table.ByID(m.ID)
	if e == nil || !e.Revoking || e.Driver != o.number || e.Inc != m.Inc || e.Term != m.Term {
		s.stats.Stale++
		return
	}
	c := e.Class
	if c.ValuesLen(m.Mask, m.Values) == len(m.Values) {
		mask, values := m.Mask&^o.barred(c), m.Values
		keep := s.scratch.values[:0]
		kept := uint64(0)
		for i := range c.Slots {
			if m.Mask>>i&1 == 0 {
				continue
			}
			l := c.ValueLen(i, values)
			if mask>>i&1 != 0 && !e.Overridden(i, m.N) {
				keep = append(keep, values[:l]...)
				kept |= 1 << i
			}
			values = values[l:]
		}
		s.accept(e, kept, keep, 0)
		s.scratch.values = keep[:0]
		if c.Position >= 0 && kept>>c.Position&1 != 0 {
			s.place(e, m.Chunk)
		}
	}
	s.swap(e)
}

// target is the session that the hand-over under way gives the entity to; nil if it is gone.
func (s *Shard) target(e *table.Entity) *Session {
	if e.ToHost {
		return s.hostOf(e)
	}
	if o := s.session(e.Target); o != nil && s.may(o, e) {
		return o
	}
	return nil
}

// swap is the compare-and-swap of R-21: the target drives with the next term. If the target is gone the present driver goes on
// with a new term; if that is gone as well the host takes over.
func (s *Shard) swap(e *table.Entity) {
	to := s.target(e)
	toHost := e.ToHost
	if to == nil && !(toHost && e.Flags&(wire.EntityHosted|wire.EntityPlaced) != 0) {
		to, toHost = s.session(e.Driver), e.Flags&wire.EntityHosted != 0
		if to == nil {
			to, toHost = s.hostOf(e), true
		}
	}
	if toHost {
		e.Flags |= wire.EntityHosted
	} else {
		e.Flags &^= wire.EntityHosted
	}
	s.swapTo(e, to)
}

// swapTo gives the drive to a session, or to nobody: a host-owned entity without a host holds still (B-080).
func (s *Shard) swapTo(e *table.Entity, to *Session) {
	s.stats.Transfers++
	s.pass(e, to, s.table.NextTerm())
	e.AnnTerm = 0
	s.hand(e, to, nil)
}

// pass re-points an entity: owner, driver and term, and who must be told of it.
func (s *Shard) pass(e *table.Entity, to *Session, term wire.Count) {
	old := s.session(e.Driver)
	if old != nil {
		old.owned--
		if old.avatar == e && old != to {
			old.avatar = nil
		}
	}
	switch {
	case s.cfg.Faults.SameTerm:
	case s.cfg.Faults.NumbersKept:
		e.Term = term
	default:
		e.NewTerm(term)
		delete(s.rejected, e.Handle)
	}
	e.Revoking, e.Target, e.ToHost, e.Deadline = false, 0, false, 0
	e.Driver, e.Owner = 0, wire.PlayerID{}
	if to != nil {
		e.Driver = to.number
		to.owned++
		if e.Flags&wire.EntityHosted == 0 {
			e.Owner = to.Player
		}
		if silent := to.silent && hides(e); silent != e.Silent {
			if silent {
				s.part(e)
			}
			e.Silent = silent
			s.look(e)
		}
		if e.Flags&wire.EntityAvatar != 0 && e.Maker != nil && e.Maker.Player == e.Owner && to.avatar != e { // it came back
			to.avatar = e
			to.lookFromAvatar()
		}
	}
	e.RoleVer = s.flush + 1
	if old != nil && old != to { // as if it gained relevance
		if p := old.pairs.get(e.Handle); p != nil {
			old.introduce(p)
		}
		s.look(e)
	}
	for _, o := range s.sessions {
		if p := o.pairs.get(e.Handle); p != nil && p.state == known {
			o.roleDirty(p)
		}
	}
}

// candidate is who would be host now.
func (s *Shard) candidate() *Session {
	for _, o := range s.sessions {
		if o.Eligible && !o.silent {
			return o
		}
	}
	return nil
}

// elect makes the eligible session that joined the realm first the host (B-080), and moves the host-owned entities.
func (s *Shard) elect() {
	if !s.settled {
		return
	}
	host := s.candidate()
	if host == s.host {
		return
	}
	s.host = host
	s.hostTerm = s.hostTerm.Next(s.cfg.Start)
	s.stats.HostChanges++
	m := wire.Host{Player: s.Host(), Term: s.hostTerm}
	for _, o := range s.sessions {
		o.queue(m.Append(nil))
	}
	for _, e := range s.table.All() {
		if e == nil || e.Dead {
			continue
		}
		if e.Flags&wire.EntityHosted != 0 && s.session(e.Driver) != s.hostOf(e) || e.Silent && movesOn(e) {
			s.toHost(e)
		}
	}
}

// movesOn reports whether an entity goes to the host when its owner goes; hides, whether it is gone for all while its owner's session
// is silent.
func movesOn(e *table.Entity) bool { return e.Flags&(wire.EntityToHost|wire.EntityPlaced) != 0 }

func hides(e *table.Entity) bool { return e.Flags&wire.EntityHosted == 0 && e.Class.Keep == 0 }

func (s *Shard) silenceLimit() time.Duration {
	return time.Duration(s.cfg.Profile.SilenceMS) * time.Millisecond
}

// heard is when the session was heard last; one that has just joined has a silence clock of its own to run down.
func (o *Session) heard() time.Duration { return max(o.entered, o.conn.LastReceived()) }

// silenceDue is when the silence clock next says something of the session.
func (o *Session) silenceDue() time.Duration {
	switch {
	case !o.silent:
		return o.heard() + o.shard.silenceLimit() + 1
	case o.unacked() > 0:
		return o.heard() + heldDead + 1
	}
	return never
}

// hush begins or ends the silence of a session. What it is not sent meanwhile it gets afterwards.
func (o *Session) hush(silent bool) {
	next := o.shard.flush + 1
	o.silent = silent
	switch {
	case silent && o.skipped == 0:
		o.skipped = next
	case !silent && o.skipped == next:
		o.skipped = 0 // there was none
	}
	o.budget.excuse(o.shard.now) // its silence is judged here
}

var errTakesNothing = errors.New("nothing came from you for 30 s")

// silence applies the one silence clock: host and drives move on by policy, what goes with its owner is stale, what waits for
// its owner stays.
func (s *Shard) silence() {
	limit := s.silenceLimit()
	changed := false
	for _, o := range s.called { // whoever was heard, or whose time has come
		if !o.open {
			continue
		}
		if silent := s.now-o.heard() > limit; silent != o.silent {
			o.turned, changed = true, true
			o.hush(silent)
		}
		if o.silent && o.closing == nil && s.now-o.heard() > heldDead && o.unacked() > 0 {
			o.closing = errTakesNothing
			s.failed = append(s.failed, o)
		}
	}
	if !changed {
		return
	}
	s.work = true
	s.elect()
	for _, e := range s.table.All() {
		if e == nil || e.Dead || e.Flags&wire.EntityHosted != 0 {
			continue
		}
		o := s.session(e.Driver)
		if o == nil || !o.turned {
			continue
		}
		switch {
		case o.silent && e.Revoking && s.target(e) != nil:
			s.stats.Forced++
			s.swap(e)
		case o.silent && movesOn(e) && s.hostOf(e) != nil:
			s.toHost(e)
		case hides(e):
			if o.silent {
				s.part(e)
			}
			e.Silent = o.silent
			s.look(e)
		}
	}
	for _, o := range s.sessions {
		o.turned = false
	}
}
