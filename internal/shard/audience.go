package shard

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Who may know of an entity:
//
//	SetAudience ─► intern (one number for each different audience) ─► look ─► presence: introductions, departures
//	                 │ one bit a session: it admits
//	                 └► blob: a segment holds one audience ─► bundle: one bit test a segment, nothing an entity

// Audience says who may know of an entity. The zero value is everyone.
//
// Whoever drives the entity knows of it, whatever its audience says.
type Audience struct {
	Group   string          // only those in this group; "": groups do not matter
	Only    bool            // only Players, nobody if there are none; false: everybody but Players
	Players []wire.PlayerID // in any order
}

// audience is an Audience that some entity has.
type audience struct {
	Audience
	a, b uint32 // it is those whom both of these admit; 0: no other
	key  string
	refs int
}

// audiences are those of a world, by number. Number 0 is everyone, for whom nothing is kept.
type audiences struct {
	list  []*audience
	index map[string]uint32
	free  []uint32
	of    []uint32 // by handle; shorter: everyone
	has   bool     // there is one beside everyone
}

// at is the number of the audience of an entity.
func (l *audiences) at(e *table.Entity) uint32 {
	if int(e.Handle) < len(l.of) {
		return l.of[e.Handle]
	}
	return 0
}

// admits reports whether a session may know of an entity. Nothing that names the entity may go to one that may not.
func (s *Shard) admits(o *Session, e *table.Entity) bool {
	return e.Driver == o.number || o.admitted(s.audiences.at(e))
}

// may reports whether a session may become the driver: whoever drives knows of the entity, so that it must be one of those who may, or
// the entity one that only its driver knows of.
func (s *Shard) may(o *Session, e *table.Entity) bool {
	return e.Flags&wire.EntityOwnerAlone != 0 || o.admitted(s.audiences.at(e))
}

// admitted reports whether the session is in an audience. An authority is in all of them: it decides who is.
func (o *Session) admitted(number uint32) bool {
	return number == 0 || o.Authority || hasBit(o.admit, number)
}

// SetAudience decides who may know of a living entity. It holds before the next flush builds a byte: who loses the entity is sent a
// departure that looks as if it had gone out of reach, who gains it a baseline, and to whom was never told of it nothing is sent
// that names it. It reports false if no such entity lives.
func (s *Shard) SetAudience(id wire.ID, a Audience) bool {
	e := s.table.ByID(id)
	if e == nil {
		return false
	}
	s.setOwnAudience(e, s.intern(a))
	s.rehost(e)
	return true
}

// AudienceOf is what SetAudience said last.
func (s *Shard) AudienceOf(e *table.Entity) Audience {
	n, attached := s.ties.own[e.Handle]
	if !attached {
		n = s.audiences.at(e)
	}
	if n == 0 {
		return Audience{}
	}
	return s.audiences.list[n].Audience
}

// Admits reports whether a session may know of an entity.
func (s *Shard) Admits(o *Session, e *table.Entity) bool { return s.admits(o, e) }

// setAudience takes over the caller's reference to an audience.
func (s *Shard) setAudience(e *table.Entity, number uint32) {
	l := &s.audiences
	was := l.at(e)
	if was == number {
		s.releaseAudience(number)
		return
	}
	for len(l.of) <= int(e.Handle) {
		l.of = append(l.of, 0)
	}
	l.of[e.Handle] = number
	s.releaseAudience(was)
	s.look(e)
	for _, h := range s.ties.children[e.Handle] {
		s.setAudience(s.table.ByHandle(h), s.both(s.ties.own[h], number))
	}
}

// rehost takes a host-owned entity from a host that may not know of it any more, or gives it to one that now may. It does so at once:
// who may not know of it is not asked to release it.
func (s *Shard) rehost(e *table.Entity) {
	switch h := s.hostOf(e); {
	case e.Flags&wire.EntityHosted == 0 || s.session(e.Driver) == h:
	case e.Revoking:
		s.stats.Forced++
		s.swap(e)
	default:
		s.swapTo(e, h)
	}
	for _, h := range s.ties.children[e.Handle] {
		s.rehost(s.table.ByHandle(h))
	}
}

// closeAudience forgets the audience of an entity whose handle becomes free.
func (s *Shard) closeAudience(e *table.Entity) {
	if n := s.audiences.at(e); n != 0 {
		s.audiences.of[e.Handle] = 0
		s.releaseAudience(n)
	}
}

// intern returns the number of an audience, and a reference to it.
func (s *Shard) intern(a Audience) uint32 {
	if a.Group == "" && !a.Only && len(a.Players) == 0 {
		return 0
	}
	a.Players = slices.Clone(a.Players)
	slices.SortFunc(a.Players, func(x, y wire.PlayerID) int { return bytes.Compare(x[:], y[:]) })
	a.Players = slices.Compact(a.Players)
	key := append([]byte{'p', boolByte(a.Only)}, binary.AppendUvarint(nil, uint64(len(a.Players)))...)
	for _, p := range a.Players {
		key = append(key, p[:]...)
	}
	return s.number(&audience{Audience: a, key: string(append(key, a.Group...))})
}

// both returns the number of the audience of those whom a and b admit, and a reference to it.
func (s *Shard) both(a, b uint32) uint32 {
	l := &s.audiences
	if a == 0 || b == 0 || a == b {
		s.holdAudience(max(a, b))
		return max(a, b)
	}
	k := &audience{a: min(a, b), b: max(a, b)}
	k.key = string(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32([]byte{'b'}, k.a), k.b))
	n := s.number(k)
	if l.list[n] == k { // new: it holds on to what it is made of
		l.list[a].refs++
		l.list[b].refs++
	}
	return n
}

func (s *Shard) number(k *audience) uint32 {
	l := &s.audiences
	if n, ok := l.index[k.key]; ok {
		l.list[n].refs++
		return n
	}
	if l.index == nil {
		l.index, l.list = make(map[string]uint32), make([]*audience, 1)
	}
	k.refs = 1
	var n uint32
	if end := len(l.free); end > 0 {
		n, l.free = l.free[end-1], l.free[:end-1]
		l.list[n] = k
	} else {
		n = uint32(len(l.list))
		l.list = append(l.list, k)
	}
	l.index[k.key] = n
	for _, o := range s.sessions {
		o.judge(n)
	}
	return n
}

func (s *Shard) holdAudience(n uint32) {
	if n != 0 {
		s.audiences.list[n].refs++
	}
}

func (s *Shard) releaseAudience(n uint32) {
	if n == 0 {
		return
	}
	l := &s.audiences
	k := l.list[n]
	if k.refs--; k.refs > 0 {
		return
	}
	delete(l.index, k.key)
	l.list[n] = nil
	l.free = append(l.free, n)
	s.releaseAudience(k.a)
	s.releaseAudience(k.b)
}

// judge decides anew whether an audience admits the session, and reports whether that changed.
func (o *Session) judge(n uint32) bool {
	k := o.shard.audiences.list[n]
	var in bool
	if k.a != 0 {
		in = o.admitted(k.a) && o.admitted(k.b)
	} else {
		_, named := slices.BinarySearchFunc(k.Players, o.Player, func(a, b wire.PlayerID) int { return bytes.Compare(a[:], b[:]) })
		in = named == k.Only && (k.Group == "" || o.in(k.Group))
	}
	if in == hasBit(o.admit, n) {
		return false
	}
	if in {
		setBit(&o.admit, n)
	} else {
		o.admit[n/64] &^= 1 << (n % 64)
	}
	return true
}

// judgeAll is judge for every audience: what it admits to now, and no more, follows with the next flush.
func (o *Session) judgeAll() {
	s := o.shard
	changed := false
	for again := true; again; { // those made of two others may stand before them
		again = false
		for n, k := range s.audiences.list {
			again = k != nil && o.judge(uint32(n)) || again
		}
		changed = changed || again
	}
	if !changed {
		return
	}
	o.lookAnew()
	if s.host == o {
		for _, e := range s.table.All() {
			if e != nil && !e.Dead {
				s.rehost(e)
			}
		}
	}
}

func boolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}
