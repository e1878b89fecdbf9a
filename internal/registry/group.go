package registry

import (
	"maps"
	"slices"

	"github.com/throng-dev/throng/internal/wire"
)

// Groups of players that this client is in, or would like to be:
//
//	Join, Leave ─► wanted ─► Group to the relay, again in every session ─► GroupIs ─► groups, GroupNews
//	Restrict ─► bonds ─► Restrict to the relay, again before every announcement of the entity

// maxGroupNews bounds what waits for a game that does not tick.
const maxGroupNews = 1024

// InGroup reports whether the relay says that this client is in a group.
func (r *Registry) InGroup(name string) bool { return r.groups[name] }

// WantsGroup reports whether this client asked to be in a group, and was not refused.
func (r *Registry) WantsGroup(name string) bool { return r.wanted[name] }

// Groups are those this client is in, by name.
func (r *Registry) Groups() []string { return slices.Sorted(maps.Keys(r.groups)) }

// JoinGroup asks to be in a group, LeaveGroup to be in it no more. The relay answers with news.
func (r *Registry) JoinGroup(name string)  { r.wantGroup(name, true) }
func (r *Registry) LeaveGroup(name string) { r.wantGroup(name, false) }

func (r *Registry) wantGroup(name string, in bool) {
	if in {
		r.wanted[name] = true
	} else {
		delete(r.wanted, name)
	}
	m := wire.Group{In: in, Name: name}
	r.queue(m.Append(nil, wire.MsgGroup))
}

// connectGroups begins a session: what this client is in must be said again, before what it announces.
func (r *Registry) connectGroups() {
	clear(r.groups)
	for _, name := range slices.Sorted(maps.Keys(r.wanted)) {
		m := wire.Group{In: true, Name: name}
		r.queue(m.Append(nil, wire.MsgGroup))
	}
}

func (r *Registry) groupIs(body []byte) error {
	m, err := wire.ParseGroup(wire.MsgGroupIs, body)
	if err != nil {
		return err
	}
	if m.In {
		r.groups[m.Name] = true
	} else {
		delete(r.groups, m.Name)
		delete(r.wanted, m.Name)
	}
	if len(r.GroupNews) < maxGroupNews {
		r.GroupNews = append(r.GroupNews, m)
	}
	return nil
}

// Restrict keeps an entity that this client drives to a group; "": it is for everyone.
func (r *Registry) Restrict(c *Copy, group string) {
	c.bond().group = group
	if c.Handle != 0 || c.pending && r.isReady {
		r.tellGroup(c)
	}
}

// tellGroup says which group an entity is for. Of one that is about to be announced the relay keeps it until then.
func (r *Registry) tellGroup(c *Copy) {
	r.queue(wire.AppendEntity(nil, wire.MsgRestrict, &wire.Entity{ID: c.ID, Inc: c.Inc, Nonce: c.nonce, Group: c.bonds.group}))
}

// restricted takes the relay's word which group an entity is for.
func (r *Registry) restricted(c *Copy, m *wire.Entity) {
	if c == nil || c.Inc != m.Inc {
		return
	}
	b := c.bond()
	if b.group, b.groupRefused = m.Group, m.Reason; m.Reason != 0 {
		r.change(c)
	}
}
