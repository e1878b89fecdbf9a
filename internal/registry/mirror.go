package registry

import "github.com/throng-dev/throng/internal/wire"

// Mirror returns a copy that stands beside the registry: no relay knows it, nobody drives it, nothing about it is sent (B-121).
func (r *Registry) Mirror(id wire.ID, k *Class) *Copy {
	return &Copy{ID: id, Class: k, mirror: true}
}

// Reflect takes values as if the relay had sent them to a mirror: they are judged, staged and told of by Changed like all
// others, and count as received nowhere.
func (r *Registry) Reflect(c *Copy, mask uint64, values []byte, at Timing) {
	stats := r.stats
	r.stages.timing = at
	r.merge(c, c.newest()+1, mask, values)
	r.stages.timing = Timing{}
	r.stats = stats
}

// Mirrors reports whether the copy is a mirror.
func (c *Copy) Mirrors() bool { return c.mirror }
