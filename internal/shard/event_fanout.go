package shard

import (
	"math/bits"
	"slices"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

const (
	// eventWindow is how much of a recipient's reliable window may be in use when another event is queued: the rest is for control.
	eventWindow = 192 << 10

	// maxOnce bounds what waits for a session of events that are sent once.
	maxOnce = 128
)

// give makes a session a recipient.
func (o *Session) give(v *event) {
	s := o.shard
	if !v.reliable {
		if o.silent {
			s.stats.EventsDropped++
			return
		}
		if v.left++; len(o.events.once) >= maxOnce {
			s.stats.EventsDropped++
			s.got(o.events.once[0])
			o.events.once = append(o.events.once[:0], o.events.once[1:]...)
		}
		o.events.once = append(o.events.once, v)
		s.urgent = true
		o.call()
		return
	}
	if v.left++; s.cfg.Given != nil {
		s.cfg.Given(o, v.payload)
	}
	o.events.waiting = append(o.events.waiting, v)
	o.call()
	o.passEvents()
}

// got notes that a recipient has an event, or never will.
func (s *Shard) got(v *event) {
	if v.left--; v.left > 0 {
		return
	}
	if v.reliable {
		v.from.settle(uint64(wire.EventCost(len(v.payload))))
	}
	s.releaseAudience(v.audience)
	payload := v.payload
	*v = event{}
	if len(s.spareEvents) < 256 && cap(payload) <= 4096 {
		v.payload = payload[:0]
		s.spareEvents = append(s.spareEvents, v)
	}
}

func (s *Shard) newEvent() *event {
	if n := len(s.spareEvents); n > 0 {
		v := s.spareEvents[n-1]
		s.spareEvents = s.spareEvents[:n-1]
		return v
	}
	return new(event)
}

// line is what must not change its order: a sender's events about one entity (R-53).
type line struct {
	player wire.PlayerID
	id     wire.ID
}

// passEvents hands what waits for a session to its streams: all that need not wait for an introduction, as far as the window goes.
func (o *Session) passEvents() {
	s, v := o.shard, &o.events
	if len(v.waiting) == 0 || o.closing != nil {
		return
	}
	full := len(o.backlog) > 0 || o.conn.Unacked()+o.apartBytes > eventWindow
	if full { // one that is merely slow costs its senders; one that acks nothing ends, whatever waits for it
		return
	}
	blocked := s.scratch.lines[:0]
	keep := v.waiting[:0]
	for _, x := range v.waiting {
		l := line{x.player, x.id}
		if !full && !slices.Contains(blocked, l) {
			m, ready := o.head(x)
			if ready && int(x.kind.Num) <= v.told {
				if o.conn.Unacked()+o.apartBytes+len(x.payload) > eventWindow {
					full = true
				} else {
					s.scratch.frame = append(m.Append(append(s.scratch.frame[:0], wire.MsgEvent)), x.payload...)
					full = o.conn.Queue(wire.EventStream(x.player, x.id), s.scratch.frame) != nil
				}
				if !full {
					s.stats.EventsSent++
					s.urgent = true
					s.got(x)
					continue
				}
			} else {
				blocked = append(blocked, l)
			}
		}
		keep = append(keep, x)
	}
	s.scratch.lines = blocked[:0]
	clear(v.waiting[len(keep):])
	v.waiting = keep
	if len(keep) == 0 && cap(keep) > 64 {
		v.waiting = nil
	}
}

// head is what a recipient is told about an event besides its payload. It is not ready while the introduction of what the event is
// about is on its way.
func (o *Session) head(x *event) (m wire.EventDown, ready bool) {
	s := o.shard
	m = wire.EventDown{Kind: x.kind.Num, Epoch: o.epoch, After: o.conn.Queued(wire.StreamControl) + uint32(len(o.backlog)), From: x.player,
		Host: x.host, Authority: x.authority, TimeMS: x.ms, Direct: x.to >= wire.ToOwner, Patient: !s.retains(), ID: x.id, Inc: x.inc}
	e := x.e
	switch {
	case !x.about:
		return m, true
	case e != nil && !o.knowsOf(x):
		m.About, m.ID, m.Inc = wire.AboutFar, wire.ID{}, 0
		return m, true
	case e == nil:
		m.About, m.Why = wire.AboutGone, wire.WhyDestroyed
		return m, true
	case e.Dead:
		m.About, m.Why = wire.AboutGone, e.Why
		return m, true
	}
	if e.Check != 0 || o.looked { // it appeared or moved since the last flush
		o.check(e)
	}
	p := o.pairs.get(e.Handle)
	m.About = wire.AboutFar
	if p == nil {
		return m, true
	}
	switch p.state {
	case introducing:
		m.About = wire.AboutComing
		if s.cfg.Faults.EventEarly {
			m.About = wire.AboutHeld
			return m, true
		}
		return m, false
	case drives:
		m.About = wire.AboutHeld
	case known:
		m.About = wire.AboutHeld
		if m.Slots = o.unheld(p, e); s.cfg.Faults.EventBlind {
			m.Slots = 0
		} else if m.Slots != 0 {
			m.Vers = s.scratch.vers[:0]
			for k := m.Slots; k != 0; k &= k - 1 {
				m.Vers = append(m.Vers, e.Version(bits.TrailingZeros64(k)))
			}
			s.scratch.vers = m.Vers
		}
	}
	return m, true
}

// knowsOf reports whether a session may know what an event is about (B-113).
func (o *Session) knowsOf(x *event) bool {
	if x.e.Dead {
		return o.admitted(x.audience)
	}
	return o.shard.admits(o, x.e)
}

// unheld are the slots of an entity, as they are now, that a session which knows it may not hold yet: all but those which it has
// certainly acked, and those which it is not shown.
func (o *Session) unheld(p *pair, e *table.Entity) (mask uint64) {
	s := o.shard
	since := s.flush - 1 // what this flush has may be in no packet yet
	older := func(v uint32) {
		if int32(v-since) < 0 {
			since = v
		}
	}
	for i := o.sent.head; i < len(o.sent.log); i++ {
		t := &o.sent.log[i]
		if t.done {
			continue
		}
		if len(t.segs) > 0 {
			older(t.since)
		}
		for _, r := range t.own {
			if r.handle == p.handle && r.kind == refDelta {
				mask |= r.mask
			}
		}
	}
	if o.skipped != 0 {
		older(o.skipped - 1)
	}
	if len(o.marks.list) > 0 {
		for _, k := range [...]place{{chunk: e.Place.Chunk, global: e.Class.Position < 0}, {chunk: e.Prev, global: e.Class.Position < 0}} {
			if m := o.marks.get(k); m != nil {
				older(m.since)
			}
		}
	}
	mask |= e.Since(since)
	if p.pkt != 0 {
		mask |= o.own[p.pkt-1].mask
	}
	for i := range o.apart {
		if a := &o.apart[i]; a.handle == p.handle {
			mask |= 1 << a.slot
		}
	}
	mask &= s.visible(e) &^ (e.Class.Init | e.Class.Motion) // motion may be thinned, and is never over
	if p.flags&far != 0 {
		mask &= e.Class.Presence
	}
	return mask
}

// once writes the events that are sent once.
func (w *bundler) once() {
	s, o := w.s, w.o
	for _, x := range o.events.once {
		m, _ := o.head(x)
		switch {
		case s.now > x.until || int(x.kind.Num) > o.events.told:
			s.stats.EventsDropped++
		default:
			s.scratch.frame = append(m.Append(s.scratch.frame[:0]), x.payload...)
			w.bare(session.FrameSize(len(s.scratch.frame)))
			w.b = session.AppendFrame(w.b, wire.KindEvent, s.scratch.frame)
			s.stats.EventsOnce++
		}
		s.got(x)
	}
	clear(o.events.once)
	o.events.once = o.events.once[:0]
}

// bare makes sure that the open packet can take n more bytes that need no head.
func (w *bundler) bare(n int) {
	w.endRun() // else what follows would be records of its frame
	if w.open && w.size()+n > w.limit {
		w.flush()
	}
	if !w.open {
		w.begin()
		for w.size()+n > w.limit && w.o.conn.Carries() {
			w.flush() // reliable pieces filled it
			w.begin()
		}
	}
}

// Unheard is how many events wait for a session at the relay.
func (o *Session) Unheard() int { return len(o.events.waiting) }

// leaveEvents gives up what waits for a session that ends, and what waited to be sent from it. The latter is told if the connection goes on
// to another world.
func (o *Session) leaveEvents() {
	v := &o.events
	for _, x := range v.early {
		if m, err := wire.ParseEventUp(x.body); x.reliable && err == nil {
			if o.shard.stats.EventsOld++; len(v.undelivered) >= maxUntold {
				continue
			}
			v.undelivered = append(v.undelivered, wire.Undelivered{Kind: m.Kind, Reason: wire.UndeliveredEpoch, ID: m.ID})
		}
	}
	for _, x := range v.waiting {
		o.shard.got(x)
	}
	for _, x := range v.once {
		o.shard.got(x)
	}
	v.waiting, v.once, v.early, v.earlyBytes = nil, nil, nil, 0
}
