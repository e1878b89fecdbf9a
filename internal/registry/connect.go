package registry

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/motion"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// heardFor is how long a destruction heard of is worth telling a restarted relay.
const heardFor = 30 * time.Second

// Connect begins a session: what the relay said before is void.
func (r *Registry) Connect(now time.Duration, conn *session.Conn) {
	r.now, r.conn, r.backlog = now, conn, nil
	r.traveling, r.held, r.TravelRefused = false, nil, nil
	r.Welcomed, r.Due, r.Refused, r.EndMark, r.hasCur, r.full, r.isReady = false, false, nil, false, false, false, false
	r.handles, r.last, r.sent, r.apart, r.apartBytes, r.apartPaid = handles{}, map[uint32]last{}, sentLog{}, nil, 0, 0
	r.byNum = r.byNum[:0]
	clear(r.Players)
	r.Strangers, r.Requests, r.Denials = nil, nil, nil
	r.People++
	r.clock, r.uplink, r.phase = motion.Filter{}, uplink{}, phase{}
	h := wire.Hello{MinVersion: wire.Version, MaxVersion: wire.Version, World: r.cfg.World, Agent: r.cfg.Agent}
	r.queue(h.Append(nil))
	for _, c := range r.classes {
		c.Num = 0
		r.queue(wire.AppendClass(nil, c.Local, &c.Class))
	}
	clear(r.gone)
	r.connectGroups()
	r.connectMembers()
	r.connectEvents()
	r.Each(func(c *Copy) {
		c.Handle, c.old, c.verSet, c.n = 0, true, 0, 0
		if c.proof != nil {
			c.proof.granted, c.proof.flying, c.proof.flown, c.proof.lost, c.proof.revoked = 0, 0, 0, 0, 0
		}
		c.unbind()
	})
	if r.byID.Len() == 0 && len(r.pend) == 0 && len(r.deadIDs) == 0 && len(r.wants) == 0 {
		r.ready() // nothing to announce: the first entities arrive a round trip earlier
	}
}

// Announce tells a relay that welcomed this client what it drives, or drove last; only then is the client ready to be shown
// others' entities. The owner calls it when Due is set: the values are those of that moment.
func (r *Registry) Announce() {
	if !r.Due {
		return
	}
	r.Due = false
	for _, id := range r.deadIDs {
		if d := r.dead[id]; d.cert != nil && !r.cfg.Faults.DestroyForgot && r.now-d.at < heardFor {
			r.queue(wire.AppendEntity(nil, wire.MsgGone, &wire.Entity{ID: id, Inc: d.inc, Cert: d.cert}))
		}
	}
	waiting := slices.SortedFunc(maps.Values(r.pend), func(a, b *Copy) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	r.Each(r.reannounce)
	for _, c := range waiting {
		if r.byID.Find(c.ID) == nil {
			delete(r.pend, c.ID)
			r.add(c)
		}
		r.announce(c)
	}
	r.tellWants()
	r.ready()
}

func (r *Registry) ready() {
	r.isReady = true
	r.sendView()
	if r.cfg.Departures {
		r.queue(wire.AppendWatch(nil, wire.WatchDepartures))
	}
	r.queue([]byte{wire.MsgReady})
}

func (r *Registry) reannounce(c *Copy) {
	if c.Handle != 0 {
		return // the relay gave it to this session already
	}
	c.old = true
	if c.drives && c.Hosted() && r.Host != (wire.PlayerID{}) && r.Host != r.Welcome.Player { // somebody else became host meanwhile (B-082)
		c.drives, c.waiting = false, true
		r.change(c)
	}
	switch {
	case c.pending && c.Inc == 0, c.placed && !c.drives && c.cert() == nil:
		c.old, c.pending, c.Inc, c.Term = false, true, 0, 0
		r.announce(c)
	case c.drives || (c.waiting || c.cert() != nil) && !r.cfg.Faults.CertDropped:
		drives := c.drives && !c.waiting
		c.old, c.pending = !drives, drives
		m := wire.Entity{ID: c.ID, Inc: c.Inc, Term: c.certTerm(), Nonce: c.nonce, Class: c.Class.Local, Flags: c.Flags, Owner: c.Owner, Cert: c.cert()}
		if drives {
			m.Flags |= wire.EntityDrives
		}
		m.Values, m.Mask, m.Chunk = r.whole(c)
		r.tellBonds(c)
		r.queue(wire.AppendEntity(nil, wire.MsgAgain, &m))
	}
}

// whole returns the values of a copy to announce. What must be cleared is cleared first: the relay would keep values that a body which
// did not tick since is about to lose (B-024).
func (r *Registry) whole(c *Copy) (values []byte, mask uint64, at grid.Chunk) {
	if c.ZeroOwner && r.cfg.Zero != nil {
		r.cfg.Zero(c)
	}
	return r.current(c, c.Class.All, nil)
}

// announce sends a spawn with the present values of all slots.
func (r *Registry) announce(c *Copy) {
	m := wire.Entity{ID: c.ID, Nonce: c.nonce, Class: c.Class.Local, Flags: c.Flags}
	m.Values, m.Mask, m.Chunk = r.whole(c)
	c.Sent, c.Chunk = int32(len(m.Values)), m.Chunk
	r.tellBonds(c)
	r.queue(wire.AppendEntity(nil, wire.MsgSpawn, &m))
}

// SetView says where this client looks from: chunks, or its avatar.
func (r *Registry) SetView(follow bool, views []grid.Chunk) {
	r.follow, r.views = follow, append(r.views[:0], views...)
	r.sendView()
}

func (r *Registry) sendView() {
	if r.isReady {
		r.queue(wire.AppendView(nil, r.follow, r.views))
	}
}

// Message is part of session.Handler.
func (r *Registry) Message(stamp uint64, stream int, msg []byte) {
	if stream >= wire.StreamEvents && stream < wire.StreamEvents+wire.EventStreams && len(msg) > 0 && msg[0] == wire.MsgEvent {
		r.listen(msg[1:], stream)
	}
	if stream == wire.StreamValues && len(msg) > 0 && msg[0] == wire.MsgValue {
		r.value(stamp, msg[1:])
	}
	if stream != wire.StreamControl || len(msg) == 0 {
		return
	}
	kind, body := msg[0], msg[1:]
	r.traceMessage(trace.In, msg)
	var err error
	switch kind {
	case wire.MsgWelcome:
		var m wire.Welcome
		if m, err = wire.ParseWelcome(body); err == nil {
			if r.Welcomed && r.traveling {
				r.arrive()
			}
			if m.Epoch != r.Welcome.Epoch {
				r.unprovable()
			}
			r.Welcome = m
			r.Welcomed, r.Due = true, !r.isReady
			r.flush, r.timeMS = r.Welcome.Flush, r.Welcome.TimeMS
			r.clock.Sample(r.now, time.Duration(r.timeMS)*time.Millisecond) // who sees nobody gets no bundle, and has motion to date
			r.Host, r.HostTerm = r.Welcome.Host, r.Welcome.HostTerm
			r.People++
			r.Players[r.Welcome.Player] = wire.Player{ID: r.Welcome.Player, Present: true, Eligible: r.Welcome.Eligible, Authority: r.Welcome.Authority}
		}
	case wire.MsgRefuse:
		var m wire.Refuse
		if m, err = wire.ParseRefuse(body); err == nil {
			r.Refused = &m
		}
	case wire.MsgTravelRefused:
		var m wire.Refuse
		if m, err = wire.ParseRefuse(body); err == nil {
			r.stay(&m)
		}
	case wire.MsgClass:
		err = r.class(body)
	case wire.MsgHost:
		var m wire.Host
		if m, err = wire.ParseHost(body); err == nil && m.Term >= r.HostTerm {
			r.Host, r.HostTerm = m.Player, m.Term
		}
	case wire.MsgPlayer:
		r.People++
		err = wire.ParsePlayers(body, func(p wire.Player) {
			if p.Present {
				r.Players[p.ID] = p
			} else {
				delete(r.Players, p.ID)
			}
		})
	case wire.MsgDestroyed:
		err = r.destroyed(body)
	case wire.MsgAttached:
		err = r.attached(body)
	case wire.MsgGroupIs:
		err = r.groupIs(body)
	case wire.MsgEndMark:
		r.endMark()
	case wire.MsgEventKind:
		err = r.eventKind(body)
	case wire.MsgEventState:
		err = r.eventState(body)
	default:
		var m wire.Entity
		if m, err = wire.ParseEntity(kind, body); err == nil {
			r.message(kind, &m, stamp)
		}
	}
	if err != nil {
		r.malformed(body)
	}
}

// class takes the number of a class of the world.
func (r *Registry) class(body []byte) error {
	num, c, err := wire.ParseClass(body)
	if err != nil || num == 0 {
		return wire.ErrMalformed
	}
	for len(r.byNum) <= int(num) {
		r.byNum = append(r.byNum, nil)
	}
	if i := slices.IndexFunc(r.classes, func(k *Class) bool { return k.ID == c.ID && k.Hash == c.Hash && k.Shape() == c.Shape() }); i >= 0 && r.byNum[num] == nil {
		r.number(num, c.ID, c.Hash)
	}
	if k := r.byNum[num]; k == nil {
		has := slices.ContainsFunc(r.classes, func(k *Class) bool { return k.ID == c.ID })
		r.byNum[num] = &Class{Class: *c, Num: num, other: has, rest: r.stages} // of another build: tracked, never shown
	}
	return nil
}

func (r *Registry) classByNum(num uint32) *Class {
	if int(num) < len(r.byNum) {
		return r.byNum[num]
	}
	return nil
}

// number ties a number of the world to a class of this build.
func (r *Registry) number(num, id uint32, hash uint64) *Class {
	for len(r.byNum) <= int(num) {
		r.byNum = append(r.byNum, nil)
	}
	for _, k := range r.classes {
		if k.ID == id && k.Hash == hash {
			k.Num = num
			r.byNum[num] = k
			return k
		}
	}
	return nil
}

// endMark drops copies of an older epoch that were not introduced by now.
func (r *Registry) endMark() {
	r.EndMark = true
	r.Each(func(c *Copy) {
		if c.old && !c.pending && !c.placed && !r.cfg.Faults.NoEndMark {
			r.drop(c, wire.WhyStale, wire.PlayerID{}, false, nil)
		}
	})
}
