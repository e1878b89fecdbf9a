package conformance

import (
	"encoding/binary"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// The oracle of R-31: no packet that the relay sends to a session names an entity that the session may not know of, except the
// departure of one that it was told of before.

// hush changes who may know of an entity, or who is in a group.
func (w *world) hush() {
	w.drivers()
	p := w.players[w.rng.IntN(len(w.players))]
	if w.rng.IntN(3) == 0 {
		in := w.rng.IntN(2) == 0
		w.note("client %d in the group: %v", p.i, in)
		w.relay.SetGroup(p.id, "g", in)
		w.wake()
		return
	}
	var all []*table.Entity
	w.relay.Each(func(e *table.Entity) { all = append(all, e) })
	if len(all) == 0 {
		return
	}
	e := all[w.rng.IntN(len(all))]
	a := []shard.Audience{{}, {}, {Group: "g"}, {Players: []wire.PlayerID{p.id}}, {Only: true, Players: []wire.PlayerID{p.id}}, {Only: true},
		{Group: "g", Players: []wire.PlayerID{p.id}}}[w.rng.IntN(7)]
	w.note("audience of %x: %+v", e.ID[:4], a)
	w.relay.SetAudience(e.ID, a)
	w.wake()
}

// drivers notes what the sessions made or were assigned: they were told of that.
func (w *world) drivers() {
	if !w.opt.Audiences {
		return
	}
	for i, s := range w.sessions {
		w.relay.Each(func(e *table.Entity) {
			if w.relay.Drives(s, e) {
				w.players[i].told[e.ID] = true
			}
		})
	}
}

// wary looks at everything that the relay sends to a player, at the instant when it does.
func (w *world) wary(p *player, s *shard.Session, packet []byte) {
	secrets := map[uint32]*table.Entity{}
	w.relay.Each(func(e *table.Entity) {
		if !w.relay.Admits(s, e) {
			secrets[e.Handle] = e
		}
	})
	name := func(handle uint32, what string) {
		if e := secrets[handle]; e != nil {
			w.fail("R-31: client %d is sent %s of %x, which it may not know of", p.i, what, e.ID[:4])
		}
	}
	var base grid.Chunk
	frames(packet, func(kind byte, body []byte) {
		switch kind {
		case wire.KindFlush:
			if f, err := wire.ParseFlush(body, 0); err == nil {
				base = f.Base
			}
		case wire.KindIntro:
			if m, err := wire.ParseIntro(body, base); err == nil {
				name(m.Handle, "the introduction")
				p.told[m.ID] = true
			}
		case wire.KindRole:
			if m, err := wire.ParseRole(body); err == nil {
				name(m.Handle, "the owner")
			}
		case wire.KindDepart:
			if m, err := wire.ParseDepart(body); err == nil && !p.told[m.ID] {
				w.fail("R-31: client %d is sent a departure of %x, which it was never told of", p.i, m.ID[:4])
			}
		case wire.KindSegment:
			chunk, _, rest, err := wire.ParseSegment(body, base)
			if err != nil {
				w.fail("a segment: %v", err)
				return
			}
			var r wire.Record
			for k := wire.Walk(rest, chunk, thing()); k.Next(&r); {
				name(r.Handle, "a record")
			}
		}
	})
}

// frames walks a packet as docs/spec/wire.md describes it.
func frames(b []byte, f func(kind byte, body []byte)) {
	uv := func() int {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return int(v)
	}
	acks := b[2]&1 != 0
	if b = b[3:]; acks {
		extra := int(b[3])
		for b = b[4:]; extra >= 0; extra-- {
			if uv(); extra > 0 {
				uv()
			}
		}
	}
	for len(b) > 0 {
		kind := b[0]
		b = b[1:]
		n := uv()
		f(kind, b[:n])
		b = b[n:]
	}
}
