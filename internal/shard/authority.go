package shard

import (
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// What an authority may beyond what players may (B-002): its right comes from its token, never from what it says.
//
//	Audience: who may know of an entity, from before it is announced ─► the entity's audience
//	Member: who is in a group ─► SetGroup
//	auth slots, corrections and destructions of anything: see barred, override, destroy
//	the whole world in reach: see chunkDistance, scanAll

// maxVerdicts bounds what an authority may foretell.
const maxVerdicts = 1 << 20

// barred is what a session may not write of a class: init is said with the spawn, auth is an authority's (B-001).
func (o *Session) barred(c *table.Class) uint64 {
	if o.Authority {
		return c.Init
	}
	return c.Auth | c.Init
}

// barredFlags are the flags of an announcement that the relay does not take from this session.
func (o *Session) barredFlags() uint16 {
	if o.Authority {
		return wire.EntityDrives | wire.EntityRespawn
	}
	return wire.EntityDrives | wire.EntityRespawn | wire.EntityActor
}

// verdict takes an authority's word who may know of an entity. Of one that it has not announced yet it is kept until then.
func (o *Session) verdict(body []byte) error {
	m, err := wire.ParseAudience(body)
	if err != nil {
		return err
	}
	s := o.shard
	a := Audience{Group: m.Group, Only: m.Only, Players: m.Players}
	switch {
	case !o.Authority:
		s.stats.Refused++
	case s.SetAudience(m.ID, a):
	case len(o.verdicts) < maxVerdicts:
		if o.verdicts == nil {
			o.verdicts = make(map[wire.ID]Audience)
		}
		o.verdicts[m.ID] = a
	default:
		s.stats.Refused++
	}
	return nil
}

// member takes an authority's word who is in a group.
func (o *Session) member(body []byte) error {
	m, err := wire.ParseMember(body)
	if err != nil {
		return err
	}
	if s := o.shard; !o.Authority || !s.SetGroup(m.Player, m.Name, m.In) {
		s.stats.Refused++
	}
	return nil
}

// foreseen gives a new entity the audience that its authority announced.
func (s *Shard) foreseen(o *Session, e *table.Entity) bool {
	a, ok := o.verdicts[e.ID]
	if ok {
		delete(o.verdicts, e.ID)
		s.setOwnAudience(e, s.intern(a))
	}
	return ok
}

// scanAll looks at every entity there is.
func (o *Session) scanAll() {
	for _, e := range o.shard.table.All() {
		if e != nil && !e.Dead && o.pairs.get(e.Handle) == nil {
			o.check(e)
		}
	}
}
