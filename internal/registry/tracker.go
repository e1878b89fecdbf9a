package registry

import (
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// What a client keeps track of beside values: when it heard of each entity, and which left without having been here.
//
//	records, introductions ─► Copy.heard ─► Heard: the owner's sweep ─► Forget ─► the relay introduces it again
//	departures ─► held: Copy.Gone │ never held: Lefts, each once

// Left is a departure of an entity that this client did not hold.
type Left struct {
	ID  wire.ID
	Why wire.Why
	By  wire.PlayerID
}

// maxLefts bounds what waits for a game that does not tick.
const maxLefts = 8192

// last is the departure of a handle that was taken last: a packet that comes twice, or was said twice, tells nothing new.
type last struct {
	id  wire.ID
	inc wire.Count
	why wire.Why
}

// anyWhy stands for every reason, in last: the owner has timed the entity out, and nobody needs another.
const anyWhy wire.Why = 255

// Heard is when the relay last sent something that named this entity; 0: never. For what this client drives that is its own
// echo.
func (c *Copy) Heard() time.Duration { return c.heard }

// Stands reports whether a body must stay though nothing is heard of it: it was placed, so that it stands on every client, or this
// client may have to bring it back to a relay that restarts.
func (c *Copy) Stands() bool { return c.placed || c.cert() != nil || c.pending }

// Confirmed is when the relay last acked a packet of this client, 0: never. It hears us, then.
func (r *Registry) Confirmed() time.Duration { return r.confirmed }

// Old reports whether the copy is of an older session and was not introduced in this one yet.
func (c *Copy) Old() bool { return c.old }

// Full reports whether a newcomer was refused for want of room, and none has been made since.
func (r *Registry) Full() bool { return r.full }

// TrackSelf says whether the first echo of what this client drives is a change that the owner wants to know of.
func (r *Registry) TrackSelf(on bool) {
	r.trackSelf = on
	r.byID.All(func(c *Copy) { c.echoed = false })
}

// Echoed reports whether the relay has sent something of what this client drives back to it.
func (c *Copy) Echoed() bool { return c.echoed }

// Unecho forgets that a copy was echoed, so that its next echo is told again.
func (r *Registry) Unecho(c *Copy) { c.echoed = false }

// hear notes that a copy was named.
func (r *Registry) hear(c *Copy) { c.heard = max(r.now, 1) }

// echo notes that something driven here came back.
func (r *Registry) echo(c *Copy) {
	r.hear(c)
	if r.trackSelf && !c.echoed {
		c.echoed = true
		r.change(c)
	}
}

// Lefts returns the departures of what was not held since the last call.
func (r *Registry) Lefts(into []Left) []Left {
	into = append(into, r.lefts...)
	r.lefts = r.lefts[:0]
	return into
}

// left takes a departure that found no copy. What this client destroyed itself it knows.
func (r *Registry) left(m *wire.Depart) {
	if m.Why == wire.WhyDestroyed && m.By == r.Welcome.Player || len(r.lefts) >= maxLefts {
		return
	}
	r.lefts = append(r.lefts, Left{m.ID, m.Why, m.By})
}

// news reports whether a departure is one that was not taken before, and notes it.
func (r *Registry) news(m *wire.Depart) bool {
	if !r.cfg.Departures || m.Handle == 0 || m.Why == wire.WhyOutOfReach {
		return false
	}
	was, now := r.last[m.Handle], last{m.ID, m.Inc, m.Why}
	if was == now || was.id == now.id && was.inc == now.inc && was.why == anyWhy {
		return false
	}
	r.last[m.Handle] = now
	return true
}

// Forget drops a copy of which nothing was heard. The relay is told: a relay that keeps values introduces it again, any other does
// when there is something new of it.
func (r *Registry) Forget(c *Copy) {
	if c.mirror || c.Gone {
		return
	}
	if c.Handle != 0 && !c.old {
		if r.cfg.Departures {
			r.last[c.Handle] = last{c.ID, c.Inc, anyWhy}
		}
		r.queue(wire.AppendEntity(nil, wire.MsgForgot, &wire.Entity{ID: c.ID, Inc: c.Inc, Handle: c.Handle, Gen: c.Gen}))
	}
	r.drop(c, wire.WhyOutOfReach, wire.PlayerID{}, false, nil)
}

// foreigners is how many copies this client holds of what it does not drive: the bound is for them alone (B-063).
func (r *Registry) foreigners() int {
	n := r.byID.Len()
	if n < r.cfg.MaxEntities*15/16 {
		return n // what is driven matters near the bound only
	}
	r.byID.All(func(c *Copy) {
		if c.drives || c.pending {
			n--
		}
	})
	return n
}

// makeRoom tells the relay, once there is some.
func (r *Registry) makeRoom() {
	if r.full && r.foreigners() < r.cfg.MaxEntities*15/16 {
		r.full = false
		r.queue([]byte{wire.MsgRoom})
	}
}
