package conformance

import (
	"bytes"
	"encoding/binary"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// oracle knows what the relay accepted, when, and who may know it.
type oracle struct {
	acc   map[accKey]accepted
	order int
	lived map[life]bool
	must  map[mustKey]wire.Count // the last restart may not lose these
	may   []uint32               // by write, of owner slots: seats that may know it
}

// accepted is when a value was: it may be accepted again, by a re-announcement of a higher term.
type accepted struct {
	epoch       uint64
	first, last int
}

type accKey struct {
	level int
	id    wire.ID
	inc   wire.Count
	slot  int
	w     uint32
}

type mustKey struct {
	level int
	id    wire.ID
}

// life is one incarnation of an id.
type life struct {
	level int
	id    wire.ID
	inc   wire.Count
}

func (o *oracle) init() { o.acc, o.lived = map[accKey]accepted{}, map[life]bool{} }

// accepted and safety are Safety: a held value was accepted by the relay and never goes back within an epoch.
func (w *world) accepted(l *level, e *table.Entity, slot int) {
	o := &w.oracle
	v := parseVal(e.Value(slot), slot)
	k := accKey{l.i, e.ID, e.Inc, slot, v.W}
	o.order++
	a, ok := o.acc[k]
	if !ok || a.epoch != w.epoch {
		a = accepted{w.epoch, o.order, 0}
	}
	a.last = o.order
	o.acc[k] = a
	o.lived[life{l.i, e.ID, e.Inc}] = true
	if slot == slotOwn {
		w.driverKnows(l, e)
	}
}

func (w *world) safety(p *player, c *registry.Copy, slot int, d *body, v val) {
	if v == (val{}) || c.Inc == 0 { // never written, or a placed body whose source has not answered in this epoch
		return
	}
	o := &w.oracle
	a, ok := o.acc[accKey{p.here, c.ID, c.Inc, slot, v.W}]
	if !ok {
		w.fail("Safety: client %d: %x slot %d holds %d, never accepted for it", p.i, c.ID[:4], slot, v.W)
		return
	}
	had := d.val[slot]
	h, ok := o.acc[accKey{p.here, c.ID, c.Inc, slot, had.W}]
	// A value of an older epoch that the relay accepts again later is not one that the client had from it.
	if ok && had != v && h.first <= d.since[slot] && h.epoch == w.epoch && a.epoch == w.epoch && h.first > a.last {
		w.fail("Safety: client %d: %x slot %d goes back from %d to %d", p.i, c.ID[:4], slot, had.W, v.W)
	}
}

// restarted remembers what clients that stay still hold: the next relay must come to know it (B-133).
func (o *oracle) restarted(w *world) {
	o.must = map[mustKey]wire.Count{}
	for _, l := range w.levels {
		l.Each(func(e *table.Entity) {
			for _, p := range w.players {
				if c := p.reg.Find(e.ID); p.state == on && p.here == l.i && c != nil && c.Inc == e.Inc && c.Drives() && c.Bound() {
					o.must[mustKey{l.i, e.ID}] = e.Inc
				}
			}
		})
	}
}

// handed notes that a session drives an entity: it may know the owner's slots of now, also in what is sent again later (B-024).
func (w *world) handed(e *table.Entity, to wire.PlayerID) {
	w.players[int(to[0])-1].told[e.ID] = true
	if v := parseVal(e.Value(slotOwn), slotOwn); v.W != 0 {
		w.mayKnow(v.W, int(to[0])-1)
	}
}

func (w *world) driverKnows(l *level, e *table.Entity) {
	for _, p := range w.players {
		if r := w.routes[p.i]; r != nil && r.at == l && l.Drives(r.sess, e) {
			w.handed(e, p.id)
		}
	}
}

func (w *world) mayKnow(write uint32, seat int) {
	o := &w.oracle
	for len(o.may) <= int(write) {
		o.may = append(o.may, 0)
	}
	o.may[write] |= 1 << seat
}

// ownerOnly looks at the bytes that leave for a player: no owner slot of others' is among them, whatever the path (B-024).
func (w *world) ownerOnly(p *player, _ *shard.Session, payload []byte) {
	frames(payload, func(_ byte, b []byte) { // a value may go on in the piece behind: then it is not looked at
		for {
			i := bytes.Index(b, []byte(ownMagic))
			if i < 0 || i+8 > len(b) {
				return
			}
			v := binary.LittleEndian.Uint32(b[i+4:])
			if int(v) >= len(w.oracle.may) || w.oracle.may[v]>>p.i&1 == 0 {
				w.fail("B-024: client %d is sent write %d of an owner slot that was never its own", p.i, v)
			}
			b = b[i+8:]
		}
	})
}
