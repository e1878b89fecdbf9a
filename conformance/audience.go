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

// audienceOps change who may know of an entity, and who is in a group.
var audienceOps = []operation{
	{name: "audience", weight: 0, when: on, // entity, kind, seat
		draw: func(g *generator, w *world, p *player) ([]int, bool) {
			var all []int
			p.relay().Each(func(e *table.Entity) { all = append(all, refOfID(e.ID)) })
			if len(all) == 0 {
				return nil, false
			}
			return []int{all[g.rng.IntN(len(all))], g.rng.IntN(7), g.rng.IntN(len(w.players))}, true
		},
		run: func(w *world, p *player, o *Op) {
			e := p.relay().At(idOfRef(o.arg(0)))
			if e == nil || o.arg(2) >= len(w.players) {
				return
			}
			one := []wire.PlayerID{w.players[o.arg(2)].id}
			a := []shard.Audience{{}, {}, {Group: "g"}, {Players: one}, {Only: true, Players: one}, {Only: true}, {Group: "g", Players: one}}[o.arg(1)%7]
			w.note("audience of %x: %+v", e.ID[:4], a)
			p.relay().SetAudience(e.ID, a)
			w.wake()
		}},
	{name: "group", weight: 0, when: on, // in or out
		draw: func(g *generator, _ *world, _ *player) ([]int, bool) { return []int{g.rng.IntN(2)}, true },
		run: func(w *world, p *player, o *Op) {
			w.note("client %d in the group: %v", p.i, o.arg(0) == 1)
			p.relay().SetGroup(p.id, "g", o.arg(0) == 1)
			w.wake()
		}},
}

// wary looks at everything that the relay sends to a player, at the instant when it does.
func (w *world) wary(p *player, s *shard.Session, packet []byte) {
	if w.mode.More["audience"] == 0 {
		return
	}
	secrets := map[uint32]*table.Entity{}
	at := w.routes[p.i].at
	at.Each(func(e *table.Entity) {
		if !at.Admits(s, e) {
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
		case wire.KindTie:
			if m, err := wire.ParseTie(body); err == nil {
				name(m.Handle, "what goes with something")
				name(m.Parent, "what something goes with")
			}
		case wire.KindDepart:
			if m, err := wire.ParseDepart(body); err == nil && !p.told[m.ID] {
				w.fail("R-31: client %d is sent a departure of %x, which it was never told of", p.i, m.ID[:4])
			}
		case 0x01: // a piece
			w.pieces(p, body, name)
		case wire.KindSegment:
			chunk, num, rest, err := wire.ParseSegment(body, base)
			if err != nil || num == 0 || int(num) > len(classes) {
				w.fail("a segment of class %d: %v", num, err)
				return
			}
			var r wire.Record
			for k := wire.Walk(rest, chunk, classes[num-1]); k.Next(&r); {
				name(r.Handle, "a record")
			}
		}
	})
}

// pieces looks at a piece of the stream of values that travel apart. Its first copy leaves behind that of the piece before.
func (w *world) pieces(p *player, body []byte, name func(handle uint32, what string)) {
	seq, n := binary.Uvarint(body[1:])
	data := body[3+n:]
	if body[0]&15 != wire.StreamValues {
		return
	}
	if p.apart == nil || p.apart.joined != p.joined {
		p.apart = &sentApart{p.joined, map[uint64]uint32{}, map[uint64]bool{}}
	}
	a := p.apart
	a.more[seq] = body[0]&0x80 != 0
	if len(data) == 0 { // it was taken back
		return
	}
	if _, again := a.of[seq]; !again {
		if a.of[seq] = a.of[seq-1]; seq == 0 || !a.more[seq-1] {
			m, err := wire.ParseValue(data[1:])
			if err != nil || data[0] != wire.MsgValue {
				w.fail("client %d is sent a value that does not parse: %v", p.i, err)
			}
			a.of[seq] = m.Handle
		}
	}
	name(a.of[seq], "a piece of a value")
}

// sentApart is which entity each piece of the stream of values is about, and whether its message goes on behind it.
type sentApart struct {
	joined int
	of     map[uint64]uint32
	more   map[uint64]bool
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
