package shard

import (
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// What a session follows beside what it holds:
//
//	an entity dies or falls silent ─► parted ─► a departure for those in reach who asked and do not hold it (B-063)
//	a client heard nothing of one and dropped it ─► forgot ─► it is introduced again: now, or with its next news

// watch takes what a client wants to be told of.
func (o *Session) watch(body []byte) error {
	flags, err := wire.ParseWatch(body)
	if err == nil {
		o.departures = flags&wire.WatchDepartures != 0
	}
	return err
}

// part notes that an entity leaves the world for everybody, for good or until its driver is back.
func (s *Shard) part(e *table.Entity) {
	if !e.Silent { // else it has left already
		s.parted = append(s.parted, e)
	}
}

// partings lets those who asked know of what left within this flush.
func (s *Shard) partings() {
	for _, e := range s.parted {
		if e.Dead || e.Silent { // else it is back
			s.announceLeft(e)
		}
	}
	clear(s.parted)
	s.parted = s.parted[:0]
}

// announceLeft tells those who have the last chunk of e in reach without holding it. It is a departure like any other: acked, said again
// when lost, within the budget.
func (s *Shard) announceLeft(e *table.Entity) {
	for _, o := range s.sessions {
		if !o.departures || !o.ready || o.number == e.Driver || !s.admits(o, e) || o.distance(e) > s.reach(e) {
			continue
		}
		switch p := o.pairs.get(e.Handle); {
		case p == nil:
			e.Refs++
			o.depart(o.pairs.add(e.Handle))
		case p.state == refused:
			o.depart(p)
		}
	}
}

// forgot takes a client's word that it dropped an entity of which it heard nothing. A relay that keeps values vouches for what it shows,
// so it introduces it again; in a pass-through world whoever is silent stays away until it is not.
func (s *Shard) forgot(o *Session, m *wire.Entity) {
	p := o.pairs.get(m.Handle)
	if p == nil || p.state != known && p.state != introducing {
		return
	}
	if e := s.table.ByHandle(m.Handle); e.ID != m.ID || e.Gen != m.Gen {
		s.stats.Stale++
		return
	}
	if s.retains() {
		o.introduce(p)
		return
	}
	o.clean(p)
	p.state = refused
	p.flags |= forgotten
	o.forgot++
	s.forgotten++
}

// heard introduces what changed to those who had forgotten it.
func (s *Shard) heard() {
	if s.forgotten == 0 {
		return
	}
	for _, o := range s.sessions {
		if o.forgot == 0 || o.full {
			continue
		}
		for _, e := range s.dirty {
			if p := o.pairs.get(e.Handle); p != nil && p.state == refused && p.flags&forgotten != 0 {
				o.introduce(p)
			}
		}
	}
}

// remember ends that a pair is forgotten.
func (o *Session) remember(p *pair) {
	if p.flags&forgotten != 0 {
		p.flags &^= forgotten
		o.forgot--
		o.shard.forgotten--
	}
}
