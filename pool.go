package throng

import "errors"

// A class with ClassConfig.Pool uses the structs of its proxies again:
//
//	sweep: a proxy's delay is over ─► retire: cleared, and marked as pooled ─► proxy: cleared once more ─► the next OnSpawn
//
// Cleared twice, because a game that kept the pointer may have written to it in between.

// ErrPooled: the struct was a proxy, has left, and waits to be used again.
var ErrPooled = errors.New("it has left, and its struct waits in the pool of its class: keep the NetID beyond OnDestroy, not the pointer")

// entityPooled is a flag of Entity.
const entityPooled = 1

func pooled(o Object) bool { return o.entity().flags&entityPooled != 0 }

// proxy returns a cleared struct for an entity of somebody else's.
func (w *World) proxy(h *hookSet) Object {
	n := len(h.pool)
	if n == 0 {
		return h.class.newObject()
	}
	o := h.pool[n-1]
	h.pool[n-1], h.pool = nil, h.pool[:n-1]
	if h.resets() {
		h.class.plan.Zero(h.class.plan.Pointer(o), h.class.layout.All)
		*o.entity() = Entity{}
	} else {
		h.class.clear(o)
	}
	return o
}

// retire keeps the struct of a proxy whose time is over, if its class has a pool with room.
func (w *World) retire(b *body) {
	h := b.hooks
	if len(h.pool) >= h.class.cfg.Pool {
		return
	}
	if h.resets() {
		w.user(func() {
			for _, k := range h.hooks {
				if k.reset != nil {
					k.reset(b.o)
				}
			}
		})
		h.class.plan.Zero(h.class.plan.Pointer(b.o), h.class.layout.All)
		*b.o.entity() = Entity{}
	} else {
		h.class.clear(b.o)
	}
	b.o.entity().flags = entityPooled
	h.pool = append(h.pool, b.o)
}

// resets reports whether the game clears what is its own in a struct.
func (h *hookSet) resets() bool {
	for _, k := range h.hooks {
		if k.reset != nil {
			return true
		}
	}
	return false
}
