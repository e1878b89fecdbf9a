package conformance

import (
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

func idOf(p *player) transport.ID { return transport.ID(p.i + 100*p.joined) }

func (p *player) encode(c *registry.Copy, mask uint64, b []byte) ([]byte, uint64, grid.Chunk) {
	d, _ := c.Data.(*body)
	if d == nil {
		d = new(body)
	}
	for i := range slots {
		if mask>>i&1 != 0 {
			b = d.val[i].append(b, i)
		}
	}
	return b, mask, grid.Chunk{X: int64(d.val[slotPos].C)}
}

func (p *player) receive(b []byte) {
	if err := p.conn.Receive(p.w.Now(), b, p.reg.Handler(p.w.Now())); err != nil {
		p.w.fail("client %d: %v", p.i, err)
	}
}

func (p *player) send(tick bool) {
	buffer := func() []byte { return transport.NewBuffer() }
	for _, b := range p.reg.Send(p.w.Now(), tick, transport.MaxPayload, transport.Headroom, buffer, nil) {
		p.w.carry(p, &p.up, b[transport.Headroom:], func(b []byte) {
			if s := p.w.sessions[p.i]; s != nil {
				if err := p.w.relay.Receive(p.w.Now(), s, b); err != nil {
					p.w.fail("relay: session of client %d: %v", p.i, err)
				}
				p.w.wake()
			}
		})
	}
}

// tick is a frame of the game: apply what came, then send; every fourth is a replication tick.
func (p *player) tick() {
	w := p.w
	w.After(25*time.Millisecond, p.tick)
	if !p.on {
		return
	}
	p.conn.Expire(w.Now(), p.reg.Handler(w.Now()))
	p.ticks++
	if p.ticks%3 == 0 || w.quiet { // a game may tick less often than packets come
		p.apply()
	}
	rep := p.ticks%4 == 0
	if rep {
		p.apply()
		p.reg.Each(func(c *registry.Copy) {
			if d, _ := c.Data.(*body); d != nil && c.Drives() {
				mask := p.reg.Lost(c)
				for i := range slots {
					if d.val[i] != d.shadow[i] {
						mask |= 1 << i
					}
				}
				d.shadow = d.val
				p.reg.Mark(c, mask)
			}
		})
	}
	p.send(rep)
}

// apply writes what the registry staged into the bodies, as a game's tick does.
func (p *player) apply() {
	w := p.w
	p.reg.Announce()
	for _, c := range p.reg.Changed(nil) {
		if c.Gone {
			if p.shown[c.ID] == c {
				delete(p.shown, c.ID)
			}
			if c.Why == wire.WhyDestroyed && c.Inc > p.gone[c.ID] && c.Refused == 0 {
				p.gone[c.ID] = c.Inc
			}
			continue
		}
		if c.Data == nil && c.Class.Local != 0 {
			if p.shown[c.ID] != nil {
				w.fail("client %d: a second body of %x", p.i, c.ID[:4])
			}
			if e := w.relay.At(c.ID); e != nil && e.Inc < c.Inc {
				w.fail("client %d: body of an incarnation that the relay does not have", p.i)
			}
			c.Data = new(body)
			c.Shown = true
			p.shown[c.ID] = c
		}
		d := c.Data.(*body)
		if c.ZeroOwner {
			c.ZeroOwner = false
			d.val[slotOwn], d.shadow[slotOwn] = val{}, val{}
		}
		c.Staged(func(apply, mask uint64, values []byte) {
			for i := range slots {
				if mask>>i&1 == 0 {
					continue
				}
				l := c.Class.ValueLen(i, values)
				v := parseVal(values[:l], i)
				values = values[l:]
				if apply>>i&1 == 0 {
					continue
				}
				if i == slotOwn && !c.Drives() && v != (val{}) && c.Term == 0 {
					w.fail("client %d: owner slot of %x reached it", p.i, c.ID[:4])
				}
				w.safety(p, c, i, d.val[i], v)
				d.val[i], d.shadow[i] = v, v
			}
		})
		c.Applied()
		p.reg.Release(c)
	}
}

// accept and safety are the oracle of Safety: a held value was accepted by the relay and never goes back within an epoch.
func (w *world) accept(e *table.Entity, slot int) {
	v := parseVal(e.Value(slot), slot)
	k := accKey{e.ID, e.Inc, slot, v.W}
	w.order++
	a, ok := w.acc[k]
	if !ok || a.epoch != w.epoch {
		a = accepted{w.epoch, w.order, 0}
	}
	a.last = w.order
	w.acc[k] = a
}

func (w *world) safety(p *player, c *registry.Copy, slot int, had, v val) {
	if v == (val{}) || c.Inc == 0 { // never written, or a placed body whose source has not answered in this epoch
		return
	}
	a, ok := w.acc[accKey{c.ID, c.Inc, slot, v.W}]
	if !ok {
		w.fail("client %d: %x slot %d holds %d, never accepted for it", p.i, c.ID[:4], slot, v.W)
		return
	}
	h, ok := w.acc[accKey{c.ID, c.Inc, slot, had.W}]
	if ok && had != v && h.epoch == w.epoch && a.epoch == w.epoch && h.first > a.last {
		w.fail("safety: client %d %x slot %d goes back from %d to %d", p.i, c.ID[:4], slot, had.W, v.W)
	}
}

// oneDriver is R-22: no two clients drive one (entity, term).
func (w *world) oneDriver() {
	type key struct {
		id        wire.ID
		inc, term wire.Count
	}
	seen := map[key]int{}
	for _, p := range w.players {
		if !p.on {
			continue
		}
		p.reg.Each(func(c *registry.Copy) {
			if !c.Drives() || c.Inc == 0 || !c.Bound() {
				return
			}
			k := key{c.ID, c.Inc, c.Term}
			if o, dup := seen[k]; dup {
				w.fail("R-22: clients %d and %d drive %x in term %x", o, p.i, c.ID[:4], c.Term)
			}
			seen[k] = p.i
		})
	}
}

func (w *world) val(chunk uint32) val {
	w.writes++
	return val{w.writes, chunk}
}

func (w *world) part(p *player) {
	w.must = nil
	if s := w.sessions[p.i]; s != nil {
		w.relay.Leave(w.Now(), s, wire.WhyReleased)
		delete(w.sessions, p.i)
		w.wake()
	}
	p.on = false
	p.fresh()
	w.note("client %d leaves", p.i)
}

func (w *world) restart() {
	w.must = map[wire.ID]wire.Count{}
	w.relay.Each(func(e *table.Entity) {
		for _, p := range w.players {
			if c := p.reg.Find(e.ID); p.on && c != nil && c.Inc == e.Inc && c.Drives() && c.Bound() {
				w.must[e.ID] = e.Inc // B-133: a client that stays still holds it
			}
		}
	})
	w.newRelay()
	w.note("relay restarts")
	for _, p := range w.players {
		if p.on {
			p.on, p.away = false, true
			w.After(time.Duration(50+w.rng.IntN(900))*time.Millisecond, func() {
				if p.away {
					w.join(p)
				}
			})
		}
	}
}

func (w *world) step(restarts *int) {
	p := w.players[w.rng.IntN(len(w.players))]
	op := w.rng.IntN(100)
	if p.away {
		return
	}
	if !p.on {
		if op < 30 {
			w.join(p)
		}
		return
	}
	p.apply() // operations happen inside a game's tick
	var all []*registry.Copy
	p.reg.Each(func(c *registry.Copy) {
		if c.Data != nil {
			all = append(all, c)
		}
	})
	var c *registry.Copy
	if len(all) > 0 {
		c = all[w.rng.IntN(len(all))]
	}
	isHost := w.relay.Host() == p.id
	switch {
	case op < 45: // write or move
		if c == nil || !c.Drives() {
			return
		}
		d := c.Data.(*body)
		i, chunk := w.rng.IntN(slots), d.val[slotPos].C
		if i == slotPos {
			chunk = uint32(max(0, min(chunks-1, int(chunk)+w.rng.IntN(3)-1)))
			if w.rng.IntN(6) == 0 {
				chunk = uint32(w.rng.IntN(chunks))
			}
		}
		d.val[i] = w.val(0)
		if i == slotPos {
			d.val[i].C = chunk
		}
		w.note("client %d writes %x slot %d = %v", p.i, c.ID[:4], i, d.val[i])
	case op < 53: // spawn
		if w.relay.Entities() > 8 {
			return
		}
		w.nextID++
		var id wire.ID
		id[0], id[1] = byte(w.nextID), byte(w.nextID>>8)
		flags := uint16(wire.EntityAutoGrant)
		switch w.rng.IntN(6) {
		case 0: // avatar
			id = wire.ID{0xaa, byte(p.i)}
		case 1:
			flags |= wire.EntityHosted
		case 2:
			flags |= wire.EntityToHost
		case 3: // the same name for all
			id = wire.ID{0xbb, byte(w.rng.IntN(2))}
			flags |= wire.EntityHosted | wire.EntityPlaced
		}
		if p.reg.Find(id) != nil {
			return
		}
		d := new(body)
		for i := range slots {
			d.val[i] = w.val(0)
		}
		d.val[slotPos].C = p.view
		d.shadow = d.val
		owner := p.id
		if flags&wire.EntityHosted != 0 {
			owner = wire.PlayerID{}
		}
		w.note("client %d spawns %x in %d flags %x", p.i, id[:4], p.view, flags)
		p.shown[id], p.told[id] = spawn(p, id, owner, flags, d), true
	case op < 57: // destroy, by driver or host
		if c == nil || !c.Drives() && !isHost {
			return
		}
		w.note("client %d destroys %x", p.i, c.ID[:4])
		delete(w.must, c.ID)
		p.reg.Destroy(c, p.id)
		p.apply()
	case op < 68: // request
		if c != nil && !c.Drives() {
			w.note("client %d requests %x", p.i, c.ID[:4])
			p.reg.Request(c)
		}
	case op < 78: // override by the host
		if c == nil || c.Drives() || !isHost || !c.Bound() {
			return
		}
		d := c.Data.(*body)
		i := 1 + w.rng.IntN(slots-1)
		if i == slotOwn {
			return
		}
		had := d.val[i]
		d.val[i] = w.val(0)
		w.note("client %d overrides %x slot %d = %v", p.i, c.ID[:4], i, d.val[i])
		p.reg.Override(c, 1<<i)
		d.val[i] = had // it arrives like everybody's
	case op < 90: // viewpoint
		p.view = uint32(max(0, min(chunks-1, int(p.view)+w.rng.IntN(3)-1)))
		p.reg.SetView(false, []grid.Chunk{{X: int64(p.view)}})
		w.note("client %d looks at %d", p.i, p.view)
	case op < 93:
		w.part(p)
	case op < 96: // cut
		p.cut = w.Now() + time.Duration(300+w.rng.IntN(2000))*time.Millisecond
		if w.rng.IntN(4) == 0 {
			p.cut += 5 * time.Second // past the silence clock
		}
		w.note("client %d cut until %v", p.i, p.cut)
	case op < 97 && *restarts > 0 && w.opt.Restarts:
		*restarts--
		w.restart()
	}
}

func spawn(p *player, id wire.ID, owner wire.PlayerID, flags uint16, d *body) *registry.Copy {
	return p.reg.Spawn(id, p.class, owner, flags, func(c *registry.Copy) { c.Data = d })
}

// settled checks Liveness: every observer in reach holds what the relay holds, the driver too, and nobody holds more.
func (w *world) settled() {
	for _, p := range w.players {
		if p.on {
			p.apply()
		}
	}
	for id, inc := range w.must {
		if e := w.relay.At(id); e == nil || e.Inc < inc {
			w.fail("the restart lost %x", id[:4])
		}
	}
	for _, p := range w.players {
		s := w.sessions[p.i]
		if !p.on || s == nil {
			continue
		}
		w.relay.Each(func(e *table.Entity) { w.compare(p, s, e) })
		p.reg.Each(func(c *registry.Copy) {
			e := w.relay.At(c.ID)
			if e == nil && c.Flags&wire.EntityPlaced != 0 && !c.Bound() && (w.opt.Audiences || !w.relay.Gone(c.ID)) {
				return // stands on every client, with or without a source
			}
			if e != nil && e.Flags&wire.EntityPlaced != 0 && !c.Bound() {
				return // out of reach
			}
			if e == nil || e.Inc != c.Inc {
				w.fail("zombie: client %d holds %x inc %x: %+v; relay %v, gone %v", p.i, c.ID[:4], c.Inc, *c, e != nil, w.relay.Gone(c.ID))
			}
		})
	}
}

func (w *world) compare(p *player, s *shard.Session, e *table.Entity) {
	c := p.reg.Find(e.ID)
	d := int64(e.Place.Chunk.X) - int64(p.view)
	d = max(d, -d)
	drives := w.relay.Drives(s, e)
	reach := int64(w.opt.Reach)
	if !w.relay.Admits(s, e) {
		d = reach + 2 // it is as if it were out of reach
	}
	placed := e.Flags&wire.EntityPlaced != 0
	switch {
	case drives && (c == nil || !c.Drives() || c.Term != e.Term || !c.Bound()):
		w.fail("client %d should drive %x: %+v", p.i, e.ID[:4], c)
		return
	case !drives && d > reach+1 && c != nil && !placed:
		w.fail("client %d still holds %x out of reach", p.i, e.ID[:4])
		return
	case !drives && d <= reach && (c == nil || c.Inc != e.Inc) && !placed:
		w.fail("client %d lacks %x handle %d inc %x: %s; %+v", p.i, e.ID[:4], e.Handle, e.Inc, s.Describe(e.Handle), p.reg.Stats())
		return
	case c == nil || !c.Bound() && placed:
		return
	}
	if c.Drives() != drives {
		w.fail("client %d drives %x: %v, the relay says %v", p.i, e.ID[:4], c.Drives(), drives)
	}
	if c.Owner != e.Owner || c.Term != e.Term {
		w.fail("client %d: %x has owner %x term %x, the relay %x %x", p.i, e.ID[:4], c.Owner[:1], c.Term, e.Owner[:1], e.Term)
	}
	w.res.Checked++
	b := c.Data.(*body)
	for i := range slots {
		if i == slotOwn && !drives {
			if b.val[i] != (val{}) {
				w.fail("client %d holds the owner slot of %x", p.i, e.ID[:4])
			}
			continue
		}
		if i != slotPos && !drives && d > int64(w.opt.PropertyReach) && w.opt.PropertyReach < w.opt.Reach {
			continue // beyond the property reach
		}
		if w.opt.PassThrough {
			continue
		}
		w.res.Slots++
		if v := parseVal(e.Value(i), i); b.val[i] != v {
			w.fail("client %d: %x slot %d is %v, the relay has %v (drives %v, far %d)", p.i, e.ID[:4], i, b.val[i], v, drives, d)
		}
	}
}
