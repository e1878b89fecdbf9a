package registry

import "github.com/throng-dev/throng/internal/wire"

// rejected takes the relay's word which slots it does not apply; none: those it did not are applied now.
func (r *Registry) rejected(c *Copy, m *wire.Entity) {
	if m.Reason != 0 {
		r.stats.Rejected++
	}
	if c == nil || c.Inc != m.Inc {
		return
	}
	t := c.ail()
	t.Rejected, t.RejectedReason, t.RejectedEnds = m.Mask, m.Reason, m.Reason == 0
	if t.large = 0; m.Reason == wire.RefusedInvalid {
		t.large = m.Mask
	}
	r.change(c)
}

// retry marks slots that had no room beside the others when another slot leaves whose length may have changed: that may have made room.
func (r *Registry) retry(c *Copy) {
	if t := c.Ails; t != nil && t.large != 0 && c.Mark&c.Class.Variable&^t.large != 0 {
		c.Mark |= t.large
	}
}
