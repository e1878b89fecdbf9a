package registry

import (
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// What a world without kept values needs of a client (B-053).

// undrawn is for how long nothing that was under way when an entity was destroyed makes a body of it.
const undrawn = 500 * time.Millisecond

func (r *Registry) retains() bool { return r.Welcome.Profile.Flags&wire.ProfileRetain != 0 }

// spoken are the slots that a repeated spawn carries.
func spoken(k *Class) uint64 {
	m := k.Init
	if k.Position >= 0 {
		m |= 1 << k.Position
	}
	return m &^ k.Owner
}

// Spoken reports whether the spawn of an entity was heard: else only its changes are.
func (c *Copy) Spoken() bool { return !c.unspoken }

// Met reports whether a change of an entity arrived.
func (c *Copy) Met() bool { return c.verSet != 0 }

// Repeat says the spawn of a driven copy once more, from where it is now.
func (r *Registry) Repeat(c *Copy) {
	if !c.Drives() || !c.Bound() || c.mirror {
		return
	}
	m := wire.Entity{ID: c.ID, Inc: c.Inc, Term: c.Term}
	m.Values, m.Mask, m.Chunk = r.current(c, spoken(c.Class), nil)
	r.queue(wire.AppendEntity(nil, wire.MsgRepeat, &m))
}

// buried reports whether an introduction is of something that was destroyed: for good where values are kept, else while what was under
// way may still come. The relay decides there when a repeat counts again.
func (r *Registry) buried(id wire.ID, inc wire.Count) bool {
	d, ok := r.dead[id]
	if !ok || d.inc < inc || inc == 0 {
		return false
	}
	return r.retains() || r.now < d.at+undrawn
}
