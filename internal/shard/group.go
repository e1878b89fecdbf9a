package shard

import (
	"maps"

	"github.com/throng-dev/throng/internal/wire"
)

// maxGroups bounds the groups that one player is in.
const maxGroups = 64

// SetGroup puts a player into a group of the world, or takes it out, whether it is there or not: it holds for all its sessions. It
// reports false if the player is in too many already.
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
		if o.Player == p && o.groups[group] != in {
			o.setGroup(group, in)
		}
	}
	return true
}

// setGroup changes what the session is in.
func (o *Session) setGroup(group string, in bool) {
	if in {
		if o.groups == nil {
			o.groups = make(map[string]bool)
		}
		o.groups[group] = true
	} else {
		delete(o.groups, group)
	}
	o.judgeAll()
}

// enterGroups gives a new session what its player is in.
func (o *Session) enterGroups() {
	o.groups = maps.Clone(o.shard.members[o.Player])
	o.judgeAll()
}
