package shard

import (
	"slices"

	"github.com/throng-dev/throng/internal/wire"
)

// sentLog remembers what the packets in flight to a session carried: segments by number, own records by handle.
type sentLog struct {
	log   []sentPacket // by packet number
	head  int
	segs  []uint32 // of the packet being filled, until commit
	own   []ownRef
	since uint32
	free  []sentPacket
}

// add notes a segment in the packet being filled.
func (l *sentLog) add(seg, since uint32) {
	if len(l.segs) == 0 || int32(since-l.since) < 0 {
		l.since = since
	}
	l.segs = append(l.segs, seg)
}

type sentPacket struct {
	pn    uint64
	since uint32 // everything in its segments changed after this flush
	done  bool
	segs  []uint32
	own   []ownRef
}

type ownRef struct {
	mask   uint64
	handle uint32
	kind   uint8
}

const (
	refDelta = iota
	refIntro
	refDepart
	refRole
	refTie
)

// commit ties what was appended to segs and own to a packet.
func (l *sentLog) commit(pn uint64) {
	var p sentPacket
	if n := len(l.free); n > 0 {
		p, l.free = l.free[n-1], l.free[:n-1]
	}
	l.log = append(l.log, sentPacket{pn: pn, since: l.since, segs: append(p.segs[:0], l.segs...), own: append(p.own[:0], l.own...)})
	l.segs, l.own = l.segs[:0], l.own[:0]
}

// take returns the packet and forgets it; nil if nothing is known of it. Valid until the next commit.
func (l *sentLog) take(pn uint64) *sentPacket {
	live := l.log[l.head:]
	i, ok := slices.BinarySearchFunc(live, pn, func(p sentPacket, pn uint64) int {
		switch {
		case p.pn < pn:
			return -1
		case p.pn > pn:
			return 1
		}
		return 0
	})
	if !ok || live[i].done {
		return nil
	}
	live[i].done = true
	return &live[i]
}

// trim gives back what is done. Call it when no packet from take is in use.
func (l *sentLog) trim() {
	for l.head < len(l.log) && l.log[l.head].done {
		if len(l.free) < 16 {
			l.free = append(l.free, l.log[l.head])
		}
		l.log[l.head] = sentPacket{}
		l.head++
	}
	if l.head == len(l.log) {
		l.log, l.head = l.log[:0], 0
	} else if l.head > 64 && 2*l.head > len(l.log) {
		n := copy(l.log, l.log[l.head:])
		clear(l.log[n:])
		l.log, l.head = l.log[:n], 0
	}
}

// Acked is part of session.Handler: everything in the packet was applied, stored to be applied, or void.
func (o *Session) Acked(pn uint64) {
	s := o.shard
	o.budget.acked++
	t := o.sent.take(pn)
	if t == nil {
		return
	}
	for _, r := range t.own {
		p := o.pairs.get(r.handle)
		if p == nil || p.pkt != uint32(pn) {
			continue
		}
		e := s.table.ByHandle(r.handle)
		switch {
		case r.kind == refIntro && p.state == introducing:
			p.state, p.pkt = known, 0
			p.flags &^= announced
			if s.retains() && !s.cfg.Faults.AckUnknown {
				o.dirty(p, e, e.Since(p.v)&s.visible(e)&^e.Class.Init)
			}
			o.introducedApart(p, e)
			if int32(e.RoleVer-p.v) > 0 && !s.cfg.Faults.RoleForgotten {
				o.roleDirty(p)
			}
			if s.ties.ever[r.handle] {
				o.item(p).tie = true
			}
			if !e.Dead && !e.Silent && s.admits(o, e) {
				o.lane(p, e, o.distance(e))
			}
			s.work = s.work || !o.marked
		case r.kind == refDepart && p.state == leaving:
			o.forget(e)
		}
	}
	o.sent.trim()
}

// Lost is part of session.Handler: what the packet carried is dirty again and goes out as its current value.
func (o *Session) Lost(pn uint64) {
	s := o.shard
	o.budget.lost++
	t := o.sent.take(pn)
	if t == nil {
		return
	}
	s.stats.Lost++
	o.lacking = true
	for _, r := range t.own {
		p := o.pairs.get(r.handle)
		if p == nil {
			continue
		}
		switch {
		case r.kind == refIntro && p.state == introducing && p.pkt == uint32(pn):
			o.introduce(p)
		case r.kind == refDepart && p.state == leaving && p.pkt == uint32(pn):
			p.pkt = 0
			s.work = true
			o.leaves = append(o.leaves, r.handle)
		case r.kind == refRole && p.state == known:
			o.roleDirty(p)
		case r.kind == refTie && p.state == known:
			o.item(p).tie = true
		case r.kind == refDelta && p.state == known && s.retains():
			o.dirty(p, s.table.ByHandle(r.handle), r.mask)
		}
	}
	for _, seg := range t.segs {
		if !s.retains() {
			break
		}
		g, ents := s.lists.find(seg)
		if g == nil {
			o.lostLists(t.since)
			break
		}
		o.lack(g, ents)
	}
	o.sent.trim()
}

// lack is told of a segment that the observer does not have. If it held much of its chunk the observer's backlog begins there, and
// a catch-up blob takes the place of the next flush's segments; what has left the chunk, and a little, becomes dirty singly. So
// does all of it on a path that loses packets, where each observer lacks something else, and a mend can tell it sooner.
func (o *Session) lack(g *segment, ents []listed) {
	s := o.shard
	if !s.retains() {
		return
	}
	much := !(o.conn.Loses() && o.budget.rich()) && o.covers(g) && 4*len(ents) > s.population(g.place)
	if much {
		o.marks.set(g.place, g.since, s.now, true)
		s.work = true
	}
	for _, l := range ents {
		p := o.pairs.get(l.handle)
		if p == nil || p.state != known {
			continue
		}
		if e := s.table.ByHandle(l.handle); !much || !g.global && e.Place.Chunk != g.chunk {
			o.dirty(p, e, l.mask)
		}
	}
}

// covers reports whether a catch-up blob of a segment's chunk would hold the slots of the segment for the observer.
func (o *Session) covers(g *segment) bool {
	if g.global {
		return true
	}
	d := o.chunkDistance(g.chunk)
	return d <= int64(o.shard.cfg.Profile.PropertyReach) || d <= int64(o.shard.cfg.Profile.Reach) && (g.lane == lanePresence || g.lane >= laneThin)
}

func (s *Shard) population(k place) int {
	if k.global {
		return len(s.global)
	}
	if c := s.grid.Cell(k.chunk); c != nil {
		return len(c.Handles)
	}
	return 0
}

// lostLists handles a loss reported after the flush forgot what its segments held: everything known that changed since is
// dirty, whichever chunk it is in now.
func (o *Session) lostLists(since uint32) {
	s := o.shard
	if s.cfg.Faults.ListsForgotten {
		return
	}
	s.stats.ListsGone++
	for i := range o.pairs.list {
		if p := &o.pairs.list[i]; p.state == known {
			e := s.table.ByHandle(p.handle)
			o.dirty(p, e, e.Since(since)&s.visible(e)&^e.Class.Init)
		}
	}
}

// endMark tells a client, once, that everything it is due was introduced: copies of an older epoch that were not leave.
func (o *Session) endMark() {
	s := o.shard
	if o.marked || !o.ready || !s.settled || len(o.intros) > 0 {
		return
	}
	for i := range o.pairs.list {
		if o.pairs.list[i].state == introducing {
			return
		}
	}
	o.marked = true
	o.queue([]byte{wire.MsgEndMark})
}
