package conformance

import (
	"github.com/throng-dev/throng/internal/registry"
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
