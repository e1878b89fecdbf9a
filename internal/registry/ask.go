package registry

import (
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// What the relay passes on of others' wishes. None of it changes a copy: the owner decides.

// Request is somebody's wish to drive what this client drives.
type Request struct {
	Copy *Copy
	From wire.PlayerID
}

// Denial is a grant of this client that came to nothing.
type Denial struct {
	Copy   *Copy
	To     wire.PlayerID
	Reason uint8
}

// maxAsked bounds what waits for the owner of each.
const maxAsked = 1024

// requested keeps a wish until the owner asks for it. A copy that changed hands meanwhile is nobody's to give here: the owner looks.
func (r *Registry) requested(c *Copy, m *wire.Entity) {
	if c == nil || !c.Drives() || c.Inc != m.Inc || c.Term != m.Term {
		r.stats.Stale++
		return
	}
	for _, q := range r.Requests {
		if q.Copy == c && q.From == m.Owner {
			return
		}
	}
	if len(r.Requests) < maxAsked {
		r.Requests = append(r.Requests, Request{c, m.Owner})
	}
}

// Grant gives the drive to a player, or to the host if it is zero, with the present values of all slots: this client stops driving. unsent
// are slots whose values have not left otherwise. The owner calls it at the end of a tick, so that what was written in it goes along.
func (r *Registry) Grant(c *Copy, to wire.PlayerID, unsent uint64) {
	if c.mirror || !c.Drives() || !c.Bound() || c.pending {
		return
	}
	r.queue(wire.AppendEntity(nil, wire.MsgGrant, &wire.Entity{ID: c.ID, Inc: c.Inc, Term: c.Term, Owner: to}))
	c.drives, c.waiting = false, true
	c.give(unsent)
	r.release(c)
	r.change(c)
}

// gives reports whether the copy was granted under its present term, and the relay may still say no.
func (c *Copy) gives() bool {
	return c.waiting && c.proof != nil && c.proof.granted != 0 && c.proof.granted == c.Term
}

// grantRefused lets this client drive on what it granted. The relay has taken it for the driver all the while; what only the release
// carried goes out again.
func (r *Registry) grantRefused(c *Copy, m *wire.Entity) {
	if c == nil || c.Inc != m.Inc || c.Term != m.Term || !c.gives() {
		r.stats.Stale++
		return
	}
	c.drives, c.waiting = true, false
	c.lose(c.proof.unsent)
	c.proof.granted, c.proof.unsent = 0, 0
	r.change(c)
	if m.Reason != wire.RefusedParked && len(r.Denials) < maxAsked {
		r.Denials = append(r.Denials, Denial{c, m.Owner, m.Reason})
	}
}

// foreignWrite drops what somebody wrote who may not, in a world where receivers decide (B-083). The host's is a matter of what it
// may; anybody else's is worth a word.
func (r *Registry) foreignWrite(c *Copy, m *wire.Entity) {
	if c == nil || !c.Drives() || c.Inc != m.Inc || c.Term != m.Term {
		r.stats.Stale++
		r.tr.drop(trace.Stale, m.ID, 0, nil, 0, len(m.Values))
		return
	}
	r.stats.Uninvited++
	r.tr.delta(trace.In, c, m.Mask&c.Class.All, len(m.Values), 0, trace.Override, trace.Uninvited)
	if m.Flags&wire.EntityHosted == 0 { // not stamped as the host's
		t := c.ail()
		t.Uninvited, t.By = t.Uninvited|m.Mask&c.Class.All, m.Owner
		r.change(c)
	}
}
