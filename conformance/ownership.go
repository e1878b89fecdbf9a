package conformance

import (
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// give hands over as a game's tick does at its end.
func (p *player) give(c *registry.Copy, to wire.PlayerID) {
	unsent := c.Mark
	if d, _ := c.Data.(*body); d != nil {
		for i := range slots {
			if d.val[i] != d.shadow[i] {
				unsent |= 1 << i
			}
		}
		d.shadow = d.val
	}
	p.reg.Grant(c, to, unsent)
}

// asked answers wishes to drive: two of three are granted, which depends on who asks for what.
func (p *player) asked() {
	asked := p.reg.Requests
	p.reg.Requests, p.reg.Denials = nil, nil
	for _, q := range asked {
		if c := q.Copy; !c.Gone && c.Drives() && mix(p.w.prog.Seed, uint64(c.ID[0])<<16|uint64(q.From[0])<<8|uint64(c.Term.N()))%3 > 0 {
			p.w.note("client %d grants %x, as asked, to %x", p.i, c.ID[:4], q.From[:1])
			p.give(c, q.From)
		}
	}
}

// keeps reports whether some entity waits for its owner: it will leave, or be driven again.
func (w *world) keeps() (any bool) {
	for _, l := range w.levels {
		l.Each(func(e *table.Entity) { any = any || e.Kept() })
	}
	return any
}
