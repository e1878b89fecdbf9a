package shard

import (
	"errors"
	"time"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// An event on its way through a world:
//
//	Message, Frame ─► may it be sent? ─► early: what it names has not come yet ─► route: its values, then who gets it
//	               ─► waiting of each recipient (event_fanout.go) ─► a stream of its session, or a packet
//	the last recipient has it ─► settled, which the sender is told by and by (event_credit.go)
//
// The payload is stored once, whoever gets it, and never looked into.

// kind is a kind of event that some session announced.
type kind struct{ wire.EventKind }

type kindKey struct {
	id   uint32
	hash uint64
}

// event is one that waits for somebody.
type event struct {
	from            *Session
	player          wire.PlayerID
	host, authority bool
	kind            *kind
	to              wire.To
	about           bool
	id              wire.ID
	inc             wire.Count
	e               *table.Entity // nil: not about one, or about one that is not known
	audience        uint32        // of e, held on to: whom it is not for must not be told its name
	ms              uint32
	payload         []byte
	reliable        bool
	until           time.Duration // of one that is sent once: then it is no use any more
	left            int           // recipients that have not got it
}

// events is what a session has to do with events.
type events struct {
	kinds []*kind // by the session's own number
	told  int     // of the world's kinds, how many were announced to it

	early      []earlyEvent
	earlyBytes int

	waiting []*event // for this session, oldest first
	once    []*event // the same, of those that are sent once

	settled, toldSettled uint64
	state                bool // something is to be told
	undelivered          []wire.Undelivered
	used                 float64 // of the rate
	usedAt               time.Duration
}

// earlyEvent came before what it stands behind: control messages of its sender.
type earlyEvent struct {
	body     []byte
	reliable bool
	until    time.Duration
}

const (
	// maxEarly bounds them for a session. The session layer has acked them: its window does not count them any more.
	maxEarly     = 256 << 10
	maxEarlyOnce = 8 << 10

	// onceFor is how long an event that is sent once may wait for what it is about.
	onceFor = 300 * time.Millisecond

	shareKinds = 256 // kinds that one player may add to a world
)

var (
	errEarly = errors.New("events came long before what they stand behind")
	errFlood = errors.New("you send more events than the relay allows")
)

// EventStats counts events. Those that reached nobody are told to their senders.
type EventStats struct {
	Events, EventBytes           uint64 // taken from senders
	EventsSent, EventsOnce       uint64 // handed to the streams, and into packets, of recipients
	EventsHeld                   uint64 // came before what they stand behind
	EventsGone, EventsNobody     uint64 // about what is not there any more; for nobody
	EventsRefused, EventsFlooded uint64 // by those who may not; above the limits
	EventsOld, EventsDropped     uint64 // of a world that their sender left; sent once, and not in time
	EventsMalformed              uint64
}

// Event takes an event of a session. It is on one of its streams, or in a packet.
func (o *Session) event(body []byte, reliable bool) {
	s := o.shard
	m, err := wire.ParseEventUp(body)
	if err != nil {
		s.stats.EventsMalformed++
		s.fault = err
		return
	}
	if m.About && m.Epoch == o.epoch { // whatever becomes of the event, its sender takes them for sent
		if e := s.meant(&m); e != nil && !e.Dead {
			s.values(o, e, &m)
		}
	}
	if !o.mayEvent(reliable) {
		return
	}
	o.release() // what waited stands behind no more than this does
	if o.stands(&m, reliable) {
		if e := s.meant(&m); m.About && m.Epoch == o.epoch && e != nil && !e.Dead {
			s.values(o, e, &m) // they were acked, and the event may yet be dropped
		}
		o.hold(body, reliable)
		return
	}
	s.route(o, &m, reliable)
}

// stands reports whether an event stands behind something that has not come. What its sender announced may itself wait, for the world to
// settle; of one that is sent once the sender cannot say how it lies among what else it sent.
func (o *Session) stands(m *wire.EventUp, reliable bool) bool {
	s := o.shard
	if s.cfg.Faults.EventOvertakes {
		return false
	}
	return int32(m.After-o.conn.Taken(wire.StreamControl)) > 0 ||
		m.About && m.Inc == 0 && (!s.settled || !reliable) && s.table.ByID(m.ID) == nil
}

func (o *Session) hold(body []byte, reliable bool) {
	s, v := o.shard, &o.events
	s.stats.EventsHeld++
	limit := maxEarly
	if !reliable {
		limit = maxEarlyOnce
	}
	if v.earlyBytes+len(body) > limit {
		s.stats.EventsFlooded++
		if reliable {
			o.end(errEarly)
		}
		return
	}
	v.earlyBytes += len(body)
	v.early = append(v.early, earlyEvent{append([]byte(nil), body...), reliable, s.now + onceFor})
}

// release routes what may be routed by now. A stream's events stand behind no less than those before them, so their order holds.
func (o *Session) release() {
	s, v := o.shard, &o.events
	if len(v.early) == 0 {
		return
	}
	keep := v.early[:0]
	for _, x := range v.early {
		m, _ := wire.ParseEventUp(x.body)
		switch {
		case !x.reliable && s.now > x.until:
			s.stats.EventsDropped++
		case o.stands(&m, x.reliable):
			keep = append(keep, x)
			continue
		default:
			s.route(o, &m, x.reliable)
		}
		v.earlyBytes -= len(x.body)
	}
	clear(v.early[len(keep):])
	if v.early = keep; len(keep) == 0 {
		v.early = nil
	}
}

// route decides who gets an event.
func (s *Shard) route(o *Session, m *wire.EventUp, reliable bool) {
	cost := uint64(0)
	if reliable {
		cost = uint64(wire.EventCost(len(m.Payload)))
	}
	if reliable && s.cfg.Given != nil {
		s.cfg.Given(nil, m.Payload)
	}
	refuse := func(reason uint8, n *uint64) {
		*n++
		o.settle(cost)
		if reliable {
			o.undeliver(m, reason)
		}
	}
	var k *kind
	if int(m.Kind) < len(o.events.kinds) {
		k = o.events.kinds[m.Kind]
	}
	switch {
	case m.Epoch != o.epoch:
		cost = 0 // it was of another account
		refuse(wire.UndeliveredEpoch, &s.stats.EventsOld)
		return
	case o.Observer:
		refuse(wire.UndeliveredRights, &s.stats.EventsRefused)
		return
	case k == nil:
		s.fault = errKind
		refuse(wire.UndeliveredKind, &s.stats.EventsRefused)
		return
	case len(m.Payload) > s.cfg.EventSize:
		refuse(wire.UndeliveredLimit, &s.stats.EventsFlooded)
		return
	}
	s.stats.Events++
	s.stats.EventBytes += uint64(len(m.Payload))
	v := s.newEvent()
	*v = event{from: o, player: o.Player, host: s.host == o, authority: o.Authority, kind: k, to: m.To, about: m.About, id: m.ID, inc: m.Inc,
		ms: s.ms(), payload: append(v.payload[:0], m.Payload...), reliable: reliable, until: s.now + onceFor}
	if m.About {
		v.e = s.meant(m)
		if v.e != nil && !v.e.Dead {
			s.values(o, v.e, m)
		}
		if v.e != nil {
			v.inc, v.audience = v.e.Inc, s.both(s.audiences.at(v.e), 0)
		}
	}
	v.left = 1 // until everybody was looked at
	switch reason := s.address(o, v, m); reason {
	case 0:
	case wire.UndeliveredGone:
		s.stats.EventsGone++
		o.undeliver(m, reason)
	default:
		s.stats.EventsNobody++
		o.undeliver(m, reason)
	}
	s.got(v)
}

// meant finds the entity that an event is about: alive, or dead and not forgotten.
func (s *Shard) meant(m *wire.EventUp) *table.Entity {
	is := func(e *table.Entity) bool {
		return e.ID == m.ID && (e.Inc == m.Inc || m.Inc == 0 && (e.Nonce == m.Nonce || e.Flags&wire.EntityPlaced != 0))
	}
	if e := s.table.ByID(m.ID); e != nil && is(e) {
		return e
	}
	for i := len(s.dying) - 1; i >= 0; i-- {
		if is(s.dying[i]) {
			return s.dying[i]
		}
	}
	return nil
}

// values takes the values that came along: what was written before an event is not newer than the event.
func (s *Shard) values(o *Session, e *table.Entity, m *wire.EventUp) {
	if m.Mask == 0 || e.Class.ValuesLen(m.Mask, m.Values) != len(m.Values) {
		return
	}
	term := m.Term
	if m.Inc == 0 && e.Nonce == m.Nonce && e.RoleVer == e.Born {
		term = e.Term // its driver has not been told yet, and it has had no other
	}
	if term != e.Term {
		s.stats.Stale++
		return
	}
	if int32(m.Tick-o.tick) > 0 {
		o.tick = m.Tick
	}
	s.stats.Deltas++
	s.delta(o, e.Class, m.Tick, &wire.Delta{Handle: e.Handle, Gen: e.Gen, Term: e.Term.N(), N: m.N, Mask: m.Mask, Chunk: m.Chunk, Values: m.Values})
}

// address gives an event to its recipients. It returns why there is none.
func (s *Shard) address(o *Session, v *event, m *wire.EventUp) uint8 {
	switch m.To {
	case wire.ToReach:
		if v.e == nil {
			return wire.UndeliveredGone
		}
		for _, p := range s.sessions {
			if p != o && p.reaches(v.e) {
				p.give(v)
			}
		}
	case wire.ToWorld:
		for _, p := range s.sessions {
			if p != o && p.ready {
				p.give(v)
			}
		}
	case wire.ToAuthority:
		found := o.Authority
		for _, p := range s.sessions {
			if p.Authority && p != o {
				p.give(v)
				found = true
			}
		}
		if !found {
			return wire.UndeliveredNobody
		}
	default:
		who := m.Who
		switch m.To {
		case wire.ToHost:
			who = s.Host()
		case wire.ToOwner:
			if v.e == nil || v.e.Dead {
				return wire.UndeliveredGone
			}
			who = v.e.Owner
		}
		if who == (wire.PlayerID{}) {
			return wire.UndeliveredNobody
		}
		for _, p := range s.sessions {
			if p.Player == who {
				p.give(v)
				return 0
			}
		}
		return wire.UndeliveredNobody
	}
	return 0
}

// reaches reports whether a session has an entity in reach, as it is now: who appeared or moved since the last flush is looked at first.
func (o *Session) reaches(e *table.Entity) bool {
	if !e.Dead {
		if e.Check != 0 || o.looked {
			o.check(e)
		}
		p := o.pairs.get(e.Handle)
		return p != nil && p.state != leaving
	}
	return o.pairs.get(e.Handle) != nil
}

// eventKind takes the announcement of a kind of event.
func (o *Session) eventKind(body []byte) error {
	m, err := wire.ParseEventKind(body)
	if err != nil {
		return err
	}
	s := o.shard
	key := kindKey{m.ID, m.Hash}
	k := s.kindByHash[key]
	if k == nil {
		if len(s.kinds) >= wire.MaxEvents || !s.mayAddKind(o.Player, len(body)) {
			s.stats.Refused++
			return nil
		}
		k = &kind{m}
		k.Num = uint32(len(s.kinds) + 1)
		s.kinds = append(s.kinds, k)
		if s.kindByHash == nil {
			s.kindByHash = make(map[kindKey]*kind)
		}
		s.kindByHash[key] = k
		for _, p := range s.sessions {
			p.tellKinds()
		}
	}
	for len(o.events.kinds) <= int(m.Num) {
		o.events.kinds = append(o.events.kinds, nil)
	}
	o.events.kinds[m.Num] = k
	return nil
}

// tellKinds announces the kinds of events of the world, each once, as fast as they are acked.
func (o *Session) tellKinds() {
	for s := o.shard; o.events.told < len(s.kinds) && o.unacked() < classRoom; {
		k := s.kinds[o.events.told]
		o.events.told++
		o.queue(k.Append(nil, wire.MsgEventKind))
	}
}

// end ends a session that cannot go on.
func (o *Session) end(why error) {
	if o.closing == nil {
		o.closing = why
		o.shard.failed = append(o.shard.failed, o)
		o.shard.urgent = true
	}
}

// Code is the close code that a failed session is told.
func (o *Session) Code() wire.CloseCode {
	if errors.Is(o.closing, errFlood) || errors.Is(o.closing, errEarly) || errors.Is(o.closing, ErrFlood) {
		return wire.CloseLimit
	}
	return wire.CloseBehind
}
