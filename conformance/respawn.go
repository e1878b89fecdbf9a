package conformance

import (
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/wire"
)

// placeOps begin placed entities anew that were destroyed, or say that a client would show them.
var placeOps = []operation{
	{name: "respawn", weight: 0, when: on, // which, class
		draw: func(g *generator, w *world, p *player) ([]int, bool) {
			ref := refPlaced + g.rng.IntN(2)
			return []int{ref, g.rng.IntN(2)}, p.reg.Destroyed(idOfRef(ref))
		},
		run: func(w *world, p *player, o *Op) {
			id, class := idOfRef(o.arg(0)), o.arg(1)
			switch {
			case !p.reg.Destroyed(id) || class >= len(p.classes):
			case p.relay().Host() != p.id:
				w.note("client %d wants %x", p.i, id[:4])
				p.reg.Want(id, p.classes[class])
			default:
				d := new(body)
				for i := range slots {
					w.write(p, d, i, int(p.views[0]))
				}
				d.shadow = d.val
				w.note("client %d respawns %x in %d class %d, writes %d to %d", p.i, id[:4], p.views[0], class, d.val[0].W, d.val[slots-1].W)
				p.told[id] = true
				p.shown[id] = p.reg.Spawn(id, p.classes[class], wire.PlayerID{}, wire.EntityAutoGrant|wire.EntityHosted|wire.EntityPlaced|wire.EntityRespawn, func(c *registry.Copy) { c.Data = d })
			}
		}},
}
