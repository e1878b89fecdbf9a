package shard

import (
	"slices"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// An attached entity goes with its parent:
//
//	Attach ─► tie ─► its chunk is the parent's, also when the parent moves; what its driver says of its chunk is ignored
//	                 who may know of it: whom its own audience and the parent's admit
//	                 how far it is seen, and whether it is there at all: as the parent
//	               ─► a pseudo-slot: in a frame beside each introduction, its own record when it changes

// Bounds of ties: an entity deeper than maxTies below its root, or with more than maxTied directly below it, costs others too much.
const (
	maxTies = 8
	maxTied = 256
)

// ties are the attached entities of a world, by handle. An entity that was never attached is in none of the maps.
type ties struct {
	parent   map[uint32]uint32
	children map[uint32][]uint32
	own      map[uint32]uint32 // the audience that an attached one has by itself
	ever     map[uint32]bool   // it is, or was, attached: who is introduced to it is told
}

// parentOf is the entity that e is attached to, or nil.
func (s *Shard) parentOf(e *table.Entity) *table.Entity {
	if h, ok := s.ties.parent[e.Handle]; ok {
		return s.table.ByHandle(h)
	}
	return nil
}

// Parent is the entity that e is attached to, or nil. Read only.
func (s *Shard) Parent(e *table.Entity) *table.Entity { return s.parentOf(e) }

// Shown reports whether a session is shown an entity that is near enough.
func (s *Shard) Shown(o *Session, e *table.Entity) bool { return o.shown(e) }

// rootOf is what e goes with in the end: itself if it is not attached.
func (s *Shard) rootOf(e *table.Entity) *table.Entity {
	for p := s.parentOf(e); p != nil; p = s.parentOf(e) {
		e = p
	}
	return e
}

// mayTie reports why a child cannot be attached to a parent: 0 if it can.
func (s *Shard) mayTie(child, parent *table.Entity) uint8 {
	if child == parent || child.Class.Position < 0 || parent.Class.Position < 0 {
		return wire.RefusedInvalid
	}
	depth := 1
	for p := parent; p != nil; p = s.parentOf(p) {
		if depth++; p == child {
			return wire.RefusedInvalid // a ring
		}
	}
	if depth-1+s.below(child) > maxTies || len(s.ties.children[parent.Handle]) >= maxTied {
		return wire.RefusedLimit
	}
	return 0
}

// below is how many levels of attached entities an entity has.
func (s *Shard) below(e *table.Entity) (n int) {
	for _, h := range s.ties.children[e.Handle] {
		n = max(n, 1+s.below(s.table.ByHandle(h)))
	}
	return n
}

// tie attaches a child, which mayTie allowed, or takes it from what it was attached to: nil.
func (s *Shard) tie(child, parent *table.Entity) {
	t := &s.ties
	was := s.parentOf(child)
	if was == parent {
		return
	}
	if t.parent == nil {
		t.parent, t.children = make(map[uint32]uint32), make(map[uint32][]uint32)
		t.own, t.ever = make(map[uint32]uint32), make(map[uint32]bool)
	}
	own := s.audiences.at(child)
	if was != nil {
		s.untie(child, was)
		own = t.own[child.Handle]
		delete(t.own, child.Handle)
	} else {
		s.holdAudience(own)
	}
	t.ever[child.Handle] = true
	if parent == nil {
		s.setAudience(child, own)
	} else {
		t.parent[child.Handle] = parent.Handle
		t.children[parent.Handle] = append(t.children[parent.Handle], child.Handle)
		t.own[child.Handle] = own
		s.setAudience(child, s.both(own, s.audiences.at(parent)))
		s.move(child, parent.Place.Chunk)
	}
	s.look(child)
	for _, o := range s.sessions {
		if p := o.pairs.get(child.Handle); p != nil && p.state == known {
			o.item(p).tie = true
		}
	}
}

func (s *Shard) untie(child, parent *table.Entity) {
	t := &s.ties
	delete(t.parent, child.Handle)
	list := t.children[parent.Handle]
	if i := slices.Index(list, child.Handle); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		delete(t.children, parent.Handle)
	} else {
		t.children[parent.Handle] = list
	}
}

// cut takes an entity that ends out of all ties: what was attached to it stays where it is.
func (s *Shard) cut(e *table.Entity) {
	for _, h := range slices.Clone(s.ties.children[e.Handle]) {
		child := s.table.ByHandle(h)
		s.tie(child, nil)
		if d := s.session(child.Driver); d != nil {
			s.tellTie(d, child, 0)
		}
	}
	if p := s.parentOf(e); p != nil {
		s.untie(e, p) // its audience stays what it was: that of its departure
	}
}

// closeTie forgets what is kept of an entity whose handle becomes free.
func (s *Shard) closeTie(e *table.Entity) {
	if own, ok := s.ties.own[e.Handle]; ok {
		s.releaseAudience(own)
		delete(s.ties.own, e.Handle)
	}
	delete(s.ties.ever, e.Handle)
}

// move takes an entity, and all that goes with it, to a chunk.
func (s *Shard) move(e *table.Entity, c grid.Chunk) {
	if e.Place.In() && e.Place.Chunk == c {
		return
	}
	s.grid.Move(e.Handle, c)
	if e.Check == 0 {
		e.Check = table.CheckCrossed
		s.moved = append(s.moved, e)
	}
	if d := s.session(e.Driver); d != nil && d.avatar == e {
		d.lookFromAvatar()
	}
	for _, h := range s.ties.children[e.Handle] {
		s.move(s.table.ByHandle(h), c)
	}
}

// setOwnAudience is setAudience for what an entity has by itself; the parent's is added.
func (s *Shard) setOwnAudience(e *table.Entity, number uint32) {
	if p := s.parentOf(e); p != nil {
		s.releaseAudience(s.ties.own[e.Handle])
		s.ties.own[e.Handle] = number
		number = s.both(number, s.audiences.at(p))
	}
	s.setAudience(e, number)
}

// shown reports whether a session is shown an entity that is near enough: it is there, the session may know of it, and has placed it
// if it must be placed; and so with all that it is attached to.
func (o *Session) shown(e *table.Entity) bool {
	s := o.shard
	if !s.admits(o, e) && !s.cfg.Faults.DenyForgotten {
		return false
	}
	for p := e; p != nil; p = s.parentOf(p) {
		if p.Dead || p.Silent || p != e && p.Flags&wire.EntityPlaced != 0 && !o.placed[p.ID] {
			return false
		}
	}
	return true
}

// attach takes a driver's word that an entity goes with another. Of an entity that the session has not announced yet, or with a parent
// that is not there yet, it is kept until both are.
func (s *Shard) attach(o *Session, body []byte) error {
	m, err := wire.ParseAttach(wire.MsgAttach, body)
	if err != nil {
		return err
	}
	e, parent := s.table.ByID(m.ID), s.table.ByID(m.Parent)
	drives := e != nil && e.Driver == o.number && (m.Inc == e.Inc || m.Inc == 0 && m.Nonce == e.Nonce)
	switch {
	case o.Observer:
		s.stats.Refused++
		return nil
	case !drives: // it is about to be announced; if it is not, that is over with the next message
		o.foresee(m.ID).parent = m.Parent
		return nil
	}
	s.wishTie(o, e, parent, m.Parent)
	return nil
}

// wishTie attaches an entity that a session drives to what it named, now or once that is there.
func (s *Shard) wishTie(o *Session, e, parent *table.Entity, id wire.ID) {
	o.tying.drop(e.ID)
	switch {
	case parent != nil:
		s.tellTie(o, e, s.askTie(o, e, parent)) // each is answered: the last answer is how it is
		return
	case id != (wire.ID{}) && len(o.tying.parent) < s.cfg.SessionEntities:
		o.tying.add(e.ID, id)
	}
	s.tie(e, nil)
	s.tellTie(o, e, 0)
}

// tying is what a session would attach once both are there.
type tying struct {
	parent   map[wire.ID]wire.ID
	children map[wire.ID][]wire.ID
}

func (t *tying) add(child, parent wire.ID) {
	if t.parent == nil {
		t.parent, t.children = make(map[wire.ID]wire.ID), make(map[wire.ID][]wire.ID)
	}
	t.parent[child] = parent
	t.children[parent] = append(t.children[parent], child)
}

func (t *tying) drop(child wire.ID) {
	parent, ok := t.parent[child]
	if !ok {
		return
	}
	delete(t.parent, child)
	list := t.children[parent]
	if list = slices.Delete(list, slices.Index(list, child), slices.Index(list, child)+1); len(list) == 0 {
		delete(t.children, parent)
	} else {
		t.children[parent] = list
	}
}

// firstTies attaches a new entity to what it was announced for, and to it what waited for it.
func (s *Shard) firstTies(o *Session, e *table.Entity) {
	if a := &o.ahead; a.id == e.ID && a.parent != (wire.ID{}) && e.Driver == o.number {
		s.wishTie(o, e, s.table.ByID(a.parent), a.parent)
	}
	for _, p := range s.sessions {
		for _, id := range slices.Clone(p.tying.children[e.ID]) {
			c := s.table.ByID(id)
			if p.tying.drop(id); c != nil && c.Driver == p.number {
				s.tellTie(p, c, s.askTie(p, c, e))
			}
		}
	}
}

// askTie attaches a child to a parent for a session, and returns why it does not.
func (s *Shard) askTie(o *Session, child, parent *table.Entity) uint8 {
	reason := uint8(wire.RefusedInvalid)
	if s.admits(o, parent) {
		reason = s.mayTie(child, parent)
	}
	if reason == 0 {
		s.tie(child, parent)
	} else {
		s.stats.Refused++
	}
	return reason
}

// tellTie tells a driver what its entity is attached to, or will be once that is there.
func (s *Shard) tellTie(o *Session, e *table.Entity, reason uint8) {
	m := wire.Attach{ID: e.ID, Inc: e.Inc, Reason: reason, Parent: o.tying.parent[e.ID]}
	if p := s.parentOf(e); p != nil {
		m.Parent = p.ID
	}
	o.queue(m.Append(nil, wire.MsgAttached))
}

// tieBeside tells what an entity is attached to right behind its introduction, if the packet has room: so the two are shown together. What
// counts is the record that follows when the introduction is acked.
func (w *bundler) tieBeside(e *table.Entity) {
	s := w.s
	if !s.ties.ever[e.Handle] {
		return
	}
	s.scratch.frame = s.tieFrame(s.scratch.frame[:0], e)
	if n := session.FrameSize(len(s.scratch.frame)); len(w.b)-transport.Headroom+n <= w.limit {
		w.b = session.AppendFrame(w.b, wire.KindTie, s.scratch.frame)
	}
}

// tieFrame writes what an observer is told of an entity that is or was attached: nothing for all others.
func (s *Shard) tieFrame(b []byte, e *table.Entity) []byte {
	m := wire.Tie{Handle: e.Handle}
	if p := s.parentOf(e); p != nil {
		m.Parent, m.Gen = p.Handle, p.Gen
	}
	return m.Append(b)
}
