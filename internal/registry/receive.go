package registry

import (
	"time"

	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// Frame is part of session.Handler.
func (r *Registry) Frame(pn uint64, kind byte, body []byte) {
	if kind == wire.KindFlush {
		f, err := wire.ParseFlush(body, r.flush)
		if err != nil {
			r.malformed(body)
			return
		}
		r.cur, r.curPN, r.hasCur = f, pn, true
		if r.Welcomed && f.Epoch != r.Welcome.World { // of another world: its numbers are not those of this one
			return
		}
		if int32(f.Flush-r.flush) > 0 {
			r.flush, r.timeMS = f.Flush, f.Time
		}
		r.clock.Sample(r.now, time.Duration(f.Time)*time.Millisecond)
		r.arrivedFor(time.Duration(f.Time) * time.Millisecond)
		return
	}
	if kind == wire.KindEvent {
		r.listen(body, 0)
		return
	}
	if !r.hasCur || r.curPN != pn {
		r.malformed(body)
		return
	}
	if r.Welcomed && r.cur.Epoch != r.Welcome.World {
		r.stats.WrongEpoch++
		r.tr.drop(trace.WrongEpoch, wire.ID{}, 0, nil, 0, len(body))
		return
	}
	var err error
	switch kind {
	case wire.KindSegment:
		err = r.segment(pn, body)
	case wire.KindIntro:
		var m wire.Intro
		if m, err = wire.ParseIntro(body, r.cur.Base); err == nil {
			r.path = trace.Baseline
			err = r.intro(pn, &m)
			r.path = ""
		}
	case wire.KindDepart:
		var m wire.Depart
		if m, err = wire.ParseDepart(body); err == nil {
			r.depart(pn, &m)
		}
	case wire.KindTie:
		var m wire.Tie
		if m, err = wire.ParseTie(body); err == nil {
			r.tie(pn, &m)
		}
	case wire.KindRole:
		var m wire.Role
		if m, err = wire.ParseRole(body); err == nil {
			r.role(pn, &m)
		}
	}
	if err != nil {
		r.malformed(body)
	}
}

// malformed counts bytes that do not follow the format, or what is known of the world.
func (r *Registry) malformed(b []byte) {
	r.stats.Malformed++
	r.tr.drop(trace.Malformed, wire.ID{}, 0, nil, 0, len(b))
}

// fenced reports that an item about a handle is void: something newer about it was already applied. Frames of the
// reliable lane carry the number that the next packet had when they were queued; at equal numbers the record is newer.
func (r *Registry) fenced(handle uint32, stamp uint64, reliable, sets bool) bool {
	if r.cfg.Faults.NoFence || reliable && r.cfg.Faults.NoStamp {
		return false
	}
	if stamp *= 2; !reliable {
		stamp++
	}
	s := r.handles.find(handle)
	if s != nil && stamp < s.fence {
		r.stats.Void++
		r.tr.drop(trace.Void, wire.ID{}, uint64(handle), nil, 0, 0)
		return true
	}
	if sets && handle != 0 {
		r.handles.slot(handle).fence = stamp
	}
	return false
}

// merge stages exactly the slots whose held version is older.
func (r *Registry) merge(c *Copy, ver uint32, mask uint64, values []byte) {
	apply := c.older(mask, ver)
	if r.cfg.Faults.OneVersion {
		if apply = mask; c.verSet != 0 && int32(ver-c.newest()) <= 0 {
			apply = 0
		}
	}
	if apply == 0 {
		r.stats.Overtaken++
		r.tr.delta(trace.In, c, mask, len(values), ver, r.path, trace.Overtaken)
		return
	}
	c.setVer(apply, ver)
	r.stats.Applied++
	if r.onMotion != nil && apply&c.Class.Motion != 0 {
		r.tellMotion(c, mask, values)
	}
	if c.Class.Local == 0 {
		why := ""
		if !r.cfg.Observer {
			why = r.foreign(c.Class)
		}
		r.tr.delta(trace.In, c, apply, len(values), ver, r.path, why)
		return
	}
	r.tr.delta(trace.In, c, apply, len(values), ver, r.path, "")
	if !r.cfg.Faults.AckedDropped || c.wait == nil {
		c.stage(apply, mask, values)
	}
	r.change(c)
}

// replace takes a full baseline, whatever was held before.
func (r *Registry) replace(c *Copy, ver uint32, mask uint64, values []byte) {
	c.verSet = 0
	c.Applied()
	r.merge(c, ver, mask, values)
}

func (r *Registry) intro(pn uint64, m *wire.Intro) error {
	k := r.classByNum(m.Num)
	if k == nil {
		if k = r.number(m.Num, m.ClassID, m.ClassHash); k == nil {
			return wire.ErrMalformed // the relay waits until a client can resolve the class
		}
	}
	if k.ValuesLen(m.Mask, m.Values) != len(m.Values) {
		return wire.ErrMalformed
	}
	if k.Local == 0 && !k.met { // a class may outlive its entities: only one that is here is worth a word
		k.met = true
		r.Strangers = append(r.Strangers, &k.Class)
	}
	if r.buried(m.ID, m.Inc) {
		r.stats.Dead++
		r.tr.drop(trace.Dead, m.ID, uint64(m.Handle), k, m.Mask, len(m.Values))
		return nil
	}
	c := r.byID.Find(m.ID)
	if c != nil && (c.Inc > m.Inc && (c.pending || c.Handle == m.Handle && !c.old) || c.Class != k && c.Inc == m.Inc || r.before(c, m.Handle, 2*pn+1)) {
		r.stats.Stale++
		r.tr.delta(trace.In, c, m.Mask, len(m.Values), r.cur.Flush, r.path, trace.Stale)
		return nil
	}
	if r.fenced(m.Handle, pn, false, true) {
		return nil
	}
	// Once something was refused all newcomers are, until the relay is told of room: else a second copy of what was refused would be taken,
	// and the relay would believe the refusal.
	if c == nil && (r.full || r.byID.Len() >= r.cfg.MaxEntities && r.foreigners() >= r.cfg.MaxEntities) {
		r.stats.NoRoom++
		r.tr.drop(trace.Full, m.ID, uint64(m.Handle), k, m.Mask, len(m.Values))
		r.full = true
		r.queue(wire.AppendEntity(nil, wire.MsgNoRoom, &wire.Entity{ID: m.ID, Inc: m.Inc, Handle: m.Handle, Gen: m.Gen}))
		return nil
	}
	made := false
	if c == nil || c.Inc != m.Inc && (c.Class != k || !r.adopts(c, m)) {
		c = r.create(m.ID, m.Inc, k, m.Nonce)
		made = true
	}
	if (c.drives || c.waiting) && !c.old && !c.pending && m.Term <= c.certTerm() {
		r.stats.Stale++
		r.tr.delta(trace.In, c, m.Mask, len(m.Values), r.cur.Flush, r.path, trace.Stale)
		return nil // driven here, or an old baseline while waiting for the next term
	}
	made = made || c.old
	lostDrive := c.drives || c.waiting || c.old || c.Inc != m.Inc
	if c.Handle != m.Handle || c.Gen != m.Gen { // it came back, and its departure was overtaken: what it went with then is over
		c.unbind()
	}
	r.handles.free(c)
	c.Inc, c.Handle, c.Gen, c.Chunk = m.Inc, m.Handle, m.Gen, m.Chunk
	r.rises(m.ID, m.Inc)
	c.drives, c.waiting, c.pending, c.old = false, false, false, false
	c.placed = m.Flags&wire.EntityPlaced != 0
	r.handles.bind(c)
	r.hear(c)
	delete(r.last, m.Handle)
	r.change(c)
	if m.Term > c.Term || lostDrive {
		r.own(c, m.Owner, m.Term, m.Flags)
	}
	if made {
		r.tr.entity(trace.In, trace.Spawn, c, "")
	}
	if m.Mask != 0 || made {
		c.unspoken = m.Mask == 0 && !r.retains() && spoken(k) != 0
	}
	if lostDrive {
		c.unbind()
		c.ZeroOwner = c.ZeroOwner || k.Owner != 0
		r.replace(c, r.cur.Flush, m.Mask, m.Values)
		return nil
	}
	r.merge(c, r.cur.Flush, m.Mask, m.Values)
	return nil
}

// before reports whether what is said of an entity under a handle is older than what made a copy of its id what it is. An id lives one life
// at a time, in an incarnation that may be older than the one before: somebody brought it back. So packets tell which is the present one, as
// they do within a handle.
func (r *Registry) before(c *Copy, handle uint32, stamp uint64) bool {
	return c.Handle != 0 && !c.old && c.Handle != handle && r.handles.fence(c.Handle) > stamp
}

// adopts reports whether a copy without an incarnation stands for the entity that is introduced: a placed body that waited
// for it, or an announcement that somebody else drives.
func (r *Registry) adopts(c *Copy, m *wire.Intro) bool {
	return c.Inc == 0 && c.Class.ID == m.ClassID && (c.placed || r.answers(c, m.Nonce))
}

func (r *Registry) answers(c *Copy, nonce uint32) bool {
	return r.cfg.Faults.NoNonce || c.nonce == nonce
}

// own re-points a copy.
func (r *Registry) own(c *Copy, owner wire.PlayerID, term wire.Count, flags uint16) {
	c.Owner, c.Term, c.Flags = owner, term, flags&^wire.EntityDrives
	r.change(c)
}

// create makes the copy of an incarnation; a body of an older one leaves.
func (r *Registry) create(id wire.ID, inc wire.Count, k *Class, nonce uint32) *Copy {
	if c := r.byID.Find(id); c != nil && c.Inc == 0 && c.pending && !r.answers(c, nonce) && !r.cfg.Faults.PendingLost {
		r.pend[id] = c // waits beside the registry for its bind or refusal
		r.byID.Delete(c)
	} else if c != nil {
		r.drop(c, wire.WhyDestroyed, wire.PlayerID{}, false, nil) // nobody said so: it may be back when the newer one has left
	}
	delete(r.mine, id)
	c := &Copy{ID: id, Inc: inc, Class: k}
	r.add(c)
	r.change(c)
	return c
}

func (r *Registry) depart(pn uint64, m *wire.Depart) {
	if m.Handle != 0 && r.fenced(m.Handle, pn, false, true) {
		return
	}
	news := r.news(m)
	c := r.handles.copy(m.Handle)
	if p := r.pend[m.ID]; p != nil && r.answers(p, m.Nonce) {
		r.discard(p, m.Why, m.By, 0)
		news = false
	}
	if c == nil { // not bound yet: by id
		c = r.byID.Find(m.ID)
		// A bound body has another handle: it came back as the same incarnation, and this is about its life before.
		if c != nil && (c.Handle != 0 || c.Inc != m.Inc && !(c.Inc == 0 && c.pending && r.answers(c, m.Nonce))) {
			c = nil
		}
	}
	dead := m.Why == wire.WhyDestroyed
	if dead && (c == nil || c.ID == m.ID) {
		r.died(m.ID, m.Inc, m.Cert)
		delete(r.mine, m.ID) // confirmed
	}
	if c == nil {
		if news {
			r.left(m)
		}
		return
	}
	if c.placed && !dead { // the body stands on every client: it only loses its source
		r.handles.free(c)
		c.Handle, c.verSet = 0, 0
		if c.drives || c.waiting { // its driver may not know of it any more
			c.drives, c.waiting, c.ZeroOwner = false, false, c.ZeroOwner || c.Class.Owner != 0
			c.hold().revoked = 0
			r.change(c)
		}
		return
	}
	r.traceDeparture(c, m)
	r.drop(c, m.Why, m.By, dead, m.Cert)
}

func (r *Registry) role(pn uint64, m *wire.Role) {
	c := r.handles.copy(m.Handle)
	if c == nil || r.fenced(m.Handle, pn, false, false) || m.Term <= c.Term {
		return
	}
	r.own(c, m.Owner, m.Term, m.Flags)
	r.tr.entity(trace.In, trace.Owner, c, "")
	if c.drives { // a forced transfer: a full baseline follows
		c.drives, c.waiting = false, true
	}
}

// message takes what comes on the reliable lane about one entity.
func (r *Registry) message(kind byte, m *wire.Entity, stamp uint64) {
	c := r.byID.Find(m.ID)
	switch kind {
	case wire.MsgBind:
		if p := r.pend[m.ID]; p != nil && r.answers(p, m.Nonce) { // now it is a body, the older incarnation goes
			if c != nil && r.before(c, m.Handle, 2*stamp) { // what was announced has ended since, and its id lives another life
				r.discard(p, wire.WhyReleased, wire.PlayerID{}, 0)
				return
			}
			if c != nil {
				r.drop(c, wire.WhyDestroyed, wire.PlayerID{}, false, nil)
			}
			delete(r.pend, m.ID)
			r.add(p)
			c = p
		}
		if c == nil || !c.pending || c.Inc == 0 && !r.answers(c, m.Nonce) || r.fenced(m.Handle, stamp, true, true) {
			return
		}
		c.Inc, c.Handle, c.Gen, c.n = m.Inc, m.Handle, m.Gen, 0
		c.prove(m.Cert, m.Term)
		r.rises(m.ID, m.Inc)
		c.pending, c.old, c.drives, c.waiting = false, false, true, false
		r.handles.bind(c)
		r.own(c, m.Owner, m.Term, m.Flags)
	case wire.MsgRefused:
		r.refused(c, m)
	case wire.MsgAssign:
		r.assign(c, m, stamp)
	case wire.MsgRevoke:
		if c == nil || !c.drives || c.Inc != m.Inc || c.Term != m.Term {
			return
		}
		c.drives, c.waiting = false, true
		c.hold().revoked = m.Term
		r.change(c)
	case wire.MsgOverride: // own record to the driver
		if c == nil || !c.drives && !c.gives() || c.Inc != m.Inc || c.Term != m.Term || int16(m.N-c.n) <= 0 ||
			c.Class.ValuesLen(m.Mask, m.Values) != len(m.Values) {
			r.stats.Stale++
			r.tr.drop(trace.Stale, m.ID, 0, nil, 0, len(m.Values))
			return
		}
		if c.Flags&wire.EntityOwnerOnly != 0 && m.Mask&^c.Class.Auth != 0 { // whatever let it pass: only an authority writes here
			r.stats.Uninvited++
			r.tr.delta(trace.In, c, m.Mask, len(m.Values), m.Version, trace.Override, trace.Uninvited)
			return
		}
		// What a shared record brought before this copy drove may be newer. If the driver has written on it since, the relay has
		// refused that for not knowing this override: it goes out again.
		c.n = m.N
		apply := c.olderThan(m.Version, m.Mask)
		c.found(apply)
		c.lose(m.Mask &^ apply)
		c.stage(apply, m.Mask, m.Values)
		r.tr.delta(trace.In, c, apply, len(m.Values), m.Version, trace.Override, "")
		r.change(c)
	case wire.MsgForeign:
		r.foreignWrite(c, m)
	case wire.MsgRequested:
		r.requested(c, m)
	case wire.MsgGrantRefused:
		r.grantRefused(c, m)
	case wire.MsgRestricted:
		r.restricted(c, m)
	case wire.MsgRejected:
		r.rejected(c, m)
	}
}

func (r *Registry) refused(c *Copy, m *wire.Entity) {
	dead := m.Reason == wire.RefusedDead
	if dead {
		r.died(m.ID, m.Inc, nil)
	}
	if p := r.pend[m.ID]; p != nil && r.answers(p, m.Nonce) {
		r.discard(p, wire.WhyDestroyed, wire.PlayerID{}, m.Reason)
		return
	}
	switch {
	case c == nil:
	case dead && c.Inc == 0 && c.Flags&wire.EntityRespawn != 0 && m.Nonce != c.nonce: // about the life before the one that it begins
	case dead && c.Inc == m.Inc, dead && c.placed && c.Inc <= m.Inc, c.Inc == 0 && r.answers(c, m.Nonce) && m.Nonce != 0:
		c.ail().Refused = m.Reason
		r.drop(c, wire.WhyDestroyed, wire.PlayerID{}, dead, nil)
	case c.pending && r.answers(c, m.Nonce): // demoted: an observer until introduced, or gone at the end mark
		c.pending, c.drives, c.old = false, false, true
		r.change(c)
	case c.Inc == m.Inc: // a destroy
		c.ail().Spared = m.Reason
		r.change(c)
	}
}

func (r *Registry) assign(c *Copy, m *wire.Entity, stamp uint64) {
	k := r.classByNum(m.Class)
	if k == nil {
		k = r.number(m.Class, m.ClassID, m.ClassHash)
	}
	if k == nil || k.ValuesLen(m.Mask, m.Values) != len(m.Values) {
		r.malformed(m.Values)
		return
	}
	if r.dead[m.ID].inc >= m.Inc || c != nil && (c.Inc > m.Inc && (c.pending || c.Handle == m.Handle && !c.old) || r.before(c, m.Handle, 2*stamp)) || r.fenced(m.Handle, stamp, true, true) {
		return
	}
	if c == nil || c.Inc != m.Inc && !(c.Inc == 0 && c.Class == k && (c.placed || r.answers(c, m.Nonce))) {
		c = r.create(m.ID, m.Inc, k, m.Nonce)
	}
	if c.Class != k { // no entity changes its class: the values would be cut by the wrong slots
		r.malformed(m.Values)
		return
	}
	if c.drives && !c.pending && c.Term >= m.Term || c.Term > m.Term || c.certTerm() >= m.Term && !c.old {
		return
	}
	r.handles.free(c)
	c.Inc, c.Handle, c.Gen, c.n, c.Chunk = m.Inc, m.Handle, m.Gen, m.N, m.Chunk
	c.prove(m.Cert, m.Term)
	c.proof.lost, c.proof.revoked = 0, 0
	r.rises(m.ID, m.Inc)
	c.drives, c.waiting, c.old, c.pending = true, false, false, false
	c.placed = m.Flags&wire.EntityPlaced != 0
	r.handles.bind(c)
	c.loose()
	// A shared record may have overtaken the assign with a later override of somebody's: what is newer stays.
	apply := c.olderThan(m.Version, m.Mask)
	c.stage(apply, m.Mask, m.Values)
	r.own(c, m.Owner, m.Term, m.Flags)
}
