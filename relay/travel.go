package relay

import (
	"fmt"

	"github.com/throng-dev/throng/internal/wire"
)

// travelMost is how often a session may ask for another world, beyond what is granted, until it ends: every travel may begin a world.
const travelMost = 50

// bars is why a peer may not enter a level; "" if it may.
func (r *loop) bars(p *peer, level string) string {
	_, listed := r.cfg.Worlds[level]
	switch {
	case !validName(level):
		return fmt.Sprintf("no level name: use 1 to %d bytes of text", wire.MaxName)
	case r.cfg.ListedOnly && !listed:
		return "the relay has no such level"
	case p.claims.World != 0 && p.claims.World != WorldHash(level):
		return "the token is for another level"
	}
	return ""
}

// travel moves a session to another world of its realm, on the same connection: the reliable lane goes on, everything else of the old
// world is void from the packet on that asked for it. A refusal leaves it where it is.
func (r *loop) travel(p *peer, stamp uint64, body []byte) {
	level, err := wire.ParseTravel(body)
	if err != nil {
		p.fail(wire.CloseProtocol, "the Travel is malformed")
		return
	}
	no := wire.Refuse{}
	var w *world
	switch seldom := p.travels.take(r.now, 1, 1); {
	case p.travels.used > travelMost:
		p.fail(wire.CloseLimit, "you travel more often than the relay allows")
		return
	case !seldom:
		no = wire.Refuse{Code: uint16(wire.CloseLimit), Text: "you travel more often than the relay allows: once a second, five times at once"}
	case r.bars(p, level) != "":
		no = wire.Refuse{Code: uint16(wire.CloseWorld), Text: r.bars(p, level)}
	default:
		if w = r.enter(worldKey{p.claims.Realm, level}); w == nil {
			no = wire.Refuse{Code: uint16(wire.CloseFull), Text: "the relay has no room for another world"}
		}
	}
	if w == nil {
		r.counts.refused[wire.CloseCode(no.Code)]++
		p.sess.Tell(no.AppendTravel(nil))
		return
	}
	before := p.sess
	p.world.shard.Leave(r.now, before, wire.WhyReleased)
	p.world.left(r.now)
	p.epoch++
	p.fence = stamp
	r.into(p, w)
	p.sess.Inherit(before)
	r.counts.traveled++
	r.log.Debug("session traveled", "world", level, "realm", hexID(p.claims.Realm), "player", hexID(p.claims.Player))
}
