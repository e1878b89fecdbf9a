package table

import (
	"math/bits"
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// rest is how long an index stays free before it is used again, above the longest life of a datagram that a session
// with working acks can have missed.
const rest = 2 * time.Second

// maxGone bounds the list of destroyed incarnations; above it the oldest are forgotten.
const maxGone = 65536

// Table holds the entities of one world. It belongs to one goroutine.
type Table struct {
	start            uint32 // start number of the relay: high half of terms and incarnations
	limit            int
	space            int // handles there are at most
	incs             uint32
	terms            uint32
	rest             time.Duration
	ents             []*Entity // by handle; nil: free or never used
	gens             []uint8
	byID             map[wire.ID]*Entity
	free             []freed // oldest first
	head             int
	gone, gonePlaced gone
	over             gone // destroyed incarnations of ids that began anew since
}

type freed struct {
	handle uint32
	at     time.Duration
}

// New returns the table of a world with at most limit entities.
func New(start uint32, limit int) *Table {
	limit = min(limit, wire.MaxHandle)
	// Dead entities that are still leaving hold handles as well, so the space is wider than the limit.
	return &Table{start: start, limit: limit, space: min(2*limit+64, wire.MaxHandle), rest: rest, ents: make([]*Entity, 1), gens: make([]uint8, 1),
		byID: make(map[wire.ID]*Entity)}
}

// SetRest changes how long a free index rests, for simulators whose network is as fast as they like.
func (t *Table) SetRest(d time.Duration) { t.rest = d }

// SetSpace bounds the handles in use, for simulators that force their reuse.
func (t *Table) SetSpace(handles int) { t.space = handles }

// Len is the number of living entities.
func (t *Table) Len() int { return len(t.byID) }

// All returns the entities by handle, with nil for free handles and those that are dead but still leaving. Read only.
func (t *Table) All() []*Entity { return t.ents }

// ByHandle returns the entity that holds the handle, dead ones included; nil if there is none.
func (t *Table) ByHandle(h uint32) *Entity {
	if int(h) < len(t.ents) {
		return t.ents[h]
	}
	return nil
}

// ByID returns the living entity with that id, or nil.
func (t *Table) ByID(id wire.ID) *Entity { return t.byID[id] }

// NextInc issues an incarnation: unique over all entities and over restarts.
func (t *Table) NextInc() wire.Count {
	t.incs++
	return wire.NewCount(t.start, t.incs)
}

// NextTerm issues a term: unique over all entities and over restarts, so that an entity whose owner left and came back, in the
// same incarnation, never meets a term of its life before.
func (t *Table) NextTerm() wire.Count {
	t.terms++
	return wire.NewCount(t.start, t.terms)
}

// Create adds an entity under an id that no living entity has. It returns nil if the world is full.
func (t *Table) Create(now time.Duration, id wire.ID, inc, term wire.Count, c *Class) *Entity {
	h := t.handle(now)
	if h == 0 {
		return nil
	}
	t.gens[h]++
	e := &Entity{ID: id, Inc: inc, Term: term, Class: c, Handle: h, Gen: t.gens[h], vers: make([]uint32, c.words), fixed: make([]byte, c.Fixed)}
	if n := bits.OnesCount64(c.Variable); n > 0 {
		e.vars = make([][]byte, n)
		for i := range e.vars {
			e.vars[i] = []byte{0} // length 0
		}
	}
	t.ents[h], t.byID[id] = e, e
	return e
}

func (t *Table) handle(now time.Duration) uint32 {
	if len(t.byID) >= t.limit {
		return 0
	}
	if t.head < len(t.free) && t.free[t.head].at <= now {
		h := t.free[t.head].handle
		t.head++
		if t.head > 64 && 2*t.head > len(t.free) {
			t.free = append(t.free[:0], t.free[t.head:]...)
			t.head = 0
		}
		return h
	}
	if len(t.ents) > t.space {
		return 0
	}
	t.ents = append(t.ents, nil)
	t.gens = append(t.gens, 0)
	return uint32(len(t.ents) - 1)
}

// Kill takes an entity out of the world. Its handle stays until Free. If it was destroyed its incarnation is remembered.
func (t *Table) Kill(e *Entity, why wire.Why) {
	e.Dead = true
	if e.Death == nil {
		e.Death = new(Death)
	}
	e.Death.Why = why
	if t.byID[e.ID] == e {
		delete(t.byID, e.ID)
	}
	if why == wire.WhyDestroyed {
		t.SetGone(e.ID, e.Inc, e.Flags&wire.EntityPlaced != 0)
	}
}

// SetGone remembers that an incarnation was destroyed. Placed entities have a list of their own: they stay destroyed for the life of
// the world, and nobody may push them out of it by spawning and destroying.
//
// Of a placed id that began anew since, an older incarnation says nothing: whoever heard of its end tells of it for a while, the id
// does not go with that.
func (t *Table) SetGone(id wire.ID, inc wire.Count, placed bool) {
	if inc <= t.over.inc[id] {
		return
	}
	if e := t.byID[id]; e != nil && e.Inc > inc && e.Flags&wire.EntityPlaced != 0 {
		t.over.set(id, inc)
		return
	}
	l := &t.gone
	if placed {
		l = &t.gonePlaced
	}
	l.set(id, inc)
}

// Gone is the highest destroyed incarnation of an id that has not begun anew since, or 0.
func (t *Table) Gone(id wire.ID) wire.Count { return max(t.gone.inc[id], t.gonePlaced.inc[id]) }

// Ended is the highest destroyed incarnation of an id, or 0: it and those before it do not come back, whatever began since.
func (t *Table) Ended(id wire.ID) wire.Count { return max(t.Gone(id), t.over.inc[id]) }

// GonePlaced calls f for every placed entity that was destroyed, oldest first.
func (t *Table) GonePlaced(f func(wire.ID, wire.Count)) {
	for _, id := range t.gonePlaced.order {
		f(id, t.gonePlaced.inc[id])
	}
}

// Rise brings back an entity that was killed, in the same incarnation. Its handle must not be free, nor its id be another's.
func (t *Table) Rise(e *Entity) {
	t.gone.forget(e.ID)
	t.gonePlaced.forget(e.ID)
	e.Dead, e.Death = false, nil
	t.byID[e.ID] = e
}

// Revive lets an id that was destroyed begin anew: what was destroyed of it does not come back.
func (t *Table) Revive(id wire.ID) {
	if inc := t.Gone(id); inc != 0 {
		t.over.set(id, inc)
	}
	t.gone.forget(id)
	t.gonePlaced.forget(id)
}

// gone is a list of destroyed incarnations, the oldest forgotten first.
type gone struct {
	inc   map[wire.ID]wire.Count
	order []wire.ID
}

func (l *gone) set(id wire.ID, inc wire.Count) {
	if l.inc == nil {
		l.inc = make(map[wire.ID]wire.Count)
	}
	old, ok := l.inc[id]
	if !ok {
		if len(l.order) >= maxGone {
			delete(l.inc, l.order[0])
			l.order = l.order[1:]
		}
		l.order = append(l.order, id)
	}
	l.inc[id] = max(old, inc)
}

// Free gives back the handle of a dead entity that no session holds.
func (t *Table) Free(now time.Duration, e *Entity) {
	if t.ents[e.Handle] == e {
		t.ents[e.Handle] = nil
		t.free = append(t.free, freed{e.Handle, now + t.rest})
	}
}

func (l *gone) forget(id wire.ID) {
	if _, ok := l.inc[id]; !ok {
		return
	}
	delete(l.inc, id)
	for i, have := range l.order {
		if have == id {
			l.order = append(l.order[:i:i], l.order[i+1:]...)
			return
		}
	}
}
