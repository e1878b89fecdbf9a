package registry

import (
	"maps"
	"slices"

	"github.com/throng-dev/throng/internal/wire"
)

// What this client knows of placed entities that stay destroyed:
//
//	Destroyed, before Welcome ─► gone ─► Destroyed: the owner refuses to place them
//	Want: it would have placed one ─► the relay shows it the next incarnation, if the host begins one

// Destroyed reports whether the entity with an id was destroyed, and has not begun anew, as far as this client heard.
func (r *Registry) Destroyed(id wire.ID) bool {
	return r.byID.Find(id) == nil && (r.gone[id] != 0 || r.dead[id].inc != 0 && !r.risen[id])
}

// Want says that this client has no body of a destroyed entity, and would show its next incarnation.
func (r *Registry) Want(id wire.ID, k *Class) {
	r.wants[id] = k
	if r.isReady {
		r.tellWant(id)
	}
}

func (r *Registry) tellWant(id wire.ID) {
	r.nonce++
	m := wire.Entity{ID: id, Nonce: r.nonce, Class: r.wants[id].Local, Flags: wire.EntityPlaced | wire.EntityHosted | wire.EntityWanted}
	r.queue(wire.AppendEntity(nil, wire.MsgSpawn, &m))
}

// tellWants says again, in a new session, what this client would show.
func (r *Registry) tellWants() {
	ids := slices.SortedFunc(maps.Keys(r.wants), func(a, b wire.ID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range ids {
		if r.byID.Find(id) == nil {
			r.tellWant(id)
		}
	}
}

// destroyed takes the relay's list of what stays destroyed. It comes before the welcome.
func (r *Registry) destroyed(body []byte) error {
	if r.Listed = r.now; r.Welcomed && r.goneThere == nil {
		r.goneThere = map[wire.ID]wire.Count{}
	}
	list := r.gone
	if r.Welcomed { // in the world that it travels to
		list = r.goneThere
	}
	return wire.ParseDestroyed(body, func(d wire.Destroyed) {
		if len(list) < maxGone {
			list[d.ID] = d.Inc
		}
	})
}

// arriveGone makes the list of another world the list of this.
func (r *Registry) arriveGone() {
	r.gone, r.goneThere = r.goneThere, nil
	if r.gone == nil {
		r.gone = map[wire.ID]wire.Count{}
	}
	clear(r.wants)
	clear(r.risen)
}

// maxGone bounds the list: a relay keeps no more.
const maxGone = 65536

// rises notes that an incarnation lives: what was destroyed before it is over.
func (r *Registry) rises(id wire.ID, inc wire.Count) {
	if inc > r.gone[id] {
		delete(r.gone, id)
	}
	if d, ok := r.dead[id]; ok && inc > d.inc {
		r.risen[id] = true
	}
}
