package authority

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/relevancy"
)

// Record is one decision, complete: who, of what, why, and what it did (B-115).
type Record struct {
	At     time.Duration // since the Server joined; of Explain: when the last verdict was that showed the actor
	Viewer throng.PlayerID
	Views  []throng.Vec3 // the viewer's

	Actor  throng.NetID // zero before it was first published
	Class  string
	Life   Life
	Role   throng.Role   // of the Server's copy
	Direct throng.Object // who possesses it; nil: nobody

	Owner      throng.PlayerID // whom it belongs to
	OwnerHow   string          // exposed, resolved, cached, ownerless; empty: never known
	OwnerKnown bool            // now

	Verdict       string // hidden, unresolved, far, near, relevant
	Shows         bool
	Reason        string
	Before, After string // the channel: none, open, lingering
}

// String is one line for logs.
func (r Record) String() string {
	owner := "nobody"
	switch {
	case r.OwnerHow == "":
		owner = "unknown"
	case !r.Owner.IsZero():
		owner = r.Owner.String() + " (" + r.OwnerHow + ")"
	}
	return fmt.Sprintf("%v %s %v owner=%s viewer=%v: %s, %s (%s > %s)", r.Life, r.Class, r.Actor, owner, r.Viewer, r.Verdict, r.Reason, r.Before, r.After)
}

// Explain is the present decision about a player and an actor. It reports false if there is none: the player is not in the
// world, or the actor was never published.
func (s *Server) Explain(p throng.PlayerID, o throng.Object) (Record, bool) {
	v, a := s.viewers[p], s.actors[o]
	if v == nil || a == nil {
		return Record{}, false
	}
	r, ok := s.engine.Explain(v.n, a.n)
	if !ok {
		return Record{}, false
	}
	return s.record(r), true
}

func (s *Server) record(r relevancy.Record) Record {
	a := s.byN[r.Actor]
	out := Record{At: r.At, Viewer: throng.PlayerIDFrom(r.Player), Verdict: r.Answer.Kind.String(), Shows: r.Answer.Kind.Shows(), Reason: r.Answer.Reason,
		Before: r.Before.String(), After: r.After.String()}
	if v := s.viewerN[r.Viewer]; v != nil {
		out.Views = v.views
	}
	if a != nil {
		out.Actor, out.Class, out.Life, out.Direct = idOf(a.o), a.class, a.life, a.direct
		out.Owner, out.OwnerHow, out.OwnerKnown = a.owner, a.how, a.known
		out.Role = a.o.(interface{ Role() throng.Role }).Role()
	}
	return out
}

// Stats counts decisions since the Server joined.
type Stats struct {
	Actors, Viewers   int
	Asked             uint64 // rules asked
	Excluded, Unknown uint64 // pairs decided before the rule: owners kept away, owners not known
	Opened, Closed    uint64
	Alarms            uint64
	Mute              uint64 // negative verdicts without a reason: a fault of a rule
	Lost              int    // persistent actors that another program writes
}

// Stats returns the counters.
func (s *Server) Stats() Stats {
	e := s.engine.Stats()
	out := Stats{Actors: len(s.actors), Viewers: len(s.viewers), Asked: e.Asked, Excluded: e.Excluded, Unknown: e.Unknown, Opened: e.Opened, Closed: e.Closed,
		Alarms: e.Alarms, Mute: e.Mute}
	if s.keeper != nil {
		out.Lost = s.keeper.behind.Lost()
	}
	return out
}

func idOf(o throng.Object) throng.NetID { return throng.EntityOf(o).NetID() }
