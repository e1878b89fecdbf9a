package shard

import (
	"cmp"
	"math"
	"slices"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// presence decides who has what in reach: for entities that appeared, crossed a chunk or went, with every session; for
// sessions that moved their view, with everything near.
func (s *Shard) presence() {
	s.partings()
	s.heard()
	for _, e := range s.moved {
		s.met(e)
	}
	for _, o := range s.looking {
		if o.looked && o.open {
			for _, e := range s.moved {
				o.left(e)
			}
			o.dropMarks()
			o.scan()
			for _, e := range s.moved {
				o.check(e)
			}
		}
	}
	clear(s.looking)
	s.looking = s.looking[:0]
	for _, e := range s.moved {
		if e.Check = 0; !e.Listed {
			e.Prev = e.Place.Chunk // it moves with another, and is in no blob
		}
	}
	clear(s.moved)
	s.moved = s.moved[:0]
}

// met decides about an entity that moved with every session but those that look at everything anyway. Who was and is beyond reach of
// what only crossed a chunk has nothing to do with it.
func (s *Shard) met(e *table.Entity) {
	around := int64(s.cfg.Profile.Reach) + 1
	meet := func(o *Session) {
		if o.looked || e.Check == table.CheckCrossed && o.chunkDistance(e.Prev) > around && o.chunkDistance(e.Place.Chunk) > around {
			return
		}
		o.left(e)
		o.check(e)
	}
	if e.Check == table.CheckCrossed {
		a, b, m := e.Prev.Region(), e.Place.Chunk.Region(), margin(around)
		lo := grid.Region{X: min(a.X, b.X) - m, Y: min(a.Y, b.Y) - m, Z: min(a.Z, b.Z) - m}
		hi := grid.Region{X: max(a.X, b.X) + m, Y: max(a.Y, b.Y) + m, Z: max(a.Z, b.Z) + m}
		if s.near(lo, hi, meet) {
			return
		}
	}
	for _, o := range s.sessions {
		meet(o)
	}
}

// scan looks at everything that the session holds or has in reach.
func (o *Session) scan() {
	o.looked = false
	s := o.shard
	o.pairs.each(func(p *pair) { o.check(s.table.ByHandle(p.handle)) })
	for _, v := range o.views {
		s.grid.Near(v, int64(s.cfg.Profile.Reach), func(cell *grid.Cell) {
			for _, h := range cell.Handles {
				if o.pairs.get(h) == nil {
					o.check(s.table.ByHandle(h))
				}
			}
		})
	}
	if o.Authority {
		o.scanAll()
		return
	}
	for _, e := range s.global {
		if o.pairs.get(e.Handle) == nil {
			o.check(e)
		}
	}
}

// distance is how many chunks the nearest view is away; global entities are with everybody.
func (o *Session) distance(e *table.Entity) int64 {
	if e.Class.Position < 0 {
		return 0
	}
	return o.chunkDistance(e.Place.Chunk)
}

func (o *Session) chunkDistance(c grid.Chunk) int64 {
	if o.Authority {
		return 0
	}
	d := int64(math.MaxInt64)
	for _, v := range o.views {
		d = min(d, v.Distance(c))
	}
	return d
}

func (s *Shard) reach(e *table.Entity) int64 {
	r := int64(s.cfg.Profile.Reach)
	if len(s.ties.parent) > 0 {
		e = s.rootOf(e)
	}
	if c := int64(e.Class.Reach); c > 0 {
		r = min(r, c)
	}
	return r
}

// check moves the pair of the session and an entity to the state that their distance asks for.
func (o *Session) check(e *table.Entity) {
	s := o.shard
	p := o.pairs.get(e.Handle)
	visible := o.shown(e)
	if p == nil {
		if !o.ready || !visible || e.Flags&wire.EntityPlaced != 0 && !o.placed[e.ID] || o.distance(e) > s.reach(e) {
			return
		}
		p = o.pairs.add(e.Handle)
		e.Refs++
		if o.full {
			p.state = refused
			return
		}
		o.introduce(p)
		return
	}
	d := int64(math.MaxInt64)
	if visible {
		d = o.distance(e)
	}
	switch p.state {
	case drives:
		if e.Dead {
			o.depart(p)
		}
	case introducing, known:
		switch {
		case d <= s.reach(e)+1:
			o.lane(p, e, d)
		case p.flags&named == 0 && !(o.departures && !visible && s.admits(o, e)):
			o.forget(e) // it was never told of it, and will not be
		default:
			o.depart(p)
		}
	case leaving:
		if d <= s.reach(e) {
			o.introduce(p)
		}
	case refused:
		switch {
		case d <= s.reach(e)+1:
		case p.flags&named != 0 && p.flags&forgotten == 0:
			o.depart(p) // a second introduction may have found room before this client told so
		default:
			o.forget(e)
		}
	}
}

// lane decides whether a held entity is within the property reach. What changes beyond it goes out on the way back.
func (o *Session) lane(p *pair, e *table.Entity, d int64) {
	s := o.shard
	o.relevel(p, e, d)
	if s.cfg.Profile.PropertyReach >= s.cfg.Profile.Reach || p.state != known || !s.retains() {
		return
	}
	beyond := d > int64(s.cfg.Profile.PropertyReach)
	switch {
	case beyond && p.flags&far == 0:
		p.flags |= far
		p.v = s.flush - 1
		if m := o.marks.get(place{chunk: e.Place.Chunk}); m != nil && int32(m.since-p.v) < 0 {
			p.v = m.since
		}
		if p.pkt != 0 {
			it := &o.own[p.pkt-1]
			o.holdBack(p, e, it.mask&^e.Class.Presence)
			it.mask &= e.Class.Presence
		}
	case !beyond && p.flags&far != 0:
		p.flags &^= far
		o.dirty(p, e, e.Since(p.v)&s.visible(e)&^e.Class.Presence)
	}
}

// introduce queues an introduction: now, or again.
func (o *Session) introduce(p *pair) {
	o.clean(p)
	o.remember(p)
	o.shard.work = true
	o.call()
	p.state = introducing
	p.flags &^= far
	if p.flags&queued == 0 {
		p.flags |= queued
		o.intros = append(o.intros, p.handle)
	}
}

// depart queues a departure.
func (o *Session) depart(p *pair) {
	o.clean(p)
	o.remember(p)
	o.shard.work = true
	o.call()
	p.state = leaving
	p.flags &^= far
	o.leaves = append(o.leaves, p.handle)
}

// forget ends a pair: the session holds nothing of the entity any more.
func (o *Session) forget(e *table.Entity) {
	if p := o.pairs.get(e.Handle); p != nil {
		o.remember(p)
	}
	o.pairs.remove(e.Handle)
	e.Refs--
}

// noRoom takes a client's answer that its entity bound is reached.
func (s *Shard) noRoom(o *Session, m *wire.Entity) {
	o.full = true
	if p := o.pairs.get(m.Handle); p != nil && (p.state == known || p.state == introducing) && s.table.ByHandle(m.Handle).Gen == m.Gen {
		o.clean(p)
		p.state = refused
		s.work = s.work || !o.marked // it may have been the last that the end mark waits for
	}
}

// room takes a client's word that it can hold more, and offers what it had refused, nearest first.
func (o *Session) room() {
	o.full = false
	o.pairs.each(func(p *pair) {
		if p.state == refused && p.flags&forgotten == 0 {
			o.introduce(p)
		}
	})
}

// nearestFirst orders the introductions to send.
func (o *Session) nearestFirst() {
	if len(o.intros) < 2 {
		return
	}
	s := o.shard
	slices.SortFunc(o.intros, func(a, b uint32) int {
		ea, eb := s.table.ByHandle(a), s.table.ByHandle(b)
		if da, db := o.distance(ea), o.distance(eb); da != db {
			if da < db {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(s.rank(ea), s.rank(eb)), cmp.Compare(a, b))
	})
}

// rank orders introductions of one distance: avatars first, what is attached after what it is attached to.
func (s *Shard) rank(e *table.Entity) (n int) {
	if len(s.ties.parent) > 0 {
		for p := s.parentOf(e); p != nil; p = s.parentOf(e) {
			n += 2
			e = p
		}
	}
	if e.Flags&wire.EntityAvatar == 0 {
		n++
	}
	return n
}

// visible is the mask of slots that shared records and baselines may carry: owner slots go to the owning session alone (B-024).
func (s *Shard) visible(e *table.Entity) uint64 {
	if s.cfg.Faults.OwnerTold {
		return e.Class.All
	}
	return e.Class.All &^ e.Class.Owner
}
