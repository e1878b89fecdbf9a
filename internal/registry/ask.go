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

func (r *Registry) grantRefused(c *Copy, m *wire.Entity) {
	if c != nil && c.Inc == m.Inc && len(r.Denials) < maxAsked {
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
		c.Uninvited, c.UninvitedBy = c.Uninvited|m.Mask&c.Class.All, m.Owner
		r.change(c)
	}
}
