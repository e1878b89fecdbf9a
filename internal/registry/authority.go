package registry

import (
	"bytes"
	"slices"

	"github.com/throng-dev/throng/internal/wire"
)

// What only the client of a trusted server says:
//
//	SetAudience ─► bonds.audience ─► Audience to the relay, again before every announcement of the entity
//	SetMember ─► members ─► Member to the relay, again in every session

// writable are the slots that this client's values of an entity may reach the relay by: a player's never in auth slots.
func (r *Registry) writable(c *Copy) uint64 {
	if r.Welcome.Authority {
		return c.Class.All &^ c.Class.Init
	}
	return c.Class.All &^ (c.Class.Init | c.Class.Auth)
}

// SetAudience decides who may know of an entity. The players are kept, not copied.
func (r *Registry) SetAudience(c *Copy, a *wire.Audience) {
	c.Tell(a)
	if c.Handle != 0 || c.pending && r.isReady {
		r.tellAudience(c)
	}
}

func (r *Registry) tellAudience(c *Copy) {
	a := c.bonds.audience
	a.ID = c.ID
	r.queue(a.Append(nil))
}

// SetMember puts a player into a group, or takes it out.
func (r *Registry) SetMember(m wire.Member) {
	if m.In {
		if r.members == nil {
			r.members = make(map[wire.Member]bool)
		}
		r.members[m] = true
	} else {
		delete(r.members, wire.Member{Player: m.Player, In: true, Name: m.Name})
	}
	if r.isReady {
		r.queue(m.Append(nil))
	}
}

// connectMembers says again who is in which group, before anything is announced.
func (r *Registry) connectMembers() {
	all := make([]wire.Member, 0, len(r.members))
	for m := range r.members {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b wire.Member) int { return bytes.Compare(a.Append(nil), b.Append(nil)) })
	for i := range all {
		r.queue(all[i].Append(nil))
	}
}
