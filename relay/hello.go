package relay

import (
	"fmt"
	"hash/fnv"

	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/token"
)

// sessionEpoch is the world epoch of a session in the first world it enters.
const sessionEpoch = 1

// WorldHash is what a token's Claims.World must be to let its bearer into that level only: FNV-1a, 64 bits, of the name.
func WorldHash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// hello lets a peer into the world it names. The checks, in this order: can it be read, is a version in common, is there
// such a world, does the token lead there, does it grant anything, is there room, is the connection the player's newest.
func (r *loop) hello(p *peer, body []byte) {
	h, err := wire.ParseHello(body)
	if err != nil {
		p.fail(wire.CloseProtocol, "the Hello is malformed")
		return
	}
	rights := p.claims.Rights
	switch {
	case h.MinVersion > wire.Version || h.MaxVersion < wire.Version:
		p.fail(wire.CloseVersion, fmt.Sprintf("the relay speaks wire version %d, the client %d to %d: update the older one",
			wire.Version, h.MinVersion, h.MaxVersion))
		return
	case !validName(h.World):
		p.fail(wire.CloseWorld, fmt.Sprintf("no level name: use 1 to %d bytes of text", wire.MaxName))
		return
	case r.bars(p, h.World) != "":
		p.fail(wire.CloseWorld, r.bars(p, h.World))
		return
	case rights&(token.Player|token.Observer|token.Authority) == 0:
		p.fail(wire.CloseRights, "the token grants nothing that lets one in: mint it with the player or the observer right")
		return
	}
	if m := r.members[p.memberKey()]; m != nil && m.peer != nil && m.peer.order > p.order {
		p.fail(wire.CloseReplaced, "the player has a newer session")
		return
	}
	w := r.enter(worldKey{p.claims.Realm, h.World})
	if w == nil {
		p.fail(wire.CloseFull, "the relay has no room for another world")
		return
	}
	m := r.member(p.memberKey())
	if old := m.peer; old != nil {
		r.end(old, wire.CloseReplaced, "the player opened a newer session")
	}
	m.peer = p
	p.entered, p.member, p.epoch = true, m, sessionEpoch
	r.counts.sessions++
	r.counts.joined++
	r.into(p, w)
	r.log.Debug("session entered", "world", h.World, "realm", hexID(p.claims.Realm), "player", hexID(p.claims.Player),
		"rights", rights, "agent", h.Agent, "addr", p.addr)
}

// into puts a peer into a world.
func (r *loop) into(p *peer, w *world) {
	p.world = w
	w.sessions++
	p.sess = w.shard.Join(r.now, &p.conn, shard.Identity{
		To:        p.id,
		Player:    p.claims.Player,
		Senior:    p.member.senior,
		Eligible:  p.claims.Rights.Has(token.Player | token.HostEligible),
		Observer:  !p.claims.Rights.Has(token.Player) && !p.claims.Rights.Has(token.Authority),
		Authority: p.claims.Rights.Has(token.Authority),
	}, p.epoch)
}

// leave takes a peer out of its world.
func (r *loop) leave(p *peer) {
	if p.sess == nil {
		return
	}
	p.world.shard.Leave(r.now, p.sess, wire.WhyReleased)
	p.world.left(r.now)
	p.member.left(r.now)
	r.counts.sessions--
	p.sess = nil
}
