package shard

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// standing is an announcement that waits for the end of the settling time: a stand-in's, or a placement.
type standing struct {
	session uint32
	kind    byte
	m       wire.Entity
	ahead   ahead
}

// maxStanding bounds what waits, over all sessions.
const (
	maxStanding = 1 << 16
	maxWaits    = maxStanding * wire.MaxValues // bytes of their values
)

func (s *Shard) wait(o *Session, kind byte, m *wire.Entity) {
	if len(s.standby) >= maxStanding || s.waits+len(m.Values) > maxWaits {
		o.refuse(m, wire.RefusedLimit)
		return
	}
	k := *m
	k.Values, k.Cert = append([]byte(nil), m.Values...), append([]byte(nil), m.Cert...)
	s.waits += len(m.Values)
	s.standby = append(s.standby, standing{o.number, kind, k, o.ahead})
}

// standIn takes what waited. It runs once, before the first election.
func (s *Shard) standIn() {
	waiting := s.standby
	s.standby, s.waits = nil, 0
	s.firstFirst(waiting)
	for i := range waiting {
		if o := s.session(waiting[i].session); o != nil {
			said := o.ahead // of what it is about to announce now
			o.ahead = waiting[i].ahead
			s.message(o, waiting[i].kind, &waiting[i].m)
			o.ahead = said
		}
	}
}

// announced checks what spawns and re-announcements have in common. A nil class means that it was refused.
func (s *Shard) announced(o *Session, m *wire.Entity) *table.Class {
	reason := uint8(wire.RefusedInvalid)
	if m.Inc == 0 && !o.mayForesee(m.ID) { // what comes back does so with its group, whoever is in it by now
		reason = wire.RefusedRights
	} else if m.ID != (wire.ID{}) && int(m.Class) < len(o.classes) {
		if c := o.classes[m.Class]; c != nil && c.ValuesLen(m.Mask, m.Values) == len(m.Values) && len(m.Values) <= wire.MaxValues+wire.MaxApart {
			places := m.Flags&wire.EntityPlaced != 0 && !o.placed[m.ID] // what it places, others may drive
			// What a player announced counts against it for its life, whoever drives it; what a certificate proves was counted before.
			proven := m.Flags&wire.EntityHosted != 0 && len(m.Cert) > 0 && s.cfg.Key != nil
			if (s.made(o.Player) < s.cfg.SessionEntities || proven || o.Authority) && !(places && len(o.placed) >= s.cfg.SessionEntities && !o.Authority) {
				return c
			}
			reason = wire.RefusedLimit
		}
	}
	s.stats.Refused++
	o.refuse(m, reason)
	return nil
}

// spawn takes the announcement of a new entity.
func (s *Shard) spawn(o *Session, m *wire.Entity) {
	c := s.announced(o, m)
	if c == nil {
		return
	}
	placed := m.Flags&wire.EntityPlaced != 0
	if placed && !s.settled {
		s.wait(o, wire.MsgSpawn, m)
		return
	}
	e := s.table.ByID(m.ID)
	switch {
	case placed:
		if !s.placing(o, m, c, e) {
			return
		}
	case e != nil:
		s.stats.Refused++
		o.refuse(m, wire.RefusedIDHeld)
		return
	case m.Flags&wire.EntityHosted != 0 && !placed && s.host == nil:
		o.refuse(m, wire.RefusedNoHost)
		return
	}
	owner := o
	if m.Flags&wire.EntityHosted != 0 {
		if owner = s.host; placed && owner != nil && !owner.placed[m.ID] {
			owner = nil // until the host has placed it
		}
	}
	if e = s.create(o, m, c, s.table.NextInc(), s.table.NextTerm(), owner); e == nil {
		return
	}
	if m.Flags&wire.EntityHosted != 0 {
		s.rehost(e) // it may be for a group that the host is not in
		owner = s.session(e.Driver)
	}
	unset := s.unset
	s.hand(e, owner, o)
	if owner != nil {
		s.reject(owner, e, unset, unset)
	}
	s.firstTies(o, e)
}

func (o *Session) place(id wire.ID) {
	if o.placed == nil {
		o.placed = make(map[wire.ID]bool)
	}
	o.placed[id] = true
}

// create adds an entity that driver will drive; nil driver: nobody. It returns nil if the world is full.
func (s *Shard) create(o *Session, m *wire.Entity, c *table.Class, inc, term wire.Count, driver *Session) *table.Entity {
	s.unset = 0
	e := s.table.Create(s.now, m.ID, inc, term, c)
	if e == nil {
		s.stats.Refused++
		o.refuse(m, wire.RefusedLimit)
		return nil
	}
	e.Nonce, e.Flags, e.RoleVer, e.Born = m.Nonce, m.Flags&^o.barredFlags(), s.flush+1, s.flush+1
	if e.Flags&wire.EntityHosted == 0 {
		e.Owner = driver.Player
	}
	if driver != nil {
		e.Driver = driver.number
		driver.owned++
	}
	if len(m.Cert) == 0 || e.Flags&wire.EntityHosted == 0 { // the host brings back what many players made
		e.Maker = s.share(o.Player)
		e.Maker.Entities++
		e.Maker.Trusted = o.Authority
	}
	s.accept(e, m.Mask, m.Values, o.barred(c)&^c.Init)
	e.Dirty = 0 // nobody knows it yet: who comes to know it is introduced to all of this
	if c.Position >= 0 {
		s.grid.Add(e.Handle, m.Chunk)
		e.Prev = m.Chunk
	} else {
		s.global = append(s.global, e)
	}
	s.firstAudience(o, e)
	s.look(e)
	if driver != nil && driver.Player == e.Owner && e.Flags&wire.EntityAvatar != 0 {
		driver.avatar = e
		driver.lookFromAvatar()
	}
	return e
}

// accept stores the values of the slots in mask, whose lengths were checked, if they differ from what is held, but those in not.
func (s *Shard) accept(e *table.Entity, mask uint64, values []byte, not uint64) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		l := e.Class.ValueLen(i, values)
		if not>>i&1 == 0 && string(e.Value(i)) != string(values[:l]) && !s.set(e, i, values[:l]) {
			s.stats.Refused++
			s.unset |= 1 << i
		}
		values = values[l:]
	}
}

// hand tells the driver of a new entity that it drives: with a bind if it announced the entity itself, so that it keeps its own
// values, else with an assign.
func (s *Shard) hand(e *table.Entity, driver, announcer *Session) {
	switch {
	case announcer == nil || announcer == driver || announcer.pairs.get(e.Handle) != nil:
	case !s.admits(announcer, e):
		announcer.refuse(&wire.Entity{ID: e.ID, Inc: e.Inc, Nonce: e.Nonce}, wire.RefusedRights)
	default:
		// It has a body already: it must hear of the entity once, in reach or not.
		e.Refs++
		p := announcer.pairs.add(e.Handle)
		p.flags |= named | announced
		announcer.introduce(p)
		s.look(e)
	}
	if driver == nil {
		return
	}
	if s.cfg.Handed != nil {
		s.cfg.Handed(e, driver)
	}
	if e.Flags&wire.EntityPlaced != 0 {
		driver.place(e.ID) // it has a body from now on, whoever placed it
	}
	if p := driver.pairs.get(e.Handle); p == nil {
		e.Refs++
		p = driver.pairs.add(e.Handle)
		p.state = drives
		p.flags |= named
	} else {
		driver.clean(p)
		driver.remember(p)
		p.state = drives
		p.flags |= named
		s.work = s.work || !driver.marked // it may have been the last introduction that the end mark waits for
	}
	if driver == announcer {
		s.bind(e, driver)
	} else {
		s.assign(e, driver)
	}
}

func (s *Shard) bind(e *table.Entity, o *Session) {
	m := wire.Entity{ID: e.ID, Inc: e.Inc, Term: e.Term, Nonce: e.Nonce, Handle: e.Handle, Gen: e.Gen, Flags: e.Flags, Owner: e.Owner,
		Cert: s.certify(e, o.Player, e.Term)}
	o.queue(wire.AppendEntity(nil, wire.MsgBind, &m))
	if s.parentOf(e) != nil { // by who announced it under a lower term
		s.tellTie(o, e, 0)
	}
}

func (s *Shard) assign(e *table.Entity, o *Session) {
	m := wire.Entity{ID: e.ID, Inc: e.Inc, Term: e.Term, Nonce: e.Nonce, Class: e.Class.Num, ClassID: e.Class.ID, ClassHash: e.Class.Hash,
		Handle: e.Handle, Gen: e.Gen, Flags: e.Flags, N: e.N, Owner: e.Owner, Version: s.flush, Cert: s.certify(e, o.Player, e.Term), Chunk: e.Place.Chunk}
	if s.retains() || e.Born > s.flush { // else the new driver goes on from what its proxy holds
		m.Mask, m.Values = e.Class.All, e.AppendValues(s.scratch.values[:0], e.Class.All)
	}
	o.queue(wire.AppendEntity(nil, wire.MsgAssign, &m))
	if s.AudienceOf(e).Group != "" {
		s.tellRestricted(o, e, 0)
	}
	if s.parentOf(e) != nil {
		s.tellTie(o, e, 0)
	}
}

// renumber lets an entity have the number of another announcement. Who announced it before, and has not heard of it, is told that this
// announcement came to nothing: what it will be introduced to does not answer it any more.
func (s *Shard) renumber(e *table.Entity, nonce uint32) {
	for _, o := range s.sessions {
		if p := o.pairs.get(e.Handle); p != nil && p.flags&announced != 0 {
			p.flags &^= announced
			o.refuse(&wire.Entity{ID: e.ID, Nonce: e.Nonce}, wire.RefusedIDHeld)
		}
	}
	e.Nonce = nonce
}

// again takes a re-announcement.
func (s *Shard) again(o *Session, m *wire.Entity) {
	c := s.announced(o, m)
	if c == nil {
		return
	}
	if s.cfg.Key != nil && !hmac.Equal(m.Cert, s.mac(m.ID, c.ID, m.Inc, m.Term, o.Player, m.Flags)) {
		s.stats.Refused++
		s.fault = errCert
		o.refuse(m, wire.RefusedRights)
		return
	}
	stands := m.Flags&wire.EntityDrives == 0
	if stands && !s.settled {
		s.wait(o, wire.MsgAgain, m) // drivers come first
		return
	}
	announcer := o
	if stands {
		announcer = nil // it gets the values too: its own may be old
	}
	if m.Flags&wire.EntityPlaced != 0 {
		o.place(m.ID) // it has a body, whatever comes of this
	}
	e := s.table.ByID(m.ID)
	switch {
	case s.table.Ended(m.ID) >= m.Inc && !s.cfg.Faults.GoneForgotten:
		if e != nil { // the life after is shown instead
			s.look(e)
		}
		o.refuse(m, wire.RefusedDead)
	case e != nil && e.Inc > m.Inc: // its id lives on in another; it may come back when that has left
		o.refuse(m, wire.RefusedIDHeld)
	case e == nil || e.Inc < m.Inc:
		if e != nil {
			s.kill(e, wire.WhyDestroyed, wire.PlayerID{})
		}
		if e = s.create(o, m, c, m.Inc, s.table.NextTerm(), o); e == nil {
			return
		}
		if e.Flags&wire.EntityPlaced != 0 {
			s.revive(m.ID) // somebody reported the end of the life before
		}
		e.Flags |= m.Flags & wire.EntityActor // the certificate says it, whoever brings it back
		e.AnnTerm = m.Term
		unset := s.unset
		s.hand(e, o, announcer)
		s.reject(o, e, unset, unset)
		if s.settled && e.Flags&wire.EntityHosted != 0 {
			s.toHost(e)
		}
	case e.Kept() && !stands && e.Owner == o.Player && e.Term == m.Term && e.Class == c:
		s.resume(e, o, m)
	case e.AnnTerm != 0 && m.Term > e.AnnTerm && e.Driver != o.number && e.Class == c: // the highest term wins
		s.renumber(e, m.Nonce)
		s.accept(e, m.Mask, m.Values, o.barred(c)&^c.Init)
		s.place(e, m.Chunk)
		s.pass(e, o, s.table.NextTerm())
		e.AnnTerm = m.Term
		s.firstAudience(o, e)
		s.hand(e, o, announcer)
	default:
		if e.Flags&wire.EntityPlaced != 0 {
			s.look(e)
		}
		o.refuse(m, wire.RefusedNotDriver)
	}
	if e != nil && e.Driver == o.number {
		s.firstTies(o, e)
	}
}

// heardGone takes a report of what an older epoch destroyed.
func (s *Shard) heardGone(o *Session, m *wire.Entity) {
	if s.cfg.Key != nil && !hmac.Equal(m.Cert, s.mac(m.ID, 0, m.Inc, 0, wire.PlayerID{}, 0)) {
		s.stats.Refused++
		s.fault = errCert
		return
	}
	if e := s.table.ByID(m.ID); e != nil && e.Inc <= m.Inc {
		s.kill(e, wire.WhyDestroyed, wire.PlayerID{})
	}
	s.table.SetGone(m.ID, m.Inc, o.placed[m.ID])
	s.destroyed = nil
}

// destroy takes a request to destroy, by the driver or by the host.
func (s *Shard) destroy(o *Session, m *wire.Entity) {
	e := s.table.ByID(m.ID)
	if e == nil || !s.admits(o, e) {
		return
	}
	mine := e.Driver == o.number && (m.Inc == e.Inc || m.Inc == 0 && m.Nonce == e.Nonce)
	hosts := m.Inc == e.Inc && (o.Authority || s.host == o && e.Flags&wire.EntityOwnerOnly == 0)
	if !mine && !hosts && !s.strict() && m.Inc == e.Inc && e.Flags&wire.EntityActor == 0 {
		s.tolerated(o, e, "destruction by a player that does not drive it") // B-054
	} else if !mine && !hosts {
		s.stats.Refused++
		s.stats.NotDriver++
		o.refuse(m, wire.RefusedNotDriver)
		return
	}
	s.kill(e, wire.WhyDestroyed, o.Player)
}

// kill takes an entity out of the world and lets everybody who was told of it know.
func (s *Shard) kill(e *table.Entity, why wire.Why, by wire.PlayerID) {
	if e.Dead {
		return
	}
	delete(s.rejected, e.Handle)
	if d := s.session(e.Driver); d != nil {
		d.owned--
		if d.avatar == e {
			d.avatar = nil
		}
	}
	s.cut(e)
	s.discharge(e)
	s.part(e)
	e.Death = &table.Death{By: by, At: s.now}
	if why == wire.WhyDestroyed && s.cfg.Key != nil {
		e.Cert = s.mac(e.ID, 0, e.Inc, 0, wire.PlayerID{}, 0)
	}
	s.table.Kill(e, why)
	if s.cfg.Faults.ReuseNow {
		s.table.Free(s.now, e)
	}
	if e.Place.In() {
		s.grid.Remove(e.Handle)
	}
	for i, g := range s.global {
		if g == e {
			s.global = append(s.global[:i], s.global[i+1:]...)
			break
		}
	}
	s.look(e)
	s.dying = append(s.dying, e)
	if why != wire.WhyDestroyed || e.Flags&wire.EntityPlaced == 0 {
		return
	}
	s.goes(e)
	// Who placed it has a body, in reach or not, and so it has who may not know of it any more: it named the id itself.
	for _, o := range s.sessions {
		if o.placed[e.ID] {
			o.refuse(&wire.Entity{ID: e.ID, Inc: e.Inc}, wire.RefusedDead)
		}
	}
}

// certify makes the certificate that lets player re-announce e under term after a restart.
func (s *Shard) certify(e *table.Entity, player wire.PlayerID, term wire.Count) []byte {
	if s.cfg.Key == nil {
		return nil
	}
	return s.mac(e.ID, e.Class.ID, e.Inc, term, player, e.Flags)
}

// mac proves of flags only that an authority spawned it: a player to whom it was granted may be the first to bring it back.
func (s *Shard) mac(id wire.ID, class uint32, inc, term wire.Count, player wire.PlayerID, flags uint16) []byte {
	h := hmac.New(sha256.New, s.cfg.Key)
	var b [22]byte
	binary.LittleEndian.PutUint32(b[:], class)
	binary.LittleEndian.PutUint64(b[4:], uint64(inc))
	binary.LittleEndian.PutUint64(b[12:], uint64(term))
	binary.LittleEndian.PutUint16(b[20:], flags&wire.EntityActor)
	h.Write([]byte(s.cfg.World))
	h.Write([]byte{0})
	h.Write(id[:])
	h.Write(b[:])
	h.Write(player[:])
	return h.Sum(nil)[:16]
}
