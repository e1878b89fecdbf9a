package registry

import (
	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// Travel goes on to another world on the same session:
//
//	Travel ─► MsgTravel, classes ─► nothing more leaves but acks ─┬► Welcome with another epoch ─► arrive: all of the old world is void
//	                                                              └► MsgTravelRefused ─► what was held back leaves
//
// The reliable stream is in order, so that what comes on it before the Welcome is of the old world; packets say their epoch.

// WhyTraveled is the Why of copies of the world that this client left. It is never on the wire.
const WhyTraveled wire.Why = 254

// Travel asks to go on to a world. The owner calls it once, and not again before Arrived or TravelRefused is set, or the connection is
// another.
func (r *Registry) Travel(world string) {
	r.travel = world
	r.queue(wire.AppendTravel(nil, world))
	for _, c := range r.classes { // before the Welcome: the relay may then introduce at once
		r.queue(wire.AppendClass(nil, c.Local, &c.Class))
	}
	r.announceEvents()
	r.traveling = true
}

// Traveling reports whether this session has asked for another world and not been answered.
func (r *Registry) Traveling() bool { return r.traveling }

// holdBack keeps a message of this world from following the request for another: it leaves if that is refused.
func (r *Registry) holdBack(msg []byte) {
	if len(r.held) < maxBacklog || msg[0] != wire.MsgNoRoom {
		r.held = append(r.held, msg)
	}
}

// stay ends a travel that was refused.
func (r *Registry) stay(m *wire.Refuse) {
	if !r.traveling {
		return
	}
	r.traveling, r.TravelRefused = false, m
	held := r.held
	r.held = nil
	for _, msg := range held {
		r.send(msg)
	}
}

// arrive makes everything of the world before void.
func (r *Registry) arrive() {
	r.Arrived, r.traveling, r.held = true, false, nil
	r.cfg.World = r.travel
	for _, c := range r.changed {
		if c.changed = false; c.Gone {
			r.Departed = append(r.Departed, c)
		}
	}
	leave := func(c *Copy) {
		c.Applied()
		c.end(WhyTraveled, wire.PlayerID{}, 0)
		c.drives, c.marked, c.Mark = false, false, 0
		r.tr.entity(trace.In, trace.Departure, c, trace.WrongEpoch)
		r.Departed = append(r.Departed, c)
	}
	r.Each(func(c *Copy) {
		if r.pend[c.ID] != c {
			leave(c)
		}
	})
	for _, c := range r.order {
		if c != nil && r.pend[c.ID] == c {
			leave(c)
		}
	}
	r.byID.Clear()
	clear(r.pend)
	clear(r.dead)
	clear(r.mine)
	clear(r.Players)
	r.handles, r.last, r.sent = handles{}, map[uint32]last{}, sentLog{}
	r.deadIDs, r.order, r.changed, r.marks, r.lefts = nil, nil, nil, nil, nil
	r.Strangers, r.Requests, r.Denials = nil, nil, nil
	r.byNum = r.byNum[:0]
	for _, c := range r.classes {
		c.Num = 0
	}
	r.EndMark, r.full, r.isReady, r.hasCur = false, false, false, false
	r.follow, r.views = true, []grid.Chunk(nil)
	r.GroupNews = nil
	r.freshEvents()
	r.arriveGone()
	r.connectGroups()
}
