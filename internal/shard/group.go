package shard

import (
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Groups of players, by name:
//
//	SetGroup: the relay's owner says who is in ─┐
//	Group: a client would like to, MayJoin ─────┴─► judgeAll: which audiences admit the session
//	Restrict: a driver keeps an entity to a group it is in ─► the audience of the entity, or of the one it is about to announce

// maxGroups bounds the groups that one player is in by the relay's word, and those that it joined.
const maxGroups = 64

// SetGroup puts a player into a group of the world, or takes it out, whether it is there or not: it holds for all its sessions. It
// reports false if the player is in too many already, or the name is none.
func (s *Shard) SetGroup(p wire.PlayerID, group string, in bool) bool {
	set := s.members[p]
	switch {
	case group == "" || len(group) > wire.MaxName:
		return false
	case in && !set[group]:
		if len(set) >= maxGroups {
			return false
		}
		if set == nil {
			set = make(map[string]bool)
			if s.members == nil {
				s.members = make(map[wire.PlayerID]map[string]bool)
			}
			s.members[p] = set
		}
		set[group] = true
	case !in:
		if delete(set, group); len(set) == 0 {
			delete(s.members, p)
		}
	}
	for _, o := range s.sessions {
		if o.Player != p {
			continue
		}
		if !in {
			delete(o.joined, group)
		}
		o.judgeAll()
		o.tellGroup(group, 0)
	}
	return true
}

// in reports whether the session is in a group.
func (o *Session) in(group string) bool {
	return o.joined[group] || o.shard.members[o.Player][group]
}

func (o *Session) tellGroup(group string, reason uint8) {
	m := wire.Group{In: o.in(group), Reason: reason, Name: group}
	o.queue(m.Append(nil, wire.MsgGroupIs))
}

// group takes a client's wish to be in a group, or to leave it. What the relay's owner decided it cannot undo.
func (o *Session) group(body []byte) error {
	m, err := wire.ParseGroup(wire.MsgGroup, body)
	if err != nil {
		return err
	}
	s, reason := o.shard, uint8(0)
	switch {
	case m.In == o.in(m.Name):
	case !m.In && s.members[o.Player][m.Name], m.In && (s.cfg.MayJoin == nil || !s.cfg.MayJoin(o.Player, m.Name)):
		reason = wire.RefusedRights
	case !m.In:
		delete(o.joined, m.Name)
		o.judgeAll()
	case len(o.joined) >= maxGroups:
		reason = wire.RefusedLimit
	default:
		if o.joined == nil {
			o.joined = make(map[string]bool)
		}
		o.joined[m.Name] = true
		o.judgeAll()
	}
	if reason != 0 {
		s.stats.Refused++
	}
	o.tellGroup(m.Name, reason)
	return nil
}

// restrict takes a driver's word that an entity is for a group, or for everyone again. Of an entity that the session has not
// announced yet it is kept for the announcement: so it holds before anybody is shown the entity.
func (s *Shard) restrict(o *Session, m *wire.Entity) {
	e := s.table.ByID(m.ID)
	switch {
	case e != nil && e.Driver == o.number && (m.Inc == e.Inc || m.Inc == 0 && m.Nonce == e.Nonce):
		a, reason := s.AudienceOf(e), uint8(0)
		if e.Flags&wire.EntityOwnerAlone != 0 || m.Group != "" && !o.in(m.Group) {
			s.stats.Refused++
			reason = wire.RefusedRights
		} else {
			a.Group = m.Group
			s.setOwnAudience(e, s.intern(a))
			s.rehost(e)
		}
		s.tellRestricted(o, e, reason)
	default: // it is about to be announced; if it is not, that is over with the next message
		o.foresee(m.ID).group = m.Group
	}
}

// ahead is what a session said of an entity right before its announcement, so that it holds from the first moment.
type ahead struct {
	id     wire.ID
	group  string
	parent wire.ID
}

// foresee is what was said of the entity with an id, which is the next to be announced.
func (o *Session) foresee(id wire.ID) *ahead {
	if o.ahead.id != id {
		o.ahead = ahead{id: id}
	}
	return &o.ahead
}

// mayForesee reports whether a session may announce an entity as it said it would: within a group that it is in.
func (o *Session) mayForesee(id wire.ID) bool {
	return o.ahead.id != id || o.ahead.group == "" || o.in(o.ahead.group)
}

// firstAudience gives a new entity the audience that its flags and its maker ask for.
func (s *Shard) firstAudience(o *Session, e *table.Entity) {
	switch {
	case s.foreseen(o, e):
	case e.Flags&wire.EntityOwnerAlone != 0:
		s.setOwnAudience(e, s.intern(Audience{Only: true})) // but for its driver
	case o.ahead.id == e.ID && o.ahead.group != "":
		s.setOwnAudience(e, s.intern(Audience{Group: o.ahead.group}))
	}
}

// tellRestricted tells a driver the group of an entity, so that it can bring it back with it.
func (s *Shard) tellRestricted(o *Session, e *table.Entity, reason uint8) {
	m := wire.Entity{ID: e.ID, Inc: e.Inc, Reason: reason, Group: s.AudienceOf(e).Group}
	o.queue(wire.AppendEntity(nil, wire.MsgRestricted, &m))
}
